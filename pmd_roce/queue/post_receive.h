/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_POST_RECEIVE_H
#define ROCE_QUEUE_POST_RECEIVE_H

/**
 * @file
 * Posting a receive: each rule stands here once, for any receive (srq.c) and for the one of a single segment that the owner
 * of post_lock posts (fastpath.c). Everything is under post_lock, and inlined.
 */

#include <errno.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "queue/keys.h"
#include "queue/sge.h"
#include "queue/srq.h"

/**
 * Begin a receive, before any key is read. If a region has ended since the last post, receives that were validated before
 * are validated again when data arrives (roce_srq_is_valid()).
 */
static __rte_always_inline void
roce_srq_begin_receive(struct roce_srq *srq)
{
	uint32_t epoch = roce_key_epoch(&srq->domain->keys);

	if (likely(epoch == srq->validated_epoch))
		return;
	__atomic_store_n(&srq->valid_from, srq->posted, __ATOMIC_RELAXED);
	__atomic_store_n(&srq->validated_epoch, epoch, __ATOMIC_RELEASE);
}

/** Bytes that a receive of so many has: no message is longer. */
static __rte_always_inline uint32_t
roce_recv_length(uint64_t bytes)
{
	return (uint32_t)RTE_MIN(bytes, (uint64_t)ROCE_MSG_MAX);
}

/** The segments of the next slot are set: the queue pairs may have it. @param flags ROCE_WR_*. */
static __rte_always_inline void
roce_srq_publish_receive(struct roce_srq *srq, uint64_t wr_id, uint32_t length, uint32_t num_sge,
		uint32_t flags)
{
	struct roce_rwqe *slot = roce_srq_slot(srq, srq->posted);

	slot->wr_id = wr_id;
	slot->length = length;
	slot->num_sge = (uint16_t)num_sge;
	slot->flags = (uint16_t)(flags & (ROCE_WR_QUIET | ROCE_WR_ZCRX));
	__atomic_store_n(&srq->posted, srq->posted + 1, __ATOMIC_RELEASE);
}

/**
 * Post a receive of one segment. @param private_queue that of the queue.
 * @return 0; as roce_keys_check(); -ENOSPC.
 */
static __rte_always_inline int
roce_srq_post_segment(struct roce_srq *srq, const struct roce_sge *sge, uint64_t wr_id,
		uint32_t flags, bool private_queue)
{
	uint64_t addr;
	int rc;

	roce_srq_begin_receive(srq);
	rc = roce_keys_check_recent(&srq->domain->keys, srq->pd, sge, IBV_ACCESS_LOCAL_WRITE,
			&srq->recent, &addr);
	if (unlikely(rc != 0))
		return rc;
	if (unlikely(!roce_srq_has_room(srq, private_queue)))
		return -ENOSPC;
	roce_sge_set(roce_srq_slot(srq, srq->posted)->sge, sge, addr);
	roce_srq_publish_receive(srq, wr_id, roce_recv_length(sge->length), 1, flags);
	return 0;
}

#endif
