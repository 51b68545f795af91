/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our frames against the recorded ones. Answers are compared in their order, flow by flow; requests by their PSN: each
 * one that is new with the recorded one that was new, each repeat with a recorded repeat of that PSN when there is
 * one. Management datagrams are compared with the recorded one of the same connection and kind.
 */

#include <string.h>

#include <rte_ip.h>
#include <rte_udp.h>

#include "replay.h"
#include "unit.h"
#include "wire/icrc.h"

#define FLOW_MASK 0xfffffu

/* Two frames that should be the same. */
struct two {
	struct rp_world *world;
	const struct roce_pkt *ours;
	const struct rp_frame *recorded;
};

static void
equal(const struct two *two, const char *name, uint64_t ours, uint64_t recorded)
{
	if (ours != recorded)
		rp_differ(two->world, name, two->recorded->number, ours, recorded);
}

static void
compare_tos(const struct two *two, uint8_t ours, uint8_t recorded)
{
	equal(two, "ip.dscp", ours & ~ROCE_TOS_ECN, recorded & ~ROCE_TOS_ECN);
	equal(two, "ip.ecn", ours & ROCE_TOS_ECN, recorded & ROCE_TOS_ECN);
}

/* Lengths count without the headers that an opcode brings along: those are compared by themselves. */
static void
compare_v4(const struct two *two)
{
	struct rte_ipv4_hdr a, b;

	memcpy(&a, two->ours->l3, sizeof(a));
	memcpy(&b, two->recorded->pkt.l3, sizeof(b));
	compare_tos(two, a.type_of_service, b.type_of_service);
	equal(two, "ip.length", rte_be_to_cpu_16(a.total_length) - two->ours->op->header_len,
			rte_be_to_cpu_16(b.total_length) - two->recorded->pkt.op->header_len);
	equal(two, "ip.id", rte_be_to_cpu_16(a.packet_id), rte_be_to_cpu_16(b.packet_id));
	equal(two, "ip.fragment", a.fragment_offset, b.fragment_offset);
	equal(two, "ip.ttl", a.time_to_live, b.time_to_live);
}

static void
compare_v6(const struct two *two)
{
	struct rte_ipv6_hdr a, b;

	memcpy(&a, two->ours->l3, sizeof(a));
	memcpy(&b, two->recorded->pkt.l3, sizeof(b));
	compare_tos(two, (uint8_t)(rte_be_to_cpu_32(a.vtc_flow) >> 20),
			(uint8_t)(rte_be_to_cpu_32(b.vtc_flow) >> 20));
	equal(two, "ip6.flow", rte_be_to_cpu_32(a.vtc_flow) & FLOW_MASK,
			rte_be_to_cpu_32(b.vtc_flow) & FLOW_MASK);
	equal(two, "ip6.length", rte_be_to_cpu_16(a.payload_len) - two->ours->op->header_len,
			rte_be_to_cpu_16(b.payload_len) - two->recorded->pkt.op->header_len);
	equal(two, "ip6.hops", a.hop_limits, b.hop_limits);
}

static void
compare_envelope(const struct two *two, const char *sport)
{
	const struct roce_pkt *recorded = &two->recorded->pkt;
	struct roce_ip src[2], dst[2];
	struct rte_udp_hdr a, b;

	roce_pkt_addresses(two->ours, &src[0], &dst[0]);
	roce_pkt_addresses(recorded, &src[1], &dst[1]);
	assert_true(roce_ip_equal(&src[0], &src[1]) && roce_ip_equal(&dst[0], &dst[1]));
	assert_memory_equal(rte_pktmbuf_mtod(two->ours->m, const void *),
			rte_pktmbuf_mtod(recorded->m, const void *), sizeof(struct rte_ether_hdr));
	assert_int_equal(two->ours->v6, recorded->v6);
	if (recorded->v6)
		compare_v6(two);
	else
		compare_v4(two);
	memcpy(&a, two->ours->bth - sizeof(a), sizeof(a));
	memcpy(&b, recorded->bth - sizeof(b), sizeof(b));
	equal(two, sport, rte_be_to_cpu_16(a.src_port), rte_be_to_cpu_16(b.src_port));
	equal(two, "udp.checksum", a.dgram_cksum, b.dgram_cksum);
}

