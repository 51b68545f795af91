/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When nothing comes back.
 *
 * The local ACK timeout and its retry count decide when a connection is given up, as negotiated (IBTA Vol 1, 9.9.2.1):
 * only a whole timeout without any progress uses up a retry. Inside it the requester sends again as soon as the
 * measured round trip says that the answer is overdue (RFC 6298, doubling each time). So a lost frame costs a round
 * trip and not the tens of milliseconds of the timeout.
 *
 * The timer entry is lazy: progress only moves timeout_at, and the entry follows when it fires.
 */

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "queue/qp_end.h"
#include "requester/recovery.h"
#include "requester/repair.h"
#include "requester/retry.h"
#include "requester/rewind.h"

#define RTO_MIN_US     200u
#define RTO_INITIAL_US 4000u
#define PROBE_MIN_US   30u
#define PROBES         6u /**< where loss is expected */
#define PROBES_QUIET   3u
#define TRIES_MIN      8u
#define TRIES_MAX      64u
#define BACKOFF_MAX_US 8400u
#define HEARD_TIMEOUTS 64u

static uint64_t
ticks_of_us(const struct roce_qp *qp, uint64_t us)
{
	return us * qp->engine->domain->config.hz / 1000000;
}

static uint64_t
ack_timeout_ticks(const struct roce_qp *qp, uint8_t code)
{
	uint64_t ns = roce_ack_timeout_ns(code);
	uint64_t hz = qp->engine->domain->config.hz;

	/* In two steps, the longest timeout times a gigahertz clock does not fit 64 bits; rounded up, never early. */
	return ns / NS_PER_S * hz + (ns % NS_PER_S * hz + NS_PER_S - 1) / NS_PER_S;
}

/* The retransmission timeout that the measurements ask for, never above the local ACK timeout. */
static uint64_t
measured_rto(const struct roce_qp *qp)
{
	const struct roce_qp_tx *tx = &qp->tx;
	uint64_t rto = ticks_of_us(qp, RTO_INITIAL_US);

	if (tx->srtt != 0)
		rto = RTE_MAX((uint64_t)tx->srtt + 4 * (uint64_t)tx->rttvar,
				ticks_of_us(qp, RTO_MIN_US));
	return RTE_MIN(rto, tx->ack_timeout);
}

/*
 * However long the silence, the peer hears from us 8 to 64 times in each local ACK timeout, with the default one every
 * 8.4 ms: the timeout says how long a peer may be stopped, not how long a lost frame may cost.
 */
static uint64_t
backoff_max(const struct roce_qp *qp)
{
	uint64_t timeout = qp->tx.ack_timeout;

	return RTE_MIN(timeout / TRIES_MIN,
			RTE_MAX(timeout / TRIES_MAX, ticks_of_us(qp, BACKOFF_MAX_US)));
}

/* How long to wait for an answer to what is under way. */
static inline uint64_t
wait_for_answer(const struct roce_qp *qp)
{
	return likely(qp->tx.reads == 0) ? qp->tx.rto : roce_recovery_wait(qp);
}

/*
 * The answer to the last frames may be overdue long before the timeout, which has to be careful: it sends everything again,
 * and takes silence for congestion. Two round trips after the last progress the oldest frame alone is sent again, as RFC 8985
 * does with the newest one. It is sent twice more, each time after twice as long: where frames are lost, so are probes. Where
 * loss is expected, three more go ahead of these, without waiting longer. Their answer tells what is lost. The answer to a READ
 * costs too much to be asked for like this elsewhere.
 */
static uint32_t
measured_probe(const struct roce_qp *qp)
{
	const struct roce_qp_tx *tx = &qp->tx;
	uint64_t probe = RTE_MAX(2 * (uint64_t)tx->srtt, ticks_of_us(qp, PROBE_MIN_US));

	return tx->srtt != 0 && probe < tx->rto ? (uint32_t)RTE_MIN(probe, UINT32_MAX) : 0;
}

/* Are frames lost, between own peers? Others may be much slower than they were, and would get every probe in vain. */
static __rte_noinline bool
expects_loss(const struct roce_qp *qp)
{
	return qp->cold.connect.extensions && qp->cold.recovery.lossy > 0;
}

