/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIBDAT_STATICS_H
#define LIBDAT_STATICS_H

/**
 * @file
 * The static registry: the entries of the dat.conf(5) in force that this library can serve.
 *
 * In force is the file named by DAT_OVERRIDE, else /etc/dat.conf, else two built-in entries. There
 * is no mixing: a file that is in force decides alone, the one named by DAT_OVERRIDE also when it is
 * empty, and both when they cannot be read.
 * Served are default entries for user programs with major version 1; the rest of a file belongs to
 * other registries and is passed over in silence. An /etc/dat.conf of which nothing is served, such
 * as the one that Debian's libdat2 brings, is as if it were not there.
 *
 * Nothing is cached, so a long-lived program sees an edited file at its next open.
 */

#include <stddef.h>

#include "conf.h"

/** The file in force without DAT_OVERRIDE. */
#define LIBDAT_SYSTEM_CONF "/etc/dat.conf"

/** What was read. */
struct libdat_statics {
	const char *origin;              /**< file name, for messages; not owned */
	struct libdat_conf_entry *entry; /**< in the order of the file; owned */
	size_t count;
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
