/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages of others at the neighbour table (neigh_msg.c), and its answers, compared with frames that scapy made. */

#include "neigh_scene.h"

UNIT_RULE(rx__answers_questions_about_us)
{
	struct roce_neigh *n = *state;

	assert_true(HEAR(n, peer_ask4, START));
	ASSERT_SAYS(n, answer4, START);
	assert_known(n, &peer4, &mac_peer, START);
	assert_true(HEAR(n, peer_ask6, START));
	ASSERT_SAYS(n, answer6, START);
	assert_known(n, &peer6, &mac_peer, START);
	assert_true(HEAR(n, peer_ask6_bare, START));
	ASSERT_SAYS(n, answer6, START);
}

/* RFC 5227, RFC 4862: who asks without an address is answered and not learned. */
UNIT_RULE(rx__answers_probes_without_learning)
{
	struct roce_neigh *n = *state;

	assert_true(HEAR(n, peer_probe4, START));
	ASSERT_SAYS(n, answer4_probe, START);
	assert_true(HEAR(n, peer_dad6, START));
	ASSERT_SAYS(n, answer6_dad, START);
	assert_true(roce_neigh_deadline(n) == ROCE_NEVER);
	assert_int_equal(resolve(n, &peer4, START), -EAGAIN);
}

UNIT_RULE(rx__learns_from_answers_only_what_was_asked)
{
	struct roce_neigh *n = *state;

	assert_true(HEAR(n, peer_answer4, START));
	assert_true(HEAR(n, peer_answer6, START));
	assert_false(roce_neigh_changed(n));
	assert_int_equal(resolve(n, &peer4, START), -EAGAIN);
	assert_int_equal(resolve(n, &peer6, START), -EAGAIN);
}

/* RFC 4861 7.2.5: without the override flag a known address stays; an unknown one is taken. */
UNIT_RULE(rx__lets_only_override_change_an_address)
{
	struct roce_neigh *n = *state;

	assert_int_equal(resolve(n, &peer6, START), -EAGAIN);
	assert_true(HEAR(n, peer_answer6_meek, START));
	assert_known(n, &peer6, &mac_meek, START);
	assert_true(HEAR(n, peer_answer6, START));
	assert_known(n, &peer6, &mac_peer, START);
	roce_neigh_changed(n);
	assert_true(HEAR(n, peer_answer6_meek, START));
	assert_known(n, &peer6, &mac_peer, START);
	assert_false(roce_neigh_changed(n));
}

UNIT_RULE(rx__keeps_to_its_network)
{
	struct roce_neigh_config c = config();
	struct roce_neigh *tagged;

	assert_false(HEAR(*state, peer_answer4_tagged, START));
	c.vlan_tci = 7;
	tagged = create(&c);
	assert_false(HEAR(tagged, peer_ask4, START));
	assert_int_equal(resolve(tagged, &peer4, START), -EAGAIN);
	ASSERT_SAYS(tagged, ask4_tagged, START);
	assert_true(HEAR(tagged, peer_answer4_tagged, START));
	assert_known(tagged, &peer4, &mac_peer, START);
	roce_neigh_destroy(tagged);
}

/* A tag that the device took out of the frame is as good as one that is in it, and one tag is the most. */
UNIT_RULE(rx__sees_a_tag_that_was_stripped)
{
	static const struct {
		uint16_t ours, stripped;
		const uint8_t *frame;
		size_t len;
		bool heard;
	} rule[] = {
		{ 0, 0, peer_ask4, sizeof(peer_ask4), true },
		{ 0, 5 << 13, peer_ask4, sizeof(peer_ask4), true },
		{ 0, 7, peer_ask4, sizeof(peer_ask4), false },
		{ 7, 7, peer_ask4, sizeof(peer_ask4), true },
		{ 7, 5 << 13 | 7, peer_ask6, sizeof(peer_ask6), true },
		{ 7, 8, peer_ask6, sizeof(peer_ask6), false },
		{ 3 << 13, 0, peer_ask4, sizeof(peer_ask4), true },
		{ 3 << 13 | 7, 7, peer_ask4, sizeof(peer_ask4), true },
		{ 7, 7, peer_answer4_tagged, sizeof(peer_answer4_tagged), false },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_neigh_config c = config();
		struct roce_neigh *n;
		struct rte_mbuf *m = unit_mbuf(rule[i].frame, (uint32_t)rule[i].len);

		c.vlan_tci = rule[i].ours;
		n = create(&c);
		/* So that an answer could be of use. */
		assert_int_equal(resolve(n, &peer4, START), -EAGAIN);
		m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
		m->vlan_tci = rule[i].stripped;
		if (roce_neigh_rx(n, m, START) != rule[i].heard)
			fail_msg("rule %zu", i);
		rte_pktmbuf_free(m);
		roce_neigh_destroy(n);
	}
}

