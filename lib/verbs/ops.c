/* SPDX-License-Identifier: BSD-3-Clause */

/* The functions that inline calls of verbs.h reach through the context. An extended function that is NULL is one that is not offered. */

#include <errno.h>
#include <string.h>

#include "verbs/verbs_front.h"

#undef ibv_query_port

/* For programs of headers before rdma-core 1.1, which knew smaller structures. */
static int
compat_query_port(struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *attr)
{
	return verbs_query_port(context, port_num, (struct ibv_port_attr *)(void *)attr,
			offsetof(struct ibv_port_attr, port_cap_flags2));
}

static int
compat_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	return ibv_query_device(context, attr);
}

void
verbs_set_ops(struct verbs_context *verbs)
{
	verbs->query_port = verbs_query_port;
	verbs->query_device_ex = verbs_query_device_ex;
	verbs->query_rt_values = verbs_query_rt_values;
	verbs->alloc_parent_domain = verbs_alloc_parent_domain;
	verbs->alloc_td = verbs_alloc_td;
	verbs->dealloc_td = verbs_dealloc_td;
	verbs->create_cq_ex = verbs_create_cq_ex;
	verbs->create_srq_ex = verbs_create_srq_ex;
	verbs->create_qp_ex = verbs_create_qp_ex;
	verbs->context.ops = (struct ibv_context_ops){
		._compat_query_device = compat_query_device,
		._compat_query_port = compat_query_port,
		.alloc_mw = verbs_alloc_mw,
		.bind_mw = verbs_bind_mw,
		.dealloc_mw = verbs_dealloc_mw,
		.poll_cq = verbs_poll_cq,
		.req_notify_cq = verbs_req_notify_cq,
		.post_srq_recv = verbs_post_srq_recv,
		.post_send = verbs_post_send,
		.post_recv = verbs_post_recv,
	};
}
