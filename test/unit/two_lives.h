/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_TWO_LIVES_H
#define ROCE_TEST_TWO_LIVES_H

/**
 * @file
 * The scene of the tests of fast paths: two ends that live the same life, of which one takes the fast path wherever it
 * can and the other the slow path. The test chooses how they differ; the results must be the same.
 */

#include "queue/qp.h"
#include "fixture.h"
#include "wire/random.h"

struct side {
	struct fx_end end;
	struct roce_qp *qp;
	struct fx_peer peer;
	struct roce_mr *mr; /**< of some requests and receives: it ends now and then */
	uint32_t key;
};

static struct side side[2]; /**< on the fast path, on the slow path */
static uint64_t drawn;

/** The next number below @p below of the test's life. */
static inline uint32_t
draw(uint32_t below)
{
	return (uint32_t)(roce_random_at(UINT64_C(0x9908b0df), ROCE_RANDOM_ENGINE, drawn++) >> 16) %
			below;
}

static inline void
region_open(struct side *s, unsigned int access)
{
	s->mr = fx_mr(s->end.pd, (uintptr_t)s->end.memory, FX_MEMORY, access);
	s->key = roce_mr_key(s->mr);
}

/** End the regions and make new ones: requests and receives that were validated before must be validated again. */
static inline void
end_regions(unsigned int access)
{
	for (int i = 0; i < 2; i++) {
		assert_int_equal(roce_mr_destroy(side[i].mr), 0);
		region_open(&side[i], access);
	}
}

/** Both queue pairs connected as the test does it: anew, when they were before. */
static inline void
connect_again(void (*connect)(struct side *s))
{
	for (int i = 0; i < 2; i++) {
		roce_engine_lock(side[i].end.engine);
		roce_qp_to_reset(side[i].qp);
		roce_engine_unlock(side[i].end.engine);
		connect(&side[i]);
	}
}

static inline void
pass_time(uint64_t ticks)
{
	for (int i = 0; i < 2; i++)
		side[i].end.now += ticks;
}

static inline int
teardown_sides(void **state)
{
	for (int i = 0; i < 2; i++)
		fx_end_close(&side[i].end);
	return fx_left();
}

#endif
