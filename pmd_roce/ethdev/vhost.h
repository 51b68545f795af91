/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_VHOST_H
#define ROCE_ETHDEV_VHOST_H

/**
 * @file
 * The sockets of a net_vhost. The driver has them, and one thread of DPDK reads the messages of all net_vhost of the process.
 * It waits for the rest of a message without a limit, and the close of a port waits for that thread.
 */

/**
 * End the connections of a net_vhost that is about to be closed, those that wait to be accepted, too, and take no new ones: a
 * read of DPDK's thread then returns, whatever the peers have sent. The driver closes the descriptors. Has no effect on ports
 * of other drivers. Any thread may call it, and again; the port is stopped.
 *
 * @param port `port=`: the name, perhaps with arguments.
 */
void roce_vhost_hang_up(const char *port);

#endif
