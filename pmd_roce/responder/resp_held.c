/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_branch_prediction.h>

#include "queue/frames.h"
#include "queue/piggyback.h"
#include "responder/resp.h"
#include "responder/resp_held.h"
#include "responder/resp_send.h"
#include "responder/resp_write.h"

#define READ       IBV_OPCODE_RC_RDMA_READ_REQUEST
#define FREE_BURST 32u
#define HELD_SACK_EVERY \
	32u /**< frames held while answers to READs wait, until they are told of again */

/*
 * Is the requester to learn at once that a frame is held, which belongs @p ahead of the end of those that were? While answers to
 * READs wait, a selective acknowledgement takes the place of one. So it leaves for a new gap, and once in a while, since it may be
 * lost like any other.
 */
static bool
is_news(const struct roce_qp *qp, int32_t ahead)
{
	return !(qp->rx.owes & ROCE_OWES_READ) || ahead > 0 ||
			qp->cold.held.n % HELD_SACK_EVERY == 0;
}

void
roce_resp_hold(struct roce_qp *qp, struct rte_mbuf **m, struct roce_resp_early early)
{
	const struct roce_reth *reth = early.read;
	const int32_t ahead = roce_held_ahead(qp, early.psn);
	uint32_t packets = 1;

	if (reth != NULL) {
		packets = roce_packets(rte_be_to_cpu_32(reth->length), qp->rx.mtu);
		roce_resp_note_repeat(qp, early.repeat);
	}
	if (!roce_held_keep(qp, *m, early.psn, packets))
		return;
	*m = NULL;
	if (qp->cold.connect.extensions && is_news(qp, ahead))
		roce_qp_owe(qp, ROCE_OWES_SACK);
}

/* Requests that bring nothing else: an acknowledgement in one is obeyed before the request is judged. */
static bool
is_request(uint8_t opcode)
{
	const uint16_t others = ROCE_OP_DETH | ROCE_OP_PIGGYBACK;

	return (roce_opcode[opcode].flags & (ROCE_OP_REQUEST | others)) == ROCE_OP_REQUEST;
}

/* Is it the PSN of a packet behind one whose absence was reported? Behind a message that found no receive nothing is held. */
static bool
is_behind_gap(const struct roce_qp_rx *rx, uint32_t psn)
{
	return rx->state == ROCE_QP_RTS && rx->nak_sent && !roce_resp_is_not_ready(rx) &&
			roce_psn_diff(psn, rx->epsn) > 0;
}

bool
roce_resp_hold_plain(struct roce_engine *e, struct rte_mbuf **m)
{
	const uint8_t opcode = roce_plain_opcode(*m);
	struct roce_plain_packet request;
	struct roce_qp *qp;

	if (!is_request(opcode) || !roce_plain_packet_parse(*m, opcode, &request))
		return false;
	qp = roce_qp_find(e->domain, request.dest_qp);
	if (qp == NULL || !roce_qp_rx_is_from(&qp->rx, request.flow4) ||
			!is_behind_gap(&qp->rx, request.psn))
		return false;
	if (request.congested || !roce_domain_has_vlan(e->domain, request.vlan_tci) ||
			!roce_plain_packet_icrc_ok(&request))
		return false;
	e->stats.out_of_sequence++;
	roce_resp_hold(qp, m,
			(struct roce_resp_early){
					.psn = request.psn,
					.read = opcode == READ ? request.reth : NULL,
					.repeat = request.repeat,
			});
	return true;
}

/* A frame was parsed when it came, and proved good then; nothing is placed of it. @return it; NULL: the consumer has it. */
static struct rte_mbuf *
execute(struct roce_qp *qp, struct rte_mbuf *m, uint64_t now)
{
	struct roce_pkt pkt;

	if (!qp->engine->domain->multi_engine &&
			(roce_resp_send_held(qp->engine, m) || roce_resp_write_held(qp->engine, m)))
		return m;
	if (unlikely(roce_frame_parse(m, &pkt) != ROCE_FRAME_OK))
		return m;
	pkt.placed = NULL;
	/* It counted when the frame came. */
	pkt.repeat = 0;
	roce_resp_other(qp, &pkt, now);
	return pkt.m;
}

__rte_noinline void
roce_resp_execute_held(struct roce_qp *qp, uint64_t now)
{
	struct rte_mbuf *m = roce_held_take(qp), *done[FREE_BURST];
	unsigned int n = 0;

	if (m == NULL)
		return;
	for (; m != NULL; m = roce_held_take(qp)) {
		done[n] = execute(qp, m, now);
		n += done[n] != NULL;
		if (n == FREE_BURST) {
			rte_pktmbuf_free_bulk(done, n);
			n = 0;
		}
	}
	rte_pktmbuf_free_bulk(done, n);
	if (qp->rx.state == ROCE_QP_ERR || qp->rx.state == ROCE_QP_ENDING || qp->rx.nak_sent)
		return;
	roce_piggyback_hurry(qp);
	roce_qp_owe(qp, ROCE_OWES_ACK);
	if (!(qp->rx.checks & ROCE_CHECK_HELD))
		return;
	roce_resp_report_gap(qp, now);
	if (qp->cold.connect.extensions && !(qp->rx.owes & ROCE_OWES_READ))
		roce_qp_owe(qp, ROCE_OWES_SACK);
}
