/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Find out which queue pairs are connected. Management datagrams name both ends of a connection. Queue pairs that were
 * connected by other means are matched by the PSN of a request and its answer: PSNs begin at random.
 */

#include "replay.h"
#include "unit.h"

#define READS_DEFAULT     128 /* what perftest allows itself, and rxe at most */
#define TIMEOUT_DEFAULT   14
#define RETRY_DEFAULT     7
#define RNR_DEFAULT       12
#define MTU_CODE_ETHERNET 3

static int
find_conn(const struct rp_capture *capture, uint8_t side, uint32_t id)
{
	for (int i = 0; i < capture->conns; i++) {
		if (id != 0 && capture->conn[i].id[side] == id)
			return i;
	}
	return -1;
}

static int
new_conn(struct rp_capture *capture, const struct rp_frame *req)
{
	struct rp_conn *conn = &capture->conn[capture->conns];

	assert_true((unsigned int)capture->conns < RP_FLOWS);
	*conn = (struct rp_conn){ .active = req->from, .req = req, .flow = -1 };
	conn->id[req->from] = req->msg.local_id;
	return capture->conns++;
}

static int
conn_of(struct rp_capture *capture, const struct rp_frame *frame)
{
	int conn = find_conn(capture, frame->from, frame->msg.local_id);

	if (conn >= 0)
		return conn;
	if (frame->msg.attr == ROCE_CM_ATTR_REQ)
		return new_conn(capture, frame);
	conn = find_conn(capture, !frame->from, frame->msg.remote_id);
	if (conn >= 0)
		capture->conn[conn].id[frame->from] = frame->msg.local_id;
	return conn;
}

static struct rp_flow *
new_flow(struct rp_capture *capture)
{
	struct rp_flow *flow = &capture->flow[capture->flows];

	assert_true((unsigned int)capture->flows < RP_FLOWS);
	capture->flows++;
	*flow = (struct rp_flow){
		.reads = { READS_DEFAULT, READS_DEFAULT },
		.rnr_retry = { RETRY_DEFAULT, RETRY_DEFAULT },
		.rnr_timer = { RNR_DEFAULT, RNR_DEFAULT },
		.retry = RETRY_DEFAULT,
		.ack_timeout = TIMEOUT_DEFAULT,
		.psn = { UINT32_MAX, UINT32_MAX },
		.dead_at = { RP_NEVER, RP_NEVER },
		.conn = -1,
	};
	return flow;
}

/* The parameters that the REQ and the REP agreed upon. */
static void
flow_of_conn(struct rp_capture *capture, int index)
{
	struct rp_conn *conn = &capture->conn[index];
	const struct roce_cm_param *a = &conn->req->msg.param;
	const struct roce_cm_param *b = &conn->reply->msg.param;
	struct rp_flow *flow = new_flow(capture);
	uint8_t active = conn->active;

	conn->flow = capture->flows - 1;
	flow->conn = index;
	flow->qpn[active] = a->qpn;
	flow->qpn[!active] = b->qpn;
	/* Each names the PSN that the other one shall begin with (IBTA Vol 1, 12.7: starting PSN). */
	flow->psn[active] = b->psn;
	flow->psn[!active] = a->psn;
	flow->mtu = roce_mtu_bytes(a->mtu_code);
	flow->mtu_known = true;
	flow->reads[active] = RTE_MIN(a->initiator_depth, b->responder_resources);
	flow->reads[!active] = RTE_MIN(b->initiator_depth, a->responder_resources);
	flow->rnr_retry[active] = b->rnr_retry;
	flow->rnr_retry[!active] = a->rnr_retry;
	flow->retry = a->retry;
	flow->ack_timeout = a->ack_timeout;
	flow->srq[active] = a->srq;
	flow->srq[!active] = b->srq;
}

static void
find_conns(struct rp_capture *capture)
{
	for (uint32_t i = 0; i < capture->frames; i++) {
		struct rp_frame *frame = &capture->frame[i];
		struct rp_conn *conn;

		if (frame->pkt.dest_qp != ROCE_QPN_GSI)
			continue;
		frame->conn = conn_of(capture, frame);
		if (frame->conn < 0)
			fail_msg("%s: frame %u: of no connection", capture->name, frame->number);
		conn = &capture->conn[frame->conn];
		/* A side that asks for more time has not answered. */
		if (conn->reply != NULL || frame->from == conn->active ||
				(frame->msg.attr != ROCE_CM_ATTR_REP &&
						frame->msg.attr != ROCE_CM_ATTR_REJ))
			continue;
		conn->reply = frame;
		if (frame->msg.attr == ROCE_CM_ATTR_REP)
			flow_of_conn(capture, frame->conn);
	}
}

