/* SPDX-License-Identifier: BSD-3-Clause */
#include "responder/zcrx.h"

#include <errno.h>

#include <rte_branch_prediction.h>

#include "queue/complete.h"
#include "queue/sge.h"

/* One frame that is, or may be, given. */
struct zcrx_slot {
	struct rte_mbuf_ext_shared_info shinfo;
	struct roce_zcrx *all;
	struct zcrx_slot *next; /* of the free ones, or of those that came home */
	struct rte_mbuf *head;  /* what the consumer may take; NULL: it has; atomic */
	struct rte_mbuf *frame; /* whose buffer that has */
	/* Of the receive that it was given to last, since who asks twice may ask late; atomic. */
	uint32_t context; /* its wr_id, folded */
	uint32_t uses;    /* how often the place was given by then */
};

static_assert(sizeof(struct zcrx_slot) <= RTE_CACHE_LINE_SIZE, "a frame has one line of it");

/* The frames that all queue pairs may give, together. */
struct roce_zcrx_budget {
	uint32_t left;  /* atomic */
	uint32_t users; /* the domain, and the places of each queue pair; atomic */
	struct roce_memory memory;
};

struct roce_zcrx {
	struct zcrx_slot *home; /* stack; atomic */
	uint32_t users;         /* the queue pair, and each frame that is given; atomic */
	uint32_t max;
	struct roce_zcrx_budget *budget;
	/* The engine's own. */
	struct zcrx_slot *free;
	struct rte_mbuf *head; /* of the next frame; NULL: none yet */
	struct rte_mbuf *copy; /* for the next one that cannot be given itself; NULL: none yet */
	struct zcrx_slot at[] __rte_cache_aligned;
};

/* ---- what may be given ---- */

int
roce_zcrx_budget_create(struct roce_domain *domain)
{
	struct roce_zcrx_budget *budget = roce_alloc(domain, sizeof(*budget));

	if (budget == NULL)
		return -ENOMEM;
	budget->left = domain->config.zcrx.max;
	budget->users = 1;
	budget->memory = domain->config.memory;
	domain->zcrx_budget = budget;
	return 0;
}

static void
leave_budget(struct roce_zcrx_budget *budget)
{
	struct roce_memory memory = budget->memory;

	if (__atomic_sub_fetch(&budget->users, 1, __ATOMIC_ACQ_REL) == 0)
		memory.free(memory.arg, budget);
}

void
roce_zcrx_budget_destroy(struct roce_domain *domain)
{
	if (domain->zcrx_budget != NULL)
		leave_budget(domain->zcrx_budget);
}

static bool
take_part(struct roce_zcrx_budget *budget, uint32_t max)
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
give_part(struct roce_zcrx_budget *budget, uint32_t max)
{
	__atomic_fetch_add(&budget->left, max, __ATOMIC_RELAXED);
	leave_budget(budget);
}

/* ---- places ---- */

