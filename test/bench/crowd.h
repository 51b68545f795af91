/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_BENCH_CROWD_H
#define ROCE_BENCH_CROWD_H

/**
 * @file
 * A receiver with a crowd of queue pairs, on one shared receive queue or each with
 * a queue of its own, and no sender: the frames are made here, and making them is
 * not measured.
 *
 * The receiver's whole poll for a burst is measured: the engine hears the
 * frames (parse, ICRC, take, copy, complete, free) and speaks the acknowledgements,
 * then the consumer takes each event and posts its buffer again. The frames of a
 * burst are for as many different queue pairs as there are, in turn, and every
 * queue pair is asked for an acknowledgement with every 32nd frame, as a busy
 * sender asks.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bench.h"
#include "pair.h"

/** Frames and buffers, which crowds share so that they differ only in their shapes. */
struct bench_ground {
	struct rte_mempool *pool;
	uint8_t *memory;
};

struct bench_crowd {
	struct roce_domain *domain;
	struct roce_engine *engine;
	struct roce_pd *pd;
	struct roce_cq *cq;
	struct roce_srq *srq; /**< NULL: every queue pair has its own receive queue */
	struct roce_mr *mr;
	struct roce_qp **qp;
	struct rte_mempool *pool;
	uint8_t *memory;
	uint32_t qps;
	uint32_t depth; /**< receives of all queues together */
	uint32_t size;  /**< of a message, bytes */
	uint32_t key;
	uint32_t first_qpn;
	uint32_t next; /**< queue pair that the next frame is for */
	uint32_t psn;  /**< of its next frame, and of all behind it */
	uint32_t slot; /**< next buffer */
	uint64_t now;
	struct roce_template template;
};

/** How a crowd is made. */
struct bench_crowd_shape {
	uint32_t qps;   /**< a power of two */
	uint32_t depth; /**< receives of all queues together: a multiple of qps without SRQ */
	uint32_t size;  /**< of a message, bytes: at most one packet */
	bool own;       /**< no SRQ */
};

/** Open what crowds share, once. */
void bench_ground_open(struct bench_ground *ground);

/** Free it; ends the program when a frame is missing. */
void bench_ground_close(struct bench_ground *ground);

/** Connected, with all receives posted. */
void bench_crowd_open(struct bench_crowd *c, const struct bench_ground *ground,
		const struct bench_crowd_shape *shape);

void bench_crowd_close(struct bench_crowd *c);

/** Work that bench_crowd_measure() does now and then inside the measured time. */
struct bench_pace {
	void (*work)(struct bench_crowd *c, unsigned int done);
	uint64_t every_ns; /**< of measured time */
	unsigned int done; /**< times it happened so far */
};

/**
 * Receive for a while.
 *
 * A burst that took so long that the processor must have been somewhere else is not counted; when it was one in
 * which @p pace had its turn, that is made up for with the next.
 *
 * @param ns   measured time; making the frames takes about as long again.
 * @param pace NULL: nothing happens besides.
 * @return nanoseconds a message: the mean.
 */
double bench_crowd_measure(struct bench_crowd *c, uint64_t ns, struct bench_pace *pace);

/**
 * The same without frames: take, complete, reap and post only, by direct calls, on a crowd with an SRQ.
 * @return nanoseconds a message: the mean.
 */
double bench_crowd_measure_queue(struct bench_crowd *c, uint64_t ns);

#endif
