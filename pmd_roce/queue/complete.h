/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_COMPLETE_H
#define ROCE_QUEUE_COMPLETE_H

/**
 * @file
 * The end of requests and receives, and the events that tell of it.
 */

#include "queue/qp.h"

/** In what roce_qp_tell_recv() tells, beside ROCE_EVENT_ZCRX: the place of the frame (zcrx.h). */
#define ROCE_ZCRX_SHIFT 16

/**
 * The request or bind in slot @p *done has ended: the slot is the poster's again, and the completion the consumer's, if
 * it asked for one. Locked.
 *
 * @param done  &qp->done, or &qp->tx.tail without ROCE_WQE_EXTBUF; moves by one.
 */
void roce_qp_end_request(struct roce_qp *qp, uint32_t *done, enum ibv_wc_status status);

/** Complete the request at the tail, which is no bind and has no ROCE_WQE_EXTBUF. Locked. */
void roce_qp_complete_send(struct roce_qp *qp, enum ibv_wc_status status);

/** Complete the bind at the tail. Locked. */
void roce_qp_complete_bind(struct roce_qp *qp, enum ibv_wc_status status);

/** The event of a receive found no room. As roce_qp_tell_recv(). */
void roce_qp_lose_recv(struct roce_qp *qp);

/** The fields of an event of a receive that are not those of the receive itself. */
struct roce_outcome {
	uint32_t len; /**< bytes received */
	enum ibv_wc_status status;
	uint32_t event_flags; /**< ROCE_EVENT_* (and ROCE_ZCRX_SHIFT) */
	uint32_t imm;         /**< as on the wire */
};

/** ROCE_EVENT_* of a message whose last packet is solicited, or is not. */
static inline uint32_t
roce_event_solicited(bool solicited)
{
	return solicited ? ROCE_EVENT_SOLICITED : 0;
}

/**
 * The event of a receive of the queue pair, whose rx.cq is not NULL. @p recv has its wr_id and flags; @p multi_engine is that of
 * the domain. Locked. @return false: it found no room, and is lost.
 */
static __rte_always_inline bool
roce_qp_tell_recv(struct roce_qp *qp, const struct roce_recv *recv, struct roce_outcome out,
		bool multi_engine)
{
	struct roce_event *event = roce_cq_reserve(qp->rx.cq, multi_engine);

	if (unlikely(event == NULL)) {
		roce_qp_lose_recv(qp);
		return false;
	}
	event->wr_id = recv->wr_id;
	event->owner = qp->owner;
	event->byte_len = out.len;
	event->imm = out.imm;
	event->kind = ROCE_EVENT_RECV;
	event->status = (uint8_t)out.status;
	event->flags = (uint8_t)(out.event_flags | recv->flags);
	event->opcode = 0;
	event->srq_tag = qp->rx.srq_tag;
	event->zcrx = (uint16_t)(out.event_flags >> ROCE_ZCRX_SHIFT);
	roce_cq_publish(qp->rx.cq, multi_engine);
	return true;
}

/** Complete the receive that the queue pair holds; the rest as in roce_qp_tell_recv(). Locked. */
static __rte_always_inline bool
roce_qp_complete_recv(
		struct roce_qp *qp, enum ibv_wc_status status, uint32_t event_flags, uint32_t imm)
{
	const struct roce_outcome out = { qp->rx.got, status, event_flags, imm };

	roce_qp_hold(qp, false);
	if (likely(qp->rx.cq != NULL))
		return roce_qp_tell_recv(qp, qp->rx.recv, out, qp->engine->domain->multi_engine);
	roce_srq_reap_silent(qp->rx.rq, 1);
	return true;
}

#endif
