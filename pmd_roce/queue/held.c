/* SPDX-License-Identifier: BSD-3-Clause */

#include "queue/held.h"
#include "queue/qp.h"

static struct rte_mbuf *
next_of(const struct rte_mbuf *m)
{
	return (struct rte_mbuf *)(uintptr_t)m->tx_offload;
}

static void
set_next(struct rte_mbuf *m, const struct rte_mbuf *next)
{
	m->tx_offload = (uintptr_t)next;
}

static uint32_t
psn_of(const struct rte_mbuf *m)
{
	return m->hash.usr;
}

uint32_t
roce_held_limit(const struct roce_engine *e)
{
	return RTE_MIN(ROCE_HELD_ENGINE, e->pool->size / 4 / e->domain->config.engines);
}

/* The held frame behind which one with this PSN belongs. @return NULL: it is the first. */
static struct rte_mbuf *
find_before(const struct roce_held *held, uint32_t psn)
{
	struct rte_mbuf *before = NULL;

	/* Most come in order, behind the one that is missing. */
	if (held->last != NULL && roce_psn_diff(psn_of(held->last), psn) <= 0)
		return held->last;
	for (struct rte_mbuf *m = held->first; m != NULL && roce_psn_diff(psn_of(m), psn) <= 0;
			m = next_of(m))
		before = m;
	return before;
}

static void
insert(struct roce_held *held, struct rte_mbuf *before, struct rte_mbuf *m)
{
	set_next(m, before != NULL ? next_of(before) : held->first);
	if (before != NULL)
		set_next(before, m);
	else
		held->first = m;
	if (next_of(m) == NULL)
		held->last = m;
	held->n++;
}

/* May one more be held, for so many PSNs ahead? */
static bool
has_room(const struct roce_qp *qp, uint32_t psn)
{
	return qp->cold.held.n < ROCE_HELD_QP && qp->engine->held < qp->engine->held_max &&
			roce_psn_diff(psn, qp->rx.epsn) < ROCE_HELD_AHEAD;
}

/*
 * Does nobody else wait for the frame? Only a sole owner may write to its fields. The owner of memory that the frame refers to
 * waits for its release (zero_copy= on a wire inside of a process).
 */
static bool
is_own(const struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next) {
		if (rte_mbuf_refcnt_read(m) != 1 || !RTE_MBUF_DIRECT(m))
			return false;
	}
	return true;
}

bool
roce_held_keep(struct roce_qp *qp, struct rte_mbuf *m, uint32_t psn, uint32_t packets)
{
	struct roce_held *held = &qp->cold.held;
	struct rte_mbuf *before;

	if (!has_room(qp, psn) || !is_own(m)) {
		qp->engine->stats.rx_held_limited++;
		return false;
	}
	before = find_before(held, psn);
	if (before != NULL && psn_of(before) == psn)
		return false;
	m->hash.usr = psn;
	if (held->first == NULL || roce_psn_diff(roce_psn_add(psn, packets), held->end) > 0)
		held->end = roce_psn_add(psn, packets);
	insert(held, before, m);
	qp->engine->held++;
	qp->engine->stats.rx_held++;
	qp->rx.checks |= ROCE_CHECK_HELD;
	return true;
}

/* The first frame leaves the list. */
static struct rte_mbuf *
remove_first(struct roce_qp *qp)
{
	struct roce_held *held = &qp->cold.held;
	struct rte_mbuf *m = held->first;

	held->first = next_of(m);
	set_next(m, NULL);
	held->n--;
	qp->engine->held--;
	if (held->first == NULL) {
		held->last = NULL;
		/* It would tell of nothing, and mean another thing. */
		qp->rx.owes &= (uint8_t)~ROCE_OWES_SACK;
		qp->rx.checks &= (uint8_t)~ROCE_CHECK_HELD;
	}
	return m;
}

struct rte_mbuf *
roce_held_take(struct roce_qp *qp)
{
	const struct rte_mbuf *first = qp->cold.held.first;

	if (first == NULL || roce_psn_diff(psn_of(first), qp->rx.epsn) > 0)
		return NULL;
	return remove_first(qp);
}

int32_t
roce_held_ahead(const struct roce_qp *qp, uint32_t psn)
{
	const struct roce_held *held = &qp->cold.held;

	return roce_psn_diff(psn, held->first != NULL ? held->end : qp->rx.epsn);
}

void
roce_held_map(const struct roce_qp *qp, struct roce_sack *sack)
{
	uint64_t held[2] = { 0 };

	for (const struct rte_mbuf *m = qp->cold.held.first; m != NULL; m = next_of(m)) {
		uint32_t at = (psn_of(m) - qp->rx.epsn - 1) & ROCE_PSN_MASK;

		if (at < 128)
			held[at / 64] |= UINT64_C(1) << at % 64;
	}
	*sack = (struct roce_sack){ { rte_cpu_to_be_64(held[0]), rte_cpu_to_be_64(held[1]) } };
}

void
roce_held_drop(struct roce_qp *qp)
{
	while (qp->cold.held.first != NULL)
		rte_pktmbuf_free(remove_first(qp));
}
