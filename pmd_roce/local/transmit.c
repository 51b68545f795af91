/* SPDX-License-Identifier: BSD-3-Clause */

/* Frames to other processes: where each goes, and what becomes of a peer that does not read. Under the lock of the engine. */

#include <string.h>

#include <rte_cycles.h>

#include "local/headers.h"
#include "local/local_pvt.h"

/** Part of a ring that a peer has to read within the stall time. */
#define STALL_BYTES (ROCE_RING_BYTES / 64)

/* When the receiver is at @p head. */
static inline bool
is_half_free(const struct roce_channel *channel, uint32_t head)
{
	return channel->tx.tail - head <= ROCE_RING_BYTES / 2;
}

/*
 * The ring is full. A peer that reads is waited for; one that has read less than its share in time is given up, until half
 * of its ring is free again, so that it holds nobody else up.
 * @return wait?
 */
static __rte_noinline bool
must_wait(struct roce_local *local, struct roce_channel *channel)
{
	uint64_t now = rte_rdtsc();

	if (channel->stalled)
		return false;
	if (channel->stall_by == 0 || channel->tx.head_seen - channel->stall_head >= STALL_BYTES) {
		channel->stall_head = channel->tx.head_seen;
		channel->stall_by = now + local->stall_ticks;
		return true;
	}
	channel->stalled = now > channel->stall_by;
	return !channel->stalled;
}

/* Does a peer that was given up read again? */
static bool
has_recovered(struct roce_channel *channel)
{
	if (!is_half_free(channel, __atomic_load_n(&channel->tx.ring->head, __ATOMIC_ACQUIRE)))
		return false;
	channel->stalled = false;
	channel->stall_by = 0;
	return true;
}

static void
copy_segments(uint8_t *to, const struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next) {
		memcpy(to, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
		to += m->data_len;
	}
}

/* The first frame for a process: roced is asked for a channel, and the peer's retry finds it. */
static __rte_noinline void
ask_for_channel(struct roce_local *local, uint32_t number)
{
	struct roce_msg msg = { .type = ROCE_MSG_OPEN, .peer = { .number = number } };

	if (number < ROCE_PROCESSES && !local->asked[number] && roce_local_tell(local, &msg) == 0)
		local->asked[number] = 1;
	local->stats.tx_no_channel++;
}

void
roce_local_send_by_roced(struct roce_local *local, const struct rte_mbuf *m)
{
	struct roce_msg msg = { .type = ROCE_MSG_FRAME, .frame = { .len = m->pkt_len } };

	if (m->pkt_len > sizeof(msg.frame.data))
		return;
	copy_segments(msg.frame.data, m);
	if (roce_local_tell(local, &msg) == 0)
		local->stats.tx_roced++;
	else
		local->stats.tx_roced_lost++;
}

enum sent {
	SENT,  /**< or dropped: free it */
	GIVEN, /**< somebody else's now */
	LATER,
	BY_ROCED, /**< is to be sent that way */
};

static inline enum sent
put(struct roce_local *local, struct roce_channel *channel, const struct rte_mbuf *m)
{
	bool broken = false;
	uint8_t *to;

	if (unlikely(channel->broken || (channel->stalled && !has_recovered(channel)))) {
		local->stats.tx_stalled++;
		return SENT;
	}
	if (unlikely(m->pkt_len > ROCE_RING_FRAME_MAX || m->pkt_len < ROCE_RING_FRAME_MIN))
		return SENT;
	to = roce_ring_put(&channel->tx, m->pkt_len, &broken);
	if (unlikely(to == NULL)) {
		if (broken)
			roce_local_set_broken(local, channel);
		else if (must_wait(local, channel))
			return LATER;
		local->stats.tx_stalled++;
		return SENT;
	}
	channel->tx_frames++;
	local->stats.tx_frames++;
	/* A frame for which there is room says little: a peer that reads one now and then would be waited for without end. */
	if (unlikely(channel->stall_by != 0) && is_half_free(channel, channel->tx.head_seen))
		channel->stall_by = 0;
	channel->touched = true;
	if (likely(m->nb_segs == 1))
		memcpy(to, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
	else
		copy_segments(to, m);
	return SENT;
}

void
roce_local_put(struct roce_local *local, struct roce_channel *channel, const struct rte_mbuf *m)
{
	if (put(local, channel, m) == LATER) {
		local->stats.tx_full++;
		local->stats.tx_stalled++;
	}
}

static inline enum sent
send_one(struct roce_local *local, struct rte_mbuf *m, struct roce_channel **channel)
{
	struct roce_headers h =
			roce_headers_read(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
	uint32_t number = ROCE_PROCESS_UPLINK;

	*channel = NULL;
	if (likely(h.roce && h.to_self)) {
		if (unlikely(h.qpn < 2))
			return BY_ROCED;
		number = h.qpn >> ROCE_QPN_SHIFT;
		if (unlikely(number == local->number)) {
			roce_local_enqueue(local, m);
			return GIVEN;
		}
	}
	if (likely(number < ROCE_PROCESSES))
		*channel = local->channel[number];
	if (unlikely(*channel == NULL)) {
		ask_for_channel(local, number);
		return SENT;
	}
	return put(local, *channel, m);
}

static inline void
publish(struct roce_local *local, struct roce_channel **touched, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		roce_channel_publish(touched[i], local->number);
}

uint16_t
roce_local_tx(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n)
{
	struct roce_channel *touched[ROCE_LOCAL_BURST];
	unsigned int channels = 0;
	uint16_t i, done = 0;

	for (i = 0; i < n; i++) {
		struct roce_channel *channel;
		bool was = false;
		enum sent sent;

		if (unlikely(channels == RTE_DIM(touched))) {
			publish(local, touched, channels);
			channels = 0;
		}
		sent = send_one(local, pkts[i], &channel);
		for (unsigned int c = 0; c < channels && !was; c++)
			was = touched[c] == channel;
		if (channel != NULL && channel->touched && !was)
			touched[channels++] = channel;
		if (unlikely(sent == LATER)) {
			local->stats.tx_full++;
			break;
		}
		/* Frames that were sent before, as the acknowledgement before a DREQ, are there when it arrives. */
		if (unlikely(sent == BY_ROCED)) {
			publish(local, touched, channels);
			channels = 0;
			roce_local_send_by_roced(local, pkts[i]);
			sent = SENT;
		}
		if (likely(sent == SENT))
			pkts[done++] = pkts[i];
	}
	publish(local, touched, channels);
	rte_pktmbuf_free_bulk(pkts, done);
	return i;
}
