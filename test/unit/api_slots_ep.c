/* SPDX-License-Identifier: BSD-3-Clause */

#include "api_slots.h"

/* NOLINTBEGIN(readability-function-size): the standard decides how many arguments a call has. */

static DAT_RETURN
ep_create(DAT_IA_HANDLE a, DAT_PZ_HANDLE b, DAT_EVD_HANDLE c, DAT_EVD_HANDLE d, DAT_EVD_HANDLE e,
		const DAT_EP_ATTR *f, DAT_EP_HANDLE *g)
{
	return saw("ep_create", 7, (uintptr_t)a, (uintptr_t)b, (uintptr_t)c, (uintptr_t)d,
			(uintptr_t)e, (uintptr_t)f, (uintptr_t)g);
}

static DAT_RETURN
ep_create_with_srq(DAT_IA_HANDLE a, DAT_PZ_HANDLE b, DAT_EVD_HANDLE c, DAT_EVD_HANDLE d,
		DAT_EVD_HANDLE e, DAT_SRQ_HANDLE f, const DAT_EP_ATTR *g, DAT_EP_HANDLE *h)
{
	return saw("ep_create_with_srq", 8, (uintptr_t)a, (uintptr_t)b, (uintptr_t)c, (uintptr_t)d,
			(uintptr_t)e, (uintptr_t)f, (uintptr_t)g, (uintptr_t)h);
}

