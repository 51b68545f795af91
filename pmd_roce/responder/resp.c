/* SPDX-License-Identifier: BSD-3-Clause */
/* Responder, actions: place a packet, complete its message, owe an answer. */

#include <string.h>

#include <rte_branch_prediction.h>

#include "queue/complete.h"
#include "queue/frames.h"
#include "queue/mw.h"
#include "queue/piggyback.h"
#include "queue/qp_end.h"
#include "queue/sge.h"
#include "responder/resp.h"
#include "responder/resp_held.h"
#include "responder/zcrx.h"

/* @p event_flags is as in roce_qp_complete_recv(). */
static __rte_always_inline void
complete(struct roce_qp *qp, const struct roce_pkt *pkt, const struct roce_opcode_info *op,
		uint32_t event_flags)
{
	rte_be32_t imm = 0;

	event_flags |= roce_event_solicited(pkt->solicited);
	if (unlikely(op->flags & (ROCE_OP_IMM | ROCE_OP_IETH))) {
		event_flags |= op->flags & ROCE_OP_IMM ? ROCE_EVENT_IMM : ROCE_EVENT_INVALID;
		imm = roce_pkt_imm(pkt);
	}
	/* The frame of an event that is lost cannot be taken by anybody. */
	if (unlikely(!roce_qp_complete_recv(qp, IBV_WC_SUCCESS, event_flags, imm)) &&
			(event_flags & ROCE_EVENT_ZCRX))
		roce_zcrx_withdraw(qp, event_flags);
}

/* The last packet of a SEND or WRITE, or all there is of another request. @p event_flags: of the receive of a SEND. */
static __rte_always_inline void
finish(struct roce_qp *qp, const struct roce_pkt *pkt, const struct roce_opcode_info *op,
		uint32_t event_flags)
{
	qp->rx.verb = ROCE_VERB_NONE;
	if (likely(op->verb == ROCE_VERB_SEND)) {
		complete(qp, pkt, op, event_flags);
	} else if (op->verb == ROCE_VERB_WRITE) {
		qp->rx.got = qp->remote.length;
		if (op->flags & ROCE_OP_IMM)
			complete(qp, pkt, op, ROCE_EVENT_WRITE);
	}
}

static void
end_refused(struct roce_qp *qp, enum ibv_wc_status status)
{
	if (qp->rx.holding && status != IBV_WC_SUCCESS)
		(void)roce_qp_complete_recv(qp, status, 0, 0);
	roce_qp_break(qp, status != IBV_WC_SUCCESS ? status : IBV_WC_REM_INV_REQ_ERR, false);
}

__rte_noinline void
roce_resp_refuse(struct roce_qp *qp, enum roce_nak code, enum ibv_wc_status status)
{
	qp->rx.syndrome = (uint8_t)(ROCE_AETH_NAK | code);
	roce_qp_owe(qp, ROCE_OWES_NAK);
	roce_held_drop(qp);
	if (likely(!(qp->rx.owes & ROCE_OWES_READ))) {
		end_refused(qp, status);
		return;
	}
	/* The NAK says that everything before it was answered: first let it be so. */
	qp->remote.last_status = (uint8_t)status;
	__atomic_store_n(&qp->rx.state, ROCE_QP_ENDING, __ATOMIC_RELEASE);
}

static void
refuse_access(struct roce_qp *qp)
{
	qp->engine->stats.resp_remote_access_errors++;
	roce_resp_refuse(qp, ROCE_NAK_REMOTE_ACCESS, IBV_WC_SUCCESS);
}

/*
 * May the queue pair answer once more to a frame that it did not expect? Losses never ask for as many answers as
 * somebody who plays frames to it. A request that is not answered is asked again, by the peer's timer at the latest.
 */
static bool
may_answer(struct roce_qp *qp, uint64_t now)
{
	uint64_t interval = qp->engine->domain->config.hz / ROCE_ODD_ANSWERS_HZ;

	if (qp->cold.odd_answers > now + ROCE_ODD_ANSWERS_BURST * interval) {
		qp->engine->stats.resp_answers_limited++;
		return false;
	}
	qp->cold.odd_answers = RTE_MAX(qp->cold.odd_answers, now) + interval;
	return true;
}