static bool
asks_for_data(const struct roce_pkt *pkt)
{
	return (pkt->op->flags & ROCE_OP_REQUEST) && pkt->op->verb != ROCE_VERB_SEND &&
			pkt->op->verb != ROCE_VERB_WRITE;
}

static bool
is_read_answer(const struct roce_pkt *pkt)
{
	return !(pkt->op->flags & ROCE_OP_REQUEST) && pkt->op->verb == ROCE_VERB_READ;
}

static void
compare_bth(const struct two *two, const char *psn)
{
	struct roce_bth a, b;

	memcpy(&a, two->ours->bth, sizeof(a));
	memcpy(&b, two->recorded->pkt.bth, sizeof(b));
	equal(two, is_read_answer(two->ours) ? "read.opcode" : "bth.opcode", a.opcode, b.opcode);
	equal(two, "bth.solicited", a.flags & ROCE_BTH_SE, b.flags & ROCE_BTH_SE);
	equal(two, "bth.migreq", a.flags & ROCE_BTH_MIGREQ, b.flags & ROCE_BTH_MIGREQ);
	equal(two, "bth.pad", a.flags & ROCE_BTH_PAD_MASK, b.flags & ROCE_BTH_PAD_MASK);
	equal(two, "bth.version", a.flags & ROCE_BTH_TVER_MASK, b.flags & ROCE_BTH_TVER_MASK);
	equal(two, "bth.pkey", a.pkey, b.pkey);
	equal(two, "bth.dest_qp", rte_be_to_cpu_32(a.dest_qp), rte_be_to_cpu_32(b.dest_qp));
	/* READs and atomics are not acknowledged, but answered. */
	equal(two, asks_for_data(two->ours) ? "read.ackreq" : "bth.ackreq", two->ours->ack_req,
			two->recorded->pkt.ack_req);
	equal(two, psn, two->ours->psn, two->recorded->pkt.psn);
}

static void
compare_aeth(const struct two *two)
{
	const struct roce_aeth *a = roce_pkt_aeth(two->ours);
	const struct roce_aeth *b = roce_pkt_aeth(&two->recorded->pkt);
	uint8_t ours = roce_aeth_syndrome(a);
	uint8_t recorded = roce_aeth_syndrome(b);

	if ((ours & ROCE_AETH_KIND_MASK) != (recorded & ROCE_AETH_KIND_MASK))
		equal(two, "aeth.kind", ours, recorded);
	else if ((ours & ROCE_AETH_KIND_MASK) != ROCE_AETH_ACK)
		equal(two, "aeth.code", ours, recorded);
	else if ((recorded & ROCE_AETH_VALUE_MASK) == ROCE_CREDIT_INVALID)
		equal(two, "aeth.credits", ours, recorded);
	else
		equal(two, "aeth.syndrome", ours, recorded);
	equal(two, "aeth.msn", roce_aeth_msn(a), roce_aeth_msn(b));
}

static void
compare_payload(const struct two *two)
{
	const struct roce_pkt *recorded = &two->recorded->pkt;

	if (two->ours->payload_len != recorded->payload_len)
		equal(two, "payload.length", two->ours->payload_len, recorded->payload_len);
	else if (memcmp(rp_payload(two->ours), rp_payload(recorded), recorded->payload_len) != 0)
		equal(two, "payload.bytes", 1, 0);
}

