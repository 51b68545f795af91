/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_REQUESTER_REQ_H
#define ROCE_REQUESTER_REQ_H

/**
 * @file
 * The requester: what its files share (req.c, req_whole.c). Rules about what is sent stand here once: req.c follows them
 * for any request; req_whole.c for the common one, of which it knows some of their conditions.
 */

#include <string.h>

#include <rte_branch_prediction.h>

#include "queue/frames.h"
#include "queue/piggyback.h"
#include "queue/qp.h"
#include "requester/retry.h"

/** PSNs sent and not acknowledged. A READ of 2^31 bytes has 2^23 of them: no signed difference. */
static inline uint32_t
roce_req_in_flight(const struct roce_qp_tx *tx)
{
	return (tx->psn - tx->una) & ROCE_PSN_MASK;
}

/** PSNs that may still be sent; not above zero: none. */
static inline int32_t
roce_req_window_left(const struct roce_qp_tx *tx)
{
	return (int32_t)tx->window - (int32_t)roce_req_in_flight(tx);
}

/** Room for requests, from the one at next on. */
struct roce_req_left {
	uint32_t posted; /**< requests */
	int32_t window;  /**< as from roce_req_window_left() */
	bool apart;      /**< the frame is sent again out of its order */
};

/** Messages that may begin with the receives that the peer has said it has; less than 1: none. */
static inline int32_t
roce_req_credits_left(const struct roce_qp_tx *tx)
{
	return likely(!tx->limited) ? INT32_MAX : roce_psn_diff(tx->limit, tx->ssn) + 1;
}

/** Credits are receives: only a request that uses one up needs one (IBTA Vol 1, 9.7.7.2). */
static inline bool
roce_req_uses_receive(const struct roce_qp *qp, uint32_t request)
{
	const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, request);

	return wqe->verb == ROCE_VERB_SEND ||
			(wqe->verb == ROCE_VERB_WRITE && wqe->suffix == ROCE_SUFFIX_IMM);
}

/** Will the request behind next have to wait for credits? */
static inline bool
roce_req_ends_credits(const struct roce_qp *qp)
{
	return unlikely(roce_req_credits_left(&qp->tx) <= 1) &&
			roce_req_uses_receive(qp, qp->tx.next + 1);
}

/**
 * An acknowledgement is asked for when the requester would otherwise fall silent with something in flight: at the
 * end of what is posted, of the window, of the credits; besides every ROCE_ACKREQ_EVERY frames, for each message sent
 * again, and with every frame that is sent out of order, or where a rate limiter may make pauses.
 *
 * @param silent as tx.silent, before this frame. @param left with this frame. @param last it is the last of its message.
 * @param steady the message is new, credits are known, the next one waits for none, and nothing limits the rate.
 */
static __rte_always_inline bool
roce_req_wants_ack(const struct roce_qp *qp, uint32_t silent, struct roce_req_left left, bool last,
		bool steady)
{
	const struct roce_qp_tx *tx = &qp->tx;

	if (silent + 1 >= ROCE_ACKREQ_EVERY || left.window <= 1 ||
			(!steady && unlikely(tx->paced | tx->repeats)))
		return true;
	if (!last)
		return false;
	if (left.posted <= 1)
		return true;
	/* As long as it is not known whether there are credits, any message may turn out to be the last for now. */
	return !steady &&
			(roce_psn_diff(tx->psn, tx->max) < 0 || roce_req_ends_credits(qp) ||
					unlikely(!tx->credits_known));
}

/** Can the next frame, when one is sent now, carry an acknowledgement: is it a whole SEND or WRITE? Binds take no frame. */
static inline bool
roce_req_may_carry(const struct roce_qp *qp)
{
	const uint32_t posted = roce_qp_posted(qp);
	const struct roce_wqe *wqe;
	uint32_t next = qp->tx.next;

	while (next != posted && unlikely(roce_wqe_is_bind(roce_wq_slot(&qp->wq, next))))
		next++;
	if (next == posted)
		return false;
	wqe = roce_wq_slot(&qp->wq, next);
	return (wqe->verb == ROCE_VERB_SEND || wqe->verb == ROCE_VERB_WRITE) &&
			wqe->length <= qp->rx.mtu && qp->tx.offset == 0 && !qp->tx.repeats;
}

/** Has no region ended since the segments of a request that was not begun were validated? */
static inline bool
roce_req_is_valid(const struct roce_qp *qp, const struct roce_wqe *wqe)
{
	return wqe->validated_epoch == roce_key_epoch(&qp->engine->domain->keys);
}

/** Give a request its PSNs when its first frame leaves for the first time. They take the place of validated_epoch. */
static inline void
roce_req_begin(struct roce_wqe *wqe, uint32_t psn, uint32_t packets)
{
	wqe->psn = psn;
	wqe->packets = packets;
	wqe->extbuf = 0;
}

/** The first @p n requests from next on were begun. */
static inline void
roce_req_begun(struct roce_qp_tx *tx, uint32_t n)
{
	tx->begun = tx->next + n;
}

