/* SPDX-License-Identifier: BSD-3-Clause */

/* The neighbour table and its messages (neigh_msg.c), held against frames that scapy made. A tick is a millisecond. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_ip.h>

#include "neigh_golden.h"
#include "port/neigh.h"
#include "port/neigh_msg.h"
#include "unit.h"

#define HZ    UINT64_C(1000)
#define START UINT64_C(50000)

static const struct rte_ether_addr mac_us = { { 0x02, 0x00, 0xc0, 0x00, 0x02, 0x01 } };
static const struct rte_ether_addr mac_peer = { { 0x02, 0x00, 0xc0, 0x00, 0x02, 0x02 } };
static const struct rte_ether_addr mac_meek = { { 0x02, 0x00, 0xc0, 0x00, 0x02, 0x77 } };

static const struct roce_ip us4 = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000201) } };
static const struct roce_ip peer4 = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000202) } };
static const struct roce_ip gw4 = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc00002fe) } };
static const struct roce_ip far4 = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xcb007101) } };
static const struct roce_ip us6 = { .w = { RTE_BE32(0x20010db8), 0, 0, RTE_BE32(1) } };
static const struct roce_ip peer6 = { .w = { RTE_BE32(0x20010db8), 0, 0, RTE_BE32(2) } };
static const struct roce_ip far6 = { .w = { RTE_BE32(0x20010db9), 0, 0, RTE_BE32(2) } };

static const struct roce_subnet own[] = {
	{ { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000201) } }, 24 },
	{ { .w = { RTE_BE32(0x20010db8), 0, 0, RTE_BE32(1) } }, 64 },
};

static void *
alloc_zeroed(void *arg, size_t size)
{
	return calloc(1, size);
}

static void
free_plain(void *arg, void *p)
{
	free(p);
}

static struct roce_neigh_config
config(void)
{
	return (struct roce_neigh_config){
		.hz = HZ,
		.mac = mac_us,
		.addr = { { us4, 24 }, { us6, 64 } },
		.addrs = 2,
		.pool = unit_pool(),
		.memory = { .alloc = alloc_zeroed, .free = free_plain },
	};
}

static struct roce_neigh *
create(const struct roce_neigh_config *c)
{
	struct roce_neigh *n = NULL;

	assert_int_equal(roce_neigh_create(c, &n), 0);
	return n;
}

static int
setup(void **state)
{
	struct roce_neigh_config c = config();

	*state = create(&c);
	return 0;
}

static int
teardown(void **state)
{
	roce_neigh_destroy(*state);
	return unit_pool_is_full() ? 0 : -1;
}

static bool
hear_bytes(struct roce_neigh *n, const uint8_t *frame, size_t len, uint64_t now)
{
	struct rte_mbuf *m = unit_mbuf_exact(frame, (uint32_t)len);
	bool ours = roce_neigh_rx(n, m, now);

	unit_mbuf_exact_free(m);
	return ours;
}

#define HEAR(n, frame, now) hear_bytes(n, frame, sizeof(frame), now)

/* The next thing it says is exactly this frame, and nothing more. */
static void
assert_says_bytes(struct roce_neigh *n, const uint8_t *frame, size_t len, uint64_t now)
{
	struct rte_mbuf *m[4];

	assert_true(roce_neigh_deadline(n) <= now);
	assert_int_equal(roce_neigh_tx(n, m, 4, now), 1);
	assert_int_equal(m[0]->pkt_len, len);
	assert_int_equal(m[0]->data_len, len);
	assert_memory_equal(rte_pktmbuf_mtod(m[0], void *), frame, len);
	rte_pktmbuf_free(m[0]);
}

#define ASSERT_SAYS(n, frame, now) assert_says_bytes(n, frame, sizeof(frame), now)

static void
assert_silent(struct roce_neigh *n, uint64_t now)
{
	struct rte_mbuf *m[4];

	assert_int_equal(roce_neigh_tx(n, m, 4, now), 0);
}

static int
resolve(struct roce_neigh *n, const struct roce_ip *dst, uint64_t now)
{
	struct roce_neigh_hop hop;

	return roce_neigh_resolve(n, own, RTE_DIM(own), dst, &hop, now);
}

static void
assert_known(struct roce_neigh *n, const struct roce_ip *dst, const struct rte_ether_addr *mac,
		uint64_t now)
{
	struct roce_neigh_hop hop;

	assert_int_equal(roce_neigh_resolve(n, own, RTE_DIM(own), dst, &hop, now), 0);
	assert_memory_equal(&hop.mac, mac, sizeof(*mac));
	assert_memory_equal(&hop.src, roce_ip_is_v4(dst) ? &us4 : &us6, sizeof(hop.src));
}

