/* SPDX-License-Identifier: BSD-3-Clause */

/* The thread of a process that shares an adapter (local/control.c): what it makes of the ends of roced and of peers. */

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "local_rig.h"

#define SELF 3
#define PEER 5

/** An event that is due comes within it, on however busy a machine. */
#define PATIENCE_MS 20000

static struct roce_local *local;
/** Frames that waited to be received when the end of the peer was told first; -1: it was not. */
static int waiting;

static int
setup(void **state)
{
	local = rig_open(SELF);
	local->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	__atomic_store_n(&waiting, -1, __ATOMIC_RELAXED);
	return 0;
}

static int
teardown(void **state)
{
	rig_close(local);
	return 0;
}

static void
do_nothing(void *arg)
{
}

static void
note_end(void *arg, uint32_t number)
{
	assert_int_equal(number, PEER);
	if (waiting < 0)
		__atomic_store_n(&waiting, (int)rte_ring_count(local->passed), __ATOMIC_RELEASE);
}

static void
start(void)
{
	const struct roce_local_user user = {
		.lock = do_nothing,
		.unlock = do_nothing,
		.gone = note_end,
	};

	assert_int_equal(roce_local_start(local, &user, local->pool), 0);
}

static void
end_peer(void)
{
	assert_int_equal(shutdown(rig_play(local, PEER)->wake, SHUT_RDWR), 0);
}

static int
await_end(void)
{
	int seen = -1;

	for (unsigned int ms = 0; ms < PATIENCE_MS && seen < 0; ms++) {
		usleep(1000);
		seen = __atomic_load_n(&waiting, __ATOMIC_ACQUIRE);
	}
	return seen;
}

static void
tell(const struct roce_msg *msg)
{
	assert_int_equal(roce_msg_send(rig_roced(local), msg, NULL, 0), 0);
}

static void
tell_frame(void)
{
	struct roce_msg msg = { .type = ROCE_MSG_FRAME };
	const struct rig_frame frame = { .qpn = 1 };

	msg.frame.len = (uint16_t)rig_bytes(msg.frame.data, &frame);
	tell(&msg);
}

/* It may have said in its last breath that it is ready to receive: the connection is to be made before it breaks. */
UNIT_RULE(end__of_a_peer_comes_behind_what_roced_passes_of_it)
{
	const struct roce_msg gone = { .type = ROCE_MSG_GONE, .peer.number = PEER };

	end_peer();
	tell_frame();
	tell(&gone);
	start();
	assert_int_equal(await_end(), 1);
	roce_local_stop(local);
}

UNIT_RULE(end__of_a_peer_is_noticed_though_roced_does_not_tell)
{
	end_peer();
	start();
	assert_int_equal(await_end(), 0);
	roce_local_stop(local);
}

/* Roced has passed @p frames: all that the thread was woken for before is done. */
static void
await_frames(unsigned int frames)
{
	for (unsigned int ms = 0; ms < PATIENCE_MS && rte_ring_count(local->passed) < frames; ms++)
		usleep(1000);
	assert_int_equal(rte_ring_count(local->passed), frames);
}

/*
 * A child of this process has its descriptors until it executes another program. An event of such a
 * socket then is of no channel any more.
 */
UNIT_RULE(end__of_a_channel_is_one_though_a_child_has_its_socket)
{
	const struct roce_msg gone = { .type = ROCE_MSG_GONE, .peer.number = PEER };
	struct roce_channel *peer = rig_play(local, PEER);
	int of_child = dup(local->channel[PEER]->wake);
	struct epoll_event event;

	assert_true(of_child >= 0);
	tell(&gone);
	start();
	assert_int_equal(await_end(), 0);
	assert_int_equal(shutdown(peer->wake, SHUT_RDWR), 0);
	tell_frame();
	await_frames(1);
	roce_local_stop(local);
	assert_int_equal(epoll_wait(local->epoll, &event, 1, 0), 0);
	close(of_child);
}
