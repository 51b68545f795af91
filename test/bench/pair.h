/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_BENCH_PAIR_H
#define ROCE_BENCH_PAIR_H

/**
 * @file
 * Two engines of one process, back to back: each in a domain of its own, one
 * connected queue pair at each end, the receiver on a shared receive queue. No
 * device: whoever uses it carries the frames. Memory and pool are made as the
 * provider makes them; the clock is a variable.
 */

#include <stdint.h>

#include "engine/engine.h"
#include "engine/verbs.h"

struct bench_end {
	struct roce_domain *domain;
	struct roce_engine *engine;
	struct roce_pd *pd;
	struct roce_cq *send_cq;
	struct roce_cq *recv_cq;
	struct roce_srq *srq;
	struct roce_mr *mr;
	struct roce_qp *qp;
	uint32_t key;
	uint32_t slot; /**< next buffer */
};

struct bench_pair {
	struct rte_mempool *pool;
	uint8_t *memory; /**< receive buffers from the start, send buffers from the middle */
	struct bench_end end[2];
	uint64_t now;
	uint32_t size; /**< of a message, bytes: at most one packet */
};

/** Send queue entries, receives of the SRQ. */
#define BENCH_DEPTH 512u

/** Open for messages of @p size; one at a time. */
void bench_pair_open(struct bench_pair *pair, uint32_t size);

/** Close; ends the program when a frame is missing. */
void bench_pair_close(struct bench_pair *pair);

/** Post a receive at an end. */
void bench_pair_post_recv(struct bench_pair *pair, struct bench_end *end);

/** Post a SEND at an end. @param flags ROCE_WR_*. */
void bench_pair_post_send(struct bench_pair *pair, struct bench_end *end, uint8_t flags);

/** The next send buffer, and the next receive buffer, as a piece. */
struct roce_sge bench_pair_source(struct bench_pair *pair, struct bench_end *end);
struct roce_sge bench_pair_target(struct bench_pair *pair, struct bench_end *end);

/** How the first end reaches the second. */
struct roce_path bench_pair_path(void);

/* The same in pieces, for who wants an end without its peer. */

/** PSN of the first request that the first end sends. */
#define BENCH_FIRST_PSN 0x000100u

/** Frames, as the provider's pool of one queue has them. The caller's. */
struct rte_mempool *bench_pair_pool(void);

/** A domain of one engine with the address of end @p index. It ends the program when anything rare happens. */
struct roce_domain *bench_pair_domain(struct rte_mempool *pool, unsigned int index);

/** Connect a queue pair of end @p index to number @p dest_qp of the other end. */
void bench_pair_connect(struct roce_qp *qp, unsigned int index, uint32_t dest_qp);

#endif
