/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_SIM_DEED_H
#define ROCE_SIM_DEED_H

/**
 * @file
 * What WRITEs, READs and atomics do to the peer's memory, and whether they did.
 *
 * Every request has a place of its own at the peer until it is known to be done. A WRITE fills the place, a READ
 * fetches from bytes that never change, atomics work on one word a queue pair and direction, whose every value is
 * known beforehand: an operation that is done twice, or not at all, shows in the next.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/verbs.h"
#include "message.h"

#define DEED_PLACES_MAX 1024u

/** Open memory of one side. */
struct deed_memory {
	struct roce_mr *target; /**< of WRITEs; its peer fills it */
	struct roce_mr *source; /**< of READs */
	struct roce_mr *words;  /**< of atomics */
	uint64_t word[WORLD_TALKS_MAX];
	uint64_t expected
			[WORLD_TALKS_MAX]; /**< value of the word when all that was posted is done */
	uint64_t original[DEED_PLACES_MAX]; /**< what an atomic at this place must find */
};

/** Register the memory of a side, and set its words. */
void deed_open(struct deed_memory *memory, uint32_t side, struct roce_pd *pd);
void deed_close(struct deed_memory *memory);

/** Say in @p wr what the message does at @p place of @p peer. */
void deed_describe(struct deed_memory *peer, uint32_t side, uint32_t talk, uint32_t place,
		const struct message *msg, uint32_t slot_size, struct roce_wr *wr);

/** A request succeeded. @param local its memory. @return NULL, or what is wrong. */
const char *deed_check(const struct deed_memory *peer, uint32_t side, uint32_t place,
		const struct message *msg, uint32_t slot_size, const uint8_t *local);

#endif
