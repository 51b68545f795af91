/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_OPTIONS_H
#define INFO_OPTIONS_H

/**
 * @file
 * The command line of dat-info.
 */

#include <stdbool.h>
#include <stdint.h>

#include "process.h"

/** The options of a run. */
enum info_mode {
	INFO_ADAPTERS = 1, /**< list them, or describe one */
	INFO_METRICS,
	INFO_LISTEN,
	INFO_WATCH,
};

struct info_options {
	enum info_mode mode;
	bool json;
	bool all; /**< of an adapter also the counters that are 0 */
	bool openmetrics;
	bool queue_pairs;   /**< metrics of each one */
	const char *ia;     /**< NULL: list all */
	const char *listen; /**< address and port */
	double seconds;     /**< between two looks */
	uint64_t count;     /**< looks; 0: for ever */
	struct info_choice process;
};

/** Read the command line. @return -1: go on; else the exit status, and all has been said. */
int info_options_read(struct info_options *options, int argc, char **argv);

#endif /* INFO_OPTIONS_H */
