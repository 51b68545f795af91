/* SPDX-License-Identifier: BSD-3-Clause */
/* Requester, send side: selects and builds the next frame, and asks the peer to acknowledge. */

#include <string.h>

#include <rte_branch_prediction.h>

#include "queue/extbuf.h"
#include "queue/frames.h"
#include "queue/sge.h"
#include "requester/bind.h"
#include "requester/req.h"
#include "requester/req_read.h"
#include "requester/retry.h"
#include "requester/rewind.h"

/* Credits are receives: only a request that uses one up needs one (IBTA Vol 1, 9.7.7.2). */
static inline bool
uses_receive(const struct roce_qp *qp, uint32_t request)
{
	const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, request);

	return wqe->verb == ROCE_VERB_SEND ||
			(wqe->verb == ROCE_VERB_WRITE && wqe->suffix == ROCE_SUFFIX_IMM);
}

/* Does the peer have a receive for the request at next? One probe may go when nothing else is in flight. */
static inline bool
has_credit(const struct roce_qp *qp)
{
	const struct roce_qp_tx *tx = &qp->tx;

	return likely(!tx->limited) || tx->offset != 0 || roce_psn_diff(tx->ssn, tx->limit) <= 0 ||
			tx->psn == tx->una || !uses_receive(qp, tx->next);
}

/* Will the request behind next have to wait for credits? */
static inline bool
ends_credits(const struct roce_qp *qp)
{
	const struct roce_qp_tx *tx = &qp->tx;

	return unlikely(tx->limited) && roce_psn_diff(tx->ssn, tx->limit) >= 0 &&
			uses_receive(qp, tx->next + 1);
}

static inline bool
may_send(const struct roce_qp *qp, uint32_t posted)
{
	const struct roce_qp_tx *tx = &qp->tx;

	return tx->next != posted && qp->rx.state == ROCE_QP_RTS && tx->rnr_at == 0 &&
			!tx->prot_error && !tx->fence_wait && roce_req_window_left(tx) > 0 &&
			has_credit(qp);
}

bool
roce_req_wants(const struct roce_qp *qp)
{
	uint32_t posted = roce_qp_posted(qp);

	if (unlikely(roce_qp_binds(qp)) && roce_bind_is_next(qp, posted))
		return roce_bind_may_pass(qp);
	return may_send(qp, posted);
}

/*
 * Give a request its PSNs when its first frame leaves for the first time.
 * @return has no region ended since its segments were validated?
 */
static inline bool
begin_request(struct roce_qp *qp, struct roce_wqe *wqe)
{
	bool valid = wqe->validated_epoch == roce_key_epoch(&qp->engine->domain->keys);

	wqe->psn = qp->tx.psn;
	wqe->packets = roce_packets(wqe->length, qp->rx.mtu);
	wqe->extbuf = 0;
	qp->tx.begun = qp->tx.next + 1;
	if (roce_wqe_is_read(wqe))
		qp->tx.reads++;
	return valid;
}

/*
 * An acknowledgement is asked for when the requester would otherwise fall silent with something in flight: at the
 * end of what is posted, of the window, of the credits; besides every ROCE_ACKREQ_EVERY frames, for each message sent
 * again, and with every frame where a rate limiter may make pauses. @p left: of the window, with this frame.
 */
static inline bool
wants_ack(const struct roce_qp *qp, uint32_t posted, int32_t left, bool last)
{
	const struct roce_qp_tx *tx = &qp->tx;

	if (tx->silent + 1 >= ROCE_ACKREQ_EVERY || left <= 1 || unlikely(tx->paced))
		return true;
	if (!last)
		return false;
	/* As long as it is not known whether there are credits, any message may turn out to be the last for now. */
	return tx->next + 1 == posted || roce_psn_diff(tx->psn, tx->max) < 0 || ends_credits(qp) ||
			unlikely(!tx->credits_known);
}

