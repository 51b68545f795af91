/* SPDX-License-Identifier: BSD-3-Clause */
/* Requester, send side: selects and builds the next frame, and asks the peer to acknowledge. */

#include <string.h>

#include <rte_branch_prediction.h>

#include "queue/extbuf.h"
#include "queue/fault_dice.h"
#include "queue/frames.h"
#include "queue/sge.h"
#include "requester/bind.h"
#include "requester/req.h"
#include "requester/repair.h"
#include "requester/req_read.h"
#include "requester/retry.h"
#include "requester/rewind.h"

/* Bytes of an answer beside which its request is short: it takes a tenth of the time on a line. */
#define LONG_ANSWER 1024u

/* Does the peer have a receive for the request at next? One probe may go when nothing else is in flight. */
static inline bool
has_credit(const struct roce_qp *qp)
{
	const struct roce_qp_tx *tx = &qp->tx;

	return likely(roce_req_credits_left(tx) > 0) || tx->offset != 0 || tx->psn == tx->una ||
			!roce_req_uses_receive(qp, tx->next);
}

/* Is a request posted at next, and is there a PSN in the window and a credit for it? @p left: of the first two. */
static inline bool
has_room(const struct roce_qp *qp, uint32_t posted, struct roce_req_left *left)
{
	left->posted = posted - qp->tx.next;
	left->apart = false;
	left->window = roce_req_window_left(&qp->tx);
	return left->posted != 0 && left->window > 0 && has_credit(qp);
}

/* @p left: as from has_room(). */
static inline bool
may_send(const struct roce_qp *qp, uint32_t posted, struct roce_req_left *left)
{
	const struct roce_qp_tx *tx = &qp->tx;

	return has_room(qp, posted, left) && qp->rx.state == ROCE_QP_RTS && tx->rnr_at == 0 &&
			!tx->prot_error && !tx->fence_wait;
}

bool
roce_req_wants(const struct roce_qp *qp)
{
	uint32_t posted = roce_qp_posted(qp);
	struct roce_req_left left;

	if (unlikely(qp->tx.repeats))
		return true;
	if (unlikely(roce_qp_one_by_one(qp))) {
		posted = roce_qp_sendable(qp);
		if (roce_bind_is_next(qp, posted))
			return roce_bind_may_pass(qp);
	}
	return may_send(qp, posted, &left);
}

/* The first frame of a request leaves for the first time. @return as from roce_req_is_valid(). */
static inline bool
begin_request(struct roce_qp *qp, struct roce_wqe *wqe)
{
	const bool valid = roce_req_is_valid(qp, wqe);

	roce_req_begin(wqe, qp->tx.psn, roce_packets(wqe->length, qp->rx.mtu));
	roce_req_begun(&qp->tx, 1);
	if (roce_wqe_is_read(wqe))
		qp->tx.reads++;
	return valid;
}

static void
put_atomic(uint8_t *at, struct roce_wqe *wqe)
{
	const struct roce_sge *remote = roce_wqe_remote(wqe);
	const struct roce_operands *operands = roce_wqe_operands(wqe);
	bool cas = wqe->verb == ROCE_VERB_ATOMIC_CAS;
	const struct roce_atomiceth eth = {
		.va = rte_cpu_to_be_64(remote->addr),
		.rkey = rte_cpu_to_be_32(remote->lkey),
		.swap_or_add = rte_cpu_to_be_64(cas ? operands->swap : operands->compare_add),
		.compare = rte_cpu_to_be_64(cas ? operands->compare_add : 0),
	};

	memcpy(at, &eth, sizeof(eth));
}

/* Bytes of a request's memory that lie in one segment, where it may be read: at once when that is known. NULL: they do not. */
static inline const uint8_t *
find_segment(const struct roce_qp *qp, const struct roce_wqe *wqe, uint32_t len, bool valid)
{
	if (likely(valid && wqe->num_sge == 1))
		return (const uint8_t *)(uintptr_t)wqe->sge->addr + qp->tx.offset;
	if (len == 0)
		return NULL;
	return roce_sge_find(&qp->engine->domain->keys, qp->pd, wqe->sge, qp->tx.offset, len, 0);
}

