/* SPDX-License-Identifier: BSD-3-Clause */
/* Requester, receive side: acknowledgements, NAKs by code, receiver not ready (IBTA Vol 1, 9.7.5 and 9.7.7). */

#include <rte_branch_prediction.h>

#include "queue/complete.h"
#include "queue/extbuf.h"
#include "queue/qp_end.h"
#include "requester/ack.h"
#include "requester/recovery.h"
#include "requester/repair.h"
#include "requester/req_read.h"
#include "requester/retry.h"
#include "requester/rewind.h"

/* After a timeout the window opens again with what is acknowledged: fast up to the threshold, then slowly. */
static __rte_noinline void
open_window(struct roce_qp_tx *tx, uint32_t acknowledged)
{
	uint32_t more = tx->window < tx->threshold ? acknowledged : 1;

	tx->window = (uint16_t)RTE_MIN(tx->window + more, ROCE_WINDOW);
}

/* A request is done. Requests that waited for a READ may go on; one without a copy of its bytes waits for the device. */
static inline void
complete(struct roce_qp *qp, const struct roce_wqe *wqe)
{
	/* One branch for both. */
	if (unlikely(roce_wqe_is_read(wqe) | (wqe->flags & ROCE_WQE_EXTBUF))) {
		if (roce_wqe_is_read(wqe)) {
			qp->tx.reads--;
			qp->tx.fence_wait = false;
		}
		if (wqe->flags & ROCE_WQE_EXTBUF) {
			roce_extbuf_complete(qp, IBV_WC_SUCCESS);
			return;
		}
	}
	roce_qp_complete_send(qp, IBV_WC_SUCCESS);
}

void
roce_ack_advance(struct roce_qp *qp, uint32_t psn, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;
	bool rest;

	if (roce_psn_diff(psn, tx->una) <= 0)
		return;
	/*
	 * Karn's rule: a rewind has ended the measurement of what it sends again. Behind a frame that was missing the
	 * acknowledgement has waited for that one.
	 */
	if (tx->timed_at != 0 && roce_psn_diff(psn, tx->timed_psn) > 0) {
		if (likely(!tx->repairing))
			roce_recovery_measure(qp, now - tx->timed_at);
		tx->timed_at = 0;
	}
	if (unlikely(tx->window < ROCE_WINDOW)) {
		roce_recovery_acknowledged(qp, psn, now);
		open_window(tx, (uint32_t)roce_psn_diff(psn, tx->una));
	}
	rest = unlikely(tx->repairing) && roce_repair_acknowledged(qp, psn, now);
	tx->una = psn;
	/* An old copy may be acknowledged while the rewound requester is still behind it: never send that again. */
	if (unlikely(roce_psn_diff(psn, tx->psn) > 0))
		roce_req_rewind(qp, psn);
	while (tx->tail != tx->begun) {
		const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, tx->tail);

		if (likely(roce_psn_diff(psn, roce_psn_add(wqe->psn, wqe->packets)) >= 0)) {
			complete(qp, wqe);
			continue;
		}
		/* A bind that was executed is out of every acknowledgement's reach, and due when it is the oldest. */
		if (likely(wqe->packets != 0))
			break;
		/* A rewound requester may not have come to it again: it must not stay behind what is done. */
		if (unlikely(tx->next == tx->tail))
			tx->next++;
		roce_qp_complete_bind(qp, IBV_WC_SUCCESS);
	}
	tx->rnr_at = 0;
	if (unlikely(rest) && tx->reads == 0)
		roce_repair_all(qp);
	roce_retry_progress(qp, now);
	/* For whoever has nothing to say an acknowledgement changes nothing; one that waits for an answer goes on waiting. */
	if (tx->next != roce_qp_posted(qp) || unlikely(tx->repeats))
		roce_qp_ready(qp);
}

/* acknowledge() where READs or atomics wait for their answers. */
static __rte_noinline bool
acknowledge_around_reads(struct roce_qp *qp, uint32_t psn, bool goes_on, uint64_t now)
{
	uint32_t expected = roce_read_expected(qp, roce_read_oldest(qp));

	if (roce_psn_diff(psn, expected) <= 0) {
		roce_ack_advance(qp, psn, now);
		return true;
	}
	roce_ack_advance(qp, expected, now);
	if (goes_on && roce_repair_ask_behind(qp, psn)) {
		roce_read_ask_before(qp, psn, now);
		return true;
	}
	roce_read_lost(qp, expected, now);
	return false;
}

/*
 * The peer says that everything before @p psn arrived. When there is a READ or atomic among it whose answer is
 * not here, that answer is lost (IBTA Vol 1, 9.7.5.1.1, implied NAK). Between own peers it is asked for, unless the peer wants
 * nothing for now, or has ended the connection (not @p goes_on).
 * @return false: everything from that answer on is sent again.
 */
static inline bool
acknowledge(struct roce_qp *qp, uint32_t psn, bool goes_on, uint64_t now)
{
	if (unlikely(qp->tx.reads != 0))
		return acknowledge_around_reads(qp, psn, goes_on, now);
	roce_ack_advance(qp, psn, now);
	return true;
}

