/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

/**
 * @file
 * Time, for those who wait.
 */

/** @return seconds on a clock that only goes forward. */
double cli_seconds(void);

/**
 * The time for which a program has run, in seconds. A while in which it was stopped, or had no processor, counts for
 * no more than CLI_RUNTIME_STEP_S: it is none in which a peer did not answer. One thread; begins with zeros.
 */
struct cli_runtime {
	double now;
	double seen; /**< by cli_seconds() */
};

#define CLI_RUNTIME_STEP_S 0.1

/** Call in each poll of a loop. @return runtime->now, which has gone on. */
double cli_runtime_step(struct cli_runtime *runtime);

#endif /* CLI_CLOCK_H */
