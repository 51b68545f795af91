/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_RESPONDER_RESP_SEND_H
#define ROCE_RESPONDER_RESP_SEND_H

/**
 * @file
 * The common request of a program that passes messages: a whole SEND in one plain frame, the one that is
 * expected, for a receive of one segment that is there and has room. It is validated from its bytes and executed in one go.
 * Every other frame, queue pair or receive is left to rx.c and resp.c, which validate everything in the order of IBTA
 * Vol 1, 9.7.4.1. The rules are those of resp.h for both. Its side effect is at most payload in the receive that the message
 * would get anyway (placement.h).
 */

#include "queue/complete.h"
#include "queue/frames.h"
#include "responder/resp_plain.h"

/** Row of the only opcode that is received here: what the rules of resp.h do for others, the compiler leaves out. */
#define ROCE_RESP_SEND (&roce_opcode[IBV_OPCODE_RC_SEND_ONLY])

/** May the payload be copied to the only segment of @p recv, which is taken next? */
static __rte_always_inline bool
roce_resp_send_fits(struct roce_srq *srq, const struct roce_recv *recv, uint32_t payload_len)
{
	return recv->num_sge == 1 && roce_resp_has_room(recv, 0, payload_len) &&
			roce_srq_is_valid(srq, srq->taken);
}

/**
 * Copy the payload to where the message will be received, if the ICRC is right; both in one pass where that pays (placement.h).
 * @param proven it was found right before.
 */
static __rte_always_inline bool
roce_resp_send_copy(const struct roce_plain_packet *send, uint8_t *to, bool proven)
{
	if (!proven && send->payload_len >= ROCE_ONE_PASS)
		return roce_plain_packet_icrc_ok_copy(send, to);
	if (!proven && unlikely(!roce_plain_packet_icrc_ok(send)))
		return false;
	memcpy(to, send->payload, send->payload_len);
	return true;
}

/** roce_resp_send() and roce_resp_send_held(). @param held the frame was held: its ICRC is right. */
static __rte_always_inline bool
roce_resp_send_any(struct roce_engine *e, const struct rte_mbuf *m, uint8_t opcode, uint64_t now,
		bool (*acknowledged)(struct roce_qp *, const struct roce_piggyback *, uint64_t),
		bool held)
{
	const uint8_t checks = held ? ROCE_CHECK_TAKE : ROCE_CHECK_TAKE | ROCE_CHECK_HELD;
	struct roce_plain_packet send;
	struct roce_outcome out = { .status = IBV_WC_SUCCESS };
	const struct roce_recv *next;
	struct roce_recv recv;
	uint32_t available;
	struct roce_qp *qp;

	if (!roce_plain_packet_parse(m, opcode, &send))
		return false;
	qp = roce_qp_find(e->domain, send.dest_qp);
	if (unlikely(qp == NULL ||
			    !roce_resp_plain_expected(e, qp, &send, ROCE_RESP_SEND, checks) ||
			    qp->rx.cq == NULL))
		return false;
	available = roce_srq_available(qp->rx.rq);
	next = (const struct roce_recv *)roce_srq_slot(qp->rx.rq, qp->rx.rq->taken);
	if (unlikely(available == 0 || !roce_resp_send_fits(qp->rx.rq, next, send.payload_len) ||
			    !roce_resp_send_copy(
					    &send, (uint8_t *)(uintptr_t)next->sge->addr, held)))
		return false;
	if (acknowledged != NULL && send.ack != NULL && unlikely(!acknowledged(qp, send.ack, now)))
		return true;
	roce_resp_arrived(&qp->rx);
	/* Of a queue pair's own queue the slot may be posted to again as soon as it is taken. */
	recv = *next;
	roce_srq_pass(qp->rx.rq, available);
	out.len = send.payload_len;
	roce_resp_taken(&qp->rx);
	out.event_flags = roce_event_solicited(send.solicited);
	(void)roce_qp_tell_recv(qp, &recv, out, false);
	roce_resp_advance(&qp->rx, 1);
	roce_resp_settle(qp, ROCE_RESP_SEND, send.payload_len, send.ack_req);
	return true;
}

/**
 * Receive a frame of a domain with one engine, if it is such a SEND. Locked.
 * @param opcode as in roce_plain_packet_parse().
 * @param acknowledged called with the acknowledgement that the SEND carries, before that is executed; false: it is not to be.
 * @return true: it was, and is executed; the frame is the caller's to free. false: no state has changed.
 */
static __rte_always_inline bool
roce_resp_send(struct roce_engine *e, const struct rte_mbuf *m, uint8_t opcode, uint64_t now,
		bool (*acknowledged)(struct roce_qp *, const struct roce_piggyback *, uint64_t))
{
	return roce_resp_send_any(e, m, opcode, now, acknowledged, false);
}

/** The same for a frame that was held, whose turn has come. */
static inline bool
roce_resp_send_held(struct roce_engine *e, const struct rte_mbuf *m)
{
	return roce_resp_send_any(e, m, IBV_OPCODE_RC_SEND_ONLY, 0, NULL, true);
}

#endif
