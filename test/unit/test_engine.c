/* SPDX-License-Identifier: BSD-3-Clause */
/* A poll of an engine: what becomes of a frame, who gets it, and whose turn it is. */

#include <string.h>

#include "engine_scene.h"

#define IP_FRAG  20 /* offsets into an untagged IPv4 frame */
#define IP_DST   30
#define UDP_DST  36
#define UDP_LEN  38
#define BTH_PKEY 44
#define PAYLOAD  54

static int
setup(void **state)
{
	open_ordinary_scene();
	fx_fill_srq(&end, 200, 64);
	return 0;
}

static struct rte_mbuf *
foreign(uint8_t mark)
{
	uint8_t bytes[64] = { 0 };

	bytes[12] = 0x08;
	bytes[13] = 0x06; /* ARP */
	bytes[20] = mark;
	return unit_mbuf(bytes, sizeof(bytes));
}

/* Foreign frames stay with the caller: in front, in order, untouched; for every mixture and burst. */
UNIT_RULE(rx__leaves_foreign_frames_in_front)
{
	unsigned int seed = 5;
	uint32_t arrived = 0;

	for (unsigned int round = 0; round < 200; round++) {
		struct rte_mbuf *pkts[100], *want[100];
		uint16_t n = (uint16_t)(rand_r(&seed) % 101);
		uint16_t others = 0;
		struct roce_event event[100];
		unsigned int ours;

		for (uint16_t i = 0; i < n; i++) {
			if (rand_r(&seed) % 4 == 0)
				pkts[i] = want[others++] = foreign((uint8_t)i);
			else
				pkts[i] = request(arrived++);
		}
		ours = n - others;
		if (ours > roce_srq_available(end.srq))
			fx_fill_srq(&end, ours - roce_srq_available(end.srq), 64);
		assert_int_equal(feed(end.engine, pkts, n), others);
		for (uint16_t i = 0; i < others; i++) {
			assert_ptr_equal(pkts[i], want[i]);
			assert_int_equal(rte_mbuf_refcnt_read(pkts[i]), 1);
			rte_pktmbuf_free(pkts[i]);
		}
		assert_int_equal(roce_cq_poll(end.recv_cq, event, 100), ours);
	}
	assert_int_equal(fx_stats(&end)->rx_send_requests, arrived);
}

/* Each kind of broken frame has its counter, is consumed, and disturbs nothing. */
UNIT_RULE(rx__counts_what_it_drops)
{
	static const struct {
		const char *what;
		uint32_t offset;
		uint8_t value;
		size_t counter;
	} rule[] = {
#define COUNTER(name) offsetof(struct roce_stats, name)
		{ "fragment", IP_FRAG, 0x20, COUNTER(rx_malformed_fragment) },
		{ "UDP length", UDP_LEN + 1, 9, COUNTER(rx_malformed_length) },
		{ "opcode", BTH, 0xff, COUNTER(rx_malformed_opcode) },
		{ "version", BTH + 1, 0x41, COUNTER(rx_malformed_version) },
		{ "partition", BTH_PKEY, 0x12, COUNTER(rx_malformed_pkey) },
		{ "payload", PAYLOAD, 0x99, COUNTER(rx_icrc_encapsulated) },
		{ "number", BTH + 6, 0x42, COUNTER(rx_icrc_encapsulated) },
		/* Fields that the ICRC covers as they are: a change is seen as that. */
		{ "PSN", BTH + 11, 0x42, COUNTER(rx_icrc_encapsulated) },
#undef COUNTER
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		const uint8_t *stats = (const uint8_t *)fx_stats(&end);
		struct rte_mbuf *m = request(0);
		uint64_t before, after;

		patch(m, rule[i].offset, rule[i].value);
		memcpy(&before, stats + rule[i].counter, sizeof(before));
		assert_int_equal(feed(end.engine, &m, 1), 0);
		memcpy(&after, stats + rule[i].counter, sizeof(after));
		if (after != before + 1)
			fail_msg("%s is not counted", rule[i].what);
	}
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	assert_int_equal(end.async_events, 0);
	fx_tx_none(&end);
}

/* A frame for another address is another's, whatever its queue pair number. */
UNIT_RULE(rx__knows_its_addresses)
{
	static const uint32_t broken[][2] = { { IP_FRAG, 0x20 }, { UDP_LEN + 1, 9 }, { BTH, 0xff },
		{ BTH + 1, 0x41 }, { BTH_PKEY, 0x12 } };
	struct rte_mbuf *m = request(0);

	patch(m, IP_DST + 3, 77);
	assert_int_equal(feed(end.engine, &m, 1), 1);
	assert_int_equal(fx_stats(&end)->rx_foreign, 1);
	rte_pktmbuf_free(m);
	m = request(0);
	patch(m, UDP_DST, 0);
	assert_int_equal(feed(end.engine, &m, 1), 1);
	rte_pktmbuf_free(m);
	/* Also one that would be dropped if it were for us: whoever it is for may understand it. */
	for (size_t i = 0; i < RTE_DIM(broken); i++) {
		m = request(0);
		patch(m, IP_DST + 3, 77);
		patch(m, broken[i][0], (uint8_t)broken[i][1]);
		assert_int_equal(feed(end.engine, &m, 1), 1);
		rte_pktmbuf_free(m);
	}
}

