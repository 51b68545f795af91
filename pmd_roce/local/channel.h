/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_LOCAL_CHANNEL_H
#define ROCE_LOCAL_CHANNEL_H

/**
 * @file
 * A channel to another process: both rings of their shared memory, the peer's bell, and a socket that wakes the peer.
 *
 * A channel is used by the poller of the engine that has it, under that engine's lock.
 */

#include <stdbool.h>
#include <stdint.h>

#include "local/bell.h"
#include "local/proto.h"
#include "local/ring.h"

struct roce_channel {
	uint32_t number; /**< of the peer */
	bool hot;        /**< polled at each poll; else armed */
	bool broken;     /**< a ring failed a check: neither read nor written any more */
	bool touched;    /**< has entries that are not published */
	bool stalled;    /**< the peer does not read: frames to it are dropped */
	uint32_t idle;   /**< polls without a frame */
	uint64_t rx_frames;
	uint64_t tx_frames;
	struct roce_ring_tx tx;
	struct roce_ring_rx rx;
	struct roce_bell *bell; /**< the peer's */
	int wake;               /**< socket */
	bool closed;            /**< by the peer; of the thread */
	uint32_t stall_head;    /**< where the peer was when the ring was full, */
	uint64_t stall_by;      /**< and until when it has to move; ticks; 0: it was not full */
	struct roce_channel_memory *memory;
};

/** Create sealed memory that can be shared, all zero. @return a descriptor; -errno. */
int roce_channel_create_memory(const char *name, size_t size);

/**
 * Map memory that came from another process, or that this one made.
 * @param size rounded up to a page is how large it must be.
 * @return NULL: it is no sealed memory of that size, or does not map; errno says why.
 */
void *roce_channel_map(int fd, size_t size);
void roce_channel_unmap(void *memory, size_t size);

/**
 * Make a channel of the descriptors that roced sent.
 * @param fds memory, bell and socket, as ROCE_MSG_CHANNEL has them; taken over in any case.
 * @return NULL: no memory, or the descriptors are not what they should be.
 */
struct roce_channel *roce_channel_open(const struct roce_msg_channel *msg, const int *fds);

/** Unmap and close; NULL is allowed. */
void roce_channel_close(struct roce_channel *channel);

/** Publish the entries and, if the peer has armed the ring, ring its bell as process @p self. */
void roce_channel_publish(struct roce_channel *channel, uint32_t self);

/** Wake a peer that sleeps: never waits. */
void roce_channel_wake(const struct roce_channel *channel);

/** Read the socket empty. */
void roce_channel_drain_wake(const struct roce_channel *channel);

#endif
