/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <string.h>

#include "dapl/ia.h"
#include "dapl/ia_limits.h"
#include "dapl/ia_list.h"
#include "front/abi.h"

#define VENDOR "udapl-roce"
/* Consumers often ask for too little for their own endpoints, of which 2.0 tells one by one. */
#define ASYNC_LEN_MIN    BY_ABI(256, 4096)
#define OBJECTS_MAX      (1 << 20)
#define LMR_MAX          65535 /**< remote memory regions are of the same table */
#define LMR_LEN_MAX      BY_ABI((UINT64_C(1) << 47), UINT32_MAX)
#define BUFFER_ALIGNMENT 64
#define SRQ_INFO_ALL     0x11 /**< available and outstanding count */
/* Of the named attributes the first belong to the provider, each version its own; the others are the adapter's. */
#define PROVIDER_ATTR  BY_ABI(5, 0)
#define PROVIDER_ATTRS BY_ABI(2, 6)
#define ADAPTER_ATTR   7
#define WATERMARKS_ALL 0x111 /**< low, soft high, hard high */
#define RECV_INFO_ALL  0x11  /**< number and span */

static_assert(sizeof(struct dapl_named_attr) == sizeof(DAT_NAMED_ATTR) &&
				offsetof(struct dapl_named_attr, value) ==
						offsetof(DAT_NAMED_ATTR, value),
		"handed out as they are");

/* Which asynchronous dispatcher the consumer wants. DAT_SUCCESS, or what is wrong with it. */
static DAT_RETURN
async_in(const char *name, DAT_EVD_HANDLE handle, DAT_COUNT min_qlen, struct dapl_ia_open *open)
{
	if (handle == DAT_HANDLE_NULL) {
		open->async_make = true;
		open->async_len = RTE_MAX(min_qlen, ASYNC_LEN_MIN);
		return DAT_SUCCESS;
	}
	/* The first instance has nobody else's to share. */
	if (handle == DAT_EVD_ASYNC_EXISTS)
		return dapl_ia_is_open(name) ? DAT_SUCCESS : bad_arg(DAT_INVALID_ARG3);
	open->async_evd = dapl_obj_check(handle, DAPL_EVD);
	if (open->async_evd == NULL || (open->async_evd->streams & DAPL_STREAM_ASYNC) == 0)
		return bad_handle(DAT_INVALID_HANDLE_EVD_ASYNC);
	return DAT_SUCCESS;
}

