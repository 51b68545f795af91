/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory. For each recorded key of our side there is a region as large as what was done with the key; what an
 * application put there by itself is not in the capture, so it is filled in when a READ or an atomic shows it.
 */

#include <stdlib.h>
#include <string.h>

#include "replay.h"
#include "unit.h"

#define PAGE       4096u
#define REGION_MAX (1u << 26)
#define REMOTE                                                                       \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
			IBV_ACCESS_REMOTE_ATOMIC)

/* A key that Linux refused is given to nobody here either. */
static bool
refused(const struct rp_world *world, int flow, const struct rp_message *message)
{
	const struct rp_frame *answer =
			rp_frame_find(world->capture, flow, world->me, false, message->psn);

	return answer != NULL && answer->pkt.opcode == IBV_OPCODE_RC_ACKNOWLEDGE &&
			roce_aeth_syndrome(roce_pkt_aeth(&answer->pkt)) ==
			(ROCE_AETH_NAK | ROCE_NAK_REMOTE_ACCESS);
}

static struct rp_region *
region_of(struct rp_world *world, uint32_t rkey)
{
	for (uint32_t i = 0; i < world->regions; i++) {
		if (world->region[i].rkey == rkey)
			return &world->region[i];
	}
	assert_true(world->regions < RP_REGIONS);
	world->region[world->regions] = (struct rp_region){ .rkey = rkey, .base = UINT64_MAX };
	return &world->region[world->regions++];
}

/* Until a region is made, its size is the end of it. */
static void
note(struct rp_world *world, int flow, const struct rp_message *message)
{
	struct rp_region *region;

	if (message->verb == ROCE_VERB_SEND || message->length == 0 ||
			refused(world, flow, message))
		return;
	region = region_of(world, message->rkey);
	region->base = RTE_MIN(region->base, RTE_ALIGN_FLOOR(message->va, (uint64_t)PAGE));
	region->size = RTE_MAX(region->size, message->va + message->length);
}

static void
make(struct rp_world *world, struct rp_region *region)
{
	region->size = RTE_ALIGN_CEIL(region->size - region->base, (uint64_t)PAGE);
	assert_in_range(region->size, 1, REGION_MAX);
	region->memory = aligned_alloc(PAGE, region->size);
	region->known = calloc(1, region->size);
	assert_non_null(region->memory);
	assert_non_null(region->known);
	memset(region->memory, 0xa5, region->size);
	assert_int_equal(roce_mr_create(world->pd, (uintptr_t)region->memory, region->size,
					 REMOTE | ROCE_ACCESS_LOCAL_READ, &region->mr),
			0);
}

/* One piece for all that our side sends, and for the answers to what it asks. */
static void
make_own(struct rp_world *world)
{
	uint32_t total = PAGE;

	for (int i = 0; i < world->capture->flows; i++) {
		const struct rp_flow *flow = &world->capture->flow[i];

		for (uint32_t k = 0; k < flow->messages[world->me]; k++) {
			struct rp_message *message = &flow->message[world->me][k];

			message->offset = total;
			total += RTE_ALIGN_CEIL(message->length, 64u);
		}
	}
	total = RTE_ALIGN_CEIL(total, PAGE);
	world->own = aligned_alloc(PAGE, total);
	assert_non_null(world->own);
	memset(world->own, 0x5a, total);
	assert_int_equal(roce_mr_create(world->pd, (uintptr_t)world->own, total,
					 IBV_ACCESS_LOCAL_WRITE, &world->own_mr),
			0);
}

void
rp_memory_open(struct rp_world *world)
{
	size_t receives = (size_t)RP_RECVS * world->recv_len;

	for (int i = 0; i < world->capture->flows; i++) {
		const struct rp_flow *flow = &world->capture->flow[i];

		for (uint32_t k = 0; k < flow->messages[world->peer]; k++)
			note(world, i, &flow->message[world->peer][k]);
	}
	for (uint32_t i = 0; i < world->regions; i++)
		make(world, &world->region[i]);
	make_own(world);
	world->recv = malloc(receives);
	assert_non_null(world->recv);
	assert_int_equal(roce_mr_create(world->pd, (uintptr_t)world->recv, receives,
					 IBV_ACCESS_LOCAL_WRITE, &world->recv_mr),
			0);
}

void
rp_memory_close(struct rp_world *world)
{
	for (uint32_t i = 0; i < world->regions; i++) {
		assert_int_equal(roce_mr_destroy(world->region[i].mr), 0);
		free(world->region[i].memory);
		free(world->region[i].known);
	}
	assert_int_equal(roce_mr_destroy(world->own_mr), 0);
	assert_int_equal(roce_mr_destroy(world->recv_mr), 0);
	free(world->own);
	free(world->recv);
}

struct rp_region *
rp_region_find(struct rp_world *world, uint32_t rkey, uint64_t va, uint64_t len)
{
	for (uint32_t i = 0; i < world->regions; i++) {
		struct rp_region *region = &world->region[i];

		if (region->rkey == rkey && va >= region->base &&
				va + len <= region->base + region->size)
			return region;
	}
	return NULL;
}

void
rp_memory_recall(struct rp_world *world, const struct rp_frame *frame)
{
	const struct rp_message *message = frame->begins;
	struct rp_region *region;
	uint64_t at;
	bool wrote = false;

	if (message == NULL || message->verb == ROCE_VERB_SEND ||
			message->verb == ROCE_VERB_WRITE || message->data_known == 0)
		return;
	region = rp_region_find(world, message->rkey, message->va, message->length);
	assert_non_null(region);
	at = message->va - region->base;
	for (uint32_t i = 0; i < message->data_known; i++) {
		wrote |= region->known[at + i] && region->memory[at + i] != message->data[i];
		region->memory[at + i] = message->data[i];
		region->known[at + i] = true;
	}
	if (wrote)
		rp_differ(world, "memory.written", frame->number, 0, 0);
}

void
rp_memory_check(struct rp_world *world, const struct rp_frame *frame)
{
	struct rp_end *end = &world->end[frame->flow];
	const struct roce_pkt *pkt = &frame->pkt;
	struct rp_region *region;
	uint64_t at;

	if (!frame->icrc_ok || pkt->psn != end->write_psn)
		return;
	end->write_psn = roce_psn_add(pkt->psn, 1);
	if (frame->begins != NULL)
		end->write_psn = roce_psn_add(pkt->psn,
				frame->begins->verb == ROCE_VERB_READ ? frame->begins->packets : 1);
	if (pkt->op->verb != ROCE_VERB_WRITE)
		return;
	if (pkt->op->flags & ROCE_OP_START) {
		end->write_va = rte_be_to_cpu_64(roce_pkt_reth(pkt)->va);
		end->write_rkey = rte_be_to_cpu_32(roce_pkt_reth(pkt)->rkey);
	}
	region = rp_region_find(world, end->write_rkey, end->write_va, pkt->payload_len);
	if (region == NULL || pkt->payload_len == 0)
		return;
	at = end->write_va - region->base;
	if (memcmp(region->memory + at, rp_payload(pkt), pkt->payload_len) != 0)
		rp_differ(world, "memory.lost", frame->number, 0, 0);
	memset(region->known + at, true, pkt->payload_len);
	end->write_va += pkt->payload_len;
}
