/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_SRQ_CROWD_H
#define ROCE_TEST_SRQ_CROWD_H

/**
 * @file
 * A crowd on one shared receive queue: engines that each have a thread of their own, and everybody who may call
 * beside them: posters, a consumer for each completion queue, a controller that resizes and sets the low watermark,
 * and a questioner. What is wrong is noted down; the test looks when the threads are gone.
 *
 * A frame stays on the thread that made it, is an engine's and moves under its lock, or is used once: the way of a
 * frame back through its pool is invisible to the thread sanitizer.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_pvt.h"
#include "fixture.h"
#include "wire/icrc.h"

#define ENGINES_MAX 4u
#define EPS_EACH    3u /**< queue pairs of an engine */
#define EPS_MAX     (ENGINES_MAX * EPS_EACH)
#define CQS         3u
#define POSTERS     2u
#define RECEIVES    96u
#define ROOM        512u   /**< bytes of a receive: a message of two packets */
#define MESSAGES    20000u /**< of an engine, unless the test is told another number */
#define ASTRAY_MAX  150u   /**< frames of an engine that another one receives */
#define MTU         256u
#define LOOKS       64u
#define PATIENCE    50u /**< looks at a watermark before the posters are held back for it */

/** What the payload begins with. */
struct stamp {
	uint32_t ep;
	uint32_t message;
};

struct endpoint {
	struct roce_qp *qp;
	struct roce_template template;
	struct roce_qp_connect connect;
	uint32_t index;
	uint32_t psn;
	uint32_t sent;     /**< messages that began; by the poller */
	uint32_t finished; /**< messages that were sent whole and not broken */
	uint32_t got;      /**< messages; by the consumer of its completion queue */
	uint32_t next;     /**< no message before this one may come any more */
	bool begun;        /**< the last packet of the message is missing */
};

struct scene {
	struct roce_domain *domain;
	struct roce_pd *pd;
	struct roce_mr *mr;
	struct roce_srq *srq;
	struct roce_cq *cq[CQS];
	struct endpoint ep[EPS_MAX];
	unsigned int engines;
	unsigned int eps;
	uint32_t messages; /**< that each engine sends */
	bool fed;          /**< a message is only sent when a receive was posted for it */
	bool breaks;       /**< connections are broken in the middle of messages */
	bool looked_on;    /**< others come, go and look on beside it, twice at least */
	uint8_t *memory;
	uint32_t key;
	struct rte_mbuf *once[ENGINES_MAX][ASTRAY_MAX];
	uint32_t astray[ENGINES_MAX]; /**< of them used; by the poller */

	pthread_mutex_t idle_lock;
	uint32_t idle[RECEIVES]; /**< receives that the consumer has */
	uint32_t idles;

	/* Atomic. */
	int64_t permits; /**< receives posted for which no message was sent yet */
	uint64_t posted;
	uint64_t reaped;
	uint32_t flushed;
	uint32_t rejected; /**< messages that found no receive and came again */
	uint32_t low_events;
	uint32_t lives;  /**< of queues that came and went */
	uint32_t others; /**< messages that they completed */
	uint32_t views;  /**< lists that were looked at */
	bool hold_back;  /**< posters rest */
	bool stop;       /**< posters and the controller end */
	bool dry;        /**< nothing comes any more: consumers end when they find nothing */
	const char *wrong;

	/* The controller's. */
	uint32_t max;
	uint32_t armings;
	uint32_t resizes;
};

/** Somebody on a thread of his own. */
struct actor {
	struct scene *s;
	unsigned int index;
	unsigned int seed;
};

/* What the pollers send to the crowd. */
static struct rte_mempool *pools[ENGINES_MAX];
/* What the engines answer, under their locks: a queue pair may end on any thread. */
static struct rte_mempool *answers[ENGINES_MAX];
static struct rte_mempool *once_pool;

static inline void
complain(struct scene *s, const char *what)
{
	__atomic_store_n(&s->wrong, what, __ATOMIC_RELEASE);
}

static inline bool
is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

