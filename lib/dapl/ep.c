/* SPDX-License-Identifier: BSD-3-Clause */

#include "dapl/ep.h"
#include "dapl/ep_conn.h"
#include "dapl/ep_state.h"
#include "dapl/evd.h"
#include "dapl/event.h"
#include "dapl/feed.h"
#include "dapl/ia.h"
#include "dapl/ia_drain.h"
#include "dapl/ia_limits.h"
#include "dapl/obj.h"
#include "dapl/pz.h"
#include "dapl/srq.h"
#include "dapl/status.h"
#include "engine/engine.h"
#include "engine/verbs.h"

static_assert(offsetof(struct dapl_ep, engine) == 64,
		"a post looks at one cache line of the endpoint");

static struct roce_cq *
cq_of(const struct dapl_evd *evd)
{
	return evd != NULL ? evd->cq : NULL;
}

static enum dapl_status
create_qp(struct dapl_ep *ep, const struct dapl_ep_create *create, struct roce_qp **out)
{
	const struct dapl_ep_attr *attr = &create->attr;
	struct roce_qp_attr qp = {
		.pd = create->pz->pd,
		.send_cq = cq_of(create->request_evd),
		.recv_cq = cq_of(create->recv_evd),
		.max_send_wr = (uint32_t)attr->max_request_dtos,
		.max_send_sge = (uint16_t)RTE_MAX(attr->max_request_iov,
				RTE_MAX(attr->max_rdma_read_iov, attr->max_rdma_write_iov)),
		.max_dest_rd_atomic = (uint8_t)attr->max_rdma_read_in,
		.owner = ep,
	};

	/* Their operands take the place of a segment: where there is room for two it costs nothing. */
	qp.atomics = qp.max_send_sge > 1;

	/* On a shared queue the sizes of the receive side are the queue's business. */
	if (create->srq != NULL) {
		qp.srq = create->srq->srq;
	} else {
		qp.max_recv_wr = (uint32_t)attr->max_recv_dtos;
		qp.max_recv_sge = (uint16_t)attr->max_recv_iov;
	}
	/* Attributes that are left out stand for four segments, which most endpoints never use. */
	return roce_qp_create_small(&qp, out) == 0 ? DAPL_OK : DAPL_NO_MEMORY;
}

/* Be what is described, on this queue pair. */
static void
adopt(struct dapl_ep *ep, const struct dapl_ep_create *as, struct roce_qp *qp)
{
	ep->qp = qp;
	ep->engine = roce_qp_engine(qp) != ep->head.ia->engine0 ? roce_qp_engine(qp) : NULL;
	ep->max_message = (uint32_t)as->attr.max_message;
	ep->max_request_iov = (uint8_t)as->attr.max_request_iov;
	/* On a shared queue the attribute is no limit, and what is posted here is refused: by its state, not its size. */
	ep->max_recv_iov = as->srq != NULL ? DAPL_MAX_IOV : (uint8_t)as->attr.max_recv_iov;
	ep->has_srq = as->srq != NULL;
	ep->pz = as->pz;
	ep->recv_evd = as->recv_evd;
	ep->request_evd = as->request_evd;
	ep->connect_evd = as->connect_evd;
	ep->srq = as->srq;
	ep->attr = as->attr;
	ep->unsignalled_recvs = as->attr.recv_notify == DAPL_NOTIFY_UNSIGNALLED;
	ep->unsignalled_requests = as->attr.request_notify == DAPL_NOTIFY_UNSIGNALLED;
}

static void
use_evds(const struct dapl_ep_create *create)
{
	dapl_obj_use(create->recv_evd);
	dapl_obj_use(create->request_evd);
	dapl_obj_use(create->connect_evd);
}

static void
drop_evds(const struct dapl_ep *ep)
{
	dapl_obj_drop(ep->recv_evd);
	dapl_obj_drop(ep->request_evd);
	dapl_obj_drop(ep->connect_evd);
}

