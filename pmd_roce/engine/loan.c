/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/loan.h"

#include <errno.h>

#include <rte_branch_prediction.h>

#include "engine/mr.h"

/* One frame that is, or may be, lent. */
struct loan {
	struct rte_mbuf_ext_shared_info shinfo;
	struct roce_loans *all;
	struct loan *next;      /* of the free ones, or of those that came home */
	struct rte_mbuf *head;  /* what the consumer may take; NULL: it has; atomic */
	struct rte_mbuf *frame; /* whose buffer that has */
	/* Of the receive that it was lent to last, since who asks twice may ask late; atomic. */
	uint32_t context; /* its wr_id, folded */
	uint32_t turn;    /* how often the place was lent by then */
};

static_assert(sizeof(struct loan) <= RTE_CACHE_LINE_SIZE, "a frame has one line of it");

/* The frames that all queue pairs may lend, together. */
struct roce_loan_budget {
	uint32_t left;  /* atomic */
	uint32_t users; /* the domain, and the places of each queue pair; atomic */
	struct roce_memory memory;
};

struct roce_loans {
	struct loan *home; /* stack; atomic */
	uint32_t users;    /* the queue pair, and each frame that is lent; atomic */
	uint32_t max;
	struct roce_loan_budget *budget;
	/* The engine's own. */
	struct loan *free;
	struct rte_mbuf *head; /* of the next frame; NULL: none yet */
	struct rte_mbuf *copy; /* for the next one that cannot be lent itself; NULL: none yet */
	struct loan at[] __rte_cache_aligned;
};

/* ---- what may be lent ---- */

int
roce_loan_budget_create(struct roce_domain *domain)
{
	struct roce_loan_budget *budget = roce_alloc(domain, sizeof(*budget));

	if (budget == NULL)
		return -ENOMEM;
	budget->left = domain->config.loan.max;
	budget->users = 1;
	budget->memory = domain->config.memory;
	domain->loan_budget = budget;
	return 0;
}

static void
leave_budget(struct roce_loan_budget *budget)
{
	struct roce_memory memory = budget->memory;

	if (__atomic_sub_fetch(&budget->users, 1, __ATOMIC_ACQ_REL) == 0)
		memory.free(memory.arg, budget);
}

void
roce_loan_budget_destroy(struct roce_domain *domain)
{
	if (domain->loan_budget != NULL)
		leave_budget(domain->loan_budget);
}

static bool
take_part(struct roce_loan_budget *budget, uint32_t max)
{
	uint32_t left = __atomic_load_n(&budget->left, __ATOMIC_RELAXED);

	do {
		if (left < max)
			return false;
	} while (!__atomic_compare_exchange_n(&budget->left, &left, left - max, true,
			__ATOMIC_RELAXED, __ATOMIC_RELAXED));
	__atomic_fetch_add(&budget->users, 1, __ATOMIC_RELAXED);
	return true;
}

static void
give_part(struct roce_loan_budget *budget, uint32_t max)
{
	__atomic_fetch_add(&budget->left, max, __ATOMIC_RELAXED);
	leave_budget(budget);
}

/* ---- places ---- */

