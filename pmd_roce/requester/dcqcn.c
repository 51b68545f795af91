/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notification point and reaction point of DCQCN. The parameters are those of the paper and of adapters; they stand in
 * dcqcn.h and docs/rc.md.
 */

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_mbuf.h>

#include "queue/frames.h"
#include "queue/qp.h"
#include "requester/dcqcn.h"
#include "requester/retry.h"

#define STEPS_MAX 4096u /**< steps of idle time that are made up for; with more, all is forgotten */
#define EARN_US   10000u /**< longer than the largest frame takes at the lowest rate */
#define BURST_US  32u /**< tokens are kept for so long: several times the coarseness of the timers */

static uint64_t
ticks(const struct roce_qp *qp, uint64_t us)
{
	return us * qp->engine->domain->config.hz / 1000000;
}

static uint64_t
line_rate(const struct roce_qp *qp)
{
	uint64_t line = qp->engine->domain->config.line_rate;

	return line != 0 ? line : ROCE_DCQCN_LINE;
}

/* ---- notification point ---- */

void
roce_dcqcn_marked(struct roce_qp *qp, uint64_t now)
{
	qp->engine->stats.np_ecn_marked_roce_packets++;
	if (qp->cold.cnp_at != 0 && now - qp->cold.cnp_at < ticks(qp, ROCE_CNP_INTERVAL_US))
		return;
	qp->cold.cnp_at = now;
	roce_qp_owe(qp, ROCE_OWES_CNP);
}

struct rte_mbuf *
roce_dcqcn_emit(struct roce_qp *qp)
{
	const struct roce_frame_spec spec = { .opcode = ROCE_OPCODE_CNP };
	struct rte_mbuf *m = roce_engine_frame(qp->engine);
	struct roce_bth *bth;
	uint8_t *at;

	if (unlikely(m == NULL))
		return NULL;
	at = roce_frame_build(m, &qp->cold.template, &spec);
	memset(at, 0, sizeof(struct roce_cnp));
	bth = (struct roce_bth *)(at - sizeof(*bth));
	bth->dest_qp |= RTE_BE32(ROCE_BTH_BECN);
	roce_icrc_put(m, &qp->cold.template);
	qp->rx.owes &= (uint8_t)~ROCE_OWES_CNP;
	qp->engine->stats.np_cnp_sent++;
	return m;
}

/* ---- reaction point ---- */

static void
begin(struct roce_qp *qp, uint64_t now)
{
	qp->tx.paced = true;
	/* A limiter that had just recovered may have left it waiting: the timer still has to know of that. */
	qp->cold.dcqcn = (struct roce_dcqcn){
		.current = line_rate(qp),
		.alpha = ROCE_DCQCN_ALPHA_ONE,
		.credited_at = now,
		.resume_at = qp->cold.dcqcn.resume_at,
	};
}

static void
earn(struct roce_qp *qp, uint64_t now)
{
	struct roce_dcqcn *d = &qp->cold.dcqcn;
	uint64_t hz = qp->engine->domain->config.hz;
	uint64_t start, earned;
	int64_t most;

	/* Clocks of two cores may differ. */
	if (now <= d->credited_at)
		return;
	/* No more than a burst is kept, so older time is worth nothing; and the product fits. */
	start = RTE_MAX(d->credited_at, now - RTE_MIN(now, ticks(qp, EARN_US)));
	earned = (now - start) * d->current / hz;
	most = (int64_t)RTE_MAX(
			d->current * BURST_US / 1000000, (uint64_t)ROCE_FRAME_LEN_MAX(qp->rx.mtu));
	d->credit = RTE_MIN(d->credit + (int64_t)earned, most);
	/* Fractions of a byte are not lost. */
	d->credited_at = start + earned * hz / d->current;
}

/* Is anything of ours under way that a notification could speak of? Answers to READs may be, for all we know. */
static bool
sends(const struct roce_qp *qp)
{
	return qp->tx.una != qp->tx.max || qp->remote.allowed > 0;
}

