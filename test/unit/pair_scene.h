/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_PAIR_SCENE_H
#define ROCE_TEST_PAIR_SCENE_H

/**
 * @file
 * The scene of the tests whose frames are between two real ends: a asks, with every verb, and b has the memory.
 */

#include "queue/qp.h"
#include "fixture.h"

#define DEPTH 4 /**< READs and atomics of a under way */

static struct fx_end a, b;
static struct roce_qp *qa, *qb; /**< joined */
static struct roce_mr *mr;      /**< of b, for a to reach */

/** @param rights  of the region @c mr. */
static inline void
open_pair(unsigned int rights)
{
	struct roce_qp_attr attr;

	fx_end_open(&a, 1, NULL);
	fx_end_open(&b, 2, NULL);
	attr = fx_attr(&a);
	attr.atomics = true;
	qa = fx_qp(&a, &attr);
	attr = fx_attr(&b);
	attr.max_dest_rd_atomic = DEPTH;
	qb = fx_qp(&b, &attr);
	fx_join_reading(&a, qa, &b, qb, DEPTH);
	mr = fx_mr(b.pd, (uintptr_t)b.memory, FX_MEMORY, rights);
}

/** Fails when memory or frames are left. */
static inline int
teardown(void **state)
{
	fx_end_close(&a);
	fx_end_close(&b);
	return fx_left();
}

#endif
