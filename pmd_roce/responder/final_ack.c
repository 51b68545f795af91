/* SPDX-License-Identifier: BSD-3-Clause */

#include "queue/frames.h"
#include "responder/final_ack.h"
#include "responder/resp.h"

/* A program may bring a pool of a few frames (roce_attach_config), and most of them are for those that work. */
static uint32_t
limit(const struct roce_engine *e)
{
	return RTE_MIN(ROCE_FINAL_ACKS_MAX, e->pool->size / 4);
}

/* Frames of one segment: until they are sent, next is the list's. */
static void
append(struct roce_domain *domain, struct rte_mbuf *m)
{
	struct rte_mbuf **last = &domain->final_acks;

	if (domain->final_acks != NULL)
		last = &domain->final_acks_last->next;
	domain->final_acks_last = m;
	domain->final_acks_count++;
	__atomic_store_n(last, m, __ATOMIC_RELAXED);
}

void
roce_final_ack_make(struct roce_qp *qp)
{
	struct roce_engine *e = qp->engine->domain->engine[0];
	struct rte_mbuf *m;

	if (e->domain->final_acks_count >= limit(e))
		return;
	/* Of the pool whose frames leave on its queue. */
	m = roce_resp_emit(qp, e);
	if (m == NULL)
		return;
	roce_engine_icrc_put(e);
	append(e->domain, m);
}

uint16_t
roce_final_acks_take(struct roce_domain *domain, struct rte_mbuf **pkts, uint16_t max)
{
	uint16_t n = 0;

	for (; n < max && domain->final_acks != NULL; n++) {
		struct rte_mbuf *m = domain->final_acks;

		__atomic_store_n(&domain->final_acks, m->next, __ATOMIC_RELAXED);
		m->next = NULL;
		pkts[n] = m;
	}
	domain->final_acks_count -= n;
	return n;
}

void
roce_final_acks_drop(struct roce_domain *domain)
{
	struct rte_mbuf *m;

	while (roce_final_acks_take(domain, &m, 1) == 1)
		rte_pktmbuf_free(m);
}
