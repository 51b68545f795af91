/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_LOCAL_UPLINK_H
#define ROCE_LOCAL_UPLINK_H

/**
 * @file
 * The process that has the uplink: what it does with frames between the other processes and the wire.
 *
 * It is process 0 and attaches like any other, with the identity that all of them share. It has no queue pairs. A frame
 * from the wire goes to the process that its queue pair number names, and one of the connection manager to roced. Answers
 * of neighbours go to all, since each process keeps its own table. The uplink waits for no process: one whose ring is
 * full loses frames, as on a switch.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "local/local.h"

/**
 * Attach as the uplink to the roced that runs.
 * @param dir its folder; NULL: that of this user.
 * @return as roce_local_open(); -ENODEV also where no roced runs. roce_local_start() and roce_local_close() as of others.
 */
int roce_uplink_open(const char *dir, const struct roce_proto_identity *identity,
		struct roce_local **out, struct roce_errmsg *errmsg);

/** Has roced ended? Then the process that it started is to end, too. Any thread. */
bool roce_uplink_is_over(const struct roce_local *local);

/**
 * Frames that processes send to other hosts, at most @p n. They come from the MAC address and an IP address of the
 * identity, and are RoCEv2, or questions of ARP or neighbour discovery; a message of the connection manager names ids and
 * queue pairs of its sender alone. All else that a process writes is dropped and counted. One thread.
 */
uint16_t roce_uplink_rx(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n);

/**
 * Messages of other hosts that roced has given back, since no process is there to answer them: at most @p n, the caller's. One
 * thread, the same.
 */
uint16_t roce_uplink_returned(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n);

/** Frames of the wire to the processes; all are taken over. One thread, the same. */
void roce_uplink_tx(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n);

/**
 * Tell roced what the uplink has counted, for its status.
 * @param port what the port counts, and in tx_forged the frames of processes that its owner has dropped; the rest is filled in.
 * @return 0; -errno: roced is away, or does not read. The thread of the frames.
 */
int roce_uplink_tell(struct roce_local *local, const struct roce_msg_uplink *port);

#endif
