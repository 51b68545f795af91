/* SPDX-License-Identifier: BSD-3-Clause */
/* When a pool that was given back is freed: file pool.c. Its memory for engines: test_blocks.c. */

#include <sys/mman.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_memory.h>

#include "ethdev/pool.h"
#include "unit.h"

#define FRAMES 63u
#define ROOM   128u
#define OTHER  3u /**< an lcore that the caller is not */

static struct rte_mempool *pool;
static unsigned int before;
static uint64_t now, rest;

static void
count_pool(struct rte_mempool *of, void *arg)
{
	++*(unsigned int *)arg;
}

static unsigned int
pools(void)
{
	unsigned int n = 0;

	rte_mempool_walk(count_pool, &n);
	return n;
}

static int
setup(void **state)
{
	unit_eal();
	before = pools();
	rest = rte_get_tsc_hz() / MS_PER_S * ROCE_POOL_REST_MS;
	pool = roce_pool_create("test", FRAMES, ROOM, SOCKET_ID_ANY);
	assert_non_null(pool);
	assert_int_equal(pools(), before + 1);
	now = rte_rdtsc() + rte_get_tsc_hz();
	return 0;
}

static void *
take(void)
{
	void *frame;

	rte_mempool_generic_get(pool, &frame, 1, NULL);
	return frame;
}

/* As a thread on that lcore does it. */
static void
put_by(unsigned int lcore, void *frame)
{
	rte_mempool_generic_put(pool, &frame, 1, rte_mempool_default_cache(pool, lcore));
}

static void
want_kept(unsigned int out)
{
	assert_int_equal(roce_pool_sweep_at(now), out);
	assert_int_equal(pools(), before + 1);
}

static void
want_freed(void)
{
	assert_int_equal(roce_pool_sweep_at(now), 0);
	assert_int_equal(pools(), before);
}

UNIT_RULE_IN(retire__frees_what_is_home, setup, NULL)
{
	roce_pool_retire(NULL);
	roce_pool_retire(pool);
	assert_int_equal(pools(), before);
}

/* The thread that sweeps is not putting anything. */
UNIT_RULE_IN(retire__frees_what_this_thread_has_in_its_cache, setup, NULL)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	rte_pktmbuf_free(m);
	assert_int_not_equal(rte_mempool_default_cache(pool, rte_lcore_id())->len, 0);
	roce_pool_retire(pool);
	assert_int_equal(pools(), before);
}

/* A frame that comes home by the ring is there, and whoever has put it there is gone. */
UNIT_RULE_IN(sweep__frees_what_came_home_by_the_ring, setup, NULL)
{
	void *frame[2] = { take(), take() };

	roce_pool_retire(pool);
	want_kept(2);
	rte_mempool_generic_put(pool, &frame[0], 1, NULL);
	want_kept(1);
	rte_mempool_generic_put(pool, &frame[1], 1, NULL);
	want_freed();
}

/* In a cache a frame counts before it is there: a second sweep must find it so, and not too soon. */
UNIT_RULE_IN(sweep__frees_what_came_home_by_a_cache_when_it_has_rested, setup, NULL)
{
	void *frame = take();

	roce_pool_retire(pool);
	want_kept(1);
	put_by(OTHER, frame);
	want_kept(0);
	want_kept(0);
	now += rest - 1;
	want_kept(0);
	now++;
	want_freed();
}

/* The rest begins anew when a sweep finds another number of frames than the one before. */
UNIT_RULE_IN(sweep__counts_the_rest_from_the_last_frame, setup, NULL)
{
	void *frame = take();

	put_by(OTHER, take());
	put_by(OTHER, frame);
	roce_pool_retire(pool);
	rte_mempool_generic_get(pool, &frame, 1, rte_mempool_default_cache(pool, OTHER));
	now += rest;
	want_kept(1);
	put_by(OTHER, frame);
	now += rest;
	want_kept(0);
	now += rest;
	want_freed();
}

/* Memory for a new one may lie in an old one. */
UNIT_RULE_IN(create__sweeps, setup, NULL)
{
	struct rte_mempool *next;

	put_by(OTHER, take());
	roce_pool_retire(pool);
	assert_int_equal(pools(), before + 1);
	rte_mempool_cache_flush(rte_mempool_default_cache(pool, OTHER), pool);
	next = roce_pool_create("next", FRAMES, ROOM, SOCKET_ID_ANY);
	assert_non_null(next);
	assert_int_equal(pools(), before + 1);
	roce_pool_retire(next);
	assert_int_equal(pools(), before);
}

/* The frames of a pool, in an array; the whole buffer of each is filled with its number. */
static unsigned int
take_all(struct rte_mbuf **frames, unsigned int n)
{
	unsigned int i = 0;

	while (i < n && (frames[i] = rte_pktmbuf_alloc(pool)) != NULL) {
		memset(frames[i]->buf_addr, (int)(i & 0xff), ROOM);
		i++;
	}
	return i;
}

static void
make_apart(void)
{
	unit_eal();
	before = pools();
	pool = roce_pool_create_apart("apart", FRAMES, ROOM, SOCKET_ID_ANY);
	assert_non_null(pool);
	now = rte_rdtsc() + rte_get_tsc_hz();
}

/* As many as another pool has, and none lies in another. */
UNIT_RULE_IN(apart__has_whole_frames, NULL, NULL)
{
	struct rte_mempool *usual;
	struct rte_mbuf *frames[4096];
	unsigned int n;

	make_apart();
	usual = roce_pool_create("usual", FRAMES, ROOM, SOCKET_ID_ANY);
	assert_non_null(usual);
	assert_int_equal(pool->size, usual->size);
	assert_int_equal(rte_pktmbuf_data_room_size(pool), rte_pktmbuf_data_room_size(usual));
	roce_pool_retire(usual);
	n = take_all(frames, RTE_DIM(frames));
	assert_int_equal(n, pool->size);
	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *bytes = frames[i]->buf_addr;

		assert_ptr_equal(frames[i]->pool, pool);
		for (unsigned int at = 0; at < ROOM; at++)
			assert_int_equal(bytes[at], i & 0xff);
	}
	rte_pktmbuf_free_bulk(frames, n);
	roce_pool_retire(pool);
	want_freed();
}

/* Of its memory nothing is left, and it never was the EAL's. */
UNIT_RULE_IN(apart__has_memory_of_its_own, NULL, NULL)
{
	unsigned char resident;
	struct rte_mbuf *frame;
	void *page;

	make_apart();
	if (rte_eal_has_hugepages()) {
		roce_pool_retire(pool);
		skip();
	}
	frame = rte_pktmbuf_alloc(pool);
	assert_non_null(frame);
	assert_null(rte_mem_virt2memseg(frame, NULL));
	page = (void *)((uintptr_t)frame & ~(uintptr_t)4095);
	assert_int_equal(mincore(page, 4096, &resident), 0);
	rte_pktmbuf_free(frame);
	roce_pool_retire(pool);
	want_freed();
	assert_int_equal(mincore(page, 4096, &resident), -1);
}
