/* SPDX-License-Identifier: BSD-3-Clause */

/* The neighbour table: who is asked, when and how often, and what is said. */

#include "neigh_scene.h"

UNIT_RULE_IN(create__wants_the_gateway_near, NULL, NULL)
{
	/* Of others, ours, the network's and everybody's. */
	const struct roce_ip bad[] = { far4, us4,
		{ .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000200) } },
		{ .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc00002ff) } } };
	struct roce_neigh_config c = config();
	struct roce_neigh *n = NULL;

	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		c.gw = bad[i];
		assert_int_equal(roce_neigh_create(&c, &n), -EINVAL);
	}
	assert_null(n);
	roce_neigh_destroy(NULL);
}

UNIT_RULE(resolve__judges_the_address)
{
	static const struct {
		struct roce_ip dst;
		int want;
	} rule[] = {
		{ { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000201) } },
				-EHOSTUNREACH }, /* ours */
		{ { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc00002ff) } }, -ENETUNREACH },
		{ { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000200) } }, -ENETUNREACH },
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

UNIT_RULE(resolve__asks_and_learns)
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

UNIT_RULE(resolve__goes_through_the_gateway)
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

UNIT_RULE(resolve__takes_a_told_address_for_good)
{
	struct roce_neigh *n = *state;

	assert_int_equal(roce_neigh_add(n, &peer4, &mac_meek), 0);
	assert_known(n, &peer4, &mac_meek, START);
	assert_true(HEAR(n, peer_answer4, START));
	assert_known(n, &peer4, &mac_meek, START + 3600 * HZ);
	assert_silent(n, START + 3600 * HZ);
	assert_true(roce_neigh_deadline(n) == ROCE_NEVER);
}

/* Four questions a second, unreachable after five seconds, forgotten three seconds later. */
UNIT_RULE(resolve__gives_up_and_forgives)
{
	struct roce_neigh *n = *state;

	assert_int_equal(resolve(n, &peer4, START), -EAGAIN);
	for (unsigned int i = 0; i < 20; i++) {
		ASSERT_SAYS(n, ask4, START + i * HZ / 4);
		assert_silent(n, START + i * HZ / 4 + HZ / 4 - 1);
	}
	assert_int_equal(resolve(n, &peer4, START + 5 * HZ - 1), -EAGAIN);
	assert_int_equal(roce_neigh_deadline(n), START + 5 * HZ);
	assert_silent(n, START + 5 * HZ);
	assert_true(roce_neigh_changed(n));
	assert_int_equal(resolve(n, &peer4, START + 5 * HZ), -EHOSTUNREACH);
	assert_silent(n, START + 8 * HZ - 1);
	assert_int_equal(resolve(n, &peer4, START + 8 * HZ - 1), -EHOSTUNREACH);
	assert_silent(n, START + 8 * HZ);
	assert_int_equal(resolve(n, &peer4, START + 8 * HZ), -EAGAIN);
}

UNIT_RULE(resolve__believes_a_late_answer)
{
	struct roce_neigh *n = *state;

	assert_int_equal(resolve(n, &peer4, START), -EAGAIN);
	for (unsigned int i = 0; i < 20; i++)
		ASSERT_SAYS(n, ask4, START + i * HZ / 4);
	assert_silent(n, START + 5 * HZ);
	assert_true(HEAR(n, peer_answer4, START + 6 * HZ));
	assert_known(n, &peer4, &mac_peer, START + 6 * HZ);
}

/* An address in use is asked for again, by unicast, and serves meanwhile; one nobody wants is forgotten. */
UNIT_RULE(timer__checks_what_is_wanted)
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

UNIT_RULE(timer__asks_everybody_when_the_neighbour_is_silent)
{
	struct roce_neigh *n = *state;
	uint64_t now = START;

	assert_int_equal(resolve(n, &peer6, now), -EAGAIN);
	ASSERT_SAYS(n, ask6, now);
	HEAR(n, peer_answer6, now);
	assert_known(n, &peer6, &mac_peer, now);
	roce_neigh_changed(n);
	now += 30 * HZ;
	for (unsigned int i = 0; i < 20; i++, now += HZ / 4)
		ASSERT_SAYS(n, ask6_unicast, now);
	for (unsigned int i = 0; i < 20; i++, now += HZ / 4) {
		ASSERT_SAYS(n, ask6, now);
		assert_int_equal(resolve(n, &peer6, now), -EAGAIN);
	}
	assert_silent(n, now);
	assert_true(roce_neigh_changed(n));
	assert_int_equal(resolve(n, &peer6, now), -EHOSTUNREACH);
}

/* Other addresses: they are asked from and answered for, and who is near none of them any more is forgotten. */
UNIT_RULE(set_addrs__changes_who_is_near)
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
	/* A neighbour that is still wanted would be asked again by now. */
	roce_neigh_set_addrs(n, &all[3], 1);
	assert_silent(n, START + 60 * HZ);
	assert_false(HEAR(n, peer_ask4, START));
	assert_silent(n, START + 60 * HZ);
}

/* A device that takes nothing for a while loses no question; one that takes nothing at all ends the waiting. */
UNIT_RULE(tx__without_room_runs_the_timers)
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

UNIT_RULE(tx__answers_as_many_as_there_is_room_for)
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
