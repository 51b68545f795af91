/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_ASK_H
#define ROCED_ASK_H

/**
 * @file
 * The status of a roced that runs, for roced --status and dat-info.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#include "observe/errmsg.h"

/**
 * Ask for the status, and wait five seconds at most. The text may be anything of at most 16 MiB.
 * @param address of its socket. @param json one JSON object; else tables.
 * @param text the caller's, to be freed; ends with a zero. @param len its bytes without that.
 * @return 0; -ENOENT, -ECONNREFUSED: no roced runs there; -ETIMEDOUT; -EPROTO; -ENOMEM; -errno. @p errmsg says what happened.
 */
int roced_ask(const struct sockaddr_un *address, bool json, char **text, size_t *len,
		struct roce_errmsg *errmsg);

#endif /* ROCED_ASK_H */
