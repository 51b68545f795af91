/* SPDX-License-Identifier: BSD-3-Clause */

/* Attributes of the device. Each number is one that the calls keep, and 0 stands for what is not offered. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "verbs/verbs_front.h"

#define QPS_MAX 16384
#define KEYS    65535 /**< regions and windows together */
#define VENDOR_NONE \
	0xffffffu /**< of no vendor: zero would be taken for a device that does not say */

int
ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	*attr = (struct ibv_device_attr){
		.fw_ver = UDAPL_ROCE_VERSION,
		.node_guid = verbs_device_guid(),
		.sys_image_guid = verbs_device_guid(),
		.vendor_id = VENDOR_NONE,
		.max_mr_size = UINT64_MAX,
		.page_size_cap = ~UINT64_C(4095),
		.max_qp = QPS_MAX,
		.max_qp_wr = VERBS_WR_MAX,
		.device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_PORT_ACTIVE_EVENT |
				IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
				IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_MEM_WINDOW |
				IBV_DEVICE_MEM_WINDOW_TYPE_2B,
		.max_sge = VERBS_SGE_MAX,
		.max_sge_rd = VERBS_SGE_MAX,
		.max_cq = 2 * QPS_MAX,
		.max_cqe = VERBS_CQE_MAX,
		.max_mr = KEYS,
		.max_pd = 1 << 16,
		.max_qp_rd_atom = VERBS_RD_ATOMIC_MAX,
		.max_res_rd_atom = VERBS_RD_ATOMIC_MAX * QPS_MAX,
		.max_qp_init_rd_atom = VERBS_RD_ATOMIC_MAX,
		.atomic_cap = IBV_ATOMIC_HCA,
		.max_mw = KEYS,
		.max_ah = 1 << 16,
		.max_srq = QPS_MAX,
		.max_srq_wr = VERBS_WR_MAX,
		.max_srq_sge = VERBS_SGE_MAX,
		.max_pkeys = 1,
		.local_ca_ack_delay = 15,
		.phys_port_cnt = 1,
	};
	return 0;
}

int
verbs_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
		struct ibv_device_attr_ex *attr, size_t size)
{
	struct ibv_device_attr_ex full = { .phys_port_cnt_ex = 1 };

	if (input != NULL && input->comp_mask != 0)
		return EINVAL;
	if (size < sizeof(full.orig_attr))
		return EINVAL;
	(void)ibv_query_device(context, &full.orig_attr);
	full.device_cap_flags_ex = full.orig_attr.device_cap_flags;
	memset(attr, 0, size);
	memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}

/* The device has no clock of its own that completions would be stamped with. */
int
verbs_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	uint32_t wanted = values->comp_mask;

	values->comp_mask = 0;
	return wanted != 0 ? EOPNOTSUPP : 0;
}
