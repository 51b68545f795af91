/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/zcrx.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ethdev/pool.h"

static struct rte_mempool *
make_pool(const struct roce_port *port, char kind, uint32_t room, int socket)
{
	char name[32];

	snprintf(name, sizeof(name), "%c_%.8s", kind, port->probe.name);
	return roce_pool_create(name, port->args->zcrx, room, socket);
}

int
roce_port_zcrx_create(struct roce_port *port, int socket, struct roce_errmsg *errmsg)
{
	uint32_t payload = roce_mtu_bytes(port->mtu_code);

	if (port->args->zcrx == 0)
		return 0;
	if (port->zcrx.heads == NULL)
		port->zcrx.heads = make_pool(port, 'h', 0, socket);
	if (port->zcrx.copies == NULL)
		port->zcrx.copies = make_pool(port, 'c', payload + RTE_PKTMBUF_HEADROOM, socket);
	if (port->zcrx.heads == NULL || port->zcrx.copies == NULL)
		return roce_errmsg_set(errmsg, -ENOMEM,
				"no memory for the frames that port %s may give", port->probe.name);
	return 0;
}

void
roce_port_zcrx_describe(const struct roce_port *port, struct roce_zcrx_config *config)
{
	*config = (struct roce_zcrx_config){
		.max = port->args->zcrx,
		.heads = port->zcrx.heads,
		.copies = port->zcrx.copies,
		.any = port->attached.mode != 0,
	};
	/* The pool of a forgetful driver goes with the device, whoever has something of it (retire_rx_pool()). */
	if (!port->probe.forgets_frames)
		memcpy(config->pool, port->rx_pool, sizeof(config->pool));
}

void
roce_port_zcrx_retire(struct roce_port *port)
{
	roce_pool_retire(port->zcrx.heads);
	roce_pool_retire(port->zcrx.copies);
}
