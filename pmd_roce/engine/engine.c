/* SPDX-License-Identifier: BSD-3-Clause */
/* The turn of an engine: frames in, frames out. Domains and their birth are in domain.c. */

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "engine/qp.h"

#define ECN_CONGESTED 3 /**< the mark of RFC 3168 */

/** What became of a received frame. */
enum fate {
	FATE_DONE,    /**< free it */
	FATE_GIVEN,   /**< somebody else's now */
	FATE_FOREIGN, /**< leave it to the caller */
};

static inline uint64_t
load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Does the frame come from the peer of the connection, to the address of this end? */
static inline bool
from_peer(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_ip src, dst;

	if (likely(!pkt->v6))
		return qp->rx.flow4 == load64(pkt->l3 + 12) && qp->rx.flow4 != 0;
	roce_pkt_addresses(pkt, &src, &dst);
	return roce_ip_equal(&src, &qp->cold.peer) && roce_ip_equal(&dst, &qp->cold.local);
}

static bool
is_ours(const struct roce_domain *domain, const struct roce_ip *dst)
{
	for (unsigned int i = 0; i < domain->config.addrs; i++) {
		if (roce_ip_equal(dst, &domain->config.addr[i]))
			return true;
	}
	return false;
}

static __rte_noinline enum fate
hand_over(struct roce_engine *e, struct roce_engine *owner, struct rte_mbuf *m)
{
	if (rte_ring_mp_enqueue(owner->inbox, m) != 0) {
		e->stats.rx_inbox_full++;
		return FATE_DONE;
	}
	e->stats.rx_handed_over++;
	return FATE_GIVEN;
}

static __rte_noinline enum fate
rx_gsi(struct roce_engine *e, const struct roce_pkt *pkt, uint64_t now)
{
	struct roce_domain *domain = e->domain;

	if (!(pkt->op->flags & ROCE_OP_DETH) || domain->gsi.rx == NULL) {
		e->stats.rx_unknown_qp++;
		return FATE_DONE;
	}
	if (e->index != 0)
		return hand_over(e, domain->engine[0], pkt->m);
	e->stats.rx_gsi++;
	domain->gsi.rx(domain->gsi.arg, pkt, now);
	return FATE_DONE;
}

/* No queue pair with this number and peer: perhaps not for us at all, or for the connection manager. */
static __rte_noinline enum fate
rx_stranger(struct roce_engine *e, const struct roce_pkt *pkt, bool known, uint64_t now)
{
	struct roce_ip src, dst;

	roce_pkt_addresses(pkt, &src, &dst);
	if (!is_ours(e->domain, &dst)) {
		e->stats.rx_foreign++;
		return FATE_FOREIGN;
	}
	if (!roce_icrc_ok(pkt)) {
		e->stats.rx_icrc_encapsulated++;
		return FATE_DONE;
	}
	if (pkt->dest_qp == ROCE_QPN_GSI)
		return rx_gsi(e, pkt, now);
	if (known)
		e->stats.rx_wrong_source++;
	else
		e->stats.rx_unknown_qp++;
	return FATE_DONE;
}

/* Data reaches a passive end whose RTU was lost: the peer is ready all the same. */
static __rte_noinline bool
rx_early(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (qp->rx.state != ROCE_QP_RTR ||
			(pkt->op->flags & (ROCE_OP_REQUEST | ROCE_OP_DETH)) != ROCE_OP_REQUEST) {
		qp->engine->stats.rx_wrong_state++;
		return false;
	}
	if (!qp->cold.heard) {
		qp->cold.heard = true;
		roce_qp_notice(qp, ROCE_NOTICE_QP_ESTABLISHED, 0);
	}
	return qp->rx.state == ROCE_QP_RTR || qp->rx.state == ROCE_QP_RTS;
}

