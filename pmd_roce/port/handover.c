/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_common.h>
#include <rte_pause.h>

#include "port/device.h"

/*
 * Who asks for fewer frames gets them from a store that is filled in bursts: the neighbours, the connection manager and
 * the faults made on purpose share a burst, and each gets something of it only when it is not too small.
 */
#define DIRECT_MIN 16u

/* The engine's, unless there is no such engine or it has frames of its own. */
static struct roce_port_queue *
find_queue(struct roce_device *device, unsigned int engine)
{
	struct roce_port *port = device->port;

	if (engine >= port->queues || port->lent.mode != ROCE_ATTACH_HANDOVER)
		return NULL;
	return &port->queue[engine];
}

/* Frames do not wait for another time: callers of control are short. */
static void
lock_to_turn(struct roce_port_queue *queue)
{
	while (!roce_engine_trylock(queue->engine))
		rte_pause();
}

uint16_t
roce_device_rx(struct roce_device *device, unsigned int engine, struct rte_mbuf **pkts, uint16_t n)
{
	struct roce_port_queue *queue = find_queue(device, engine);
	uint64_t now;

	if (queue == NULL)
		return n;
	lock_to_turn(queue);
	now = roce_port_now();
	queue->stats.rx_frames += n;
	n = roce_engine_rx(queue->engine, pkts, n, now);
	if (n > 0)
		roce_port_look(queue, pkts, n, now);
	roce_engine_unlock(queue->engine);
	return n;
}

/* What is in store first, in order. */
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
	lock_to_turn(queue);
	now = roce_port_now();
	if (queue->held_n > 0 || queue->fault.on || max < DIRECT_MIN)
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

	/* Engine 0 asks at its next turn, which is due now. */
	if (port->lent.resolve != NULL)
		__atomic_store_n(&port->neigh_at, 0, __ATOMIC_RELEASE);
}
