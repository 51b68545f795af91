/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/port_setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "ethdev/memory.h"
#include "ethdev/pool.h"
#include "ethdev/port_configure.h"
#include "ethdev/port_plan.h"
#include "ethdev/signals.h"
#include "ethdev/start.h"
#include "ethdev/zcrx.h"
#include "local/local.h"
#include "observe/log.h"

#define LINK_WAIT_MS 2000

/* net_ring has no address. One made of the IP address differs between neighbours, and repeats from run to run. */
static void
set_mac(struct roce_port *port, const struct roce_devargs *args)
{
	if (rte_eth_macaddr_get(port->id, &port->mac) == 0 && !rte_is_zero_ether_addr(&port->mac))
		return;
	port->mac.addr_bytes[0] = RTE_ETHER_LOCAL_ADMIN_ADDR;
	port->mac.addr_bytes[1] = 0;
	memcpy(&port->mac.addr_bytes[2], &args->ip.at[0].addr.b[12], 4);
	rte_eth_promiscuous_enable(port->id);
}

/* Hardware takes its time; a virtual wire has its other end or waits for it, and does not hold us up. */
static void
wait_for_link(const struct roce_port *port)
{
	struct rte_eth_link link;

	if (port->probe.soft)
		return;
	for (unsigned int ms = 0; ms < LINK_WAIT_MS; ms += 10) {
		if (rte_eth_link_get_nowait(port->id, &link) != 0 ||
				link.link_status == RTE_ETH_LINK_UP)
			return;
		rte_delay_us_sleep(10000);
	}
	ROCE_LOG(WARNING, "port %s has no link yet", port->probe.name);
}

void
roce_port_hear_addresses(const struct roce_port *port)
{
	for (uint32_t i = 0; i < port->ip.n; i++) {
		/* Neighbours ask for an IPv6 address at a multicast address made of it. */
		if (!roce_ip_is_v4(&port->ip.at[i].addr))
			rte_eth_allmulticast_enable(port->id);
	}
}

/* Let the VLAN of the port pass the device's filter. */
static void
hear_vlan(const struct roce_port *port)
{
	uint16_t vid = port->vlan_tci & ROCE_VID_MASK;
	int rc = rte_eth_dev_vlan_filter(port->id, vid, 1);

	if (rc != 0)
		ROCE_LOG(WARNING, "port %s: its filter does not let VLAN %u pass: %s",
				port->probe.name, vid, strerror(-rc));
}

static int
start(struct roce_port *port, const struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	struct roce_port_plan plan;
	int rc = roce_port_configure(port, &plan, errmsg);

	if (rc != 0)
		return rc;
	port->started = true;
	port->rx_interrupt.wanted = roce_port_plan_has(&plan, ROCE_PORT_RX_INTERRUPTS);
	port->events.polls_link =
			!roce_port_plan_has(&plan, ROCE_PORT_LINK_INTERRUPTS) && !port->probe.soft;
	set_mac(port, args);
	if (roce_port_plan_has(&plan, ROCE_PORT_VLAN_FILTER))
		hear_vlan(port);
	roce_port_hear_addresses(port);
	roce_steer_begin(&port->steer, port->id, port->queues, port->vlan_tci != 0,
			plan.conf.rx_adv_conf.rss_conf.rss_hf);
	roce_rx_interrupt_begin(port);
	roce_memory_plan(port, plan.conf.txmode.offloads);
	return 0;
}

int
roce_port_reset(struct roce_port *port, const struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	sigset_t signals;
	int rc;

	roce_steer_end(&port->steer);
	roce_rx_interrupt_end(port);
	roce_signals_block(&signals);
	rte_eth_dev_stop(port->id);
	port->started = false;
	rc = rte_eth_dev_reset(port->id);
	roce_signals_restore(&signals);
	/* Stop and start is the most that a driver without a reset can do. */
	if (rc != 0 && rc != -ENOTSUP)
		return roce_errmsg_set(errmsg, rc, "the driver says %s", strerror(-rc));
	return start(port, args, errmsg);
}