/* The owner of a shared queue is the counter of its events. */
static inline void
notify(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	if (kind == ROCE_ENGINE_ASYNC_SRQ_LOW)
		__atomic_fetch_add((uint32_t *)owner, 1, __ATOMIC_ACQ_REL);
	else
		complain(arg, "an async event that nothing caused");
}

/* ---- posters, consumers ---- */

static inline bool
get_idle(struct scene *s, uint32_t *receive)
{
	bool some;

	pthread_mutex_lock(&s->idle_lock);
	some = s->idles > 0;
	if (some)
		*receive = s->idle[--s->idles];
	pthread_mutex_unlock(&s->idle_lock);
	return some;
}

static inline void
put_idle(struct scene *s, uint32_t receive)
{
	pthread_mutex_lock(&s->idle_lock);
	if (s->idles == RECEIVES)
		complain(s, "a receive came back twice");
	else
		s->idle[s->idles++] = receive;
	pthread_mutex_unlock(&s->idle_lock);
}

static inline void *
post(void *arg)
{
	struct scene *s = ((struct actor *)arg)->s;
	uint32_t receive;

	while (!is_set(&s->stop)) {
		struct roce_sge sge;
		struct roce_recv_wr wr = { .sg = &sge, .num_sge = 1 };

		if (is_set(&s->hold_back) || !get_idle(s, &receive)) {
			sched_yield();
			continue;
		}
		sge = (struct roce_sge){ (uintptr_t)s->memory + receive * ROOM, ROOM, s->key };
		wr.wr_id = receive;
		if (roce_srq_post(s->srq, &wr) == 0) {
			__atomic_fetch_add(&s->posted, 1, __ATOMIC_RELAXED);
			__atomic_fetch_add(&s->permits, 1, __ATOMIC_RELEASE);
		} else {
			put_idle(s, receive);
			sched_yield();
		}
	}
	return NULL;
}

/* Messages of a queue pair come once and in order; where connections break, some are missing. */
static inline void
check_message(struct scene *s, const struct roce_event *event)
{
	struct endpoint *ep = event->owner;
	struct stamp stamp;

	memcpy(&stamp, s->memory + event->wr_id * ROOM, sizeof(stamp));
	if (stamp.ep != ep->index)
		complain(s, "a message is in the receive of another queue pair");
	else if (s->breaks ? stamp.message < ep->next : stamp.message != ep->next)
		complain(s, "a message is lost, repeated or out of order");
	ep->next = stamp.message + 1;
	ep->got++;
}

static inline void
reap(struct scene *s, struct roce_cq *cq)
{
	struct roce_event events[8];
	unsigned int n = roce_cq_poll(cq, events, RTE_DIM(events));

	for (unsigned int i = 0; i < n; i++) {
		if (events[i].status == IBV_WC_SUCCESS)
			check_message(s, &events[i]);
		else if (events[i].status == IBV_WC_WR_FLUSH_ERR && s->breaks)
			__atomic_fetch_add(&s->flushed, 1, __ATOMIC_RELAXED);
		else
			complain(s, "a receive failed");
		put_idle(s, (uint32_t)events[i].wr_id);
	}
	__atomic_fetch_add(&s->reaped, n, __ATOMIC_RELAXED);
	if (n == 0)
		sched_yield();
}

static inline void *
consume(void *arg)
{
	const struct actor *a = arg;

	while (!is_set(&a->s->dry))
		reap(a->s, a->s->cq[a->index]);
	return NULL;
}

/* ---- the controller ---- */

/* An exact size, or a refusal that changes nothing: more are outstanding, or the watermark is higher. */
static inline void
resize(struct scene *s, uint32_t max)
{
	struct roce_srq_counts counts;
	int rc = roce_srq_resize(s->srq, max);

	if (rc == 0)
		s->max = max;
	else if (rc != -EBUSY || max == RECEIVES)
		complain(s, "a resize was refused without reason");
	roce_srq_query(s->srq, &counts);
	if (counts.max != s->max)
		complain(s, "the size is not the one granted last");
	s->resizes++;
}

static inline void
look(struct scene *s)
{
	struct roce_srq_counts counts;

	roce_srq_query(s->srq, &counts);
	if (counts.available > counts.outstanding || counts.outstanding > counts.max)
		complain(s, "0 <= available <= outstanding <= max does not hold");
}

