/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_PERFTEST_H
#define PERF_PERFTEST_H

/**
 * @file
 * Options of the perftest programs (ib_send_bw and so on): one row for each, with what becomes of it.
 *
 * The long ones are dat-perf's everywhere. The letters, some of which mean something else to dat-perf, and the defaults
 * hold in a mode: under the names dat_send_bw and so on, or behind --perftest.
 */

#include <stdbool.h>

#include "options.h"

enum perftest_kind {
	PERFTEST_SERVED,    /**< means the same here */
	PERFTEST_NO_EFFECT, /**< accepted: it cannot matter */
	PERFTEST_REFUSED,   /**< with one sentence */
};

struct perftest_row {
	enum perftest_kind kind;
	char letter; /**< 0: none */
	const char *name;
	const char *value; /**< what it takes, as help shows it; NULL: nothing */
	int option; /**< served: by which option of dat-perf, its letter or enum perf_option */
	const char *only;  /**< without effect: the one value that is accepted; NULL: any */
	const char *words; /**< meaning; why it cannot matter; or what is used instead */
};

/** @return row @p n; NULL: there are no more. */
const struct perftest_row *perftest_row(unsigned int n);

/** @return the row of a letter; NULL: there is none. */
const struct perftest_row *perftest_find(char letter);

/** @return the letter of dat-perf's option @p own in this mode; @p own itself where perftest has no other. */
char perftest_letter(const struct perf_options *options, char own);

/** @return the name to speak under: that of a test if @p argv0 ends in one, such as "dat_send_bw", else "dat-perf". */
const char *perftest_program(const char *argv0);

/**
 * Does the command line ask for the mode, and for which test?
 * @param words  receives how many words behind the program's name are used up.
 * @return -1: go on; else the status to exit with; the error was printed.
 */
int perftest_begin(struct perf_options *options, int argc, char **argv, int *words);

/** Give the values that perftest's programs have when an option is not given. */
void perftest_defaults(struct perf_options *options);

/** Settle after all options what perftest settles otherwise than dat-perf, and choose the adapter. */
void perftest_settle(struct perf_options *options);

/** Print the options. */
void perftest_help(enum perf_test test);

#endif /* PERF_PERFTEST_H */
