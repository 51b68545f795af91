/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_REPORT_H
#define PERF_REPORT_H

/**
 * @file
 * The table on standard output, in perftest's columns, so that scripts and eyes made for perftest
 * read ours.
 */

#include "result.h"

/** Print the block that says what is measured, and the names of the columns. */
void perf_report_header(const struct perf_options *options, const struct perf_plan *plan,
		const struct perf_adapter *adapter);

/** Print one line of the table, and the histogram if it was asked for; or the one number of --output. */
void perf_report_row(const struct perf_options *options, const struct perf_result *result);

/** Print one line of a run without end, unless standard output belongs to the JSON. */
void perf_report_interval(const struct perf_options *options, const struct perf_result *result);

/** Print the closing rule. */
void perf_report_footer(const struct perf_options *options);

/** @return 0; -1: an average is below its limit; it was printed. */
int perf_report_limits(const struct perf_options *options, const struct perf_result *result);

/** Say each kind of violation on standard error: how many, and where the first was. */
void perf_report_violations(const struct perf_violations *bad);

#endif /* PERF_REPORT_H */