/*
 * Answers with data are the exception: on a fast link losses do ask for as many. Each packet that was executed since the last one
 * gives one back: a requester that gets on may ask again for what was lost, at any speed, and a player asks as often as
 * the requester at the most.
 */
static bool
may_answer_with_data(struct roce_qp *qp, uint64_t now)
{
	const uint64_t interval = qp->engine->domain->config.hz / ROCE_ODD_ANSWERS_HZ;
	const uint64_t executed = (qp->rx.epsn - qp->cold.odd_psn) & ROCE_PSN_MASK;

	if (qp->cold.odd_answers > now)
		qp->cold.odd_answers -= RTE_MIN(qp->cold.odd_answers - now, executed * interval);
	qp->cold.odd_psn = qp->rx.epsn;
	return may_answer(qp, now);
}

/* The requester learns that its repeat was needless (requester/reorder.h). */
static void
name_duplicate(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (!qp->cold.connect.extensions)
		return;
	qp->cold.held.duplicate = pkt->psn;
	qp->rx.owes |= ROCE_OWES_DUPLICATE;
}

/* A request that was executed is not executed again. A READ or atomic too old to be known stays unanswered. */
static void
answer_duplicate(struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t now)
{
	bool answered_with_data = pkt->op->verb == ROCE_VERB_READ ||
			pkt->op->verb == ROCE_VERB_ATOMIC_CAS ||
			pkt->op->verb == ROCE_VERB_ATOMIC_FADD;

	roce_piggyback_hurry(qp);
	if (answered_with_data) {
		if (!roce_resp_is_copy(qp, pkt) && may_answer_with_data(qp, now) &&
				!roce_resp_read_again(qp, pkt)) {
			refuse_access(qp);
			return;
		}
	} else if (qp->rx.owes & ROCE_OWES_ACK) {
		/* The answer that is owed already answers this one, too. */
		name_duplicate(qp, pkt);
		roce_qp_ready(qp);
	} else if (may_answer(qp, now)) {
		name_duplicate(qp, pkt);
		roce_qp_owe(qp, ROCE_OWES_ACK);
	}
	qp->engine->stats.duplicate_request++;
}

void
roce_resp_report_gap(struct roce_qp *qp, uint64_t now)
{
	qp->rx.nak_sent = may_answer(qp, now);
	if (!qp->rx.nak_sent)
		return;
	qp->rx.syndrome = ROCE_AETH_NAK | ROCE_NAK_PSN_SEQUENCE;
	roce_qp_owe(qp, ROCE_OWES_NAK);
}

static void
answer_otherwise(struct roce_qp *qp, const struct roce_pkt *pkt, enum roce_verdict verdict,
		uint64_t now)
{
	struct roce_stats *stats = &qp->engine->stats;

	switch (verdict) {
	case ROCE_DUPLICATE:
		answer_duplicate(qp, pkt, now);
		break;
	case ROCE_GAP:
		roce_resp_report_gap(qp, now);
		break;
	case ROCE_NOT_READY:
		stats->rnr_nak_sent++;
		qp->rx.syndrome = (uint8_t)(ROCE_AETH_RNR | qp->cold.connect.rnr_timer);
		roce_held_drop(qp);
		roce_qp_owe(qp, ROCE_OWES_NAK);
		break;
	case ROCE_TOO_LONG:
		stats->resp_local_length_error++;
		roce_resp_refuse(qp, ROCE_NAK_INVALID_REQUEST, IBV_WC_LOC_LEN_ERR);
		break;
	case ROCE_BAD_KEY:
		refuse_access(qp);
		break;
	case ROCE_BAD_INVALIDATE:
		stats->resp_remote_access_errors++;
		roce_resp_refuse(qp, ROCE_NAK_REMOTE_ACCESS, IBV_WC_REM_INV_REQ_ERR);
		break;
	case ROCE_BAD_RECEIVE:
		stats->resp_local_protection_error++;
		roce_resp_refuse(qp, ROCE_NAK_REMOTE_OPERATIONAL, IBV_WC_LOC_PROT_ERR);
		break;
	case ROCE_OVER_HIGH:
		stats->resp_over_high_watermark++;
		roce_resp_refuse(qp, ROCE_NAK_REMOTE_OPERATIONAL, IBV_WC_WR_FLUSH_ERR);
		break;
	case ROCE_INVALID:
	case ROCE_UNSUPPORTED:
		stats->resp_invalid_request++;
		roce_resp_refuse(qp, ROCE_NAK_INVALID_REQUEST, IBV_WC_SUCCESS);
		break;
	default:
		break;
	}
}

