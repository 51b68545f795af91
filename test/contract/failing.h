/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_FAILING_H
#define TEST_CONTRACT_FAILING_H

/**
 * @file
 * Memory that runs out when a test wants it to. Without hugepages all objects and rings come from aligned_alloc(). A
 * program with this file has one of its own, which the provider, loaded later, finds first.
 */

#include "rig.h"

/** More than the objects that a provider keeps before it uses their memory again. */
#define ROUNDS 1500

/** No allocation fails, but all are counted. */
#define NEVER UINT32_MAX

/** From here to the end of the call under test: allocation number @p fail of this thread fails. */
void begin_failing(unsigned int fail);
/** @return true when it came to that allocation. */
bool end_failing(void);
/** Allocations between the last two calls of those. */
unsigned int allocations(void);

/** Bytes that libc has given out. Under a sanitizer always 0: it finds leaks by itself. */
size_t bytes_in_use(void);
/**
 * As many as before, after ROUNDS rounds. Alignment makes a piece a little larger or smaller each time: @p slack is what
 * that may come to in a round, less than the smallest piece that could be lost.
 */
void want_balance(size_t before, size_t slack);

/**
 * A call fails for want of memory. @return true when it came to allocation number @p fail, and it failed for that; else
 * it has succeeded, and what it made is gone again.
 */
typedef bool (*fails_fn)(const void *of, unsigned int fail);
/** It leaks nothing, at whichever allocation it fails. @return at how many it does. */
unsigned int want_no_leak(fails_fn fails, const void *of, size_t slack);

/** After each test: nothing fails, and all is closed. Inline: failing.c is linked without the rig, too (test/verbs). */
static inline int
failing_sweep(void **state)
{
	(void)end_failing();
	return rig_sweep(state);
}

/** @p begin is one of rig.h. */
#define memory_test(function, begin) cmocka_unit_test_setup_teardown(function, begin, failing_sweep)

#endif
