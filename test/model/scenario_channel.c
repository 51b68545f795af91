/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A channel between processes: the real receive.c, transmit.c, channel.c and the sleep of control.c, with ring.h and bell.h in them.
 * Senders send bursts; a receiver polls, arms, looks once more and sleeps. Stores are seen late (buffer.h). A wake-up that
 * is lost is a deadlock; a frame that nobody would look for any more is missing at the end; a frame that is torn has
 * wrong bytes, or is a data race.
 *
 * The ring has four lines, so that it is full with three frames of one line, and begins anew. The receiver has no look
 * without a hint in so few polls.
 */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <rte_ring.h>

#include "explore.h"
#include "local/local_pvt.h"
#include "memory.h"
#include "scenario.h"

#define PROCESSES 3
#define FRAMES    6u   /**< of one sender, at most */
#define SHORT     60u  /**< bytes of a frame: one line */
#define LONG      100u /**< two lines */
#define BTH_AT    42u  /**< in a frame over IPv4 */
#define MARK_AT \
	54u /**< number of the frame among those of its sender, then its sender again and again */
#define ROOM  320u /**< bytes of the buffer of a frame, headroom and all */
#define SPINS 3u   /**< polls behind the end that find what is there */

struct scene {
	const char *name;
	/**
	 * s: send a frame. d: two at once. t: three. l: a long one. r: receive all that is sent, asleep in between. p: poll once.
	 * w: wait until the sender has found the ring full.
	 */
	const char *thread[PROCESSES];
	bool polled; /**< the channels are, at the beginning; else they are armed */
	unsigned int idle_max;
	bool apart; /**< the senders have no word of a bell in common */
	bool soak;  /**< too long for every day */
};

/* The first two are in one word of a bell, or apart. */
static const uint32_t numbers[2][PROCESSES] = { { 5, 6, 70 }, { 5, 70, 6 } };
static const uint32_t *number_of;

/* Words that threads write, in the arena. */
struct cells {
	uint32_t quiet;           /**< of the receiver's sockets; 0: one has a byte */
	uint32_t full[PROCESSES]; /**< 0: the receiver has read since the sender looked */
	uint32_t free;            /**< 0: a sender has found the ring full */
	uint32_t received;        /**< frames */
	uint32_t next[PROCESSES]; /**< by sender */
	struct roce_local local[PROCESSES];
	struct roce_channel channel[PROCESSES][2]; /**< of the sender, of the receiver */
	struct roce_channel_memory memory[PROCESSES];
	struct roce_bell bell[PROCESSES];
};

static const struct scene *scene;
static struct cells *cells;
static unsigned int receiver, threads, expected;
/* Without an EAL: a ring and its two places. */
static uint8_t ring_memory[1024] __rte_cache_aligned;
static struct rte_ring *const no_frames = (struct rte_ring *)(void *)ring_memory;
unsigned int model_idle_max;

/* ---- what the sources call instead of the system ---- */

int
model_mbufs(struct rte_mbuf **m, unsigned int n)
{
	return -1;
}

ssize_t
model_send(int fd, const void *bytes, size_t n, int flags)
{
	const struct model_access a = { 4, __ATOMIC_RELEASE, "the socket", __func__ };

	model_store(&cells->quiet, 0, &a);
	return (ssize_t)n;
}

int
model_epoll_wait(int epoll, struct epoll_event *events, int n, int timeout)
{
	const struct model_access a = { 4, __ATOMIC_ACQ_REL, "the sockets", __func__ };

	/* Of a channel that is gone: nothing is done with it. */
	events[0] = (struct epoll_event){ .events = EPOLLIN, .data.u32 = 0 };
	return model_exchange(&cells->quiet, 1, &a) == 0;
}

/* ---- the world ---- */

static void
describe(const volatile void *address, char *text, size_t size)
{
	const uintptr_t at = (uintptr_t)address - (uintptr_t)cells;

	if (at - offsetof(struct cells, memory) < sizeof(cells->memory))
		snprintf(text, size, "byte %zu of a channel",
				(at - offsetof(struct cells, memory)) % sizeof(cells->memory[0]));
	else if (at - offsetof(struct cells, bell) < sizeof(cells->bell))
		snprintf(text, size, "byte %zu of a bell",
				(at - offsetof(struct cells, bell)) % sizeof(cells->bell[0]));
	else
		snprintf(text, size, "byte %zu of the world", at);
}

