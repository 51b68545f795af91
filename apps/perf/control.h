/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_CONTROL_H
#define PERF_CONTROL_H

/**
 * @file
 * The talk of two ends over their control endpoint, up to four sentences each way:
 * READY (my endpoints are connected), STOPPED (a signal ends my measurement: end yours), DONE (I have
 * sent so many messages), BYE (I have all of yours, and found so many violations).
 */

#include "end.h"

/** Bytes of a message, and how many the endpoint must hold: the whole talk. */
#define PERF_CONTROL_LEN   32
#define PERF_CONTROL_DEPTH 4

enum perf_control {
	PERF_READY = 1,
	PERF_DONE,
	PERF_BYE,
	PERF_STOPPED,
};

/** Post the receives of the whole talk. @return 0; -1: refused; the error was printed. */
int perf_control_post(struct perf_end *end);

/** Say one thing. @param value  messages sent (DONE) or violations found (BYE). @return 0; -1 on error; the error was printed. */
int perf_control_say(struct perf_end *end, enum perf_control what, uint64_t value);

/** Listen without waiting: what was said goes into end->peer. @return 0; -1 on error; the error was printed. */
int perf_control_listen(struct perf_end *end);

/**
 * Say BYE, and wait for the peer's: after it nothing but disconnecting is left.
 * @return 0; -1: failed, or the peer found violations; the error was printed.
 */
int perf_control_part(struct perf_end *end);

#endif /* PERF_CONTROL_H */