/* Where the peer's memory is that the rest of a WRITE or READ is about. @return behind it. */
static uint8_t *
put_reth(uint8_t *at, struct roce_wqe *wqe, uint32_t offset)
{
	const struct roce_sge *remote = roce_wqe_remote(wqe);
	const struct roce_reth reth = {
		.va = rte_cpu_to_be_64(remote->addr + offset),
		.rkey = rte_cpu_to_be_32(remote->lkey),
		.length = rte_cpu_to_be_32(wqe->length - offset),
	};

	memcpy(at, &reth, sizeof(reth));
	return at + sizeof(reth);
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

/* A frame leaves that stands for @p packets PSNs. */
static inline void
account_psn(struct roce_qp *qp, uint32_t packets, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;
	uint32_t psn = tx->psn;

	tx->psn = roce_psn_add(psn, packets);
	if (likely(roce_psn_diff(tx->psn, tx->max) > 0))
		roce_req_account_new(tx, psn, now);
	else
		qp->engine->stats.retransmits++;
	if (unlikely(tx->timeout_at == ROCE_NEVER))
		roce_retry_started(qp, now);
}

static inline void
next_request(struct roce_qp_tx *tx)
{
	tx->next++;
	tx->offset = 0;
	tx->ssn = roce_psn_add(tx->ssn, 1);
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

/* The part of a request that one frame sends. */
struct part {
	bool first;
	bool last;
	bool valid; /**< as from begin_request() */
	bool ack_req;
	uint32_t len; /**< bytes */
};

/* SEND and WRITE carry their bytes. @return NULL: the memory is gone. */
static struct rte_mbuf *
build_data(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, struct part part,
		uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;
	const struct roce_frame_spec spec = {
		.psn = tx->psn,
		.opcode = roce_opcode_request((enum roce_verb)wqe->verb,
				(enum roce_suffix)wqe->suffix, part.first, part.last),
		.ack_req = part.ack_req,
		.solicited = part.last && (wqe->flags & ROCE_WR_SOLICITED),
		.payload_len = part.len,
	};
	uint8_t *at = roce_frame_build(m, &qp->cold.template, &spec);

	if (part.first && wqe->verb == ROCE_VERB_WRITE)
		at = put_reth(at, wqe, 0);
	if (part.last && wqe->suffix != ROCE_SUFFIX_NONE) {
		memcpy(at, &wqe->imm, sizeof(wqe->imm));
		at += sizeof(wqe->imm);
	}
	if (unlikely(finish_data(qp, wqe, m, at, part.len, part.valid) != 0)) {
		rte_pktmbuf_free(m);
		roce_req_fail_local(qp);
		return NULL;
	}
	tx->silent = part.ack_req ? 0 : tx->silent + 1;
	tx->offset += part.len;
	account_psn(qp, 1, now);
	if (part.last)
		next_request(tx);
	qp->engine->stats.tx_bytes += part.len;
	return m;
}

/* READ and atomics are one frame, whose PSNs are those of the answer. After a loss a READ asks for the rest only. */
static __rte_noinline struct rte_mbuf *
build_read(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;
	const struct roce_frame_spec spec = {
		.psn = tx->psn,
		.opcode = roce_opcode_request(
				(enum roce_verb)wqe->verb, ROCE_SUFFIX_NONE, true, true),
		.solicited = wqe->flags & ROCE_WR_SOLICITED,
	};
	uint8_t *at = roce_frame_build(m, &qp->cold.template, &spec);

	if (wqe->verb == ROCE_VERB_READ)
		(void)put_reth(at, wqe, tx->offset);
	else
		put_atomic(at, wqe);
	roce_icrc_put(m, &qp->cold.template);
	tx->silent = 0;
	account_psn(qp, wqe->packets - tx->offset / qp->rx.mtu, now);
	next_request(tx);
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

/* @p left: as in wants_ack(). @return NULL: no frame to be had, or the request cannot go on. */
static __rte_always_inline struct rte_mbuf *
build_next(struct roce_qp *qp, uint32_t posted, int32_t left, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;
	struct roce_wqe *wqe = roce_wq_slot(&qp->wq, tx->next);
	struct part part = {
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
		return build_read(qp, wqe, m, now);
	part.ack_req = wants_ack(qp, posted, left, part.last);
	return build_data(qp, wqe, m, part, now);
}

/*
 * The same with binds among the requests, which take no frame but their share of the room. The message in front of
 * one asks for an acknowledgement: the bind may be the last, or may have to wait for it.
 */
static __rte_noinline uint16_t
emit_around_binds(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, uint64_t now)
{
	uint32_t posted = roce_qp_posted(qp);
	uint16_t n = 0;

	for (uint16_t done = 0; done < room; done++) {
		uint32_t behind = qp->tx.next + 1;
		struct rte_mbuf *m;

		if (roce_bind_is_next(qp, posted)) {
			if (!roce_bind_pass(qp))
				break;
			continue;
		}
		if (!may_send(qp, posted))
			break;
		if (behind != posted && !roce_wqe_is_bind(roce_wq_slot(&qp->wq, behind)))
			behind = posted;
		m = build_next(qp, behind, roce_req_window_left(&qp->tx), now);
		if (m == NULL)
			break;
		pkts[n++] = m;
	}
	return n;
}

uint16_t
roce_req_emit(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, uint64_t now)
{
	uint32_t posted = roce_qp_posted(qp);
	bool dry = false;
	uint16_t n = 0;
	int32_t left;

	if (unlikely(roce_qp_binds(qp)))
		return emit_around_binds(qp, pkts, room, now);
	if (room == 0 || !may_send(qp, posted))
		return 0;
	n = roce_req_emit_sends(qp, pkts, room, posted, now, &dry);
	/* The other conditions that a request waits for have not changed meanwhile. */
	while (!dry && n < room && qp->tx.next != posted &&
			(left = roce_req_window_left(&qp->tx)) > 0 && has_credit(qp)) {
		struct rte_mbuf *m;

		if (!(qp->tx.next & 1))
			rte_prefetch0(roce_wq_slot(&qp->wq, qp->tx.next + 2));
		m = build_next(qp, posted, left, now);
		if (unlikely(m == NULL))
			break;
		pkts[n++] = m;
	}
	return n;
}