/* The streams of a dispatcher are decided one endpoint at a time. @return false: its streams do not go with others. */
static bool
publish(struct dapl_ep *ep)
{
	struct roce_engine *engine0 = ep->head.ia->engine0;
	bool fits;

	roce_engine_lock(engine0);
	fits = dapl_feed(ep);
	if (fits)
		dapl_obj_publish_locked(ep, DAPL_EP);
	roce_engine_unlock(engine0);
	return fits;
}

enum dapl_status
dapl_ep_create(struct dapl_ia *ia, const struct dapl_ep_create *create, struct dapl_ep **ep)
{
	struct dapl_ep *e = dapl_obj_alloc(sizeof(*e), ia);
	enum dapl_status status;
	struct roce_qp *qp;

	if (e == NULL)
		return DAPL_NO_MEMORY;
	status = create_qp(e, create, &qp);
	if (status != DAPL_OK) {
		dapl_obj_free(e);
		return status;
	}
	e->state = DAPL_EP_STATE_UNCONNECTED;
	e->hard_high = DAPL_HIGH_WATER_NONE;
	adopt(e, create, qp);
	if (!publish(e)) {
		roce_qp_destroy(qp);
		dapl_obj_free(e);
		return DAPL_BAD_FLAGS;
	}
	use_evds(create);
	if (create->attr.srq_soft_hw != DAPL_HIGH_WATER_NONE)
		dapl_ep_set_watermark(e, create->attr.srq_soft_hw, DAPL_HIGH_WATER_NONE);
	*ep = e;
	return DAPL_OK;
}

static uint32_t
high_of(int32_t mark)
{
	return mark == DAPL_HIGH_WATER_NONE ? ROCE_HIGH_NONE : (uint32_t)mark;
}

void
dapl_ep_set_watermark(struct dapl_ep *ep, int32_t soft, int32_t hard)
{
	dapl_ep_lock(ep);
	ep->attr.srq_soft_hw = soft;
	ep->hard_high = hard;
	ep->has_watermark = soft != DAPL_HIGH_WATER_NONE || hard != DAPL_HIGH_WATER_NONE;
	roce_qp_set_high(ep->qp, high_of(soft), high_of(hard));
	dapl_ep_unlock(ep);
}

uint32_t
dapl_ep_recv_count(struct dapl_ep *ep)
{
	uint32_t requests, receives;

	dapl_ep_lock(ep);
	roce_qp_depth(ep->qp, &requests, &receives);
	dapl_ep_unlock(ep);
	return receives;
}

/* A queue pair is what it was made for; other attributes are looked at where they matter. */
static bool
needs_new_qp(const struct dapl_ep *ep, const struct dapl_ep_create *to)
{
	const struct dapl_ep_attr *is = &ep->attr, *want = &to->attr;

	return ep->pz != to->pz || ep->recv_evd != to->recv_evd ||
			ep->request_evd != to->request_evd ||
			is->max_recv_dtos != want->max_recv_dtos ||
			is->max_request_dtos != want->max_request_dtos ||
			is->max_recv_iov != want->max_recv_iov ||
			is->max_request_iov != want->max_request_iov ||
			is->max_rdma_read_iov != want->max_rdma_read_iov ||
			is->max_rdma_write_iov != want->max_rdma_write_iov ||
			is->max_rdma_read_in != want->max_rdma_read_in;
}

/* Before a connection is asked for or granted; its zone only while nobody else knows of the endpoint. */
static bool
may_change(const struct dapl_ep *ep, const struct dapl_ep_create *to)
{
	return ep->state == DAPL_EP_STATE_UNCONNECTED ||
			((ep->state == DAPL_EP_STATE_RESERVED ||
					 ep->state == DAPL_EP_STATE_PASSIVE_PENDING) &&
					ep->pz == to->pz);
}

/* Feed other dispatchers, or in another way. @return false: those do not go together, and nothing has changed. */
static bool
refeed(const struct dapl_ep *ep, const struct dapl_ep_create *to)
{
	struct dapl_ep as = { .recv_evd = to->recv_evd,
		.request_evd = to->request_evd,
		.srq = to->srq,
		.attr = to->attr };

	dapl_unfeed(ep);
	if (dapl_feed(&as))
		return true;
	(void)dapl_feed(ep);
	return false;
}