/* Every cut of every frame, and every single byte bent: no read beyond the end, nothing learned from the cut ones. */
UNIT_RULE(rx__survives_damage)
{
	static const struct {
		const uint8_t *frame;
		size_t len, need;
	} frames[] = {
		{ peer_ask4, sizeof(peer_ask4), 42 },
		{ peer_answer4_tagged, sizeof(peer_answer4_tagged), 46 },
		{ peer_ask6, sizeof(peer_ask6), sizeof(peer_ask6) },
		{ peer_dad6, sizeof(peer_dad6), sizeof(peer_dad6) },
		{ peer_answer6, sizeof(peer_answer6), sizeof(peer_answer6) },
	};
	struct roce_neigh *n = *state;
	uint8_t bent[128];

	for (size_t f = 0; f < RTE_DIM(frames); f++) {
		for (size_t len = 0; len < frames[f].need; len++)
			assert_false(hear_bytes(n, frames[f].frame, len, START));
		for (size_t i = 0; i < frames[f].len * 8; i++) {
			memcpy(bent, frames[f].frame, frames[f].len);
			bent[i / 8] ^= (uint8_t)(1u << i % 8);
			hear_bytes(n, bent, frames[f].len, START);
		}
	}
	/* The checksum guards all from the source address (byte 22) on: no single bit gets through. */
	for (size_t i = 176; i < sizeof(peer_ask6) * 8; i++) {
		memcpy(bent, peer_ask6, sizeof(peer_ask6));
		bent[i / 8] ^= (uint8_t)(1u << i % 8);
		assert_false(hear_bytes(n, bent, sizeof(peer_ask6), START));
	}
}

/* RFC 4861 4.6, 7.1: an option of length 0, or longer than what is left, spoils the whole; unknown ones are skipped. */
UNIT_RULE(rx__judges_options)
{
	static const struct {
		uint8_t type, len8;
		bool good;
	} rule[] = {
		{ 1, 1, true },
		{ 14, 1, true },
		{ 1, 0, false },
		{ 1, 2, false },
		{ 14, 255, false },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct {
			uint8_t shift[2]; /* the headers are aligned then */
			uint8_t bytes[sizeof(peer_ask6)];
		} __rte_aligned(8) frame;
		struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)(frame.bytes + 14);

		memcpy(frame.bytes, peer_ask6, sizeof(frame.bytes));
		frame.bytes[78] = rule[i].type;
		frame.bytes[79] = rule[i].len8;
		memset(&frame.bytes[56], 0, 2);
		*(rte_be16_t *)&frame.bytes[56] = rte_ipv6_udptcp_cksum(ip, ip + 1);
		assert_int_equal(hear_bytes(*state, frame.bytes, sizeof(frame.bytes), START),
				rule[i].good);
	}
}

UNIT_RULE(rx__leaves_others_alone)
{
	uint8_t frame[sizeof(peer_ask4)];
	struct roce_neigh *n = *state;

	assert_false(HEAR(n, ask4, START)); /* about the peer, said by somebody with our address */
	memcpy(frame, peer_ask4, sizeof(frame));
	frame[41] = 9; /* about 192.0.2.9 */
	assert_false(HEAR(n, frame, START));
	memcpy(frame, peer_ask4, sizeof(frame));
	memset(frame + 22, 0xff, 6); /* claims the broadcast address */
	assert_false(HEAR(n, frame, START));
	memcpy(frame, peer_answer4, sizeof(frame));
	frame[5] ^= 1; /* to somebody else */
	assert_false(HEAR(n, frame, START));
	assert_true(roce_neigh_deadline(n) == ROCE_NEVER);
}

/* Unknown peers fill what is free and push out nobody; a question of ours finds room. */
UNIT_RULE(rx__cannot_push_out_what_is_in_use)
{
	uint8_t frame[sizeof(peer_ask4)];
	struct roce_neigh_config c = config();
	struct rte_mbuf *m[32];
	struct roce_neigh *n;
	uint16_t said;

	c.addr[0].prefix = 8;
	n = create(&c);
	assert_int_equal(roce_neigh_add(n, &gw4, &mac_meek), 0);
	HEAR(n, peer_ask4, START - HZ);
	for (uint32_t i = 0; i < 2 * ROCE_NEIGH_MAX; i++) {
		memcpy(frame, peer_ask4, sizeof(frame));
		frame[29] = (uint8_t)(i >> 8); /* 192.x.x.2 */
		frame[30] = (uint8_t)i;
		frame[28] = 192;
		HEAR(n, frame, START);
		said = roce_neigh_tx(n, m, 32, START);
		rte_pktmbuf_free_bulk(m, said);
	}
	assert_known(n, &gw4, &mac_meek, START);
	assert_known(n, &peer4, &mac_peer, START);
	assert_int_equal(resolve(n, &peer6, START), -EAGAIN);
	ASSERT_SAYS(n, ask6, START);
	HEAR(n, peer_answer6, START);
	assert_known(n, &peer6, &mac_peer, START);
	roce_neigh_destroy(n);
}