/* The key that the last packet of a SEND may name. @return false: there is none. */
static inline bool
end_key(const struct roce_qp *qp, const struct roce_pkt *pkt, const struct roce_opcode_info *op)
{
	return likely(!(op->flags & ROCE_OP_IETH)) ||
			roce_mw_invalidate(qp, rte_be_to_cpu_32(roce_pkt_imm(pkt))) == 0;
}

/* Copy a packet of a SEND to where it belongs. @return 0; else the memory of the receive is gone. */
static inline int
place(const struct roce_qp *qp, const struct roce_pkt *pkt, const struct roce_opcode_info *op)
{
	const struct roce_qp_rx *rx = &qp->rx;
	const struct roce_recv *recv = rx->recv;

	if (roce_pkt_is_placed(pkt))
		return 0;
	/* Just taken, and no region has ended since its segments were validated. */
	if ((op->flags & ROCE_OP_START) &&
			likely((recv->flags & ROCE_RECV_VALID) && recv->num_sge == 1 &&
					roce_pkt_in_first(pkt))) {
		memcpy((void *)(uintptr_t)recv->sge->addr,
				rte_pktmbuf_mtod_offset(pkt->m, const uint8_t *, pkt->payload_off),
				pkt->payload_len);
		return 0;
	}
	return roce_sge_scatter(&qp->engine->domain->keys, rx->rq->pd, recv->sge, rx->got, pkt);
}

/* Place a packet of a SEND, and end the key that its last one names. */
static __rte_always_inline enum roce_verdict
do_send(struct roce_qp *qp, const struct roce_pkt *pkt, const struct roce_opcode_info *op)
{
	struct roce_qp_rx *rx = &qp->rx;

	if (unlikely(place(qp, pkt, op) != 0))
		return ROCE_BAD_RECEIVE;
	if (!end_key(qp, pkt, op))
		return ROCE_BAD_INVALIDATE;
	roce_resp_advance(rx, 1);
	rx->got += pkt->payload_len;
	return ROCE_ACCEPT;
}

/* The packet was executed. @p event_flags is as in finish(). */
static __rte_always_inline void
settle(struct roce_qp *qp, const struct roce_pkt *pkt, const struct roce_opcode_info *op,
		uint32_t event_flags)
{
	if (op->flags & ROCE_OP_END)
		finish(qp, pkt, op, event_flags);
	else
		qp->rx.verb = op->verb;
	roce_resp_settle(qp, op, pkt->payload_len, pkt->ack_req);
}

/* A whole message, whose frame the consumer gets. */
static enum roce_verdict
give_frame(struct roce_qp *qp, struct roce_pkt *pkt)
{
	if (!end_key(qp, pkt, pkt->op))
		return ROCE_BAD_INVALIDATE;
	roce_resp_advance(&qp->rx, 1);
	qp->rx.got = pkt->payload_len;
	settle(qp, pkt, pkt->op, roce_zcrx_give(qp, pkt));
	return ROCE_ACCEPT;
}

/*
 * Not behind a message that found no receive: the requester falls silent, and sends all again afterwards; kept for so long, frames
 * of many queue pairs would leave no room to those that lose one.
 */
static void
hold(struct roce_qp *qp, struct roce_pkt *pkt, enum roce_verdict verdict)
{
	if (verdict != ROCE_GAP && roce_resp_is_not_ready(&qp->rx))
		return;
	roce_resp_hold(qp, &pkt->m,
			(struct roce_resp_early){
					.psn = pkt->psn,
					.read = pkt->op->verb == ROCE_VERB_READ ? roce_pkt_reth(pkt)
										: NULL,
					.repeat = pkt->repeat,
			});
}

