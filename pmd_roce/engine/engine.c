/* SPDX-License-Identifier: BSD-3-Clause */
/* The poll of an engine, transmit side. The receive side is in rx.c, creation in domain.c. */

#include <rte_branch_prediction.h>

#include "engine/engine.h"
#include "engine/lone_time.h"
#include "queue/domain.h"
#include "queue/extbuf.h"
#include "queue/lone.h"
#include "queue/piggyback.h"
#include "queue/post.h"
#include "queue/qp_end.h"
#include "requester/dcqcn.h"
#include "requester/req.h"
#include "responder/final_ack.h"
#include "responder/resp.h"

static inline uint16_t
answer_cnp(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room)
{
	if (likely(!(qp->rx.owes & ROCE_OWES_CNP)) || room == 0)
		return 0;
	pkts[0] = roce_dcqcn_emit(qp);
	return pkts[0] != NULL;
}

static inline uint16_t
answer_ack(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room)
{
	if (room == 0 || !(qp->rx.owes & (ROCE_OWES_ACK | ROCE_OWES_NAK)) ||
			(qp->rx.owes & ROCE_OWES_READ))
		return 0;
	pkts[0] = roce_resp_emit(qp, qp->engine);
	return pkts[0] != NULL;
}

static inline uint16_t
answer_sack(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room)
{
	uint16_t n = 0;

	for (uint8_t owed = ROCE_OWES_SACK; owed <= ROCE_OWES_DUPLICATE; owed <<= 1) {
		if (likely(!(qp->rx.owes & owed)) || n == room)
			continue;
		pkts[n] = roce_resp_emit_sack(qp, owed);
		n += pkts[n] != NULL;
	}
	return n;
}

/* The answers that are owed, those to READs first, since an acknowledgement behind them would say that they were given. */
static __rte_noinline uint16_t
answer_all(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room)
{
	uint16_t n = answer_cnp(qp, pkts, room);

	/* Before a NAK, which would have everything sent again that it does not know of. The last answer may owe one, too. */
	n += answer_sack(qp, pkts + n, (uint16_t)(room - n));
	if (qp->rx.owes & ROCE_OWES_READ) {
		n += roce_resp_emit_reads(qp, pkts + n, (uint16_t)(room - n));
		n += answer_sack(qp, pkts + n, (uint16_t)(room - n));
	}
	return n + answer_ack(qp, pkts + n, (uint16_t)(room - n));
}

static inline uint16_t
answer(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room)
{
	if (unlikely(qp->rx.owes != ROCE_OWES_ACK))
		return answer_all(qp, pkts, room);
	return answer_ack(qp, pkts, room);
}

static inline bool
has_unsent(const struct roce_qp *qp)
{
	return qp->tx.next != roce_qp_posted(qp) || unlikely(qp->tx.repeats);
}

static inline uint16_t
request(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, uint64_t now)
{
	const bool empty = roce_window_is_empty(&qp->tx);
	uint16_t n = roce_req_emit(qp, pkts, (uint16_t)RTE_MIN(room, (uint16_t)ROCE_QUANTUM), now);

	if (n > 0) {
		roce_piggyback_requested(qp, now);
		roce_lone_learn(qp, n == 1 && empty);
	}
	return n;
}

/* Will the next request take the acknowledgement along that is due? */
static inline bool
carries_next(const struct roce_qp *qp)
{
	return has_unsent(qp) && qp->rx.state == ROCE_QP_RTS && roce_req_may_carry(qp);
}

/* An acknowledgement is due, and may wait for a request that is not posted yet: let it. @return false: it may not. */
static inline bool
wait_for_request(struct roce_qp *qp, uint64_t now)
{
	if (qp->rx.state != ROCE_QP_RTS || has_unsent(qp) || qp->tx.paced ||
			!roce_piggyback_waits(qp, now))
		return false;
	roce_qp_unlist(qp);
	roce_qp_list(qp, ROCE_LISTED_PATIENT_ACK);
	TAILQ_INSERT_TAIL(&qp->engine->patient_acks, qp, ready_link);
	return true;
}

/* An acknowledgement is due, and nothing else, to a peer that takes it in a request. */
static __rte_noinline uint16_t
answer_with_request(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, uint64_t now)
{
	uint16_t n = carries_next(qp) ? request(qp, pkts, room, now) : 0;

	if (n > 0)
		return n;
	if (wait_for_request(qp, now))
		return 0;
	n = answer_ack(qp, pkts, room);
	if (n > 0)
		roce_piggyback_missed(qp, now);
	return n;
}

