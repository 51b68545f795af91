/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_WQ_H
#define ROCE_QUEUE_WQ_H

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

#include "queue/objects.h"
#include "wire/opcode.h"

/** A request in its slot. */
struct roce_wqe {
	uint64_t wr_id;
	uint32_t length; /**< of the message, bytes */
	uint32_t imm;    /**< big endian; of a bind: the new key; of a local invalidate: the key */
	__extension__ union {
		uint32_t psn;             /**< first PSN, once it is being sent */
		uint32_t validated_epoch; /**< before that: roce_key_epoch() when its segments were validated */
	};
	uint32_t packets; /**< how many it takes, at least 1; of a bind that was executed 0 */
	uint8_t opcode;   /**< enum ibv_wr_opcode */
	uint8_t flags;    /**< ROCE_WR_* */
	uint8_t num_sge;
	uint8_t suffix; /**< enum roce_suffix */
	uint8_t verb;   /**< enum roce_verb */
	uint8_t status; /**< ROCE_WQE_EXTBUF: enum ibv_wc_status, once it has ended and its event may have to wait */
	__extension__ union {
		uint16_t access; /**< of a bind: what it grants */
		uint16_t extbuf; /**< ROCE_WQE_EXTBUF, no bind: its references (extbuf.h), counted from 1; 0: none */
	};
	/**
	 * Places: as many segments as a request of this queue may have, and behind the last one of this request, for RDMA and atomics,
	 * the peer's memory; behind that, for atomics, the operands. An inline request has no segments: its bytes stand at
	 * the end.
	 */
	struct roce_sge sge[];
};

/**
 * In flags, beside those of the poster: frames may refer to the memory of this queue pair's requests, so completions wait
 * until the device has released it (extbuf.h).
 */
#define ROCE_WQE_EXTBUF 0x80

/** Operands of an atomic; they lie where a segment would. */
struct roce_operands {
	uint64_t compare_add;
	uint64_t swap;
};

static_assert(sizeof(struct roce_operands) == sizeof(struct roce_sge),
		"operands take the place of a segment");

static_assert(sizeof(struct roce_wqe) == 32, "two segments and the request fill one cache line");

/** The parameters of a bind, in place of segments; of a local invalidate none. */
struct roce_wqe_bind {
	uint64_t addr;
	uint64_t length;
	void *owner; /**< of the window, which may be gone when the bind completes; NULL: that of the queue pair counts */
	uint32_t mr_key;
	uint32_t birth; /**< of the window: whether it still is the one that was meant */
};

static_assert(sizeof(struct roce_wqe) + sizeof(struct roce_wqe_bind) <= 64,
		"a bind fits the smallest slot");

/** Does it work on a window: a bind, or a local invalidate? Such a request takes neither a PSN nor a frame. */
static inline bool
roce_wqe_is_bind(const struct roce_wqe *wqe)
{
	return wqe->opcode == IBV_WR_BIND_MW || wqe->opcode == IBV_WR_LOCAL_INV;
}

static inline struct roce_wqe_bind *
roce_wqe_bind(const struct roce_wqe *wqe)
{
	return (struct roce_wqe_bind *)(uintptr_t)wqe->sge;
}

struct roce_wq {
	uint8_t *slots;
	uint32_t mask;
	uint8_t stride_shift; /**< log2 of the bytes of a slot */
	uint8_t flags;        /**< ROCE_WQE_* of every request */
	uint8_t places;       /**< of a slot: segments, the peer's memory, operands */
};

static inline struct roce_wqe *
roce_wq_slot(const struct roce_wq *wq, uint32_t index)
{
	return (struct roce_wqe *)(wq->slots + ((size_t)(index & wq->mask) << wq->stride_shift));
}

/** The peer's memory: addr and lkey; its length is that of the request. */
static inline struct roce_sge *
roce_wqe_remote(struct roce_wqe *wqe)
{
	return &wqe->sge[wqe->num_sge];
}

static inline struct roce_operands *
roce_wqe_operands(struct roce_wqe *wqe)
{
	return (struct roce_operands *)&wqe->sge[wqe->num_sge + 1];
}

/** The bytes of an inline request. */
static inline uint8_t *
roce_wqe_inline(struct roce_wqe *wqe)
{
	return (uint8_t *)&wqe->sge[wqe->verb == ROCE_VERB_WRITE];
}

/** Is the request answered with data: is it not done before the answer came? */
static inline bool
roce_wqe_is_read(const struct roce_wqe *wqe)
{
	return wqe->verb >= ROCE_VERB_READ;
}

struct roce_qp;

/**
 * Make the send queue of a new queue pair: with full slots, or small: without slots until the first request is posted, which
 * makes those for small requests (roce_qp_create_small()).
 * @return 0; -ENOMEM.
 */
int roce_wq_make(struct roce_qp *qp, const struct roce_qp_attr *attr, bool small);

/**
 * There is no room for @p n requests: if that is because no slots have been made yet, make small ones. By the poster, who holds
 * no lock: takes the one of the engine.
 * @return 0: to be posted again; -ENOSPC: that was not why; -EINVAL: the queue pair is in RESET; -ENOMEM: nothing has changed.
 */
int roce_wq_begin(struct roce_qp *qp, uint32_t n);

/**
 * A request was refused with -EINVAL: if that was for want of room in its slot, give all slots the room that was agreed
 * upon. By the poster, who holds no lock: takes the one of the engine.
 * @return 0: to be posted again; -EINVAL: that was not why; -ENOMEM: nothing has changed.
 */
int roce_wq_grow(struct roce_qp *qp, const struct roce_wr *wr);

#endif