void
roce_ack_learn_credits(struct roce_qp *qp, const struct roce_aeth *aeth)
{
	uint8_t code = roce_aeth_syndrome(aeth) & ROCE_AETH_VALUE_MASK;
	struct roce_qp_tx *tx = &qp->tx;
	bool first = !tx->limited;
	uint32_t limit;

	tx->credits_known = true;
	tx->limited = code != ROCE_CREDIT_INVALID;
	if (likely(!tx->limited))
		return;
	/* A receive that was promised stays; the code is only too coarse to say it again. */
	limit = roce_psn_add(roce_aeth_msn(aeth), roce_credit_decode(code));
	if (first || roce_psn_diff(limit, tx->limit) > 0)
		tx->limit = limit;
	/* Credits may be all that it brings. */
	roce_qp_ready(qp);
}

/* One rewind for each gap: copies of the NAK, and NAKs for what is being sent again, change nothing. */
static void
sequence_nak(struct roce_qp *qp, uint32_t psn, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;

	qp->engine->stats.packet_seq_err++;
	if (roce_repair_knows(qp)) {
		(void)roce_repair_missing(qp, roce_repair_packet(psn), now);
		return;
	}
	if (tx->nak_seen && tx->nak_psn == psn)
		return;
	roce_recovery_lost(qp, now);
	tx->nak_seen = true;
	tx->nak_psn = psn;
	/* When it is being sent again in order, it will come. */
	if (roce_psn_diff(tx->psn, psn) <= 0 || roce_repair_nak_alone(qp, psn, now))
		return;
	roce_repair_forget(qp);
	/* Answers to READs before it may be missing, too. */
	roce_req_rewind(qp, qp->tx.una);
}

static void
refused(struct roce_qp *qp, uint8_t code)
{
	struct roce_stats *stats = &qp->engine->stats;

	switch (code) {
	case ROCE_NAK_INVALID_REQUEST:
		stats->req_remote_invalid_request++;
		roce_qp_break(qp, IBV_WC_REM_INV_REQ_ERR, true);
		break;
	case ROCE_NAK_REMOTE_ACCESS:
		stats->req_remote_access_errors++;
		roce_qp_break(qp, IBV_WC_REM_ACCESS_ERR, true);
		break;
	case ROCE_NAK_REMOTE_OPERATIONAL:
		stats->req_remote_operational_errors++;
		roce_qp_break(qp, IBV_WC_REM_OP_ERR, true);
		break;
	default:
		/* Reserved codes say nothing that could be acted on. */
		stats->rx_ghost_acks++;
		break;
	}
}

static void
receiver_not_ready(struct roce_qp *qp, uint32_t psn, uint8_t timer_code, uint64_t now)
{
	struct roce_stats *stats = &qp->engine->stats;

	stats->rnr_nak_received++;
	if (qp->tx.rnr_at != 0)
		return; /* a copy of the one that is being obeyed */
	if (qp->cold.connect.rnr_retry != 7) {
		if (qp->tx.rnr_retries == 0) {
			stats->rnr_nak_retry_err++;
			roce_qp_break(qp, IBV_WC_RNR_RETRY_EXC_ERR, true);
			return;
		}
		qp->tx.rnr_retries--;
	}
	roce_retry_rnr(qp, psn, timer_code, now);
}

static void
negative(struct roce_qp *qp, uint8_t syndrome, uint32_t psn, uint64_t now)
{
	uint8_t value = syndrome & ROCE_AETH_VALUE_MASK;
	bool gap = syndrome == (ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE);

	/* A NAK names the expected PSN: everything before it arrived. */
	if (!acknowledge(qp, psn, gap, now))
		return;
	if ((syndrome & ROCE_AETH_KIND_MASK) == ROCE_AETH_RNR)
		receiver_not_ready(qp, psn, value, now);
	else if (gap)
		sequence_nak(qp, psn, now);
	else
		refused(qp, value);
}

void
roce_ack_rx(struct roce_qp *qp, const struct roce_aeth *aeth, uint32_t psn, uint64_t now)
{
	uint8_t syndrome = roce_aeth_syndrome(aeth);
	uint8_t kind = syndrome & ROCE_AETH_KIND_MASK;
	struct roce_qp_tx *tx = &qp->tx;

	/* Only what was sent can be answered, and a NAK for what is acknowledged already is late. */
	if (unlikely(roce_psn_diff(psn, tx->max) >= 0 ||
			    (kind != ROCE_AETH_ACK && roce_psn_diff(psn, tx->una) < 0) ||
			    (kind != ROCE_AETH_ACK && kind != ROCE_AETH_RNR &&
					    kind != ROCE_AETH_NAK))) {
		qp->engine->stats.rx_ghost_acks++;
		return;
	}
	if (likely(kind == ROCE_AETH_ACK)) {
		if (roce_psn_diff(psn, tx->una) >= -1)
			roce_ack_learn_credits(qp, aeth);
		(void)acknowledge(qp, roce_psn_add(psn, 1), true, now);
	} else {
		negative(qp, syndrome, psn, now);
	}
	if (qp->rx.state == ROCE_QP_RTS) {
		roce_req_report_prot_error(qp);
		roce_qp_check_drained(qp);
	}
}

bool
roce_ack_rx_piggybacked(struct roce_qp *qp, const struct roce_piggyback *ack, uint64_t now)
{
	const uint8_t state = qp->rx.state;

	if (unlikely(!qp->tx.piggyback ||
			    (roce_aeth_syndrome(&ack->aeth) & ROCE_AETH_KIND_MASK) !=
					    ROCE_AETH_ACK)) {
		qp->engine->stats.rx_malformed_opcode++;
		return false;
	}
	qp->engine->stats.rx_piggybacked_acks++;
	roce_ack_rx(qp, &ack->aeth, rte_be_to_cpu_32(ack->psn) & ROCE_PSN_MASK, now);
	return qp->rx.state == state;
}
