/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's objects: birth, death, memory. The traffic between them is in flow.c. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/cq.h"
#include "queue/srq.h"
#include "ground.h"
#include "unit.h"

#define HZ        UINT64_C(1000000000)
#define FRAMES    2047u
#define DATA_ROOM (RTE_PKTMBUF_HEADROOM + 512)

static struct rte_mempool *pool;
static int64_t live;
static uint32_t fail_in;
static bool failed;

static void *
count_alloc(void *arg, size_t size)
{
	size_t rounded = RTE_ALIGN_CEIL(size, (size_t)RTE_CACHE_LINE_SIZE);
	void *p;

	if (fail_in > 0 && --fail_in == 0) {
		failed = true;
		return NULL;
	}
	p = aligned_alloc(RTE_CACHE_LINE_SIZE, rounded);
	if (p == NULL)
		abort();
	live++;
	return memset(p, 0, rounded);
}

static void
count_free(void *arg, void *p)
{
	if (p != NULL)
		live--;
	free(p);
}

void
ground_fail(uint32_t nth)
{
	fail_in = nth;
	failed = false;
}

bool
ground_failed(void)
{
	fail_in = 0;
	return failed;
}

static void *
owner_of(uint64_t name)
{
	return (void *)(uintptr_t)name;
}

/* ---- async events ---- */

static void
make_ready(struct ground *g, uint64_t name)
{
	for (unsigned int i = 0; i < g->qps; i++) {
		if (g->model.qp[i].name == name)
			TRACE_SAME("to RTS", roce_qp_to_rts(g->qp[i]), 0);
	}
}

/* Each must be the next one of those that the model wants, and come when it wants it. */
static void
notify(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	struct ground *g = arg;
	const struct model_async_event *want = &g->model.async_event[g->heard];
	uint64_t name = (uintptr_t)owner;

	if (g->heard == g->model.async_events)
		trace_violated("an async event that nothing caused: kind %d of object %llu",
				(int)kind, (unsigned long long)name);
	if (kind != want->kind || name != want->owner || status != want->status)
		trace_violated("async event of kind %d of object %llu with status %d, due is kind %u of "
			       "object %llu with status %d",
				(int)kind, (unsigned long long)name, status, want->kind,
				(unsigned long long)want->owner, want->status);
	if (want->cq != MODEL_NONE)
		TRACE_SAME("events waiting when the async event came",
				roce_cq_count(g->cq[want->cq]), want->waiting);
	g->heard++;
	if (kind == ROCE_ENGINE_ASYNC_QP_ESTABLISHED)
		make_ready(g, name);
}

/* ---- objects ---- */

/*
 * The counters of a queue wrap after 2^32 receives, which no walk lives to see: half of the queues are born shortly
 * before. The only place where the walk reaches into the engine.
 */
static uint32_t
birthday(struct ground *g)
{
	return ground_chance(g, 2) ? 0 : 0 - ground_draw(g, 4096);
}

static void
age_srq(struct ground *g, struct roce_srq *srq)
{
	uint32_t age = birthday(g);

	srq->posted = age;
	srq->taken = age;
	srq->reaped_seen = age;
	srq->reaped_silent = age;
}

static void
age_cq(struct ground *g, struct roce_cq *cq)
{
	uint32_t age = birthday(g);

	cq->head = age;
	cq->tail = age;
	cq->head_seen = age;
	cq->tail_seen = age;
}

bool
ground_srq_make(struct ground *g, uint16_t srq, uint32_t max, uint32_t failing)
{
	uint32_t max_sge = 1 + ground_draw(g, 3);
	int rc;

	ground_fail(failing);
	rc = roce_srq_create(g->pd[0], max, max_sge, owner_of(g->model.names + 1), &g->srq[srq]);
	TRACE_SAME("srq create", rc, ground_failed() ? -ENOMEM : 0);
	trace_answer(rc);
	if (rc != 0)
		return false;
	age_srq(g, g->srq[srq]);
	model_srq_make(&g->model, srq, max, max_sge);
	g->srq_id[srq] = g->srqs_made++;
	return true;
}

void
ground_srq_end(struct ground *g, uint16_t srq)
{
	int rc = roce_srq_destroy(g->srq[srq]);

	TRACE_SAME("srq destroy", rc, model_srq_end(&g->model, srq));
	trace_answer(rc);
}