static void
create__wants_the_gateway_near(void **state)
{
	struct roce_neigh_config c = config();
	struct roce_neigh *n = NULL;

	c.gw = far4;
	assert_int_equal(roce_neigh_create(&c, &n), -EINVAL);
	c.gw = us4;
	assert_int_equal(roce_neigh_create(&c, &n), -EINVAL);
	assert_null(n);
	roce_neigh_destroy(NULL);
}

static void
resolve__judges_the_address(void **state)
{
	static const struct {
		struct roce_ip dst;
		int want;
	} rule[] = {
		{ { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000201) } },
				-EHOSTUNREACH }, /* ours */
		{ { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc00002ff) } }, -ENETUNREACH },
		{ { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xffffffff) } }, -ENETUNREACH },
		{ { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xe0000001) } }, -ENETUNREACH },
		{ { .w = { 0, 0, RTE_BE32(0xffff), 0 } }, -ENETUNREACH },
		{ { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xcb007101) } },
				-ENETUNREACH }, /* far */
		{ { .w = { 0, 0, 0, 0 } }, -ENETUNREACH },
		{ { .w = { RTE_BE32(0xff020000), 0, 0, RTE_BE32(1) } }, -ENETUNREACH },
		{ { .w = { RTE_BE32(0x20010db9), 0, 0, RTE_BE32(2) } }, -ENETUNREACH }, /* far */
		{ { .w = { RTE_BE32(0x20010db8), 0, 0, RTE_BE32(2) } }, -EAGAIN },
		{ { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000202) } }, -EAGAIN },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++)
		assert_int_equal(resolve(*state, &rule[i].dst, START), rule[i].want);
}

static void
resolve__asks_and_learns(void **state)
{
	struct roce_neigh *n = *state;

	assert_true(roce_neigh_deadline(n) == ROCE_NEVER);
	assert_int_equal(resolve(n, &peer4, START), -EAGAIN);
	ASSERT_SAYS(n, ask4, START);
	assert_silent(n, START);
	assert_int_equal(resolve(n, &peer4, START), -EAGAIN);
	assert_false(roce_neigh_changed(n));
	assert_true(HEAR(n, peer_answer4, START));
	assert_true(roce_neigh_changed(n));
	assert_false(roce_neigh_changed(n));
	assert_known(n, &peer4, &mac_peer, START);

	assert_int_equal(resolve(n, &peer6, START), -EAGAIN);
	ASSERT_SAYS(n, ask6, START);
	assert_true(HEAR(n, peer_answer6, START));
	assert_true(roce_neigh_changed(n));
	assert_known(n, &peer6, &mac_peer, START);
}

static void
resolve__goes_through_the_gateway(void **state)
{
	struct roce_neigh_config c = config();
	struct roce_neigh *n;

	c.gw = gw4;
	n = create(&c);
	assert_int_equal(roce_neigh_add(n, &gw4, &mac_meek), 0);
	assert_known(n, &far4, &mac_meek, START);
	assert_int_equal(resolve(n, &peer4, START), -EAGAIN);
	/* A gateway leads only its own family. */
	assert_int_equal(resolve(n, &far6, START), -ENETUNREACH);
	roce_neigh_destroy(n);
}

static void
resolve__takes_a_told_address_for_good(void **state)
{
	struct roce_neigh *n = *state;

	assert_int_equal(roce_neigh_add(n, &peer4, &mac_meek), 0);
	assert_known(n, &peer4, &mac_meek, START);
	assert_true(HEAR(n, peer_answer4, START));
	assert_known(n, &peer4, &mac_meek, START + 3600 * HZ);
	assert_silent(n, START + 3600 * HZ);
	assert_true(roce_neigh_deadline(n) == ROCE_NEVER);
}

/* Four questions a second, unreachable after three seconds, forgotten three seconds later. */
static void
resolve__gives_up_and_forgives(void **state)
{
	struct roce_neigh *n = *state;

	assert_int_equal(resolve(n, &peer4, START), -EAGAIN);
	for (unsigned int i = 0; i < 12; i++) {
		ASSERT_SAYS(n, ask4, START + i * HZ / 4);
		assert_silent(n, START + i * HZ / 4 + HZ / 4 - 1);
	}
	assert_int_equal(resolve(n, &peer4, START + 3 * HZ - 1), -EAGAIN);
	assert_int_equal(roce_neigh_deadline(n), START + 3 * HZ);
	assert_silent(n, START + 3 * HZ);
	assert_true(roce_neigh_changed(n));
	assert_int_equal(resolve(n, &peer4, START + 3 * HZ), -EHOSTUNREACH);
	assert_silent(n, START + 6 * HZ - 1);
	assert_int_equal(resolve(n, &peer4, START + 6 * HZ - 1), -EHOSTUNREACH);
	assert_silent(n, START + 6 * HZ);
	assert_int_equal(resolve(n, &peer4, START + 6 * HZ), -EAGAIN);
}

