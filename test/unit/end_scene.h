/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_END_SCENE_H
#define ROCE_TEST_END_SCENE_H

/**
 * @file
 * The scene of the tests that need no queue pair, or make their own: one end.
 */

#include "fixture.h"

static struct fx_end end;

static inline int
setup(void **state)
{
	fx_end_open(&end, 1, NULL);
	return 0;
}

/** Fails when memory or frames are left. */
static inline int
teardown(void **state)
{
	fx_end_close(&end);
	return fx_left();
}

#endif
