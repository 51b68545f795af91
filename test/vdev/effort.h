/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_VDEV_EFFORT_H
#define TEST_VDEV_EFFORT_H

/**
 * @file
 * The cost of a wait to its thread, in figures that other work on the machine does not change.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

/** A thread that waits in vain: its naps, and its time on a processor. */
struct effort {
	long naps;   /**< how often it gave the processor up by itself */
	long cpu_us; /**< how long it had one */
};

static inline struct effort
effort_until_now(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return (struct effort){
		.naps = usage.ru_nvcsw,
		.cpu_us = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
				usage.ru_utime.tv_usec + usage.ru_stime.tv_usec,
	};
}

/** Since @p before: so many naps, and less than half of @p idle_us microseconds on a processor. */
static inline void
want_little(const struct effort *before, const char *what, long naps_min, long naps_max,
		long idle_us)
{
	const struct effort now = effort_until_now();
	long naps = now.naps - before->naps, cpu_us = now.cpu_us - before->cpu_us;

	print_message("%s: %ld naps, %ld us of a processor\n", what, naps, cpu_us);
	assert_true(naps >= naps_min);
	assert_true(naps <= naps_max);
	assert_true(cpu_us < idle_us / 2);
}

#endif