/* Change over to @p qp, which may be the one it has. No work may be posted to one that is left. */
static enum dapl_status
change_over(struct dapl_ep *ep, const struct dapl_ep_create *to, struct roce_qp *qp)
{
	struct roce_engine *engine = ep->engine;
	enum dapl_status status = DAPL_OK;
	uint32_t requests, receives;

	dapl_ep_lock(ep);
	roce_qp_depth(ep->qp, &requests, &receives);
	if (!may_change(ep, to)) {
		status = dapl_ep_state_error(ep->state);
	} else if (qp != ep->qp && receives > 0) {
		status = DAPL_EP_NOT_READY;
	} else if (!refeed(ep, to)) {
		status = DAPL_BAD_FLAGS;
	} else {
		use_evds(to);
		adopt(ep, to, qp);
	}
	if (engine != NULL)
		roce_engine_unlock_inner(engine);
	roce_engine_unlock(ep->head.ia->engine0);
	return status;
}

enum dapl_status
dapl_ep_modify(struct dapl_ep *ep, const struct dapl_ep_create *to)
{
	struct dapl_evd *left[] = { ep->recv_evd, ep->request_evd, ep->connect_evd };
	struct roce_qp *old = ep->qp, *qp = old;
	enum dapl_status status;

	if (needs_new_qp(ep, to)) {
		status = create_qp(ep, to, &qp);
		if (status != DAPL_OK)
			return status;
	}
	status = change_over(ep, to, qp);
	if (qp != old)
		roce_qp_destroy(status == DAPL_OK ? old : qp);
	if (status != DAPL_OK)
		return status;
	/* Only now nothing holds their queues any more. */
	for (unsigned int i = 0; i < RTE_DIM(left); i++)
		dapl_obj_drop(left[i]);
	/* The marks are those of the endpoint, whatever queue pair it has. */
	if (qp != old && ep->has_watermark)
		dapl_ep_set_watermark(ep, ep->attr.srq_soft_hw, ep->hard_high);
	return status;
}

/* In any state. Under the locks of the endpoint, which are given back. */
static void
destroy_locked(struct dapl_ep *ep)
{
	dapl_obj_retire_locked(ep);
	dapl_unfeed(ep);
	roce_qp_make_final_ack(ep->qp);
	dapl_ep_forget_conn(ep);
	/* From here on the engine has nothing to tell about it. */
	roce_qp_to_reset(ep->qp);
	dapl_ep_unlock(ep);
	roce_qp_destroy(ep->qp);
	drop_evds(ep);
	dapl_obj_free(ep);
}

void
dapl_ep_destroy(struct dapl_ep *ep)
{
	dapl_ep_lock(ep);
	destroy_locked(ep);
}

enum dapl_status
dapl_ep_free(struct dapl_ep *ep)
{
	dapl_ep_lock(ep);
	if (ep->state == DAPL_EP_STATE_RESERVED || ep->state == DAPL_EP_STATE_PASSIVE_PENDING) {
		enum dapl_status status = dapl_ep_state_error(ep->state);

		dapl_ep_unlock(ep);
		return status;
	}
	destroy_locked(ep);
	return DAPL_OK;
}

static bool
is_flushed(void *arg)
{
	const struct dapl_ep *ep = arg;

	return !roce_qp_waits_for_release(ep->qp);
}

enum dapl_status
dapl_ep_reset(struct dapl_ep *ep)
{
	enum dapl_status status = DAPL_OK;
	unsigned int before;

	/* With zero_copy= what ended with the connection may wait for the device: none of it belongs to the next one. */
	if (__atomic_load_n(&ep->state, __ATOMIC_RELAXED) == DAPL_EP_STATE_DISCONNECTED)
		dapl_ia_await(ep->head.ia, is_flushed, ep);
	dapl_ep_lock(ep);
	before = ep->state;
	if (!dapl_ep_advance(ep, DAPL_EP_IN_RESET)) {
		status = dapl_ep_state_error(before);
	} else if (before != ep->state) {
		dapl_ep_forget_conn(ep);
		roce_qp_to_reset(ep->qp);
	}
	dapl_ep_unlock(ep);
	return status;
}
