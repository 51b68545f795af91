/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requester's READs and atomics: their answers come in order, each frame with its own PSN, and acknowledge
 * everything before them (IBTA Vol 1, 9.7.5.1 and 9.4.4).
 */

#include <string.h>

#include <rte_branch_prediction.h>

#include "queue/qp_end.h"
#include "queue/sge.h"
#include "requester/ack.h"
#include "requester/recovery.h"
#include "requester/reorder.h"
#include "requester/repair.h"
#include "requester/req_read.h"
#include "requester/retry.h"
#include "requester/rewind.h"

struct roce_wqe *
roce_read_oldest(const struct roce_qp *qp)
{
	for (uint32_t i = qp->tx.tail; i != qp->tx.begun; i++) {
		struct roce_wqe *wqe = roce_wq_slot(&qp->wq, i);

		if (roce_wqe_is_read(wqe))
			return wqe;
	}
	return NULL;
}

uint32_t
roce_read_expected(const struct roce_qp *qp, const struct roce_wqe *wqe)
{
	return roce_psn_diff(qp->tx.una, wqe->psn) > 0 ? qp->tx.una : wqe->psn;
}

uint32_t
roce_read_outstanding(const struct roce_qp *qp)
{
	uint32_t n = 0;

	/* All that were begun, unless the requester went back to before some of them. */
	if (likely(qp->tx.next == qp->tx.begun))
		return qp->tx.reads;
	for (uint32_t i = qp->tx.tail; i != qp->tx.next; i++)
		n += roce_wqe_is_read(roce_wq_slot(&qp->wq, i));
	return n;
}

void
roce_read_lost(struct roce_qp *qp, uint32_t psn, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;

	/* All answers behind the gap say the same again (but see recovery.h). */
	if (tx->nak_seen && tx->nak_psn == psn)
		return;
	qp->engine->stats.implied_nak_seq_err++;
	roce_repair_forget(qp);
	roce_recovery_lost(qp, now);
	tx->nak_seen = true;
	tx->nak_psn = psn;
	if (roce_psn_diff(tx->psn, psn) > 0)
		roce_req_rewind(qp, psn);
}

bool
roce_read_fits(const struct roce_qp *qp, const struct roce_wqe *wqe, const struct roce_pkt *pkt,
		uint32_t *got)
{
	*got = roce_read_before(qp, wqe, pkt->psn);
	if (wqe->verb != ROCE_VERB_READ)
		return pkt->opcode == IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE;
	return pkt->op->verb == ROCE_VERB_READ &&
			roce_read_length_ok(qp, wqe->length - *got, pkt->op, pkt->payload_len);
}

/* The word that was there before, as a number of this machine. */
static int
place_original(struct roce_qp *qp, const struct roce_wqe *wqe, const struct roce_pkt *pkt)
{
	const struct roce_sge *to = &wqe->sge[0];
	struct roce_atomicacketh eth;
	uint64_t original;
	int rc = roce_keys_check(&qp->engine->domain->keys, qp->pd, to, IBV_ACCESS_LOCAL_WRITE);

	if (unlikely(rc != 0))
		return rc;
	memcpy(&eth, pkt->bth + pkt->op->ext_off, sizeof(eth));
	original = rte_be_to_cpu_64(eth.original);
	memcpy((void *)(uintptr_t)to->addr, &original, sizeof(original));
	return 0;
}

static int
place(struct roce_qp *qp, const struct roce_wqe *wqe, const struct roce_pkt *pkt, uint32_t got)
{
	if (wqe->verb != ROCE_VERB_READ)
		return place_original(qp, wqe, pkt);
	if (roce_pkt_is_placed(pkt))
		return 0;
	return roce_sge_copy_in(&qp->engine->domain->keys, qp->pd, wqe->sge, got, pkt);
}

/* The READ of which @p psn is a part; NULL: it is of another request. */
static const struct roce_wqe *
read_at(const struct roce_qp *qp, uint32_t psn)
{
	for (uint32_t i = qp->tx.tail; i != qp->tx.begun; i++) {
		const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, i);
		int32_t at = roce_psn_diff(psn, wqe->psn);

		if (at >= 0 && at < (int32_t)wqe->packets)
			return wqe->verb == ROCE_VERB_READ ? wqe : NULL;
	}
	return NULL;
}

/* Ask for the gaps in the answer to @p wqe that begin before @p end and end behind @p begin, each once. @return some are asked for. */
static bool
ask_for_gaps(struct roce_qp *qp, const struct roce_wqe *wqe, uint32_t begin, uint32_t end,
		uint64_t now)
{
	struct roce_repair_gap gap = { .until = qp->tx.una };
	bool asked = false;

	while (roce_repair_gap(qp, wqe, gap.until, &gap) && roce_psn_diff(gap.psn, end) < 0) {
		if (roce_psn_diff(gap.until, begin) <= 0 || !roce_repair_missing(qp, gap, now))
			continue;
		qp->engine->stats.implied_nak_seq_err++;
		roce_recovery_lost(qp, now);
		asked = true;
	}
	return asked;
}

/*
 * Something came that the peer says behind all its answers to READs and atomics before @p end. The frames of them that
 * are missing, behind @p begin, are asked for.
 */
static void
ask_for_missing(struct roce_qp *qp, uint32_t begin, uint32_t end, uint64_t now)
{
	bool asked = false;

	/* Most of what comes early shows no new gap. */
	if (!roce_repair_has_unknown(qp, end))
		return;
	for (uint32_t i = qp->tx.tail; i != qp->tx.begun; i++) {
		const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, i);

		/* A bind that was executed has no PSN. */
		if (wqe->packets == 0)
			continue;
		if (roce_psn_diff(wqe->psn, end) >= 0)
			break;
		if (roce_psn_diff(roce_psn_add(wqe->psn, wqe->packets), begin) > 0 &&
				roce_wqe_is_read(wqe))
			asked |= ask_for_gaps(qp, wqe, begin, end, now);
	}
	if (asked)
		roce_retry_sacked(qp, now);
}

