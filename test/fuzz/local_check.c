/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Frames that a process may receive, judged by a second opinion: it walks the memory as ring.h describes it in words, and says of
 * each entry whether the peer may send it.
 */

#include "local_world.h"

#define ENTRIES 512u /**< of a channel in a poll: more than a poll takes */

struct entry {
	const uint8_t *frame;
	uint32_t len;
	bool allowed;
};

/* Of a channel: entries between where its reader was and where it is. */
struct walk {
	uint32_t from;
	unsigned int n;
	unsigned int next; /**< allowed entry that is to be received next */
	struct entry entry[ENTRIES];
};

static struct walk walks[LOCAL_PEERS];

static uint32_t
word_at(const struct roce_ring *ring, uint32_t at)
{
	uint32_t word;

	memcpy(&word, &ring->data[at], sizeof(word));
	return word;
}

/* A frame of RoCEv2 as the transport writes it? Over IPv4 without options, or IPv6 without further headers. */
static bool
read_qpn(const uint8_t *f, uint32_t len, uint32_t *qpn)
{
	const bool v4 = len >= 54 && f[12] == 0x08 && f[13] == 0x00;
	const bool v6 = len >= 74 && f[12] == 0x86 && f[13] == 0xdd;
	const uint8_t *bth = f + (v6 ? 62 : 42);

	if (!(v4 && f[14] == 0x45 && f[23] == 17) && !(v6 && f[20] == 17))
		return false;
	*qpn = (uint32_t)bth[5] << 16 | (uint32_t)bth[6] << 8 | bth[7];
	return true;
}

/* The only process that may send this frame; -1: none may. */
static int
sender_of(const uint8_t *frame, uint32_t len)
{
	const uint16_t *peer = local_world.local->peer;
	uint32_t qpn;

	if (!read_qpn(frame, len, &qpn))
		return ROCE_PROCESS_UPLINK;
	if (qpn / 16384 != LOCAL_SELF || peer[qpn % 16384] == 0xffff)
		return -1;
	return peer[qpn % 16384];
}

static bool
may_send(const struct local_peer *peer, const uint8_t *frame, uint32_t len)
{
	return sender_of(frame, len) == (int)peer->number;
}

/* From where the reader was to where it is now: whole entries, each of them possible. */
static void
walk_channel(const struct local_peer *peer, struct walk *walk)
{
	const uint32_t to = peer->channel->rx.head;
	uint32_t at = walk->from;

	walk->n = walk->next = 0;
	while (at != to) {
		uint32_t len = word_at(peer->in, at % LOCAL_BYTES);
		struct entry *entry = &walk->entry[walk->n++];

		BASE_MUST(walk->n <= ENTRIES, "a poll takes no more frames than it has room for");
		if (len == UINT32_MAX && at % LOCAL_BYTES != 0) {
			at += LOCAL_BYTES - at % LOCAL_BYTES;
			len = word_at(peer->in, 0);
			if (at == to && peer->channel->broken) {
				walk->n--;
				return;
			}
		}
		BASE_MUST(len >= 14 && len <= 4352, "a frame has a possible length");
		BASE_MUST(at % LOCAL_BYTES + 4 + len <= LOCAL_BYTES, "a frame is in one piece");
		*entry = (struct entry){ &peer->in->data[at % LOCAL_BYTES + 4], len, false };
		entry->allowed = may_send(peer, entry->frame, len);
		at += (4 + len + LOCAL_LINE - 1) / LOCAL_LINE * LOCAL_LINE;
		BASE_MUST(to - at <= LOCAL_BYTES * ENTRIES, "a reader stops between two entries");
	}
}

static const struct local_peer *
find_peer(int number)
{
	for (unsigned int i = 0; i < LOCAL_PEERS; i++) {
		if ((int)local_world.peer[i].number == number &&
				local_world.peer[i].channel != NULL)
			return &local_world.peer[i];
	}
	return NULL;
}

/* It is the next one that its sender may send, with all its bytes. */
static void
judge_exactly(const struct local_peer *peer, const uint8_t *frame, uint32_t len)
{
	struct walk *walk = &walks[peer - local_world.peer];

	while (walk->next < walk->n && !walk->entry[walk->next].allowed)
		walk->next++;
	/* Some found no memory. */
	while (walk->next < walk->n && local_world.dry && walk->entry[walk->next].len != len)
		walk->next++;
	BASE_MUST(walk->next < walk->n, "a frame that is received was sent");
	BASE_MUST(walk->entry[walk->next].len == len &&
					memcmp(walk->entry[walk->next].frame, frame, len) == 0,
			"a frame is received whole and in order");
	walk->next++;
}

/* Frames of the honest peer: none is missing but for memory, and none is forged. */
static void
judge_honest(const uint8_t *frame, uint32_t len)
{
	struct local_peer *honest = &local_world.peer[LOCAL_HONEST];
	uint32_t number;

	BASE_MUST(len >= LOCAL_MARK_AT + 4, "a frame of the honest peer is whole");
	number = local_u32(frame + LOCAL_MARK_AT);
	BASE_MUST(number == honest->received || local_world.local->stats.rx_no_memory > 0,
			"frames of the honest peer come in order");
	BASE_MUST(number >= honest->received && number < honest->sent,
			"a frame of the honest peer comes once");
	honest->received = number + 1;
	for (uint32_t i = LOCAL_MARK_AT + 4; i < len; i++)
		BASE_MUST(frame[i] == (uint8_t)number, "a frame of the honest peer is not torn");
}