/*
 * Payload, of which @p len bytes belong at @p to, and ICRC. @p valid: as from begin_request().
 * @return 0; else the memory is gone.
 */
static inline int
finish_data(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, uint8_t *to, uint32_t len,
		bool valid)
{
	const uint8_t *from;
	int rc;

	if (unlikely(wqe->flags & (ROCE_WR_INLINE | ROCE_WQE_EXTBUF))) {
		if (unlikely(!(wqe->flags & ROCE_WR_INLINE)))
			return roce_extbuf_finish(qp, wqe, m, to, len);
		from = roce_wqe_inline(wqe) + qp->tx.offset;
	} else {
		from = find_segment(qp, wqe, len, valid);
	}
	if (likely(from != NULL)) {
		roce_req_finish_segment(qp, m, to, from, len);
		return 0;
	}
	rc = roce_sge_gather(&qp->engine->domain->keys, qp->pd, wqe->sge, qp->tx.offset, to, len);
	if (likely(rc == 0))
		roce_engine_icrc_later(qp->engine, m, &qp->cold.template);
	return rc;
}

/* SEND and WRITE carry their bytes. @return NULL: the memory is gone. */
static struct rte_mbuf *
build_data(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, struct roce_req_part part,
		uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;
	uint8_t *at = roce_req_build(qp, wqe, m, tx->psn, part);

	if (part.first && wqe->verb == ROCE_VERB_WRITE)
		at = roce_req_put_reth(at, wqe, 0, wqe->length);
	if (part.last && wqe->suffix != ROCE_SUFFIX_NONE) {
		memcpy(at, &wqe->imm, sizeof(wqe->imm));
		at += sizeof(wqe->imm);
	}
	if (unlikely(finish_data(qp, wqe, m, at, part.len, part.valid) != 0)) {
		rte_pktmbuf_free(m);
		roce_req_fail_local(qp);
		return NULL;
	}
	if (part.carries)
		roce_piggyback_given(qp);
	tx->silent = roce_req_silent_after(tx->silent, part.ack_req);
	tx->offset += part.len;
	roce_req_account(qp, 1, part.len, now);
	if (part.last)
		roce_req_next(tx, 1);
	return m;
}

static void
build_atomic(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m)
{
	const struct roce_req_part part = {
		.opcode = roce_opcode_request(
				(enum roce_verb)wqe->verb, ROCE_SUFFIX_NONE, true, true),
		.first = true,
		.last = true,
	};

	put_atomic(roce_req_build(qp, wqe, m, qp->tx.psn, part), wqe);
	roce_engine_icrc_later(qp->engine, m, &qp->cold.template);
}

/*
 * Bytes of a READ that are asked for from the cursor on: to its end, or to what came early. Where all goes again in order, nothing
 * would show that what is behind is missing, too.
 */
static uint32_t
missing_of_read(const struct roce_qp *qp, const struct roce_wqe *wqe, bool apart)
{
	const uint32_t rest = wqe->length - qp->tx.offset;
	struct roce_repair_gap gap;
	uint64_t missing;

	if (likely(!apart) || !roce_repair_gap(qp, wqe, qp->tx.psn, &gap) || gap.psn != qp->tx.psn)
		return rest;
	missing = (uint64_t)roce_psn_diff(gap.until, gap.psn) * qp->rx.mtu;
	return missing < rest ? (uint32_t)missing : rest;
}

/* READ and atomics are one frame, whose PSNs are those of the answer. After a loss a READ asks for what is missing. */
static __rte_noinline struct rte_mbuf *
build_read(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, bool apart, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;

	if (wqe->verb == ROCE_VERB_READ) {
		const struct roce_req_read read = {
			.offset = tx->offset,
			.length = missing_of_read(qp, wqe, apart),
			.repeat = unlikely(apart) ? roce_repair_number(qp, tx->psn) : 0,
		};

		roce_req_build_read(qp, wqe, m, tx->psn, read);
	} else {
		build_atomic(qp, wqe, m);
	}
	tx->silent = 0;
	roce_req_account(qp, wqe->packets - tx->offset / qp->rx.mtu, 0, now);
	roce_req_next(tx, 1);
	return m;
}

