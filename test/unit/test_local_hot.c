/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which channels are polled: local/bell.h, and that part of local/receive.c. Process 5 is under test; its peers have
 * the numbers from 10 on, and each is connected to the queue pair whose place is its number.
 */

#include "local_rig.h"

#define SELF  5u
#define FIRST 10u
#define PEERS 12u

#define POLLED 8u    /**< channels at most */
#define IDLE   4097u /**< polls after which a channel is polled no more */
#define YIELDS 64u   /**< polls after which it makes room for another */
#define SCAN   64u   /**< polls between two looks without a hint */
/** Polls within which every channel is looked at without a hint. */
#define LOOKED_AT 8192u

static struct roce_local *local;
static struct roce_channel *peer[PEERS];

static int
setup(void **state)
{
	local = rig_open(SELF);
	for (uint32_t i = 0; i < PEERS; i++) {
		peer[i] = rig_play(local, FIRST + i);
		rig_set_peer(local, FIRST + i, FIRST + i);
	}
	/* Channels that are new are looked into once. */
	rig_poll_none(local, 1);
	assert_int_equal(local->hots, 0);
	return 0;
}

static int
teardown(void **state)
{
	rig_close(local);
	assert_true(unit_pool_is_full());
	return 0;
}

/* The peer sends @p n frames as its publish and bell tell. @return did it ring? */
static bool
send(uint32_t i, unsigned int n)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, FIRST + i) };
	uint8_t bytes[RIG_V4_LEN];
	const uint32_t len = rig_bytes(bytes, &frame);

	while (n-- > 0) {
		bool broken = false;
		uint8_t *to = roce_ring_put(&peer[i]->tx, len, &broken);

		assert_non_null(to);
		memcpy(to, bytes, len);
	}
	if (!roce_ring_publish(&peer[i]->tx))
		return false;
	(void)roce_bell_ring(local->bell, FIRST + i);
	return true;
}

/* It sends, and is received at the next poll: then it is polled. */
static void
warm(uint32_t i)
{
	assert_true(send(i, 1));
	assert_int_equal(rig_poll(local, NULL), 1);
}

/* ---- bell.h ---- */

static struct roce_bell bell;

static unsigned int
take_bit(uint32_t number)
{
	const uint64_t summary = roce_bell_take_summary(&bell);

	assert_int_equal(summary, UINT64_C(1) << number / 64);
	return roce_bell_take(&bell, number / 64) == UINT64_C(1) << number % 64;
}

UNIT_RULE_IN(ring__says_who_rang, NULL, NULL)
{
	bell = (struct roce_bell){ 0 };
	for (uint32_t number = 0; number < 1023; number++) {
		assert_false(roce_bell_has_rung(&bell));
		(void)roce_bell_ring(&bell, number);
		assert_true(roce_bell_has_rung(&bell));
		assert_true(take_bit(number));
	}
	assert_false(roce_bell_has_rung(&bell));
}

UNIT_RULE_IN(ring__of_many_keeps_each, NULL, NULL)
{
	uint64_t words;
	unsigned int n = 0;

	bell = (struct roce_bell){ 0 };
	for (unsigned int twice = 0; twice < 2; twice++) {
		for (uint32_t number = 0; number < 1023; number++)
			(void)roce_bell_ring(&bell, number);
	}
	words = roce_bell_take_summary(&bell);
	assert_int_equal(words, 0xffff);
	for (unsigned int word = 0; word < 16; word++)
		n += (unsigned int)__builtin_popcountll(roce_bell_take(&bell, word));
	assert_int_equal(n, 1023);
	for (unsigned int word = 0; word < 16; word++)
		assert_int_equal(roce_bell_take(&bell, word), 0);
}

/* A bit that was set while the summary was taken already is told of again. */
UNIT_RULE_IN(ring__sets_a_summary_that_was_taken, NULL, NULL)
{
	bell = (struct roce_bell){ 0 };
	(void)roce_bell_ring(&bell, 70);
	assert_int_equal(roce_bell_take_summary(&bell), 2);
	(void)roce_bell_ring(&bell, 70);
	assert_int_equal(roce_bell_take_summary(&bell), 2);
	assert_int_equal(roce_bell_take(&bell, 1), UINT64_C(1) << 6);
}

UNIT_RULE_IN(ring__says_whether_the_receiver_sleeps, NULL, NULL)
{
	bell = (struct roce_bell){ 0 };
	assert_false(roce_bell_ring(&bell, 3));
	bell.sleeping = 1;
	assert_true(roce_bell_ring(&bell, 3));
	assert_true(roce_bell_ring(&bell, 4));
}

/* ---- from quiet to polled, and back ---- */

UNIT_RULE(channel__that_is_quiet_rings_and_is_polled_then)
{
	assert_true(send(0, 1));
	assert_int_equal(rig_poll(local, NULL), 1);
	assert_int_equal(local->stats.bells, 2);
	for (unsigned int i = 0; i < 100; i++) {
		assert_false(send(0, 1));
		assert_int_equal(rig_poll(local, NULL), 1);
	}
	assert_int_equal(local->stats.bells, 2);
}

