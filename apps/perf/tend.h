/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_TEND_H
#define PERF_TEND_H

/**
 * @file
 * Calls on the shared receive queue of an end while messages flow: --low arms its low
 * watermark again after each event, --resize changes its size so many times a second.
 *
 * All of it is checked. No event comes that was not armed for, and none is missing at the end. A
 * size is granted exactly when the buffers given out and the watermark allow it, and the queue then
 * says that it has this size, or still the old one.
 */

#include "end.h"

/**
 * Begin: arm the watermark. All receives are posted, and nothing is connected.
 * @return 0 (also when nothing was asked for); -1: a call failed; the error was printed.
 */
int perf_tend_begin(struct perf_end *end);

/** The slow half of perf_tend(). */
int perf_tend_now(struct perf_end *end);

/**
 * Do what is due; to be called every few microseconds. Costs nothing when nothing was asked for.
 * @return 0; -1: a call failed or the queue misbehaved; the error was printed.
 */
static inline int
perf_tend(struct perf_end *end)
{
	return end->tend.on ? perf_tend_now(end) : 0;
}

/**
 * End: the endpoints are disconnected and all completions are reaped. Checks that no event is
 * missing, and that the queue has the size that was granted last.
 * @return 0; -1: as perf_tend().
 */
int perf_tend_end(struct perf_end *end);

#endif /* PERF_TEND_H */
