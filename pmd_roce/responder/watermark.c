/* SPDX-License-Identifier: BSD-3-Clause */
/* The high watermarks of a queue pair: how many receives it may have that are not completed. */

#include "queue/qp.h"
#include "queue/qp_end.h"
#include "responder/watermark.h"

static void
watch(struct roce_qp *qp)
{
	qp->rx.checks &= (uint8_t)~ROCE_CHECK_TAKE;
	if (qp->cold.soft_high != ROCE_HIGH_NONE || qp->cold.hard_high != ROCE_HIGH_NONE ||
			qp->cold.zcrx != NULL || qp->engine->domain->config.faults.rnr != 0)
		qp->rx.checks |= ROCE_CHECK_TAKE;
}

bool
roce_qp_over_high(struct roce_qp *qp)
{
	uint32_t requests, receives;

	roce_qp_depth(qp, &requests, &receives);
	if (receives > qp->cold.soft_high) {
		/* Once for each setting. */
		qp->cold.soft_high = ROCE_HIGH_NONE;
		watch(qp);
		roce_context_deliver(qp->pd->context, &qp->cold.async,
				ROCE_ENGINE_ASYNC_QP_SOFT_HIGH, qp->owner, 0);
	}
	return receives > qp->cold.hard_high;
}

void
roce_qp_check_high(struct roce_qp *qp)
{
	if (!(qp->rx.checks & ROCE_CHECK_TAKE) || !roce_qp_over_high(qp) ||
			qp->rx.state != ROCE_QP_RTS)
		return;
	qp->engine->stats.resp_over_high_watermark++;
	roce_qp_break(qp, IBV_WC_WR_FLUSH_ERR, false);
}

void
roce_qp_set_high(struct roce_qp *qp, uint32_t soft, uint32_t hard)
{
	qp->cold.soft_high = soft;
	qp->cold.hard_high = hard;
	watch(qp);
	roce_qp_check_high(qp);
}

void
roce_qp_set_watermarks(struct roce_qp *qp, uint32_t soft, uint32_t hard)
{
	roce_engine_lock(qp->engine);
	roce_qp_set_high(qp, soft, hard);
	roce_engine_unlock(qp->engine);
}
