/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_VALUES_H
#define PERF_VALUES_H

/**
 * @file
 * One option at a time, by dat-perf's letter or enum perf_option: its value, checked alone.
 */

#include "options.h"

/** Most connections. */
#define PERF_MAX_ENDPOINTS 16384

/** The option that is being read, as it was given. */
struct perf_reading {
	struct perf_options *o;
	char shown[48]; /**< its name, for messages */
};

/** Read an option that carries a number or a name, in optarg. @return as perf_options_read(). */
int perf_read_valued(struct perf_reading *r, int option);

/** Note an option that is a switch. @return false: it is none. */
bool perf_read_switch(struct perf_options *o, int option);

#endif /* PERF_VALUES_H */
