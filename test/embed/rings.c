/* SPDX-License-Identifier: BSD-3-Clause */

#include "rings.h"

#include <rte_dev.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "embed.h"

#define RING_SIZE 256u

static const char *const names[] = { "rings0", "rings1" };

static void
configure(const struct rings *rings, unsigned int i, uint32_t mtu)
{
	const struct rte_eth_conf conf = { .rxmode = { .mtu = mtu } };

	assert_int_equal(rte_eth_dev_configure(rings->port[i], RINGS_QUEUES, RINGS_QUEUES, &conf),
			0);
	for (uint16_t q = 0; q < RINGS_QUEUES; q++) {
		assert_int_equal(rte_eth_rx_queue_setup(rings->port[i], q, RING_SIZE, 0, NULL,
						 rings->pool),
				0);
		assert_int_equal(rte_eth_tx_queue_setup(rings->port[i], q, RING_SIZE, 0, NULL), 0);
	}
}

static void
open_port(struct rings *rings, unsigned int i)
{
	int port = rte_eth_from_rings(names[i], rings->to[i], RINGS_QUEUES, rings->to[1 - i],
			RINGS_QUEUES, SOCKET_ID_ANY);

	assert_true(port >= 0);
	rings->port[i] = (uint16_t)port;
	configure(rings, i, 0);
}

void
rings_set_mtu(struct rings *rings, uint32_t mtu)
{
	for (unsigned int i = 0; i < 2; i++)
		configure(rings, i, mtu);
}

void
rings_open(struct rings *rings, bool start)
{
	rings->pool = embed_pool("rings", 63, 2048);
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int q = 0; q < RINGS_QUEUES; q++) {
			char name[16];

			snprintf(name, sizeof(name), "rings%u_%u", i, q);
			rings->to[i][q] = rte_ring_create(name, RING_SIZE, SOCKET_ID_ANY, 0);
			assert_non_null(rings->to[i][q]);
		}
	}
	for (unsigned int i = 0; i < 2; i++)
		open_port(rings, i);
	if (start)
		rings_start(rings);
}

void
rings_start(struct rings *rings)
{
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(rte_eth_dev_start(rings->port[i]), 0);
}

static void
stop_port(const struct rings *rings, unsigned int i)
{
	if (rings->port[i] != RINGS_LOST)
		assert_int_equal(rte_eth_dev_stop(rings->port[i]), 0);
}

static void
close_port(const struct rings *rings, unsigned int i)
{
	char device[32];

	if (rings->port[i] != RINGS_LOST)
		assert_int_equal(rte_eth_dev_close(rings->port[i]), 0);
	/* So that the name is free. */
	snprintf(device, sizeof(device), RINGS_NAME "%u", i);
	assert_int_equal(rte_eal_hotplug_remove("vdev", device), 0);
}

void
rings_stop(struct rings *rings)
{
	for (unsigned int i = 0; i < 2; i++)
		stop_port(rings, i);
}

void
rings_lose(struct rings *rings, unsigned int i)
{
	stop_port(rings, i);
	assert_int_equal(rte_eth_dev_close(rings->port[i]), 0);
	rings->port[i] = RINGS_LOST;
}

void
rings_free(struct rte_ring *ring)
{
	struct rte_mbuf *m;

	while (rte_ring_dequeue(ring, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(ring);
}

void
rings_close(struct rings *rings)
{
	for (unsigned int i = 0; i < 2; i++)
		close_port(rings, i);
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int q = 0; q < RINGS_QUEUES; q++)
			rings_free(rings->to[i][q]);
	}
	embed_pool_end(rings->pool);
}
