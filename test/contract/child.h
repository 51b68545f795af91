/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_CHILD_H
#define TEST_CONTRACT_CHILD_H

/** @file Children of a test: processes that are forked, check something, and end. */

#include <sys/types.h>

#include <stdbool.h>

#include "../limit.h"

/** Seconds after which a child that hangs is ended, and has failed. */
#define CHILD_SECONDS (5 * test_limit_s())

/** Fork. The child runs @p check as a test of its own, and ends by _exit(2). @return its number. */
pid_t begin_child(void (*check)(void **state));

/** Has it ended? Then it must have ended well: every check held. Fails the test otherwise. */
bool child_is_over(pid_t pid);

/** Wait for it. */
void want_child(pid_t pid);

#endif
