/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_POST_REQUEST_H
#define ROCE_QUEUE_POST_REQUEST_H

/**
 * @file
 * Posting a request, step by step: begin, set its operation, set its segment, publish. Each rule stands here once, for any
 * request (post.c) and for a SEND, WRITE or READ of one segment (fastpath.c), where the compiler knows the operation.
 *
 * All of it is inlined into the poster's thread. The slot is not the engine's before it is published: a refused request
 * leaves no trace.
 */

#include <errno.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "queue/keys.h"
#include "queue/post.h"
#include "queue/qp.h"
#include "queue/sge.h"

/** The properties of an opcode. */
struct roce_wr_kind {
	uint8_t verb; /**< enum roce_verb; ROCE_VERB_NONE: not served */
	uint8_t suffix;
	uint8_t access; /**< that the local segments need */
};

static const struct roce_wr_kind roce_wr_kinds[] = {
	[IBV_WR_RDMA_WRITE] = { ROCE_VERB_WRITE, ROCE_SUFFIX_NONE, 0 },
	[IBV_WR_RDMA_WRITE_WITH_IMM] = { ROCE_VERB_WRITE, ROCE_SUFFIX_IMM, 0 },
	[IBV_WR_SEND] = { ROCE_VERB_SEND, ROCE_SUFFIX_NONE, 0 },
	[IBV_WR_SEND_WITH_IMM] = { ROCE_VERB_SEND, ROCE_SUFFIX_IMM, 0 },
	[IBV_WR_RDMA_READ] = { ROCE_VERB_READ, ROCE_SUFFIX_NONE, IBV_ACCESS_LOCAL_WRITE },
	[IBV_WR_ATOMIC_CMP_AND_SWP] = { ROCE_VERB_ATOMIC_CAS, ROCE_SUFFIX_NONE,
			IBV_ACCESS_LOCAL_WRITE },
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = { ROCE_VERB_ATOMIC_FADD, ROCE_SUFFIX_NONE,
			IBV_ACCESS_LOCAL_WRITE },
	[IBV_WR_SEND_WITH_INV] = { ROCE_VERB_SEND, ROCE_SUFFIX_INVALIDATE, 0 },
};

/** Is there room for one more request? */
static inline bool
roce_qp_has_room(struct roce_qp *qp)
{
	if (likely(qp->post.head - qp->post.tail_seen < qp->post.max))
		return true;
	qp->post.tail_seen = roce_qp_done(qp);
	return qp->post.head - qp->post.tail_seen < qp->post.max;
}

/** Begin a request in the next slot. @return 0; -ENOSPC; -EINVAL: the queue pair is in RESET. */
static __rte_always_inline int
roce_qp_begin_request(struct roce_qp *qp, struct roce_wqe *wqe)
{
	if (unlikely(!roce_qp_has_room(qp)))
		return -ENOSPC;
	if (unlikely(!__atomic_load_n(&qp->post.connected, __ATOMIC_ACQUIRE)))
		return -EINVAL;
	/* Read before any key: if a region ends later, the request is validated again when it is sent. */
	wqe->validated_epoch = roce_key_epoch(qp->post.keys);
	return 0;
}

/** @param imm of the work request. */
static __rte_always_inline void
roce_wqe_set_kind(struct roce_wqe *wqe, const struct roce_wr_kind *kind, uint32_t imm)
{
	wqe->imm = imm;
	wqe->verb = kind->verb;
	wqe->suffix = kind->suffix;
}

/** The only segment of the request. @return 0; as roce_keys_check(); -EMSGSIZE. */
static __rte_always_inline int
roce_qp_set_segment(struct roce_qp *qp, struct roce_wqe *wqe, const struct roce_sge *sge,
		unsigned int access)
{
	uint64_t addr;
	int rc = roce_keys_check_recent(
			qp->post.keys, qp->post.pd, sge, access, &qp->post.recent, &addr);

	if (unlikely(rc != 0))
		return rc;
	if (unlikely(sge->length > ROCE_MSG_MAX))
		return -EMSGSIZE;
	roce_sge_set(wqe->sge, sge, addr);
	wqe->length = sge->length;
	wqe->num_sge = 1;
	return 0;
}

/**
 * READs and atomics are agreed upon by the two ends. In error a queue pair flushes them, even if it never had another end.
 * @param wqe with its segments. @return 0; -ENOSPC: none may be outstanding; -EMSGSIZE: a READ of too many packets.
 */
static __rte_always_inline int
roce_qp_judge_read(const struct roce_qp *qp, const struct roce_wqe *wqe)
{
	if (likely(qp->post.max_rd_atomic > 0 && wqe->length <= qp->post.max_read))
		return 0;
	if (__atomic_load_n(&qp->rx.state, __ATOMIC_RELAXED) == ROCE_QP_ERR)
		return 0;
	return qp->post.max_rd_atomic == 0 ? -ENOSPC : -EMSGSIZE;
}

/** Set the fields that every request has. @param flags ROCE_WR_*. */
static __rte_always_inline void
roce_wqe_complete(const struct roce_qp *qp, struct roce_wqe *wqe, uint64_t wr_id, uint8_t opcode,
		uint8_t flags)
{
	wqe->wr_id = wr_id;
	wqe->opcode = opcode;
	wqe->flags = (uint8_t)((flags & ~ROCE_WQE_EXTBUF) | qp->post.wq.flags);
}

/** The request is complete: the engine may have it. @param flags ROCE_WR_*. */
static __rte_always_inline void
roce_qp_publish_request(struct roce_qp *qp, struct roce_wqe *wqe, uint64_t wr_id, uint8_t opcode,
		uint8_t flags)
{
	roce_wqe_complete(qp, wqe, wr_id, opcode, flags);
	__atomic_store_n(&qp->post.head, qp->post.head + 1, __ATOMIC_RELEASE);
	roce_qp_ring(qp);
}

#endif
