/* SPDX-License-Identifier: BSD-3-Clause */

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "unit.h"

#define POOL_SIZE 1023

static struct rte_mempool *pool;

static void
give_up(const char *what)
{
	fprintf(stderr, "unit: cannot %s: %s\n", what, rte_strerror(rte_errno));
	exit(EXIT_FAILURE);
}

/* The EAL binds the thread that starts it to one processor; the threads of a test would inherit that. */
static void
unbind(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(0, sizeof(all), &all) != 0)
		fputs("unit: all threads share one processor\n", stderr);
}

void
unit_eal(void)
{
	/* The EAL permutes the array and keeps its strings. */
	static char args[][24] = { "unit", "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry",
		"-m", "64", "--log-level=error" };
	static char *argv[RTE_DIM(args) + 1];
	static bool started;

	if (started)
		return;
	for (size_t i = 0; i < RTE_DIM(args); i++)
		argv[i] = args[i];
	if (rte_eal_init((int)RTE_DIM(args), argv) < 0)
		give_up("start the EAL");
	unbind();
	started = true;
}

struct rte_mempool *
unit_pool(void)
{
	unit_eal();
	if (pool == NULL) {
		/* No cache: a full pool must look full. */
		pool = rte_pktmbuf_pool_create("unit", POOL_SIZE, 0, 0,
				RTE_PKTMBUF_HEADROOM + UNIT_DATA_ROOM, (int)rte_socket_id());
		if (pool == NULL)
			give_up("make a pool");
	}
	return pool;
}

bool
unit_pool_is_full(void)
{
	return pool == NULL || rte_mempool_full(pool) == 1;
}

struct rte_mbuf *
unit_mbuf(const void *bytes, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(unit_pool());
	char *room;

	if (m == NULL)
		give_up("take a buffer");
	room = rte_pktmbuf_append(m, (uint16_t)len);
	if (room == NULL)
		give_up("fit a frame into a buffer");
	else if (len > 0)
		memcpy(room, bytes, len);
	return m;
}

struct rte_mbuf *
unit_mbuf_chain(const void *bytes, uint32_t len, uint32_t split)
{
	struct rte_mbuf *m;

	if (split == 0 || split >= len)
		return unit_mbuf(bytes, len);
	m = unit_mbuf(bytes, split);
	if (rte_pktmbuf_chain(m, unit_mbuf((const uint8_t *)bytes + split, len - split)) != 0)
		give_up("chain two buffers");
	return m;
}

struct rte_mbuf *
unit_mbuf_exact(const void *bytes, uint32_t len)
{
	struct rte_mbuf *m = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*m));
	/* malloc(0) may return NULL, and a sanitizer guards one byte as well as none. */
	uint8_t *data = malloc(len + (len == 0));

	if (m == NULL || data == NULL) {
		fputs("unit: out of memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	if (len > 0)
		memcpy(data, bytes, len);
	memset(m, 0, sizeof(*m));
	m->buf_addr = data;
	m->buf_len = (uint16_t)len;
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	m->nb_segs = 1;
	rte_mbuf_refcnt_set(m, 1);
	return m;
}

struct rte_mbuf *
unit_mbuf_exact_chain(const void *bytes, uint32_t len, uint32_t split)
{
	struct rte_mbuf *m;

	if (split >= len)
		return unit_mbuf_exact(bytes, len);
	m = unit_mbuf_exact(bytes, split);
	m->next = unit_mbuf_exact((const uint8_t *)bytes + split, len - split);
	m->pkt_len = len;
	m->nb_segs = 2;
	return m;
}

void
unit_mbuf_exact_free(struct rte_mbuf *m)
{
	while (m != NULL) {
		struct rte_mbuf *next = m->next;

		free(m->buf_addr);
		free(m);
		m = next;
	}
}
