/* SPDX-License-Identifier: BSD-3-Clause */

#include "cm_talk.h"

#define L2_LEN 14
#define L3_LEN 20
#define BTH_AT (L2_LEN + L3_LEN + 8)

static struct roce_cm_mad
rtu_mad(void)
{
	struct roce_cm_msg msg = { .attr = ROCE_CM_ATTR_RTU, .local_id = 1, .remote_id = 2 };
	struct roce_cm_mad mad;

	roce_cm_msg_encode(&msg, &mad);
	return mad;
}

/* A connection made by hand; @return our id of it, the peer's is 0x2222 and its queue pair 0x333. */
static uint32_t
established(struct end *end)
{
	struct roce_cm_msg req = {
		.tid = 0x1111,
		.local_id = 0x2222,
		.attr = ROCE_CM_ATTR_REQ,
		.param = { .qpn = 0x333, .mtu_code = 3, .ack_timeout = 14 },
		.req = { .service_id = SERVICE, .remote_gid = end->ip },
	};
	struct roce_cm_msg rtu = { .attr = ROCE_CM_ATTR_RTU, .local_id = 0x2222 };

	world_listen(end, 4);
	hear(end, &req);
	assert_int_equal(speak(end), 1);
	rtu.remote_id = last_msg().local_id;
	hear(end, &rtu);
	assert_string_equal(told_all(end), "QE");
	return rtu.remote_id;
}

/* The headers in front of a MAD as Linux sends them: BTH with AckReq, DETH, 322 bytes in all. Only MigReq differs. */
UNIT_RULE(frame__looks_like_linux)
{
	static const uint8_t bth[] = { 0x64, 0x00, 0xff, 0xff, 0, 0, 0, 1, 0x80 };
	static const uint8_t deth[] = { 0x80, 0x01, 0, 0, 0, 0, 0, 1 };
	uint32_t psn[2];

	for (unsigned int i = 0; i < 2; i++) {
		world_connect(active, UINT64_MAX);
		assert_int_equal(speak(active), 1);
		assert_int_equal(world->last_len, 322);
		world->last[BTH_AT + 1] &= (uint8_t)~ROCE_BTH_MIGREQ;
		assert_memory_equal(world->last + BTH_AT, bth, sizeof(bth));
		assert_memory_equal(world->last + BTH_AT + 12, deth, sizeof(deth));
		assert_true(world->last[L2_LEN + L3_LEN] >= 0xc0); /* source port 49152 and more */
		psn[i] = (uint32_t)world->last[BTH_AT + 9] << 16 |
				(uint32_t)world->last[BTH_AT + 10] << 8 | world->last[BTH_AT + 11];
	}
	assert_int_equal(psn[1], (psn[0] + 1) & 0xffffff);
}

/* A frame that is no datagram between two general services is counted and gone. */
UNIT_RULE(rx__takes_only_datagrams_for_itself)
{
	static const struct {
		uint32_t at;
		uint8_t byte;
		const char *what;
	} wrong[] = {
		{ 0, 0x01, "to a group" },
		{ 6, 0x01, "from a group" },
		{ BTH_AT + 12, 0x00, "key" },
		{ BTH_AT + 19, 0x02, "source queue pair" },
		{ BTH_AT + 20, 0x02, "version" },
		{ BTH_AT + 21, 0x03, "class" },
		{ BTH_AT + 20 + 17, 0x20, "attribute" },
	};
	struct roce_cm_mad mad = rtu_mad();

	for (size_t i = 0; i < RTE_DIM(wrong); i++) {
		struct rte_mbuf *m = forge(passive, &mad);
		struct roce_pkt pkt;

		*rte_pktmbuf_mtod_offset(m, uint8_t *, wrong[i].at) = wrong[i].byte;
		assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
		passive->gsi.rx(passive->gsi.arg, &pkt, world->now);
		rte_pktmbuf_free(m);
		if (roce_cm_stats(passive->cm)->rx_malformed != i + 1)
			fail_msg("taken: wrong %s", wrong[i].what);
	}
	assert_int_equal(roce_cm_stats(passive->cm)->rx_rtu, 0);
	assert_int_equal(speak(passive), 0);
}

/*
 * Shorter, longer, and of another kind: what the parser lets through is not yet a MAD.
 *
 * Proves: rc.R24
 */
