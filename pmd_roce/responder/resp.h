/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_RESPONDER_RESP_H
#define ROCE_RESPONDER_RESP_H

/**
 * @file
 * The responder: validation of a request packet, in the order of IBTA Vol 1, 9.7.4.1 (sequence, opcode, length,
 * resources), what it does, and what it answers.
 */

#include "queue/qp.h"
#include "wire/repeat.h"

/** The verdict on a request packet. */
enum roce_verdict {
	ROCE_ACCEPT = 0,
	ROCE_DUPLICATE,      /**< executed before: answer again */
	ROCE_DROP,           /**< a gap was reported already */
	ROCE_GAP,            /**< first packet behind a gap */
	ROCE_NOT_READY,      /**< no receive posted */
	ROCE_INVALID,        /**< the peer broke the protocol */
	ROCE_TOO_LONG,       /**< message longer than the receive */
	ROCE_BAD_KEY,        /**< memory that the peer may not touch */
	ROCE_UNSUPPORTED,    /**< an operation that this end does not serve */
	ROCE_BAD_INVALIDATE, /**< no window of the peer's has the key that it wants to end */
	ROCE_BAD_RECEIVE,    /**< the memory of the receive is gone */
	ROCE_ZCRX,           /**< accepted; the consumer gets the frame */
	ROCE_OVER_HIGH,      /**< one receive more than the hard high watermark allows */
};

/** The part of roce_resp_check() for everything but SEND. Locked. */
enum roce_verdict roce_resp_check_rdma(struct roce_qp *qp, const struct roce_pkt *pkt);

/** The memory that a WRITE or READ names. */
static inline struct roce_sge
roce_reth_memory(const struct roce_reth *reth)
{
	return (struct roce_sge){
		.addr = rte_be_to_cpu_64(reth->va),
		.length = rte_be_to_cpu_32(reth->length),
		.lkey = rte_be_to_cpu_32(reth->rkey),
	};
}

/** A first or middle packet carries exactly one path MTU, a last packet at least one byte. */
static inline bool
roce_resp_length_ok(const struct roce_qp_rx *rx, const struct roce_opcode_info *op, uint32_t len)
{
	if (!(op->flags & ROCE_OP_END))
		return len == rx->mtu;
	if (!(op->flags & ROCE_OP_START) && len == 0)
		return false;
	return len <= rx->mtu;
}

/** A message starts exactly when none is in progress, and goes on as what it started. */
static inline bool
roce_resp_order_ok(const struct roce_qp_rx *rx, const struct roce_opcode_info *op)
{
	if (op->flags & ROCE_OP_START)
		return rx->verb == ROCE_VERB_NONE;
	return rx->verb == op->verb;
}

/** Is it the PSN that is expected next? */
static inline bool
roce_resp_is_next(const struct roce_qp_rx *rx, uint32_t psn)
{
	return psn == rx->epsn;
}

/** The PSN that was expected is here: a gap behind it has not been reported. */
static inline void
roce_resp_arrived(struct roce_qp_rx *rx)
{
	rx->nak_sent = false;
}

/** Is a request packet the expected one, in the order of its message, and as long as it has to be? */
static __rte_always_inline bool
roce_resp_is_expected(const struct roce_qp_rx *rx, uint32_t psn, const struct roce_opcode_info *op,
		uint32_t payload_len)
{
	return roce_resp_is_next(rx, psn) && rx->state == ROCE_QP_RTS &&
			roce_resp_order_ok(rx, op) && roce_resp_length_ok(rx, op, payload_len);
}

/** Has a receive, of which @p got bytes are used, room for so many more? */
static inline bool
roce_resp_has_room(const struct roce_recv *recv, uint32_t got, uint32_t payload_len)
{
	return recv->length - got >= payload_len;
}

/** A PSN that is not expected, @p ahead of the one that is: what becomes of the packet. Locked. */
enum roce_verdict roce_resp_out_of_order(struct roce_qp *qp, int32_t ahead);