static DAT_RETURN
ep_query(DAT_EP_HANDLE a, DAT_EP_PARAM_MASK b, DAT_EP_PARAM *c)
{
	return saw("ep_query", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
ep_recv_query(DAT_EP_HANDLE a, DAT_COUNT *b, DAT_COUNT *c)
{
	return saw("ep_recv_query", 3, (uintptr_t)a, (uintptr_t)b, (uintptr_t)c);
}

static DAT_RETURN
ep_set_watermark(DAT_EP_HANDLE a, DAT_COUNT b, DAT_COUNT c)
{
	return saw("ep_set_watermark", 3, (uintptr_t)a, (uint64_t)b, (uint64_t)c);
}

static DAT_RETURN
ep_modify(DAT_EP_HANDLE a, DAT_EP_PARAM_MASK b, const DAT_EP_PARAM *c)
{
	return saw("ep_modify", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
ep_connect(DAT_EP_HANDLE a, DAT_IA_ADDRESS_PTR b, DAT_CONN_QUAL c, DAT_TIMEOUT d, DAT_COUNT e,
		const DAT_PVOID f, DAT_QOS g, DAT_CONNECT_FLAGS h)
{
	return saw("ep_connect", 8, (uintptr_t)a, (uintptr_t)b, (uint64_t)c, (uint64_t)d,
			(uint64_t)e, (uintptr_t)f, (uint64_t)g, (uint64_t)h);
}

static DAT_RETURN
ep_dup_connect(DAT_EP_HANDLE a, DAT_EP_HANDLE b, DAT_TIMEOUT c, DAT_COUNT d, const DAT_PVOID e,
		DAT_QOS f)
{
	return saw("ep_dup_connect", 6, (uintptr_t)a, (uintptr_t)b, (uint64_t)c, (uint64_t)d,
			(uintptr_t)e, (uint64_t)f);
}

static DAT_RETURN
ep_disconnect(DAT_EP_HANDLE a, DAT_CLOSE_FLAGS b)
{
	return saw("ep_disconnect", 2, (uintptr_t)a, (uint64_t)b);
}

static DAT_RETURN
ep_post_send(DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c, DAT_DTO_COOKIE d,
		DAT_COMPLETION_FLAGS e)
{
	return saw("ep_post_send", 5, (uintptr_t)a, (uint64_t)b, (uintptr_t)c, d.as_64,
			(uint64_t)e);
}

static DAT_RETURN
ep_post_recv(DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c, DAT_DTO_COOKIE d,
		DAT_COMPLETION_FLAGS e)
{
	return saw("ep_post_recv", 5, (uintptr_t)a, (uint64_t)b, (uintptr_t)c, d.as_64,
			(uint64_t)e);
}

static DAT_RETURN
ep_post_rdma_read(DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c, DAT_DTO_COOKIE d,
		const DAT_RMR_TRIPLET *e, DAT_COMPLETION_FLAGS f)
{
	return saw("ep_post_rdma_read", 6, (uintptr_t)a, (uint64_t)b, (uintptr_t)c, d.as_64,
			(uintptr_t)e, (uint64_t)f);
}

static DAT_RETURN
ep_post_rdma_write(DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c, DAT_DTO_COOKIE d,
		const DAT_RMR_TRIPLET *e, DAT_COMPLETION_FLAGS f)
{
	return saw("ep_post_rdma_write", 6, (uintptr_t)a, (uint64_t)b, (uintptr_t)c, d.as_64,
			(uintptr_t)e, (uint64_t)f);
}

static DAT_RETURN
ep_get_status(DAT_EP_HANDLE a, DAT_EP_STATE *b, DAT_BOOLEAN *c, DAT_BOOLEAN *d)
{
	return saw("ep_get_status", 4, (uintptr_t)a, (uintptr_t)b, (uintptr_t)c, (uintptr_t)d);
}

static DAT_RETURN
ep_free(DAT_EP_HANDLE a)
{
	return saw("ep_free", 1, (uintptr_t)a);
}

static DAT_RETURN
ep_reset(DAT_EP_HANDLE a)
{
	return saw("ep_reset", 1, (uintptr_t)a);
}

static DAT_RETURN
srq_create(DAT_IA_HANDLE a, DAT_PZ_HANDLE b, DAT_SRQ_ATTR *c, DAT_SRQ_HANDLE *d)
{
	return saw("srq_create", 4, (uintptr_t)a, (uintptr_t)b, (uintptr_t)c, (uintptr_t)d);
}

static DAT_RETURN
srq_free(DAT_SRQ_HANDLE a)
{
	return saw("srq_free", 1, (uintptr_t)a);
}

static DAT_RETURN
srq_post_recv(DAT_SRQ_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c, DAT_DTO_COOKIE d)
{
	return saw("srq_post_recv", 4, (uintptr_t)a, (uint64_t)b, (uintptr_t)c, d.as_64);
}

static DAT_RETURN
srq_query(DAT_SRQ_HANDLE a, DAT_SRQ_PARAM_MASK b, DAT_SRQ_PARAM *c)
{
	return saw("srq_query", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
srq_resize(DAT_SRQ_HANDLE a, DAT_COUNT b)
{
	return saw("srq_resize", 2, (uintptr_t)a, (uint64_t)b);
}

static DAT_RETURN
srq_set_lw(DAT_SRQ_HANDLE a, DAT_COUNT b)
{
	return saw("srq_set_lw", 2, (uintptr_t)a, (uint64_t)b);
}

/* NOLINTEND(readability-function-size) */

void
fill_slots_ep(DAT_PROVIDER *table)
{
	SLOT(ep_create);
	SLOT(ep_create_with_srq);
	SLOT(ep_query);
	SLOT(ep_recv_query);
	SLOT(ep_set_watermark);
	SLOT(ep_modify);
	SLOT(ep_connect);
	SLOT(ep_dup_connect);
	SLOT(ep_disconnect);
	SLOT(ep_post_send);
	SLOT(ep_post_recv);
	SLOT(ep_post_rdma_read);
	SLOT(ep_post_rdma_write);
	SLOT(ep_get_status);
	SLOT(ep_free);
	SLOT(ep_reset);
	SLOT(srq_create);
	SLOT(srq_free);
	SLOT(srq_post_recv);
	SLOT(srq_query);
	SLOT(srq_resize);
	SLOT(srq_set_lw);
}