UNIT_RULE(rx__wants_a_whole_mad)
{
	struct roce_cm_mad mad = rtu_mad();
	struct rte_mbuf *m = forge(passive, &mad);
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	pkt.payload_len = ROCE_MAD_LEN - 4;
	passive->gsi.rx(passive->gsi.arg, &pkt, world->now);
	pkt.payload_len = ROCE_MAD_LEN + 4;
	passive->gsi.rx(passive->gsi.arg, &pkt, world->now);
	pkt.payload_len = ROCE_MAD_LEN;
	pkt.opcode = IBV_OPCODE_RC_SEND_ONLY;
	passive->gsi.rx(passive->gsi.arg, &pkt, world->now);
	assert_int_equal(roce_cm_stats(passive->cm)->rx_malformed, 3);
	rte_pktmbuf_free(m);
}

/* The headers are in the first segment, the MAD may be cut anywhere. */
UNIT_RULE(rx__takes_a_mad_in_segments)
{
	struct roce_cm_mad mad = rtu_mad();

	for (uint32_t cut = BTH_AT + 20; cut < 322; cut += 13) {
		struct rte_mbuf *whole = forge(passive, &mad);

		world_deliver(passive, unit_mbuf_chain(rte_pktmbuf_mtod(whole, void *), 322, cut));
		rte_pktmbuf_free(whole);
	}
	assert_int_equal(roce_cm_stats(passive->cm)->rx_malformed, 0);
	assert_true(roce_cm_stats(passive->cm)->rx_rtu > 10);
}

/* Messages of an unknown peer: a DREQ is answered, a REP is refused, all others meet silence. */
UNIT_RULE(unknown_peer__is_answered_once_or_not_at_all)
{
	static const struct {
		uint16_t attr, answer;
	} rule[] = {
		{ ROCE_CM_ATTR_MRA, 0 },
		{ ROCE_CM_ATTR_REJ, 0 },
		{ ROCE_CM_ATTR_REP, ROCE_CM_ATTR_REJ },
		{ ROCE_CM_ATTR_RTU, 0 },
		{ ROCE_CM_ATTR_DREQ, ROCE_CM_ATTR_DREP },
		{ ROCE_CM_ATTR_DREP, 0 },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_cm_msg msg = { .tid = 9,
			.local_id = 0x77,
			.remote_id = 0x88,
			.attr = rule[i].attr,
			.param.qpn = 5 };
		struct roce_cm_msg said;

		hear(passive, &msg);
		assert_int_equal(speak(passive), rule[i].answer != 0);
		if (rule[i].answer == 0)
			continue;
		said = last_msg();
		assert_fields(said, (attr, rule[i].answer), (remote_id, 0x77));
		assert_true(said.tid == 9);
		if (said.attr == ROCE_CM_ATTR_REJ) {
			assert_int_equal(said.reason, ROCE_CM_REJ_INVALID_COMM_ID);
			assert_int_equal(said.about, ROCE_CM_ABOUT_REP);
		} else {
			assert_int_equal(said.local_id, 0x88);
		}
	}
	assert_int_equal(roce_cm_stats(passive->cm)->rx_unknown, RTE_DIM(rule));
}

/* A message must name both ids and the queue pair, and come from the peer to the address it was given. */
UNIT_RULE(rx__judges_the_source)
{
	uint32_t id = established(passive);
	struct roce_cm_msg dreq = { .attr = ROCE_CM_ATTR_DREQ,
		.tid = 0x5555,
		.local_id = 0x2222,
		.remote_id = id,
		.qpn = 0x10100 };
	struct roce_cm_msg wrong = dreq;

	wrong.local_id++;
	hear(passive, &wrong);
	wrong = dreq;
	wrong.qpn++;
	hear(passive, &wrong);
	/* We are the passive side: a REP is not for us. */
	wrong = dreq;
	wrong.attr = ROCE_CM_ATTR_REP;
	wrong.param.qpn = 0x333;
	hear(passive, &wrong);
	assert_int_equal(roce_cm_stats(passive->cm)->rx_wrong_ids, 3);

	other(passive)->ip.b[15] ^= 0x40;
	hear(passive, &dreq);
	other(passive)->ip.b[15] ^= 0x40;
	passive->ip.b[15] ^= 0x40;
	hear(passive, &dreq);
	passive->ip.b[15] ^= 0x40;
	assert_int_equal(roce_cm_stats(passive->cm)->rx_wrong_source, 2);
	assert_int_equal(speak(passive), 0);
	assert_string_equal(told_all(passive), "QE");

	hear(passive, &dreq);
	assert_string_equal(told_all(passive), "QED");
	assert_int_equal(speak(passive), 1);
	assert_int_equal(last_msg().attr, ROCE_CM_ATTR_DREP);
	/* The transaction is the peer's own, not that of the REQ. */
	assert_int_equal(last_msg().tid, 0x5555);
	/* Its DREP was lost: said again, in time wait and for ever after. */
	hear(passive, &dreq);
	assert_int_equal(speak(passive), 1);
	world_settle();
	hear(passive, &dreq);
	assert_int_equal(speak(passive), 1);
	roce_cm_release(passive->told[1].conn, world->now);
	hear(passive, &dreq);
	assert_int_equal(speak(passive), 1);
	assert_int_equal(last_msg().attr, ROCE_CM_ATTR_DREP);
	assert_int_equal(roce_cm_stats(passive->cm)->rx_unknown, 1);
}

