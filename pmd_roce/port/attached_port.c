/* SPDX-License-Identifier: BSD-3-Clause */

/* A port of what a program lends: queues of its own port, or none at all. Nothing of it is changed. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_lcore.h>

#include "port/loan.h"
#include "port/memory.h"
#include "port/pool.h"
#include "port/port.h"

/* Frames that a device is thought to keep. */
#define DESCRIPTORS 1024

#define FRAME_ROOM 1500u

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

static int
check_queues(const struct roce_attach_config *lent, unsigned int engines,
		const struct rte_eth_dev_info *info, struct roce_errmsg *why)
{
	for (unsigned int e = 0; e < engines; e++) {
		if (lent->rx_queue[e] >= info->nb_rx_queues)
			return roce_errmsg_set(why, -ENODEV, "port %u has no receive queue %u",
					lent->port_id, lent->rx_queue[e]);
		if (lent->tx_queue[e] >= info->nb_tx_queues)
			return roce_errmsg_set(why, -ENODEV, "port %u has no transmit queue %u",
					lent->port_id, lent->tx_queue[e]);
		for (unsigned int f = 0; f < e; f++) {
			if (lent->rx_queue[e] == lent->rx_queue[f] ||
					lent->tx_queue[e] == lent->tx_queue[f])
				return roce_errmsg_set(why, -EINVAL,
						"engines %u and %u have the same queue", f, e);
		}
	}
	return 0;
}

static int
take_mac(struct roce_port *port, const struct roce_attach_config *lent, struct roce_errmsg *why)
{
	memcpy(port->mac.addr_bytes, lent->mac, sizeof(port->mac.addr_bytes));
	if (!rte_is_zero_ether_addr(&port->mac))
		return 0;
	if (rte_eth_macaddr_get(lent->port_id, &port->mac) != 0 ||
			rte_is_zero_ether_addr(&port->mac))
		return roce_errmsg_set(
				why, -EINVAL, "mac is needed: port %u has none", lent->port_id);
	return 0;
}

/* The program's port, as it is. */
static int
take_queues(struct roce_port *port, const struct roce_attach_config *lent, struct roce_errmsg *why)
{
	struct rte_eth_dev_info info;
	uint16_t mtu;
	int rc;

	if (!rte_eth_dev_is_valid_port(lent->port_id) ||
			rte_eth_dev_info_get(lent->port_id, &info) != 0 ||
			rte_eth_dev_get_mtu(lent->port_id, &mtu) != 0)
		return roce_errmsg_set(why, -ENODEV, "there is no port %u", lent->port_id);
	rc = check_queues(lent, port->queues, &info, why);
	if (rc == 0 && !roce_port_is_started(lent->port_id))
		rc = roce_errmsg_set(why, -ENODEV, "port %u is not started", lent->port_id);
	if (rc == 0 && lent->tx_ip_cksum &&
			(info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM) == 0)
		rc = roce_errmsg_set(why, -EINVAL,
				"tx_ip_cksum is said of port %u, which cannot do it",
				lent->port_id);
	if (rc == 0)
		rc = roce_attach_lend(&port->attach, lent->name, lent->port_id, why);
	if (rc == 0)
		rc = take_mac(port, lent, why);
	if (rc != 0)
		return rc;
	port->id = lent->port_id;
	for (unsigned int q = 0; q < port->queues; q++) {
		port->queue[q].port_id = port->id;
		port->queue[q].rx_queue = lent->rx_queue[q];
		port->queue[q].tx_queue = lent->tx_queue[q];
	}
	snprintf(port->driver, sizeof(port->driver), "%s", info.driver_name);
	return roce_port_fit_mtu(port, mtu, &port->mtu_code, why);
}

/* No port: frames come and go through the program's hands. */
static int
take_hands(struct roce_port *port, const struct roce_attach_config *lent, struct roce_errmsg *why)
{
	uint32_t room = lent->frame_room != 0 ? lent->frame_room : FRAME_ROOM;
	int rc = roce_attach_lend(&port->attach, lent->name, RTE_MAX_ETHPORTS, why);

	if (rc != 0)
		return rc;
	port->id = RTE_MAX_ETHPORTS;
	memcpy(port->mac.addr_bytes, lent->mac, sizeof(port->mac.addr_bytes));
	snprintf(port->driver, sizeof(port->driver), "handover");
	return roce_port_fit_mtu(port, room, &port->mtu_code, why);
}

/* One segment of the program's pool holds the largest frame. */
static int
take_pool(struct roce_port *port, unsigned int q, struct rte_mempool *pool, struct roce_errmsg *why)
{
	uint32_t want = ROCE_FRAME_LEN_MAX(roce_mtu_bytes(port->mtu_code)) + RTE_PKTMBUF_HEADROOM;

	if (pool->private_data_size < sizeof(struct rte_pktmbuf_pool_private))
		return roce_errmsg_set(why, -EINVAL, "pool %u is none of frames", q);
	if (rte_pktmbuf_data_room_size(pool) < want)
		return roce_errmsg_set(why, -EINVAL,
				"pool %u has room for %u bytes a frame: want %u for path MTU %u", q,
				rte_pktmbuf_data_room_size(pool), want,
				roce_mtu_bytes(port->mtu_code));
	port->tx_pool[q] = pool;
	port->lent.pools |= (uint8_t)(1u << q);
	return 0;
}

static int
take_pools(struct roce_port *port, const struct roce_attach_config *lent, struct roce_errmsg *why)
{
	int socket = lent->mode == ROCE_ATTACH_QUEUES ? rte_eth_dev_socket_id(port->id)
						      : (int)rte_socket_id();

	for (unsigned int q = 0; q < port->queues; q++) {
		int rc = 0;

		if (lent->pool[q] != NULL)
			rc = take_pool(port, q, lent->pool[q], why);
		else if (roce_port_make_tx_pool(port, q, DESCRIPTORS, socket) != 0)
			rc = roce_errmsg_set(why, -ENOMEM, "no memory for the frames of port %s",
					lent->name);
		if (rc != 0)
			return rc;
	}
	return roce_port_make_loans(port, socket, why);
}

int
roce_port_lend(const struct roce_port_config *config, const struct roce_attach_config *lent,
		struct roce_port **out, struct roce_errmsg *why)
{
	struct roce_port *port = roce_port_create(config);
	int rc;

	if (port == NULL)
		return roce_errmsg_set(why, -ENOMEM, "no memory for a port");
	port->lent.mode = lent->mode;
	port->lent.resolve = lent->resolve;
	port->lent.foreign = lent->foreign;
	port->lent.arg = lent->arg;
	port->ip_cksum_offload = lent->tx_ip_cksum;
	rc = lent->mode == ROCE_ATTACH_QUEUES ? take_queues(port, lent, why)
					      : take_hands(port, lent, why);
	if (rc == 0)
		rc = take_pools(port, lent, why);
	if (rc == 0)
		roce_memory_plan_attached(port, lent);
	if (rc != 0) {
		roce_port_close(port);
		return rc;
	}
	*out = port;
	return 0;
}
