/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/loan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "port/pool.h"

static struct rte_mempool *
make_pool(const struct roce_port *port, char kind, uint32_t room, int socket)
{
	char name[32];

	snprintf(name, sizeof(name), "%c_%.8s", kind, port->probe.name);
	return roce_pool_create(name, port->args->lend, room, socket);
}

int
roce_port_make_loans(struct roce_port *port, int socket, struct roce_errmsg *errmsg)
{
	uint32_t payload = roce_mtu_bytes(port->mtu_code);

	if (port->args->lend == 0)
		return 0;
	if (port->loan.heads == NULL)
		port->loan.heads = make_pool(port, 'h', 0, socket);
	if (port->loan.copies == NULL)
		port->loan.copies = make_pool(port, 'c', payload + RTE_PKTMBUF_HEADROOM, socket);
	if (port->loan.heads == NULL || port->loan.copies == NULL)
		return roce_errmsg_set(errmsg, -ENOMEM,
				"no memory for the frames that port %s may lend", port->probe.name);
	return 0;
}

void
roce_port_describe_loans(const struct roce_port *port, struct roce_loan_config *config)
{
	*config = (struct roce_loan_config){
		.max = port->args->lend,
		.heads = port->loan.heads,
		.copies = port->loan.copies,
		.any = port->attached.mode != 0,
	};
	/* The pool of a forgetful driver goes with the device, whoever has something of it (retire_rx_pool()). */
	if (!port->probe.forgets_frames)
		memcpy(config->pool, port->rx_pool, sizeof(config->pool));
}

void
roce_port_retire_loans(struct roce_port *port)
{
	roce_pool_retire(port->loan.heads);
	roce_pool_retire(port->loan.copies);
}
