/* SPDX-License-Identifier: BSD-3-Clause */
/* Room for requests: how much a slot needs, and the steps from no slots to small and to full ones. */

#include <errno.h>
#include <string.h>

#include "queue/qp.h"
#include "queue/wq.h"

/* A slot that fills one cache line: a SEND of two segments, an RDMA request of one, or a bind. */
#define SMALL_PLACES 2u

static_assert(sizeof(struct roce_wqe) + SMALL_PLACES * sizeof(struct roce_sge) ==
				RTE_CACHE_LINE_SIZE,
		"small requests have a line each");

/* Behind the segments stands the peer's memory, and behind that what an atomic works with. */
static uint32_t
places_behind(uint8_t opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
		return 1;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return 2;
	default:
		return 0;
	}
}

/* Of an inline request: the peer's memory, and the bytes. */
static uint32_t
places_inline(uint16_t bytes)
{
	const uint32_t place = sizeof(struct roce_sge);

	return 1u + (bytes + place - 1) / place;
}

/* For the largest request that was agreed upon. */
static uint32_t
places_full(const struct roce_qp *qp)
{
	uint32_t segments = qp->cold.max_sge + 1u;

	return RTE_MAX(RTE_MAX(segments, qp->post.atomics ? 3u : 2u),
			places_inline(qp->post.max_inline));
}

static uint8_t
shift_for(uint32_t places)
{
	return (uint8_t)rte_bsf32(rte_align32pow2(
			(uint32_t)(sizeof(struct roce_wqe) + places * sizeof(struct roce_sge))));
}

/* Slots of this room from now on; the poster has a copy. No other thread works on the queue pair. */
static void
use_slots(struct roce_qp *qp, uint8_t *slots, uint32_t places)
{
	qp->wq.slots = slots;
	qp->wq.stride_shift = shift_for(places);
	qp->wq.places = (uint8_t)places;
	qp->post.wq = qp->wq;
	qp->post.max_sge = (uint8_t)RTE_MIN(qp->cold.max_sge, places);
	qp->post.max = qp->cold.max_wr;
}

static uint8_t *
alloc_slots(const struct roce_qp *qp, uint32_t places)
{
	return roce_alloc(qp->pd->domain, ((size_t)qp->wq.mask + 1) << shift_for(places));
}

int
roce_wq_make(struct roce_qp *qp, const struct roce_qp_attr *attr, bool small)
{
	const struct roce_domain *domain = attr->pd->domain;
	uint8_t *memory;

	qp->cold.max_sge = (uint8_t)RTE_MAX(attr->max_send_sge, (uint16_t)1);
	qp->cold.max_wr = RTE_MAX(attr->max_send_wr, 1u);
	qp->post.atomics = attr->atomics;
	qp->post.max_inline = attr->max_inline;
	qp->wq.mask = rte_align32pow2(qp->cold.max_wr) - 1;
	qp->wq.flags = domain->config.extbuf.least != 0 ? ROCE_WQE_EXTBUF : 0;
	/* Without slots there is room for no request. */
	if (small)
		return 0;
	memory = alloc_slots(qp, places_full(qp));
	if (memory == NULL)
		return -ENOMEM;
	use_slots(qp, memory, places_full(qp));
	return 0;
}

/* For a SEND of two segments, an RDMA request of one, and whatever may be inline. */
static uint32_t
places_small(const struct roce_qp *qp)
{
	return RTE_MIN(places_full(qp), RTE_MAX(SMALL_PLACES, places_inline(qp->post.max_inline)));
}

int
roce_wq_begin(struct roce_qp *qp, uint32_t n)
{
	uint8_t *memory;

	if (qp->post.max != 0 || n > qp->cold.max_wr)
		return -ENOSPC;
	if (!__atomic_load_n(&qp->post.connected, __ATOMIC_ACQUIRE))
		return -EINVAL;
	memory = alloc_slots(qp, places_small(qp));
	if (memory == NULL)
		return -ENOMEM;
	roce_engine_lock(qp->engine);
	use_slots(qp, memory, places_small(qp));
	roce_engine_unlock(qp->engine);
	return 0;
}

/* Is it for want of room that this request was refused, and was that room agreed upon? */
static bool
wants_room(const struct roce_qp *qp, const struct roce_wr *wr)
{
	uint32_t behind = places_behind(wr->opcode);

	if (wr->opcode == IBV_WR_BIND_MW || (wr->flags & ROCE_WR_INLINE) ||
			wr->num_sge > qp->cold.max_sge)
		return false;
	if (behind == 2 && (!qp->post.atomics || wr->num_sge != 1 || wr->remote_addr % 8 != 0))
		return false;
	return wr->num_sge + behind > qp->post.wq.places;
}

int
roce_wq_grow(struct roce_qp *qp, const struct roce_wr *wr)
{
	struct roce_wq small = qp->post.wq;
	uint32_t places = places_full(qp);
	uint8_t shift = shift_for(places);
	uint8_t *memory;

	if (small.places >= places || !wants_room(qp, wr))
		return -EINVAL;
	memory = alloc_slots(qp, places);
	if (memory == NULL)
		return -ENOMEM;
	/* The engine works on the requests that are there, and finds them moved when it comes back. */
	roce_engine_lock(qp->engine);
	for (uint32_t i = 0; i <= small.mask; i++)
		memcpy(memory + ((size_t)i << shift), roce_wq_slot(&small, i),
				(size_t)1 << small.stride_shift);
	use_slots(qp, memory, places);
	roce_engine_unlock(qp->engine);
	roce_free(qp->pd->domain, small.slots);
	return 0;
}