/*
 * The next arming comes when the event of this one did, so that each can be counted. When the queue does not run
 * low by itself, the posters rest until it does.
 */
static inline void
set_low(struct scene *s, unsigned int *seed, unsigned int *patience)
{
	uint32_t told = __atomic_load_n(&s->low_events, __ATOMIC_ACQUIRE);

	if (told > s->armings)
		complain(s, "a second event for one arming");
	if (told < s->armings) {
		if (++*patience > PATIENCE)
			__atomic_store_n(&s->hold_back, true, __ATOMIC_RELEASE);
		return;
	}
	__atomic_store_n(&s->hold_back, false, __ATOMIC_RELEASE);
	*patience = 0;
	__atomic_store_n(&s->armings, s->armings + 1, __ATOMIC_RELEASE);
	if (roce_srq_set_low(s->srq, 1 + (uint32_t)rand_r(seed) % s->max) != 0)
		complain(s, "a low watermark was refused");
}

static inline void *
control(void *arg)
{
	struct actor *a = arg;
	unsigned int patience = 0;

	while (!is_set(&a->s->stop)) {
		uint32_t max = (uint32_t)rand_r(&a->seed) % 8 == 0
				? RECEIVES
				: 1 + (uint32_t)rand_r(&a->seed) % RECEIVES;

		resize(a->s, max);
		set_low(a->s, &a->seed, &patience);
		sched_yield();
	}
	return NULL;
}

/* Many looks in a row: a thread that is interrupted in the middle of one is what it must survive. */
static inline void *
question(void *arg)
{
	struct scene *s = ((struct actor *)arg)->s;

	while (!is_set(&s->stop)) {
		for (unsigned int i = 0; i < LOOKS; i++)
			look(s);
		sched_yield();
	}
	return NULL;
}

/* ---- pollers ---- */

static inline struct rte_mbuf *
build(struct endpoint *ep, struct rte_mbuf *m, bool last)
{
	const struct stamp stamp = { ep->index, ep->sent };
	const struct roce_frame_spec spec = {
		.psn = ep->psn,
		.opcode = roce_opcode_request(ROCE_VERB_SEND, ROCE_SUFFIX_NONE, !ep->begun, last),
		.payload_len = last ? sizeof(stamp) : MTU,
		.ack_req = last,
	};
	uint8_t *payload = roce_frame_build(m, &ep->template, &spec);

	memset(payload, 0, spec.payload_len);
	memcpy(payload, &stamp, sizeof(stamp));
	roce_icrc_put(m, &ep->template);
	return m;
}

static inline void
poll_once(struct roce_engine *e)
{
	struct rte_mbuf *m[32];
	uint16_t n;

	roce_engine_lock(e);
	(void)roce_engine_rx(e, NULL, 0, FX_HZ);
	n = roce_engine_tx(e, m, RTE_DIM(m), FX_HZ);
	rte_pktmbuf_free_bulk(m, n);
	roce_engine_unlock(e);
}

/* @return taken in; false: there was no receive for it. */
static inline bool
deliver(struct scene *s, struct roce_engine *e, struct rte_mbuf *m)
{
	const struct roce_stats *stats = roce_engine_stats(e);
	uint64_t before, after;

	roce_engine_lock(e);
	before = stats->out_of_buffer;
	if (roce_engine_rx(e, &m, 1, FX_HZ) != 0)
		complain(s, "a frame is foreign");
	after = stats->out_of_buffer;
	roce_engine_unlock(e);
	return before == after;
}

/* Another engine receives it, and hands it over; then this one takes it in. */
static inline void
deliver_astray(struct scene *s, const struct actor *a, struct rte_mbuf *m)
{
	(void)deliver(s, roce_domain_engine(s->domain, (a->index + 1) % s->engines), m);
	poll_once(roce_domain_engine(s->domain, a->index));
}

