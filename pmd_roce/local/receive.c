/* SPDX-License-Identifier: BSD-3-Clause */

/* Frames of other processes: which channels are looked into, and which frames are taken. Under the lock of the engine. */

#include <string.h>

#include "local/headers.h"
#include "local/local_pvt.h"

#ifndef IDLE_MAX
/** Polls without a frame after which a channel is armed instead: about a tenth of a millisecond. test/model has its own. */
#define IDLE_MAX 4096u
#endif

/** Idle polls after which a channel gives way to another that has traffic. */
#define IDLE_YIELD 64u

/** Polls between two looks at armed channels without a hint. A power of two. */
#define SCAN_EVERY 64u

/** Polls in a row in which frames that roced passed wait for what the channels have: some milliseconds. */
#define PASSED_WAITS 256u

/** Numbers that such a look passes at most to find a channel: few of a thousand are in use. */
#define SCAN_NUMBERS 16u

/*
 * May process @p from send this frame to this process? A queue pair has one peer; datagrams of the connection manager
 * come by way of roced, and what is not RoCEv2 from the uplink alone.
 */
static inline bool
may_send(const struct roce_local *local, uint32_t from, const uint8_t *frame, uint32_t len)
{
	struct roce_headers h;

	if (unlikely(local->uplink))
		return roce_local_may_leave(local, from, frame, len);
	h = roce_headers_read(frame, len);
	if (unlikely(!h.roce))
		return from == ROCE_PROCESS_UPLINK;
	return h.qpn >> ROCE_QPN_SHIFT == local->number &&
			local->peer[h.qpn & (ROCE_LOCAL_QPS - 1)] == from;
}

static __rte_noinline bool
fetch_spares(struct roce_local *local)
{
	if (rte_pktmbuf_alloc_bulk(local->pool, local->spare, ROCE_LOCAL_BURST) != 0)
		return false;
	local->spares = ROCE_LOCAL_BURST;
	return true;
}

/* Whole lines: the entry begins at one, its frame behind the header word. */
static inline void
copy_lines(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at += ROCE_RING_LINE)
		memcpy(to + at, from + at, ROCE_RING_LINE);
}

static inline struct rte_mbuf *
copy_frame(struct roce_local *local, const uint8_t *frame, uint32_t len)
{
	struct rte_mbuf *m;
	uint8_t *to;

	if (unlikely(local->spares == 0 && !fetch_spares(local))) {
		local->stats.rx_no_memory++;
		return NULL;
	}
	m = local->spare[--local->spares];
	to = rte_pktmbuf_mtod(m, uint8_t *);
	copy_lines(to, frame - sizeof(uint32_t), roce_ring_entry(len));
	m->data_off += sizeof(uint32_t);
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	return m;
}

static inline void
prefetch_ahead(const struct roce_ring_rx *rx)
{
	for (uint32_t i = 0; i < ROCE_RING_AHEAD; i++)
		rte_prefetch0(roce_ring_header(rx->ring, rx->head + i * ROCE_RING_LINE));
}

static void
stop_polling(struct roce_local *local, struct roce_channel *channel)
{
	unsigned int i = 0;

	channel->hot = false;
	while (local->hot[i] != channel)
		i++;
	local->hot[i] = local->hot[--local->hots];
}

/* A channel that is polled makes room for another. */
void
roce_local_set_broken(struct roce_local *local, struct roce_channel *channel)
{
	channel->broken = true;
	local->stats.broken++;
	if (channel->hot)
		stop_polling(local, channel);
}

/* Take frames of one channel, at most @p n. Those that are dropped count: a peer may have a ring without an end. */
static uint16_t
take(struct roce_local *local, struct roce_channel *channel, struct rte_mbuf **pkts, uint16_t n)
{
	bool broken = false;
	uint16_t got = 0;

	if (unlikely(channel->broken))
		return 0;
	for (uint16_t looks = 0; looks < n; looks++) {
		uint32_t len;
		const uint8_t *frame = roce_ring_next(&channel->rx, &len, &broken);
		struct rte_mbuf *m;

		if (frame == NULL)
			break;
		prefetch_ahead(&channel->rx);
		m = copy_frame(local, frame, len);
		if (unlikely(m == NULL))
			break;
		if (likely(may_send(local, channel->number, rte_pktmbuf_mtod(m, uint8_t *), len))) {
			pkts[got++] = m;
		} else {
			local->stats.rx_wrong_source++;
			rte_pktmbuf_free(m);
		}
	}
	roce_ring_release(&channel->rx);
	channel->rx_frames += got;
	local->stats.rx_frames += got;
	if (unlikely(broken))
		roce_local_set_broken(local, channel);
	return got;
}

