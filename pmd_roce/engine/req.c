/* SPDX-License-Identifier: BSD-3-Clause */
/* The requester's mouth: which frame comes next, and when the peer is asked to acknowledge. */

#include <string.h>

#include <rte_branch_prediction.h>

#include "engine/qp.h"

/* Does the peer have a receive for the request at next? One probe may go when nothing else is in flight. */
static inline bool
has_credit(const struct roce_qp_tx *tx)
{
	return likely(!tx->limited) || tx->offset != 0 || roce_psn_diff(tx->ssn, tx->limit) <= 0 ||
			tx->psn == tx->una;
}

static inline bool
may_send(const struct roce_qp *qp, uint32_t posted)
{
	const struct roce_qp_tx *tx = &qp->tx;

	return tx->next != posted && qp->rx.state == ROCE_QP_RTS && tx->rnr_at == 0 && !tx->stuck &&
			roce_psn_diff(tx->psn, tx->una) < (int32_t)tx->window && has_credit(tx);
}

bool
roce_req_wants(const struct roce_qp *qp)
{
	uint32_t posted = roce_qp_posted(qp);

	if (unlikely(roce_qp_binds(qp)) && roce_bind_is_next(qp, posted))
		return roce_bind_may_pass(qp);
	return may_send(qp, posted);
}

/* Give a request its PSNs when its first frame leaves for the first time. */
static inline void
begin_request(struct roce_qp *qp, struct roce_wqe *wqe)
{
	uint32_t shift = rte_bsf32(qp->rx.mtu);

	wqe->psn = qp->tx.psn;
	wqe->packets = wqe->length == 0
			? 1
			: (uint32_t)(((uint64_t)wqe->length + qp->rx.mtu - 1) >> shift);
	qp->tx.begun = qp->tx.next + 1;
}

/*
 * An acknowledgement is asked for when the requester would otherwise fall silent with something in flight: at the
 * end of what is posted, of the window, of the credits; besides every ROCE_ACKREQ_EVERY frames, and for each
 * message sent again.
 */
static inline bool
wants_ack(const struct roce_qp *qp, uint32_t posted, bool last)
{
	const struct roce_qp_tx *tx = &qp->tx;

	if (tx->silent + 1 >= ROCE_ACKREQ_EVERY ||
			roce_psn_diff(tx->psn, tx->una) + 1 >= (int32_t)tx->window)
		return true;
	if (!last)
		return false;
	return tx->next + 1 == posted || roce_psn_diff(tx->psn, tx->max) < 0 ||
			(tx->limited && roce_psn_diff(tx->ssn, tx->limit) >= 0);
}

__rte_noinline void
roce_req_stick(struct roce_qp *qp)
{
	qp->tx.stuck = true;
	qp->engine->stats.req_local_protection_error++;
	roce_req_unstick(qp);
	/* Nothing asked for the acknowledgement of what went before: what is sent again does. */
	if (qp->tx.stuck && qp->tx.silent != 0)
		roce_req_rewind(qp, qp->tx.una);
}

void
roce_req_unstick(struct roce_qp *qp)
{
	bool bind;

	if (!qp->tx.stuck || qp->tx.tail != qp->tx.next)
		return;
	bind = roce_wqe_is_bind(roce_wq_slot(&qp->wq, qp->tx.next));
	roce_qp_break(qp, bind ? IBV_WC_MW_BIND_ERR : IBV_WC_LOC_PROT_ERR, true);
}