/* One visit: what is owed first, then requests. @return frames; *again: it has more to say. */
static __rte_always_inline uint16_t
visit(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, uint64_t now, bool *again)
{
	uint16_t n = 0;

	if (qp->rx.owes != 0) {
		n = roce_piggyback_is_due(qp)
				? answer_with_request(qp, pkts, room, now)
				: answer(qp, pkts, RTE_MIN(room, (uint16_t)ROCE_QUANTUM));
		if (unlikely(n == 0)) {
			*again = qp->rx.owes != 0 && qp->tx.listed == ROCE_LISTED_NOWHERE;
			return 0;
		}
	}
	if (likely(qp->rx.state == ROCE_QP_RTS)) {
		if (has_unsent(qp))
			n += request(qp, pkts + n, (uint16_t)(room - n), now);
		*again = has_unsent(qp) && roce_req_wants(qp);
	} else if (qp->rx.state == ROCE_QP_ERR) {
		roce_qp_flush(qp);
	}
	roce_qp_check_drained(qp);
	*again = *again || qp->rx.owes != 0;
	return n;
}

/* The same for one with a rate limiter, which lets acknowledgements and NAKs pass at any time, and free of charge. */
static __rte_noinline uint16_t
visit_paced(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, uint64_t now, bool *again)
{
	uint16_t said = answer_cnp(qp, pkts, room);
	uint16_t allowed, n = 0;
	bool carries;

	said += answer_sack(qp, pkts + said, (uint16_t)(room - said));
	carries = roce_piggyback_is_due(qp) && carries_next(qp);
	if (!carries)
		said += answer_ack(qp, pkts + said, (uint16_t)(room - said));
	if (said == room) {
		*again = true;
		return said;
	}
	allowed = (uint16_t)(room - said);
	/* Also when a NAK that ends it waits behind answers to READs: those are data like any other. */
	if (qp->rx.state != ROCE_QP_ERR)
		allowed = roce_dcqcn_room(qp, allowed, now);
	if (allowed > 0) {
		n = visit(qp, pkts + said, allowed, now, again);
		roce_dcqcn_charge(qp, pkts + said, n);
	} else {
		if (carries)
			said += answer_ack(qp, pkts + said, (uint16_t)(room - said));
		/* Answers to READs come when the timer says so, and whatever waits behind them. */
		*again = qp->rx.owes != 0 && !(qp->rx.owes & ROCE_OWES_READ);
	}
	return said + n;
}

/*
 * Acknowledgements that were waiting go out. As long as bursts are full the next one probably brings more of the
 * same queue pairs, and one answer will do for all of it: with many of them that is half the frames.
 */
static void
release_delayed_acks(struct roce_engine *e, uint64_t now)
{
	struct roce_qp *qp, *next;
	bool busy = e->busy;

	/* Said of the last burst: who has no frames need not call roce_engine_rx() to say so. */
	e->busy = false;
	if (busy && ++e->waited < ROCE_PATIENCE)
		return;
	e->waited = 0;
	for (qp = TAILQ_FIRST(&e->delayed_acks); qp != NULL; qp = next) {
		next = TAILQ_NEXT(qp, ready_link);
		if (likely(!roce_piggyback_is_quick(qp)) || !roce_piggyback_is_due(qp) ||
				!wait_for_request(qp, now))
			roce_qp_list(qp, ROCE_LISTED_READY);
	}
	TAILQ_CONCAT(&e->ready, &e->delayed_acks, ready_link);
}

/*
 * Acknowledgements that no request took along in time go alone. A queue pair that was visited meanwhile stands at the end of
 * the list, and may wait as long again.
 */
static void
release_patient_acks(struct roce_engine *e, uint64_t now)
{
	struct roce_qp *qp;

	while ((qp = TAILQ_FIRST(&e->patient_acks)) != NULL && now >= qp->tx.quick_until)
		roce_qp_ready(qp);
}

/* Every queue pair on the list has its turn, in order, as long as there is room. */
static __rte_noinline uint16_t
tx_ready(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	struct roce_qp *last = TAILQ_LAST(&e->ready, roce_qp_list);
	struct roce_qp *qp;
	uint16_t n = 0;

	while (n < max && (qp = TAILQ_FIRST(&e->ready)) != NULL) {
		bool again = false;
		bool end = qp == last;

		TAILQ_REMOVE(&e->ready, qp, ready_link);
		roce_qp_list(qp, ROCE_LISTED_NOWHERE);
		if (likely(!qp->tx.paced))
			n += visit(qp, pkts + n, (uint16_t)(max - n), now, &again);
		else
			n += visit_paced(qp, pkts + n, (uint16_t)(max - n), now, &again);
		if (again)
			roce_qp_ready(qp);
		if (end)
			break;
	}
	roce_engine_icrc_put(e);
	return n;
}

