/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_VDEV_STEPS_H
#define ROCE_VDEV_STEPS_H

/**
 * @file
 * Steps of a program that a test starts: one that fails is told on standard error, and ends the program.
 */

#include <stdint.h>

#include <dat/udat.h>

/** The name in front of a failure; the program's own unless it sets another. */
extern const char *step_name;

/** Tell a failure and end the program with EXIT_FAILURE. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/** A call of DAT must succeed. */
void ok(DAT_RETURN ret, const char *call);

/** The next event, which must come within @p patience_us microseconds. */
DAT_EVENT await_event(DAT_EVD_HANDLE evd, uint32_t patience_us, const char *what);

#endif
