/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_FAULT_DICE_H
#define ROCE_QUEUE_FAULT_DICE_H

/**
 * @file
 * Faults of a queue pair on purpose, for the tests of programs. The dice have no state: what becomes of a message is a
 * function of the seed, of which queue pair of the domain it is, and of how many messages or requests came before. So a throw
 * that is repeated falls the same, and times have no say.
 */

#include "queue/qp.h"
#include "wire/random.h"

/** Throw number @p n of a queue pair, of 32 bits. */
static inline uint64_t
roce_fault_draw(const struct roce_qp *qp, enum roce_random_stream kind, uint32_t n)
{
	const struct roce_fault_config *faults = &qp->engine->domain->config.faults;

	return roce_random_at(faults->seed, kind, (uint64_t)qp->cold.dice.number << 32 | n) >> 32;
}

/** Shall the message that could take a receive now be refused? */
static inline bool
roce_fault_refuses(const struct roce_qp *qp)
{
	return roce_fault_draw(qp, ROCE_RANDOM_RNR, qp->rx.taken + qp->cold.dice.refused) <
			qp->engine->domain->config.faults.rnr;
}

/** Shall request @p slot fail, as if its peer never answered? A bind has no peer that could. */
static inline bool
roce_fault_fails(const struct roce_qp *qp, uint32_t slot)
{
	const uint64_t share = qp->engine->domain->config.faults.wc_error;

	return share != 0 && !roce_wqe_is_bind(roce_wq_slot(&qp->wq, slot)) &&
			roce_fault_draw(qp, ROCE_RANDOM_WC_ERROR, slot) < share;
}

#endif
