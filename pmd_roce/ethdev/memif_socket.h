/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_MEMIF_SOCKET_H
#define ROCE_ETHDEV_MEMIF_SOCKET_H

/**
 * @file
 * Where memif's control sockets are: a public one, where the two programs meet, and private ones between net_memif and
 * the proxy in the same process.
 *
 * A public socket is a file, unless `socket-abstract=yes` asks for a name without one. A name without a slash is a file
 * in the folder of the user's own.
 */

#include <stdbool.h>
#include <stddef.h>

#include "observe/errmsg.h"

/** Bytes of a name with its zero: as many as a socket's address holds. */
#define ROCE_MEMIF_SOCKET_LEN 108

struct roce_memif_place {
	char name[ROCE_MEMIF_SOCKET_LEN]; /**< a path, or the abstract name */
	bool abstract;
};

/** Where a `socket=` is. @param given its value; NULL: there was none. @return 0; -EINVAL; -EACCES. */
int roce_memif_place(const char *given, bool abstract, struct roce_memif_place *place,
		struct roce_errmsg *errmsg);

/** A private path that nobody has used. @return as roce_run_dir(). */
int roce_memif_private_path(char path[ROCE_MEMIF_SOCKET_LEN], struct roce_errmsg *errmsg);

/**
 * Listen. The file of a program that has ended without removing it is replaced.
 * @return the socket, which does not block; -EADDRINUSE somebody listens there; -ENOTSOCK there is
 *         a file of another kind; -errno.
 */
int roce_memif_listen(const struct roce_memif_place *place);

/**
 * Connect without waiting.
 * @return the socket, which does not block; -ECONNREFUSED nobody listens; -EAGAIN too many wait there; -errno.
 */
int roce_memif_connect(const char *path, bool abstract);

#endif
