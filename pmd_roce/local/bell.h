/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_LOCAL_BELL_H
#define ROCE_LOCAL_BELL_H

/**
 * @file
 * The bell of a process: which of its channels to look into, in memory that it shares with all its peers.
 *
 * A receiver polls the few channels that have traffic, and has armed the others (ring.h). A sender to an armed one sets
 * a bit here, so that any number of silent peers costs the receiver one load a poll. The bits are hints. A peer that sets
 * bits costs the receiver some looks. One that clears the bits of others delays their frames until the receiver looks
 * without a hint, which it does now and then (receive.c); while it sleeps, until it wakes by itself.
 */

#include <stdbool.h>
#include <stdint.h>

#include "local/proto.h"

#define ROCE_BELL_WORDS ((ROCE_PROCESSES + 63) / 64)

static_assert(ROCE_BELL_WORDS <= 64, "a bit of the summary for each word");

/** The shared memory of a bell. Zero when it is new. */
struct roce_bell {
	uint64_t summary;  /**< bit per word that has bits */
	uint32_t sleeping; /**< 1: the receiver sleeps on its sockets; written by the receiver */
	uint8_t pad[52];
	uint64_t bits[ROCE_BELL_WORDS]; /**< bit per process that has sent */
};

/** Tell the receiver to look at the channel of process @p number. @return does it sleep, so that it is to be woken? */
static inline bool
roce_bell_ring(struct roce_bell *bell, uint32_t number)
{
	uint64_t bit = UINT64_C(1) << number % 64;
	uint32_t word = number / 64;

	if ((__atomic_load_n(&bell->bits[word], __ATOMIC_RELAXED) & bit) == 0)
		__atomic_fetch_or(&bell->bits[word], bit, __ATOMIC_SEQ_CST);
	if ((__atomic_load_n(&bell->summary, __ATOMIC_RELAXED) & UINT64_C(1) << word) == 0)
		__atomic_fetch_or(&bell->summary, UINT64_C(1) << word, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&bell->sleeping, __ATOMIC_SEQ_CST) != 0;
}

/** Has any peer rung? */
static inline bool
roce_bell_has_rung(const struct roce_bell *bell)
{
	return __atomic_load_n(&bell->summary, __ATOMIC_RELAXED) != 0;
}

/** Take the bits of the words, and of one word. The summary goes first: a bit that is set meanwhile sets it again. */
static inline uint64_t
roce_bell_take_summary(struct roce_bell *bell)
{
	return __atomic_exchange_n(&bell->summary, 0, __ATOMIC_SEQ_CST);
}

static inline uint64_t
roce_bell_take(struct roce_bell *bell, unsigned int word)
{
	return __atomic_exchange_n(&bell->bits[word], 0, __ATOMIC_SEQ_CST);
}

#endif
