/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_LINK_H
#define INFO_LINK_H

/**
 * @file
 * A connection to the telemetry socket that DPDK's EAL opens in every process: a question, a JSON object.
 *
 * No answer is trusted: the process is of this user or of root, has five seconds for all that it says and 32 MiB, and what it
 * says must be what it should be. No byte of it is a command to a terminal.
 */

#include <stdbool.h>
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
	uint32_t pid;     /**< of the process, as it says; of another user's, as the kernel says */
	uint64_t until;   /**< ms of the monotonic clock: the process has said all by then */
	size_t heard;     /**< bytes so far */
	bool over;        /**< it has failed once, and is asked no more */
	uint32_t longest; /**< bytes of an answer */
	char *answer;
	char path[128];
};

/**
 * Connect. The time of the process begins.
 * @param named  the user named the socket: root may look at anybody's.
 * @return 0: info_link_close() is owed; -1: nobody is there, or he is another user's or none of DPDK's, and @p errmsg says so.
 */
int
info_link_open(struct info_link *link, const char *path, bool named, struct info_errmsg *errmsg);

void info_link_close(struct info_link *link);

/**
 * Ask a question such as "/roce/stats,loop0".
 * @param answer  receives the object, the caller's; NULL when the process has no answer to that.
 * @return 0; -1: the process is gone, or talks nonsense, and @p errmsg says so.
 */
int info_link_ask(struct info_link *link, const char *question, struct json_object **answer,
		struct info_errmsg *errmsg);

#endif /* INFO_LINK_H */
