/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_HELD_H
#define ROCE_QUEUE_HELD_H

/**
 * @file
 * Held frames: requests that came ahead of one that is missing, for each queue pair a list in the order of their PSNs.
 *
 * A held frame was found good, and nothing of it was executed. It is judged like any other when it is the expected one.
 * The list is linked through two fields of the mbuf that have no meaning in a received frame: tx_offload is the next
 * frame, hash.usr the PSN. So an endpoint without held frames has a few bytes for them, and memory for more is never asked for.
 *
 * Held frames are mbufs that others need, too. They are bounded for each queue pair and for each engine, and at the
 * bound a frame is dropped, as IBTA Vol 1, 9.7.5.1.4 has it. All functions: locked.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

struct roce_engine;
struct roce_qp;
struct roce_sack;

#define ROCE_HELD_QP 128u /**< frames of a queue pair: a window of this provider */
#define ROCE_HELD_ENGINE \
	4096u /**< frames of an engine, and at most its part of a quarter of the pool */

/**
 * PSNs ahead of the expected one: two windows, since READs have as many as their answers. Frames further ahead are late copies
 * from the last time that the PSNs came round, or made up: the fewer, the harder is a PSN to guess that is ever executed.
 */
#define ROCE_HELD_AHEAD 256

/** The held frames of a queue pair. */
struct roce_held {
	struct rte_mbuf *first; /**< NULL: none */
	struct rte_mbuf *last;
	uint32_t n;
	uint32_t end; /**< one behind the last PSN of the frames that are held, READs with those of their answers */
	uint32_t duplicate; /**< PSN of the last request that came twice; valid while ROCE_OWES_DUPLICATE */
};

/** How many frames engine @p e may hold at a time: a quarter of the pool, of which each engine of the domain has its part. */
uint32_t roce_held_limit(const struct roce_engine *e);

/**
 * Hold a frame with a PSN ahead of the expected one.
 *
 * @param packets PSNs that its request has: 1, of a READ those of its answer.
 * @return true: the frame is the list's. false: it stays the caller's, to be dropped: its PSN is held already, others
 *   refer to the frame, or no more may be held (counted).
 */
bool roce_held_keep(struct roce_qp *qp, struct rte_mbuf *m, uint32_t psn, uint32_t packets);

/**
 * Take the frame with the expected PSN, or one inside of the answer to a READ that came meanwhile, a duplicate.
 * @return NULL: none is held; else the frame, the caller's.
 */
struct rte_mbuf *roce_held_take(struct roce_qp *qp);

/** Which of the 128 PSNs behind the expected one are held. */
void roce_held_map(const struct roce_qp *qp, struct roce_sack *sack);

/** How far the PSN is ahead of those that are held, which end at the expected one where none are. */
int32_t roce_held_ahead(const struct roce_qp *qp, uint32_t psn);

/** Free all: the queue pair executes no request any more. */
void roce_held_drop(struct roce_qp *qp);

#endif