static unsigned int
frames_of(const char *script)
{
	unsigned int n = 0;

	for (; *script != '\0'; script++)
		n += *script == 's' || *script == 'l' ? 1
				: *script == 'd'      ? 2
				: *script == 't'      ? 3
						      : 0;
	return n;
}

static struct rte_mbuf *
make_mbuf(void)
{
	struct rte_mbuf *m = memory_alloc(NULL, sizeof(*m));

	m->buf_addr = memory_alloc(NULL, ROOM);
	m->buf_len = ROOM;
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->nb_segs = 1;
	return m;
}

static void
open_process(unsigned int i)
{
	struct roce_local *local = &cells->local[i];

	local->number = number_of[i];
	local->bell = &cells->bell[i];
	local->inbox = local->passed = no_frames;
	local->stall_ticks = UINT64_MAX / 2;
	memset(local->peer, 0xff, sizeof(local->peer));
	for (unsigned int j = 0; j < PROCESSES; j++)
		local->peer[j] = (uint16_t)number_of[j];
	for (unsigned int n = 0; i == receiver && n < expected; n++)
		local->spare[local->spares++] = make_mbuf();
}

/* From sender @p i to the receiver, and back. */
static void
open_channel(unsigned int i)
{
	struct roce_channel *of_sender = &cells->channel[i][0];
	struct roce_channel *of_receiver = &cells->channel[i][1];
	struct roce_local *local = &cells->local[receiver];

	of_sender->number = number_of[receiver];
	of_sender->bell = &cells->bell[receiver];
	of_sender->tx.ring = of_receiver->rx.ring = &cells->memory[i].ring[0];
	of_sender->rx.ring = of_receiver->tx.ring = &cells->memory[i].ring[1];
	of_receiver->number = number_of[i];
	of_receiver->bell = &cells->bell[i];
	cells->local[i].channel[of_sender->number] = of_sender;
	cells->local[i].channels++;
	local->channel[of_receiver->number] = of_receiver;
	local->channels++;
	of_receiver->hot = scene->polled;
	of_receiver->rx.ring->armed = !scene->polled;
	if (scene->polled)
		local->hot[local->hots++] = of_receiver;
}

static void
prepare(void)
{
	memory_describe = describe;
	model_idle_max = scene->idle_max;
	cells = memory_alloc(NULL, sizeof(*cells));
	cells->quiet = 1;
	cells->free = 1;
	for (unsigned int i = 0; i < threads; i++)
		open_process(i);
	for (unsigned int i = 0; i < threads; i++) {
		if (i != receiver)
			open_channel(i);
	}
	buffer_begin(threads);
}

/* ---- threads ---- */

/* IPv4 and UDP as a receiver looks at them, the same address twice; queue pair @p self of the receiver. */
static struct rte_mbuf *
make_frame(unsigned int self, uint8_t index, uint32_t len)
{
	const uint32_t qpn = number_of[receiver] << ROCE_QPN_SHIFT | self;
	struct rte_mbuf *m = make_mbuf();
	uint8_t *bytes = (uint8_t *)m->buf_addr + m->data_off;

	bytes[12] = 0x08;
	bytes[14] = 0x45;
	bytes[23] = 17;
	bytes[BTH_AT + 5] = (uint8_t)(qpn >> 16);
	bytes[BTH_AT + 6] = (uint8_t)(qpn >> 8);
	bytes[BTH_AT + 7] = (uint8_t)qpn;
	bytes[MARK_AT] = index;
	for (uint32_t i = MARK_AT + 1; i < len; i++)
		bytes[i] = (uint8_t)(self + 1);
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	return m;
}

static struct model_access
of(int order)
{
	return (struct model_access){ .size = 4, .order = order, .what = "full", .where = "" };
}

