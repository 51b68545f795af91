/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port.h"

#include <errno.h>

#include <rte_branch_prediction.h>
#include <rte_ethdev.h>

#define PATH_TTL 64
#define RECEIVE_BURSTS \
	16u /**< of roce_port_receive(): no more frames than fit the inbox of another engine */

static_assert(ROCE_PORT_TX_BURST <= ROCE_FAULT_BURST_MAX,
		"a burst goes through fault injection at once");

/* Publish the table's deadline. The table's lock is held. */
static void
set_neigh_at(struct roce_port *port)
{
	__atomic_store_n(&port->neigh_at, roce_neigh_deadline(port->neigh), __ATOMIC_RELAXED);
}

static __rte_noinline bool
hear_neighbour(struct roce_port *port, const struct rte_mbuf *m, uint64_t now)
{
	bool heard;

	rte_spinlock_lock(&port->neigh_lock);
	heard = roce_neigh_rx(port->neigh, m, now);
	set_neigh_at(port);
	rte_spinlock_unlock(&port->neigh_lock);
	return heard;
}

void
roce_port_look(struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	struct roce_port *port = queue->port;
	uint16_t heard = 0;

	for (uint16_t i = 0; i < n && port->neigh != NULL; i++) {
		if (unlikely(roce_neigh_may_want(pkts[i])) && hear_neighbour(port, pkts[i], now))
			heard++;
	}
	queue->stats.neighbour += heard;
	queue->stats.foreign += (uint64_t)n - heard;
}

/* Frames the engine left: words among neighbours, and what is none of our business. */
static __rte_noinline void
take_foreign(struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	const struct roce_port *port = queue->port;

	roce_port_look(queue, pkts, n, now);
	if (port->attached.foreign != NULL)
		port->attached.foreign(port->attached.arg, queue->index, pkts, n);
	else
		rte_pktmbuf_free_bulk(pkts, n);
}

/* The program's answers are others now. Before they are asked for again: it may change its mind meanwhile. */
static void
ask_program(struct roce_port *port, uint64_t now)
{
	__atomic_exchange_n(&port->neigh_at, ROCE_NEVER, __ATOMIC_ACQ_REL);
	roce_cm_resolved(port->cm, now);
}

/* Poll the neighbour table, on queue 0. @return frames to send, at most @p max. */
static __rte_noinline uint16_t
poll_neigh(struct roce_port *port, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	bool changed;
	uint16_t n;

	if (port->neigh == NULL) {
		ask_program(port, now);
		return 0;
	}
	rte_spinlock_lock(&port->neigh_lock);
	n = roce_neigh_tx(port->neigh, pkts, max, now);
	changed = roce_neigh_changed(port->neigh);
	set_neigh_at(port);
	rte_spinlock_unlock(&port->neigh_lock);
	/* Comes back through roce_port_resolve(), so without the table's lock. */
	if (changed)
		roce_cm_resolved(port->cm, now);
	return n;
}

static bool
neigh_is_due(const struct roce_port_queue *queue, uint64_t now)
{
	return queue->index == 0 &&
			now >= __atomic_load_n(&queue->port->neigh_at, __ATOMIC_RELAXED);
}

__rte_noinline void
roce_port_run_timers(struct roce_port_queue *queue, uint64_t now)
{
	if (neigh_is_due(queue, now))
		poll_neigh(queue->port, queue->held, 0, now);
	roce_engine_tx(queue->engine, queue->held, 0, now);
}

/* The part of fetch() for when neighbours have something to say, or faults are injected. */
static __rte_noinline uint16_t
fetch_more(struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	uint16_t room = roce_fault_injection_room(&queue->fault_injection, max);
	uint16_t n = 0;

	if (neigh_is_due(queue, now))
		n = poll_neigh(queue->port, pkts, room / 2, now);
	n += roce_engine_tx(queue->engine, pkts + n, (uint16_t)(room - n), now);
	return roce_fault_injection_burst(&queue->fault_injection, pkts, n);
}