static inline enum fate
rx_one(struct roce_engine *e, struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t now)
{
	if (unlikely(qp == NULL || !from_peer(qp, pkt)))
		return rx_stranger(e, pkt, qp != NULL, now);
	if (unlikely(qp->engine != e))
		return hand_over(e, qp->engine, pkt->m);
	if (unlikely(!roce_icrc_ok(pkt))) {
		e->stats.rx_icrc_encapsulated++;
		return FATE_DONE;
	}
	if (unlikely(qp->rx.state != ROCE_QP_RTS) && !rx_early(qp, pkt))
		return FATE_DONE;
	if (unlikely(pkt->op->flags & (ROCE_OP_DETH | ROCE_OP_CNP))) {
		/* A datagram is for another kind of queue pair. */
		if (pkt->op->flags & ROCE_OP_DETH)
			e->stats.rx_malformed_opcode++;
		else
			roce_dcqcn_slow(qp, now);
		return FATE_DONE;
	}
	if (unlikely(pkt->ecn == ECN_CONGESTED))
		roce_dcqcn_marked(qp, now);
	if (pkt->op->flags & ROCE_OP_REQUEST)
		roce_resp_rx(qp, pkt, now);
	else if (likely(pkt->opcode == IBV_OPCODE_RC_ACKNOWLEDGE))
		roce_ack_rx(qp, pkt, now);
	else
		roce_read_rx(qp, pkt, now);
	return FATE_DONE;
}

/* Whatever is wrong with a frame to somebody else is for him to see. */
static __rte_noinline enum fate
rx_unparsed(struct roce_engine *e, const struct rte_mbuf *m, enum roce_frame_verdict verdict)
{
	struct roce_ip dst;

	if (verdict != ROCE_FRAME_FOREIGN &&
			!(roce_frame_destination(m, &dst) && is_ours(e->domain, &dst)))
		verdict = ROCE_FRAME_FOREIGN;
	switch (verdict) {
	case ROCE_FRAME_LENGTH:
		e->stats.rx_malformed_length++;
		break;
	case ROCE_FRAME_FRAGMENT:
		e->stats.rx_malformed_fragment++;
		break;
	case ROCE_FRAME_OPCODE:
		e->stats.rx_malformed_opcode++;
		break;
	case ROCE_FRAME_VERSION:
		e->stats.rx_malformed_version++;
		break;
	case ROCE_FRAME_PKEY:
		e->stats.rx_malformed_pkey++;
		break;
	default:
		e->stats.rx_foreign++;
		return FATE_FOREIGN;
	}
	return FATE_DONE;
}

/*
 * The queue pair of each frame whose place in the table was fetched while the others were parsed. With thousands of
 * them all is far away, and nobody waits for one line while the next could be under way: first the lines that every
 * frame wants, then the receive in use.
 */
static inline void
find_all(const struct roce_domain *domain, const struct roce_pkt *pkt, struct roce_qp **qp,
		uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		qp[i] = __atomic_load_n(
				&domain->qp[pkt[i].dest_qp & ROCE_QPS_MASK], __ATOMIC_ACQUIRE);
		if (likely(qp[i] != NULL)) {
			rte_prefetch0(&qp[i]->rx);
			rte_prefetch0(&qp[i]->owner);
		}
	}
	for (uint16_t i = 0; i < n; i++) {
		if (unlikely(qp[i] == NULL || qp[i]->rx.qpn != pkt[i].dest_qp))
			qp[i] = NULL;
		else
			rte_prefetch0(qp[i]->rx.recv);
	}
}