/* Frames that are not taken are sent when the receiver has read. */
static void
send_burst(unsigned int self, struct rte_mbuf **pkts, uint16_t n)
{
	const struct model_access a = of(__ATOMIC_SEQ_CST);
	uint16_t sent = roce_local_tx(&cells->local[self], pkts, n);

	if (sent < n)
		model_store(&cells->free, 0, &a);
	while (sent < n) {
		model_store(&cells->full[self], 1, &a);
		sent += roce_local_tx(&cells->local[self], pkts + sent, (uint16_t)(n - sent));
		if (sent < n)
			model_await(&cells->full[self], "full", __func__);
	}
}

static unsigned int
send_word(unsigned int self, char word, unsigned int index)
{
	struct rte_mbuf *pkts[3];
	unsigned int n = word == 't' ? 3 : word == 'd' ? 2 : 1;

	for (unsigned int i = 0; i < n; i++)
		pkts[i] = make_frame(self, (uint8_t)(index + i), word == 'l' ? LONG : SHORT);
	send_burst(self, pkts, (uint16_t)n);
	return n;
}

static void
check_frame(const struct rte_mbuf *m)
{
	const uint8_t *bytes = (const uint8_t *)m->buf_addr + m->data_off;
	const unsigned int from = bytes[BTH_AT + 7];

	if (from >= threads || (m->data_len != SHORT && m->data_len != LONG))
		model_fail("a frame of nobody");
	if (bytes[MARK_AT] != cells->next[from]++)
		model_fail("frame %u of thread %u comes out of turn", bytes[MARK_AT], from);
	for (uint32_t i = MARK_AT + 1; i < m->data_len; i++) {
		if (bytes[i] != from + 1)
			model_fail("a frame of thread %u is torn", from);
	}
}

static unsigned int
poll_once(void)
{
	const struct model_access a = of(__ATOMIC_RELEASE);
	struct rte_mbuf *pkts[2 * FRAMES];
	uint16_t n = roce_local_rx(&cells->local[receiver], pkts, RTE_DIM(pkts));

	for (uint16_t i = 0; i < n; i++)
		check_frame(pkts[i]);
	cells->received += n;
	/* Senders that wait look again when the release has been seen. */
	if (n > 0 && frames_of(scene->thread[0]) > 3) {
		buffer_fence();
		for (unsigned int i = 0; i < threads; i++)
			model_store(&cells->full[i], 0, &a);
	}
	return n;
}

/* As a waiter does it (lib/dapl/wait.c). */
static void
receive_all(void)
{
	struct roce_local *local = &cells->local[receiver];

	while (cells->received < expected) {
		if (poll_once() > 0)
			continue;
		(void)roce_local_arm(local);
		if (poll_once() == 0)
			model_await(&cells->quiet, "a frame", __func__);
		(void)roce_local_disarm(local);
	}
}

static void
run_script(unsigned int self)
{
	unsigned int sent = 0;

	if (buffer_is_drain(self)) {
		buffer_drain(self);
		return;
	}
	for (const char *word = scene->thread[self]; *word != '\0'; word++) {
		if (*word == 'r')
			receive_all();
		else if (*word == 'p')
			(void)poll_once();
		else if (*word == 'w')
			model_await(&cells->free, "a full ring", __func__);
		else
			sent += send_word(self, *word, sent);
	}
	buffer_end();
}

static void
observe(unsigned int self)
{
}

/* A receiver that goes on polling finds what is there: its hints have not been lost. */
static void
finish(void)
{
	for (unsigned int i = 0; i < SPINS; i++)
		(void)poll_once();
	if (cells->received != expected)
		model_fail("%u frames of %u are received", cells->received, expected);
	if (cells->local[receiver].stats.rx_wrong_source != 0 ||
			cells->local[receiver].stats.broken != 0 ||
			cells->local[receiver].stats.rx_no_memory != 0)
		model_fail("frames were dropped");
}

/* ---- scenes ---- */

