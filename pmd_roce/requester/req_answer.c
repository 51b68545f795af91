/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast path of answers to READs. The answers to several READs come one behind the other, and the requests that they end
 * are the oldest ones: so frames that came in one burst are placed one by one, and acknowledge once.
 */

#include <string.h>

#include <rte_branch_prediction.h>

#include "queue/qp_end.h"
#include "queue/sge.h"
#include "requester/ack.h"
#include "requester/recovery.h"
#include "requester/req_read.h"
#include "requester/rewind.h"
#include "wire/frame_plain.h"

/** How far a burst of answers is. */
struct run {
	struct roce_engine *e;
	struct roce_qp *qp;
	uint32_t request; /**< slot of the READ that the next frame belongs to */
	uint32_t psn;     /**< of the next frame */
	struct roce_keys_recent recent;
};

/* Does nothing but the next answer concern the requester? Losses and timeouts are for the slow path. */
static inline bool
is_undisturbed(const struct roce_qp *qp)
{
	return qp->rx.state == ROCE_QP_RTS && qp->tx.window == ROCE_WINDOW && !qp->tx.repairing;
}

/* Find out which frame comes next. @return false: there is no such queue pair, or it needs the slow path. */
static inline bool
begin(struct run *run, uint32_t dest_qp)
{
	struct roce_qp *qp = roce_qp_find(run->e->domain, dest_qp);

	if (unlikely(qp == NULL || !is_undisturbed(qp)))
		return false;
	run->qp = qp;
	run->request = qp->tx.tail;
	run->psn = qp->tx.una;
	roce_keys_recent_init(&run->recent, &run->e->domain->keys);
	return true;
}

/* Is it the frame that comes next, from the peer, and does nothing in its headers want the slow path? */
static __rte_always_inline bool
is_next(const struct run *run, const struct roce_plain_packet *answer)
{
	const struct roce_qp *qp = run->qp;

	return answer->dest_qp == qp->rx.qpn && answer->psn == run->psn &&
			roce_qp_rx_is_from(&qp->rx, answer->flow4) && !answer->congested &&
			roce_domain_has_vlan(run->e->domain, answer->vlan_tci);
}

/*
 * Where the frame goes, which has the PSN that is next. @param got bytes before it.
 * @return NULL: its request is no READ into one segment, it has another length, or the memory is gone.
 */
static __rte_always_inline uint8_t *
place_of(struct run *run, const struct roce_plain_packet *answer, const struct roce_opcode_info *op,
		uint32_t *got)
{
	const struct roce_qp *qp = run->qp;
	const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, run->request);
	struct roce_sge part;

	if (unlikely(run->request == qp->tx.begun || wqe->verb != ROCE_VERB_READ ||
			    wqe->num_sge != 1))
		return NULL;
	*got = roce_read_before(qp, wqe, run->psn);
	if (unlikely(!roce_read_length_ok(qp, wqe->length - *got, op, answer->payload_len)))
		return NULL;
	part = (struct roce_sge){ wqe->sge->addr + *got, answer->payload_len, wqe->sge->lkey };
	if (unlikely(roce_keys_check_again(&run->e->domain->keys, qp->pd, &part,
				     IBV_ACCESS_LOCAL_WRITE, &run->recent) != 0))
		return NULL;
	return (uint8_t *)(uintptr_t)part.addr;
}

/* Copy the payload if the ICRC is right; both in one pass where that pays (placement.h). */
static __rte_always_inline bool
copy(const struct roce_plain_packet *answer, uint8_t *to)
{
	if (answer->payload_len >= ROCE_ONE_PASS_RX)
		return roce_plain_packet_icrc_ok_copy(answer, to);
	if (unlikely(!roce_plain_packet_icrc_ok(answer)))
		return false;
	memcpy(to, answer->payload, answer->payload_len);
	return true;
}

/*
 * Take the next frame, but for what it acknowledges. @p opcode: of the frame, an answer's; a constant where most are that.
 * @return false: it is for the slow path.
 */
static __rte_always_inline bool
take_as(struct run *run, const struct rte_mbuf *m, uint8_t opcode, uint64_t now)
{
	const struct roce_opcode_info *op = &roce_opcode[opcode];
	struct roce_plain_packet answer;
	uint32_t got;
	uint8_t *to;

	if (unlikely(!roce_plain_packet_parse(m, opcode, &answer)))
		return false;
	if (run->qp == NULL && unlikely(!begin(run, answer.dest_qp)))
		return false;
	if (unlikely(!is_next(run, &answer)))
		return false;
	to = place_of(run, &answer, op, &got);
	if (unlikely(to == NULL || !copy(&answer, to)))
		return false;
	if (answer.aeth != NULL)
		roce_ack_learn_credits(run->qp, answer.aeth);
	roce_recovery_answered(run->qp, got == 0, now);
	run->psn = roce_psn_add(run->psn, 1);
	if (op->flags & ROCE_OP_END)
		run->request++;
	return true;
}

static inline bool
take(struct run *run, const struct rte_mbuf *m, uint64_t now)
{
	const uint8_t opcode = roce_plain_opcode(m);

	if (likely(opcode == IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY))
		return take_as(run, m, IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, now);
	return roce_plain_is_answer(opcode) && take_as(run, m, opcode, now);
}

uint16_t
roce_read_rx_plain(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	struct run run = { .e = e };
	uint16_t taken = 0;

	while (taken < n && take(&run, pkts[taken], now))
		taken++;
	if (unlikely(taken == 0))
		return 0;
	e->stats.rx_read_responses += taken;
	roce_ack_advance(run.qp, run.psn, now);
	roce_req_report_prot_error(run.qp);
	roce_qp_check_drained(run.qp);
	return taken;
}
