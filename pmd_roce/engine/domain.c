/* SPDX-License-Identifier: BSD-3-Clause */
/* A domain and its engines: their making and their end. */

#include <errno.h>
#include <string.h>

#include "engine/engine.h"
#include "queue/domain.h"
#include "queue/extbuf.h"
#include "queue/held.h"
#include "queue/lone.h"
#include "queue/objects.h"
#include "queue/piggyback.h"
#include "queue/qp.h"
#include "queue/qp_end.h"
#include "responder/final_ack.h"
#include "responder/zcrx.h"

#define WHEEL_HZ 131072u /**< slots a second: timers are exact to about 8 us */

/* When somebody on QP 1 wants to be asked who does not say so. */
static const uint64_t always = 0;

static int
make_inbox(struct roce_domain *domain, struct roce_engine *e)
{
	ssize_t size = rte_ring_get_memsize(ROCE_INBOX_LEN);

	e->inbox = roce_alloc(domain, (size_t)size);
	if (e->inbox == NULL)
		return -ENOMEM;
	return rte_ring_init(e->inbox, "roce_inbox", ROCE_INBOX_LEN, RING_F_SC_DEQ);
}

static void
free_engine(struct roce_domain *domain, struct roce_engine *e)
{
	struct rte_mbuf *m;

	if (e == NULL)
		return;
	while (e->inbox != NULL && rte_ring_sc_dequeue(e->inbox, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	if (e->spares > 0)
		rte_pktmbuf_free_bulk(e->spare, e->spares);
	roce_extbufs_destroy(e);
	roce_wheel_destroy(e->wheel);
	roce_free(domain, e->inbox);
	roce_free(domain, e);
}

static int
make_engine(struct roce_domain *domain, unsigned int index)
{
	const struct roce_domain_config *config = &domain->config;
	struct roce_engine *e = roce_alloc(domain, sizeof(*e));
	int rc;

	if (e == NULL)
		return -ENOMEM;
	domain->engine[index] = e;
	e->domain = domain;
	e->index = index;
	e->pool = config->pool[index];
	e->held_max = roce_held_limit(e);
	rte_spinlock_init(&e->lock.spin);
	TAILQ_INIT(&e->ready);
	TAILQ_INIT(&e->delayed_acks);
	TAILQ_INIT(&e->patient_acks);
	e->quick_ticks = config->hz / 1000000 * ROCE_QUICK_US;
	e->lone_ticks = config->hz / 1000000 * ROCE_LONE_US;
	rc = make_inbox(domain, e);
	if (rc == 0 && config->extbuf.least != 0)
		rc = roce_extbufs_create(e);
	if (rc != 0)
		return rc;
	return roce_wheel_create(
			&config->memory, RTE_MAX(config->hz / WHEEL_HZ, UINT64_C(1)), 0, &e->wheel);
}

static bool
config_ok(const struct roce_domain_config *config)
{
	if (config->engines == 0 || config->engines > ROCE_ENGINES_MAX || config->hz < 1000000 ||
			config->addrs > ROCE_ADDRS_MAX || config->first_qpn > ROCE_QPN_MASK)
		return false;
	for (unsigned int i = 0; i < config->engines; i++) {
		if (config->pool[i] == NULL)
			return false;
	}
	return true;
}

int
roce_domain_create(const struct roce_domain_config *config, struct roce_domain **domain)
{
	struct roce_domain *d;
	int rc = 0;

	if (!config_ok(config))
		return -EINVAL;
	d = config->memory.alloc(config->memory.arg, sizeof(*d));
	if (d == NULL)
		return -ENOMEM;
	d->config = *config;
	d->context = (struct roce_context){
		.domain = d,
		.notify = config->notify,
		.arg = config->notify_arg,
	};
	d->gsi.at = &always;
	d->multi_engine = config->engines > 1;
	d->engine_mask = roce_engine_mask(config->engines);
	roce_keys_init(&d->keys);
	rte_spinlock_init(&d->qpn_lock);
	rte_spinlock_init(&d->srqs_lock);
	TAILQ_INIT(&d->srqs);
	d->qpn_secret = config->first_qpn != 0 ? 0 : roce_random(d) | 1;
	d->next_qpn = config->first_qpn != 0 ? config->first_qpn
					     : (uint32_t)roce_random(d) & ROCE_QPN_MASK;
	if (config->zcrx.max != 0)
		rc = roce_zcrx_budget_create(d);
	for (unsigned int i = 0; rc == 0 && i < config->engines; i++)
		rc = make_engine(d, i);
	if (rc != 0) {
		roce_domain_destroy(d);
		return rc;
	}
	*domain = d;
	return 0;
}

void
roce_domain_destroy(struct roce_domain *domain)
{
	struct roce_memory memory = domain->config.memory;

	for (unsigned int i = 0; i < domain->config.engines; i++)
		free_engine(domain, domain->engine[i]);
	roce_final_acks_drop(domain);
	roce_zcrx_budget_destroy(domain);
	roce_keys_fini(&domain->keys, &memory);
	memory.free(memory.arg, domain);
}

struct roce_context *
roce_domain_context(struct roce_domain *domain)
{
	return &domain->context;
}

unsigned int
roce_domain_engines(const struct roce_domain *domain)
{
	return domain->config.engines;
}

struct roce_engine *
roce_domain_engine(struct roce_domain *domain, unsigned int index)
{
	return index < domain->config.engines ? domain->engine[index] : NULL;
}

void
roce_domain_set_line_rate(struct roce_domain *domain, uint64_t line_rate)
{
	domain->config.line_rate = line_rate;
}

void
roce_domain_add_sleeper(struct roce_domain *domain)
{
	__atomic_fetch_add(&domain->sleepers, 1, __ATOMIC_SEQ_CST);
}

void
roce_domain_remove_sleeper(struct roce_domain *domain)
{
	__atomic_fetch_sub(&domain->sleepers, 1, __ATOMIC_RELAXED);
}

void
roce_domain_set_addrs(struct roce_domain *domain, const struct roce_ip *addr, unsigned int n)
{
	memcpy(domain->config.addr, addr, n * sizeof(addr[0]));
	domain->config.addrs = n;
}

static void
break_qp(struct roce_qp *qp)
{
	if (qp != NULL && (qp->rx.state == ROCE_QP_RTR || roce_qp_state(qp) == ROCE_QP_RTS))
		roce_qp_break(qp, IBV_WC_FATAL_ERR, false);
}

void
roce_domain_break(struct roce_domain *domain)
{
	for (uint32_t i = 0; i < ROCE_QPS_MAX; i++)
		break_qp(domain->qp[i]);
}

/*
 * Its program moved it from state to state itself, and knows a peer that has ended as one that does not answer. It may end well
 * though the peer has left first, with messages on the way that neither counts.
 */
static bool
is_left_to_retries(const struct roce_qp *qp)
{
	return qp != NULL && qp->cold.initialised && qp->cold.conn == NULL;
}

void
roce_domain_break_process(struct roce_domain *domain, uint16_t process)
{
	for (uint32_t i = 0; i < ROCE_QPS_MAX; i++) {
		if (domain->config.peer_process[i] != process)
			continue;
		if (is_left_to_retries(domain->qp[i]))
			domain->config.peer_process[i] = ROCE_NO_PROCESS;
		else
			break_qp(domain->qp[i]);
	}
}

void
roce_domain_set_gsi(struct roce_domain *domain, const struct roce_gsi *gsi)
{
	domain->gsi = *gsi;
	if (gsi->at == NULL)
		domain->gsi.at = &always;
}

const struct roce_stats *
roce_engine_stats(const struct roce_engine *e)
{
	return &e->stats;
}
