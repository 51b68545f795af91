/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_DAT_ABI12_H
#define TEST_DAT_ABI12_H

/** @file DAT 1.2: what a test cannot say by name alone. dat_abi20.h defines the same names for DAT 2.0. */

#include <dat/udat.h>

/** One thing in 1.2, another in 2.0. */
#define BY_ABI(in_12, ...) in_12

/** Arguments that came with 2.0, with the comma before them. */
#define NEW_ARGS(...)

/** The longest that a segment can be said to be. */
#define SEGMENT_MAX UINT64_MAX

/** The event that completes an extension: no special one. */
#define EXTENSION_EVENT DAT_DTO_COMPLETION_EVENT

/** Where no thread works for its consumer, there is none to be held. */
static inline void
hold_progress(void)
{
}

/** An adapter as its provider knows it: as its consumer does. */
static inline DAT_HANDLE
provider_handle(DAT_IA_HANDLE ia)
{
	return ia;
}

#endif
