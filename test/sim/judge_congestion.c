/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks, the notifications they cause, and whether these are obeyed. */

#include <rte_common.h>

#include "judge.h"

#define INTERVAL_NS 50000u /**< between two notifications */
#define BURST_NS    32000u /**< that a slowed sender may save up */
#define SECOND_NS   1000000000u

void
judge_marked(struct judge_flow *flow, uint64_t now)
{
	flow->marked = true;
	if (flow->marked_at == 0)
		flow->marked_at = now;
}

void
judge_notified(struct judge *judge, struct judge_flow *flow, uint64_t now)
{
	if (!flow->marked)
		judge_violate(judge, "a congestion notification without a mark");
	/* One may have had to wait for room on its way out: so on the whole, not from one to the next. */
	if (now < flow->marked_at + (uint64_t)flow->notified * INTERVAL_NS)
		judge_violate(judge, "congestion notifications in too quick succession");
	flow->marked = false;
	flow->notified++;
}

void
judge_slowed(struct judge *judge, struct judge_flow *flow, uint64_t now)
{
	uint64_t half = judge->line / 2;

	judge->notifications++;
	if (flow->slowed)
		return;
	flow->slowed = true;
	flow->slow_until = now + INTERVAL_NS;
	flow->budget = (int64_t)(half * INTERVAL_NS / SECOND_NS +
			RTE_MAX(half * BURST_NS / SECOND_NS,
					ROCE_FRAME_LEN_MAX((uint64_t)judge->mtu)) +
			ROCE_FRAME_LEN_MAX(judge->mtu));
}

void
judge_speed(struct judge *judge, struct judge_flow *flow, const struct roce_pkt *pkt, uint64_t now)
{
	if (now >= flow->slow_until)
		return;
	flow->budget -= pkt->m->pkt_len;
	if (flow->budget < 0)
		judge_violate(judge,
				"a sender did not slow down when it was notified of congestion");
}
