/* SPDX-License-Identifier: BSD-3-Clause */

#include "requester/reorder.h"

#define NONE UINT32_MAX

void
roce_reorder_repeated(struct roce_qp *qp, uint32_t psn)
{
	struct roce_reorder *r = &qp->cold.reorder;

	for (uint32_t i = 0; i < ROCE_REORDER_REPEATS; i++) {
		if (r->repeated[i] == psn)
			return;
	}
	r->repeated[r->next] = psn;
	r->next = (uint8_t)((r->next + 1) % ROCE_REORDER_REPEATS);
}

static void
widen(struct roce_reorder *r)
{
	if (r->unheard > 0)
		r->unheard--;
	else
		r->quarters = (uint8_t)RTE_MIN(r->quarters + 1u, ROCE_REORDER_QUARTERS_MAX);
}

void
roce_reorder_duplicate(struct roce_qp *qp, uint32_t psn)
{
	struct roce_reorder *r = &qp->cold.reorder;

	for (uint32_t i = 0; i < ROCE_REORDER_REPEATS; i++) {
		if (r->repeated[i] != psn)
			continue;
		r->repeated[i] = NONE;
		qp->engine->stats.req_reordered++;
		widen(r);
	}
}

void
roce_reorder_lost(struct roce_qp *qp)
{
	struct roce_reorder *r = &qp->cold.reorder;

	if (r->quarters == 0 || ++r->losses < ROCE_REORDER_LOSSES)
		return;
	r->losses = 0;
	if (r->quarters == ROCE_REORDER_QUARTERS_MAX) {
		r->quarters = 0;
		r->unheard = ROCE_REORDER_UNHEARD;
	} else {
		r->quarters--;
	}
}

void
roce_reorder_in_time(struct roce_qp *qp)
{
	if (qp->cold.reorder.losses > 0)
		qp->cold.reorder.losses--;
}

void
roce_reorder_forget(struct roce_qp *qp)
{
	for (uint32_t i = 0; i < ROCE_REORDER_REPEATS; i++)
		qp->cold.reorder.repeated[i] = NONE;
}
