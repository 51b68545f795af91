/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct placement: where a payload goes before its ICRC is known, by the kind of its packet. */

#include <rte_branch_prediction.h>

#include "engine/placement.h"
#include "queue/mw.h"
#include "queue/sge.h"
#include "requester/req_read.h"
#include "responder/resp.h"

/* Part of a receive, where the engine may write now. NULL: it lies in several segments, or does not fit. */
static uint8_t *
place_in(const struct roce_qp *qp, const struct roce_recv *recv, uint32_t offset, uint32_t len)
{
	const struct roce_keys *keys = &qp->engine->domain->keys;
	struct roce_sge part = { recv->sge->addr + offset, len, recv->sge->lkey };

	if (recv->num_sge != 1 || !roce_resp_has_room(recv, offset, len) ||
			roce_keys_check(keys, qp->rx.rq->pd, &part, IBV_ACCESS_LOCAL_WRITE) != 0)
		return NULL;
	return (uint8_t *)(uintptr_t)part.addr;
}

static bool
is_expected(const struct roce_qp_rx *rx, const struct roce_pkt *pkt)
{
	return roce_resp_is_expected(rx, pkt->psn, pkt->op, pkt->payload_len);
}

/* The receive that the message has, or would take. */
static uint8_t *
place_of_send(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const struct roce_qp_rx *rx = &qp->rx;
	const struct roce_recv *next;

	if (!is_expected(rx, pkt))
		return NULL;
	if (!(pkt->op->flags & ROCE_OP_START))
		return place_in(qp, rx->recv, rx->got, pkt->payload_len);
	/* With several engines, another one may take it first. */
	if ((rx->checks & ROCE_CHECK_TAKE) || qp->engine->domain->multi_engine)
		return NULL;
	next = roce_srq_next(rx->rq);
	return next != NULL ? place_in(qp, next, 0, pkt->payload_len) : NULL;
}

/*
 * Where a WRITE goes on is known from its first packet; of that one only the frame says it. Nor is its last packet placed
 * directly: programs look for its last byte.
 */
static uint8_t *
place_of_write(const struct roce_qp *qp, const struct roce_pkt *pkt, struct roce_mr **entered)
{
	const struct roce_qp_remote *remote = &qp->remote;
	struct roce_sge to = { remote->va, pkt->payload_len, remote->rkey };

	if (pkt->opcode != IBV_OPCODE_RC_RDMA_WRITE_MIDDLE || !is_expected(&qp->rx, pkt) ||
			pkt->payload_len >= remote->left ||
			roce_keys_enter(qp->engine->domain, qp->pd, qp, &to,
					IBV_ACCESS_REMOTE_WRITE, entered) != 0)
		return NULL;
	return (uint8_t *)(uintptr_t)to.addr;
}

static uint8_t *
place_of_answer(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const struct roce_wqe *wqe;
	uint32_t got;

	if (qp->tx.reads == 0 || qp->rx.state != ROCE_QP_RTS)
		return NULL;
	wqe = roce_read_oldest(qp);
	if (pkt->psn != roce_read_expected(qp, wqe) || !roce_read_fits(qp, wqe, pkt, &got))
		return NULL;
	return roce_sge_find(&qp->engine->domain->keys, qp->pd, wqe->sge, got, pkt->payload_len,
			IBV_ACCESS_LOCAL_WRITE);
}

/* @p entered: for roce_keys_leave(); NULL when nothing was entered. */
static uint8_t *
place_of(const struct roce_qp *qp, const struct roce_pkt *pkt, struct roce_mr **entered)
{
	if (!roce_pkt_ends_in_first(pkt) || (pkt->op->flags & ROCE_OP_DETH))
		return NULL;
	if (!(pkt->op->flags & ROCE_OP_REQUEST))
		return place_of_answer(qp, pkt);
	if (pkt->op->verb == ROCE_VERB_SEND)
		return place_of_send(qp, pkt);
	if (pkt->op->verb == ROCE_VERB_WRITE)
		return place_of_write(qp, pkt, entered);
	return NULL;
}

__rte_noinline bool
roce_icrc_ok_place(struct roce_qp *qp, struct roce_pkt *pkt)
{
	struct roce_mr *entered = NULL;
	bool ok;

	pkt->placed = place_of(qp, pkt, &entered);
	if (unlikely(pkt->placed == NULL))
		return roce_icrc_ok(pkt);
	ok = roce_icrc_ok_copy(pkt, pkt->placed);
	roce_keys_leave(entered);
	return ok;
}
