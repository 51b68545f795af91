/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_LINK_H
#define INFO_LINK_H

/**
 * @file
 * A connection to the telemetry socket that DPDK's EAL opens in every process: a question, a JSON object.
 *
 * No answer is trusted: an answer has a longest length and time, and must be what it should be.
 */

#include <stddef.h>
#include <stdint.h>

struct json_object;

/** Why something did not work: one sentence without a full stop. */
struct info_errmsg {
	char text[512];
};

/** Set the message. @return -1. */
int info_errmsg_set(struct info_errmsg *errmsg, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

struct info_link {
	int fd;
	uint32_t pid;     /**< of the process, as it says */
	uint32_t longest; /**< bytes of an answer */
	char *answer;
	char path[128];
};

/** Connect. @return 0: info_link_close() is owed; -1: nobody is there, or he is none of DPDK's, and @p errmsg says so. */
int info_link_open(struct info_link *link, const char *path, struct info_errmsg *errmsg);

void info_link_close(struct info_link *link);

/**
 * Ask a question such as "/roce/stats,loop0".
 * @param answer  receives the object, the caller's; NULL when the process has no answer to that.
 * @return 0; -1: the process is gone, or talks nonsense, and @p errmsg says so.
 */
int info_link_ask(struct info_link *link, const char *question, struct json_object **answer,
		struct info_errmsg *errmsg);

#endif /* INFO_LINK_H */