/* From now on an answer is waited for. */
static inline void
wait_from(struct roce_qp *qp, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;

	if (likely(tx->probe != 0 && tx->reads == 0)) {
		tx->probes = PROBES;
		tx->timeout_at = now + tx->probe;
	} else if (tx->probe != 0 && expects_loss(qp)) {
		tx->probes = PROBES;
		tx->timeout_at = now + roce_recovery_wait(qp);
	} else {
		tx->probes = 0;
		tx->timeout_at = now + wait_for_answer(qp);
	}
}

void
roce_retry_adjust(struct roce_qp *qp)
{
	const struct roce_qp_connect *c = &qp->cold.connect;

	qp->tx.ack_timeout = ack_timeout_ticks(qp, c->ack_timeout);
	qp->tx.retries = c->retry;
	qp->tx.rnr_retries = c->rnr_retry;
	qp->tx.rto = measured_rto(qp);
}

void
roce_retry_init(struct roce_qp *qp)
{
	roce_retry_adjust(qp);
	qp->tx.probe = 0;
	qp->tx.ssn = 1;
	qp->tx.window = ROCE_WINDOW;
	qp->tx.threshold = ROCE_WINDOW;
}

void
roce_retry_left_late(struct roce_qp *qp, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;

	tx->timed_at = 0;
	if (tx->timeout_at == ROCE_NEVER)
		return;
	tx->limit_at = ROCE_NEVER;
	roce_retry_started(qp, now);
}

void
roce_retry_watch(struct roce_qp *qp, uint64_t at)
{
	if (!roce_timer_armed(&qp->tx.timer) || qp->tx.timer.deadline > at)
		roce_timer_arm(qp->engine->wheel, &qp->tx.timer, at);
}

void
roce_retry_started(struct roce_qp *qp, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;

	if (tx->ack_timeout == 0)
		return;
	wait_from(qp, now);
	if (tx->limit_at == ROCE_NEVER)
		tx->limit_at = now + tx->ack_timeout;
	roce_retry_watch(qp, tx->timeout_at);
}

void
roce_retry_progress(struct roce_qp *qp, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;

	tx->retries = qp->cold.connect.retry;
	tx->rnr_retries = qp->cold.connect.rnr_retry;
	tx->heard_until = 0;
	tx->nak_seen = false;
	if (tx->ack_timeout == 0)
		return;
	tx->rto = measured_rto(qp);
	tx->probe = measured_probe(qp);
	if (tx->una == tx->max) {
		tx->timeout_at = ROCE_NEVER;
		tx->limit_at = ROCE_NEVER;
		return;
	}
	wait_from(qp, now);
	tx->limit_at = now + tx->ack_timeout;
	roce_retry_watch(qp, tx->timeout_at);
}

void
roce_retry_sacked(struct roce_qp *qp, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;

	if (tx->timeout_at == ROCE_NEVER)
		return;
	wait_from(qp, now);
	/* The first loss has READs waited for less long. */
	roce_retry_watch(qp, tx->timeout_at);
}

/*
 * A peer may go on with an answer after a gap, and begin anew when it has come to its end: asking again meanwhile would
 * only have it do all that once more. But a peer that never says the right thing does not hold us for ever.
 */
void
roce_retry_heard(struct roce_qp *qp, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;

	if (tx->timeout_at == ROCE_NEVER)
		return;
	if (tx->heard_until == 0)
		tx->heard_until = now + HEARD_TIMEOUTS * tx->ack_timeout;
	if (now >= tx->heard_until)
		return;
	tx->limit_at = now + tx->ack_timeout;
	/* A probe that is due finds out on its own that there are READs now. */
	if (tx->probes == 0)
		tx->timeout_at = now + wait_for_answer(qp);
}

void
roce_retry_rnr(struct roce_qp *qp, uint32_t psn, uint8_t timer_code, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;

	/* The responder drops what it holds behind a message that finds no receive. */
	roce_repair_forget(qp);
	roce_req_rewind(qp, psn);
	tx->rnr_at = now + ticks_of_us(qp, roce_rnr_timer_us(timer_code));
	/* The peer is alive: no acknowledgement is overdue until something is sent again. */
	tx->timeout_at = ROCE_NEVER;
	tx->limit_at = ROCE_NEVER;
	tx->nak_seen = false;
	roce_retry_watch(qp, tx->rnr_at);
}