/* The client died before our REP reached it: it does not know our id, and its REJ still finds us. */
UNIT_RULE(rx__knows_a_client_that_does_not_know_us)
{
	struct roce_cm_conn *conn;

	world_listen(passive, 1);
	world->lose = 1 << 1;
	conn = world_connect(active, UINT64_MAX);
	world_run_ms(1);
	assert_int_equal(in_state(passive, ROCE_CM_STATE_REP_SENT), 1);
	passive->release_on_down = true;
	roce_cm_release(conn, world->now);
	world_run_ms(1);
	assert_string_equal(told_all(passive), "QR");
	assert_int_equal(passive->told[1].reason, ROCE_CM_REJ_TIMEOUT);
}

UNIT_RULE(rep__said_again_is_confirmed_again)
{
	struct roce_cm_conn *conn;

	world_listen(passive, 1);
	/* Two RTUs are lost: the REP comes at 0, 200 and 600 ms. */
	world->lose = 1 << 2 | 1 << 4;
	conn = world_connect(active, UINT64_MAX);
	world_run_ms(1000);
	expect_told("P", "QE");
	assert_int_equal(roce_cm_stats(active->cm)->tx_rtu, 3);

	/* A REP after the end of the connection is refused. */
	passive->release_on_down = true;
	roce_cm_disconnect(conn, world->now);
	world_run_ms(1);
	{
		struct roce_cm_msg rep = { .attr = ROCE_CM_ATTR_REP,
			.remote_id = conn->local_id,
			.local_id = conn->remote_id,
			.param.qpn = 5 };

		hear(active, &rep);
		assert_int_equal(speak(active), 1);
		assert_int_equal(last_msg().reason, ROCE_CM_REJ_INVALID_COMM_ID);
	}
}

/* Ended before the RTU was fetched: the peer hears both, in this order, and so learns that it was up. */
UNIT_RULE(rtu__goes_before_the_dreq)
{
	struct rte_mbuf *pkts[4];
	struct roce_cm_msg rep = { .attr = ROCE_CM_ATTR_REP, .local_id = 7, .param.qpn = 5 };
	struct roce_cm_conn *conn = world_connect(active, UINT64_MAX);
	struct roce_cm_mad mad;

	assert_int_equal(speak(active), 1);
	rep.remote_id = conn->local_id;
	hear(active, &rep);
	assert_true(roce_cm_disconnect(conn, world->now));
	assert_int_equal(active->gsi.tx(active->gsi.arg, pkts, 4, world->now), 2);
	memcpy(&mad, rte_pktmbuf_mtod_offset(pkts[0], void *, BTH_AT + 20), sizeof(mad));
	assert_int_equal(mad.hdr.attr, RTE_BE16(ROCE_CM_ATTR_RTU));
	memcpy(&mad, rte_pktmbuf_mtod_offset(pkts[1], void *, BTH_AT + 20), sizeof(mad));
	assert_int_equal(mad.hdr.attr, RTE_BE16(ROCE_CM_ATTR_DREQ));
	rte_pktmbuf_free_bulk(pkts, 2);
}

