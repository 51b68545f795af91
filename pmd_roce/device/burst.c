/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/burst.h"

#include <rte_branch_prediction.h>
#include <rte_ethdev.h>

#include "device/port_neigh.h"
#include "local/local.h"

#define RECEIVE_BURSTS \
	16u /**< of roce_port_receive(): no more frames than fit the inbox of another engine */

static_assert(ROCE_PORT_TX_BURST <= ROCE_FAULT_BURST_MAX,
		"a burst goes through fault injection at once");

void
roce_port_inspect_foreign(
		struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	struct roce_port *port = queue->port;
	uint16_t heard = 0;

	for (uint16_t i = 0; i < n && port->neigh != NULL; i++) {
		if (unlikely(roce_neigh_may_want(pkts[i])) &&
				roce_port_hear_neighbour(port, pkts[i], now))
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

	roce_port_inspect_foreign(queue, pkts, n, now);
	if (port->attached.foreign != NULL)
		port->attached.foreign(port->attached.arg, queue->index, pkts, n);
	else
		rte_pktmbuf_free_bulk(pkts, n);
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
		roce_port_poll_neigh(queue->port, queue->held, 0, now);
	roce_engine_tx(queue->engine, queue->held, 0, now);
}

/* Frames of the port to itself arrive. */
static void
receive_looped(struct roce_port_queue *queue, uint64_t now)
{
	const uint16_t n = queue->loop_n;
	uint16_t left;

	if (n == 0)
		return;
	queue->loop_n = 0;
	left = roce_engine_rx(queue->engine, queue->loop, n, now);
	/* An address that left the device meanwhile. */
	if (unlikely(left > 0))
		rte_pktmbuf_free_bulk(queue->loop, left);
}

/* Frames of the port to itself stay here until the next burst: no device sends them back. @return how many others. */
static uint16_t
keep_looped(struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t others = 0;

	for (uint16_t i = 0; i < n; i++) {
		const struct rte_ether_hdr *eth =
				rte_pktmbuf_mtod(pkts[i], const struct rte_ether_hdr *);

		if (rte_is_same_ether_addr(&eth->dst_addr, &queue->port->mac))
			queue->loop[queue->loop_n++] = pkts[i];
		else
			pkts[others++] = pkts[i];
	}
	return others;
}

/* The part of fetch() for when neighbours have something to say, faults are injected, or the port talks to itself. */
static __rte_noinline uint16_t
fetch_more(struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	const bool loops = __atomic_load_n(&queue->loops, __ATOMIC_RELAXED);
	uint16_t room, n = 0;

	receive_looped(queue, now);
	if (loops)
		max = RTE_MIN(max, (uint16_t)ROCE_PORT_TX_BURST);
	room = roce_fault_injection_room(&queue->fault_injection, max);
	if (neigh_is_due(queue, now))
		n = roce_port_poll_neigh(queue->port, pkts, room / 2, now);
	n += roce_engine_tx(queue->engine, pkts + n, (uint16_t)(room - n), now);
	n = roce_fault_injection_burst(&queue->fault_injection, pkts, n);
	return loops ? keep_looped(queue, pkts, n) : n;
}

/* Does something happen here to frames of the engine, before they leave? */
static inline bool
takes_detour(const struct roce_port_queue *queue)
{
	return queue->fault_injection.on | __atomic_load_n(&queue->loops, __ATOMIC_RELAXED);
}

static inline uint16_t
fetch(struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	if (unlikely(takes_detour(queue) || neigh_is_due(queue, now)))
		return fetch_more(queue, pkts, max, now);
	return roce_engine_tx(queue->engine, pkts, max, now);
}

uint16_t
roce_port_fetch(struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	return fetch(queue, pkts, max, now);
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

/* To the port of ethdev, or to the other processes. */
static inline uint16_t
tx_burst(struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	if (unlikely(queue->local != NULL))
		return roce_local_tx(queue->local, pkts, n);
	return rte_eth_tx_burst(queue->port_id, queue->tx_queue, pkts, n);
}

static inline uint16_t
rx_burst(struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	if (unlikely(queue->local != NULL))
		return roce_local_rx(queue->local, pkts, n);
	return rte_eth_rx_burst(queue->port_id, queue->rx_queue, pkts, n);
}

/* Frames in. Without any there is nothing to do but where other engines may have forwarded some. Part of each poll. */
static __rte_always_inline uint16_t
receive(struct roce_port_queue *queue, uint64_t now)
{
	struct rte_mbuf *pkts[ROCE_PORT_RX_BURST];
	uint16_t received, n;

	received = rx_burst(queue, pkts, ROCE_PORT_RX_BURST);
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

	if (likely(!roce_port_events_is_suspended(&queue->port->events))) {
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
	sent = tx_burst(queue, queue->held + queue->held_at, queue->held_n);
	queue->held_at += sent;
	queue->held_n -= sent;
	return sent;
}

/* Send frames in held[]; the device may refuse some. */
static inline uint16_t
send_fetched(struct roce_port_queue *queue, uint16_t n)
{
	uint16_t sent = tx_burst(queue, queue->held, n);

	queue->held_at = sent;
	queue->held_n = n - sent;
	return sent;
}

static inline uint16_t
send_fresh(struct roce_port_queue *queue, uint64_t now)
{
	uint16_t n = fetch(queue, queue->held, ROCE_PORT_TX_BURST, now);

	if (n != 0)
		return send_fetched(queue, n);
	if (unlikely(queue->idle_every != 0))
		send_nothing(queue, now);
	return 0;
}

static inline void
count_sent(struct roce_port_queue *queue, uint16_t sent)
{
	queue->stats.tx_frames += sent;
	if (unlikely(queue->held_n > 0))
		queue->stats.tx_refused++;
}

unsigned int
roce_port_poll_locked(struct roce_port_queue *queue, uint64_t now)
{
	uint16_t received, sent;

	if (unlikely(roce_port_events_is_suspended(&queue->port->events)))
		return poll_alone(queue, now);
	received = receive(queue, now);
	sent = likely(queue->held_n == 0) ? send_fresh(queue, now) : send_held(queue, now);
	count_sent(queue, sent);
	return (unsigned int)received + sent + queue->loop_n;
}

void
roce_port_transmit(struct roce_port_queue *queue)
{
	uint16_t n;

	if (unlikely(queue->held_n > 0 || takes_detour(queue) ||
			    roce_port_events_is_pending(&queue->port->events) ||
			    roce_port_events_is_suspended(&queue->port->events)))
		return;
	n = roce_engine_tx_ready(queue->engine, queue->held, ROCE_PORT_TX_BURST);
	if (likely(n > 0))
		count_sent(queue, send_fetched(queue, n));
}

uint64_t
roce_port_deadline(const struct roce_port_queue *queue)
{
	uint64_t deadline;

	if (queue->held_n > 0 || queue->loop_n > 0 || queue->fault_injection.late != NULL)
		return 0;
	deadline = roce_engine_deadline(queue->engine);
	if (queue->index == 0)
		deadline = RTE_MIN(deadline,
				__atomic_load_n(&queue->port->neigh_at, __ATOMIC_RELAXED));
	if (queue->idle_every != 0 && is_wanted(queue))
		deadline = RTE_MIN(deadline, queue->idle_at);
	return deadline;
}
