/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_CLOSER_H
#define ROCED_CLOSER_H

/**
 * @file
 * Threads that close descriptors, so that the loop does not wait for it.
 *
 * A client may send any descriptor: of a file whose file system does not answer, of a socket that lingers. The last close(2)
 * of it may last for as long as the client likes. Only threads of the closer wait then.
 */

/** Close a descriptor, some time. The thread of the loop. */
void closer_close(int fd);

/**
 * Have the kernel refuse descriptors that are sent to a socket; it does since Linux 6.16. Before that it takes them, and to
 * drop one may mean to wait.
 */
void closer_refuse(int fd);

#endif /* ROCED_CLOSER_H */
