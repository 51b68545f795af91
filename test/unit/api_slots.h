/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_API_SLOTS_H
#define ROCE_TEST_API_SLOTS_H

/**
 * @file
 * A Provider whose every call does nothing but say which one it was, and with which arguments.
 */

#include <dat/dat_registry.h>

#include "rules.h"

/** The return value of every slot. */
#define RETURNED 0x4321

/** The call that reached a slot. */
struct seen {
	const char *slot; /**< NULL: none was reached */
	int count;
	uint64_t argument[16];
};

extern struct seen seen;

/** Put these slots into a table: they are all of it but opening and closing an adapter. */
void fill_slots(DAT_PROVIDER *table);

#endif
