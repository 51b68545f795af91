/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of the shared adapter, and the page about its channels. Process 5 is under test, the others are played. */

#include "local_rig.h"

#include <unistd.h>

#define SELF  5u
#define PEER  2u
#define OTHER 900u

static struct roce_local *local;
static struct roce_channel *peer, *other;
static const struct rig_frame to_peer = { .qpn = RIG_QPN(PEER, 7) };
static const struct rig_frame to_other = { .qpn = RIG_QPN(OTHER, 7) };
static const struct rig_frame to_self = { .qpn = RIG_QPN(SELF, 7) };
static const struct rig_frame to_roced = { .qpn = 1 };

static int
setup(void **state)
{
	local = rig_open(SELF);
	peer = rig_play(local, PEER);
	other = rig_play(local, OTHER);
	rig_set_peer(local, 7, PEER);
	return 0;
}

static int
teardown(void **state)
{
	rig_close(local);
	assert_true(unit_pool_is_full());
	return 0;
}

static struct roce_local_channel
channel_of(uint32_t number)
{
	struct roce_local_channel channel;

	assert_int_equal(roce_local_channels(local, number, &channel, 1), 1);
	assert_int_equal(channel.number, number);
	return channel;
}

static void
count_polled(uint32_t channels, uint32_t polled)
{
	uint32_t have, hot;

	roce_local_count_channels(local, &have, &hot);
	assert_int_equal(have, channels);
	assert_int_equal(hot, polled);
}

UNIT_RULE(counts__frames_out_by_channel_and_together)
{
	const struct rig_frame frames[] = { to_peer, to_other, to_peer };

	rig_send(local, frames, RTE_DIM(frames));
	assert_int_equal(local->stats.tx_frames, 3);
	assert_int_equal(channel_of(PEER).tx_frames, 2);
	assert_int_equal(channel_of(OTHER).tx_frames, 1);
	assert_int_equal(channel_of(PEER).rx_frames, 0);
}

/* A frame of a process that is not the peer is one that was dropped, and no frame in. */
UNIT_RULE(counts__frames_in_by_channel_and_together)
{
	for (unsigned int i = 0; i < 3; i++)
		rig_put_frame(peer, &to_self);
	rig_put_frame(other, &to_self);
	(void)roce_bell_ring(local->bell, PEER);
	(void)roce_bell_ring(local->bell, OTHER);
	assert_int_equal(rig_poll(local, NULL), 3);
	assert_int_equal(local->stats.rx_frames, 3);
	assert_int_equal(local->stats.rx_wrong_source, 1);
	assert_int_equal(channel_of(PEER).rx_frames, 3);
	assert_int_equal(channel_of(OTHER).rx_frames, 0);
}

/* The frame that does not fit is out when it is in the ring, and once. */
UNIT_RULE(counts__each_wait_for_a_full_ring)
{
	struct rte_mbuf *m;

	do {
		m = rig_mbuf(&to_peer);
	} while (roce_local_tx(local, &m, 1) == 1);
	assert_int_equal(local->stats.tx_full, 1);
	assert_int_equal(roce_local_tx(local, &m, 1), 0);
	assert_int_equal(local->stats.tx_full, 2);
	assert_int_equal(local->stats.tx_frames, channel_of(PEER).tx_frames);
	assert_int_equal(rig_drain(peer), local->stats.tx_frames);
	assert_int_equal(roce_local_tx(local, &m, 1), 1);
	assert_int_equal(rig_drain(peer), 1);
	assert_int_equal(local->stats.tx_full, 2);
	assert_int_equal(local->stats.tx_stalled, 0);
}

UNIT_RULE(counts__frames_by_way_of_roced)
{
	uint8_t bytes[RIG_V4_LEN];
	uint32_t len = rig_bytes(bytes, &to_roced);

	rig_send(local, &to_roced, 1);
	assert_int_equal(local->stats.tx_roced, 1);
	roce_local_deliver(local, bytes, len);
	assert_int_equal(local->stats.rx_roced, 1);
	assert_int_equal(rig_poll(local, NULL), 1);
	assert_int_equal(local->stats.tx_frames + local->stats.rx_frames, 0);
}

UNIT_RULE(counts__frames_that_roced_does_not_get)
{
	int there = local->socket;

	local->socket = -1;
	rig_send(local, &to_roced, 1);
	local->socket = there;
	assert_int_equal(local->stats.tx_roced, 0);
	assert_int_equal(local->stats.tx_roced_lost, 1);
}

/* A ring of DPDK has room for one less than its size. */
UNIT_RULE(counts__frames_beyond_what_may_wait)
{
	for (unsigned int i = 0; i < ROCE_LOCAL_INBOX + 9; i++) {
		uint8_t bytes[RIG_V4_LEN];

		roce_local_deliver(local, bytes, rig_bytes(bytes, &to_roced));
	}
	assert_int_equal(local->stats.inbox_dropped, 10);
	assert_int_equal(local->stats.rx_roced, ROCE_LOCAL_INBOX + 9);
	while (rig_poll(local, NULL) > 0)
		;
}

UNIT_RULE(channels__are_armed_until_they_have_traffic)
{
	count_polled(2, 0);
	assert_false(channel_of(PEER).polled);
	rig_put_frame(peer, &to_self);
	(void)roce_bell_ring(local->bell, PEER);
	assert_int_equal(rig_poll(local, NULL), 1);
	count_polled(2, 1);
	assert_true(channel_of(PEER).polled);
	assert_false(channel_of(OTHER).polled);
}

UNIT_RULE(channels__tell_that_they_are_broken_or_stalled)
{
	local->channel[PEER]->stalled = true;
	roce_local_set_broken(local, local->channel[OTHER]);
	assert_true(channel_of(PEER).stalled && !channel_of(PEER).broken);
	assert_true(channel_of(OTHER).broken && !channel_of(OTHER).stalled);
	assert_int_equal(local->stats.broken, 1);
}

/* By their numbers, from any one on; no more than there is room for. */
UNIT_RULE(channels__come_in_pages)
{
	static const struct {
		uint32_t first, n, want, number;
	} rule[] = {
		{ 0, 3, 2, PEER },
		{ PEER, 2, 2, PEER },
		{ PEER, 1, 1, PEER },
		{ PEER + 1, 2, 1, OTHER },
		{ OTHER, 2, 1, OTHER },
		{ OTHER + 1, 2, 0, 0 },
		{ UINT32_MAX, 2, 0, 0 },
		{ 0, 0, 0, 0 },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_local_channel channel[3] = { 0 };

		assert_int_equal(roce_local_channels(local, rule[i].first, channel, rule[i].n),
				rule[i].want);
		assert_int_equal(channel[0].number, rule[i].number);
	}
}
