/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ENGINE_WQ_H
#define ROCE_ENGINE_WQ_H

/**
 * @file
 * The send queue: a ring of requests with three free-running cursors,
 *
 *   tail <= next <= head       (modulo 2^32)
 *
 * [tail, next) sent and not acknowledged, [next, head) posted and not sent. The
 * poster writes head, the engine the other two. A request stays in its slot
 * until it is acknowledged: it is the retransmit buffer.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/verbs.h"

/** A request in its slot. */
struct roce_wqe {
	uint64_t wr_id;
	uint32_t length;  /**< of the message, bytes */
	uint32_t imm;     /**< big endian */
	uint32_t psn;     /**< first PSN, once it is being sent */
	uint32_t packets; /**< how many it takes, at least 1 */
	uint8_t opcode;   /**< enum ibv_wr_opcode */
	uint8_t flags;    /**< ROCE_WR_* */
	uint8_t num_sge;
	uint8_t suffix; /**< enum roce_suffix */
	uint8_t verb;   /**< enum roce_verb */
	uint8_t reserved[3];
	struct roce_sge sge[]; /**< as many as the queue pair may post */
};

static_assert(sizeof(struct roce_wqe) == 32, "two pieces and the request fill one cache line");

struct roce_wq {
	uint8_t *slots;
	uint32_t mask;
	uint32_t stride_shift; /**< log2 of the bytes of a slot */
};

static inline struct roce_wqe *
roce_wq_slot(const struct roce_wq *wq, uint32_t index)
{
	return (struct roce_wqe *)(wq->slots + ((size_t)(index & wq->mask) << wq->stride_shift));
}

#endif