enum tagged {
	UNTAGGED,
	INSIDE,
	STRIPPED
};

static struct rte_mbuf *
tag(struct rte_mbuf *m, enum tagged where, uint16_t tci)
{
	m->vlan_tci = tci;
	if (where == INSIDE)
		assert_int_equal(rte_vlan_insert(&m), 0);
	if (where == STRIPPED)
		m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	return m;
}

/* IEEE 802.1Q: a frame is of the VLAN that its tag names, wherever the tag is. A tag that names none is for a priority. */
UNIT_RULE(rx__knows_its_vlan)
{
	static const struct {
		uint16_t ours;
		enum tagged where;
		uint16_t tci;
		bool foreign;
	} rule[] = {
		{ 0, UNTAGGED, 0, false },
		{ 0, INSIDE, 0, false },
		{ 0, INSIDE, 5 << 13, false },
		{ 0, INSIDE, 7, true },
		{ 0, INSIDE, 5 << 13 | 7, true },
		{ 0, STRIPPED, 5 << 13, false },
		{ 0, STRIPPED, 7, true },
		{ 7, INSIDE, 7, false },
		{ 7, INSIDE, 5 << 13 | 7, false },
		{ 7, STRIPPED, 7, false },
		{ 7, STRIPPED, 5 << 13 | 7, false },
		{ 7, UNTAGGED, 0, true },
		{ 7, INSIDE, 5 << 13, true },
		{ 7, INSIDE, 8, true },
		{ 7, INSIDE, 0x0007 | 0x0800, true },
		{ 7, STRIPPED, 8, true },
		{ 7, STRIPPED, 0, true },
	};
	uint32_t arrived = 0;

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct rte_mbuf *m = tag(request(arrived), rule[i].where, rule[i].tci);
		uint64_t foreign = fx_stats(&end)->rx_foreign;
		uint16_t left;

		end.domain->config.vid = rule[i].ours;
		left = feed(end.engine, &m, 1);
		if (left != rule[i].foreign)
			fail_msg("rule %zu: %u left", i, left);
		assert_int_equal(fx_stats(&end)->rx_foreign - foreign, left);
		if (left > 0)
			rte_pktmbuf_free(m);
		else
			arrived++;
		assert_int_equal(fx_stats(&end)->rx_send_requests, arrived);
	}
	/* Also one that would be dropped if it were for us. */
	for (size_t i = 0; i < 2; i++) {
		struct rte_mbuf *m = request(arrived);

		patch(m, BTH, 0xff);
		m = tag(m, i == 0 ? INSIDE : STRIPPED, 8);
		assert_int_equal(feed(end.engine, &m, 1), 1);
		rte_pktmbuf_free(m);
	}
	end.domain->config.vid = 0;
}

static struct rte_mbuf *
from_unknown_peer(uint8_t last, uint32_t dest_qp, uint32_t number)
{
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(last), 0x777);
	struct fx_peer unknown = fx_peer_of(qp, &connect);

	((struct roce_bth *)(unknown.template.bytes + BTH))->dest_qp = rte_cpu_to_be_32(dest_qp);
	return fx_request(&unknown, ONLY, PSN + number, 8, FX_ACKREQ);
}

/* A good frame for nobody, or from somebody else than the peer: dropped without an answer and without harm. */
UNIT_RULE(rx__believes_only_the_peer)
{
	const uint32_t number = roce_qp_number(qp);

	fx_rx(&end, from_unknown_peer(99, number + 1, 0));
	fx_rx(&end, from_unknown_peer(99, number + ROCE_QPS_MAX, 0));
	fx_rx(&end, from_unknown_peer(99, 0, 0));
	fx_rx(&end, from_unknown_peer(99, ROCE_QPN_MULTICAST, 0));
	assert_int_equal(fx_stats(&end)->rx_unknown_qp, 4);
	fx_rx(&end, from_unknown_peer(98, number, 0));
	fx_rx(&end, from_unknown_peer(98, number, 1));
	assert_int_equal(fx_stats(&end)->rx_wrong_source, 2);
	fx_tx_none(&end);
	fx_rx(&end, from_unknown_peer(99, number, 0));
	assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_SUCCESS);
}

