/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_PROCESS_H
#define INFO_PROCESS_H

/**
 * @file
 * Which running process to look at.
 */

#include <stdint.h>

#include "link.h"

/** All of what is given must fit; nothing given: all that there are. */
struct info_choice {
	const char *socket; /**< path of its telemetry socket; NULL: search where the EAL puts them */
	const char *prefix; /**< its EAL's file prefix; NULL: any */
	uint64_t pid;       /**< 0: any */
};

/** Processes that answer, by their numbers. */
struct info_processes {
	struct info_link *link;
	size_t n;
};

/**
 * Connect to each process with RoCE devices that fits.
 * @param processes  receives at least one; info_processes_close() is owed, also for none.
 * @return 0; -1: there is none, and @p errmsg says so.
 */
int info_processes_find(const struct info_choice *choice, struct info_processes *processes,
		struct info_errmsg *errmsg);

void info_processes_close(struct info_processes *processes);

#endif /* INFO_PROCESS_H */
