/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/attached_port.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_lcore.h>

#include "ethdev/memory.h"
#include "ethdev/pool.h"
#include "ethdev/port_configure.h"
#include "ethdev/port_plan.h"
#include "ethdev/zcrx.h"

/* Frames that a device is thought to keep. */
#define DESCRIPTORS 1024

#define FRAME_ROOM 1500u

static int
check_queues(const struct roce_attach_config *attached, unsigned int engines,
		const struct rte_eth_dev_info *info, struct roce_errmsg *errmsg)
{
	for (unsigned int e = 0; e < engines; e++) {
		if (attached->rx_queue[e] >= info->nb_rx_queues)
			return roce_errmsg_set(errmsg, -ENODEV, "port %u has no receive queue %u",
					attached->port_id, attached->rx_queue[e]);
		if (attached->tx_queue[e] >= info->nb_tx_queues)
			return roce_errmsg_set(errmsg, -ENODEV, "port %u has no transmit queue %u",
					attached->port_id, attached->tx_queue[e]);
		for (unsigned int f = 0; f < e; f++) {
			if (attached->rx_queue[e] == attached->rx_queue[f] ||
					attached->tx_queue[e] == attached->tx_queue[f])
				return roce_errmsg_set(errmsg, -EINVAL,
						"engines %u and %u have the same queue", f, e);
		}
	}
	return 0;
}

static int
take_mac(struct roce_port *port, const struct roce_attach_config *attached,
		struct roce_errmsg *errmsg)
{
	memcpy(port->mac.addr_bytes, attached->mac, sizeof(port->mac.addr_bytes));
	if (!rte_is_zero_ether_addr(&port->mac))
		return 0;
	if (rte_eth_macaddr_get(attached->port_id, &port->mac) != 0 ||
			rte_is_zero_ether_addr(&port->mac))
		return roce_errmsg_set(errmsg, -EINVAL, "mac is needed: port %u has none",
				attached->port_id);
	return 0;
}

/* The program's port, as it is. */
static int
take_queues(struct roce_port *port, const struct roce_attach_config *attached,
		struct roce_errmsg *errmsg)
{
	struct rte_eth_dev_info info;
	uint16_t mtu;
	int rc;

	if (!rte_eth_dev_is_valid_port(attached->port_id) ||
			rte_eth_dev_info_get(attached->port_id, &info) != 0 ||
			rte_eth_dev_get_mtu(attached->port_id, &mtu) != 0)
		return roce_errmsg_set(errmsg, -ENODEV, "there is no port %u", attached->port_id);
	rc = check_queues(attached, port->queues, &info, errmsg);
	if (rc == 0 && !roce_port_is_started(attached->port_id))
		rc = roce_errmsg_set(errmsg, -ENODEV, "port %u is not started", attached->port_id);
	if (rc == 0 && attached->tx_ip_cksum &&
			(info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM) == 0)
		rc = roce_errmsg_set(errmsg, -EINVAL,
				"tx_ip_cksum is said of port %u, which cannot do it",
				attached->port_id);
	if (rc == 0)
		rc = roce_port_probe_attached(
				&port->probe, attached->name, attached->port_id, errmsg);
	if (rc == 0)
		rc = take_mac(port, attached, errmsg);
	if (rc != 0)
		return rc;
	port->id = attached->port_id;
	for (unsigned int q = 0; q < port->queues; q++) {
		port->queue[q].port_id = port->id;
		port->queue[q].rx_queue = attached->rx_queue[q];
		port->queue[q].tx_queue = attached->tx_queue[q];
	}
	snprintf(port->driver, sizeof(port->driver), "%s", info.driver_name);
	return roce_port_fit_mtu(port, mtu, &port->mtu_code, errmsg);
}

/* No port: frames come and go through the program's hands. */
static int
take_hands(struct roce_port *port, const struct roce_attach_config *attached,
		struct roce_errmsg *errmsg)
{
	uint32_t room = attached->frame_room != 0 ? attached->frame_room : FRAME_ROOM;
	int rc = roce_port_probe_attached(&port->probe, attached->name, RTE_MAX_ETHPORTS, errmsg);

	if (rc != 0)
		return rc;
	port->id = RTE_MAX_ETHPORTS;
	memcpy(port->mac.addr_bytes, attached->mac, sizeof(port->mac.addr_bytes));
	snprintf(port->driver, sizeof(port->driver), "handover");
	return roce_port_fit_mtu(port, room, &port->mtu_code, errmsg);
}

/* One segment of the program's pool holds the largest frame. */
static int
take_pool(struct roce_port *port, unsigned int q, struct rte_mempool *pool,
		struct roce_errmsg *errmsg)
{
	uint32_t want = ROCE_FRAME_LEN_MAX(roce_mtu_bytes(port->mtu_code)) + RTE_PKTMBUF_HEADROOM;

	if (pool->private_data_size < sizeof(struct rte_pktmbuf_pool_private))
		return roce_errmsg_set(errmsg, -EINVAL, "pool %u is none of frames", q);
	if (rte_pktmbuf_data_room_size(pool) < want)
		return roce_errmsg_set(errmsg, -EINVAL,
				"pool %u has room for %u bytes a frame: want %u for path MTU %u", q,
				rte_pktmbuf_data_room_size(pool), want,
				roce_mtu_bytes(port->mtu_code));
	port->tx_pool[q] = pool;
	port->attached.pools |= (uint8_t)(1u << q);
	return 0;
}

static int
take_pools(struct roce_port *port, const struct roce_attach_config *attached,
		struct roce_errmsg *errmsg)
{
	int socket = attached->mode == ROCE_ATTACH_QUEUES ? rte_eth_dev_socket_id(port->id)
							  : (int)rte_socket_id();

	for (unsigned int q = 0; q < port->queues; q++) {
		int rc = 0;

		if (attached->pool[q] != NULL)
			rc = take_pool(port, q, attached->pool[q], errmsg);
		else if (roce_port_make_tx_pool(port, q, DESCRIPTORS, socket) != 0)
			rc = roce_errmsg_set(errmsg, -ENOMEM, "no memory for the frames of port %s",
					attached->name);
		if (rc != 0)
			return rc;
	}
	return roce_port_zcrx_create(port, socket, errmsg);
}

int
roce_port_attach(const struct roce_port_config *config, const struct roce_attach_config *attached,
		struct roce_port **out, struct roce_errmsg *errmsg)
{
	struct roce_port *port = roce_port_create(config);
	int rc;

	if (port == NULL)
		return roce_errmsg_set(errmsg, -ENOMEM, "no memory for a port");
	port->attached.mode = attached->mode;
	port->attached.resolve = attached->resolve;
	port->attached.foreign = attached->foreign;
	port->attached.arg = attached->arg;
	port->ip_cksum_offload = attached->tx_ip_cksum;
	rc = attached->mode == ROCE_ATTACH_QUEUES ? take_queues(port, attached, errmsg)
						  : take_hands(port, attached, errmsg);
	if (rc == 0)
		rc = take_pools(port, attached, errmsg);
	if (rc == 0)
		roce_memory_plan_attached(port, attached);
	if (rc != 0) {
		roce_port_close(port);
		return rc;
	}
	*out = port;
	return 0;
}
