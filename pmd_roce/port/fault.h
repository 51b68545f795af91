/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_PORT_FAULT_H
#define ROCE_PORT_FAULT_H

/**
 * @file
 * Frames lost on purpose, at the wire of one queue. The losses are a function
 * of the seed and the frames that pass, so a run can be repeated.
 *
 * Off is the rule, and costs one predictable branch a burst.
 */

#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

/** The dice of one direction of one queue. */
struct roce_fault {
	uint64_t state;     /**< xorshift64*, never 0 */
	uint64_t threshold; /**< a 32-bit throw below it loses the frame: 0 never, 2^32 always */
	uint64_t lost;      /**< frames lost so far */
};

/**
 * @param loss   frames of a million, 0..1000000.
 * @param seed   of the losses.
 * @param stream which dice: queues and directions that share a seed need different ones.
 */
void roce_fault_init(struct roce_fault *fault, uint32_t loss, uint64_t seed, uint32_t stream);

/** Free the unlucky ones, close the gaps. @return how many are left. Call it only when it is on. */
uint16_t roce_fault_throw(struct roce_fault *fault, struct rte_mbuf **pkts, uint16_t n);

/** Lose frames of a burst, if that was asked for. @return how many are left, moved to the front, in order. */
static inline uint16_t
roce_fault_burst(struct roce_fault *fault, struct rte_mbuf **pkts, uint16_t n)
{
	if (likely(fault->threshold == 0))
		return n;
	return roce_fault_throw(fault, pkts, n);
}

#endif
