/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs: number, birth and death. Their states are in qp_state.c. */

#include <errno.h>
#include <string.h>

#include "engine/qp_state.h"
#include "engine/verbs.h"
#include "queue/extbuf.h"
#include "queue/mw.h"
#include "responder/zcrx.h"

#define QPN_RESERVED 2u /**< 0 is subnet management, 1 general services */

/*
 * Numbers are given in turn, so that a place is used again as late as possible and engines take turns; but the bits
 * above the place are mixed with something that only this domain knows: a number does not tell its neighbours'. Where
 * processes share an address, these bits are the process.
 */
static uint32_t
disguise(const struct roce_domain *domain, uint32_t number)
{
	uint32_t place = number & ROCE_QPS_MASK;
	uint64_t mask = roce_random_at(domain->qpn_secret, ROCE_RANDOM_QPN, place);

	if (domain->config.process != 0)
		return (uint32_t)domain->config.process * ROCE_QPS_MAX | place;
	if (domain->qpn_secret == 0)
		return number;
	return number ^ ((uint32_t)mask & ROCE_QPN_MASK & ~ROCE_QPS_MASK);
}

/* Next number whose place is free and whose engine exists. Under qpn_lock. @return 0: the table is full. */
static uint32_t
take_number(struct roce_domain *domain)
{
	uint32_t engines = domain->config.engines;

	for (uint32_t tries = 0; tries < 2 * ROCE_QPS_MAX; tries++) {
		uint32_t qpn = disguise(domain, domain->next_qpn);

		domain->next_qpn = (domain->next_qpn + 1) & ROCE_QPN_MASK;
		if (qpn < QPN_RESERVED || qpn == ROCE_QPN_MULTICAST ||
				(qpn & domain->engine_mask) >= engines)
			continue;
		if (domain->qp[qpn & ROCE_QPS_MASK] == NULL)
			return qpn;
	}
	return 0;
}

static int
link_number(struct roce_domain *domain, struct roce_qp *qp)
{
	uint32_t qpn;

	rte_spinlock_lock(&domain->qpn_lock);
	qpn = take_number(domain);
	if (qpn == 0) {
		rte_spinlock_unlock(&domain->qpn_lock);
		return -ENOMEM;
	}
	qp->rx.qpn = qpn;
	qp->engine = domain->engine[qpn & domain->engine_mask];
	qp->cold.dice.number = domain->next_dice++;
	qp->post.engine = qp->engine;
	qp->post.keys = &domain->keys;
	qp->post.pd = qp->pd;
	roce_keys_recent_init(&qp->post.recent, qp->post.keys);
	__atomic_store_n(&domain->qps, domain->qps + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&domain->qp[qpn & ROCE_QPS_MASK], qp, __ATOMIC_RELEASE);
	rte_spinlock_unlock(&domain->qpn_lock);
	return 0;
}

static void
unlink_number(struct roce_domain *domain, struct roce_qp *qp)
{
	rte_spinlock_lock(&domain->qpn_lock);
	__atomic_store_n(&domain->qp[qp->rx.qpn & ROCE_QPS_MASK], NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&domain->qps, domain->qps - 1, __ATOMIC_RELAXED);
	rte_spinlock_unlock(&domain->qpn_lock);
}

/* The queue for receives: the shared one, or one of its own that looks the same from inside. */
static int
make_receive_queue(struct roce_qp *qp, const struct roce_qp_attr *attr)
{
	struct roce_srq *rq = attr->srq;
	struct roce_cq *book = attr->recv_cq;
	int rc;

	if (rq == NULL) {
		rc = roce_srq_create_private(attr->pd, RTE_MAX(attr->max_recv_wr, 1u),
				RTE_MAX(attr->max_recv_sge, (uint16_t)1), &rq);
		if (rc != 0)
			return rc;
		book = NULL;
	}
	rc = roce_srq_attach(rq, book, &qp->cold.reap_counter);
	if (rc != 0) {
		if (rq->private_queue)
			(void)roce_srq_destroy(rq);
		return rc;
	}
	qp->rx.rq = rq;
	qp->rx.srq_tag = qp->cold.reap_counter != NULL ? qp->cold.reap_counter->tag : 0;
	return 0;
}

static void
free_receive_queue(struct roce_qp *qp)
{
	struct roce_srq *rq = qp->rx.rq;
	bool private_queue = rq->private_queue;

	/* A shared one may end as soon as it is let go of. None of its receives is in use: the queue pair is in RESET. */
	roce_srq_detach(rq, qp->cold.reap_counter, qp->rx.taken - qp->cold.eventless);
	if (private_queue)
		(void)roce_srq_destroy(rq);
}

/*
 * The queue pair, and behind it what it has one of for its life: the receive in use, and a place for each READ and atomic
 * of the peer, none when it may not have any. One block of memory: an allocator takes up to three lines of its own.
 */
static struct roce_qp *
alloc_qp(const struct roce_qp_attr *attr)
{
	uint32_t sge = attr->srq != NULL ? attr->srq->max_sge : RTE_MAX(attr->max_recv_sge, 1u);
	size_t recv = sizeof(struct roce_recv) + sge * sizeof(struct roce_sge);
	size_t resources = attr->max_dest_rd_atomic * sizeof(struct roce_rd_resource);
	struct roce_qp *qp = roce_alloc(attr->pd->domain, sizeof(*qp) + recv + resources);
	uint8_t *behind;

	if (qp == NULL)
		return NULL;
	behind = (uint8_t *)(qp + 1);
	qp->rx.recv = (struct roce_recv *)behind;
	if (attr->max_dest_rd_atomic > 0)
		qp->remote.resource = (struct roce_rd_resource *)(behind + recv);
	qp->remote.max = attr->max_dest_rd_atomic;
	return qp;
}

