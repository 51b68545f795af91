/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_LOOK_H
#define INFO_LOOK_H

/**
 * @file
 * A look at the whole host: all processes that fit, and the roced that introduces them.
 *
 * The look has the object of info_snapshot() of each process under its number, and one more member, INFO_ROCED:
 * { "pid", "process": "roced", "devices": {}, "roced": {..} }. So roced is one of the processes, though none with a device. One that does not answer
 * has "error", a sentence, instead of "roced". The member is missing when there is no roced, or another process is asked for.
 */

#include "process.h"

struct json_object;

/**
 * Find the processes, and ask each one and roced.
 * @param choice  NULL: all.
 * @param help    receives the meanings of counters, the caller's, or NULL; may be NULL.
 * @return the object, the caller's; NULL: there is neither a process nor a roced, or none answers; @p errmsg says why.
 */
struct json_object *
info_look(const struct info_choice *choice, struct json_object **help, struct info_errmsg *errmsg);

/** How many processes with devices a look has. */
int info_look_processes(struct json_object *look);

/** The status of roced. @return NULL: it told none. @p look may be NULL. */
struct json_object *info_look_roced(struct json_object *look);

#endif /* INFO_LOOK_H */
