/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_SRQ_CROWD_H
#define ROCE_TEST_SRQ_CROWD_H

/**
 * @file
 * A crowd on one shared receive queue, and those of it that call beside the engines: posters, a consumer for each
 * completion queue, a controller that resizes and sets the low watermark, and a questioner. An error is noted down; the
 * test looks when the threads are gone. The engines and the scene: srq_crowd_scene.h.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "queue/domain.h"
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

#endif