/* May the request at next begin? A READ has to wait for its turn, a fenced request for every READ before it. */
static __rte_noinline bool
may_begin(struct roce_qp *qp, const struct roce_wqe *wqe)
{
	uint32_t most = roce_wqe_is_read(wqe) ? qp->cold.connect.max_rd_atomic - 1u : UINT32_MAX;

	if (wqe->flags & ROCE_WR_FENCE)
		most = 0;
	qp->tx.fence_wait = roce_read_outstanding(qp) > most;
	return !qp->tx.fence_wait;
}

/* @p left: as from has_room(). @return NULL: no frame to be had, or the request cannot go on. */
static __rte_always_inline struct rte_mbuf *
build_next(struct roce_qp *qp, struct roce_req_left left, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;
	struct roce_wqe *wqe = roce_wq_slot(&qp->wq, tx->next);
	struct roce_req_part part = {
		.first = tx->offset == 0,
		.last = wqe->length - tx->offset <= qp->rx.mtu,
		.len = RTE_MIN(wqe->length - tx->offset, (uint32_t)qp->rx.mtu),
	};
	struct rte_mbuf *m;

	if (unlikely(tx->reads != 0 && (roce_wqe_is_read(wqe) || (wqe->flags & ROCE_WR_FENCE)) &&
			    part.first && !may_begin(qp, wqe)))
		return NULL;
	m = roce_engine_frame(qp->engine);
	if (unlikely(m == NULL))
		return NULL;
	if (part.first && tx->next == tx->begun)
		part.valid = begin_request(qp, wqe);
	if (unlikely(roce_wqe_is_read(wqe)))
		return build_read(qp, wqe, m, left.apart, now);
	part.opcode = roce_opcode_request((enum roce_verb)wqe->verb, (enum roce_suffix)wqe->suffix,
			part.first, part.last);
	part.ack_req = roce_req_wants_ack(qp, tx->silent, left, part.last, false);
	part.carries = part.first && part.last && roce_piggyback_is_due(qp);
	return build_data(qp, wqe, m, part, now);
}

/*
 * The same with binds among the requests, which take no frame but their share of the room. The message in front of
 * one asks for an acknowledgement: the bind may be the last, or may have to wait for it. Requests that fail on purpose
 * are found here, too.
 */
static __rte_noinline uint16_t
emit_one_by_one(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, uint64_t now)
{
	uint32_t posted = roce_qp_sendable(qp);
	uint16_t n = 0;

	for (uint16_t done = 0; done < room; done++) {
		struct roce_req_left left;
		struct rte_mbuf *m;

		if (roce_bind_is_next(qp, posted)) {
			if (!roce_bind_pass(qp))
				break;
			continue;
		}
		if (!may_send(qp, posted, &left))
			break;
		if (roce_fault_fails(qp, qp->tx.next)) {
			roce_req_fail_next(qp);
			break;
		}
		if (left.posted > 1 && roce_wqe_is_bind(roce_wq_slot(&qp->wq, qp->tx.next + 1)))
			left.posted = 1;
		m = build_next(qp, left, now);
		if (m == NULL)
			break;
		pkts[n++] = m;
	}
	return n;
}

/*
 * The packets that the frame at the cursor stands for, which was set to @p psn: one; of a READ those of a gap in its answer, which
 * has to begin there. @return false: there is no frame. Other PSNs there are of answers alone.
 */
