/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_MEMIF_H
#define ROCE_ETHDEV_MEMIF_H

/**
 * @file
 * A proxy between net_memif and its peers.
 *
 * net_memif of DPDK 22.11 does not expect a peer that says something wrong, ends early or is stopped. Two examples: a
 * peer that has gone when the listener greets it leaves a closed descriptor among the EAL's interrupts, and the next
 * change of these is a panic (memif_listener_handler()); and the memory of a peer that ends is unmapped below a burst
 * (memif_disconnect()). So the driver of a port that is probed here gets a private socket, whose only peer is the
 * proxy, and the proxy has the public one, which `socket=` names. It collects and validates a handshake before the
 * driver hears of it, and it ends a link in order: bursts stop, connections break, then the driver unmaps. Frames never
 * pass through it.
 *
 * One thread of the process serves all ports, from roce_memif_begin() to roce_memif_end(). A client shakes hands before,
 * in roce_memif_start().
 */

#include <stdbool.h>
#include <stdint.h>

#include "observe/errmsg.h"

struct roce_memif;

/**
 * Take the public socket of a port that is not made yet, and put a private one into its arguments.
 *
 * @param name   of the port.
 * @param port   its name and arguments, ROCE_DEVARGS_PORT_LEN bytes; changed on success.
 * @param queues of the port: as many rings each way.
 * @return 0; -EINVAL; -EBUSY somebody else listens there; -EACCES; -ENOMEM.
 */
int roce_memif_create(const char *name, char *port, uint32_t queues, struct roce_memif **out,
		struct roce_errmsg *errmsg);

/** The driver has its private socket now: nobody else may find it. */
void roce_memif_probed(struct roce_memif *memif);

/** Has it to find its server before it can start? */
bool roce_memif_is_client(const struct roce_memif *memif);

/**
 * Start the device, which is port @p port_id of ethdev. A client finds its server within ten seconds.
 * @return 0; -ENODEV, with the reason.
 */
int roce_memif_start(struct roce_memif *memif, uint16_t port_id, struct roce_errmsg *errmsg);

/** Calls from the proxy's thread to the owner of the port, which lies above. No engine's lock is held. */
struct roce_memif_notify {
	/** The port has a peer: bursts begin. */
	void (*peer_came)(void *arg);
	/**
	 * The only peer of the port has gone, and the driver is about to unmap the peer's memory. No thread is in a burst
	 * when this returns, nor begins one.
	 */
	void (*peer_left)(void *arg);
};

/**
 * Serve it: peers may come and go. @p notify lives as long as that, and @p arg is handed to it.
 * @return 0; -ENOMEM no thread.
 */
int roce_memif_begin(struct roce_memif *memif, const struct roce_memif_notify *notify, void *arg);

/** Serve it no more: its peer, if there is one, is told. The port is not told. Never begun is allowed. */
void roce_memif_end(struct roce_memif *memif);

/** Give the sockets back. It has ended, and the device is closed. NULL is allowed. */
void roce_memif_destroy(struct roce_memif *memif);

#endif