/* The headers that only some opcodes have, and the payload. */
static void
compare_rest(const struct two *two)
{
	const struct roce_pkt *recorded = &two->recorded->pkt;
	uint32_t from = sizeof(struct roce_bth);
	uint32_t until = recorded->op->header_len;

	if (two->ours->opcode != recorded->opcode) {
		compare_payload(two);
		return;
	}
	if (recorded->op->flags & ROCE_OP_AETH) {
		compare_aeth(two);
		from = recorded->op->aeth_off + sizeof(struct roce_aeth);
	}
	if (memcmp(two->ours->bth + from, recorded->bth + from, until - from) != 0)
		equal(two, "bth.extension", recorded->op->flags, 0);
	compare_payload(two);
}

static void
take(struct rp_world *world, const struct rp_frame *frame)
{
	bool *taken = &world->taken[frame - world->capture->frame];

	world->result->matched += !*taken;
	*taken = true;
}

static void
compare(struct rp_world *world, const struct roce_pkt *ours, const struct rp_frame *recorded)
{
	const struct two two = { world, ours, recorded };

	compare_envelope(&two, "udp.sport");
	compare_bth(&two, "bth.psn");
	compare_rest(&two);
	take(world, recorded);
}

/* ---- answers ---- */

static bool
is_answer_of(const struct rp_end *end, const struct rp_frame *frame)
{
	return frame->flow == end->index && frame->from == end->world->me && !rp_is_request(frame);
}

static bool
same_kind(const struct roce_pkt *a, const struct roce_pkt *b)
{
	if (a->opcode != b->opcode)
		return is_read_answer(a) && is_read_answer(b);
	return a->opcode != IBV_OPCODE_RC_ACKNOWLEDGE ||
			((roce_aeth_syndrome(roce_pkt_aeth(a)) ^
					 roce_aeth_syndrome(roce_pkt_aeth(b))) &
					ROCE_AETH_KIND_MASK) == 0;
}

/*
 * The recorded answer that ours should be: the next one; or a later one, when Linux said more in between. One of another
 * kind when there is none of this kind.
 */
static const struct rp_frame *
find_answer(const struct rp_end *end, const struct roce_pkt *ours)
{
	const struct rp_capture *capture = end->world->capture;
	const struct rp_frame *other = NULL;

	for (uint32_t i = end->answer; i < capture->frames; i++) {
		const struct rp_frame *frame = &capture->frame[i];

		if (!is_answer_of(end, frame) || frame->pkt.psn != ours->psn)
			continue;
		if (same_kind(&frame->pkt, ours))
			return frame;
		if (other == NULL && frame->pkt.opcode == ours->opcode)
			other = frame;
	}
	return other;
}

static void
skip_answers(struct rp_end *end, uint32_t until)
{
	const struct rp_capture *capture = end->world->capture;

	for (; end->answer < until; end->answer++) {
		if (is_answer_of(end, &capture->frame[end->answer]))
			rp_differ(end->world, "answer.fewer", capture->frame[end->answer].number, 0,
					capture->frame[end->answer].pkt.psn);
	}
}

static void
judge_answer(struct rp_end *end, const struct roce_pkt *ours)
{
	struct rp_world *world = end->world;
	const struct rp_frame *recorded = find_answer(end, ours);

	if (recorded == NULL) {
		rp_differ(world, "answer.more", 0, ours->psn, ours->opcode);
		return;
	}
	skip_answers(end, (uint32_t)(recorded - world->capture->frame));
	end->answer++;
	compare(world, ours, recorded);
}

/* ---- requests ---- */

/* A recorded request with that PSN, new or repeated, that none of ours was held against. */
static const struct rp_frame *
find_request(const struct rp_end *end, uint32_t psn, bool repeats)
{
	const struct rp_world *world = end->world;

	for (uint32_t i = 0; i < world->capture->frames; i++) {
		const struct rp_frame *frame = &world->capture->frame[i];

		if (frame->flow == end->index && frame->from == world->me && rp_is_request(frame) &&
				frame->repeats == repeats && frame->pkt.psn == psn &&
				!world->taken[i])
			return frame;
	}
	return NULL;
}

