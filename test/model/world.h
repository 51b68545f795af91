/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_MODEL_WORLD_H
#define ROCE_MODEL_WORLD_H

/**
 * @file
 * The world of a run: a domain with one or two engines, a shared receive queue, one or two completion queues, and
 * what a god sees of them: the state of the queue after every step, and the receives in the order of their posting.
 */

#include <stdbool.h>
#include <stdint.h>

#include "queue/cq.h"
#include "queue/srq.h"
#include "scheduler.h"

#define WORLD_CQS          2
#define WORLD_MOMENTS      128
#define WORLD_POSTS        64
#define WORLD_ASYNC_EVENTS 16
#define WORLD_SEGMENT      64u /**< bytes of a receive */

/** Virtual objects of model_op. */
enum {
	WORLD_HISTORY = 1,
	WORLD_DELIVERED = 2
};

struct world_options {
	unsigned int engines;
	unsigned int cqs;
	uint32_t max;
	uint32_t cq_depth;
	bool whole; /**< verdicts depend on more than posted and taken */
};

/** The queue at one moment. */
struct world_state {
	uint32_t posted;
	uint32_t taken;
	uint32_t reaped;
	uint32_t max;
	uint32_t low;
	uint32_t armed; /**< 0 or 1 */
};

struct world_async_event {
	unsigned int moment;
	unsigned int tick;
};

struct world {
	struct roce_domain *domain;
	struct roce_pd *pd;
	bool armed; /**< a completion queue may be armed: then these are called */
	void (*delivered)(void *owner, int n);
	void (*wake)(void *arg);
	unsigned int blocks; /**< of memory, before there was anything but the domain */
	struct roce_srq *srq;
	unsigned int cqs;
	struct roce_cq *cq[WORLD_CQS];
	struct roce_srq_reap_counter *counter[WORLD_CQS];
	uint32_t pushed[WORLD_CQS]; /**< events of the queue */
	/** states[moments - 1] is the present. A moment is added by each step that changes anything. */
	unsigned int moments;
	struct world_state states[WORLD_MOMENTS];
	unsigned int ticks; /**< counts what calls and async events report, so that they have an order */
	unsigned int async_events;
	struct world_async_event async_event[WORLD_ASYNC_EVENTS];
	uint64_t post_order[WORLD_POSTS]; /**< wr_id of every receive ever posted */
	uint64_t posting[MODEL_THREADS];  /**< wr_id that each thread is about to post */
	uint32_t took[MODEL_THREADS];     /**< number of the receive that each thread took last */
	bool locked[MODEL_THREADS]; /**< each thread locked an engine since this was last cleared */
	bool ending;                /**< a script began to end or detach something */
	bool srq_ended;
	bool cq_ended[WORLD_CQS];
	bool detached[WORLD_CQS];
};

extern struct world world;

/** Make everything. No thread runs. */
void world_make(const struct world_options *options);

/** A step of thread @p self is over, or a call made while no thread runs: record what changed. */
void world_observe(unsigned int self);

/** End what is there: fails the run when something is left. */
void world_end(void);

/** roce_srq_take(), whose steps are seen (take.c). */
bool model_take(struct roce_srq *srq, struct roce_recv *recv);

static inline const struct world_state *
world_now(void)
{
	return &world.states[world.moments - 1];
}

static inline uint32_t
world_available(const struct world_state *s)
{
	return s->posted - s->taken;
}

static inline uint32_t
world_outstanding(const struct world_state *s)
{
	return s->posted - s->reaped;
}

#endif
