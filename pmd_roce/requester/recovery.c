/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "queue/qp.h"
#include "requester/recovery.h"

#define RTTVAR_GAIN  4u
#define SRTT_GAIN    8u
#define RATE_ANSWERS 64u /**< frames, for one sample of the rate of answers */
#define RATE_GAIN    4u
#define LOSSY        32u /**< samples without a loss; then none is expected any more */
#define SILENCES     32u /**< in a local ACK timeout: the longest silence taken for a round trip */
#define LOSSY_MIN_US 30u /**< least wait there */
#define COSTS        8u  /**< wait where no frame is lost: times what a repeat costs */
#define DOUBLINGS    8u  /**< of that wait, one for each timeout */

static void
measure(struct roce_qp_tx *tx, uint64_t ticks)
{
	int64_t sample = (int64_t)RTE_MIN(ticks, (uint64_t)INT32_MAX);
	int64_t error;

	if (tx->srtt == 0) {
		tx->srtt = (uint32_t)RTE_MAX(sample, 1);
		tx->rttvar = (uint32_t)(sample / 2);
		return;
	}
	error = sample - (int64_t)tx->srtt;
	tx->srtt = (uint32_t)RTE_MAX((int64_t)tx->srtt + error / (int64_t)SRTT_GAIN, 1);
	error = (error < 0 ? -error : error) - (int64_t)tx->rttvar;
	tx->rttvar = (uint32_t)RTE_MAX((int64_t)tx->rttvar + error / (int64_t)RTTVAR_GAIN, 0);
}

/* Neither a round trip nor many answers in a row with a loss among them. */
static inline void
count_clean(struct roce_recovery *r)
{
	if (unlikely(r->lossy > 0))
		r->lossy--;
}

void
roce_recovery_measure(struct roce_qp *qp, uint64_t sample)
{
	count_clean(&qp->cold.recovery);
	measure(&qp->tx, sample);
}

/* Answers are counted from now on: a silence, or an answer that did not come, is no part of the rate. */
static void
begin_rate(struct roce_recovery *r, uint64_t now)
{
	r->answers = 0;
	r->rate_at = now;
}

void
roce_recovery_answered(struct roce_qp *qp, bool begins, uint64_t now)
{
	struct roce_recovery *r = &qp->cold.recovery;
	uint32_t ticks;

	if (begins) {
		begin_rate(r, now);
		return;
	}
	if (likely(++r->answers < RATE_ANSWERS))
		return;
	ticks = (uint32_t)RTE_MIN((now - r->rate_at) / RATE_ANSWERS, (uint64_t)INT32_MAX);
	if (r->answer_ticks != 0)
		ticks = r->answer_ticks - r->answer_ticks / RATE_GAIN + ticks / RATE_GAIN;
	r->answer_ticks = RTE_MAX(ticks, 1u);
	count_clean(r);
	begin_rate(r, now);
}

void
roce_recovery_lost(struct roce_qp *qp, uint64_t now)
{
	struct roce_recovery *r = &qp->cold.recovery;

	r->lossy = LOSSY;
	r->lost_at = now;
	r->behind = qp->tx.una;
	begin_rate(r, now);
}

bool
roce_recovery_lost_again(const struct roce_qp *qp, uint32_t psn, uint64_t now)
{
	const struct roce_recovery *r = &qp->cold.recovery;

	/* Earlier than that, frames have overtaken each other. */
	return qp->tx.nak_seen && roce_psn_diff(psn, r->behind) < 0 &&
			now - r->lost_at >= qp->tx.srtt / 2;
}

/* Timeouts since the last progress. */
static uint32_t
timeouts(const struct roce_qp *qp)
{
	const struct roce_recovery *r = &qp->cold.recovery;

	return r->silent ? RTE_MIN(r->repeats, DOUBLINGS) : 0;
}

/*
 * The least wait for an answer to a READ. Where frames were lost lately, the first silence is a loss most likely, and what is
 * missing is known to cost little: two round trips are enough.
 */
static uint64_t
least_wait(const struct roce_qp *qp)
{
	const struct roce_qp_tx *tx = &qp->tx;
	uint64_t soon = qp->engine->domain->config.hz / 1000000 * LOSSY_MIN_US;

	if (qp->cold.recovery.lossy == 0 || timeouts(qp) != 0 || tx->srtt == 0)
		return tx->rto;
	return RTE_MIN(tx->rto, RTE_MAX(2 * (uint64_t)tx->srtt, soon));
}

uint64_t
roce_recovery_wait(const struct roce_qp *qp)
{
	const struct roce_qp_tx *tx = &qp->tx;
	uint64_t cost = (tx->max - tx->una) & ROCE_PSN_MASK;

	cost = RTE_MIN(cost * qp->cold.recovery.answer_ticks, tx->ack_timeout);
	/* Without losses a silence is a pause of the peer, or of the network. */
	if (qp->cold.recovery.lossy == 0)
		cost = cost * COSTS << timeouts(qp);
	cost = RTE_MIN(cost, tx->ack_timeout);
	return RTE_MAX(least_wait(qp), cost);
}

void
roce_recovery_timed_out(struct roce_qp *qp, uint64_t now)
{
	struct roce_recovery *r = &qp->cold.recovery;
	const struct roce_qp_tx *tx = &qp->tx;

	if (!r->silent) {
		/* Progress, or another sign of life, put the local ACK timeout off to a whole one. */
		r->stalled_since = tx->limit_at - tx->ack_timeout;
		r->window = tx->window;
		r->threshold = tx->threshold;
		r->psn = tx->una;
		r->repeats = 0;
		r->silent = true;
	}
	r->repeats++;
	r->repeated_at = now;
	begin_rate(r, now);
}

static void
needless(struct roce_qp *qp)
{
	struct roce_recovery *r = &qp->cold.recovery;
	struct roce_qp_tx *tx = &qp->tx;

	r->repeats = 0;
	/* Where frames are lost, so are acknowledgements, which look the same then. */
	if (r->lossy > 0)
		return;
	tx->window = RTE_MAX(tx->window, r->window);
	tx->threshold = RTE_MAX(tx->threshold, r->threshold);
	/* But the peer still hears from us several times in each local ACK timeout. */
	measure(tx, RTE_MIN(r->silence, tx->ack_timeout / SILENCES));
}

void
roce_recovery_acknowledged(struct roce_qp *qp, uint32_t psn, uint64_t now)
{
	struct roce_recovery *r = &qp->cold.recovery;

	if (likely(!r->silent))
		return;
	r->silent = false;
	r->silence = now - r->stalled_since;
	/* Or nothing that was sent at the timeout can have been answered yet. */
	if (roce_psn_diff(psn, qp->tx.psn) > 0 || now - r->repeated_at < qp->tx.srtt / 2)
		needless(qp);
}

void
roce_recovery_answered_twice(struct roce_qp *qp, uint32_t psn)
{
	struct roce_recovery *r = &qp->cold.recovery;

	if (r->repeats == 0 || r->silent || psn != r->psn)
		return;
	if (r->repeats == 1)
		needless(qp);
	else
		r->repeats--;
}
