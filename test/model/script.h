/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_MODEL_SCRIPT_H
#define ROCE_MODEL_SCRIPT_H

/**
 * @file
 * The words of which threads' scripts are made, and how each call is recorded and judged.
 *
 *   post        a receive; it must be accepted
 *   trypost     a receive, where the queue may be full
 *   take0       engine 0 takes a receive, which must be there, and completes it: its event is on completion queue 0
 *   take1       engine 1, on completion queue 1 when there are two
 *   trytake0    the same, where the queue may be empty
 *   reap0       the consumer of completion queue 0 takes one event, when there is one
 *   low2        set the low watermark
 *   resize4     must be granted
 *   tryresize4  where it may be refused
 *   starve4     resize without memory: must fail and change nothing
 *   query
 *
 * and for the ends of things:
 *
 *   detach0     the last queue pair that completes on completion queue 0 is gone
 *   tryfree     destroy the shared receive queue, which may still be in use; free: which is not
 *   drop0       destroy completion queue 0
 *   guest0      another shared receive queue comes, completes on completion queue 0, and goes
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/verbs.h"
#include "scheduler.h"

#define SCRIPT_WORDS 16

/** Threads, what came before them, and the sizes of the world. */
struct script_scene {
	const char *name;
	const char *before;                /**< done before the threads start */
	const char *thread[MODEL_THREADS]; /**< NULL: no such thread */
	uint32_t max;                      /**< receives the queue holds */
	unsigned int engines;              /**< 0: one */
	unsigned int cqs;                  /**< 0: one */
	uint32_t cq_depth;                 /**< 0: 16 */
	bool lossless;                     /**< no completion queue overflows */
	bool soak;                         /**< too long for every day */
	uint32_t must_see;                 /**< SCRIPT_SAW_*: in some order each of these happens */
};

/** Outcomes of a run: a scene in which one that it must see never occurs proves less than it says. */
enum script_sight {
	SCRIPT_SAW_SILENCE = 1 << 0, /**< no async event */
	SCRIPT_SAW_EVENT = 1 << 1,   /**< one */
	SCRIPT_SAW_EVENTS = 1 << 2,  /**< more */
	SCRIPT_SAW_FULL = 1 << 3,    /**< a post was refused */
	SCRIPT_SAW_ROOM = 1 << 4,    /**< one that may be was not */
	SCRIPT_SAW_EMPTY = 1 << 5,
	SCRIPT_SAW_TAKEN = 1 << 6,   /**< a take that may fail did not */
	SCRIPT_SAW_REFUSED = 1 << 7, /**< a resize, a watermark, an end */
	SCRIPT_SAW_GRANTED = 1 << 8,
	SCRIPT_SAW_FROZEN = 1 << 9,   /**< a query stopped the takes */
	SCRIPT_SAW_GLANCED = 1 << 10, /**< and one did not have to */
};

/** One word. */
enum script_verb {
	SCRIPT_POST,
	SCRIPT_TAKE,
	SCRIPT_REAP,
	SCRIPT_LOW,
	SCRIPT_RESIZE,
	SCRIPT_STARVE,
	SCRIPT_QUERY,
	SCRIPT_DETACH,
	SCRIPT_FREE,
	SCRIPT_DROP,
	SCRIPT_GUEST,
};

struct script_word {
	enum script_verb verb;
	bool may_fail; /**< "try" stands before it */
	uint32_t number;
};

/** A call that was judged by what the world was while it lasted. */
struct script_call {
	struct script_word word;
	int rc;
	unsigned int begin; /**< moment of the world at which it was called */
	unsigned int end; /**< and at which it returned; its verdict may look at both and what lies between */
	unsigned int begin_tick;
	unsigned int end_tick; /**< ticks of the world, to compare with those of async events */
	struct roce_srq_counts counts;
};

/** SCRIPT_SAW_* of the runs since script_program(). */
extern uint32_t script_saw;

/** The scene as a program for the explorer; it stands until the next call. */
const struct model_program *script_program(const struct script_scene *scene);

/** Judge the async events of a whole run: judge.c. */
void judge_async_events(const struct script_call *low, unsigned int n);

/** Judge one call that is over: judge.c. */
void judge_call(const struct script_call *call);

#endif
