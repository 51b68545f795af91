/* SPDX-License-Identifier: BSD-3-Clause */

/* Mode ROCE_ATTACH_HANDOVER: the program injects the frames that it received, and fetches those to send. */

#include <stddef.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_pause.h>
#include <rte_prefetch.h>
#include <rte_udp.h>

#include "device/burst.h"
#include "device/device.h"

/*
 * A caller that asks for fewer frames gets them from a store that is filled in bursts: the neighbours, the connection manager and
 * fault injection share a burst, and each gets something of it only when it is not too small.
 */
#define DIRECT_MIN 16u

/* Frames whose headers are on their way into the cache while one is looked at. */
#define AHEAD 8u

/* As far as a look goes: to the ports of UDP over IPv4 behind a tag. */
#define LOOK_LEN                                                      \
	(sizeof(struct rte_ether_hdr) + sizeof(struct rte_vlan_hdr) + \
			sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_udp_hdr))

/* The engine's, unless there is no such engine or it has frames of its own. */
static struct roce_port_queue *
find_queue(struct roce_device *device, unsigned int engine)
{
	struct roce_port *port = device->port;

	if (engine >= port->queues || port->attached.mode != ROCE_ATTACH_HANDOVER)
		return NULL;
	return &port->queue[engine];
}

/* Frames do not wait for another time: callers of control are short. */
static void
lock_to_poll(struct roce_port_queue *queue)
{
	while (!roce_engine_trylock(queue->engine))
		rte_pause();
}

static inline uint16_t
load16(const uint8_t *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* Neither RoCEv2 nor a word among neighbours, as ethertype and what is behind it say. */
static inline bool
shows_foreign(uint16_t type, const uint8_t *l3)
{
	const uint8_t *port =
			l3 + sizeof(struct rte_ipv4_hdr) + offsetof(struct rte_udp_hdr, dst_port);
	uint8_t proto;

	if (likely(type == RTE_BE16(RTE_ETHER_TYPE_IPV4))) {
		proto = l3[offsetof(struct rte_ipv4_hdr, next_proto_id)];
		/* Options would move the ports. */
		return proto != IPPROTO_UDP ||
				(l3[0] == RTE_IPV4_VHL_DEF &&
						load16(port) != RTE_BE16(ROCE_UDP_PORT));
	}
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6)) {
		proto = l3[offsetof(struct rte_ipv6_hdr, proto)];
		return proto != IPPROTO_UDP && proto != IPPROTO_ICMPV6;
	}
	return type != RTE_BE16(RTE_ETHER_TYPE_ARP) && type != RTE_BE16(RTE_ETHER_TYPE_VLAN);
}

/*
 * Most frames of others show at once that they are: a program that injects all that it receives pays for little more
 * than this. The engine and the neighbours look at frames that are not known here, short ones among them.
 */
static inline bool
is_foreign(const struct rte_mbuf *m)
{
	const uint8_t *at = rte_pktmbuf_mtod(m, const uint8_t *);
	const uint8_t *l3 = at + sizeof(struct rte_ether_hdr);
	uint16_t type;

	if (unlikely(m->data_len < LOOK_LEN))
		return false;
	type = load16(l3 - sizeof(type));
	if (type == RTE_BE16(RTE_ETHER_TYPE_VLAN)) {
		l3 += sizeof(struct rte_vlan_hdr);
		type = load16(l3 - sizeof(type));
	}
	return shows_foreign(type, l3);
}

static inline void
prefetch_header(const struct rte_mbuf *m)
{
	rte_prefetch0(rte_pktmbuf_mtod(m, const uint8_t *));
}

/* @return how many frames at the front are none of our business, plainly. */
static inline uint16_t
skip_foreign(struct rte_mbuf **pkts, uint16_t n)
{
	const uint16_t first = RTE_MIN(n, (uint16_t)AHEAD);

	for (uint16_t i = 0; i < first; i++)
		prefetch_header(pkts[i]);
	for (uint16_t i = 0; i < n; i++) {
		if (i + AHEAD < n)
			prefetch_header(pkts[i + AHEAD]);
		if (!is_foreign(pkts[i]))
			return i;
	}
	return n;
}

uint16_t
roce_device_rx(struct roce_device *device, unsigned int engine, struct rte_mbuf **pkts, uint16_t n)
{
	struct roce_port_queue *queue = find_queue(device, engine);
	uint16_t foreign, left;
	uint64_t now;

	if (queue == NULL)
		return n;
	/* Not under the lock: they are the program's. */
	foreign = skip_foreign(pkts, n);
	lock_to_poll(queue);
	now = roce_port_now();
	queue->stats.rx_frames += n;
	queue->stats.foreign += foreign;
	/* Also when nothing is left: other engines may have forwarded some. */
	left = roce_engine_rx(queue->engine, pkts + foreign, (uint16_t)(n - foreign), now);
	if (left > 0)
		roce_port_inspect_foreign(queue, pkts + foreign, left, now);
	roce_engine_unlock(queue->engine);
	return (uint16_t)(foreign + left);
}

/* Frames in store first, in order. */
static uint16_t
take_held(struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	uint16_t n;

	if (queue->held_n == 0) {
		queue->held_at = 0;
		queue->held_n = roce_port_fetch(queue, queue->held, ROCE_PORT_TX_BURST, now);
	} else {
		roce_port_run_timers(queue, now);
	}
	n = RTE_MIN(queue->held_n, max);
	/* A caller that wants none may have no place for any. */
	if (n > 0)
		memcpy(pkts, queue->held + queue->held_at, n * sizeof(pkts[0]));
	queue->held_at += n;
	queue->held_n -= n;
	return n;
}

uint16_t
roce_device_tx(struct roce_device *device, unsigned int engine, struct rte_mbuf **pkts,
		uint16_t max)
{
	struct roce_port_queue *queue = find_queue(device, engine);
	uint64_t now;
	uint16_t n;

	if (queue == NULL)
		return 0;
	lock_to_poll(queue);
	now = roce_port_now();
	if (queue->held_n > 0 || queue->fault_injection.on || max < DIRECT_MIN)
		n = take_held(queue, pkts, max, now);
	else
		n = roce_port_fetch(queue, pkts, max, now);
	queue->stats.tx_frames += n;
	roce_engine_unlock(queue->engine);
	return n;
}

void
roce_device_neighbour_changed(struct roce_device *device)
{
	struct roce_port *port = device->port;

	/* Engine 0 asks at its next poll, which is due now. */
	if (port->attached.resolve != NULL)
		__atomic_store_n(&port->neigh_at, 0, __ATOMIC_RELEASE);
}