static inline bool
take_permit(struct scene *s)
{
	int64_t permits = __atomic_load_n(&s->permits, __ATOMIC_ACQUIRE);

	while (permits > 0) {
		if (__atomic_compare_exchange_n(&s->permits, &permits, permits - 1, false,
				    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return true;
	}
	return false;
}

static inline void
connect_ep(struct scene *s, struct endpoint *ep)
{
	ep->connect.rq_psn = ep->psn;
	if (roce_qp_to_rtr(ep->qp, &ep->connect) != 0 || roce_qp_to_rts(ep->qp) != 0)
		complain(s, "a queue pair does not connect");
}

/* In the middle of a message: the receive it has is flushed, and the next message begins on a new connection. */
static inline void
break_ep(struct scene *s, struct roce_engine *e, struct endpoint *ep)
{
	roce_engine_lock(e);
	roce_qp_to_error(ep->qp);
	roce_qp_to_reset(ep->qp);
	ep->psn = roce_psn_add(ep->psn, 1000);
	connect_ep(s, ep);
	roce_engine_unlock(e);
	ep->begun = false;
	ep->sent++;
}

/* One packet of one queue pair. @return false: it could not be sent now. */
static inline bool
send_packet(struct actor *a, struct endpoint *ep)
{
	struct scene *s = a->s;
	struct roce_engine *e = roce_domain_engine(s->domain, a->index);
	bool last = ep->begun || rand_r(&a->seed) % 4 != 0;
	struct rte_mbuf *m;

	if (!ep->begun && s->fed && !take_permit(s))
		return false;
	if (s->fed && s->astray[a->index] < ASTRAY_MAX && rand_r(&a->seed) % 16 == 0) {
		m = s->once[a->index][s->astray[a->index]++];
		deliver_astray(s, a, build(ep, m, last));
	} else {
		m = rte_pktmbuf_alloc(pools[a->index]);
		if (m == NULL) {
			complain(s, "frames are missing");
			return false;
		}
		if (!deliver(s, e, build(ep, m, last))) {
			__atomic_fetch_add(&s->rejected, 1, __ATOMIC_RELAXED);
			return false;
		}
	}
	ep->psn = roce_psn_add(ep->psn, 1);
	ep->begun = !last;
	ep->sent += last;
	ep->finished += last;
	return true;
}

static inline void *
poll_engine(void *arg)
{
	struct actor *a = arg;
	struct scene *s = a->s;
	struct roce_engine *e = roce_domain_engine(s->domain, a->index);
	uint32_t sent = 0;

	while (sent < s->messages && __atomic_load_n(&s->wrong, __ATOMIC_ACQUIRE) == NULL) {
		unsigned int which = (unsigned int)rand_r(&a->seed) % EPS_EACH;
		struct endpoint *ep = &s->ep[which * s->engines + a->index];
		uint32_t before = ep->finished;

		if (s->breaks && ep->begun && rand_r(&a->seed) % 4 == 0)
			break_ep(s, e, ep);
		else if (!send_packet(a, ep))
			sched_yield();
		sent += ep->finished - before;
		if (rand_r(&a->seed) % 8 == 0)
			poll_once(e);
	}
	poll_once(e);
	return NULL;
}

/* ---- the scene ---- */

/* For the frames of one thread. */
static inline struct rte_mempool *
make_pool(const char *kind, unsigned int index)
{
	char name[] = "crowd-....-0";
	struct rte_mempool *pool;

	memcpy(name + 6, kind, 4);
	name[11] = (char)('0' + index);
	pool = rte_pktmbuf_pool_create(name, 255, 0, 0, RTE_PKTMBUF_HEADROOM + 512, 0);
	assert_non_null(pool);
	return pool;
}

static inline void
make_pools(void)
{
	unit_eal();
	for (unsigned int i = 0; i < ENGINES_MAX; i++) {
		pools[i] = make_pool("turn", i);
		answers[i] = make_pool("acks", i);
	}
	once_pool = rte_pktmbuf_pool_create("crowd-once", ENGINES_MAX * ASTRAY_MAX, 0, 0,
			RTE_PKTMBUF_HEADROOM + 512, 0);
	assert_non_null(once_pool);
}

/* What a connection of this queue pair fixes, and how the frames of its peer look. */
static inline void
introduce(struct endpoint *ep)
{
	struct roce_path back;

	ep->connect = (struct roce_qp_connect){
		.path = {
			.src_ip = fx_ip(1),
			.dst_ip = fx_ip(99),
			.udp_sport = 50001,
			.ttl = 64,
			.mtu_code = roce_mtu_code(MTU),
		},
		.dest_qp = 0x777,
		.rnr_timer = 12,
	};
	back = ep->connect.path;
	back.src_ip = fx_ip(99);
	back.dst_ip = fx_ip(1);
	roce_template_init(&ep->template, &back, roce_qp_number(ep->qp), false);
	ep->psn = 0xfffffe;
}

/* Queue pair numbers go round the engines: queue pair i lives on engine i modulo engines. */
static inline void
make_ep(struct scene *s, unsigned int index)
{
	struct endpoint *ep = &s->ep[index];
	const struct roce_qp_attr attr = {
		.pd = s->pd,
		.recv_cq = s->cq[index % CQS],
		.srq = s->srq,
		.owner = ep,
	};

	assert_int_equal(roce_qp_create(&attr, &ep->qp), 0);
	assert_int_equal(roce_qp_engine(ep->qp)->index, index % s->engines);
	ep->index = index;
	introduce(ep);
	roce_engine_lock(roce_qp_engine(ep->qp));
	connect_ep(s, ep);
	roce_engine_unlock(roce_qp_engine(ep->qp));
}

static inline void
open_scene(struct scene *s)
{
	struct roce_domain_config config = {
		.engines = s->engines,
		.hz = FX_HZ,
		.seed = 1,
		.first_qpn = 0x100,
		.first_psn = UINT32_MAX,
		.addr = { fx_ip(1) },
		.addrs = 1,
		.memory = fx_memory,
		.notify = notify,
		.notify_arg = s,
	};

	memcpy(config.pool, answers, sizeof(answers));
	assert_int_equal(roce_domain_create(&config, &s->domain), 0);
	assert_int_equal(roce_pd_create(roce_domain_context(s->domain), &s->pd), 0);
	s->memory = calloc(RECEIVES, ROOM);
	assert_int_equal(roce_mr_create(s->pd, (uintptr_t)s->memory, RECEIVES * ROOM,
					 IBV_ACCESS_LOCAL_WRITE, &s->mr),
			0);
	s->key = roce_mr_key(s->mr);
	s->max = RECEIVES;
	assert_int_equal(roce_srq_create(s->pd, s->max, 1, &s->low_events, &s->srq), 0);
	for (unsigned int i = 0; i < CQS; i++)
		assert_int_equal(roce_cq_create(roce_domain_context(s->domain), RECEIVES, NULL,
						 &s->cq[i]),
				0);
	s->eps = s->engines * EPS_EACH;
	for (unsigned int i = 0; i < s->eps; i++)
		make_ep(s, i);
	for (unsigned int i = 0; i < s->engines; i++)
		assert_int_equal(rte_pktmbuf_alloc_bulk(once_pool, s->once[i], ASTRAY_MAX), 0);
	assert_int_equal(pthread_mutex_init(&s->idle_lock, NULL), 0);
	while (s->idles < RECEIVES) {
		s->idle[s->idles] = s->idles;
		s->idles++;
	}
}

static inline void
close_scene(struct scene *s)
{
	for (unsigned int i = 0; i < s->eps; i++)
		roce_qp_destroy(s->ep[i].qp);
	for (unsigned int i = 0; i < CQS; i++)
		assert_int_equal(roce_cq_destroy(s->cq[i]), 0);
	assert_int_equal(roce_srq_destroy(s->srq), 0);
	roce_mr_destroy(s->mr);
	assert_int_equal(roce_pd_destroy(s->pd), 0);
	roce_domain_destroy(s->domain);
	free(s->memory);
	assert_int_equal(fx_live(), 0);
	assert_int_equal(pthread_mutex_destroy(&s->idle_lock), 0);
	for (unsigned int i = 0; i < s->engines; i++) {
		for (uint32_t k = s->astray[i]; k < ASTRAY_MAX; k++)
			rte_pktmbuf_free(s->once[i][k]);
	}
	assert_true(rte_mempool_full(once_pool));
	for (unsigned int i = 0; i < ENGINES_MAX; i++)
		assert_true(rte_mempool_full(pools[i]) && rte_mempool_full(answers[i]));
}

#endif