/* A sleeper wants to hear of channels that another thread polls, too. */
static void
disarm(const struct roce_local *local, struct roce_channel *channel)
{
	if (local->sleepers == 0)
		roce_ring_arm(&channel->rx, false);
}

static void
make_hot(struct roce_local *local, struct roce_channel *channel)
{
	disarm(local, channel);
	channel->hot = true;
	channel->idle = 0;
	local->hot[local->hots++] = channel;
}

/* @return false: it has a frame after all, and stays hot. */
static bool
make_cold(struct roce_local *local, struct roce_channel *channel)
{
	roce_ring_arm(&channel->rx, true);
	if (roce_ring_is_ready(&channel->rx)) {
		disarm(local, channel);
		channel->idle = 0;
		return false;
	}
	stop_polling(local, channel);
	return true;
}

/* A channel with traffic is polled from now on, if there is room or another has been idle. */
static void
warm(struct roce_local *local, struct roce_channel *channel)
{
	unsigned int idlest = 0;

	if (channel->hot || channel->broken)
		return;
	if (local->hots == ROCE_LOCAL_HOT) {
		for (unsigned int i = 1; i < local->hots; i++) {
			if (local->hot[i]->idle > local->hot[idlest]->idle)
				idlest = i;
		}
		if (local->hot[idlest]->idle < IDLE_YIELD || !make_cold(local, local->hot[idlest]))
			return;
	}
	make_hot(local, channel);
}

/* One that stays armed and has more than was taken rings by itself. */
static uint16_t
look(struct roce_local *local, uint32_t number, struct rte_mbuf **pkts, uint16_t n)
{
	struct roce_channel *channel = local->channel[number];
	uint16_t got;

	if (channel == NULL || channel->hot)
		return 0;
	got = take(local, channel, pkts, n);
	if (got > 0)
		warm(local, channel);
	if (!channel->hot && !channel->broken && roce_ring_is_ready(&channel->rx))
		(void)roce_bell_ring(local->bell, number);
	return got;
}

static uint16_t
answer_word(struct roce_local *local, unsigned int word, uint64_t bits, struct rte_mbuf **pkts,
		uint16_t n)
{
	uint16_t got = 0;

	while (bits != 0) {
		uint32_t number = word * 64 + (uint32_t)__builtin_ctzll(bits);
		uint16_t more = 0;

		bits &= bits - 1;
		if (number < ROCE_PROCESSES)
			more = look(local, number, pkts + got, (uint16_t)(n - got));
		if (more > 0)
			local->answer_from = (number + 1) % ROCE_PROCESSES;
		got += more;
	}
	return got;
}

static uint16_t
answer_words(struct roce_local *local, uint64_t words, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t got = 0;

	while (words != 0) {
		unsigned int word = (unsigned int)__builtin_ctzll(words);

		words &= words - 1;
		if (word >= ROCE_BELL_WORDS)
			break;
		got += answer_word(local, word, roce_bell_take(local->bell, word), pkts + got,
				(uint16_t)(n - got));
	}
	return got;
}

/* In the order of their numbers, and from one behind the last that had frames: where there is no room, all have turns. */
static __rte_noinline uint16_t
answer_bell(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n)
{
	const unsigned int word = local->answer_from / 64;
	const uint64_t from = UINT64_MAX << local->answer_from % 64;
	const uint64_t behind = UINT64_MAX << word << 1;
	uint64_t words = roce_bell_take_summary(local->bell);
	uint64_t bits = 0;
	uint16_t got;

	local->stats.bells++;
	if ((words & UINT64_C(1) << word) != 0)
		bits = roce_bell_take(local->bell, word);
	got = answer_word(local, word, bits & from, pkts, n);
	got += answer_words(local, words & behind, pkts + got, (uint16_t)(n - got));
	got += answer_words(local, words & ~behind & ~(UINT64_C(1) << word), pkts + got,
			(uint16_t)(n - got));
	got += answer_word(local, word, bits & ~from, pkts + got, (uint16_t)(n - got));
	return got;
}

