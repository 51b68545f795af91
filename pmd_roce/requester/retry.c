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
#include "requester/retry.h"
#include "requester/rewind.h"

#define RTO_MIN_US     200u
#define RTO_INITIAL_US 4000u
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

void
roce_retry_init(struct roce_qp *qp)
{
	const struct roce_qp_connect *c = &qp->cold.connect;

	qp->tx.ack_timeout = ack_timeout_ticks(qp, c->ack_timeout);
	qp->tx.retries = c->retry;
	qp->tx.rnr_retries = c->rnr_retry;
	qp->tx.rto = measured_rto(qp);
	qp->tx.ssn = 1;
	qp->tx.window = ROCE_WINDOW;
	qp->tx.threshold = ROCE_WINDOW;
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
	tx->timeout_at = now + wait_for_answer(qp);
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
	if (tx->una == tx->max) {
		tx->timeout_at = ROCE_NEVER;
		tx->limit_at = ROCE_NEVER;
		return;
	}
	tx->timeout_at = now + wait_for_answer(qp);
	tx->limit_at = now + tx->ack_timeout;
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
	tx->timeout_at = now + wait_for_answer(qp);
}

void
roce_retry_rnr(struct roce_qp *qp, uint32_t psn, uint8_t timer_code, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;

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
	tx->timeout_at = RTE_MIN(now + wait_for_answer(qp), tx->limit_at);
	/*
	 * Silence may mean that frames are thrown away because there are too many: begin again with one, as RFC 5681
	 * does. A NAK is an answer, so it leaves the window alone.
	 */
	tx->threshold = RTE_MAX((uint16_t)(tx->window / 2), (uint16_t)2);
	tx->window = 1;
	roce_req_rewind(qp, tx->una);
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
	/* Before the end nobody listens to acknowledgements any more, and what is owed goes out whatever is missing. */
	if (now >= tx->timeout_at && qp->rx.state != ROCE_QP_ENDING)
		timed_out(qp, now);
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