struct roce_port *
roce_port_create(const struct roce_port_config *config)
{
	const struct roce_devargs *args = config->args;
	struct roce_port *port = roce_pool_memory.alloc(NULL, sizeof(*port));

	if (port == NULL)
		return NULL;
	port->args = args;
	port->queues = (uint16_t)args->queues;
	port->vlan_tci = (uint16_t)(args->pcp << ROCE_PCP_SHIFT | args->vlan);
	port->tos = (uint8_t)(args->dscp << 2);
	port->neigh_at = ROCE_NEVER;
	port->ip.n = args->ip.n;
	memcpy(port->ip.at, args->ip.at, sizeof(port->ip.at));
	port->rx_interrupt.epoll = -1;
	rte_spinlock_init(&port->neigh_lock);
	for (uint16_t q = 0; q < port->queues; q++) {
		struct roce_port_queue *queue = &port->queue[q];

		queue->port = port;
		queue->index = q;
		queue->rx_queue = q;
		queue->tx_queue = q;
		roce_fault_injection_init(&queue->fault_injection, args->fault, config->seed, q);
	}
	return port;
}

int
roce_port_open(const struct roce_port_config *config, struct roce_port **out,
		struct roce_errmsg *errmsg)
{
	const struct roce_devargs *args = config->args;
	struct roce_port *port = roce_port_create(config);
	int rc;

	if (port == NULL)
		return roce_errmsg_set(errmsg, -ENOMEM, "no memory for a port");
	rc = roce_port_probe_open(args, &port->probe, errmsg);
	if (rc != 0)
		goto free_port;
	port->id = port->probe.port_id;
	/* A client of net_memif, which has none, would wait for its server once more without. */
	port->rx_interrupt.wanted = args->lcores.n == 0 && !port->probe.waits_for_peer;
	for (uint16_t q = 0; q < port->queues; q++) {
		port->queue[q].port_id = port->id;
		port->queue[q].idle_every = port->probe.idle_tx_ms * roce_port_hz() / 1000;
	}
	/* A memif server has no link until a client comes. */
	port->events.suspended = port->probe.memif != NULL && !port->probe.waits_for_peer;
	rc = start(port, args, errmsg);
	if (rc != 0) {
		roce_port_close(port);
		return rc;
	}
	wait_for_link(port);
	*out = port;
	return 0;

free_port:
	roce_pool_memory.free(NULL, port);
	return rc;
}

/*
 * Frames that a driver kept when it was closed are lost to the pool: the engine is gone, and the kernel's socket. So the pool
 * goes with what is missing.
 */
static void
retire_rx_pool(const struct roce_port *port, struct rte_mempool *pool)
{
	if (port->probe.forgets_frames && !roce_port_probe_is_found(&port->probe))
		rte_mempool_free(pool);
	else
		roce_pool_retire(pool);
}

void
roce_port_close(struct roce_port *port)
{
	if (port == NULL)
		return;
	for (unsigned int q = 0; q < port->queues; q++) {
		struct roce_port_queue *queue = &port->queue[q];

		roce_port_drop_held(queue);
		roce_fault_injection_fini(&queue->fault_injection);
	}
	roce_rx_interrupt_end(port);
	/* The number of a port that was closed under us may be another port's by now. */
	if (port->attached.mode == 0 && !port->events.closed) {
		roce_steer_end(&port->steer);
		roce_port_close_device(port);
	}
	if (port->attached.mode == 0 &&
			(!port->events.closed || !roce_port_probe_is_found(&port->probe)))
		roce_port_probe_close(&port->probe);
	/* A driver that was taken away finds its descriptors in there when it is closed. */
	roce_rx_interrupt_close(port);
	roce_local_close(port->local);
	for (unsigned int q = 0; q < port->queues; q++) {
		if ((port->attached.pools & 1u << q) == 0)
			roce_pool_retire(port->tx_pool[q]);
		retire_rx_pool(port, port->rx_pool[q]);
	}
	roce_port_zcrx_retire(port);
	roce_pool_memory.free(NULL, port);
}