/* Any number of quiet channels costs a poll one look. */
UNIT_RULE(channel__that_is_quiet_is_not_polled)
{
	rig_poll_none(local, 10 * SCAN);
	assert_int_equal(local->hots, 0);
	assert_int_equal(local->stats.bells, 1);
}

UNIT_RULE(channel__that_falls_quiet_is_armed_again)
{
	warm(0);
	rig_poll_none(local, IDLE - 1);
	assert_int_equal(local->hots, 1);
	rig_poll_none(local, 1);
	assert_int_equal(local->hots, 0);
	assert_true(send(0, 1));
	assert_int_equal(rig_poll(local, NULL), 1);
}

/* Each frame begins the time anew. */
UNIT_RULE(channel__with_traffic_stays_polled)
{
	warm(0);
	for (unsigned int i = 0; i < 4; i++) {
		rig_poll_none(local, IDLE - 1);
		assert_false(send(0, 1));
		assert_int_equal(rig_poll(local, NULL), 1);
	}
}

/* ---- more channels than are polled ---- */

UNIT_RULE(channel__beyond_those_that_are_polled_rings_each_time)
{
	for (uint32_t i = 0; i < POLLED; i++)
		warm(i);
	for (unsigned int round = 0; round < 20; round++) {
		for (uint32_t i = 0; i < POLLED; i++)
			assert_false(send(i, 1));
		assert_true(send(POLLED, 1));
		assert_int_equal(rig_poll(local, NULL), POLLED + 1);
		assert_int_equal(local->hots, POLLED);
	}
}

UNIT_RULE(channel__that_is_idle_makes_room_for_another)
{
	for (uint32_t i = 0; i < POLLED; i++)
		warm(i);
	for (unsigned int round = 0; round <= YIELDS; round++) {
		for (uint32_t i = 0; i < POLLED; i++) {
			if (i != 3)
				assert_false(send(i, 1));
		}
		assert_int_equal(rig_poll(local, NULL), POLLED - 1);
	}
	assert_true(send(POLLED, 1));
	assert_int_equal(rig_poll(local, NULL), 1);
	assert_int_equal(local->hots, POLLED);
	assert_false(send(POLLED, 1));
	assert_true(send(3, 1));
	assert_int_equal(rig_poll(local, NULL), 2);
}

/* More than a burst: what is left of a channel that is not polled rings by itself. */
UNIT_RULE(channel__that_had_no_room_rings_by_itself)
{
	unsigned int got = 0;

	for (uint32_t i = 0; i < PEERS; i++)
		assert_true(send(i, 10));
	for (unsigned int polls = 0; polls < 12 && got < 10 * PEERS; polls++)
		got += rig_poll(local, NULL);
	assert_int_equal(got, 10 * PEERS);
}

/* ---- channels that come and go ---- */

/* The peer had its end first, and nobody was there to be rung for. */
UNIT_RULE(channel__that_is_new_is_looked_into)
{
	struct roce_local *early = rig_open(30);
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 30) };

	rig_set_peer(local, 30, 30);
	rig_connect(early, local);
	rig_send(early, &frame, 1);
	assert_int_equal(rig_poll(local, NULL), 1);
	roce_channel_close(roce_local_remove(local, 30));
	rig_close(early);
}

UNIT_RULE(channel__that_is_gone_is_not_polled)
{
	warm(0);
	warm(1);
	assert_false(send(0, 1));
	roce_channel_close(roce_local_remove(local, FIRST));
	assert_int_equal(local->hots, 1);
	assert_int_equal(local->channels, PEERS - 1);
	rig_poll_none(local, 2 * IDLE);
	assert_null(roce_local_remove(local, FIRST));
}

/* It had rung. */
UNIT_RULE(bell__of_a_channel_that_is_gone_is_ignored)
{
	assert_true(send(0, 1));
	roce_channel_close(roce_local_remove(local, FIRST));
	rig_poll_none(local, 2 * SCAN * PEERS);
}

/* ---- a peer that writes into the bell what it likes ---- */

/* Hints are lost, frames are not: each channel is looked at once in so many polls. */
UNIT_RULE(bell__that_is_cleared_delays_frames_and_loses_none)
{
	for (uint32_t i = 0; i < PEERS; i++) {
		unsigned int polls = 0;

		assert_true(send(i, 1));
		do {
			memset(local->bell, 0, sizeof(*local->bell));
			polls++;
		} while (rig_poll(local, NULL) == 0 && polls < LOOKED_AT);
		assert_true(polls < LOOKED_AT);
	}
}

/* Every bit, also of words and processes that cannot be. */
UNIT_RULE(bell__of_nobody_costs_a_look)
{
	for (unsigned int i = 0; i < 3 * SCAN; i++) {
		memset(local->bell->bits, 0xff, sizeof(local->bell->bits));
		local->bell->summary = UINT64_MAX;
		rig_poll_none(local, 1);
	}
	memset(local->bell->bits, 0xff, sizeof(local->bell->bits));
	local->bell->summary = UINT64_MAX;
	assert_true(send(2, 1));
	assert_int_equal(rig_poll(local, NULL), 1);
	rig_poll_none(local, 1);
	assert_int_equal(local->bell->summary, 0);
}
