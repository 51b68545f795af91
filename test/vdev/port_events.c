/* SPDX-License-Identifier: BSD-3-Clause */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include <dirent.h>

#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_memzone.h>

#include "port_events.h"

#define HOGGED_MAX 65536
#define LINGER_US  20000u

#define WATCHES_MAX 64

static struct rte_mbuf *hogged[HOGGED_MAX];
static unsigned int hogged_n;

static struct watching {
	const struct rte_eth_rxtx_callback *callback;
	uint16_t port, queue;
} watching[WATCHES_MAX];
static unsigned int watching_n;

uint16_t
port_number(const char *name)
{
	uint16_t number;

	assert_int_equal(rte_eth_dev_get_port_by_name(name, &number), 0);
	return number;
}

void
port_say(const char *name, enum rte_eth_event_type event)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(name);

	assert_non_null(dev);
	rte_eth_dev_callback_process(dev, event, NULL);
}

void
port_link(const char *name, bool up)
{
	uint16_t number = port_number(name);

	assert_int_equal(up ? rte_eth_dev_set_link_up(number) : rte_eth_dev_set_link_down(number),
			0);
	port_say(name, RTE_ETH_EVENT_INTR_LSC);
}

static uint16_t
watch_burst(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t max,
		void *arg)
{
	struct port_watch *watch = arg;

	(void)port;
	(void)queue;
	(void)max;
	watch->bursts++;
	if (__atomic_load_n(&watch->linger, __ATOMIC_RELAXED)) {
		__atomic_store_n(&watch->inside, true, __ATOMIC_RELEASE);
		usleep(LINGER_US);
		__atomic_store_n(&watch->inside, false, __ATOMIC_RELEASE);
	}
	if (watch->hog)
		hog_frames();
	if (!watch->cut)
		return n;
	watch->lost += n;
	rte_pktmbuf_free_bulk(pkts, n);
	return 0;
}

void
port_watch(const char *name, uint16_t queues, struct port_watch *watch)
{
	uint16_t number = port_number(name);

	*watch = (struct port_watch){ 0 };
	for (uint16_t q = 0; q < queues; q++) {
		assert_true(watching_n < WATCHES_MAX);
		watching[watching_n] = (struct watching){ .port = number, .queue = q };
		watching[watching_n].callback =
				rte_eth_add_rx_callback(number, q, watch_burst, watch);
		assert_non_null(watching[watching_n].callback);
		watching_n++;
	}
}

void
port_watches_end(void)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < watching_n; i++) {
		const struct watching *w = &watching[i];

		if (rte_eth_remove_rx_callback(w->port, w->queue, w->callback) == 0)
			rte_free((void *)(uintptr_t)w->callback);
		else
			watching[left++] = *w;
	}
	watching_n = left;
}

static void
hog_pool(struct rte_mempool *pool, void *arg)
{
	struct rte_mbuf *m;

	(void)arg;
	while (hogged_n < HOGGED_MAX && (m = rte_pktmbuf_alloc(pool)) != NULL)
		hogged[hogged_n++] = m;
}

unsigned int
hog_frames(void)
{
	rte_mempool_walk(hog_pool, NULL);
	return hogged_n;
}

void
free_hogged(void)
{
	rte_pktmbuf_free_bulk(hogged, hogged_n);
	hogged_n = 0;
}

static void
count_pool(struct rte_mempool *pool, void *arg)
{
	(void)pool;
	++*(unsigned int *)arg;
}

unsigned int
pools_left(void)
{
	unsigned int n = 0;

	rte_mempool_walk(count_pool, &n);
	return n;
}

static void
count_zone(const struct rte_memzone *zone, void *arg)
{
	(void)zone;
	++*(unsigned int *)arg;
}

static unsigned int
count_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

void
holdings_take(struct holdings *holdings)
{
	*holdings = (struct holdings){ .pools = pools_left(), .files = count_files() };
	rte_memzone_walk(count_zone, &holdings->zones);
	for (unsigned int i = 0; i < rte_socket_count(); i++) {
		struct rte_malloc_socket_stats stats;

		if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &stats) == 0)
			holdings->heap += stats.heap_allocsz_bytes;
	}
}

void
holdings_same(const struct holdings *before)
{
	struct holdings now;

	holdings_take(&now);
	assert_int_equal(now.pools, before->pools);
	assert_int_equal(now.zones, before->zones);
	assert_int_equal(now.files, before->files);
	assert_int_equal(now.heap, before->heap);
}