/* An armed channel, now and then: nobody can keep this process from seeing the frames of another for long. */
static __rte_noinline uint16_t
scan(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n)
{
	if (local->channels <= local->hots)
		return 0;
	for (unsigned int i = 0; i < SCAN_NUMBERS; i++) {
		local->scan = local->scan + 1 < ROCE_PROCESSES ? local->scan + 1 : 0;
		if (local->channel[local->scan] != NULL)
			return look(local, local->scan, pkts, n);
	}
	return 0;
}

/* The first @p n channels go behind the others. */
static void
rotate_hot(struct roce_local *local, unsigned int n)
{
	struct roce_channel *hot[ROCE_LOCAL_HOT];

	memcpy(hot, local->hot, sizeof(hot));
	for (unsigned int i = 0; i < local->hots; i++) {
		local->hot[i] = hot[n];
		n = n + 1 < local->hots ? n + 1 : 0;
	}
}

static inline uint16_t
take_hot(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t got = 0;

	for (unsigned int i = 0; i < local->hots; i++) {
		struct roce_channel *channel = local->hot[i];

		if (roce_ring_is_ready(&channel->rx)) {
			got += take(local, channel, pkts + got, (uint16_t)(n - got));
			channel->idle = 0;
			/* No room is left: the next poll begins with the next one. */
			if (got == n && i + 1 < local->hots) {
				rotate_hot(local, i + 1);
				break;
			}
		} else if (unlikely(++channel->idle > IDLE_MAX)) {
			make_cold(local, channel);
		}
	}
	return got;
}

static __rte_noinline uint16_t
take_armed(struct roce_local *local, bool scans, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t got = scans ? scan(local, pkts, n) : 0;

	if (roce_bell_has_rung(local->bell))
		got += answer_bell(local, pkts + got, (uint16_t)(n - got));
	return got;
}

/*
 * Each kind of channel leaves half of the room to those behind it: no peer keeps the frames of another out.
 * @param all set: false if frames may be left that were sent before the call.
 */
static inline uint16_t
take_all(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n, bool *all)
{
	bool scans = (++local->polls & (SCAN_EVERY - 1)) == 0;
	bool armed = scans || roce_bell_has_rung(local->bell);
	uint16_t got = 0, more, room;

	*all = true;
	if (unlikely(rte_ring_count(local->inbox) > 0)) {
		got = (uint16_t)rte_ring_sc_dequeue_burst(local->inbox, (void **)pkts, n / 2, NULL);
		*all = got < n / 2;
	}
	room = (uint16_t)(armed ? (n - got) / 2 : n - got);
	more = take_hot(local, pkts + got, room);
	*all &= more < room;
	got += more;
	if (unlikely(armed)) {
		room = (uint16_t)(n - got);
		more = take_armed(local, scans, pkts + got, room);
		*all &= more < room;
		got += more;
	}
	return got;
}

/*
 * A DREQ comes by way of roced, and the acknowledgement that its sender sent before comes by a channel. A DREQ that is
 * received first flushes a request that was carried out. So the frames that roced passed go behind all that the channels
 * had when roced passed them. They wait while the channels fill each burst, for PASSED_WAITS polls at most.
 */
static __rte_noinline uint16_t
take_passed(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t passed = (uint16_t)RTE_MIN(rte_ring_count(local->passed), n / 2u);
	uint16_t got;
	bool all;

	/* The channels are read behind the count: they have what was sent before the frames that are counted. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	got = take_all(local, pkts, (uint16_t)(n - passed), &all);
	if (!all && ++local->passed_waits < PASSED_WAITS)
		return got;
	local->passed_waits = 0;
	return got +
			(uint16_t)rte_ring_sc_dequeue_burst(
					local->passed, (void **)(pkts + got), passed, NULL);
}

uint16_t
roce_local_rx(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n)
{
	bool all;

	/* Messages of roced to the uplink are for roce_uplink_returned(). */
	if (unlikely(rte_ring_count(local->passed) > 0) && !local->uplink)
		return take_passed(local, pkts, n);
	return take_all(local, pkts, n, &all);
}

bool
roce_local_is_pending(const struct roce_local *local, uint32_t number)
{
	const struct roce_channel *channel = local->channel[number];

	if (!rte_ring_empty(local->inbox) || !rte_ring_empty(local->passed))
		return true;
	return channel != NULL && !channel->broken && roce_ring_is_ready(&channel->rx);
}
