/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deed.h"

#define TARGET (8u << 20)
#define SOURCE (64u << 10)

static uint8_t *target[2], *source[2];

static void
must(int rc)
{
	if (rc != 0) {
		fprintf(stderr, "sim: open memory: %s\n", strerror(-rc));
		exit(2);
	}
}

/* Once: bytes that tell from which place of which side they are. */
static void
make_bytes(uint32_t side)
{
	uint64_t word = side + 1;

	target[side] = calloc(1, TARGET);
	source[side] = malloc(SOURCE);
	if (target[side] == NULL || source[side] == NULL)
		must(-ENOMEM);
	for (uint32_t i = 0; i < SOURCE; i += 8) {
		word = word * 0x9e3779b97f4a7c15ull + i;
		memcpy(source[side] + i, &word, 8);
	}
}

void
deed_open(struct deed_memory *memory, uint32_t side, struct roce_pd *pd)
{
	if (target[side] == NULL)
		make_bytes(side);
	for (uint32_t i = 0; i < WORLD_TALKS_MAX; i++) {
		memory->word[i] = i * 1000;
		memory->expected[i] = i * 1000;
	}
	must(roce_mr_create(pd, (uintptr_t)target[side], TARGET,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, &memory->target));
	must(roce_mr_create(pd, (uintptr_t)source[side], SOURCE, IBV_ACCESS_REMOTE_READ,
			&memory->source));
	must(roce_mr_create(pd, (uintptr_t)memory->word, sizeof(memory->word),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC, &memory->words));
}

void
deed_close(struct deed_memory *memory)
{
	roce_mr_destroy(memory->target);
	roce_mr_destroy(memory->source);
	roce_mr_destroy(memory->words);
}

/* Where in the source a READ begins: any byte. */
static uint32_t
read_offset(const struct message *msg)
{
	return (uint32_t)(msg->key >> 20) % (SOURCE - msg->len);
}

/* Half of the swaps succeed. */
static void
describe_atomic(struct deed_memory *peer, uint32_t talk, uint32_t place, const struct message *msg,
		struct roce_wr *wr)
{
	uint64_t *value = &peer->expected[talk];

	wr->rkey = roce_mr_key(peer->words);
	wr->remote_addr = (uintptr_t)&peer->word[talk];
	peer->original[place] = *value;
	if (msg->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->compare_add = msg->key;
		*value += msg->key;
		return;
	}
	wr->compare_add = *value + (msg->key >> 5 & 1);
	wr->swap = msg->key * 3;
	if (wr->compare_add == *value)
		*value = wr->swap;
}

void
deed_describe(struct deed_memory *peer, uint32_t side, uint32_t talk, uint32_t place,
		const struct message *msg, uint32_t slot_size, struct roce_wr *wr)
{
	switch (msg->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		wr->rkey = roce_mr_key(peer->target);
		wr->remote_addr = (uintptr_t)target[side] + (uint64_t)place * slot_size;
		break;
	case IBV_WR_RDMA_READ:
		wr->rkey = roce_mr_key(peer->source);
		wr->remote_addr = (uintptr_t)source[side] + read_offset(msg);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		describe_atomic(peer, talk, place, msg, wr);
		break;
	default:
		break;
	}
}

const char *
deed_check(const struct deed_memory *peer, uint32_t side, uint32_t place, const struct message *msg,
		uint32_t slot_size, const uint8_t *local)
{
	switch (msg->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return message_equal(msg, target[side] + (size_t)place * slot_size)
				? NULL
				: "a WRITE succeeded and its bytes are not there";
	case IBV_WR_RDMA_READ:
		return memcmp(local, source[side] + read_offset(msg), msg->len) == 0
				? NULL
				: "a READ succeeded with wrong bytes";
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return memcmp(local, &peer->original[place], 8) == 0
				? NULL
				: "an atomic was done twice, or one before it was not";
	default:
		return NULL;
	}
}