bool
ground_cq_make(struct ground *g, uint16_t cq, uint32_t depth, uint32_t failing)
{
	int rc;

	ground_fail(failing);
	rc = roce_cq_create(roce_domain_context(g->domain), depth, owner_of(g->model.names + 1),
			&g->cq[cq]);
	TRACE_SAME("cq create", rc, ground_failed() ? -ENOMEM : 0);
	trace_answer(rc);
	if (rc != 0)
		return false;
	age_cq(g, g->cq[cq]);
	model_cq_make(&g->model, cq, depth);
	return true;
}

void
ground_cq_end(struct ground *g, uint16_t cq)
{
	int rc = roce_cq_destroy(g->cq[cq]);

	TRACE_SAME("cq destroy", rc, model_cq_end(&g->model, cq));
	trace_answer(rc);
}

static struct roce_path
path_to(uint8_t src, uint8_t dst)
{
	return (struct roce_path){
		.src_mac = { { 2, 0, 0, 0, 0, src } },
		.dst_mac = { { 2, 0, 0, 0, 0, dst } },
		.src_ip = roce_ip_from_v4(rte_cpu_to_be_32(0xc0000200u | src)),
		.dst_ip = roce_ip_from_v4(rte_cpu_to_be_32(0xc0000200u | dst)),
		.udp_sport = 50001,
		.ttl = 64,
		.mtu_code = roce_mtu_code(MODEL_MTU),
	};
}

bool
ground_qp_make(struct ground *g, uint16_t qp, uint16_t srq, uint16_t cq, uint32_t failing)
{
	struct roce_qp_attr attr = {
		.pd = g->pd[ground_draw(g, 2)],
		.recv_cq = cq != MODEL_NONE ? g->cq[cq] : NULL,
		.srq = g->srq[srq],
		.max_send_wr = 1,
		.max_recv_wr = ground_draw(g, 1000),
		.max_send_sge = 1,
		.owner = owner_of(g->model.names + 1),
	};
	struct roce_path back = path_to(2, 1);
	int rc;

	ground_fail(failing);
	rc = roce_qp_create(&attr, &g->qp[qp]);
	TRACE_SAME("qp create", rc, ground_failed() ? -ENOMEM : 0);
	trace_answer(rc);
	if (rc != 0)
		return false;
	model_qp_make(&g->model, qp, srq, cq);
	g->sender[qp] = (struct ground_sender){ 0 };
	roce_template_init(&g->sender[qp].template, &back, roce_qp_number(g->qp[qp]), false);
	return true;
}

void
ground_qp_end(struct ground *g, uint16_t qp)
{
	model_qp_end(&g->model, qp);
	roce_qp_destroy(g->qp[qp]);
}

void
ground_connect(struct ground *g, uint16_t qp, uint32_t psn, bool ready)
{
	const struct roce_qp_connect connect = {
		.path = path_to(1, 2),
		.dest_qp = 0x777,
		.rq_psn = psn,
		.sq_psn = 0x100,
		.retry = 7,
		.rnr_retry = 7,
		.rnr_timer = 12,
		.ack_timeout = 14,
	};
	struct roce_engine *e = roce_qp_engine(g->qp[qp]);

	model_connect(&g->model, qp, psn, ready);
	roce_engine_lock(e);
	TRACE_SAME("to RTR", roce_qp_to_rtr(g->qp[qp], &connect), 0);
	if (ready)
		TRACE_SAME("to RTS", roce_qp_to_rts(g->qp[qp]), 0);
	roce_engine_unlock(e);
}

/* ---- the whole ---- */

static void
must(int rc, const char *what)
{
	if (rc == 0)
		return;
	fprintf(stderr, "walk: no %s: %s\n", what, strerror(-rc));
	exit(2);
}

void
ground_prepare(void)
{
	unit_eal();
	pool = rte_pktmbuf_pool_create("walk", FRAMES, 250, 0, DATA_ROOM, 0);
	must(pool != NULL ? 0 : -ENOMEM, "frame pool");
}

struct rte_mbuf *
ground_frame(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (unlikely(m == NULL))
		trace_violated("the engine keeps all the frames");
	return m;
}

