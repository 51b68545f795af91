/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_SOCKETS_H
#define ROCE_ETHDEV_SOCKETS_H

/**
 * @file
 * The telemetry sockets of an EAL that this library started, and children of the process.
 *
 * DPDK opens them without close-on-exec and unlinks them by atexit(3). A child that ends by exit(3) would take away the
 * files of its parent, and a child that lives on would hold sockets that answer nobody. Here the sockets are closed in
 * children, by fork and by exec, and a child that exits puts the files back.
 *
 * DPDK's thread that takes their clients ends for good when accept(2) fails once. Here it waits for a free descriptor.
 *
 * DPDK takes a socket that is bound and does not listen yet for one that was left behind, and unlinks it. Of processes
 * that start at once in one folder, here one at a time opens its sockets.
 */

#include <sys/socket.h>

/** Before the EAL starts: what is called first here is called last at the end of the process. */
void roce_sockets_before_eal(void);

/** The EAL has started: find its sockets. */
void roce_sockets_after_eal(void);

/**
 * accept(2) for DPDK's telemetry: the descriptor is close-on-exec. While the process or the system is out of descriptors or
 * memory, it tries again ten times a second, and only while a client waits.
 */
int roce_sockets_accept(int fd, struct sockaddr *address, socklen_t *len);

/**
 * bind(2) and listen(2) for DPDK's telemetry: from the first bind to listen, or to roce_sockets_after_eal(), this process
 * has the lock of the EAL's folder. A process that is stopped meanwhile keeps others waiting for a second.
 */
int roce_sockets_bind(int fd, const struct sockaddr *address, socklen_t len);
int roce_sockets_listen(int fd, int backlog);

#endif
