/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_BENCH_STAGES_H
#define ROCE_BENCH_STAGES_H

/**
 * @file
 * The measurements of bench_stage, as rows: single stages on their own (stage.c), and
 * a whole message cut at the seams of the engine (stage_poll.c).
 */

#include "pair.h"

struct bench_row {
	const char *name;
	double ns[4]; /**< by index into bench_size */
};

#define BENCH_STAGES 10u
#define BENCH_PHASES 9u

/** Fill a column of each stage. */
void bench_stages(struct bench_row *row, unsigned int column);

/** Fill a column of each phase of a message; the last row is the sum. */
void bench_polls(struct bench_row *row, unsigned int column);

#endif
