/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels between threads, each of which is a process with an adapter of its own: nothing is lost, torn or out of order,
 * and no sleeper is forgotten. Run it under the thread sanitizer, too (`./run.sh sanitize`): so both ends of a channel use
 * one mapping of its memory here, and of each bell.
 */

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "local_rig.h"

#define MEMBERS   4u
#define FRAMES    30000u /**< that each sends to each other one */
#define TRIPS     20000u
#define PATIENCE  60000 /**< ms: a sleeper that is forgotten fails the test, and does not hang it */
#define HEAD      4u    /**< bytes of the number of a frame, behind the BTH */
#define BURST_MAX 16u

/** A process and its thread. */
struct member {
	struct roce_local *local;
	unsigned int index;
	struct member *all;
	unsigned int members;
	uint32_t sent[MEMBERS];
	uint32_t received[MEMBERS];
	uint64_t dice;
	bool failed;
};

static struct member member[MEMBERS];
/** Channels as they were: each end unmaps what is its own. */
static struct kept {
	struct roce_channel *channel;
	struct roce_channel was;
} kept[2 * MEMBERS * MEMBERS];
static unsigned int keeps;

/** Frames of each member: the thread sanitizer does not see how DPDK's pools hand them from thread to thread. */
static struct rte_mempool *pool[MEMBERS];
#define POOL_SIZE 511

static struct rte_mempool *
pool_of(unsigned int index)
{
	char name[24];

	snprintf(name, sizeof(name), "member_%u", index);
	if (pool[index] == NULL)
		pool[index] = rte_pktmbuf_pool_create(name, POOL_SIZE, 0, 0,
				RTE_PKTMBUF_HEADROOM + UNIT_DATA_ROOM, SOCKET_ID_ANY);
	assert_non_null(pool[index]);
	return pool[index];
}

static uint32_t
number_of(unsigned int index)
{
	return 10 + index;
}

/* The second end uses the memory of the first one, and each the other's own bell. */
static void
share_mappings(struct roce_local *a, struct roce_local *b)
{
	struct roce_channel *of_a = a->channel[b->number], *of_b = b->channel[a->number];

	kept[keeps++] = (struct kept){ of_a, *of_a };
	kept[keeps++] = (struct kept){ of_b, *of_b };
	of_b->tx.ring = of_a->rx.ring;
	of_b->rx.ring = of_a->tx.ring;
	of_a->bell = b->bell;
	of_b->bell = a->bell;
}

static void
open_members(unsigned int n)
{
	keeps = 0;
	for (unsigned int i = 0; i < n; i++) {
		member[i] = (struct member){
			.local = rig_open(number_of(i)),
			.index = i,
			.all = member,
			.members = n,
			.dice = i + 1,
		};
		member[i].local->pool = pool_of(i);
		for (unsigned int j = 0; j < n; j++)
			rig_set_peer(member[i].local, j, number_of(j));
		for (unsigned int j = 0; j < i; j++) {
			rig_connect(member[j].local, member[i].local);
			share_mappings(member[j].local, member[i].local);
		}
	}
}

static void
close_members(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		while (rig_poll(member[i].local, NULL) > 0)
			continue;
	}
	while (keeps > 0) {
		const struct kept *k = &kept[--keeps];

		k->channel->bell = k->was.bell;
		k->channel->tx.ring = k->was.tx.ring;
		k->channel->rx.ring = k->was.rx.ring;
	}
	for (unsigned int i = 0; i < n; i++) {
		rig_close(member[i].local);
		assert_int_equal(rte_mempool_full(pool[i]), 1);
	}
}

static void
run_members(unsigned int n, void *(*run)(void *arg))
{
	pthread_t thread[MEMBERS];

	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, run, &member[i]), 0);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	for (unsigned int i = 0; i < n; i++)
		assert_false(member[i].failed);
}

/* ---- frames: queue pair number i of a process is connected to process i ---- */

static uint32_t
roll(struct member *m, uint32_t sides)
{
	m->dice = m->dice * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(m->dice >> 33) % sides;
}

static uint32_t
len_of(uint32_t number)
{
	return RIG_V4_LEN + HEAD + number * 7919 % (number % 16 == 0 ? 4200 : 200);
}

static struct rte_mbuf *
make_frame(const struct member *from, unsigned int to, uint32_t number)
{
	const struct rig_frame frame = {
		.qpn = RIG_QPN(number_of(to), from->index),
		.len = len_of(number),
		.mark = (uint8_t)number,
	};
	struct rte_mbuf *m = rte_pktmbuf_alloc(from->local->pool);

	if (m == NULL)
		return NULL;
	rig_bytes((uint8_t *)rte_pktmbuf_append(m, (uint16_t)frame.len), &frame);
	memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, RIG_V4_LEN), &number, sizeof(number));
	return m;
}

