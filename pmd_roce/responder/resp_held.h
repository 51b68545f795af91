/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_RESPONDER_RESP_HELD_H
#define ROCE_RESPONDER_RESP_HELD_H

/**
 * @file
 * The responder and the frames that it holds (queue/held.h): which of them, and what becomes of them when their turn comes.
 * All functions: locked.
 */

#include "queue/qp.h"

/** A request that came early. */
struct roce_resp_early {
	uint32_t psn;
	const struct roce_reth *read; /**< of a READ; NULL: it is none */
	uint8_t repeat;               /**< its repeat number */
};

/**
 * Keep a good request frame with a PSN ahead of the expected one for when its turn comes, and have the peer be told.
 * @param m set to NULL when it is kept; else it stays the caller's.
 */
void roce_resp_hold(struct roce_qp *qp, struct rte_mbuf **m, struct roce_resp_early early);

/**
 * Receive a frame of a domain with one engine, if it is a plain request behind a packet that was reported missing: roce_resp_rx()
 * would hold it.
 * @param m set to NULL when it is kept; else it is the caller's to free.
 * @return false: it is something else, or not good; no state has changed.
 */
bool roce_resp_hold_plain(struct roce_engine *e, struct rte_mbuf **m);

/**
 * The expected packet may be one that is held, and so may those behind it: they are executed. They are acknowledged at once,
 * since the requester may be sending them again; what is missing behind them is reported at once, since nothing else may come.
 */
void roce_resp_execute_held(struct roce_qp *qp, uint64_t now);

#endif
