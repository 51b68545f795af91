/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_PARALLEL_H
#define INFO_PARALLEL_H

/**
 * @file
 * Questions to many processes at once, so that none of them waits for the answer of another.
 */

#include <stddef.h>

/** So many things are done at once. */
#define INFO_PARALLEL_MAX 1024u

/**
 * Call a function for 0 to n - 1, each in a thread of its own, and wait for all of them. Where none can be made, the caller's
 * does it.
 * @param n  INFO_PARALLEL_MAX at most.
 */
void info_parallel(size_t n, void (*work)(void *arg, size_t i), void *arg);

#endif /* INFO_PARALLEL_H */