/* Async events of connections on any engine, for the connection manager on engine 0. */
static void
deliver_to_gsi(struct roce_domain *domain, uint64_t now)
{
	struct roce_qp *qp, *next;

	for (qp = __atomic_exchange_n(&domain->cm_pending, NULL, __ATOMIC_ACQUIRE); qp != NULL;
			qp = next) {
		uint32_t events;

		next = qp->cold.next_cm_pending;
		events = __atomic_exchange_n(&qp->cold.cm_events, 0, __ATOMIC_ACQ_REL);
		for (unsigned int kind = 1; events >> kind != 0; kind++) {
			if ((events & (1u << kind)) && qp->cold.conn != NULL &&
					domain->gsi.qp_async_event != NULL)
				domain->gsi.qp_async_event(domain->gsi.arg, qp->cold.conn,
						(enum roce_engine_async)kind, now);
		}
	}
}

/* The part of tx_gsi() for when there may be something to tell or to say. */
static __rte_noinline uint16_t
poll_gsi(struct roce_domain *domain, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	const struct roce_gsi *gsi = &domain->gsi;
	uint16_t n = 0;

	if (roce_final_acks_wait(domain))
		n = roce_final_acks_take(domain, pkts, max);
	if (gsi->tx == NULL)
		return n;
	if (__atomic_load_n(&domain->cm_pending, __ATOMIC_RELAXED) != NULL)
		deliver_to_gsi(domain, now);
	if (n < max)
		n += gsi->tx(gsi->arg, pkts + n, (uint16_t)(max - n), now);
	return n;
}

static inline uint16_t
tx_gsi(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	struct roce_domain *domain = e->domain;

	if (e->index != 0 ||
			likely(now < *domain->gsi.at &&
					__atomic_load_n(&domain->cm_pending, __ATOMIC_RELAXED) ==
							NULL &&
					!roce_final_acks_wait(domain)))
		return 0;
	return poll_gsi(domain, pkts, max, now);
}

/* Did anybody post, or release what was sent? */
static inline bool
has_news(const struct roce_engine *e)
{
	return unlikely(e->extbufs != NULL) ||
			__atomic_load_n(&e->doorbell, __ATOMIC_RELAXED) != NULL;
}

#define GSI_ROOM 4u /**< frames kept back for the connection manager in a full poll */

static inline uint16_t
gsi_room(const struct roce_engine *e, uint16_t max)
{
	return e->index == 0 ? RTE_MIN((uint16_t)GSI_ROOM, (uint16_t)(max / 2)) : 0;
}

uint16_t
roce_engine_tx_ready(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t max)
{
	uint16_t n = tx_ready(e, pkts, max, e->polled_at);

	e->stats.tx_frames += n;
	return n;
}

/* Most polls of who waits find nothing: each part is asked whether it has anything before it is called. */
uint16_t
roce_engine_tx(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	uint16_t n = 0;

	roce_lone_time(e, now);
	e->polled_at = now;
	if (has_news(e))
		roce_engine_answer_doorbells(e);
	roce_wheel_advance(e->wheel, now);
	if (!TAILQ_EMPTY(&e->delayed_acks) && max > 0)
		release_delayed_acks(e, now);
	if (!TAILQ_EMPTY(&e->patient_acks))
		release_patient_acks(e, now);
	if (!TAILQ_EMPTY(&e->ready))
		n = tx_ready(e, pkts, (uint16_t)(max - gsi_room(e, max)), now);
	n += tx_gsi(e, pkts + n, (uint16_t)(max - n), now);
	e->stats.tx_frames += n;
	return n;
}

uint64_t
roce_engine_deadline(const struct roce_engine *e)
{
	const struct roce_domain *domain = e->domain;
	uint64_t deadline = roce_wheel_deadline(e->wheel);
	const struct roce_qp *patient = TAILQ_FIRST(&e->patient_acks);

	if (!TAILQ_EMPTY(&e->ready) || !TAILQ_EMPTY(&e->delayed_acks) ||
			__atomic_load_n(&e->doorbell, __ATOMIC_ACQUIRE) != NULL ||
			(domain->multi_engine && !rte_ring_empty(e->inbox)) ||
			(e->extbufs != NULL && roce_extbufs_released(e)))
		return 0;
	if (e->index == 0 && roce_final_acks_wait(domain))
		return 0;
	if (patient != NULL)
		deadline = RTE_MIN(deadline, patient->tx.quick_until);
	if (e->index == 0 && domain->gsi.deadline != NULL) {
		if (__atomic_load_n(&domain->cm_pending, __ATOMIC_ACQUIRE) != NULL)
			return 0;
		deadline = RTE_MIN(deadline, domain->gsi.deadline(domain->gsi.arg));
	}
	return deadline;
}

bool
roce_engine_waits_for_release(const struct roce_engine *e)
{
	return roce_extbufs_wait(e);
}
