/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/port.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "ethdev/tsc.h"

uint64_t
roce_port_now(void)
{
	return rte_rdtsc();
}

uint64_t
roce_port_hz(void)
{
	return roce_tsc_hz();
}

void
roce_port_lock(const struct roce_port *port)
{
	for (unsigned int q = 0; q < port->queues; q++)
		roce_engine_lock(port->queue[q].engine);
}

/* The last one wakes whom the events are for. */
void
roce_port_unlock(const struct roce_port *port)
{
	for (unsigned int q = port->queues - 1u; q > 0; q--)
		roce_engine_unlock_inner(port->queue[q].engine);
	roce_engine_unlock(port->queue[0].engine);
}

void
roce_port_unlock_inner(const struct roce_port *port)
{
	for (unsigned int q = port->queues; q > 0; q--)
		roce_engine_unlock_inner(port->queue[q - 1].engine);
}

/*
 * ethdev does not say whether a port is started; but one that is not has the functions of one that does not exist.
 */
bool
roce_port_is_started(uint16_t port_id)
{
	uint16_t other = RTE_MAX_ETHPORTS - 1;

	while (other > 0 && rte_eth_dev_is_valid_port(other))
		other--;
	return rte_eth_fp_ops[port_id].rx_pkt_burst != rte_eth_fp_ops[other].rx_pkt_burst;
}

bool
roce_port_has_link(const struct roce_port *port)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(port->id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

uint64_t
roce_port_line_rate(const struct roce_port *port)
{
	struct rte_eth_link link;

	/* The number that a virtual wire gives is made up. */
	if (port->probe.soft || rte_eth_link_get_nowait(port->id, &link) != 0 ||
			link.link_speed == RTE_ETH_SPEED_NUM_NONE ||
			link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
		return 0;
	return (uint64_t)link.link_speed * 1000000 / 8;
}

void
roce_port_drop_held(struct roce_port_queue *queue)
{
	rte_pktmbuf_free_bulk(queue->held + queue->held_at, queue->held_n);
	rte_pktmbuf_free_bulk(queue->loop, queue->loop_n);
	queue->held_at = 0;
	queue->held_n = 0;
	queue->loop_n = 0;
}
