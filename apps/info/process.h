/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_PROCESS_H
#define INFO_PROCESS_H

/**
 * @file
 * Which running process to look at.
 */

#include <stdint.h>

#include "link.h"

/** All of what is given must fit; nothing given: the only one that there is. */
struct info_choice {
	const char *socket; /**< path of its telemetry socket; NULL: search where the EAL puts them */
	const char *prefix; /**< its EAL's file prefix; NULL: any */
	uint64_t pid;       /**< 0: any */
};

/**
 * Find the process with RoCE devices that is meant, and connect to it.
 * @return 0: info_link_close() is owed; -1: there is none, or more than one, and @p errmsg says which.
 */
int info_process_find(const struct info_choice *choice, struct info_link *link,
		struct info_errmsg *errmsg);

#endif /* INFO_PROCESS_H */
