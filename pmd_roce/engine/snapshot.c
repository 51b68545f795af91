/* SPDX-License-Identifier: BSD-3-Clause */

#include "engine/engine.h"
#include "engine/snapshot.h"
#include "queue/qp.h"

#define STRIDE 256u /**< places of the table looked at before the engine has its lock back */

void
roce_domain_each_srq(struct roce_domain *domain, roce_srq_snapshot_fn fn, void *arg)
{
	struct roce_srq *srq;

	/* Destroying takes a queue off this list first: what is on it is whole. */
	rte_spinlock_lock(&domain->srqs_lock);
	TAILQ_FOREACH(srq, &domain->srqs, link) {
		struct roce_srq_snapshot snapshot = {
			.id = srq->id,
			.low_watermark_events = __atomic_load_n(&srq->fired, __ATOMIC_RELAXED),
			.empty = __atomic_load_n(&srq->empty, __ATOMIC_RELAXED),
		};

		roce_srq_query(srq, &snapshot.counts);
		roce_lock(&srq->post_lock);
		snapshot.descriptors = srq->ring;
		roce_unlock(&srq->post_lock);
		fn(arg, &snapshot);
	}
	rte_spinlock_unlock(&domain->srqs_lock);
}

static struct roce_qp_snapshot
describe(const struct roce_qp *qp)
{
	struct roce_qp_snapshot snapshot = {
		.number = qp->rx.qpn,
		.srq = qp->rx.rq->private_queue ? ROCE_NO_SRQ : qp->rx.rq->id,
		.taken = qp->rx.taken,
		.received = qp->rx.msn,
		.soft_high = qp->cold.soft_high,
		.hard_high = qp->cold.hard_high,
		.engine = qp->engine->index,
		.state = roce_qp_state(qp),
	};

	roce_qp_depth(qp, &snapshot.requests, &snapshot.held);
	snapshot.completed = __atomic_load_n(&qp->tx.tail, __ATOMIC_RELAXED);
	snapshot.posted = snapshot.completed + snapshot.requests;
	return snapshot;
}

/* The queue pairs of one engine in places first..first+STRIDE-1 of the table. */
static void
look_at(struct roce_engine *e, uint32_t first, roce_qp_snapshot_fn fn, void *arg)
{
	roce_engine_lock(e);
	for (uint32_t i = first; i < first + STRIDE; i++) {
		const struct roce_qp *qp = __atomic_load_n(&e->domain->qp[i], __ATOMIC_ACQUIRE);

		/* One of another engine may be on its way out: not even its fields may be read here. */
		if (qp != NULL && (i & e->domain->engine_mask) == e->index) {
			struct roce_qp_snapshot snapshot = describe(qp);

			fn(arg, &snapshot);
		}
	}
	roce_engine_unlock(e);
}

void
roce_domain_each_qp(struct roce_domain *domain, roce_qp_snapshot_fn fn, void *arg)
{
	static_assert(ROCE_QPS_MAX % STRIDE == 0, "the last stride is whole");

	for (unsigned int e = 0; e < domain->config.engines; e++) {
		for (uint32_t first = 0; first < ROCE_QPS_MAX; first += STRIDE)
			look_at(domain->engine[e], first, fn, arg);
	}
}
