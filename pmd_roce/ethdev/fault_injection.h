/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_FAULT_INJECTION_H
#define ROCE_ETHDEV_FAULT_INJECTION_H

/**
 * @file
 * Fault injection: what a bad network does to frames, done on purpose at the wire
 * of one queue. Which frames are struck is a function of the seed and the frames
 * that pass, so a run can be repeated; how long a frame is held back also of the
 * polls without any.
 *
 * Off is the rule, and costs one predictable branch a burst.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

enum roce_fault_kind {
	ROCE_FAULT_LOSS,
	ROCE_FAULT_DUPLICATE, /**< the frame goes twice */
	ROCE_FAULT_REORDER,   /**< the frame goes behind up to ROCE_FAULT_LATE_MAX later ones */
	ROCE_FAULT_CORRUPT,   /**< one bit behind the Ethernet header is another */
	ROCE_FAULT_MARK,      /**< congestion experienced, if the frame may be marked (RFC 3168) */
	ROCE_FAULT_KINDS,
};

#define ROCE_FAULT_LATE_MAX  64u
#define ROCE_FAULT_BURST_MAX 64u /**< frames of one burst */

/** A throw of 32 bits is below it @p ppm times of a million: 0 never, 2^32 always. */
static inline uint64_t
roce_fault_threshold(uint32_t ppm)
{
	return ((uint64_t)ppm << 32) / 1000000;
}

/** The die of one kind. It is thrown ahead, so that most bursts are known to be spared before any of their frames is looked at. */
struct roce_fault_die {
	uint64_t state;     /**< xorshift64*, never 0 */
	uint64_t threshold; /**< a throw below it strikes; 0: the kind is off */
	uint32_t spared;    /**< throws that did not strike, for frames to come */
	bool strikes;       /**< the throw behind them does */
};

/** The dice of one direction of one queue. */
struct roce_fault_injection {
	struct roce_fault_die die[ROCE_FAULT_KINDS];
	uint64_t state; /**< of throws that say how a frame is struck; xorshift64*, never 0 */
	bool on;
	uint8_t late_for;                 /**< frames that may still overtake @c late */
	struct rte_mbuf *late;            /**< a frame that is held back; NULL: none */
	uint64_t count[ROCE_FAULT_KINDS]; /**< frames it was done to so far */
};

/**
 * @param ppm    of each kind, frames of a million, 0..1000000.
 * @param seed   of the dice.
 * @param stream which dice: queues and directions that share a seed need different ones.
 */
void roce_fault_injection_init(struct roce_fault_injection *injection,
		const uint32_t ppm[ROCE_FAULT_KINDS], uint64_t seed, uint32_t stream);

/** Free what is held back. */
void roce_fault_injection_fini(struct roce_fault_injection *injection);

/** The part of roce_fault_injection_burst() for when it is on. */
uint16_t roce_fault_injection_throw(
		struct roce_fault_injection *injection, struct rte_mbuf **pkts, uint16_t n);

/** How many frames may a burst have for which there is room for @p room afterwards? One more may come that was late, or any twice. */
static inline uint16_t
roce_fault_injection_room(const struct roce_fault_injection *injection, uint16_t room)
{
	if (likely(!injection->on))
		return room;
	if (injection->die[ROCE_FAULT_REORDER].threshold != 0)
		room--;
	return injection->die[ROCE_FAULT_DUPLICATE].threshold != 0 ? room / 2 : room;
}

/**
 * Do to a burst what was asked for; also with n = 0, that what was held back can go.
 * @param pkts  has room for 2 n + 1.
 * @return how many there are now.
 */
static inline uint16_t
roce_fault_injection_burst(
		struct roce_fault_injection *injection, struct rte_mbuf **pkts, uint16_t n)
{
	if (likely(!injection->on))
		return n;
	return roce_fault_injection_throw(injection, pkts, n);
}

#endif