static void
resolve__believes_a_late_answer(void **state)
{
	struct roce_neigh *n = *state;

	assert_int_equal(resolve(n, &peer4, START), -EAGAIN);
	for (unsigned int i = 0; i < 12; i++)
		ASSERT_SAYS(n, ask4, START + i * HZ / 4);
	assert_silent(n, START + 3 * HZ);
	assert_true(HEAR(n, peer_answer4, START + 4 * HZ));
	assert_known(n, &peer4, &mac_peer, START + 4 * HZ);
}

/* An address in use is asked for again, by unicast, and serves meanwhile; one nobody wants is forgotten. */
static void
timer__checks_what_is_wanted(void **state)
{
	struct roce_neigh *n = *state;
	uint64_t now = START;

	assert_int_equal(resolve(n, &peer4, now), -EAGAIN);
	ASSERT_SAYS(n, ask4, now);
	HEAR(n, peer_answer4, now);
	assert_known(n, &peer4, &mac_peer, now);
	roce_neigh_changed(n);
	assert_int_equal(roce_neigh_deadline(n), now + HZ / 4);
	assert_silent(n, now + HZ / 4);
	assert_int_equal(roce_neigh_deadline(n), now + 30 * HZ);

	now += 30 * HZ;
	ASSERT_SAYS(n, ask4_unicast, now);
	assert_known(n, &peer4, &mac_peer, now);
	HEAR(n, peer_answer4, now);
	assert_false(roce_neigh_changed(n));

	now += 30 * HZ;
	assert_silent(n, now);
	assert_int_equal(resolve(n, &peer4, now), -EAGAIN);
}

static void
timer__asks_everybody_when_the_neighbour_is_silent(void **state)
{
	struct roce_neigh *n = *state;
	uint64_t now = START;

	assert_int_equal(resolve(n, &peer6, now), -EAGAIN);
	ASSERT_SAYS(n, ask6, now);
	HEAR(n, peer_answer6, now);
	assert_known(n, &peer6, &mac_peer, now);
	roce_neigh_changed(n);
	now += 30 * HZ;
	for (unsigned int i = 0; i < 12; i++, now += HZ / 4)
		ASSERT_SAYS(n, ask6_unicast, now);
	for (unsigned int i = 0; i < 12; i++, now += HZ / 4) {
		ASSERT_SAYS(n, ask6, now);
		assert_int_equal(resolve(n, &peer6, now), -EAGAIN);
	}
	assert_silent(n, now);
	assert_true(roce_neigh_changed(n));
	assert_int_equal(resolve(n, &peer6, now), -EHOSTUNREACH);
}

static void
rx__answers_questions_about_us(void **state)
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
static void
rx__answers_probes_without_learning(void **state)
{
	struct roce_neigh *n = *state;

	assert_true(HEAR(n, peer_probe4, START));
	ASSERT_SAYS(n, answer4_probe, START);
	assert_true(HEAR(n, peer_dad6, START));
	ASSERT_SAYS(n, answer6_dad, START);
	assert_true(roce_neigh_deadline(n) == ROCE_NEVER);
	assert_int_equal(resolve(n, &peer4, START), -EAGAIN);
}

static void
rx__learns_from_answers_only_what_was_asked(void **state)
{
	struct roce_neigh *n = *state;

	assert_true(HEAR(n, peer_answer4, START));
	assert_true(HEAR(n, peer_answer6, START));
	assert_false(roce_neigh_changed(n));
	assert_int_equal(resolve(n, &peer4, START), -EAGAIN);
	assert_int_equal(resolve(n, &peer6, START), -EAGAIN);
}

/* RFC 4861 7.2.5: without the override flag a known address stays; an unknown one is taken. */
static void
rx__lets_only_override_change_an_address(void **state)
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

static void
rx__keeps_to_its_network(void **state)
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
static void
rx__sees_a_tag_that_was_stripped(void **state)
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