/** There is no receive. Locked. @return ROCE_NOT_READY. */
enum roce_verdict roce_resp_nothing_there(struct roce_qp *qp);

/** roce_resp_take() of a queue pair whose receives are counted, zero-copy, or refused on purpose. */
enum roce_verdict roce_resp_take_checked(struct roce_qp *qp, const struct roce_pkt *pkt);

/** A receive was taken, and counts as such. */
static inline void
roce_resp_taken(struct roce_qp_rx *rx)
{
	rx->taken++;
}

/** Take a receive. Locked. */
static inline enum roce_verdict
roce_resp_take_any(struct roce_qp *qp)
{
	struct roce_qp_rx *rx = &qp->rx;

	if (unlikely(!roce_srq_take(rx->rq, rx->recv)))
		return roce_resp_nothing_there(qp);
	roce_qp_hold(qp, true);
	roce_resp_taken(rx);
	return ROCE_ACCEPT;
}

/** Take the receive of the message of @p pkt. Locked. @return ROCE_ACCEPT, ROCE_NOT_READY or ROCE_OVER_HIGH. */
static inline enum roce_verdict
roce_resp_take(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	return likely(!(qp->rx.checks & ROCE_CHECK_TAKE)) ? roce_resp_take_any(qp)
							  : roce_resp_take_checked(qp, pkt);
}

/** ROCE_ZCRX when the message of @p pkt, which does not fit its receive, may be given; else ROCE_TOO_LONG. */
enum roce_verdict roce_resp_too_long(const struct roce_qp_rx *rx, const struct roce_pkt *pkt);

/**
 * Judge a request packet before it touches memory. Takes the receive of a new message; else no side effect. Locked.
 *
 * @param op that of the packet; a caller who knows it has validated only what is left to be validated.
 */
static __rte_always_inline enum roce_verdict
roce_resp_check(struct roce_qp *qp, const struct roce_pkt *pkt, const struct roce_opcode_info *op)
{
	struct roce_qp_rx *rx = &qp->rx;

	if (unlikely(!roce_resp_is_next(rx, pkt->psn)))
		return roce_resp_out_of_order(qp, roce_psn_diff(pkt->psn, rx->epsn));
	roce_resp_arrived(rx);
	if (unlikely(op->verb != ROCE_VERB_SEND))
		return roce_resp_check_rdma(qp, pkt);
	if (unlikely(!roce_resp_order_ok(rx, op) || !roce_resp_length_ok(rx, op, pkt->payload_len)))
		return ROCE_INVALID;
	if (op->flags & ROCE_OP_START) {
		enum roce_verdict verdict = roce_resp_take(qp, pkt);

		if (unlikely(verdict != ROCE_ACCEPT))
			return verdict;
		rx->got = 0;
	}
	/* A zero-copy receive has no room of its own. */
	if (unlikely(!roce_resp_has_room(rx->recv, rx->got, pkt->payload_len)))
		return roce_resp_too_long(rx, pkt);
	return ROCE_ACCEPT;
}

/** The expected packet, which stands for @p packets PSNs, is accepted. Locked. */
static inline void
roce_resp_advance(struct roce_qp_rx *rx, uint32_t packets)
{
	rx->epsn = roce_psn_add(rx->epsn, packets);
}

/**
 * The expected packet was executed, and its receive completed: what the queue pair owes the peer for it. Locked.
 *
 * @param op as in roce_resp_check().
 */
static __rte_always_inline void
roce_resp_settle(struct roce_qp *qp, const struct roce_opcode_info *op, uint32_t payload_len,
		bool ack_req)
{
	struct roce_qp_rx *rx = &qp->rx;

	if (op->flags & ROCE_OP_END) {
		rx->msn = roce_psn_add(rx->msn, 1);
		if (likely(op->verb == ROCE_VERB_SEND))
			qp->engine->stats.rx_send_requests++;
		else if (op->verb == ROCE_VERB_WRITE)
			qp->engine->stats.rx_write_requests++;
	}
	rx->unacked++;
	/* The packet that was reported missing is here: the old NAK must not go out any more. */
	rx->owes &= (uint8_t)~ROCE_OWES_NAK;
	qp->engine->stats.rx_bytes += payload_len;
	if (ack_req)
		roce_qp_owe_ack(qp);
}