/** All of the first @p n requests from next on was sent. */
static inline void
roce_req_next(struct roce_qp_tx *tx, uint32_t n)
{
	tx->next += n;
	tx->offset = 0;
	tx->ssn = roce_psn_add(tx->ssn, n);
}

/** The part of a request that one frame sends. */
struct roce_req_part {
	uint8_t opcode;
	bool first;
	bool last;
	bool valid; /**< as from roce_req_is_valid() */
	bool ack_req;
	bool carries;   /**< it takes the acknowledgement that is due along (piggyback.h) */
	uint8_t repeat; /**< repeat number, or 0 */
	uint32_t len;   /**< bytes of payload */
};

/** Make the frame of a part of a request. @return where the headers behind the BTH begin. */
static __rte_always_inline uint8_t *
roce_req_build(struct roce_qp *qp, const struct roce_wqe *wqe, struct rte_mbuf *m, uint32_t psn,
		struct roce_req_part part)
{
	const struct roce_frame_spec spec = {
		.psn = psn,
		.opcode = part.carries ? part.opcode | ROCE_OPCODE_PIGGYBACK : part.opcode,
		.ack_req = part.ack_req,
		.solicited = part.last && (wqe->flags & ROCE_WR_SOLICITED),
		.repeat = part.repeat,
		.payload_len = part.len,
	};

	uint8_t *at = roce_frame_build(m, &qp->cold.template, &spec);

	return part.carries ? roce_piggyback_put(qp, at) : at;
}

/** Write where the peer's memory is that @p length bytes of a WRITE or READ are about. @return behind it. */
static inline uint8_t *
roce_req_put_reth(uint8_t *at, struct roce_wqe *wqe, uint32_t offset, uint32_t length)
{
	const struct roce_sge *remote = roce_wqe_remote(wqe);
	const struct roce_reth reth = {
		.va = rte_cpu_to_be_64(remote->addr + offset),
		.rkey = rte_cpu_to_be_32(remote->lkey),
		.length = rte_cpu_to_be_32(length),
	};

	memcpy(at, &reth, sizeof(reth));
	return at + sizeof(reth);
}

/** The part of a READ that a request asks for. */
struct roce_req_read {
	uint32_t offset; /**< bytes before it */
	uint32_t length; /**< bytes */
	uint8_t repeat;  /**< repeat number, or 0 */
};

/** Make the frame of a READ. Its answer acknowledges it: it asks for no other. */
static __rte_always_inline void
roce_req_build_read(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, uint32_t psn,
		struct roce_req_read read)
{
	const struct roce_req_part part = {
		.opcode = IBV_OPCODE_RC_RDMA_READ_REQUEST,
		.first = true,
		.last = true,
		.repeat = read.repeat,
	};
	uint8_t *at = roce_req_build(qp, wqe, m, psn, part);

	(void)roce_req_put_reth(at, wqe, read.offset, read.length);
	roce_engine_icrc_later(qp->engine, m, &qp->cold.template);
}

/** Frames since the last that asks for an acknowledgement, behind one more. */
static inline uint32_t
roce_req_silent_after(uint32_t silent, bool ack_req)
{
	return ack_req ? 0 : silent + 1;
}

/** Frames leave that stand for @p packets PSNs from tx.psn on and carry @p bytes; all are new, or all are sent again. */
static inline void
roce_req_account(struct roce_qp *qp, uint32_t packets, uint64_t bytes, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;
	const uint32_t psn = tx->psn;

	tx->psn = roce_psn_add(psn, packets);
	if (likely(roce_psn_diff(tx->psn, tx->max) > 0)) {
		tx->max = tx->psn;
		/* Any new frame is worth a measurement: at the end of a burst it would not survive a lossy wire. */
		if (tx->timed_at == 0) {
			tx->timed_psn = psn;
			tx->timed_at = now;
		}
	} else {
		qp->engine->stats.retransmits++;
	}
	if (unlikely(tx->timeout_at == ROCE_NEVER))
		roce_retry_started(qp, now);
	qp->engine->stats.tx_bytes += bytes;
}

/** Contiguous payload, and ICRC; both in one pass where that pays. */
static __rte_always_inline void
roce_req_finish_segment(struct roce_qp *qp, struct rte_mbuf *m, uint8_t *to, const uint8_t *from,
		uint32_t len)
{
	if (len >= ROCE_ONE_PASS) {
		roce_icrc_put_copy(m, &qp->cold.template, to, from, len);
		return;
	}
	memcpy(to, from, len);
	roce_engine_icrc_later(qp->engine, m, &qp->cold.template);
}

/** Frames with requests, at most @p room. Locked. @return how many. */
uint16_t roce_req_emit(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, uint64_t now);

/** Is there a request frame that may be sent now? */
bool roce_req_wants(const struct roce_qp *qp);

/**
 * The whole SENDs, WRITEs and READs in one frame each that come next and are sent for the first time, as frames; what comes
 * behind them, and what is not that simple, is left. Locked; roce_req_emit() has found that the request at next may be sent.
 *
 * @param left from the request at next on. @param dry set when there was no frame to be had.
 * @return how many, at most @p room.
 */
uint16_t roce_req_emit_whole(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room,
		struct roce_req_left left, uint64_t now, bool *dry);

#endif
