/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_FIXTURE_MEMORY_H
#define ROCE_TEST_FIXTURE_MEMORY_H

/** @file Memory that is counted and can fail. */

#include <stdbool.h>

#include "engine/engine.h"

/** The memory of fx_end_open(), for what wants a struct roce_memory. */
extern const struct roce_memory fx_memory;

/** Allocations that were not freed. */
unsigned int fx_live(void);

/** Let the @p nth allocation from now fail (1: the next one); 0: none. */
void fx_fail(unsigned int nth);

/** Did the allocation that fx_fail() chose happen? */
bool fx_failed(void);

#endif