/* One user less: the queue pair, or a frame that came home, on any thread. */
static void
leave(struct roce_zcrx *all)
{
	struct roce_zcrx_budget *budget = all->budget;
	uint32_t max = all->max;

	if (__atomic_sub_fetch(&all->users, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	budget->memory.free(budget->memory.arg, all);
	give_part(budget, max);
}

int
roce_zcrx_create(struct roce_qp *qp, uint32_t max)
{
	struct roce_domain *domain = qp->pd->domain;
	struct roce_zcrx *all;

	if (domain->zcrx_budget == NULL || !take_part(domain->zcrx_budget, max))
		return -ENOMEM;
	all = roce_alloc(domain, sizeof(*all) + max * sizeof(all->at[0]));
	if (all == NULL) {
		give_part(domain->zcrx_budget, max);
		return -ENOMEM;
	}
	all->users = 1;
	all->max = max;
	all->budget = domain->zcrx_budget;
	for (uint32_t i = max; i-- > 0;) {
		all->at[i].all = all;
		all->at[i].next = all->free;
		all->free = &all->at[i];
	}
	qp->cold.zcrx = all;
	return 0;
}

void
roce_zcrx_drop(struct roce_qp *qp)
{
	struct roce_zcrx *all = qp->cold.zcrx;

	for (uint32_t i = 0; i < all->max; i++)
		rte_pktmbuf_free(__atomic_exchange_n(&all->at[i].head, NULL, __ATOMIC_ACQ_REL));
}

void
roce_zcrx_destroy(struct roce_qp *qp)
{
	struct roce_zcrx *all = qp->cold.zcrx;

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
	struct zcrx_slot *slot = opaque;
	struct roce_zcrx *all = slot->all;
	struct zcrx_slot *top = __atomic_load_n(&all->home, __ATOMIC_RELAXED);

	rte_pktmbuf_free(slot->frame);
	do {
		slot->next = top;
	} while (!__atomic_compare_exchange_n(
			&all->home, &top, slot, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	leave(all);
}

/* ---- giving ---- */

/*
 * The word of an event for its frame: the place, and in the bits that are left how often that was given. So an event of the
 * one before is not taken for one of this, though it may have the same context.
 */
#define PLACE_MASK (ROCE_ZCRX_MAX - 1u)
#define USES_SHIFT 12

static_assert(PLACE_MASK == (1u << USES_SHIFT) - 1, "every bit of an event's number is used");

static uint32_t
fold(uint64_t wr_id)
{
	return (uint32_t)(wr_id ^ wr_id >> 32);
}

static uint16_t
name_of(const struct zcrx_slot *slot)
{
	uint32_t uses = __atomic_load_n(&slot->uses, __ATOMIC_RELAXED);

	return (uint16_t)(uses << USES_SHIFT | (uint32_t)(slot - slot->all->at));
}

/* Only when no other place is free: so the line that other threads write is looked at seldom. */
static struct zcrx_slot *
find_free(struct roce_zcrx *all)
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
	if (config->zcrx.any)
		return true;
	for (unsigned int i = 0; i < config->engines; i++) {
		if (m->pool == config->zcrx.pool[i])
			return true;
	}
	return false;
}

bool
roce_zcrx_ready(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const struct roce_domain_config *config = &qp->engine->domain->config;
	struct roce_zcrx *all = qp->cold.zcrx;
	bool ready;

	if (pkt->op->verb != ROCE_VERB_SEND || pkt->payload_len == 0 ||
			!(roce_srq_next_flags(qp->rx.rq) & ROCE_WR_ZCRX))
		return true;
	ready = find_free(all) != NULL;
	if (ready && all->head == NULL)
		all->head = rte_pktmbuf_alloc(config->zcrx.heads);
	ready = ready && all->head != NULL;
	if (ready && all->copy == NULL && !may_keep(config, pkt->m)) {
		all->copy = rte_pktmbuf_alloc(config->zcrx.copies);
		ready = all->copy != NULL;
	}
	if (!ready)
		qp->engine->stats.rx_lent_bound++;
	return ready;
}

/* The head shows the payload alone; around it is what else the buffer has. */
static void
attach(struct zcrx_slot *slot, struct rte_mbuf *head, uint32_t offset, uint32_t len)
{
	struct rte_mbuf *frame = slot->frame;

	slot->shinfo = (struct rte_mbuf_ext_shared_info){
		.free_cb = come_home,
		.fcb_opaque = slot,
	};
	rte_mbuf_ext_refcnt_set(&slot->shinfo, 1);
	rte_pktmbuf_attach_extbuf(head, frame->buf_addr, rte_mbuf_iova_get(frame), frame->buf_len,
			&slot->shinfo);
	head->data_off = (uint16_t)(frame->data_off + offset);
	head->data_len = (uint16_t)len;
	head->pkt_len = len;
}

uint32_t
roce_zcrx_give(struct roce_qp *qp, struct roce_pkt *pkt)
{
	struct roce_zcrx *all = qp->cold.zcrx;
	struct rte_mbuf *head = all->head;
	struct zcrx_slot *slot = all->free;
	uint32_t offset = pkt->payload_off;

	all->free = slot->next;
	all->head = NULL;
	if (likely(may_keep(&qp->engine->domain->config, pkt->m))) {
		slot->frame = pkt->m;
		pkt->m = NULL;
	} else {
		slot->frame = all->copy;
		all->copy = NULL;
		offset = 0;
		roce_payload_place(pkt, rte_pktmbuf_mtod(slot->frame, uint8_t *));
		qp->engine->stats.rx_lent_copied++;
	}
	attach(slot, head, offset, pkt->payload_len);
	__atomic_fetch_add(&all->users, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->context, fold(qp->rx.recv->wr_id), __ATOMIC_RELAXED);
	__atomic_store_n(&slot->uses, slot->uses + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->head, head, __ATOMIC_RELEASE);
	qp->engine->stats.rx_lent++;
	return ROCE_EVENT_ZCRX | (uint32_t)name_of(slot) << ROCE_ZCRX_SHIFT;
}

void
roce_zcrx_withdraw(struct roce_qp *qp, uint32_t event_flags)
{
	struct zcrx_slot *slot = &qp->cold.zcrx->at[event_flags >> ROCE_ZCRX_SHIFT & PLACE_MASK];

	rte_pktmbuf_free(__atomic_exchange_n(&slot->head, NULL, __ATOMIC_ACQ_REL));
}

struct rte_mbuf *
roce_qp_take_mbuf(struct roce_qp *qp, const struct roce_event *event)
{
	struct roce_zcrx *all = qp->cold.zcrx;
	struct zcrx_slot *slot;

	if (all == NULL || !(event->flags & ROCE_EVENT_ZCRX) ||
			(event->zcrx & PLACE_MASK) >= all->max)
		return NULL;
	slot = &all->at[event->zcrx & PLACE_MASK];
	if (name_of(slot) != event->zcrx ||
			__atomic_load_n(&slot->context, __ATOMIC_RELAXED) != fold(event->wr_id))
		return NULL;
	return __atomic_exchange_n(&slot->head, NULL, __ATOMIC_ACQ_REL);
}