static void
judge_frame(struct rte_mbuf *m, bool exactly)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct local_peer *peer = find_peer(sender_of(frame, m->pkt_len));

	BASE_MUST(m->nb_segs == 1 && m->pkt_len == m->data_len, "a frame has one segment");
	BASE_MUST(peer != NULL, "a frame is received from its sender alone");
	if (exactly)
		judge_exactly(peer, frame, m->pkt_len);
	if (peer->number == local_world.peer[LOCAL_HONEST].number)
		judge_honest(frame, m->pkt_len);
}

/* Each dropped frame was counted once. */
static void
judge_drops(const struct roce_local_stats *before)
{
	const struct roce_local_stats *now = &local_world.local->stats;
	uint64_t wrong = 0;

	for (unsigned int i = 0; i < LOCAL_PEERS; i++) {
		for (unsigned int e = 0; e < walks[i].n; e++) {
			wrong += !walks[i].entry[e].allowed;
			BASE_MUST(e < walks[i].next || !walks[i].entry[e].allowed ||
							now->rx_no_memory > before->rx_no_memory,
					"a frame that may come is received");
		}
	}
	BASE_MUST(now->rx_no_memory > before->rx_no_memory ||
					now->rx_wrong_source - before->rx_wrong_source == wrong,
			"a frame of a wrong source is counted");
}

unsigned int
local_poll(uint16_t n)
{
	struct roce_local *local = local_world.local;
	const struct roce_local_stats before = local->stats;
	const bool exactly = local_world.meanwhile == NULL;
	const uint16_t own = (uint16_t)RTE_MIN(rte_ring_count(local->inbox), n / 2u);
	struct rte_mbuf *pkts[LOCAL_BURST];
	uint16_t got;

	for (unsigned int i = 0; i < LOCAL_PEERS; i++) {
		walks[i].n = walks[i].next = 0;
		if (local_world.peer[i].channel != NULL)
			walks[i].from = local_world.peer[i].channel->rx.head;
	}
	got = roce_local_rx(local, pkts, n);
	BASE_MUST(got <= n, "a poll gives no more than was asked for");
	for (unsigned int i = 0; exactly && i < LOCAL_PEERS; i++) {
		if (local_world.peer[i].channel != NULL)
			walk_channel(&local_world.peer[i], &walks[i]);
	}
	for (uint16_t i = own; i < got; i++)
		judge_frame(pkts[i], exactly);
	if (exactly)
		judge_drops(&before);
	rte_pktmbuf_free_bulk(pkts, got);
	return got;
}

void
local_hear(void)
{
	struct local_peer *honest = &local_world.peer[LOCAL_HONEST];
	bool broken = false;
	const uint8_t *frame;
	uint32_t len;

	while ((frame = roce_ring_next(&honest->rx, &len, &broken)) != NULL) {
		const uint32_t number = local_u32(frame + LOCAL_MARK_AT);

		BASE_MUST(len >= LOCAL_MARK_AT + 4 && number >= honest->heard &&
						number < honest->told,
				"frames to the honest peer come in order");
		for (uint32_t i = LOCAL_MARK_AT + 4; i < len; i++)
			BASE_MUST(frame[i] == (uint8_t)number,
					"a frame to the honest peer is whole");
		honest->heard = number + 1;
	}
	BASE_MUST(!broken, "what the honest peer reads makes sense");
	roce_ring_release(&honest->rx);
}

void
local_check(void)
{
	const struct roce_local *local = local_world.local;
	unsigned int channels = 0, hots = 0, broken = 0;

	for (unsigned int i = 0; i < LOCAL_PEERS; i++) {
		const struct roce_channel *channel = local_world.peer[i].channel;

		if (channel == NULL)
			continue;
		channels++;
		hots += channel->hot;
		broken += channel->broken;
		BASE_MUST(!channel->hot || !channel->broken, "no broken channel is polled");
		BASE_MUST(!channel->touched, "all that was put is published");
		BASE_MUST(channel->tx.tail % LOCAL_LINE == 0 && channel->rx.head % LOCAL_LINE == 0,
				"entries begin at lines");
		BASE_MUST(channel->broken ||
						channel->tx.tail - channel->tx.head_seen <=
								LOCAL_BYTES,
				"no more is sent than a ring holds");
		BASE_MUST(local->channel[channel->number] == channel, "a channel has its place");
	}
	BASE_MUST(local->channels == channels && local->hots == hots && hots <= ROCE_LOCAL_HOT,
			"channels are counted");
	for (unsigned int i = 0; i < local->hots; i++)
		BASE_MUST(local->hot[i]->hot, "what is polled knows it");
	BASE_MUST(local->stats.broken >= broken, "a channel that breaks is counted");
	BASE_MUST(!local_world.peer[LOCAL_HONEST].channel->broken &&
					!local_world.peer[LOCAL_HONEST].channel->stalled,
			"the channel of the honest peer works");
}