static void
timed_out(struct roce_qp *qp, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;
	struct roce_stats *stats = &qp->engine->stats;

	roce_recovery_timed_out(qp, now);
	if (now >= tx->limit_at) {
		stats->local_ack_timeout_err++;
		if (tx->retries == 0) {
			stats->req_transport_retries_exceeded++;
			roce_qp_break(qp, IBV_WC_RETRY_EXC_ERR, true);
			return;
		}
		tx->retries--;
		tx->limit_at = now + tx->ack_timeout;
	} else {
		stats->early_retransmits++;
	}
	tx->rto = RTE_MIN(tx->rto * 2, RTE_MAX(measured_rto(qp), backoff_max(qp)));
	tx->probes = 0;
	tx->timeout_at = RTE_MIN(now + wait_for_answer(qp), tx->limit_at);
	/*
	 * Silence may mean that frames are thrown away because there are too many: half as many from now on. When they meet
	 * silence as well, or none was ever answered, one, as RFC 5681 has it. A NAK is an answer, so it leaves the window
	 * alone.
	 */
	tx->threshold = RTE_MAX((uint16_t)(tx->window / 2), (uint16_t)2);
	tx->window = qp->cold.recovery.repeats == 1 && tx->srtt != 0 ? tx->threshold : 1;
	/* The answer to a READ, which the peer has executed, may be missing: it is asked for in order. */
	if (roce_repair_knows(qp) && tx->reads == 0) {
		roce_repair_all(qp);
		return;
	}
	roce_repair_forget(qp);
	roce_req_rewind(qp, tx->una);
}

/* Behind the one that is sent now. PROBES of them means that none has left yet. */
static uint8_t
probes_left(const struct roce_qp *qp)
{
	const uint8_t probes = qp->tx.probes;

	return (probes == PROBES && !expects_loss(qp) ? PROBES_QUIET : probes) - 1;
}

static uint64_t
wait_for_probe(const struct roce_qp_tx *tx)
{
	return (uint64_t)tx->probe << (tx->probes < PROBES_QUIET ? PROBES_QUIET - tx->probes : 0);
}

static void
overdue(struct roce_qp *qp, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;
	uint64_t wait;
	bool probes;

	if (tx->probes == 0 || now >= tx->limit_at) {
		timed_out(qp, now);
		return;
	}
	probes = tx->reads == 0 || expects_loss(qp);
	tx->probes = probes ? probes_left(qp) : 0;
	wait = tx->probes > 0 ? wait_for_probe(tx) : wait_for_answer(qp);
	if (tx->reads != 0)
		wait = RTE_MAX(wait, roce_recovery_wait(qp));
	tx->timeout_at = RTE_MIN(now + wait, tx->limit_at);
	if (probes)
		roce_repair_probe(qp, now);
}

void
roce_retry_fire(struct roce_timer *timer, uint64_t now)
{
	struct roce_qp *qp = container_of(timer, struct roce_qp, tx.timer);
	struct roce_qp_tx *tx = &qp->tx;

	if (tx->rnr_at != 0 && now >= tx->rnr_at) {
		tx->rnr_at = 0;
		roce_qp_ready(qp);
	}
	if (unlikely(tx->paced) && qp->cold.dcqcn.resume_at != 0 &&
			now >= qp->cold.dcqcn.resume_at) {
		qp->cold.dcqcn.resume_at = 0;
		roce_qp_ready(qp);
	}
	if (unlikely(tx->repairing) && qp->rx.state == ROCE_QP_RTS)
		roce_repair_wait_over(qp, now);
	/* Before the end nobody listens to acknowledgements any more, and what is owed goes out whatever is missing. */
	if (now >= tx->timeout_at && qp->rx.state != ROCE_QP_ENDING)
		overdue(qp, now);
	if (qp->rx.state == ROCE_QP_ERR || qp->rx.state == ROCE_QP_RESET)
		return;
	/* Before the end, too: answers to READs may still wait for tokens. */
	if (unlikely(tx->paced) && qp->cold.dcqcn.resume_at != 0)
		roce_retry_watch(qp, qp->cold.dcqcn.resume_at);
	if (qp->rx.state == ROCE_QP_ENDING)
		return;
	if (tx->rnr_at != 0)
		roce_retry_watch(qp, tx->rnr_at);
	if (tx->timeout_at != ROCE_NEVER)
		roce_retry_watch(qp, tx->timeout_at);
}
