/* SPDX-License-Identifier: BSD-3-Clause */
#include "forward.h"

#include <rte_ethdev.h>

#include "cli/cli.h"

#define DESCRIPTORS 512u

int
forward_start(uint16_t port, struct rte_mempool *pool)
{
	struct rte_eth_conf conf = { 0 };
	int socket = rte_eth_dev_socket_id(port);

	if (rte_eth_dev_configure(port, 1, 1, &conf) != 0 ||
			rte_eth_rx_queue_setup(port, 0, DESCRIPTORS, (unsigned int)socket, NULL,
					pool) != 0 ||
			rte_eth_tx_queue_setup(port, 0, DESCRIPTORS, (unsigned int)socket, NULL) !=
					0 ||
			rte_eth_dev_start(port) != 0) {
		cli_say("port %u does not start", port);
		return -1;
	}
	/* It forwards what is meant for others; not every device can be told so, or needs it. */
	(void)rte_eth_promiscuous_enable(port);
	return 0;
}

static unsigned int
forward_one(struct forward *f, unsigned int from)
{
	struct forward_counts *counts = &f->counts[from];
	struct rte_mbuf *pkts[FORWARD_BURST];
	uint16_t received, n, sent;

	received = rte_eth_rx_burst(f->port[from], 0, pkts, FORWARD_BURST);
	if (received == 0)
		return 0;
	n = received;
	if (from == 0 && f->device != NULL)
		n = roce_device_rx(f->device, 0, pkts, received);
	sent = rte_eth_tx_burst(f->port[1 - from], 0, pkts, n);
	rte_pktmbuf_free_bulk(pkts + sent, n - sent);
	counts->received += received;
	counts->ours += received - n;
	counts->forwarded += sent;
	counts->dropped += n - sent;
	return received;
}

/* A full port is no loss to RDMA, only a delay: what it does not take is kept, and no more is fetched until then. */
static unsigned int
send_rdma(struct forward *f)
{
	uint16_t sent;

	if (f->held_n == 0) {
		f->held_at = 0;
		f->held_n = roce_device_tx(f->device, 0, f->held, FORWARD_BURST);
		if (f->held_n == 0)
			return 0;
	}
	sent = rte_eth_tx_burst(f->port[0], 0, f->held + f->held_at, f->held_n);
	f->held_at += sent;
	f->held_n -= sent;
	f->rdma_sent += sent;
	return sent;
}

unsigned int
forward_poll(struct forward *forward)
{
	unsigned int moved = forward_one(forward, 0) + forward_one(forward, 1);

	if (forward->device != NULL)
		moved += send_rdma(forward);
	return moved;
}

void
forward_stop(struct forward *forward)
{
	rte_pktmbuf_free_bulk(forward->held + forward->held_at, forward->held_n);
	forward->held_n = 0;
}