static __rte_noinline void
refuse_or_zcrx(struct roce_qp *qp, struct roce_pkt *pkt, enum roce_verdict verdict, uint64_t now)
{
	if (verdict == ROCE_ZCRX)
		verdict = give_frame(qp, pkt);
	if (verdict == ROCE_GAP || verdict == ROCE_DROP)
		hold(qp, pkt, verdict);
	if (verdict != ROCE_ACCEPT)
		answer_otherwise(qp, pkt, verdict, now);
}

static __rte_always_inline void
respond(struct roce_qp *qp, struct roce_pkt *pkt, const struct roce_opcode_info *op, uint64_t now)
{
	enum roce_verdict verdict = roce_resp_check(qp, pkt, op);

	if (likely(verdict == ROCE_ACCEPT)) {
		if (likely(op->verb == ROCE_VERB_SEND))
			verdict = do_send(qp, pkt, op);
		else if (unlikely(roce_resp_do_rdma(qp, pkt) != 0))
			verdict = ROCE_BAD_KEY;
	}
	if (likely(verdict == ROCE_ACCEPT))
		settle(qp, pkt, op, 0);
	else
		refuse_or_zcrx(qp, pkt, verdict, now);
}

__rte_noinline void
roce_resp_other(struct roce_qp *qp, struct roce_pkt *pkt, uint64_t now)
{
	respond(qp, pkt, pkt->op, now);
}

/* Most requests are messages of one packet: nothing is asked there that is known. */
void
roce_resp_rx(struct roce_qp *qp, struct roce_pkt *pkt, uint64_t now)
{
	const struct roce_opcode_info *send = &roce_opcode[IBV_OPCODE_RC_SEND_ONLY];

	if (likely(pkt->op == send))
		respond(qp, pkt, send, now);
	else
		roce_resp_other(qp, pkt, now);
	if (unlikely(qp->rx.checks & ROCE_CHECK_HELD))
		roce_resp_execute_held(qp, now);
}

struct rte_mbuf *
roce_resp_emit_sack(struct roce_qp *qp, uint8_t owed)
{
	const bool held = owed == ROCE_OWES_SACK;
	const struct roce_frame_spec spec = {
		.psn = held ? qp->rx.epsn : qp->cold.held.duplicate,
		.opcode = ROCE_OPCODE_SACK,
		.repeat = qp->remote.repeat,
	};
	struct rte_mbuf *m = roce_engine_frame(qp->engine);
	struct roce_sack sack = { { 0 } };

	if (unlikely(m == NULL))
		return NULL;
	if (held)
		roce_held_map(qp, &sack);
	memcpy(roce_frame_build(m, &qp->cold.template, &spec), &sack, sizeof(sack));
	roce_icrc_put(m, &qp->cold.template);
	qp->rx.owes &= (uint8_t)~owed;
	qp->engine->stats.tx_sacks++;
	return m;
}

struct rte_mbuf *
roce_resp_emit(struct roce_qp *qp, struct roce_engine *e)
{
	bool nak = qp->rx.owes & ROCE_OWES_NAK;
	struct roce_frame_spec spec = {
		.psn = nak ? qp->rx.epsn : roce_ack_psn(qp),
		.opcode = IBV_OPCODE_RC_ACKNOWLEDGE,
	};
	struct rte_mbuf *m = roce_engine_frame(e);
	struct roce_aeth *aeth;

	if (unlikely(m == NULL))
		return NULL;
	aeth = (struct roce_aeth *)roce_frame_build(m, &qp->cold.template, &spec);
	aeth->syndrome_msn =
			roce_aeth_pack(nak ? qp->rx.syndrome : roce_ack_syndrome(qp), qp->rx.msn);
	roce_engine_icrc_later(e, m, &qp->cold.template);
	roce_ack_given(qp);
	e->stats.tx_acks++;
	if (unlikely(qp->rx.state == ROCE_QP_ENDING))
		end_refused(qp, (enum ibv_wc_status)qp->remote.last_status);
	return m;
}