DAT_RETURN
front_ia_open(const DAT_NAME_PTR name, DAT_COUNT async_evd_min_qlen,
		DAT_EVD_HANDLE *async_evd_handle, DAT_IA_HANDLE *ia_handle)
{
	const struct front_adapter *adapter;
	struct dapl_ia_open open = { .last_wqe = BY_ABI(false, true),
		.poll_always = BY_ABI(false, true) };
	enum dapl_status status;
	struct dapl_ia *ia;
	DAT_RETURN rc;

	if (name == NULL)
		return bad_arg(DAT_INVALID_ARG1);
	adapter = front_find_adapter(name);
	if (adapter == NULL)
		return front_error(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
	if (async_evd_min_qlen < 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (async_evd_min_qlen > DAPL_MAX_EVD_LEN)
		return front_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD);
	if (async_evd_handle == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	rc = async_in(name, *async_evd_handle, async_evd_min_qlen, &open);
	if (rc != DAT_SUCCESS)
		return rc;
	if (ia_handle == NULL)
		return bad_arg(DAT_INVALID_ARG4);
	open.name = name;
	open.provider = &adapter->table;
	open.params = adapter->params;
	open.front = adapter;
	status = dapl_ia_open(&open, &ia);
	if (status != DAPL_OK)
		return front_status(status);
	*async_evd_handle = ia->async_evd != NULL ? ia->async_evd : DAT_EVD_OUT_OF_SCOPE;
	*ia_handle = ia;
	return DAT_SUCCESS;
}

static void
ia_attr_out(struct dapl_ia *ia, DAT_IA_ATTR *out)
{
	dapl_ia_count(ia);
	*out = (DAT_IA_ATTR){
		.vendor_name = VENDOR,
		.firmware_version_major = UDAPL_ROCE_VERSION_MAJOR,
		.firmware_version_minor = UDAPL_ROCE_VERSION_MINOR,
		.ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ia->address.sa,
		.max_eps = DAPL_MAX_EPS,
		.max_dto_per_ep = DAPL_MAX_DTOS,
		.max_evds = OBJECTS_MAX,
		.max_evd_qlen = DAPL_MAX_EVD_LEN,
		.max_iov_segments_per_dto = DAPL_MAX_IOV,
		.max_lmrs = LMR_MAX,
		.max_lmr_block_size = LMR_LEN_MAX,
		.max_lmr_virtual_address = UINT64_MAX,
		.max_pzs = OBJECTS_MAX,
		.max_message_size = DAPL_MAX_MESSAGE,
		.max_rmrs = LMR_MAX,
		.max_rmr_target_address = UINT64_MAX,
		.max_rdma_size = DAPL_MAX_MESSAGE,
		.max_rdma_read_per_ep_in = DAPL_MAX_RDMA_READS,
		.max_rdma_read_per_ep_out = DAPL_MAX_RDMA_READS,
		.max_rdma_read_in = DAPL_MAX_RDMA_READS * DAPL_MAX_EPS,
		.max_rdma_read_out = DAPL_MAX_RDMA_READS * DAPL_MAX_EPS,
		.max_iov_segments_per_rdma_read = DAPL_MAX_IOV,
		.max_iov_segments_per_rdma_write = DAPL_MAX_IOV,
		.max_srqs = OBJECTS_MAX,
		.max_ep_per_srq = DAPL_MAX_EPS,
		.max_recv_per_srq = DAPL_MAX_SRQ_LEN,
		.max_rdma_read_per_ep_in_guaranteed = DAT_TRUE,
		.max_rdma_read_per_ep_out_guaranteed = DAT_TRUE,
		.num_vendor_attr = (DAT_COUNT)(DAPL_IA_ATTRS - ADAPTER_ATTR + ia->counters),
		.vendor_attr = (DAT_NAMED_ATTR *)&ia->named[ADAPTER_ATTR],
	};
	new_ia_attr(out);
	snprintf(out->adapter_name, sizeof(out->adapter_name), "%s", ia->name);
}

static void
provider_attr_out(struct dapl_ia *ia, DAT_PROVIDER_ATTR *out)
{
	const struct front_adapter *adapter = ia->front;
	const DAT_PROVIDER_ATTR attr = {
		.provider_name = VENDOR,
		.provider_version_major = UDAPL_ROCE_VERSION_MAJOR,
		.provider_version_minor = UDAPL_ROCE_VERSION_MINOR,
		.dapl_version_major = adapter->info.dapl_version_major,
		.dapl_version_minor = adapter->info.dapl_version_minor,
		/* Read as a mask, as other providers of 1.2 write it: one by one, VIRTUAL is 0. */
		.lmr_mem_types_supported =
				(DAT_MEM_TYPE)(DAT_MEM_TYPE_LMR | DAT_MEM_TYPE_SHARED_VIRTUAL),
		.iov_ownership_on_return = DAT_IOV_CONSUMER,
		.dat_qos_supported = DAT_QOS_BEST_EFFORT,
		.completion_flags_supported =
				(DAT_COMPLETION_FLAGS)(DAT_COMPLETION_SUPPRESS_FLAG |
						       DAT_COMPLETION_SOLICITED_WAIT_FLAG |
						       DAT_COMPLETION_UNSIGNALLED_FLAG |
						       DAT_COMPLETION_BARRIER_FENCE_FLAG |
						       DAT_COMPLETION_EVD_THRESHOLD_FLAG),
		.is_thread_safe = adapter->info.is_thread_safe,
		.max_private_data_size = DAPL_MAX_PRIVATE,
		.supports_multipath = DAT_FALSE,
		.ep_creator = DAT_PSP_CREATES_EP_NEVER,
		.pz_support = DAT_PZ_SHAREABLE,
		.optimal_buffer_alignment = BUFFER_ALIGNMENT,
		/* One ring carries every kind of event: nothing is forbidden. */
		.evd_stream_merging_supported = {
			{ DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE },
			{ DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE },
			{ DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE },
			{ DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE },
			{ DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE },
			{ DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE, DAT_TRUE },
		},
		.srq_supported = DAT_TRUE,
		.srq_watermarks_supported = WATERMARKS_ALL,
		.srq_ep_pz_difference_supported = DAT_TRUE,
		.srq_info_supported = SRQ_INFO_ALL,
		.ep_recv_info_supported = RECV_INFO_ALL,
		.lmr_sync_req = DAT_FALSE,
		.dto_async_return_guaranteed = DAT_TRUE,
		.rdma_write_for_rdma_read_req = DAT_FALSE,
		.num_provider_specific_attr = PROVIDER_ATTRS,
		.provider_specific_attr = (DAT_NAMED_ATTR *)&ia->named[PROVIDER_ATTR],
	};

	/* The table of streams is const in the standard's struct: no assignment. */
	memcpy((void *)out, &attr, sizeof(attr));
	new_provider_attr(out);
}

DAT_RETURN
front_ia_query(DAT_IA_HANDLE ia_handle, DAT_EVD_HANDLE *async_evd_handle,
		DAT_IA_ATTR_MASK ia_attr_mask, DAT_IA_ATTR *ia_attr,
		DAT_PROVIDER_ATTR_MASK provider_attr_mask, DAT_PROVIDER_ATTR *provider_attr)
{
	struct dapl_ia *ia = dapl_obj_check(ia_handle, DAPL_IA);

	if (ia == NULL)
		return bad_handle(DAT_INVALID_HANDLE_IA);
	if ((ia_attr_mask & ~DAT_IA_FIELD_ALL) != 0)
		return bad_arg(DAT_INVALID_ARG3);
	if (ia_attr_mask != 0 && ia_attr == NULL)
		return bad_arg(DAT_INVALID_ARG4);
	if ((provider_attr_mask & ~DAT_PROVIDER_FIELD_ALL) != 0)
		return bad_arg(DAT_INVALID_ARG5);
	if (provider_attr_mask != 0 && provider_attr == NULL)
		return bad_arg(DAT_INVALID_ARG6);
	if (async_evd_handle != NULL)
		*async_evd_handle = ia->async_evd != NULL ? ia->async_evd : DAT_EVD_OUT_OF_SCOPE;
	if (ia_attr_mask != 0)
		ia_attr_out(ia, ia_attr);
	if (provider_attr_mask != 0)
		provider_attr_out(ia, provider_attr);
	return DAT_SUCCESS;
}

DAT_RETURN
front_ia_close(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS close_flags)
{
	struct dapl_ia *ia = dapl_obj_check(ia_handle, DAPL_IA);

	if (ia == NULL)
		return bad_handle(DAT_INVALID_HANDLE_IA);
	if (close_flags != DAT_CLOSE_ABRUPT_FLAG && close_flags != DAT_CLOSE_GRACEFUL_FLAG)
		return bad_arg(DAT_INVALID_ARG2);
	return front_return(dapl_ia_close(ia, close_flags == DAT_CLOSE_GRACEFUL_FLAG));
}

DAT_RETURN
front_set_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT context)
{
	struct dapl_obj *obj = dat_handle;

	if (dapl_obj_type(dat_handle) == 0)
		return bad_handle(DAT_INVALID_HANDLE1);
	obj->context = context.as_64;
	return DAT_SUCCESS;
}

DAT_RETURN
front_get_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT *context)
{
	const struct dapl_obj *obj = dat_handle;

	if (dapl_obj_type(dat_handle) == 0)
		return bad_handle(DAT_INVALID_HANDLE1);
	if (context == NULL)
		return bad_arg(DAT_INVALID_ARG2);
	context->as_64 = obj->context;
	return DAT_SUCCESS;
}