/* The flow in which a side's queue pair has that number. */
static int
find_flow(const struct rp_capture *capture, uint8_t side, uint32_t qpn)
{
	for (int i = 0; i < capture->flows; i++) {
		if (capture->flow[i].qpn[side] == qpn)
			return i;
	}
	return -1;
}

/* The flow whose request an answer to an unknown queue pair belongs to. */
static int
find_asked(const struct rp_capture *capture, const struct rp_frame *answer)
{
	for (int i = 0; i < capture->flows; i++) {
		if (capture->flow[i].qpn[!answer->from] == 0 &&
				rp_frame_find(capture, i, !answer->from, true, answer->pkt.psn) !=
						NULL)
			return i;
	}
	return -1;
}

static int
flow_of(struct rp_capture *capture, const struct rp_frame *frame)
{
	int index = find_flow(capture, !frame->from, frame->pkt.dest_qp);

	if (index >= 0)
		return index;
	if (!rp_is_request(frame))
		index = find_asked(capture, frame);
	else if (new_flow(capture) != NULL)
		index = capture->flows - 1;
	if (index < 0)
		fail_msg("%s: frame %u: answers nothing", capture->name, frame->number);
	capture->flow[index].qpn[!frame->from] = frame->pkt.dest_qp;
	return index;
}

static uint8_t
tos_of(const struct roce_pkt *pkt)
{
	return pkt->v6 ? (uint8_t)(pkt->l3[0] << 4 | pkt->l3[1] >> 4) : pkt->l3[1];
}

/*
 * The path MTU of queue pairs that were connected by other means: the payload of a frame that another one of its message
 * follows. Until there is one, as large as rdma_cm would choose on Ethernet, or as the largest payload wants.
 */
static void
learn_mtu(struct rp_flow *flow, const struct roce_pkt *pkt)
{
	if (flow->mtu_known)
		return;
	if (pkt->payload_len > 0 && !(pkt->op->flags & ROCE_OP_END)) {
		flow->mtu = pkt->payload_len;
		flow->mtu_known = true;
		return;
	}
	flow->mtu = RTE_MAX(flow->mtu, roce_mtu_bytes(MTU_CODE_ETHERNET));
	while (flow->mtu < pkt->payload_len)
		flow->mtu *= 2;
}

/* Learn the parameters that only the frames themselves tell. */
static void
learn(struct rp_flow *flow, const struct rp_frame *frame)
{
	flow->tos[frame->from] = tos_of(&frame->pkt);
	flow->sport = rte_be_to_cpu_16(((const rte_be16_t *)frame->pkt.bth)[-4]);
	if (rp_is_request(frame) && flow->psn[frame->from] == UINT32_MAX)
		flow->psn[frame->from] = frame->pkt.psn;
	learn_mtu(flow, &frame->pkt);
	if (frame->pkt.opcode == IBV_OPCODE_RC_ACKNOWLEDGE) {
		uint8_t syndrome = roce_aeth_syndrome(roce_pkt_aeth(&frame->pkt));

		if ((syndrome & ROCE_AETH_KIND_MASK) == ROCE_AETH_RNR) {
			flow->rnr[frame->from] = true;
			flow->rnr_timer[frame->from] = syndrome & ROCE_AETH_VALUE_MASK;
		}
	}
}

/*
 * A queue pair that says nothing from some request on that wants an answer, though it refused nothing: its program has
 * destroyed it.
 */
static void
find_death(struct rp_capture *capture, int index, uint8_t side)
{
	uint32_t *dead_at = &capture->flow[index].dead_at[side];

	for (uint32_t i = 0; i < capture->frames; i++) {
		const struct rp_frame *frame = &capture->frame[i];

		if (frame->flow != index || !frame->icrc_ok)
			continue;
		if (frame->from == side)
			*dead_at = RP_NEVER;
		else if (rp_is_request(frame) && frame->pkt.ack_req && *dead_at == RP_NEVER)
			*dead_at = i;
	}
}

void
rp_flows_find(struct rp_capture *capture)
{
	find_conns(capture);
	for (uint32_t i = 0; i < capture->frames; i++) {
		struct rp_frame *frame = &capture->frame[i];

		if (frame->pkt.dest_qp == ROCE_QPN_GSI)
			continue;
		frame->flow = flow_of(capture, frame);
		learn(&capture->flow[frame->flow], frame);
	}
	for (int i = 0; i < capture->flows; i++) {
		for (unsigned int side = 0; side < RP_SIDES; side++) {
			/* A side that never asked for anything. */
			if (capture->flow[i].psn[side] == UINT32_MAX)
				capture->flow[i].psn[side] = 0;
			find_death(capture, i, (uint8_t)side);
		}
	}
}
