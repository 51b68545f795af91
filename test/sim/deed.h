/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_SIM_DEED_H
#define ROCE_SIM_DEED_H

/**
 * @file
 * The effect of WRITEs, READs and atomics on the peer's memory, and the check that they had it.
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

/** Where a message works: the peer, the queue pair, the place and how large places are. */
struct deed_site {
	struct deed_memory *peer;
	uint32_t side; /**< of the peer */
	uint32_t talk;
	uint32_t place;
	uint32_t slot_size;
};

/** Say in @p wr what the message does. */
void deed_describe(const struct deed_site *site, const struct message *msg, struct roce_wr *wr);

/** A request succeeded. @param local the bytes it brought. @return NULL, or what is wrong. */
const char *
deed_check(const struct deed_site *site, const struct message *msg, const uint8_t *local);

/** Part of a side's open memory: what a queue pair works with. */
struct deed_part {
	struct roce_mr *mr;
	uint64_t addr;
	uint64_t len;
	uint32_t access;
};

/** The memory that a window must cover so that a queue pair's messages to @p site that need @p access can use it. */
struct deed_part deed_part(const struct deed_site *site, uint32_t access, uint32_t places);

/** The access at the peer that an opcode needs; 0: none. */
uint32_t deed_access(uint8_t opcode);

/** Ask for something that the peer does not allow, as @p how says; @return the status it must fail with. */
enum ibv_wc_status deed_forbid(const struct deed_site *site, uint32_t how, struct roce_wr *wr);

/** All that was posted was done: @return NULL, or what was not. */
const char *deed_finished(const struct deed_memory *peer, uint32_t talk);

#endif