static bool
find_gap_of_frame(const struct roce_qp *qp, uint32_t psn, struct roce_repair_gap *gap)
{
	const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, qp->tx.next);

	*gap = roce_repair_packet(psn);
	if (!roce_wqe_is_read(wqe))
		return true;
	if (!roce_repair_gap(qp, wqe, psn, gap) || gap->psn != psn)
		return false;
	return qp->tx.offset == 0 || psn == qp->tx.una ||
			roce_repair_is_answered(qp, roce_psn_add(psn, ROCE_PSN_MASK));
}

/*
 * How often the frame at the cursor is to leave, which asks for @p gap. Requests of long answers do not fill their line, and one
 * that is lost once more costs a round trip: so it leaves twice. The peer drops the second by its number.
 */
static uint16_t
count_copies(struct roce_qp *qp, struct roce_repair_gap gap)
{
	const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, qp->tx.next);
	const bool numbered = wqe->verb == ROCE_VERB_READ && roce_repair_give_number(qp, gap);

	return numbered && missing_of_read(qp, wqe, true) >= LONG_ANSWER ? 2 : 1;
}

/* One frame again, the one that asks for @p gap, to which the cursor is set. @return frames; 0: not now, or it cannot be sent. */
static uint16_t
emit_frame(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, struct roce_repair_gap gap,
		uint64_t now)
{
	struct roce_req_left left;
	uint16_t copies, n = 0;

	if (!may_send(qp, roce_qp_posted(qp), &left)) {
		/* Until something is acknowledged, or the timer fires. */
		qp->tx.repeats = false;
		return 0;
	}
	left.apart = true;
	copies = RTE_MIN(count_copies(qp, gap), room);
	do {
		if (n > 0)
			roce_req_seek(qp, gap.psn);
		pkts[n] = build_next(qp, left, now);
	} while (pkts[n] != NULL && ++n < copies);
	if (n > 0)
		roce_repair_sent(qp, gap);
	else if (roce_repair_number(qp, gap.psn) != 0)
		roce_repair_take_number_back(qp);
	return n;
}

/*
 * Frames that are sent again out of their order: the cursor goes to each of them, and back to where it was. When a request
 * cannot be sent the cursor stays there, as where the request is sent for the first time.
 */
static __rte_noinline uint16_t
emit_again(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, uint64_t now)
{
	const struct roce_req_cursor back = roce_req_leave(&qp->tx);
	uint16_t n = 0;
	uint32_t psn;

	while (n < room && roce_repair_first(qp, &psn)) {
		struct roce_repair_gap gap;
		uint16_t frames;

		roce_req_seek(qp, psn);
		if (!find_gap_of_frame(qp, psn, &gap)) {
			roce_repair_is_none(qp, psn);
			continue;
		}
		frames = emit_frame(qp, pkts + n, (uint16_t)(room - n), gap, now);
		if (frames == 0)
			break;
		n += frames;
	}
	if (unlikely(qp->tx.prot_error || qp->rx.state != ROCE_QP_RTS))
		roce_repair_forget(qp);
	else
		roce_req_return(&qp->tx, &back);
	return n;
}

uint16_t
roce_req_emit(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, uint64_t now)
{
	uint32_t posted = roce_qp_posted(qp);
	struct roce_req_left left;
	uint16_t n = 0, again = 0;
	bool dry = false;

	if (unlikely(qp->tx.repeats)) {
		again = emit_again(qp, pkts, room, now);
		pkts += again;
		room = (uint16_t)(room - again);
	}
	if (unlikely(roce_qp_one_by_one(qp)))
		return again + emit_one_by_one(qp, pkts, room, now);
	if (room == 0 || !may_send(qp, posted, &left))
		return again;
	n = roce_req_emit_whole(qp, pkts, room, left, now, &dry);
	/* The other conditions that a request waits for have not changed meanwhile. */
	while (!dry && n < room && has_room(qp, posted, &left)) {
		struct rte_mbuf *m;

		if (!(qp->tx.next & 1))
			rte_prefetch0(roce_wq_slot(&qp->wq, qp->tx.next + 2));
		m = build_next(qp, left, now);
		if (unlikely(m == NULL))
			break;
		pkts[n++] = m;
	}
	return again + n;
}