/* In RESET and ERR a queue pair hears nothing. */
UNIT_RULE(rx__depends_on_the_state)
{
	fx_to_error(qp);
	fx_rx(&end, request(0));
	fx_to_reset(qp);
	fx_rx(&end, request(0));
	fx_rx(&end, fx_answer(&peer, FX_ACK, FX_SQ_PSN, 0));
	assert_int_equal(fx_stats(&end)->rx_wrong_state, 3);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	fx_tx_none(&end);
}

/* Data for a passive end whose RTU was lost: told once, and taken. An answer or a datagram proves nothing. */
UNIT_RULE(rx__of_data_in_rtr_establishes)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);

	roce_engine_lock(end.engine);
	roce_qp_to_reset(qp);
	assert_int_equal(roce_qp_to_rtr(qp, &connect), 0);
	roce_engine_unlock(end.engine);
	fx_rx(&end, fx_answer(&peer, FX_ACK, FX_SQ_PSN, 0));
	fx_rx(&end, fx_request(&peer, IBV_OPCODE_UD_SEND_ONLY, FX_RQ_PSN, 8, 0));
	assert_int_equal(end.async_events, 0);
	fx_rx(&end, request(0));
	fx_expect_async(&end, 1, ROCE_ENGINE_ASYNC_QP_ESTABLISHED);
	assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_SUCCESS);
	/* The connection manager may take its time to bring it to RTS. */
	fx_rx(&end, request(1));
	assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_SUCCESS);
	assert_int_equal(end.async_events, 1);
}

/* However much room there is, nobody sends more than its share before the others had their turn. */
UNIT_RULE(tx__takes_turns)
{
	struct roce_qp *other[3];
	struct fx_peer its_peer;
	struct rte_mbuf *pkts[512];
	uint32_t sent_by[4] = { 0 };
	uint16_t n;

	for (unsigned int k = 0; k < 3; k++)
		other[k] = fx_played_qp(&end, &its_peer);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(fx_send(&end, qp, i, 0, 8, 0), 0);
		for (unsigned int k = 0; k < 3; k++)
			assert_int_equal(fx_send(&end, other[k], i, 16 * (k + 1), 8, 0), 0);
	}
	for (uint32_t polls = 1; polls <= 4; polls++) {
		n = fx_take(&end, pkts, 512);
		for (uint16_t i = 0; i < n; i++) {
			const uint8_t first = *rte_pktmbuf_mtod_offset(pkts[i], uint8_t *, PAYLOAD);

			for (unsigned int k = 0; k < 4; k++)
				sent_by[k] += first == end.memory[16 * k];
		}
		rte_pktmbuf_free_bulk(pkts, n);
		for (unsigned int k = 0; k < 4; k++)
			assert_int_equal(sent_by[k], RTE_MIN(polls * ROCE_QUANTUM, 100u));
	}
	for (unsigned int k = 0; k < 3; k++)
		roce_qp_destroy(other[k]);
}

/* An acknowledgement leaves before requests of the same queue pair. */
UNIT_RULE(tx__answers_first)
{
	const struct fx_sent *sent;

	assert_int_equal(fx_send(&end, qp, 0, 0, 8, 0), 0);
	fx_rx_request(&end, &peer, ONLY, PSN, 8, FX_ACKREQ);
	sent = fx_tx_exactly(&end, 2);
	assert_int_equal(sent[0].opcode, IBV_OPCODE_RC_ACKNOWLEDGE);
	assert_int_equal(sent[1].opcode, ONLY);
}

/* Two ends, both ways at once, one shared queue each: everything arrives once, whole and in order. */
UNIT_RULE(world__of_two_ends)
{
	static struct fx_end other;
	struct roce_qp *far, *near;
	unsigned int seed = 11;

	fx_end_open(&other, 2, NULL);
	near = fx_qp(&end, NULL);
	far = fx_qp(&other, NULL);
	fx_join(&end, near, &other, far);
	for (uint64_t i = 0; i < 300; i++) {
		const uint32_t len = (uint32_t)rand_r(&seed) % 8000;
		const uint32_t from = (uint32_t)rand_r(&seed) % 8000;
		struct roce_sge sge;
		struct roce_recv_wr wr = fx_recv(&other, &sge, i, 20000, 8000);

		memset(other.memory + 20000, 0x77, 8001);
		assert_int_equal(roce_srq_post(other.srq, &wr), 0);
		assert_int_equal(fx_send(&end, near, i, from, len, ROCE_WR_SIGNALED), 0);
		fx_exchange(&end, &other);
		assert_fields(fx_event(other.recv_cq), (wr_id, i), (byte_len, len));
		assert_memory_equal(other.memory + 20000, end.memory + from, len);
		assert_int_equal(other.memory[20000 + len], 0x77);
		assert_int_equal(fx_event(end.send_cq).wr_id, i);
	}
	assert_int_equal(fx_stats(&end)->retransmits, 0);
	fx_end_close(&other);
}
