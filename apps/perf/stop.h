/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_STOP_H
#define PERF_STOP_H

/**
 * @file
 * Ending a measurement before its end, in order.
 *
 * A signal does not throw away what was measured. The end that it reaches tells the other one
 * (PERF_STOPPED), both send no more, and everything on the way is still completed and counted. One
 * check is left out: which message was the last of each endpoint. An end whose
 * peer does not follow within PERF_STOP_GRACE_S shows what it has measured so far.
 */

#include "end.h"

/** A measurement that was told to end may take so long to do so. */
#define PERF_STOP_GRACE_S 10

/** Make the other thread of this process give up; the cause has been said. Any thread. */
void perf_stop_fail(void);

/** @return true: give up at once, for the other thread failed. */
bool perf_stop_failed(void);

/** @return true: a signal came, or the peer tells of one. */
bool perf_stop_wanted(const struct perf_end *end);

/** @return ticks that this end may stand still where @p seconds are allowed: fewer when it was told to end. */
uint64_t perf_stop_limit(const struct perf_end *end, unsigned int seconds);

/** End the sending of this end, once, and tell the peer. @return 0; -1 on error; the error was printed. */
int perf_stop_end(struct perf_end *end);

#endif /* PERF_STOP_H */
