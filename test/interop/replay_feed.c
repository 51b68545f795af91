/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recorded frames for the engine to hear. They name things that the other engine gave names to: memory by key and
 * address, connections by id. Those are translated, and the ICRC is made anew; all else stays as it was recorded.
 */

#include <string.h>

#include "replay.h"
#include "unit.h"
#include "wire/icrc.h"

/* The key of a region lies behind the address, in both headers that name memory. */
static bool
translate_memory(struct rp_world *world, const struct rp_frame *frame, uint8_t *ext)
{
	const struct roce_reth *old = roce_pkt_reth(&frame->pkt);
	uint64_t va = rte_be_to_cpu_64(old->va);
	bool atomic = frame->pkt.op->flags & ROCE_OP_ATOMIC;
	uint32_t length = atomic ? (uint32_t)sizeof(uint64_t) : rte_be_to_cpu_32(old->length);
	struct rp_region *region = rp_region_find(world, rte_be_to_cpu_32(old->rkey), va, length);
	struct roce_reth reth;

	/* An unknown key stays unknown. */
	if (region == NULL)
		return false;
	memcpy(&reth, ext, offsetof(struct roce_reth, length));
	reth.va = rte_cpu_to_be_64((uintptr_t)region->memory + (va - region->base));
	reth.rkey = rte_cpu_to_be_32(roce_mr_key(region->mr));
	memcpy(ext, &reth, offsetof(struct roce_reth, length));
	return true;
}

/* The receiver's id is ours. */
static bool
translate_ids(const struct rp_world *world, const struct rp_frame *frame, struct roce_cm_mad *mad)
{
	const struct rp_link *link = &world->link[frame->conn];

	if (frame->msg.attr == ROCE_CM_ATTR_REQ || frame->msg.remote_id == 0)
		return false;
	mad->rtu.remote_comm_id = rte_cpu_to_be_32(link->id);
	return true;
}

static bool
translate(struct rp_world *world, const struct rp_frame *frame, uint8_t *bytes)
{
	const uint8_t *frame_bytes = rte_pktmbuf_mtod(frame->m, const uint8_t *);

	if (frame->flow < 0)
		return translate_ids(world, frame,
				(struct roce_cm_mad *)(bytes + frame->pkt.payload_off));
	if (frame->pkt.op->flags & (ROCE_OP_RETH | ROCE_OP_ATOMIC))
		return translate_memory(world, frame,
				bytes + (frame->pkt.bth - frame_bytes) + frame->pkt.op->ext_off);
	return false;
}

/* All that the ICRC wants to know of a template is where the headers are. */
static void
make_icrc(const struct rp_frame *frame, struct rte_mbuf *m)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(frame->m, const uint8_t *);
	const struct roce_template where = {
		.l3_off = (uint8_t)(frame->pkt.l3 - bytes),
		.bth_off = (uint8_t)(frame->pkt.bth - bytes),
		.v6 = frame->pkt.v6,
	};
	/* Ethernet may have padded the frame. */
	uint32_t end = frame->pkt.payload_off + frame->pkt.payload_len + frame->pkt.pad +
			ROCE_ICRC_LEN;

	rte_pktmbuf_trim(m, (uint16_t)(m->data_len - end));
	roce_icrc_put(m, &where);
}

struct rte_mbuf *
rp_feed_copy(struct rp_world *world, const struct rp_frame *frame)
{
	struct rte_mbuf *m =
			unit_mbuf(rte_pktmbuf_mtod(frame->m, const void *), frame->m->data_len);

	if (translate(world, frame, rte_pktmbuf_mtod(m, uint8_t *)) && frame->icrc_ok)
		make_icrc(frame, m);
	return m;
}

struct rte_mbuf *
rp_feed_ack(const struct rp_frame *frame, uint32_t psn)
{
	struct rte_mbuf *m =
			unit_mbuf(rte_pktmbuf_mtod(frame->m, const void *), frame->m->data_len);
	struct roce_bth bth;
	size_t off = (size_t)(frame->pkt.bth - rte_pktmbuf_mtod(frame->m, const uint8_t *));

	memcpy(&bth, rte_pktmbuf_mtod_offset(m, const void *, off), sizeof(bth));
	bth.psn = rte_cpu_to_be_32(psn);
	memcpy(rte_pktmbuf_mtod_offset(m, void *, off), &bth, sizeof(bth));
	make_icrc(frame, m);
	return m;
}
