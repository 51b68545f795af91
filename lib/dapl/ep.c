/* SPDX-License-Identifier: BSD-3-Clause */

#include "dapl/dapl.h"

static_assert(offsetof(struct dapl_ep, engine) == 64,
		"a post looks at one cache line of the endpoint");

static struct roce_cq *
cq_of(const struct dapl_evd *evd)
{
	return evd != NULL ? evd->cq : NULL;
}

static enum dapl_status
create_qp(struct dapl_ep *ep, const struct dapl_ep_create *create)
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

	/* Their operands take the place of a piece: where there is room for two it costs nothing. */
	qp.atomics = qp.max_send_sge > 1;

	/* On a shared queue the sizes of the receive side are the queue's business. */
	if (create->srq != NULL) {
		qp.srq = create->srq->srq;
	} else {
		qp.max_recv_wr = (uint32_t)attr->max_recv_dtos;
		qp.max_recv_sge = (uint16_t)attr->max_recv_iov;
	}
	return roce_qp_create(ep->head.ia->domain, &qp, &ep->qp) == 0 ? DAPL_OK : DAPL_NO_MEMORY;
}

enum dapl_status
dapl_ep_create(struct dapl_ia *ia, const struct dapl_ep_create *create, struct dapl_ep **ep)
{
	struct dapl_ep *e = dapl_obj_alloc(sizeof(*e), ia);
	enum dapl_status status;

	if (e == NULL)
		return DAPL_NO_MEMORY;
	status = create_qp(e, create);
	if (status != DAPL_OK) {
		dapl_obj_free(e);
		return status;
	}
	e->state = DAPL_EP_STATE_UNCONNECTED;
	e->max_message = (uint32_t)create->attr.max_message;
	e->max_request_iov = (uint8_t)create->attr.max_request_iov;
	/* On a shared queue the attribute is no limit, and what is posted here is refused: by its state, not its size. */
	e->max_recv_iov = create->srq != NULL ? DAPL_MAX_IOV : (uint8_t)create->attr.max_recv_iov;
	e->has_srq = create->srq != NULL;
	if (roce_qp_engine(e->qp) != ia->engine0)
		e->engine = roce_qp_engine(e->qp);
	e->pz = create->pz;
	e->recv_evd = create->recv_evd;
	e->request_evd = create->request_evd;
	e->connect_evd = create->connect_evd;
	e->srq = create->srq;
	e->attr = create->attr;
	dapl_obj_use(e->recv_evd);
	dapl_obj_use(e->request_evd);
	dapl_obj_use(e->connect_evd);
	dapl_obj_publish(e, DAPL_EP);
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
	ep->watched = soft != DAPL_HIGH_WATER_NONE || hard != DAPL_HIGH_WATER_NONE;
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

void
dapl_ep_lock(struct dapl_ep *ep)
{
	roce_engine_lock(ep->head.ia->engine0);
	if (ep->engine != NULL)
		roce_engine_lock(ep->engine);
}

void
dapl_ep_unlock(struct dapl_ep *ep)
{
	if (ep->engine != NULL)
		roce_engine_unlock(ep->engine);
	roce_engine_unlock(ep->head.ia->engine0);
}

enum dapl_status
dapl_ep_free(struct dapl_ep *ep)
{
	dapl_ep_lock(ep);
	dapl_obj_retire_locked(ep);
	dapl_ep_forget_conn(ep);
	/* From here on the engine has nothing to tell about it. */
	roce_qp_to_reset(ep->qp);
	dapl_ep_unlock(ep);
	roce_qp_destroy(ep->qp);
	dapl_obj_drop(ep->recv_evd);
	dapl_obj_drop(ep->request_evd);
	dapl_obj_drop(ep->connect_evd);
	dapl_obj_free(ep);
	return DAPL_OK;
}

enum dapl_status
dapl_ep_reset(struct dapl_ep *ep)
{
	enum dapl_status status = DAPL_OK;
	unsigned int before;

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