void
roce_read_ask_before(struct roce_qp *qp, uint32_t psn, uint64_t now)
{
	ask_for_missing(qp, qp->tx.una, psn, now);
}

/* The answers that came early follow the one that was missing: they count now. */
static void
pass_answered(struct roce_qp *qp, uint64_t now)
{
	while (qp->cold.repair.answered != 0) {
		const struct roce_wqe *wqe = roce_read_oldest(qp);
		uint32_t n = roce_repair_answered_next(qp);

		if (wqe != NULL && roce_psn_diff(wqe->psn, qp->tx.una) > 0)
			roce_ack_advance(qp, wqe->psn, now);
		else if (n > 0)
			roce_ack_advance(qp, roce_psn_add(qp->tx.una, n), now);
		else
			break;
	}
	ask_for_missing(qp, qp->tx.una, roce_repair_answered_end(qp), now);
}

/*
 * The answer to a READ, ahead of one that is missing, from a peer that has agreed to selective repeat. Its bytes are placed,
 * since their place is known, and only the missing ones are asked for. A frame beyond the next 128 PSNs shows the same, and
 * is dropped. @return false: it is not that.
 */
static bool
take_early(struct roce_qp *qp, const struct roce_wqe *oldest, const struct roce_pkt *pkt,
		uint64_t now)
{
	const struct roce_wqe *wqe = read_at(qp, pkt->psn);
	uint32_t got, begin;

	if (!qp->cold.connect.extensions || wqe == NULL || !roce_read_fits(qp, wqe, pkt, &got))
		return false;
	roce_ack_advance(qp, oldest->psn, now);
	if (roce_psn_diff(pkt->psn, qp->tx.una) >= 128) {
		roce_repair_answered_after(qp, pkt->psn, pkt->repeat, now);
		ask_for_missing(qp, qp->tx.una, pkt->psn, now);
		return true;
	}
	if (roce_sge_copy_in(&qp->engine->domain->keys, qp->pd, wqe->sge, got, pkt) != 0)
		return false;
	begin = roce_repair_answered_end(qp);
	/* After all was asked for again, what is missing ahead of it is lost once more. */
	if (!roce_repair_answered(qp, pkt->psn, now))
		begin = qp->tx.una;
	roce_repair_answered_after(qp, pkt->psn, pkt->repeat, now);
	ask_for_missing(qp, begin, roce_repair_answered_end(qp), now);
	return true;
}

/* The frame that is expected. */
static void
take_answer(struct roce_qp *qp, const struct roce_wqe *wqe, const struct roce_pkt *pkt,
		uint64_t now)
{
	uint32_t got;

	if (unlikely(!roce_read_fits(qp, wqe, pkt, &got))) {
		qp->engine->stats.rx_ghost_acks++;
		return;
	}
	/* It answers everything before the READ, too. */
	roce_ack_advance(qp, pkt->psn, now);
	if (unlikely(place(qp, wqe, pkt, got) != 0)) {
		qp->engine->stats.req_local_protection_error++;
		roce_qp_break(qp, IBV_WC_LOC_PROT_ERR, true);
		return;
	}
	if (pkt->op->flags & ROCE_OP_AETH)
		roce_ack_learn_credits(qp, roce_pkt_aeth(pkt));
	roce_recovery_answered(qp, got == 0, now);
	roce_ack_advance(qp, roce_psn_add(pkt->psn, 1), now);
	if (unlikely(qp->tx.repairing))
		pass_answered(qp, now);
	roce_req_report_prot_error(qp);
	roce_qp_check_drained(qp);
}

/* The answer to @p wqe, or to a later one, misses what is before @p psn. */
static void
take_behind_gap(struct roce_qp *qp, const struct roce_wqe *wqe, uint32_t psn, uint64_t now)
{
	roce_ack_advance(qp, wqe->psn, now);
	if (unlikely(roce_recovery_lost_again(qp, psn, now)))
		qp->tx.nak_seen = false;
	roce_read_lost(qp, roce_read_expected(qp, wqe), now);
	qp->cold.recovery.behind = psn;
	roce_retry_heard(qp, now);
}

__rte_noinline void
roce_read_rx(struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;
	const struct roce_wqe *wqe;
	int32_t ahead;

	qp->engine->stats.rx_read_responses++;
	/* An answer to something never asked for, or had already. */
	if (unlikely(tx->reads == 0 || roce_psn_diff(pkt->psn, tx->una) < 0 ||
			    roce_psn_diff(pkt->psn, tx->max) >= 0)) {
		qp->engine->stats.rx_ghost_acks++;
		if (roce_psn_diff(pkt->psn, tx->una) < 0) {
			roce_recovery_answered_twice(qp, pkt->psn);
			roce_reorder_duplicate(qp, pkt->psn);
		}
		if (tx->reads != 0 && roce_psn_diff(pkt->psn, tx->max) < 0)
			roce_retry_heard(qp, now);
		return;
	}
	wqe = roce_read_oldest(qp);
	ahead = roce_psn_diff(pkt->psn, roce_read_expected(qp, wqe));
	if (likely(ahead == 0)) {
		take_answer(qp, wqe, pkt, now);
	} else if (ahead > 0 && take_early(qp, wqe, pkt, now)) {
		return;
	} else if (ahead > 0) {
		take_behind_gap(qp, wqe, pkt->psn, now);
	} else {
		qp->engine->stats.rx_ghost_acks++;
	}
}