/* A REJ, lost: the peer says its request again and hears it again. The consumer is asked once. */
UNIT_RULE(rej__is_said_again)
{
	world_listen(passive, 1);
	passive->policy = POLICY_REJECT;
	world->lose = 1 << 1 | 1 << 3;
	active->release_on_down = true;
	world_connect(active, UINT64_MAX);
	world_settle();
	assert_string_equal(told_all(active), "R");
	assert_string_equal(active->told[0].private_data, "no");
	assert_string_equal(told_all(passive), "Q");
	assert_int_equal(connections(active), 0);
	assert_int_equal(connections(passive), 0);
}

/* No buffer to send with: what is owed waits, nothing is lost, and the deadline is now. */
UNIT_RULE(tx__waits_for_buffers)
{
	static struct rte_mbuf *all[2048];
	struct roce_cm_msg dreq = { .attr = ROCE_CM_ATTR_DREQ, .local_id = 3, .remote_id = 4 };
	struct rte_mbuf *pkts[4];
	unsigned int n = 0;

	world_connect(active, UINT64_MAX);
	hear(active, &dreq);
	while (n < RTE_DIM(all) && (all[n] = rte_pktmbuf_alloc(unit_pool())) != NULL)
		n++;
	assert_int_equal(active->gsi.tx(active->gsi.arg, pkts, 4, world->now), 0);
	assert_int_equal(roce_cm_stats(active->cm)->tx_no_mbuf, 1);
	assert_int_equal(active->gsi.deadline(active->gsi.arg), 0);
	rte_pktmbuf_free(all[--n]);
	assert_int_equal(active->gsi.tx(active->gsi.arg, pkts, 4, world->now), 1);
	rte_pktmbuf_free(pkts[0]);
	assert_int_equal(active->gsi.deadline(active->gsi.arg), 0);
	rte_pktmbuf_free_bulk(all, n);
	/* Also one at a time. */
	assert_int_equal(active->gsi.tx(active->gsi.arg, pkts, 1, world->now), 1);
	rte_pktmbuf_free(pkts[0]);
	assert_true(active->gsi.deadline(active->gsi.arg) > world->now);
	assert_fields(*roce_cm_stats(active->cm), (tx_req, 1), (tx_drep, 1));
}

/* A flood of unknown peers fills a small queue and no more. */
UNIT_RULE(answer__queue_is_bounded)
{
	for (unsigned int i = 0; i < 500; i++) {
		struct roce_cm_msg dreq = {
			.attr = ROCE_CM_ATTR_DREQ, .local_id = i, .remote_id = i
		};

		hear(passive, &dreq);
	}
	assert_int_equal(speak(passive), ROCE_CM_ANSWERS);
	assert_int_equal(roce_cm_stats(passive->cm)->answers_lost, 500 - ROCE_CM_ANSWERS);
}

/* SplitMix64, for a reproducible flood. */
static uint64_t
next_random(uint64_t *s)
{
	uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Half random, half aimed at connections that exist: never more than one message back for each. */
UNIT_RULE(rx__survives_hostility)
{
	uint64_t seed = 42;
	uint32_t id = established(passive);
	unsigned int out = 0, frames = 20000;

	passive->policy = POLICY_REFUSE;
	passive->release_on_down = true;
	for (unsigned int i = 0; i < frames; i++) {
		struct roce_cm_msg msg = { .attr = (uint16_t)(ROCE_CM_ATTR_REQ + i % 7) };
		struct roce_cm_mad mad;
		uint8_t *bytes = (uint8_t *)&mad;

		roce_cm_msg_encode(&msg, &mad);
		for (unsigned int k = sizeof(mad.hdr); k < sizeof(mad); k++)
			bytes[k] = (uint8_t)next_random(&seed);
		if (i % 2 == 0)
			mad.rtu.remote_comm_id = rte_cpu_to_be_32(id);
		if (i % 4 == 0)
			mad.rtu.local_comm_id = RTE_BE32(0x2222);
		if (msg.attr == ROCE_CM_ATTR_REQ && i % 3 == 0) {
			mad.req.service_id = rte_cpu_to_be_64(SERVICE);
			mad.req.private_data[0] = 0;
			mad.req.private_data[1] = 0x40;
		}
		world_deliver(passive, forge(passive, &mad));
		out += speak(passive);
		world->now += MS;
	}
	/* One for each frame, and now and then a repeat of our own. */
	assert_true(out <= frames + roce_cm_stats(passive->cm)->repeats);
	world_settle();
}