static uint32_t
packets_of(const struct rp_end *end, const struct roce_pkt *ours)
{
	uint32_t mtu = end->world->capture->flow[end->index].mtu;

	if (ours->op->verb != ROCE_VERB_READ)
		return 1;
	return RTE_MAX((rte_be_to_cpu_32(roce_pkt_reth(ours)->length) + mtu - 1) / mtu, 1u);
}

/* A repeat that was not recorded still says what was said before. */
static void
compare_repeat(struct rp_end *end, const struct roce_pkt *ours)
{
	const struct rp_world *world = end->world;
	const struct rp_frame *first =
			rp_frame_find(world->capture, end->index, world->me, true, ours->psn);
	const struct two two = { end->world, ours, first };

	if (first == NULL)
		return;
	equal(&two, "bth.opcode", ours->opcode, first->pkt.opcode);
	compare_rest(&two);
}

static void
judge_request(struct rp_end *end, const struct roce_pkt *ours)
{
	struct rp_world *world = end->world;
	int32_t ahead = roce_psn_diff(ours->psn, end->sent);
	const struct rp_frame *recorded = find_request(end, ours->psn, ahead < 0);
	struct rp_place place;

	/* No PSN may be left out. */
	if (ahead > 0)
		rp_differ(world, "request.gap", 0, ours->psn, end->sent);
	if (ahead >= 0)
		end->sent = roce_psn_add(ours->psn, packets_of(end, ours));
	if (recorded != NULL) {
		compare(world, ours, recorded);
		return;
	}
	place = (struct rp_place){ world, NULL, end->index, -1, ours->psn, ours->opcode };
	rp_differ_at(&place, ahead < 0 ? "repeat.more" : "request.more");
	compare_repeat(end, ours);
}

/* The name of a recorded request that we did not send. */
static const char *
unsaid(const struct rp_world *world, const struct rp_frame *frame)
{
	const struct rp_frame *nak = NULL;

	if (!frame->repeats)
		return "request.fewer";
	/* Was it sent for the first time behind a message that had been refused for now? */
	for (uint32_t i = 0; i < world->capture->frames; i++) {
		const struct rp_frame *other = &world->capture->frame[i];

		if (other->flow != frame->flow)
			continue;
		if (other->from == world->peer && rp_says(other, ROCE_AETH_RNR))
			nak = other;
		if (nak != NULL && other->from == world->me && rp_is_request(other) &&
				!other->repeats && other->pkt.psn == frame->pkt.psn)
			return "rnr.goes_on";
	}
	return "repeat.fewer";
}

/* ---- management ---- */

enum {
	MORE,
	FEWER,
};

static const char *const mad_name[][ROCE_CM_ATTR_DREP - ROCE_CM_ATTR_REQ + 1] = {
	[MORE] = { "mad.more.req", "mad.more.mra", "mad.more.rej", "mad.more.rep", "mad.more.rtu",
			"mad.more.dreq", "mad.more.drep" },
	[FEWER] = { "mad.fewer.req", "mad.fewer.mra", "mad.fewer.rej", "mad.fewer.rep",
			"mad.fewer.rtu", "mad.fewer.dreq", "mad.fewer.drep" },
};

static int
conn_of(const struct rp_world *world, const struct roce_cm_msg *msg)
{
	for (int i = 0; i < world->capture->conns; i++) {
		const struct rp_conn *conn = &world->capture->conn[i];

		if (msg->attr == ROCE_CM_ATTR_REQ ? conn->active == world->me &&
								conn->req->msg.param.qpn ==
										msg->param.qpn &&
								conn->req->msg.param.psn ==
										msg->param.psn
						  : conn->id[world->peer] == msg->remote_id)
			return i;
	}
	return -1;
}

static const struct rp_frame *
find_mad(const struct rp_world *world, int conn, uint16_t attr)
{
	for (uint32_t i = 0; i < world->capture->frames; i++) {
		const struct rp_frame *frame = &world->capture->frame[i];

		if (frame->conn == conn && frame->from == world->me && frame->msg.attr == attr &&
				!world->taken[i])
			return frame;
	}
	return NULL;
}

