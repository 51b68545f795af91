/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_MEMIF_OFFER_H
#define ROCE_ETHDEV_MEMIF_OFFER_H

/**
 * @file
 * The offer of a memif client in its handshake, collected and validated as a whole.
 *
 * net_memif believes its peer: a ring index that comes twice, a ring beyond its region or a region larger than its
 * file ends the process that maps them. So a handshake is collected here, and the driver sees it only when nothing
 * in it can do that. The driver reads as it is whatever the peer writes to the shared memory afterwards.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "ethdev/memif_msg.h"

#define ROCE_MEMIF_REGIONS_MAX 16

enum roce_memif_way {
	ROCE_MEMIF_C2S, /**< from client to server */
	ROCE_MEMIF_S2C,
	ROCE_MEMIF_WAYS,
};

struct roce_memif_ring {
	int fd; /**< -1: there is none */
	struct roce_memif_add_ring added;
};

struct roce_memif_region {
	int fd;
	uint64_t size;
};

struct roce_memif_offer {
	bool begun; /**< INIT has come */
	struct roce_memif_init init;
	uint32_t regions;
	struct roce_memif_region region[ROCE_MEMIF_REGIONS_MAX];
	struct roce_memif_ring ring[ROCE_MEMIF_WAYS][ROCE_ENGINES_MAX];
	char if_name[ROCE_MEMIF_NAME_LEN];
};

/** An empty offer. */
void roce_memif_offer_init(struct roce_memif_offer *offer);

/** Close the descriptors. */
void roce_memif_offer_fini(struct roce_memif_offer *offer);

/**
 * Take the next message.
 *
 * @param passed the descriptor that came along, or -1; it is the offer's, also at a failure.
 * @param words  why not, at a failure: text that lives for ever and fits a DISCONNECT.
 * @return 0: to be acknowledged; 1: it was CONNECT, the offer is complete; -EPROTO.
 */
int roce_memif_offer_take(struct roce_memif_offer *offer, const struct roce_memif_msg *msg,
		int passed, const char **words);

/**
 * Validate a complete offer.
 * @param queues of the port: so many rings each way, no more and no fewer.
 * @return 0; -EPROTO.
 */
int
roce_memif_offer_check(const struct roce_memif_offer *offer, uint32_t queues, const char **words);

#endif