static void
count_user(struct roce_cq *cq, int n)
{
	if (cq != NULL)
		__atomic_fetch_add(&cq->users, (uint32_t)n, __ATOMIC_RELEASE);
}

/* A queue that is used by queue pairs of two devices would need the locks of both. */
static bool
is_of_one_device(const struct roce_qp_attr *attr)
{
	const struct roce_domain *domain = attr->pd->domain;

	return (attr->send_cq == NULL || attr->send_cq->domain == domain) &&
			(attr->recv_cq == NULL || attr->recv_cq->domain == domain) &&
			(attr->srq == NULL || attr->srq->domain == domain);
}

static bool
attr_ok(const struct roce_qp_attr *attr)
{
	if (attr->pd == NULL || attr->max_send_sge > ROCE_SGE_MAX || attr->max_send_wr > 1u << 20 ||
			attr->max_dest_rd_atomic > ROCE_RD_ATOMIC_MAX ||
			attr->max_inline > ROCE_INLINE_MAX ||
			(attr->srq == NULL && attr->max_recv_sge > ROCE_SGE_MAX) ||
			!is_of_one_device(attr))
		return false;
	/* An event announces a frame, which is asked for at the queue pair that had the receive. */
	return attr->max_zcrx == 0 ||
			(attr->max_zcrx <= ROCE_ZCRX_MAX && attr->srq == NULL &&
					attr->recv_cq != NULL);
}

/* Its own queue may have zero-copy receives. */
static int
make_zcrx(struct roce_qp *qp, const struct roce_qp_attr *attr)
{
	int rc;

	if (attr->max_zcrx == 0)
		return 0;
	rc = roce_zcrx_create(qp, attr->max_zcrx);
	if (rc == 0)
		qp->rx.checks |= ROCE_CHECK_TAKE;
	qp->rx.rq->zcrx = rc == 0;
	return rc;
}

static int
create(const struct roce_qp_attr *attr, bool small, struct roce_qp **qp)
{
	struct roce_domain *domain;
	struct roce_qp *q;
	int rc = -ENOMEM;

	if (!attr_ok(attr))
		return -EINVAL;
	domain = attr->pd->domain;
	q = alloc_qp(attr);
	if (q == NULL)
		return -ENOMEM;
	q->pd = attr->pd;
	q->owner = attr->owner;
	q->send_cq = attr->send_cq;
	q->rx.cq = attr->recv_cq;
	q->cold.soft_high = ROCE_HIGH_NONE;
	q->cold.hard_high = ROCE_HIGH_NONE;
	if (domain->config.faults.rnr != 0)
		q->rx.checks = ROCE_CHECK_TAKE;
	rc = roce_wq_make(q, attr, small);
	if (rc != 0)
		goto free_qp;
	rc = make_receive_queue(q, attr);
	if (rc != 0)
		goto free_slots;
	rc = make_zcrx(q, attr);
	if (rc != 0)
		goto free_receives;
	roce_qp_init(q);
	rc = link_number(domain, q);
	if (rc != 0)
		goto free_zcrx;
	count_user(q->send_cq, 1);
	count_user(q->rx.cq, 1);
	__atomic_fetch_add(&q->pd->users, 1, __ATOMIC_RELAXED);
	*qp = q;
	return 0;

free_zcrx:
	roce_zcrx_destroy(q);
free_receives:
	free_receive_queue(q);
free_slots:
	roce_free(domain, q->wq.slots);
free_qp:
	roce_free(domain, q);
	return rc;
}

int
roce_qp_create(const struct roce_qp_attr *attr, struct roce_qp **qp)
{
	return create(attr, false, qp);
}

int
roce_qp_create_small(const struct roce_qp_attr *attr, struct roce_qp **qp)
{
	return create(attr, true, qp);
}

/* Off every list of its engine and of the connection manager. Under the locks of engine 0 and its own. */
static void
unlist(struct roce_domain *domain, struct roce_qp *qp)
{
	struct roce_qp **link;

	roce_qp_make_final_ack(qp);
	roce_qp_to_reset(qp);
	if (qp->wq.flags & ROCE_WQE_EXTBUF)
		roce_extbuf_forget(qp);
	for (link = &domain->cm_pending; *link != NULL; link = &(*link)->cold.next_cm_pending) {
		if (*link == qp) {
			*link = qp->cold.next_cm_pending;
			break;
		}
	}
}

void
roce_qp_destroy(struct roce_qp *qp)
{
	struct roce_engine *e = qp->engine;
	struct roce_domain *domain = e->domain;

	/* First no thread finds it; then no thread works on it; then no list has it. */
	unlink_number(domain, qp);
	roce_domain_lock(domain);
	roce_mw_release(qp);
	unlist(domain, qp);
	roce_domain_unlock(domain);
	roce_context_forget(qp->pd->context, &qp->cold.async);
	roce_zcrx_destroy(qp);
	/* The completion queue may end as soon as its count says so: its reap counter is given back before. */
	free_receive_queue(qp);
	count_user(qp->send_cq, -1);
	count_user(qp->rx.cq, -1);
	__atomic_fetch_sub(&qp->pd->users, 1, __ATOMIC_RELEASE);
	roce_free(domain, qp->wq.slots);
	roce_free(domain, qp);
}
