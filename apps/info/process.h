/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_PROCESS_H
#define INFO_PROCESS_H

/**
 * @file
 * Which running processes to look at, and what they tell.
 */

#include <stdint.h>

#include "link.h"

/** All of what is given must fit; nothing given: all that there are. */
struct info_choice {
	const char *socket; /**< path of its telemetry socket; NULL: search where the EAL puts them */
	const char *prefix; /**< its EAL's file prefix; NULL: any */
	uint64_t pid;       /**< 0: any */
};

/** One that fits, and all that it has told. */
struct info_process {
	struct info_link link;
	struct json_object *snapshot; /**< NULL: it did not answer, and errmsg says why */
	struct json_object *help;     /**< meanings of counters; NULL: not wanted, or none */
	struct info_errmsg errmsg;
};

/** Those that fit, by their numbers. */
struct info_processes {
	struct info_process *at;
	size_t n;
};

/**
 * Ask each process with RoCE devices that fits, all at the same time. Found are those of this user and of root, in folders of
 * theirs, 1024 at most.
 * @param wants_help  also for the meanings of counters.
 * @param processes   receives at least one; info_processes_free() is owed, also for none.
 * @return 0; -1: there is none, and @p errmsg says so.
 */
int info_processes_ask(const struct info_choice *choice, bool wants_help,
		struct info_processes *processes, struct info_errmsg *errmsg);

void info_processes_free(struct info_processes *processes);

#endif /* INFO_PROCESS_H */
