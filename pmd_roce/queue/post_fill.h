/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_POST_FILL_H
#define ROCE_QUEUE_POST_FILL_H

/**
 * @file
 * Filling the slot of any request: for one that is posted alone (post.c), and for those of a list (post_list.c). Each has a copy
 * of its own, so that the compiler inlines the former whole.
 */

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_common.h>

#include "queue/mw.h"
#include "queue/post_request.h"
#include "queue/sge.h"

static inline int
copy_segments(struct roce_qp *qp, const struct roce_wr *wr, struct roce_wqe *wqe,
		unsigned int access)
{
	uint64_t length = 0;

	if (unlikely(wr->num_sge > qp->post.max_sge))
		return -EINVAL;
	if (likely(wr->num_sge == 1))
		return roce_qp_set_segment(qp, wqe, wr->sg, access);
	for (uint32_t i = 0; i < wr->num_sge; i++) {
		uint64_t addr;
		int rc = roce_keys_translate(qp->post.keys, qp->post.pd, &wr->sg[i], access, &addr);

		if (unlikely(rc != 0))
			return rc;
		length += wr->sg[i].length;
		roce_sge_set(&wqe->sge[i], &wr->sg[i], addr);
	}
	if (unlikely(length > ROCE_MSG_MAX))
		return -EMSGSIZE;
	wqe->length = (uint32_t)length;
	wqe->num_sge = (uint8_t)wr->num_sge;
	return 0;
}

/* The bytes themselves. For a WRITE the peer's memory comes first, where it is without segments. */
static __rte_noinline int
copy_inline(const struct roce_qp *qp, const struct roce_wr *wr, struct roce_wqe *wqe)
{
	uint8_t *at = roce_wqe_inline(wqe);
	uint64_t length = 0;

	if (wr->num_sge > qp->cold.max_sge || wqe->verb > ROCE_VERB_WRITE)
		return -EINVAL;
	for (uint32_t i = 0; i < wr->num_sge; i++)
		length += wr->sg[i].length;
	if (length > qp->post.max_inline)
		return -EMSGSIZE;
	for (uint32_t i = 0; i < wr->num_sge; i++) {
		memcpy(at, (const void *)(uintptr_t)wr->sg[i].addr, wr->sg[i].length);
		at += wr->sg[i].length;
	}
	wqe->length = (uint32_t)length;
	wqe->num_sge = 0;
	return 0;
}

/* Requests that are no messages. */
static __rte_noinline int
prepare_other(struct roce_qp *qp, const struct roce_wr *wr, struct roce_wqe *wqe)
{
	int rc;

	if (wr->opcode == IBV_WR_LOCAL_INV) {
		roce_mw_fill_invalidate(rte_be_to_cpu_32(wr->imm), wqe);
	} else if (wr->opcode == IBV_WR_BIND_MW) {
		rc = roce_mw_judge(qp, wr->bind);
		if (rc != 0)
			return rc;
		roce_mw_fill(wr->bind, wqe);
	} else {
		return -EOPNOTSUPP;
	}
	/* The engine learns of it no later than of the slot. */
	__atomic_store_n(&qp->post.one_by_one, true, __ATOMIC_RELAXED);
	return 0;
}

/* Where the peer's memory is, and what an atomic does with it. */
static __rte_noinline int
copy_remote(const struct roce_qp *qp, const struct roce_wr *wr, struct roce_wqe *wqe)
{
	bool atomic = wqe->verb > ROCE_VERB_READ;
	int rc = roce_wqe_is_read(wqe) ? roce_qp_judge_read(qp, wqe) : 0;

	if (rc != 0)
		return rc;
	if (atomic &&
			(!qp->post.atomics || wqe->num_sge != 1 ||
					wqe->length != sizeof(uint64_t) ||
					wr->remote_addr % 8 != 0))
		return -EINVAL;
	if (unlikely(wqe->num_sge + 1u + atomic > qp->post.wq.places))
		return -EINVAL;
	*roce_wqe_remote(wqe) = (struct roce_sge){ .addr = wr->remote_addr, .lkey = wr->rkey };
	if (atomic)
		*roce_wqe_operands(wqe) = (struct roce_operands){ .compare_add = wr->compare_add,
			.swap = wr->swap };
	return 0;
}

/**
 * Validate a request and fill its slot. @return 0, as roce_qp_post_send(), or -EINVAL also where the slot is too small.
 */
static inline int
roce_wqe_fill(struct roce_qp *qp, const struct roce_wr *wr, struct roce_wqe *wqe)
{
	const struct roce_wr_kind *kind;
	int rc;

	if (unlikely(wr->opcode >= RTE_DIM(roce_wr_kinds) ||
			    roce_wr_kinds[wr->opcode].verb == ROCE_VERB_NONE))
		return prepare_other(qp, wr, wqe);
	kind = &roce_wr_kinds[wr->opcode];
	roce_wqe_set_kind(wqe, kind, wr->imm);
	rc = likely(!(wr->flags & ROCE_WR_INLINE)) ? copy_segments(qp, wr, wqe, kind->access)
						   : copy_inline(qp, wr, wqe);
	if (unlikely(rc != 0))
		return rc;
	return likely(kind->verb == ROCE_VERB_SEND) ? 0 : copy_remote(qp, wr, wqe);
}

#endif
