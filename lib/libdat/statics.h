/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIBDAT_STATICS_H
#define LIBDAT_STATICS_H

/**
 * @file
 * The static registry: the entries of the dat.conf(5) in force that this library can serve, and
 * three built-in ones.
 *
 * In force is the file named by DAT_OVERRIDE, else /etc/dat.conf; they are not mixed. Served are
 * default entries for user programs with major version 1; the rest of a file belongs to other
 * registries and is passed over, to be named only where a name is looked for in vain.
 *
 * Behind the entries of the file, also of one that is empty, missing or cannot be read, stand the
 * built-in loop0, loop1 and roce0. A line for user programs of this major version, default or not, replaces
 * the built-in entry of its name.
 *
 * No line is cached, so a long-lived program sees an edited file at its next open.
 */

#include <stddef.h>

#include "conf.h"

/** The file in force without DAT_OVERRIDE. */
#define LIBDAT_SYSTEM_CONF "/etc/dat.conf"

/** The entries that were read. */
struct libdat_statics {
	const char *origin;              /**< file name, for messages; not owned */
	struct libdat_conf_entry *entry; /**< in the order of the file; owned */
	size_t count;
	const char *file; /**< where the passed ones stand; not owned */
	struct libdat_conf_entry
			*passed; /**< not served, as the kernel's and those of other DATs; owned */
	size_t passed_count;
	char *text;    /**< of the file, in which the strings of its entries lie; owned */
	char *builtin; /**< the same of those without a file; owned */
};

/**
 * Read the entries in force. Says each bad line, and why a file could not be read, once as long as
 * the same file stays in force.
 *
 * Threads: one at a time; the caller holds a lock.
 * @param system_conf LIBDAT_SYSTEM_CONF.
 * @param[out] out    to be freed with libdat_statics_free() if the call succeeds.
 * @return 0, also when there is nothing to serve; -ENOMEM.
 */
int libdat_statics_read(const char *system_conf, struct libdat_statics *out);

/** Free what libdat_statics_read() stored. Threads: any. */
void libdat_statics_free(struct libdat_statics *s);

#endif /* LIBDAT_STATICS_H */