/* Two passes: the first finds the queue pairs and has their lines fetched while the others are parsed. */
static uint16_t
rx_burst(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	struct roce_pkt pkt[ROCE_RX_BURST];
	enum roce_frame_verdict verdict[ROCE_RX_BURST];
	struct roce_qp *qp[ROCE_RX_BURST];
	struct rte_mbuf *done[ROCE_RX_BURST];
	uint16_t foreign = 0, others = 0;
	unsigned int free = 0;

	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], const uint8_t *));
	for (uint16_t i = 0; i < n; i++) {
		verdict[i] = roce_frame_parse(pkts[i], &pkt[i]);
		if (unlikely(verdict[i] != ROCE_FRAME_OK)) {
			pkt[i].dest_qp = 0;
			others += verdict[i] == ROCE_FRAME_FOREIGN;
			continue;
		}
		rte_prefetch0(&e->domain->qp[pkt[i].dest_qp & ROCE_QPS_MASK]);
	}
	/* All that a program received, say: as it came. */
	if (unlikely(others == n)) {
		e->stats.rx_foreign += n;
		return n;
	}
	find_all(e->domain, pkt, qp, n);
	for (uint16_t i = 0; i < n; i++) {
		enum fate fate = likely(verdict[i] == ROCE_FRAME_OK)
				? rx_one(e, qp[i], &pkt[i], now)
				: rx_unparsed(e, pkts[i], verdict[i]);

		if (likely(fate == FATE_DONE))
			done[free++] = pkts[i];
		else if (fate == FATE_FOREIGN)
			pkts[foreign++] = pkts[i];
	}
	if (free > 0)
		rte_pktmbuf_free_bulk(done, free);
	return foreign;
}

/* Frames that other engines received for us. What turns out foreign now was for a queue pair that just died. */
static void
rx_inbox(struct roce_engine *e, uint64_t now)
{
	struct rte_mbuf *pkts[ROCE_RX_BURST];
	unsigned int n;
	uint16_t foreign;

	if (!e->domain->shared)
		return;
	n = rte_ring_sc_dequeue_burst(e->inbox, (void **)pkts, ROCE_RX_BURST, NULL);
	if (n == 0)
		return;
	foreign = rx_burst(e, pkts, (uint16_t)n, now);
	if (foreign > 0)
		rte_pktmbuf_free_bulk(pkts, foreign);
}

uint16_t
roce_engine_rx(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	uint16_t foreign = 0;

	rx_inbox(e, now);
	e->busy = n >= ROCE_RX_BURST;
	e->stats.rx_frames += n;
	for (uint32_t i = 0; i < n; i += ROCE_RX_BURST) {
		uint16_t left = rx_burst(e, pkts + i, (uint16_t)RTE_MIN(n - i, ROCE_RX_BURST), now);

		if (unlikely(left > 0 && foreign != i))
			memmove(pkts + foreign, pkts + i, left * sizeof(pkts[0]));
		foreign += left;
	}
	return foreign;
}

struct rte_mbuf *
roce_engine_frame(struct roce_engine *e)
{
	if (unlikely(e->spares == 0)) {
		if (rte_pktmbuf_alloc_bulk(e->pool, e->spare, ROCE_SPARE_MAX) == 0) {
			e->spares = ROCE_SPARE_MAX;
		} else if ((e->spare[0] = rte_pktmbuf_alloc(e->pool)) != NULL) {
			e->spares = 1;
		} else {
			e->stats.tx_no_mbuf++;
			return NULL;
		}
	}
	return e->spare[--e->spares];
}

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
	pkts[0] = roce_resp_emit(qp);
	return pkts[0] != NULL;
}

/* What is owed: the answers to READs first, since an acknowledgement behind them would say that they were given. */
static uint16_t
answer(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room)
{
	uint16_t n = answer_cnp(qp, pkts, room);

	while (n < room && unlikely(qp->rx.owes & ROCE_OWES_READ)) {
		pkts[n] = roce_resp_emit_read(qp);
		if (unlikely(pkts[n] == NULL))
			break;
		n++;
	}
	return n + answer_ack(qp, pkts + n, (uint16_t)(room - n));
}

