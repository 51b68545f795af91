/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port.h"

#include <rte_branch_prediction.h>
#include <rte_ethdev.h>

#define PATH_TTL 64

static_assert(ROCE_PORT_TX_BURST <= ROCE_FAULT_BURST_MAX,
		"a burst goes through the faults at once");

/* Publish the table's deadline. The table's lock is held. */
static void
set_neigh_at(struct roce_port *port)
{
	__atomic_store_n(&port->neigh_at, roce_neigh_deadline(port->neigh), __ATOMIC_RELAXED);
}

/* Frames the engine left: words among neighbours, and what is none of our business. All are freed. */
static __rte_noinline void
take_foreign(struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	struct roce_port *port = queue->port;

	rte_spinlock_lock(&port->neigh_lock);
	for (uint16_t i = 0; i < n; i++) {
		if (roce_neigh_rx(port->neigh, pkts[i], now))
			queue->stats.neighbour++;
		else
			queue->stats.foreign++;
	}
	set_neigh_at(port);
	rte_spinlock_unlock(&port->neigh_lock);
	rte_pktmbuf_free_bulk(pkts, n);
}

/* The neighbour table's turn, on queue 0. @return frames to send, at most @p max. */
static __rte_noinline uint16_t
turn_neigh(struct roce_port *port, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	bool changed;
	uint16_t n;

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

/* The device has not taken everything yet: time passes all the same. */
static __rte_noinline void
run_timers(struct roce_port_queue *queue, uint64_t now)
{
	if (neigh_is_due(queue, now))
		turn_neigh(queue->port, queue->held, 0, now);
	roce_engine_tx(queue->engine, queue->held, 0, now);
}

/* Fill the empty held[]. */
static uint16_t
fetch(struct roce_port_queue *queue, uint64_t now)
{
	uint16_t room = roce_fault_room(&queue->fault, ROCE_PORT_TX_BURST);
	uint16_t n = 0;

	if (unlikely(neigh_is_due(queue, now)))
		n = turn_neigh(queue->port, queue->held, room / 2, now);
	n += roce_engine_tx(queue->engine, queue->held + n, (uint16_t)(room - n), now);
	return roce_fault_burst(&queue->fault, queue->held, n);
}

unsigned int
roce_port_turn(struct roce_port_queue *queue, uint64_t now)
{
	struct rte_mbuf *pkts[ROCE_PORT_RX_BURST];
	uint16_t received, n, sent;

	received = rte_eth_rx_burst(queue->port_id, queue->index, pkts, ROCE_PORT_RX_BURST);
	queue->stats.rx_frames += received;
	/* Also without a frame: other engines may have handed some over. */
	n = roce_engine_rx(queue->engine, pkts, received, now);
	if (unlikely(n > 0))
		take_foreign(queue, pkts, n, now);

	if (likely(queue->held_n == 0)) {
		queue->held_at = 0;
		queue->held_n = fetch(queue, now);
		if (queue->held_n == 0)
			return received;
	} else {
		run_timers(queue, now);
	}
	sent = rte_eth_tx_burst(
			queue->port_id, queue->index, queue->held + queue->held_at, queue->held_n);
	queue->stats.tx_frames += sent;
	queue->held_at += sent;
	queue->held_n -= sent;
	if (unlikely(queue->held_n > 0))
		queue->stats.tx_refused++;
	return (unsigned int)received + sent;
}

uint64_t
roce_port_deadline(const struct roce_port_queue *queue)
{
	uint64_t deadline;

	if (queue->held_n > 0 || queue->fault.late != NULL)
		return 0;
	deadline = roce_engine_deadline(queue->engine);
	if (queue->index == 0)
		deadline = RTE_MIN(deadline,
				__atomic_load_n(&queue->port->neigh_at, __ATOMIC_RELAXED));
	return deadline;
}

int
roce_port_resolve(void *arg, const struct roce_ip *dst, struct roce_path *path, uint64_t now)
{
	struct roce_port *port = arg;
	struct roce_neigh_hop hop = { 0 };
	int rc;

	rte_spinlock_lock(&port->neigh_lock);
	rc = roce_neigh_resolve(port->neigh, dst, &hop, now);
	set_neigh_at(port);
	rte_spinlock_unlock(&port->neigh_lock);
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
