/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WALK_TRACE_H
#define ROCE_WALK_TRACE_H

/**
 * @file
 * The last steps of the walk, and what is said when one of them was wrong.
 * One walk at a time: there is one trace.
 */

#include <stdint.h>

#include <rte_common.h>

enum walk_op {
	WALK_POST,
	WALK_ARRIVE,
	WALK_STRAY,
	WALK_REAP,
	WALK_TURN,
	WALK_QUERY,
	WALK_RESIZE,
	WALK_SET_LOW,
	WALK_SET_HIGH,
	WALK_DISCONNECT,
	WALK_RECONNECT,
	WALK_FREE,
	WALK_OPS,
};

#define TRACE_STEPS 20u
#define TRACE_ARGS  4u

struct trace_step {
	uint64_t number;
	uint32_t arg[TRACE_ARGS];
	int answer;
	uint8_t op; /**< enum walk_op */
};

struct trace {
	unsigned int engines;
	uint64_t seed;
	uint64_t steps; /**< begun */
	struct trace_step step[TRACE_STEPS];
	uint32_t at; /**< of the last one */
	uint64_t count[WALK_OPS];
};

extern struct trace trace;

/** A new walk begins. */
void trace_begin(unsigned int engines, uint64_t seed);

/** A step begins; its words are printed with the names that its kind gives them. */
static inline void
trace_step(enum walk_op op, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	struct trace_step *step;

	trace.at = trace.at + 1 < TRACE_STEPS ? trace.at + 1 : 0;
	step = &trace.step[trace.at];
	step->number = ++trace.steps;
	step->op = (uint8_t)op;
	step->arg[0] = a;
	step->arg[1] = b;
	step->arg[2] = c;
	step->arg[3] = d;
	step->answer = 0;
	trace.count[op]++;
}

/** The engine answered. */
static inline void
trace_answer(int answer)
{
	trace.step[trace.at].answer = answer;
}

/** Name of a kind of step. */
const char *trace_name(enum walk_op op);

/** Something did not hold: prints what, the last steps and the line that replays them, and ends the program. */
void __rte_noreturn trace_violated(const char *form, ...) __rte_format_printf(1, 2);

/** The engine and the model must agree on a number. */
#define TRACE_SAME(what, engine, model)                                                  \
	do {                                                                             \
		uint64_t engine_ = (uint64_t)(engine);                                   \
		uint64_t model_ = (uint64_t)(model);                                     \
                                                                                         \
		if (unlikely(engine_ != model_))                                         \
			trace_violated("%s: the engine says %lld, the model %lld", what, \
					(long long)engine_, (long long)model_);          \
	} while (0)

#endif