/* One visit: what is owed first, then requests. @return frames; *again: it has more to say. */
static __rte_always_inline uint16_t
visit(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, uint64_t now, bool *again)
{
	uint16_t n = 0;

	if (qp->rx.owes != 0) {
		n = answer(qp, pkts, RTE_MIN(room, (uint16_t)ROCE_QUANTUM));
		if (unlikely(n == 0)) {
			*again = qp->rx.owes != 0;
			return 0;
		}
	}
	if (likely(qp->rx.state == ROCE_QP_RTS)) {
		n += roce_req_emit(qp, pkts + n,
				RTE_MIN((uint16_t)(room - n), (uint16_t)ROCE_QUANTUM), now);
		*again = roce_req_wants(qp);
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
release_owing(struct roce_engine *e)
{
	struct roce_qp *qp;

	if (e->busy && ++e->waited < ROCE_PATIENCE)
		return;
	e->waited = 0;
	TAILQ_FOREACH(qp, &e->owing, ready_link)
		qp->tx.listed = ROCE_LISTED_READY;
	TAILQ_CONCAT(&e->ready, &e->owing, ready_link);
}

/* Every queue pair on the list has its turn, in order, as long as there is room. */
static uint16_t
tx_ready(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	struct roce_qp *last = TAILQ_LAST(&e->ready, roce_qp_list);
	struct roce_qp *qp;
	uint16_t n = 0;

	while (n < max && (qp = TAILQ_FIRST(&e->ready)) != NULL) {
		bool again = false;
		bool end = qp == last;

		TAILQ_REMOVE(&e->ready, qp, ready_link);
		qp->tx.listed = ROCE_LISTED_NOWHERE;
		if (likely(!qp->tx.paced))
			n += visit(qp, pkts + n, (uint16_t)(max - n), now, &again);
		else
			n += visit_paced(qp, pkts + n, (uint16_t)(max - n), now, &again);
		if (again)
			roce_qp_ready(qp);
		if (end)
			break;
	}
	return n;
}

/* What happened to connections on any engine, for the connection manager on engine 0. */
static void
tell_gsi(struct roce_domain *domain, uint64_t now)
{
	struct roce_qp *qp, *next;

	if (likely(__atomic_load_n(&domain->noticed, __ATOMIC_RELAXED) == NULL))
		return;
	for (qp = __atomic_exchange_n(&domain->noticed, NULL, __ATOMIC_ACQUIRE); qp != NULL;
			qp = next) {
		uint32_t notices;

		next = qp->cold.next_noticed;
		notices = __atomic_exchange_n(&qp->cold.notices, 0, __ATOMIC_ACQ_REL);
		for (unsigned int kind = 1; notices >> kind != 0; kind++) {
			if ((notices & (1u << kind)) && qp->cold.conn != NULL &&
					domain->gsi.qp_notice != NULL)
				domain->gsi.qp_notice(domain->gsi.arg, qp->cold.conn,
						(enum roce_notice_kind)kind, now);
		}
	}
}

static uint16_t
tx_gsi(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	const struct roce_gsi *gsi = &e->domain->gsi;

	if (e->index != 0 || gsi->tx == NULL)
		return 0;
	tell_gsi(e->domain, now);
	return max > 0 ? gsi->tx(gsi->arg, pkts, max, now) : 0;
}

#define GSI_ROOM 4u /**< frames kept back for the connection manager in a full turn */

uint16_t
roce_engine_tx(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	uint16_t reserve = e->index == 0 ? RTE_MIN((uint16_t)GSI_ROOM, (uint16_t)(max / 2)) : 0;
	uint16_t n;

	roce_engine_answer_doorbells(e);
	roce_wheel_advance(e->wheel, now);
	if (!TAILQ_EMPTY(&e->owing) && max > 0)
		release_owing(e);
	n = tx_ready(e, pkts, (uint16_t)(max - reserve), now);
	roce_engine_icrc_put(e);
	n += tx_gsi(e, pkts + n, (uint16_t)(max - n), now);
	e->stats.tx_frames += n;
	return n;
}

uint64_t
roce_engine_deadline(const struct roce_engine *e)
{
	const struct roce_domain *domain = e->domain;
	uint64_t deadline = roce_wheel_deadline(e->wheel);

	if (!TAILQ_EMPTY(&e->ready) || !TAILQ_EMPTY(&e->owing) ||
			__atomic_load_n(&e->doorbell, __ATOMIC_ACQUIRE) != NULL ||
			(domain->shared && !rte_ring_empty(e->inbox)))
		return 0;
	if (e->index == 0 && domain->gsi.deadline != NULL) {
		if (__atomic_load_n(&domain->noticed, __ATOMIC_ACQUIRE) != NULL)
			return 0;
		deadline = RTE_MIN(deadline, domain->gsi.deadline(domain->gsi.arg));
	}
	return deadline;
}
