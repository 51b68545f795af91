/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_SNAPSHOT_H
#define INFO_SNAPSHOT_H

/**
 * @file
 * Everything that a process tells of its devices, gathered into one object:
 *
 *   { "pid": n, "process": name, "devices": { name: { "port": {..}, "stats": {..}, "cm": {..},
 *                                    "srqs": { id: {..} }, "qps": { number: {..} }, "channels": { number: {..} } } } }
 *
 * The members are those of /roce/ports, /roce/stats, /roce/cm, /roce/srqs, /roce/qps and, of roce0, /roce/channels. Each
 * answer is of a moment of its own.
 */

#include <stdint.h>

#include "link.h"

/** Ask a process. @return the object, the caller's; NULL: @p errmsg says what went wrong. */
struct json_object *info_snapshot(struct info_link *link, struct info_errmsg *errmsg);

/** A number among the members of an object; 0 when there is none. @p object may be NULL. */
uint64_t info_number(struct json_object *object, const char *key);

/** An object among the members of another; NULL when there is none. @p object may be NULL. */
struct json_object *info_member(struct json_object *object, const char *key);

/** A text among the members of an object; "" when there is none. @p object may be NULL. */
const char *info_words(struct json_object *object, const char *key);

#endif /* INFO_SNAPSHOT_H */
