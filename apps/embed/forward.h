/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EMBED_FORWARD_H
#define EMBED_FORWARD_H

/**
 * @file
 * The appliance's own trade: what comes in at one port goes out at the other,
 * untouched, whoever sent it. Frames of RDMA for our address are taken out of
 * the first port's stream, and answers put into it.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include <roce/roce.h>

#define FORWARD_BURST 32u

/** One direction, in frames. */
struct forward_counts {
	uint64_t received;
	uint64_t ours;      /**< taken out: RDMA for our address */
	uint64_t forwarded; /**< taken by the other port */
	uint64_t dropped;   /**< which it did not take */
};

struct forward {
	uint16_t port[2];
	struct roce_device *device;      /**< on port[0]; NULL: none, and everything is forwarded */
	struct forward_counts counts[2]; /**< by the port that received */
	uint64_t rdma_sent;
	struct rte_mbuf *held[FORWARD_BURST]; /**< RDMA frames that port[0] has not taken yet */
	uint16_t held_at, held_n;
};

/** Configure and start a port, one queue each way. @return 0; -1, and one sentence was printed. */
int forward_start(uint16_t port, struct rte_mempool *pool);

/** Receive a burst at both ports and do with it what is to be done. @return frames moved. */
unsigned int forward_poll(struct forward *forward);

/** Free what is held. */
void forward_stop(struct forward *forward);

#endif