DAT_RETURN
front_get_handle_type(DAT_HANDLE dat_handle, DAT_HANDLE_TYPE *handle_type)
{
	static const DAT_HANDLE_TYPE types[DAPL_TYPES] = {
		[DAPL_IA] = DAT_HANDLE_TYPE_IA,
		[DAPL_PZ] = DAT_HANDLE_TYPE_PZ,
		[DAPL_LMR] = DAT_HANDLE_TYPE_LMR,
		[DAPL_RMR] = DAT_HANDLE_TYPE_RMR,
		[DAPL_SRQ] = DAT_HANDLE_TYPE_SRQ,
		[DAPL_EP] = DAT_HANDLE_TYPE_EP,
		[DAPL_EVD] = DAT_HANDLE_TYPE_EVD,
		[DAPL_PSP] = DAT_HANDLE_TYPE_PSP,
		[DAPL_CR] = DAT_HANDLE_TYPE_CR,
		[DAPL_RSP] = DAT_HANDLE_TYPE_RSP,
		[DAPL_CNO] = DAT_HANDLE_TYPE_CNO,
	};
	unsigned int type = dapl_obj_type(dat_handle);

	if (type == 0)
		return bad_handle(DAT_INVALID_HANDLE1);
	if (handle_type == NULL)
		return bad_arg(DAT_INVALID_ARG2);
	*handle_type = types[type];
	return DAT_SUCCESS;
}
