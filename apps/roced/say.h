/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_SAY_H
#define ROCED_SAY_H

/**
 * @file
 * Output of roced: failures and, if asked to, events, one line each on standard error.
 */

#include <stdbool.h>

/** Events are to be said, too. */
void say_events(bool on);

/** Say one sentence, without a newline. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Say what failed and, by errno, why. @return -1. */
int say_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** An event; nothing is said unless say_events(). */
void say_event(const char *line);

#endif /* ROCED_SAY_H */
