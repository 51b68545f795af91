/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ENGINE_SNAPSHOT_H
#define ROCE_ENGINE_SNAPSHOT_H

/**
 * @file
 * The objects of a domain as telemetry sees them.
 *
 * Any thread that holds no lock may ask while everything else goes on, objects
 * are made and end included. The answers about different objects are of
 * different moments.
 */

#include "engine/engine.h"
#include "queue/objects.h"

#define ROCE_NO_SRQ UINT32_MAX

struct roce_srq_snapshot {
	uint32_t id; /**< number among the domain's shared receive queues, never used again */
	uint32_t low_watermark_events;
	uint64_t empty; /**< times a queue pair found no receive on it */
	struct roce_srq_counts counts;
	const void *descriptors; /**< to ask where they lie, never to read: a resize replaces them */
};

struct roce_qp_snapshot {
	uint32_t number;
	uint32_t srq;      /**< roce_srq_snapshot.id; ROCE_NO_SRQ: a receive queue of its own */
	uint32_t requests; /**< unfinished */
	uint32_t posted;   /**< requests posted since it was made, modulo 2^32 */
	uint32_t completed; /**< of them finished, modulo 2^32: in order, so the others are the newest */
	uint32_t received;  /**< messages of the peer executed since RESET, modulo 2^24 */
	uint32_t held;      /**< receives that it has and that are not completed */
	uint32_t taken;     /**< receives it ever took, modulo 2^32 */
	uint32_t soft_high; /**< high watermarks; ROCE_HIGH_NONE */
	uint32_t hard_high;
	unsigned int engine;
	enum roce_qp_state state;
};

typedef void (*roce_srq_snapshot_fn)(void *arg, const struct roce_srq_snapshot *srq);
typedef void (*roce_qp_snapshot_fn)(void *arg, const struct roce_qp_snapshot *qp);

/** Tell of every shared receive queue, oldest first. @p fn runs under a lock: it may only record. */
void roce_domain_each_srq(struct roce_domain *domain, roce_srq_snapshot_fn fn, void *arg);

/** Tell of every queue pair, engine by engine. @p fn runs under that engine's lock: it may only record. */
void roce_domain_each_qp(struct roce_domain *domain, roce_qp_snapshot_fn fn, void *arg);

#endif
