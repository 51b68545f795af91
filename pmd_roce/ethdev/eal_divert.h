/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_EAL_DIVERT_H
#define ROCE_ETHDEV_EAL_DIVERT_H

/**
 * @file
 * Calls of the C library by a library of DPDK, diverted to functions of this library, while the EAL starts or for good.
 *
 * The dynamic loader keeps the addresses of the functions that a library calls in a table of that library. An entry of the
 * table of one library is written, and written back. Calls of all other libraries stay as they are.
 */

#include <stdbool.h>
#include <stddef.h>

/** An entry that was written to. */
struct roce_eal_diverted {
	void **at; /**< NULL: none */
	void *before;
	bool readonly; /**< the loader has closed its page */
};

/**
 * From now on a library calls @p to in the place of @p function, in any thread.
 * @param diverted set in any case, for roce_eal_undivert().
 * @param has      a function that the library has.
 * @return false: it has no such entry, and nothing has changed.
 */
bool roce_eal_divert(struct roce_eal_diverted *diverted, void *has, const char *function, void *to);

/** Undo it. */
void roce_eal_undivert(const struct roce_eal_diverted *diverted);

/** A function of the C library, and the one that is called in its place. */
struct roce_eal_detour {
	const char *function;
	void *to;
};

/**
 * Divert calls of all libraries that are loaded and whose file's name begins with @p prefix, for good. Entries that are diverted
 * already are left as they are. One thread at a time.
 */
void roce_eal_divert_all(const char *prefix, const struct roce_eal_detour *detours, size_t n);

#endif
