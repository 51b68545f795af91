/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleep and wake-up: roce_local_arm() and roce_local_disarm() of local/control.c, and who wakes in local/receive.c and
 * local/channel.c. A sleeper does not sleep here: the test looks whether its descriptor is readable. In every order of
 * threads: test/model; with threads: test_local_threads.c.
 */

#include <poll.h>
#include <sys/socket.h>

#include "local_rig.h"

static struct roce_local *local, *peer;
static const struct rig_frame frame = { .qpn = RIG_QPN(5, 7) };

static int
setup(void **state)
{
	local = rig_open(5);
	peer = rig_open(2);
	rig_connect(local, peer);
	rig_set_peer(local, 7, 2);
	rig_poll_none(local, 1);
	return 0;
}

static int
teardown(void **state)
{
	rig_close(local);
	rig_close(peer);
	assert_true(unit_pool_is_full());
	return 0;
}

static bool
is_readable(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, 0) == 1;
}

/* As a sleeper does: it arms, receives once more, and sleeps only when nothing came. */
static int
fall_asleep(void)
{
	int fd = roce_local_arm(local);

	assert_true(fd >= 0);
	rig_poll_none(local, 1);
	assert_false(is_readable(fd));
	return fd;
}

UNIT_RULE(arm__has_a_frame_wake_the_sleeper)
{
	int fd = fall_asleep();

	rig_send(peer, &frame, 1);
	assert_true(is_readable(fd));
	assert_true(roce_local_disarm(local));
	assert_int_equal(rig_poll(local, NULL), 1);
}

/* It was polled: that does not go without a bell any more. */
UNIT_RULE(arm__has_a_frame_of_a_polled_channel_wake_the_sleeper)
{
	int fd;

	rig_send(peer, &frame, 1);
	assert_int_equal(rig_poll(local, NULL), 1);
	assert_int_equal(local->hots, 1);
	fd = fall_asleep();
	rig_send(peer, &frame, 1);
	assert_true(is_readable(fd));
	assert_true(roce_local_disarm(local));
	assert_int_equal(rig_poll(local, NULL), 1);
}

/* It wakes nobody: the sleeper finds it when it receives once more. */
UNIT_RULE(arm__leaves_a_frame_that_is_there_to_be_received)
{
	rig_send(peer, &frame, 1);
	(void)roce_local_arm(local);
	assert_int_equal(rig_poll(local, NULL), 1);
	(void)roce_local_disarm(local);
}

UNIT_RULE(disarm__has_frames_wake_nobody)
{
	int fd = fall_asleep();

	assert_false(roce_local_disarm(local));
	rig_send(peer, &frame, 1);
	assert_int_equal(rig_poll(local, NULL), 1);
	rig_send(peer, &frame, 1);
	assert_int_equal(rig_poll(local, NULL), 1);
	assert_false(is_readable(fd));
}

/* Each frame of a burst, and each burst of a sleep, may write: the next sleep begins in silence. */
UNIT_RULE(disarm__forgets_all_wakes)
{
	for (unsigned int round = 0; round < 3; round++) {
		int fd = fall_asleep();

		for (unsigned int i = 0; i < 10; i++)
			rig_send(peer, &frame, 1);
		assert_true(is_readable(fd));
		assert_true(roce_local_disarm(local));
		assert_int_equal(rig_poll(local, NULL), 10);
		assert_false(is_readable(fd));
	}
}

/* Of many peers, each one. */
UNIT_RULE(arm__is_for_all_peers)
{
	struct roce_local *many[10];

	for (uint32_t i = 0; i < RTE_DIM(many); i++) {
		many[i] = rig_open(20 + i);
		rig_connect(local, many[i]);
		rig_set_peer(local, 20 + i, 20 + i);
	}
	rig_poll_none(local, 1);
	for (uint32_t i = 0; i < RTE_DIM(many); i++) {
		const struct rig_frame theirs = { .qpn = RIG_QPN(5, 20 + i) };
		int fd = fall_asleep();

		rig_send(many[i], &theirs, 1);
		assert_true(is_readable(fd));
		assert_true(roce_local_disarm(local));
		assert_int_equal(rig_poll(local, NULL), 1);
	}
	for (uint32_t i = 0; i < RTE_DIM(many); i++)
		rig_close(many[i]);
}

/* ---- several sleepers ---- */

UNIT_RULE(disarm__by_one_leaves_the_other_asleep)
{
	int fd = fall_asleep();

	(void)roce_local_arm(local);
	(void)roce_local_disarm(local);
	rig_send(peer, &frame, 1);
	assert_true(is_readable(fd));
	assert_true(roce_local_disarm(local));
	assert_int_equal(rig_poll(local, NULL), 1);
}

/* A thread that polls meanwhile, and then does something else, leaves the channel polled: it must ring all the same. */
UNIT_RULE(arm__lasts_while_another_thread_polls)
{
	int fd = fall_asleep();

	rig_send(peer, &frame, 1);
	assert_true(is_readable(fd));
	(void)roce_local_arm(local);
	assert_true(roce_local_disarm(local));
	assert_int_equal(rig_poll(local, NULL), 1);
	assert_int_equal(local->hots, 1);
	assert_false(is_readable(fd));
	rig_send(peer, &frame, 1);
	assert_true(is_readable(fd));
	(void)roce_local_disarm(local);
	assert_int_equal(rig_poll(local, NULL), 1);
}

/* ---- frames that come by another way ---- */

UNIT_RULE(arm__has_roced_wake_the_sleeper)
{
	const uint8_t bytes[200] = { 0 };
	int fd = fall_asleep();

	roce_local_deliver(local, bytes, sizeof(bytes));
	assert_true(is_readable(fd));
	assert_true(roce_local_disarm(local));
	assert_int_equal(rig_poll(local, NULL), 1);
	assert_false(is_readable(fd));
}

/* Another thread of this process sends to a queue pair of it. */
UNIT_RULE(arm__has_the_process_itself_wake_the_sleeper)
{
	int fd = fall_asleep();

	rig_send(local, &frame, 1);
	assert_true(is_readable(fd));
	assert_true(roce_local_disarm(local));
	assert_int_equal(rig_poll(local, NULL), 1);
}

/* ---- a peer that does harm ---- */

/* Its end wakes a sleeper once, and no sleep of it is shorter because of that. */
UNIT_RULE(arm__hears_of_the_end_of_a_peer_once)
{
	int fd = fall_asleep();

	roce_channel_close(roce_local_remove(peer, 5));
	assert_true(is_readable(fd));
	assert_true(roce_local_disarm(local));
	fd = fall_asleep();
	assert_false(roce_local_disarm(local));
	assert_true(is_readable(local->ends));
}

/* It writes wakes without end: no more than the socket holds, and then sleepers sleep again. */
UNIT_RULE(wake__never_waits)
{
	struct roce_channel *channel = peer->channel[5];
	unsigned int awake = 0;

	for (unsigned int i = 0; i < 100000; i++)
		roce_channel_wake(channel);
	do {
		(void)roce_local_arm(local);
		awake++;
	} while (roce_local_disarm(local) && awake < 100000);
	assert_in_range(awake, 2, 99999);
	(void)fall_asleep();
	(void)roce_local_disarm(local);
}

/* A peer that is gone is not woken, and the writer is not ended by a signal. */
UNIT_RULE(wake__of_a_peer_that_is_gone_does_nothing)
{
	roce_channel_close(roce_local_remove(local, 2));
	roce_channel_wake(peer->channel[5]);
	rig_send(peer, &frame, 1);
}