/* One step back: half of the way to the target, which itself moves on when the fast steps are done. */
static void
recover(struct roce_dcqcn *d, uint64_t line)
{
	unsigned int fewer = RTE_MIN(d->periods, d->volumes);
	unsigned int more = RTE_MAX(d->periods, d->volumes);

	if (fewer > ROCE_DCQCN_FAST)
		d->target += ROCE_DCQCN_ADD_HYPER;
	else if (more > ROCE_DCQCN_FAST)
		d->target += ROCE_DCQCN_ADD;
	d->target = RTE_MIN(d->target, line);
	d->current = (d->current + d->target + 1) / 2;
}

static void
count(uint8_t *clock)
{
	if (*clock <= ROCE_DCQCN_FAST)
		(*clock)++;
}

/* The periods that ended since somebody looked. */
static void
pass_time(struct roce_qp *qp, uint64_t now)
{
	struct roce_dcqcn *d = &qp->cold.dcqcn;
	uint64_t line = line_rate(qp);
	uint64_t period = ticks(qp, ROCE_DCQCN_PERIOD_US);

	if (now >= d->period_end + STEPS_MAX * period)
		d->current = line;
	while (now >= d->period_end && d->current < line) {
		d->alpha -= d->alpha / ROCE_DCQCN_GAIN;
		count(&d->periods);
		recover(d, line);
		d->period_end += period;
	}
	qp->tx.paced = d->current < line;
}

void
roce_dcqcn_slow(struct roce_qp *qp, uint64_t now)
{
	struct roce_dcqcn *d = &qp->cold.dcqcn;

	if (!sends(qp) || (qp->tx.paced && now - d->reduced_at < ticks(qp, ROCE_CNP_INTERVAL_US))) {
		qp->engine->stats.rp_cnp_ignored++;
		return;
	}
	qp->engine->stats.rp_cnp_handled++;
	/* The periods before it count, too. */
	if (qp->tx.paced) {
		earn(qp, now);
		pass_time(qp, now);
	}
	if (!qp->tx.paced)
		begin(qp, now);
	d->target = d->current;
	d->current -= d->current * d->alpha / ROCE_DCQCN_ALPHA_ONE / 2;
	d->current = RTE_MAX(d->current, ROCE_DCQCN_RATE_MIN);
	d->alpha += (ROCE_DCQCN_ALPHA_ONE - d->alpha) / ROCE_DCQCN_GAIN;
	d->periods = 0;
	d->volumes = 0;
	d->sent = 0;
	d->reduced_at = now;
	d->period_end = now + ticks(qp, ROCE_DCQCN_PERIOD_US);
}

uint16_t
roce_dcqcn_room(struct roce_qp *qp, uint16_t room, uint64_t now)
{
	struct roce_dcqcn *d = &qp->cold.dcqcn;
	uint64_t frame = ROCE_FRAME_LEN_MAX(qp->rx.mtu);

	earn(qp, now);
	pass_time(qp, now);
	d->resume_at = 0;
	if (!qp->tx.paced)
		return room;
	if (d->credit > 0)
		return (uint16_t)RTE_MIN((uint64_t)room, (uint64_t)d->credit / frame + 1);
	d->resume_at = now +
			(uint64_t)(1 - d->credit) * qp->engine->domain->config.hz / d->current + 1;
	roce_retry_watch(qp, d->resume_at);
	return 0;
}

void
roce_dcqcn_charge(struct roce_qp *qp, struct rte_mbuf *const *pkts, uint16_t n)
{
	struct roce_dcqcn *d = &qp->cold.dcqcn;
	uint32_t bytes = 0;

	for (uint16_t i = 0; i < n; i++)
		bytes += pkts[i]->pkt_len;
	d->credit -= bytes;
	d->sent += bytes;
	if (d->sent < ROCE_DCQCN_VOLUME)
		return;
	d->sent -= ROCE_DCQCN_VOLUME;
	count(&d->volumes);
	recover(d, line_rate(qp));
}
