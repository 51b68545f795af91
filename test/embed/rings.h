/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_EMBED_RINGS_H
#define TEST_EMBED_RINGS_H

/**
 * @file
 * A program's own two ports, joined back to back by rings, queue by queue.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ring.h>

#define RINGS_QUEUES 2u
#define RINGS_LOST   UINT16_MAX       /**< the number of a port that is no more */
#define RINGS_NAME   "net_ring_rings" /**< of the ports, less their number */

struct rings {
	uint16_t port[2];
	struct rte_ring *to[2][RINGS_QUEUES]; /**< what port i receives on queue q */
	struct rte_mempool *pool;             /**< for the receive queues, which take none */
};

/** Make and configure them. */
void rings_open(struct rings *rings, bool start);
/** Both carry frames with @p mtu bytes behind their Ethernet header from here on. They are stopped. */
void rings_set_mtu(struct rings *rings, uint32_t mtu);
void rings_start(struct rings *rings);
void rings_stop(struct rings *rings);
/** Stop and close one, as its owner may: the calls below leave it alone. */
void rings_lose(struct rings *rings, unsigned int i);
/** Close them; they are stopped. Frames that nobody received are freed. */
void rings_close(struct rings *rings);
/** Free a ring, and the frames in it. */
void rings_free(struct rte_ring *ring);

#endif