static inline void
account_frame(struct roce_qp *qp, const struct roce_frame_spec *spec, bool last, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;
	struct roce_stats *stats = &qp->engine->stats;

	tx->silent = spec->ack_req ? 0 : tx->silent + 1;
	tx->psn = roce_psn_add(tx->psn, 1);
	tx->offset += spec->payload_len;
	if (last) {
		tx->next++;
		tx->offset = 0;
		tx->ssn = roce_psn_add(tx->ssn, 1);
	}
	if (likely(roce_psn_diff(tx->psn, tx->max) > 0)) {
		tx->max = tx->psn;
		/* Any new frame is worth a measurement: at the end of a burst it would not survive a lossy wire. */
		if (tx->timed_at == 0) {
			tx->timed_psn = spec->psn;
			tx->timed_at = now;
		}
	} else {
		stats->retransmits++;
	}
	if (unlikely(tx->timeout_at == ROCE_NEVER))
		roce_retry_started(qp, now);
	stats->tx_bytes += spec->payload_len;
}

/* @return NULL: no frame to be had, or the request cannot go on. */
static __rte_always_inline struct rte_mbuf *
build_next(struct roce_qp *qp, uint32_t posted, uint64_t now)
{
	struct roce_engine *e = qp->engine;
	struct roce_wqe *wqe = roce_wq_slot(&qp->wq, qp->tx.next);
	struct roce_frame_spec spec;
	struct rte_mbuf *m = roce_engine_frame(e);
	uint32_t offset = qp->tx.offset;
	uint8_t *at;
	bool last;

	if (unlikely(m == NULL))
		return NULL;
	if (offset == 0 && qp->tx.next == qp->tx.begun)
		begin_request(qp, wqe);
	spec.payload_len = RTE_MIN(wqe->length - offset, qp->rx.mtu);
	last = offset + spec.payload_len == wqe->length;
	spec.psn = qp->tx.psn;
	spec.opcode = roce_opcode_request((enum roce_verb)wqe->verb, (enum roce_suffix)wqe->suffix,
			offset == 0, last);
	spec.solicited = last && (wqe->flags & ROCE_WR_SOLICITED);
	spec.ack_req = wants_ack(qp, posted, last);
	at = roce_frame_build(m, &qp->cold.template, &spec);
	if (last && wqe->suffix == ROCE_SUFFIX_IMM) {
		memcpy(at, &wqe->imm, sizeof(wqe->imm));
		at += sizeof(wqe->imm);
	}
	if (unlikely(roce_sge_copy_out(&e->domain->keys, qp->pd, wqe->sge, offset, at,
				     spec.payload_len) != 0)) {
		rte_pktmbuf_free(m);
		roce_req_stick(qp);
		return NULL;
	}
	roce_icrc_put(m, &qp->cold.template);
	account_frame(qp, &spec, last, now);
	return m;
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
		m = build_next(qp, behind, now);
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
	uint16_t n = 0;

	if (unlikely(roce_qp_binds(qp)))
		return emit_around_binds(qp, pkts, room, now);
	while (n < room && may_send(qp, posted)) {
		struct rte_mbuf *m;

		if (!(qp->tx.next & 1))
			rte_prefetch0(roce_wq_slot(&qp->wq, qp->tx.next + 2));
		m = build_next(qp, posted, now);
		if (unlikely(m == NULL))
			break;
		pkts[n++] = m;
	}
	return n;
}

void
roce_req_rewind(struct roce_qp *qp, uint32_t psn)
{
	struct roce_qp_tx *tx = &qp->tx;
	uint32_t next = tx->begun;
	uint32_t offset = 0;

	for (uint32_t i = tx->tail; i != tx->begun; i++) {
		const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, i);
		int32_t ahead = roce_psn_diff(psn, wqe->psn);

		if (ahead >= 0 && (uint32_t)ahead < wqe->packets) {
			next = i;
			offset = (uint32_t)ahead * qp->rx.mtu;
			break;
		}
	}
	tx->ssn = roce_psn_add(tx->ssn, (uint32_t)roce_bind_ssn_diff(qp, tx->next, next));
	tx->next = next;
	tx->offset = offset;
	tx->psn = psn;
	tx->silent = 0;
	if (roce_psn_diff(tx->timed_psn, psn) >= 0)
		tx->timed_at = 0;
	tx->stuck = false;
	roce_qp_ready(qp);
}
