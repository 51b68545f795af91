/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/loop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "engine/engine.h"
#include "ethdev/devargs.h"

/* The pair. ring[e] carries frames towards end e. */
static struct {
	struct rte_ring *ring[2][ROCE_ENGINES_MAX];
	uint16_t port_id[2];
	bool open[2];
	unsigned int queues;
} pair;

static const char *const names[2] = { "loop0", "loop1" };

/* @return 0 or 1; -1: neither. */
static int
find_end(const char *port)
{
	size_t len = roce_devargs_name_len(port);

	for (int end = 0; end < 2; end++) {
		if (len == strlen(names[end]) && strncmp(port, names[end], len) == 0)
			return end;
	}
	return -1;
}

bool
roce_loop_is(const char *port)
{
	return find_end(port) >= 0;
}

static void
drain(int end)
{
	struct rte_mbuf *m;

	for (unsigned int q = 0; q < pair.queues; q++) {
		if (pair.ring[end][q] == NULL)
			continue;
		while (rte_ring_dequeue(pair.ring[end][q], (void **)&m) == 0)
			rte_pktmbuf_free(m);
	}
}

/* Both ports are gone. */
static void
destroy_pair(void)
{
	for (int end = 0; end < 2; end++) {
		drain(end);
		for (unsigned int q = 0; q < pair.queues; q++)
			rte_ring_free(pair.ring[end][q]);
	}
	memset(&pair, 0, sizeof(pair));
}

/* A queue is polled by one thread at a time (the engine's lock), so rings need one producer and one consumer. */
static int
create_pair(unsigned int queues, unsigned int size, struct roce_errmsg *errmsg)
{
	pair.queues = queues;
	for (int end = 0; end < 2; end++) {
		for (unsigned int q = 0; q < queues; q++) {
			char name[RTE_RING_NAMESIZE];

			snprintf(name, sizeof(name), "roce_%s_%u", names[end], q);
			pair.ring[end][q] = rte_ring_create(
					name, size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
			if (pair.ring[end][q] == NULL)
				goto fail;
		}
	}
	return 0;
fail:
	destroy_pair();
	return roce_errmsg_set(errmsg, -ENOMEM, "no memory for the rings of loop0 and loop1: %s",
			rte_strerror(rte_errno));
}

static int
create_port(int end, struct roce_errmsg *errmsg)
{
	int id = rte_eth_from_rings(
			names[end], pair.ring[end], pair.queues, pair.ring[!end], pair.queues, 0);

	if (id < 0)
		return roce_errmsg_set(errmsg, -ENOMEM, "port %s cannot be made: %s", names[end],
				rte_strerror(rte_errno));
	pair.port_id[end] = (uint16_t)id;
	return 0;
}

/* Arguments behind the comma: only size=, a power of two. 0: bad. */
static unsigned int
read_size(const char *port)
{
	const char *arg = port + roce_devargs_name_len(port);
	unsigned long size;
	char *end;

	if (*arg == '\0')
		return ROCE_LOOP_SIZE;
	if (strncmp(arg, ",size=", 6) != 0)
		return 0;
	size = strtoul(arg + 6, &end, 10);
	if (*end != '\0' || size < 8 || size > 65536 || !rte_is_power_of_2((uint32_t)size))
		return 0;
	return (unsigned int)size;
}

int
roce_loop_open(const char *port, unsigned int queues, uint16_t *port_id, struct roce_errmsg *errmsg)
{
	int end = find_end(port);
	unsigned int size = read_size(port);
	bool first = !pair.open[0] && !pair.open[1];
	int rc;

	if (end < 0 || size == 0)
		return roce_errmsg_set(errmsg, -EINVAL,
				"port=%s is invalid: want size= a power of two, 8..65536", port);
	if (pair.open[end])
		return roce_errmsg_set(errmsg, -EBUSY, "port %s is open already", names[end]);
	if (!first && queues != pair.queues)
		return roce_errmsg_set(errmsg, -EINVAL,
				"queues=%u of %s must be that of %s, which is %u", queues,
				names[end], names[!end], pair.queues);
	if (first) {
		rc = create_pair(queues, size, errmsg);
		if (rc != 0)
			return rc;
	}
	drain(end);
	/* Closing a port takes its DPDK port away, the rings stay while the other end is open. */
	rc = create_port(end, errmsg);
	if (rc != 0) {
		if (first)
			destroy_pair();
		return rc;
	}
	pair.open[end] = true;
	*port_id = pair.port_id[end];
	return 0;
}

void
roce_loop_close(const char *port)
{
	int end = find_end(port);
	char name[32];

	if (end < 0)
		return;
	snprintf(name, sizeof(name), "net_ring_%s", names[end]);
	rte_eal_hotplug_remove("vdev", name);
	pair.open[end] = false;
	if (!pair.open[!end])
		destroy_pair();
}
