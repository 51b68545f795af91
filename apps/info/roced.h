/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_ROCED_H
#define INFO_ROCED_H

/**
 * @file
 * The roced of this user, which the adapter roce0 has its processes from: what it tells of itself, as JSON.
 */

#include <stddef.h>
#include <stdint.h>

struct info_text;
struct json_object;

/** The key of roced among processes (look.h): no process has such a number. */
#define INFO_ROCED "roced"

/**
 * Ask the roced of this user for its status. None is started.
 * @param errmsg why one that runs does not answer; empty: there is none. At least 512 bytes.
 * @return the object, the caller's; NULL: there is none, or it does not answer.
 */
struct json_object *info_roced_ask(char *errmsg, size_t len);

/** The status of roced, for people. */
void info_roced_print(struct json_object *roced);

/** Sums over all its processes. @p roced may be NULL. */
struct info_roced_sums {
	uint64_t processes;
	uint64_t channels; /**< each has two ends, and counts once */
	uint64_t listeners;
};
struct info_roced_sums info_roced_sum(struct json_object *roced);

/** A list among the members of an object. @return NULL: there is none. @p object may be NULL. */
struct json_object *info_roced_list(struct json_object *object, const char *key);

/** One of the lists of a process. @return its length; 0 when there is none. @p process may be NULL. */
uint64_t info_roced_length(struct json_object *process, const char *list);

/** The process with that number. @return an object of @p roced; NULL: it has none, or @p roced is NULL. */
struct json_object *info_roced_process(struct json_object *roced, uint64_t number);

/** Write the metrics of roced. */
void info_roced_metrics(struct info_text *text, struct json_object *roced);

#endif /* INFO_ROCED_H */