static void
open_domain(struct ground *g, uint64_t seed)
{
	struct roce_domain_config config = {
		.engines = g->engines,
		.hz = HZ,
		.seed = seed,
		.first_qpn = 0x100,
		.first_psn = UINT32_MAX,
		.addr = { path_to(1, 2).src_ip },
		.addrs = 1,
		.memory = { count_alloc, count_free, NULL },
		.notify = notify,
		.notify_arg = g,
	};

	for (unsigned int i = 0; i < g->engines; i++)
		config.pool[i] = pool;
	must(roce_domain_create(&config, &g->domain), "domain");
	for (unsigned int i = 0; i < g->engines; i++) {
		g->engine[i] = roce_domain_engine(g->domain, i);
		/* The model has no bound on packets that came too early. */
		g->engine[i]->held_max = FRAMES / 2;
	}
	must(roce_pd_create(roce_domain_context(g->domain), &g->pd[0]), "protection domain");
	must(roce_pd_create(roce_domain_context(g->domain), &g->pd[1]), "protection domain");
	must(roce_mr_create(g->pd[0], (uintptr_t)g->memory,
			     (uint64_t)MODEL_RECEIVES * GROUND_RECEIVE, IBV_ACCESS_LOCAL_WRITE,
			     &g->mr),
			"memory region");
	g->key = roce_mr_key(g->mr);
}

void
ground_open(struct ground *g, unsigned int engines, uint64_t seed)
{
	*g = (struct ground){ .engines = engines, .random = seed * 0x9e3779b97f4a7c15ull };
	model_init(&g->model);
	for (int i = 0; i < 4; i++)
		(void)ground_random(g);
	g->now = HZ;
	g->memory = calloc(MODEL_RECEIVES, GROUND_RECEIVE);
	must(g->memory != NULL ? 0 : -ENOMEM, "memory");
	open_domain(g, seed);
	g->srqs = (uint16_t)(1 + ground_draw(g, MODEL_SRQS));
	g->cqs = (uint16_t)(1 + ground_draw(g, MODEL_CQS));
	g->qps = (uint16_t)(engines + ground_draw(g, MODEL_QPS - engines + 1));
	for (uint16_t i = 0; i < g->srqs; i++)
		(void)ground_srq_make(g, i, 1 + ground_draw(g, 64), 0);
	for (uint16_t i = 0; i < g->cqs; i++)
		(void)ground_cq_make(g, i, 64 + ground_draw(g, MODEL_EVENTS - 63), 0);
	for (uint16_t i = 0; i < g->qps; i++) {
		(void)ground_qp_make(g, i, (uint16_t)ground_draw(g, g->srqs),
				(uint16_t)ground_draw(g, g->cqs), 0);
		ground_connect(g, i, ground_draw(g, 1u << 24), true);
	}
}

static void
end_objects(struct ground *g)
{
	for (uint16_t i = 0; i < g->qps; i++) {
		if (g->model.qp[i].name != 0)
			ground_qp_end(g, i);
	}
	ground_audit(g, true);
	for (uint16_t i = 0; i < g->cqs; i++) {
		if (g->model.cq[i].name == 0)
			continue;
		ground_reap(g, i, MODEL_EVENTS);
		ground_cq_end(g, i);
	}
	for (uint16_t i = 0; i < g->srqs; i++) {
		if (g->model.srq[i].name == 0)
			continue;
		/* No queue pair holds a receive and no completion waits: all that were not reaped are here. */
		TRACE_SAME("posted and not back", model_outstanding(&g->model.srq[i]),
				g->model.srq[i].queued);
		ground_query(g, i);
		ground_srq_end(g, i);
	}
	TRACE_SAME("receives that came home", g->model.idles, MODEL_RECEIVES);
}

void
ground_close(struct ground *g)
{
	for (unsigned int i = 0; i < g->engines; i++)
		ground_poll(g, i);
	ground_audit(g, true);
	end_objects(g);
	ground_all_heard(g);
	roce_mr_destroy(g->mr);
	TRACE_SAME("end of a protection domain", roce_pd_destroy(g->pd[0]), 0);
	TRACE_SAME("end of a protection domain", roce_pd_destroy(g->pd[1]), 0);
	roce_domain_destroy(g->domain);
	free(g->memory);
	TRACE_SAME("allocations that stay", live, 0);
	TRACE_SAME("frames that came home", rte_mempool_avail_count(pool), FRAMES);
}