static inline uint16_t
fetch(struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	if (unlikely(queue->fault_injection.on || neigh_is_due(queue, now)))
		return fetch_more(queue, pkts, max, now);
	return roce_engine_tx(queue->engine, pkts, max, now);
}

uint16_t
roce_port_fetch(struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	return fetch(queue, pkts, max, now);
}

void
roce_port_drop_held(struct roce_port_queue *queue)
{
	rte_pktmbuf_free_bulk(queue->held + queue->held_at, queue->held_n);
	queue->held_at = 0;
	queue->held_n = 0;
}

/* There is no device, or none with a peer: frames of other engines arrive, timers run, what is sent is lost. */
static __rte_noinline unsigned int
poll_alone(struct roce_port_queue *queue, uint64_t now)
{
	struct rte_mbuf *none[1];

	if (roce_port_events_is_gone(&queue->port->events))
		queue->idle_every = 0;
	roce_engine_rx(queue->engine, none, 0, now);
	roce_port_drop_held(queue);
	queue->held_n = roce_port_fetch(queue, queue->held, ROCE_PORT_TX_BURST, now);
	roce_port_drop_held(queue);
	return 0;
}

/* Does the device want a call though there is nothing to send? */
static bool
is_wanted(const struct roce_port_queue *queue)
{
	return queue->port->probe.idle_tx_ms != 0 || roce_engine_waits_for_release(queue->engine);
}

/* For a device that has something of its own to say, or frames that it has sent and that somebody waits for. */
static __rte_noinline void
send_nothing(struct roce_port_queue *queue, uint64_t now)
{
	if (queue->port->probe.idle_tx_ms != 0)
		rte_eth_tx_burst(queue->port_id, queue->tx_queue, queue->held, 0);
	/* Unlike a burst, this goes to a driver whose queues may not be there while its owner starts it anew. */
	if (roce_engine_waits_for_release(queue->engine) && roce_port_is_started(queue->port_id))
		rte_eth_tx_done_cleanup(queue->port_id, queue->tx_queue, 0);
	queue->idle_at = now + queue->idle_every;
}

/* Frames in. Without any there is nothing to do but where other engines may have forwarded some. */
static inline uint16_t
receive(struct roce_port_queue *queue, uint64_t now)
{
	struct rte_mbuf *pkts[ROCE_PORT_RX_BURST];
	uint16_t received, n;

	received = rte_eth_rx_burst(queue->port_id, queue->rx_queue, pkts, ROCE_PORT_RX_BURST);
	if (received == 0 && likely(queue->port->queues == 1))
		return 0;
	queue->stats.rx_frames += received;
	n = roce_engine_rx(queue->engine, pkts, received, now);
	if (unlikely(n > 0))
		take_foreign(queue, pkts, n, now);
	return received;
}

void
roce_port_receive(struct roce_port_queue *queue, uint64_t now)
{
	unsigned int left = RECEIVE_BURSTS;

	if (likely(!roce_port_events_is_quiet(&queue->port->events))) {
		while (left > 0 && receive(queue, now) == ROCE_PORT_RX_BURST)
			left--;
	}
	roce_engine_rx_forwarded(queue->engine, now);
}

/* Send the frames that the device refused, oldest first. Meanwhile time passes, and the engine is asked for no more. */
static __rte_noinline uint16_t
send_held(struct roce_port_queue *queue, uint64_t now)
{
	uint16_t sent;

	roce_port_run_timers(queue, now);
	sent = rte_eth_tx_burst(queue->port_id, queue->tx_queue, queue->held + queue->held_at,
			queue->held_n);
	queue->held_at += sent;
	queue->held_n -= sent;
	return sent;
}

static inline uint16_t
send_fresh(struct roce_port_queue *queue, uint64_t now)
{
	uint16_t n = fetch(queue, queue->held, ROCE_PORT_TX_BURST, now);
	uint16_t sent;

	if (n == 0) {
		if (unlikely(queue->idle_every != 0))
			send_nothing(queue, now);
		return 0;
	}
	sent = rte_eth_tx_burst(queue->port_id, queue->tx_queue, queue->held, n);
	queue->held_at = sent;
	queue->held_n = n - sent;
	return sent;
}

