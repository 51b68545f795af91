/* SPDX-License-Identifier: BSD-3-Clause */
#include "local/uplink.h"

#include <rte_arp.h>

#include "local/cm_frame.h"
#include "local/headers.h"
#include "local/local_pvt.h"

#define ICMPV6_SOLICITATION  135 /**< of a neighbour (RFC 4861, 4.3) */
#define ICMPV6_ADVERTISEMENT 136 /**< of a neighbour (RFC 4861, 4.4) */

/** Answers to questions about the own addresses are the uplink's to give, and questions of others its to hear. */
enum talk {
	TALK_NONE,
	TALK_QUESTION,
	TALK_ANSWER
};

static enum talk
talk_of(const uint8_t *frame, uint32_t len)
{
	const struct rte_ether_hdr *eth = (const struct rte_ether_hdr *)(const void *)frame;
	const uint8_t *l3 = frame + sizeof(*eth);
	const uint8_t *icmp = l3 + sizeof(struct rte_ipv6_hdr);
	uint16_t op;

	if (len < sizeof(*eth) + sizeof(struct rte_arp_hdr))
		return TALK_NONE;
	if (eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_ARP)) {
		memcpy(&op, l3 + offsetof(struct rte_arp_hdr, arp_opcode), sizeof(op));
		if (op == RTE_BE16(RTE_ARP_OP_REQUEST))
			return TALK_QUESTION;
		return op == RTE_BE16(RTE_ARP_OP_REPLY) ? TALK_ANSWER : TALK_NONE;
	}
	if (eth->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV6) ||
			len <= sizeof(*eth) + sizeof(struct rte_ipv6_hdr) ||
			l3[offsetof(struct rte_ipv6_hdr, proto)] != IPPROTO_ICMPV6)
		return TALK_NONE;
	if (icmp[0] == ICMPV6_SOLICITATION)
		return TALK_QUESTION;
	return icmp[0] == ICMPV6_ADVERTISEMENT ? TALK_ANSWER : TALK_NONE;
}

static bool
is_own_address(const struct roce_local *local, const struct roce_headers *h, size_t at4, size_t at6)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const struct roce_proto_identity *id = &local->identity;

	for (uint32_t i = 0; i < id->addrs; i++) {
		const uint8_t *ip = id->addr[i].ip;

		if (h->v6 ? memcmp(ip, h->l3 + at6, 16) == 0
			  : memcmp(ip, mapped, sizeof(mapped)) == 0 &&
								memcmp(ip + sizeof(mapped),
										h->l3 + at4,
										4) == 0)
			return true;
	}
	return false;
}

static bool
is_from_own(const struct roce_local *local, const struct roce_headers *h)
{
	return is_own_address(local, h, offsetof(struct rte_ipv4_hdr, src_addr),
			offsetof(struct rte_ipv6_hdr, src_addr));
}

static bool
is_to_own(const struct roce_local *local, const struct roce_headers *h)
{
	return is_own_address(local, h, offsetof(struct rte_ipv4_hdr, dst_addr),
			offsetof(struct rte_ipv6_hdr, dst_addr));
}

/* A queue pair of another host knows its peer by address alone, so a message must not name those of another process. */
static bool
is_honest(uint32_t from, const uint8_t *frame, uint32_t len)
{
	struct roce_cm_frame cm;

	return roce_cm_frame_parse(frame, len, &cm) && roce_cm_frame_is_of(&cm, from);
}

bool
roce_local_may_leave(
		const struct roce_local *local, uint32_t from, const uint8_t *frame, uint32_t len)
{
	const struct rte_ether_hdr *eth = (const struct rte_ether_hdr *)(const void *)frame;
	struct roce_headers h = roce_headers_read(frame, len);

	if (len < sizeof(*eth) ||
			memcmp(&eth->src_addr, local->identity.mac, sizeof(eth->src_addr)) != 0)
		return false;
	if (!h.roce)
		return talk_of(frame, len) == TALK_QUESTION;
	if (!roce_headers_port_ok(&h) || !is_from_own(local, &h) || is_to_own(local, &h))
		return false;
	return likely(h.qpn > ROCE_QPN_GSI) || is_honest(from, frame, len);
}