static bool
said_before(const struct rp_world *world, int conn, uint16_t attr)
{
	for (uint32_t i = 0; i < world->capture->frames; i++) {
		const struct rp_frame *frame = &world->capture->frame[i];

		if (world->taken[i] && frame->conn == conn && frame->msg.attr == attr)
			return true;
	}
	return false;
}

/* Ids are ours to choose, but not twice. */
static void
check_ids(struct rp_world *world, int conn, const struct roce_cm_msg *msg)
{
	struct rp_link *link = &world->link[conn];

	if (link->id == 0) {
		link->id = msg->local_id;
		link->tid = msg->tid;
	}
	if (link->id != msg->local_id)
		rp_differ(world, "mad.other_id", 0, msg->local_id, link->id);
	if ((msg->attr == ROCE_CM_ATTR_RTU || msg->attr == ROCE_CM_ATTR_REP) &&
			link->tid != msg->tid)
		rp_differ(world, "mad.other_tid", 0, msg->tid, link->tid);
}

static void
judge_mad(struct rp_world *world, const struct roce_pkt *ours)
{
	const struct roce_cm_mad *mad = (const void *)rp_payload(ours);
	const struct rp_frame *recorded;
	struct roce_cm_msg msg;
	struct rp_place place;
	struct two two;
	int conn;

	assert_true(roce_cm_msg_decode(mad, &msg));
	conn = conn_of(world, &msg);
	if (conn < 0) {
		rp_differ(world, "mad.stray", 0, msg.attr, msg.remote_id);
		return;
	}
	check_ids(world, conn, &msg);
	recorded = find_mad(world, conn, msg.attr);
	if (recorded == NULL) {
		place = (struct rp_place){ world, NULL, -1, conn, msg.attr, 0 };
		rp_differ_at(&place,
				said_before(world, conn, msg.attr)
						? "mad.repeat"
						: mad_name[MORE][msg.attr - ROCE_CM_ATTR_REQ]);
		return;
	}
	two = (struct two){ world, ours, recorded };
	compare_envelope(&two, "udp.gsi_sport");
	compare_bth(&two, "bth.gsi_psn");
	rp_mad_compare(world, recorded, mad);
	take(world, recorded);
}

void
rp_judge(struct rp_world *world, struct rte_mbuf *m)
{
	const struct rp_capture *capture = world->capture;
	struct rp_end *end = NULL;
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	assert_true(roce_icrc_ok(&pkt));
	for (int i = 0; i < capture->flows; i++) {
		if (capture->flow[i].qpn[world->peer] == pkt.dest_qp)
			end = &world->end[i];
	}
	if (pkt.dest_qp == ROCE_QPN_GSI)
		judge_mad(world, &pkt);
	else if (end == NULL)
		rp_differ(world, "bth.dest_qp", 0, pkt.dest_qp, 0);
	else if (pkt.op->flags & ROCE_OP_REQUEST)
		judge_request(end, &pkt);
	else
		judge_answer(end, &pkt);
	rte_pktmbuf_free(m);
}

void
rp_judge_finish(struct rp_world *world)
{
	const struct rp_capture *capture = world->capture;

	for (int i = 0; i < capture->flows; i++)
		skip_answers(&world->end[i], capture->frames);
	for (uint32_t i = 0; i < capture->frames; i++) {
		const struct rp_frame *frame = &capture->frame[i];

		if (frame->from != world->me || world->taken[i])
			continue;
		if (frame->flow < 0)
			rp_differ(world, mad_name[FEWER][frame->msg.attr - ROCE_CM_ATTR_REQ],
					frame->number, 0, frame->msg.attr);
		else if (rp_is_request(frame))
			rp_differ(world, unsaid(world, frame), frame->number, 0, frame->pkt.psn);
	}
}