unsigned int
roce_port_poll_locked(struct roce_port_queue *queue, uint64_t now)
{
	uint16_t received, sent;

	if (unlikely(roce_port_events_is_quiet(&queue->port->events)))
		return poll_alone(queue, now);
	received = receive(queue, now);
	sent = likely(queue->held_n == 0) ? send_fresh(queue, now) : send_held(queue, now);
	queue->stats.tx_frames += sent;
	if (unlikely(queue->held_n > 0))
		queue->stats.tx_refused++;
	return (unsigned int)received + sent;
}

uint64_t
roce_port_deadline(const struct roce_port_queue *queue)
{
	uint64_t deadline;

	if (queue->held_n > 0 || queue->fault_injection.late != NULL)
		return 0;
	deadline = roce_engine_deadline(queue->engine);
	if (queue->index == 0)
		deadline = RTE_MIN(deadline,
				__atomic_load_n(&queue->port->neigh_at, __ATOMIC_RELAXED));
	if (queue->idle_every != 0 && is_wanted(queue))
		deadline = RTE_MIN(deadline, queue->idle_at);
	return deadline;
}

static int
resolve_here(struct roce_port *port, const struct roce_subnet *from, unsigned int n,
		const struct roce_ip *dst, struct roce_neigh_hop *hop, uint64_t now)
{
	int rc;

	rte_spinlock_lock(&port->neigh_lock);
	rc = roce_neigh_resolve(port->neigh, from, n, dst, hop, now);
	set_neigh_at(port);
	rte_spinlock_unlock(&port->neigh_lock);
	return rc;
}

/* The way is ours to choose, the address of the first hop is the program's to know. */
static int
resolve_there(const struct roce_port *port, const struct roce_subnet *from, unsigned int n,
		const struct roce_ip *dst, struct roce_neigh_hop *hop)
{
	struct roce_route route;
	int rc = roce_subnet_route(from, n, &port->args->gw, dst, &route);

	if (rc != 0)
		return rc;
	hop->src = route.src;
	if (roce_subnet_owns(port->ip.at, port->ip.n, &route.via)) {
		hop->mac = port->mac;
		return 0;
	}
	rc = port->attached.resolve(port->attached.arg, route.via.b, hop->mac.addr_bytes);
	return rc == 0 || rc == -EAGAIN ? rc : -EHOSTUNREACH;
}

/* The addresses of a context, with their subnets. @return how many. */
static unsigned int
own_subnets(const struct roce_port *port, const struct roce_context *context,
		struct roce_subnet *own)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < port->ip.n; i++) {
		const struct roce_subnet *subnet = &port->ip.at[i];
		bool all = context == NULL || context->addrs == 0;

		for (uint32_t c = 0; !all && c < context->addrs; c++) {
			if (roce_ip_equal(&context->addr[c], &subnet->addr)) {
				own[n++] = *subnet;
				break;
			}
		}
		if (all)
			own[n++] = *subnet;
	}
	return n;
}

int
roce_port_resolve(void *arg, const struct roce_context *context, const struct roce_ip *dst,
		struct roce_path *path, uint64_t now)
{
	struct roce_port *port = arg;
	struct roce_subnet own[ROCE_ADDRS_MAX];
	struct roce_neigh_hop hop = { 0 };
	unsigned int n = own_subnets(port, context, own);
	int rc = port->neigh != NULL ? resolve_here(port, own, n, dst, &hop, now)
				     : resolve_there(port, own, n, dst, &hop);

	/* No host is on-link any more. */
	if (roce_port_events_is_gone(&port->events))
		rc = -EHOSTUNREACH;
	/* All but the MAC also when nobody has told it yet: a passive connection has that from the frame. */
	*path = (struct roce_path){
		.src_mac = port->mac,
		.dst_mac = hop.mac,
		.src_ip = hop.src,
		.dst_ip = *dst,
		.vlan_tci = port->vlan_tci,
		.tos = port->tos,
		.ttl = PATH_TTL,
		.mtu_code = port->mtu_code,
	};
	return rc;
}