bool
roce_uplink_is_over(const struct roce_local *local)
{
	return __atomic_load_n(&local->over, __ATOMIC_ACQUIRE);
}

uint16_t
roce_uplink_rx(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n)
{
	return roce_local_rx(local, pkts, n);
}

uint16_t
roce_uplink_returned(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n)
{
	if (likely(rte_ring_count(local->passed) == 0))
		return 0;
	return (uint16_t)rte_ring_sc_dequeue_burst(local->passed, (void **)pkts, n, NULL);
}

static void
spread(struct roce_local *local, const struct rte_mbuf *m)
{
	for (uint32_t number = 1; number < ROCE_PROCESSES; number++) {
		struct roce_channel *channel = local->channel[number];

		if (channel == NULL)
			continue;
		roce_local_put(local, channel, m);
		roce_channel_publish(channel, local->number);
	}
}

static void
publish(const struct roce_local *local, struct roce_channel *channel)
{
	if (channel != NULL)
		roce_channel_publish(channel, local->number);
}

/* @param last  of the frame before. @return the channel to publish; NULL: none. */
static struct roce_channel *
deliver(struct roce_local *local, const struct rte_mbuf *m, struct roce_channel *last)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	struct roce_headers h = roce_headers_read(frame, m->data_len);
	struct roce_channel *channel;

	if (unlikely(!h.roce)) {
		enum talk talk = talk_of(frame, m->data_len);

		if (talk == TALK_ANSWER)
			spread(local, m);
		local->foreign += talk == TALK_NONE;
		return NULL;
	}
	/* A frame from outside that says it is from here would be taken for one of another process. */
	if (unlikely(!roce_headers_port_ok(&h) || !is_to_own(local, &h) ||
			    is_from_own(local, &h))) {
		local->stats.rx_wrong_source++;
		local->wrong_address++;
		return NULL;
	}
	if (unlikely(h.qpn == ROCE_QPN_GSI)) {
		/* An acknowledgement that came before a DREQ is there when that arrives. */
		publish(local, last);
		roce_local_send_by_roced(local, m);
		return NULL;
	}
	channel = h.qpn >> ROCE_QPN_SHIFT < ROCE_PROCESSES ? local->channel[h.qpn >> ROCE_QPN_SHIFT]
							   : NULL;
	if (unlikely(channel == NULL)) {
		local->stats.tx_no_channel++;
		return NULL;
	}
	roce_local_put(local, channel, m);
	return channel;
}

void
roce_uplink_tx(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n)
{
	struct roce_channel *last = NULL;

	for (uint16_t i = 0; i < n; i++) {
		struct roce_channel *channel = deliver(local, pkts[i], last);

		/* Frames for one process come in a row, mostly. */
		if (last != channel)
			publish(local, last);
		last = channel;
	}
	publish(local, last);
	rte_pktmbuf_free_bulk(pkts, n);
}

/* Frames that the channels transmit have come from the wire, and those that they receive are to go there. */
int
roce_uplink_tell(struct roce_local *local, const struct roce_msg_uplink *port)
{
	const struct roce_local_stats *stats = &local->stats;
	struct roce_msg msg = { .type = ROCE_MSG_UPLINK, .uplink = *port };
	struct roce_msg_uplink *all = &msg.uplink;

	all->rx_local = stats->tx_frames;
	all->tx_local = stats->rx_frames;
	all->rx_roced = stats->tx_roced;
	all->rx_foreign = local->foreign;
	all->rx_wrong_address = local->wrong_address;
	all->rx_unroutable = stats->tx_no_channel;
	all->rx_slow = stats->tx_stalled;
	all->rx_roced_lost = stats->tx_roced_lost;
	all->tx_forged = port->tx_forged + stats->rx_wrong_source - local->wrong_address;
	all->tx_no_memory = stats->rx_no_memory;
	return roce_local_tell(local, &msg);
}