/* One user less: the queue pair, or a frame that came home, on any thread. */
static void
leave(struct roce_loans *all)
{
	struct roce_loan_budget *budget = all->budget;
	uint32_t max = all->max;

	if (__atomic_sub_fetch(&all->users, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	budget->memory.free(budget->memory.arg, all);
	give_part(budget, max);
}

int
roce_loans_create(struct roce_qp *qp, uint32_t max)
{
	struct roce_domain *domain = qp->pd->domain;
	struct roce_loans *all;

	if (domain->loan_budget == NULL || !take_part(domain->loan_budget, max))
		return -ENOMEM;
	all = roce_alloc(domain, sizeof(*all) + max * sizeof(all->at[0]));
	if (all == NULL) {
		give_part(domain->loan_budget, max);
		return -ENOMEM;
	}
	all->users = 1;
	all->max = max;
	all->budget = domain->loan_budget;
	for (uint32_t i = max; i-- > 0;) {
		all->at[i].all = all;
		all->at[i].next = all->free;
		all->free = &all->at[i];
	}
	qp->cold.loans = all;
	return 0;
}

void
roce_loans_drop(struct roce_qp *qp)
{
	struct roce_loans *all = qp->cold.loans;

	for (uint32_t i = 0; i < all->max; i++)
		rte_pktmbuf_free(__atomic_exchange_n(&all->at[i].head, NULL, __ATOMIC_ACQ_REL));
}

void
roce_loans_destroy(struct roce_qp *qp)
{
	struct roce_loans *all = qp->cold.loans;

	if (all == NULL)
		return;
	rte_pktmbuf_free(all->head);
	rte_pktmbuf_free(all->copy);
	leave(all);
}

/* rte_mbuf_extbuf_free_callback_t: nobody has the buffer any more. On the thread of who freed it. */
static void
come_home(void *addr, void *opaque)
{
	struct loan *loan = opaque;
	struct roce_loans *all = loan->all;
	struct loan *top = __atomic_load_n(&all->home, __ATOMIC_RELAXED);

	rte_pktmbuf_free(loan->frame);
	do {
		loan->next = top;
	} while (!__atomic_compare_exchange_n(
			&all->home, &top, loan, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	leave(all);
}

/* ---- lending ---- */

/*
 * The word of an event for its frame: the place, and in the bits that are left how often that was lent. So an event of the
 * one before is not taken for one of this, though it may have the same context.
 */
#define PLACE_MASK (ROCE_LENT_MAX - 1u)
#define TURN_SHIFT 12

static_assert(PLACE_MASK == (1u << TURN_SHIFT) - 1, "every bit of an event's number is used");

static uint32_t
fold(uint64_t wr_id)
{
	return (uint32_t)(wr_id ^ wr_id >> 32);
}

static uint16_t
name_of(const struct loan *loan)
{
	uint32_t turn = __atomic_load_n(&loan->turn, __ATOMIC_RELAXED);

	return (uint16_t)(turn << TURN_SHIFT | (uint32_t)(loan - loan->all->at));
}

/* Only when no other place is free: so the line that other threads write is looked at seldom. */
static struct loan *
find_free(struct roce_loans *all)
{
	if (all->free == NULL)
		all->free = __atomic_exchange_n(&all->home, NULL, __ATOMIC_ACQUIRE);
	return all->free;
}

/* Is the buffer of the frame ours to keep? */
static bool
may_keep(const struct roce_domain_config *config, const struct rte_mbuf *m)
{
	if (m->nb_segs != 1 || !RTE_MBUF_DIRECT(m) || rte_mbuf_refcnt_read(m) != 1)
		return false;
	/* It will be freed on whatever thread. */
	if (m->pool->flags & RTE_MEMPOOL_F_SP_PUT)
		return false;
	if (config->loan.any)
		return true;
	for (unsigned int i = 0; i < config->engines; i++) {
		if (m->pool == config->loan.pool[i])
			return true;
	}
	return false;
}

bool
roce_loan_ready(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const struct roce_domain_config *config = &qp->engine->domain->config;
	struct roce_loans *all = qp->cold.loans;
	bool ready;

	if (pkt->op->verb != ROCE_VERB_SEND || pkt->payload_len == 0 ||
			!(roce_srq_next_flags(qp->rx.rq) & ROCE_WR_LEND))
		return true;
	ready = find_free(all) != NULL;
	if (ready && all->head == NULL)
		all->head = rte_pktmbuf_alloc(config->loan.heads);
	ready = ready && all->head != NULL;
	if (ready && all->copy == NULL && !may_keep(config, pkt->m)) {
		all->copy = rte_pktmbuf_alloc(config->loan.copies);
		ready = all->copy != NULL;
	}
	if (!ready)
		qp->engine->stats.rx_lent_bound++;
	return ready;
}

/* The head shows the payload alone; around it is what else the buffer has. */
static void
attach(struct loan *loan, struct rte_mbuf *head, uint32_t offset, uint32_t len)
{
	struct rte_mbuf *frame = loan->frame;

	loan->shinfo = (struct rte_mbuf_ext_shared_info){
		.free_cb = come_home,
		.fcb_opaque = loan,
	};
	rte_mbuf_ext_refcnt_set(&loan->shinfo, 1);
	rte_pktmbuf_attach_extbuf(head, frame->buf_addr, rte_mbuf_iova_get(frame), frame->buf_len,
			&loan->shinfo);
	head->data_off = (uint16_t)(frame->data_off + offset);
	head->data_len = (uint16_t)len;
	head->pkt_len = len;
}

uint32_t
roce_loan_give(struct roce_qp *qp, struct roce_pkt *pkt)
{
	struct roce_loans *all = qp->cold.loans;
	struct rte_mbuf *head = all->head;
	struct loan *loan = all->free;
	uint32_t offset = pkt->payload_off;

	all->free = loan->next;
	all->head = NULL;
	if (likely(may_keep(&qp->engine->domain->config, pkt->m))) {
		loan->frame = pkt->m;
		pkt->m = NULL;
	} else {
		loan->frame = all->copy;
		all->copy = NULL;
		offset = 0;
		roce_payload_place(pkt, rte_pktmbuf_mtod(loan->frame, uint8_t *));
		qp->engine->stats.rx_lent_copied++;
	}
	attach(loan, head, offset, pkt->payload_len);
	__atomic_fetch_add(&all->users, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&loan->context, fold(qp->rx.recv->wr_id), __ATOMIC_RELAXED);
	__atomic_store_n(&loan->turn, loan->turn + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&loan->head, head, __ATOMIC_RELEASE);
	qp->engine->stats.rx_lent++;
	return ROCE_EVENT_LENT | (uint32_t)name_of(loan) << ROCE_LOAN_SHIFT;
}

void
roce_loan_withdraw(struct roce_qp *qp, uint32_t event_flags)
{
	struct loan *loan = &qp->cold.loans->at[event_flags >> ROCE_LOAN_SHIFT & PLACE_MASK];

	rte_pktmbuf_free(__atomic_exchange_n(&loan->head, NULL, __ATOMIC_ACQ_REL));
}

struct rte_mbuf *
roce_qp_take_mbuf(struct roce_qp *qp, const struct roce_event *event)
{
	struct roce_loans *all = qp->cold.loans;
	struct loan *loan;

	if (all == NULL || !(event->flags & ROCE_EVENT_LENT) ||
			(event->lent & PLACE_MASK) >= all->max)
		return NULL;
	loan = &all->at[event->lent & PLACE_MASK];
	if (name_of(loan) != event->lent ||
			__atomic_load_n(&loan->context, __ATOMIC_RELAXED) != fold(event->wr_id))
		return NULL;
	return __atomic_exchange_n(&loan->head, NULL, __ATOMIC_ACQ_REL);
}