static const struct scene scenes[] = {
	{ .name = "channel_armed", .thread = { "s", "r" } },
	{ .name = "channel_armed_twice", .thread = { "ss", "r" } },
	{ .name = "channel_polled", .thread = { "s", "r" }, .polled = true, .idle_max = 100 },
	{ .name = "channel_polled_twice",
			.thread = { "ss", "r" },
			.polled = true,
			.idle_max = 100 },
	{ .name = "channel_polled_thrice",
			.thread = { "sss", "r" },
			.polled = true,
			.idle_max = 100,
			.soak = true },
	{ .name = "channel_falls_quiet", .thread = { "s", "pp" }, .polled = true },
	{ .name = "channel_falls_quiet_twice", .thread = { "ss", "pppp" }, .polled = true },
	{ .name = "channel_falls_quiet_thrice", .thread = { "sss", "ppppp" }, .polled = true },
	{ .name = "channel_quiet_asleep", .thread = { "ss", "r" }, .polled = true },
	{ .name = "channel_quiet_asleep_thrice",
			.thread = { "sss", "r" },
			.polled = true,
			.soak = true },
	{ .name = "channel_burst", .thread = { "d", "r" }, .idle_max = 100 },
	{ .name = "channel_burst_polled",
			.thread = { "ds", "ppp" },
			.polled = true,
			.idle_max = 100 },
	{ .name = "channel_full", .thread = { "ts", "wr" }, .idle_max = 100 },
	{ .name = "channel_full_polled",
			.thread = { "tt", "wr" },
			.polled = true,
			.idle_max = 100 },
	{ .name = "channel_wraps", .thread = { "tl", "wr" }, .idle_max = 100 },
	{ .name = "channel_two", .thread = { "s", "s", "r" } },
	{ .name = "channel_two_apart", .thread = { "s", "s", "r" }, .apart = true },
	{ .name = "channel_two_more", .thread = { "ss", "s", "r" }, .soak = true },
	{ .name = "channel_two_polled", .thread = { "s", "s", "ppp" }, .polled = true },
	{ .name = "channel_two_polled_apart",
			.thread = { "s", "s", "ppp" },
			.polled = true,
			.apart = true },
	{ .name = NULL },
};

static bool
explore_scene(const struct scene *s)
{
	struct model_program program = {
		.name = s->name,
		.prepare = prepare,
		.script = run_script,
		.observe = observe,
		.finish = finish,
	};
	struct explore_tally tally;
	bool holds;

	scene = s;
	number_of = numbers[s->apart];
	threads = 0;
	expected = 0;
	while (threads < PROCESSES && s->thread[threads] != NULL)
		expected += frames_of(s->thread[threads++]);
	receiver = threads - 1;
	program.threads = 2 * threads;
	holds = explore(&program, EXPLORE_REDUCED, &tally);
	printf("%-26s %9" PRIu64 " interleavings %10" PRIu64 " steps, %2u the longest\n", s->name,
			tally.runs, tally.steps, tally.longest);
	return holds;
}

static void
report(void)
{
	const struct model_program program = {
		.name = scene->name,
		.threads = 2 * threads,
		.prepare = prepare,
		.script = run_script,
		.observe = observe,
		.finish = finish,
	};

	printf("VIOLATED %s, in the order %s\n", model_failure(), explore_schedule());
	explore_replay(&program, explore_schedule());
}

/* No frame is lost, torn or out of order, and no sleeper is forgotten. */
static void
channel__loses_neither_frame_nor_wake_up(void **state)
{
	for (const struct scene *s = scenes; s->name != NULL; s++) {
		if (s->soak && !scenario_soak)
			continue;
		if (!explore_scene(s)) {
			report();
			fail_msg("%s: %s", s->name, model_failure());
		}
	}
}

/* Either fence is needed: the frame that is published and the mark of the sleeper pass each other without. */
static void
channel__without_a_fence_loses_a_wake_up(void **state)
{
	const struct scene polled = { .name = "channel_without_fence",
		.thread = { "s", "r" },
		.polled = true,
		.idle_max = 100 };

	for (unsigned int t = 0; t < 2; t++) {
		buffer_without_fences = 1u << t;
		assert_false(explore_scene(&polled));
		assert_non_null(strstr(model_failure(), "deadlock"));
	}
	buffer_without_fences = 0;
	assert_true(explore_scene(&polled));
}

int
scenario_channel(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(channel__loses_neither_frame_nor_wake_up),
		cmocka_unit_test(channel__without_a_fence_loses_a_wake_up),
	};

	if (rte_ring_init(no_frames, "model", 2, 0) != 0)
		return 1;
	return cmocka_run_group_tests_name("channels", tests, NULL, NULL);
}
