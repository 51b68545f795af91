/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_LIMIT_H
#define TEST_LIMIT_H

/**
 * @file
 * The one limit of what the tests wait for, which only what hangs reaches. limit.sh and limit.py are the same.
 */

#include <stdint.h>
#include <stdlib.h>

#define TEST_LIMIT_S     120u  /**< unless ROCE_TEST_LIMIT has another number */
#define TEST_LIMIT_S_MAX 2000u /**< twice as many microseconds are a DAT_TIMEOUT */

/** Seconds that one step of a test may take. Where machines are slower, so is all that is waited for. */
static inline uint32_t
test_limit_s(void)
{
	const char *text = getenv("ROCE_TEST_LIMIT");
	unsigned long seconds = text != NULL ? strtoul(text, NULL, 10) : 0;

	if (seconds == 0)
		return TEST_LIMIT_S;
	return seconds < TEST_LIMIT_S_MAX ? (uint32_t)seconds : TEST_LIMIT_S_MAX;
}

static inline uint32_t
test_limit_us(void)
{
	return test_limit_s() * 1000000u;
}

#endif
