/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_SIM_JUDGE_H
#define ROCE_SIM_JUDGE_H

/**
 * @file
 * Watches each frame of a world: end states alone do not show a requester that
 * wastes the wire. Knows the protocol from the frames only, not from the engine.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#define JUDGE_FLOWS  32u
#define JUDGE_WINDOW 128
#define JUDGE_ASKS   16u

/** One direction of one queue pair, named by the destination of its requests. */
struct judge_flow {
	uint32_t requester; /**< QP numbers */
	uint32_t responder;
	uint32_t acknowledged; /**< everything before it, as far as acknowledgements arrived */
	uint32_t next;         /**< one behind the newest PSN sent */
	uint32_t asks;         /**< READs and atomics not answered to the end */
	struct {
		uint32_t psn, end;
	} ask[JUDGE_ASKS];
};

struct judge {
	uint32_t mtu; /**< bytes */
	uint32_t flows;
	struct judge_flow flow[JUDGE_FLOWS];
	uint64_t again; /**< request frames sent more than once */
	const char *violation;
};

void judge_init(struct judge *judge, uint32_t mtu);

/** Expect requests from one queue pair to another, beginning with @p psn. */
void judge_expect(struct judge *judge, uint32_t requester, uint32_t responder, uint32_t psn);

/** A frame leaves an engine. */
void judge_sent(struct judge *judge, struct rte_mbuf *m);

/** An undamaged frame reaches an engine. */
void judge_arrived(struct judge *judge, struct rte_mbuf *m);

#endif
