/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to READs that came early, the gaps between them, and the repeat numbers of the requests that ask for these. */

#include <rte_branch_prediction.h>

#include "requester/repair.h"
#include "requester/repair_bits.h"
#include "wire/repeat.h"

bool
roce_repair_is_answered(const struct roce_qp *qp, uint32_t psn)
{
	return (qp->cold.repair.answered & shift(1, roce_psn_diff(psn, qp->tx.una))) != 0;
}

uint32_t
roce_repair_answered_next(const struct roce_qp *qp)
{
	bits missing = ~qp->cold.repair.answered;

	return missing != 0 ? (uint32_t)lowest(missing) : BITS;
}

uint32_t
roce_repair_answered_end(const struct roce_qp *qp)
{
	return roce_psn_add(qp->tx.una, (uint32_t)end_of(qp->cold.repair.answered));
}

bool
roce_repair_gap(const struct roce_qp *qp, const struct roce_wqe *wqe, uint32_t from,
		struct roce_repair_gap *gap)
{
	const uint32_t una = qp->tx.una;
	const int32_t at = RTE_MAX(roce_psn_diff(from, una), roce_psn_diff(wqe->psn, una));
	const int32_t end = roce_psn_diff(wqe->psn, una) + (int32_t)wqe->packets;
	const int32_t known = RTE_MIN(end, BITS);
	const bits missing = below(known) & ~below(at) & ~qp->cold.repair.answered;
	const int32_t first = missing != 0 ? lowest(missing) : RTE_MAX(at, known);
	const bits answered = qp->cold.repair.answered & ~below(first);

	if (first >= end)
		return false;
	gap->psn = roce_psn_add(una, (uint32_t)first);
	gap->until = roce_psn_add(
			una, (uint32_t)(answered != 0 ? RTE_MIN(lowest(answered), end) : end));
	return true;
}

bool
roce_repair_give_number(struct roce_qp *qp, struct roce_repair_gap gap)
{
	struct roce_repair *r = &qp->cold.repair;
	bits packets = of_gap(qp, gap);

	if (!qp->cold.connect.extensions)
		return false;
	r->last_number = roce_repeat_next(r->last_number);
	r->numbered |= packets;
	for (; packets != 0; packets &= packets - 1)
		r->number[number_slot(qp, lowest(packets))] = r->last_number;
	return true;
}

void
roce_repair_take_number_back(struct roce_qp *qp)
{
	uint8_t *last = &qp->cold.repair.last_number;

	*last = *last > 1 ? (uint8_t)(*last - 1) : ROCE_REPEAT_MAX;
}

uint8_t
roce_repair_number(const struct roce_qp *qp, uint32_t psn)
{
	const struct roce_repair *r = &qp->cold.repair;
	const int32_t at = roce_psn_diff(psn, qp->tx.una);

	return unlikely(r->numbered & shift(1, at)) ? r->number[number_slot(qp, at)] : 0;
}