/* Other addresses: they are asked from and answered for, and who is near none of them any more is forgotten. */
static void
set_addrs__changes_who_is_near(void **state)
{
	static const struct roce_ip new4 = { .w = { 0, 0, RTE_BE32(0xffff),
							     RTE_BE32(0xcb007163) } };
	static const struct roce_ip more4 = { .w = { 0, 0, RTE_BE32(0xffff),
							      RTE_BE32(0xc0000263) } };
	const struct roce_subnet all[] = { { us4, 24 }, { more4, 24 }, { new4, 24 }, { us6, 64 } };
	struct roce_neigh *n = *state;
	struct roce_neigh_hop hop;

	roce_neigh_set_addrs(n, all, RTE_DIM(all));
	assert_int_equal(roce_neigh_add(n, &far4, &mac_meek), 0);
	/* From an address that is near, if it is one of those that are offered. */
	assert_int_equal(roce_neigh_resolve(n, all, 3, &far4, &hop, START), 0);
	assert_memory_equal(&hop.src, &new4, sizeof(new4));
	assert_int_equal(roce_neigh_resolve(n, all, 2, &far4, &hop, START), -ENETUNREACH);
	assert_int_equal(roce_neigh_resolve(n, &all[2], 1, &peer4, &hop, START), -ENETUNREACH);
	/* Another address of ours is behind our own, on a wire that comes back; the one that speaks is nowhere. */
	assert_int_equal(roce_neigh_resolve(n, &all[1], 1, &us4, &hop, START), 0);
	assert_memory_equal(&hop.src, &more4, sizeof(more4));
	assert_memory_equal(&hop.mac, &mac_us, sizeof(mac_us));
	assert_int_equal(roce_neigh_resolve(n, &all[1], 1, &more4, &hop, START), -EHOSTUNREACH);
	assert_silent(n, START);

	assert_true(HEAR(n, peer_ask4, START));
	ASSERT_SAYS(n, answer4, START);
	assert_known(n, &peer4, &mac_peer, START);
	/* Who is wanted would be asked again by now. */
	roce_neigh_set_addrs(n, &all[3], 1);
	assert_silent(n, START + 60 * HZ);
	assert_false(HEAR(n, peer_ask4, START));
	assert_silent(n, START + 60 * HZ);
}

/* Every cut of every frame, and every single byte bent: no read beyond the end, nothing learned from the cut ones. */
static void
rx__survives_damage(void **state)
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
static void
rx__judges_options(void **state)
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

static void
rx__leaves_others_alone(void **state)
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

/* Strangers fill what is free and push out nobody; a question of ours finds room. */
static void
rx__cannot_push_out_what_is_in_use(void **state)
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

/* A device that takes nothing for a while loses no question; one that takes nothing at all ends the waiting. */
static void
tx__without_room_runs_the_timers(void **state)
{
	struct roce_neigh *n = *state;
	uint64_t now = START;

	assert_int_equal(resolve(n, &peer4, now), -EAGAIN);
	assert_int_equal(roce_neigh_tx(n, NULL, 0, now + HZ / 8), 0);
	assert_true(roce_neigh_deadline(n) <= now + HZ / 8);
	ASSERT_SAYS(n, ask4, now + HZ / 8);
	for (now += HZ / 8; resolve(n, &peer4, now) == -EAGAIN; now += HZ / 20) {
		assert_int_equal(roce_neigh_tx(n, NULL, 0, now), 0);
		assert_true(now < START + 10 * HZ);
	}
	assert_int_equal(resolve(n, &peer4, now), -EHOSTUNREACH);
}

static void
tx__answers_as_many_as_there_is_room_for(void **state)
{
	struct roce_neigh *n = *state;
	struct rte_mbuf *m[64];

	for (int i = 0; i < 40; i++)
		HEAR(n, peer_ask4, START);
	assert_int_equal(roce_neigh_tx(n, m, 5, START), 5);
	assert_int_equal(roce_neigh_deadline(n), 0);
	assert_int_equal(roce_neigh_tx(n, m + 5, 59, START), 27);
	rte_pktmbuf_free_bulk(m, 32);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(create__wants_the_gateway_near),
		TEST(resolve__judges_the_address),
		TEST(resolve__asks_and_learns),
		TEST(resolve__goes_through_the_gateway),
		TEST(resolve__takes_a_told_address_for_good),
		TEST(resolve__gives_up_and_forgives),
		TEST(resolve__believes_a_late_answer),
		TEST(timer__checks_what_is_wanted),
		TEST(timer__asks_everybody_when_the_neighbour_is_silent),
		TEST(rx__answers_questions_about_us),
		TEST(rx__answers_probes_without_learning),
		TEST(rx__learns_from_answers_only_what_was_asked),
		TEST(rx__lets_only_override_change_an_address),
		TEST(rx__keeps_to_its_network),
		TEST(rx__sees_a_tag_that_was_stripped),
		TEST(set_addrs__changes_who_is_near),
		TEST(rx__survives_damage),
		TEST(rx__judges_options),
		TEST(rx__leaves_others_alone),
		TEST(rx__cannot_push_out_what_is_in_use),
		TEST(tx__without_room_runs_the_timers),
		TEST(tx__answers_as_many_as_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