/** Do an accepted request that is no SEND. Locked. @return 0; -EACCES: the memory went away meanwhile. */
int roce_resp_do_rdma(struct roce_qp *qp, const struct roce_pkt *pkt);

/** Is the repeat of a READ a copy of the one that arrived last? Locked. */
static inline bool
roce_resp_is_copy(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	return pkt->repeat != 0 && pkt->repeat == qp->remote.repeat;
}

/**
 * A READ request with this repeat number has arrived. Where numbers before it are missing, and requests before those that are held
 * are, the requester learns at once that these are lost. Locked.
 */
static inline void
roce_resp_note_repeat(struct roce_qp *qp, uint8_t number)
{
	const uint8_t last = qp->remote.repeat;

	if (likely(number == 0) || !qp->cold.connect.extensions ||
			!roce_repeat_is_ahead(number, last))
		return;
	qp->remote.repeat = number;
	if ((qp->rx.checks & ROCE_CHECK_HELD) && number != roce_repeat_next(last))
		roce_qp_owe(qp, ROCE_OWES_SACK);
}

/**
 * Answer a READ or atomic again; one that is not known any more stays unanswered. Locked.
 *
 * @return false: it is known, and asks for other than the first did: another key, or more memory. It was not touched.
 */
bool roce_resp_read_again(struct roce_qp *qp, const struct roce_pkt *pkt);

/** An answer that was given once and is being repeated is not wanted any more. Locked. */
void roce_resp_read_forget(struct roce_qp *qp, struct roce_rd_resource *res);

/**
 * The next frames of the answers to READs and atomics, as long as such answers are owed. Their ICRC may come later
 * (roce_engine_icrc_later()). Locked.
 * @return how many, at most @p room; fewer, with answers still owed: no frame was to be had, or the memory is gone.
 */
uint16_t roce_resp_emit_reads(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room);

/** Forget READs and atomics of the peer: a new connection begins. */
void roce_resp_read_init(struct roce_qp *qp, uint8_t allowed);

/**
 * The peer, or our own memory, made the connection useless: say so with a NAK and end it. A receive in use ends
 * with @p status; IBV_WC_SUCCESS: it is flushed like everything else. Locked.
 */
void roce_resp_refuse(struct roce_qp *qp, enum roce_nak code, enum ibv_wc_status status);

/** The expected PSN is missing. Unless it is reported now, the next frame behind it has it reported. Locked. */
void roce_resp_report_gap(struct roce_qp *qp, uint64_t now);

/** Was it that the message with the expected PSN found no receive, when something was reported last? */
static inline bool
roce_resp_is_not_ready(const struct roce_qp_rx *rx)
{
	return (rx->syndrome & ROCE_AETH_KIND_MASK) == ROCE_AETH_RNR;
}

/** A request arrived, and is not followed by those that are held. Locked. @p pkt as in roce_resp_rx(). */
void roce_resp_other(struct roce_qp *qp, struct roce_pkt *pkt, uint64_t now);

/** A request arrived. Locked. @p pkt has no mbuf any more when the consumer has got that. */
void roce_resp_rx(struct roce_qp *qp, struct roce_pkt *pkt, uint64_t now);

/**
 * A selective acknowledgement. Locked.
 * @param owed ROCE_OWES_SACK: what is held; ROCE_OWES_DUPLICATE: the PSN of a request that came twice.
 * @return NULL: no frame to be had.
 */
struct rte_mbuf *roce_resp_emit_sack(struct roce_qp *qp, uint8_t owed);

/** The acknowledgement or NAK that is owed, as a frame of engine @p e, which sends it; NULL: no frame to be had. Locked. */
struct rte_mbuf *roce_resp_emit(struct roce_qp *qp, struct roce_engine *e);

#endif