/* The next one of its sender, with every byte of it. */
static bool
is_right(struct member *m, struct rte_mbuf *frame)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(frame, const uint8_t *);
	const unsigned int from = bytes[RIG_V4_LEN - 12 + 7];
	uint32_t number;

	if (from >= m->members || frame->pkt_len < RIG_V4_LEN + HEAD)
		return false;
	memcpy(&number, bytes + RIG_V4_LEN, sizeof(number));
	if (number != m->received[from]++ || frame->pkt_len != len_of(number))
		return false;
	for (uint32_t i = RIG_V4_LEN + HEAD; i < frame->pkt_len; i++) {
		if (bytes[i] != (uint8_t)number)
			return false;
	}
	return true;
}

static unsigned int
receive(struct member *m)
{
	struct rte_mbuf *pkts[RIG_BURST];
	uint16_t n = roce_local_rx(m->local, pkts, RIG_BURST);

	for (uint16_t i = 0; i < n; i++) {
		if (!is_right(m, pkts[i]))
			m->failed = true;
	}
	rte_pktmbuf_free_bulk(pkts, n);
	return n;
}

/* While it waits for a peer it receives: as the poller of an engine does. */
static void
send_all(struct member *m, struct rte_mbuf **pkts, unsigned int n)
{
	for (unsigned int sent = 0; sent < n && !m->failed;) {
		sent += roce_local_tx(m->local, pkts + sent, (uint16_t)(n - sent));
		if (sent < n && receive(m) == 0)
			sched_yield();
	}
}

static void
send_burst(struct member *m, unsigned int to, unsigned int n)
{
	struct rte_mbuf *pkts[BURST_MAX];
	unsigned int made = 0;

	for (; made < n && m->sent[to] < FRAMES; made++) {
		pkts[made] = make_frame(m, to, m->sent[to]);
		if (pkts[made] == NULL)
			break;
		m->sent[to]++;
	}
	send_all(m, pkts, made);
}

static bool
has_all(const struct member *m, const uint32_t *counts)
{
	for (unsigned int i = 0; i < m->members; i++) {
		if (i != m->index && counts[i] < FRAMES)
			return false;
	}
	return true;
}

/* Bursts to one and another, and the frames of all. */
static void *
talk_to_all(void *arg)
{
	struct member *m = arg;
	unsigned int idle = 0;

	while (!m->failed && (!has_all(m, m->sent) || !has_all(m, m->received))) {
		const unsigned int to = roll(m, m->members);

		if (to != m->index)
			send_burst(m, to, 1 + roll(m, BURST_MAX));
		if (receive(m) == 0 && ++idle % 64 == 0)
			sched_yield();
	}
	return NULL;
}

/* ---- rules ---- */

UNIT_RULE_IN(frames__between_two_are_whole_and_in_order, NULL, NULL)
{
	open_members(2);
	run_members(2, talk_to_all);
	assert_int_equal(member[0].received[1], FRAMES);
	assert_int_equal(member[1].received[0], FRAMES);
	close_members(2);
}

UNIT_RULE_IN(frames__between_all_are_whole_and_in_order, NULL, NULL)
{
	open_members(MEMBERS);
	run_members(MEMBERS, talk_to_all);
	for (unsigned int i = 0; i < MEMBERS; i++)
		assert_true(has_all(&member[i], member[i].received));
	close_members(MEMBERS);
}

/* Arm, receive once more, and sleep only when there is nothing. @return false: it was forgotten. */
static bool
sleep_for_frame(struct member *m)
{
	struct pollfd wait = { .events = POLLIN };
	bool awake = true;

	while (awake && receive(m) == 0) {
		wait.fd = roce_local_arm(m->local);
		if (receive(m) > 0) {
			(void)roce_local_disarm(m->local);
			return true;
		}
		awake = poll(&wait, 1, PATIENCE) == 1;
		(void)roce_local_disarm(m->local);
	}
	return awake;
}

/* A frame goes there and back; the end that waits sleeps as often as it can. */
static void *
play_asleep(void *arg)
{
	struct member *m = arg;
	const unsigned int to = !m->index;

	for (unsigned int trip = 0; trip < TRIPS && !m->failed; trip++) {
		if (m->index == 0 || trip > 0)
			send_burst(m, to, 1);
		if (!sleep_for_frame(m))
			m->failed = true;
		/* At every other moment of what the peer does. */
		for (unsigned int i = roll(m, 200); i > 0; i--)
			rte_pause();
	}
	if (m->index == 1)
		send_burst(m, to, 1);
	return NULL;
}

UNIT_RULE_IN(sleeper__is_woken_by_each_frame, NULL, NULL)
{
	open_members(2);
	run_members(2, play_asleep);
	assert_int_equal(member[0].received[1], TRIPS);
	assert_int_equal(member[1].received[0], TRIPS);
	close_members(2);
}
