/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>

#include "deed.h"

#define TARGET (8u << 20) /**< bytes of all places of a side */
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
	must(roce_mr_create(pd, (uintptr_t)source[side], SOURCE,
			IBV_ACCESS_REMOTE_READ | ROCE_ACCESS_LOCAL_READ, &memory->source));
	must(roce_mr_create(pd, (uintptr_t)memory->word, sizeof(memory->word),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC | ROCE_ACCESS_LOCAL_READ,
			&memory->words));
}

void
deed_close(struct deed_memory *memory)
{
	must(roce_mr_destroy(memory->target));
	must(roce_mr_destroy(memory->source));
	must(roce_mr_destroy(memory->words));
}

/* Where in the source a READ begins: any byte. */
static uint32_t
read_offset(const struct message *msg)
{
	return (uint32_t)(msg->key >> 20) % (SOURCE - msg->len);
}

/* Half of the swaps succeed. */
static void
describe_atomic(const struct deed_site *site, const struct message *msg, struct roce_wr *wr)
{
	uint64_t *value = &site->peer->expected[site->talk];

	wr->rkey = roce_mr_key(site->peer->words);
	wr->remote_addr = (uintptr_t)&site->peer->word[site->talk];
	site->peer->original[site->place] = *value;
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

static uint8_t *
place_at(const struct deed_site *site)
{
	return target[site->side] + (size_t)site->place * site->slot_size;
}

void
deed_describe(const struct deed_site *site, const struct message *msg, struct roce_wr *wr)
{
	switch (msg->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		wr->rkey = roce_mr_key(site->peer->target);
		wr->remote_addr = (uintptr_t)place_at(site);
		break;
	case IBV_WR_RDMA_READ:
		wr->rkey = roce_mr_key(site->peer->source);
		wr->remote_addr = (uintptr_t)source[site->side] + read_offset(msg);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		describe_atomic(site, msg, wr);
		break;
	default:
		break;
	}
}

const char *
deed_check(const struct deed_site *site, const struct message *msg, const uint8_t *local)
{
	switch (msg->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return message_equal(msg, place_at(site))
				? NULL
				: "a WRITE succeeded and its bytes are not there";
	case IBV_WR_RDMA_READ:
		return memcmp(local, source[site->side] + read_offset(msg), msg->len) == 0
				? NULL
				: "a READ succeeded with wrong bytes";
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return memcmp(local, &site->peer->original[site->place], 8) == 0
				? NULL
				: "an atomic was done twice, or one before it was not";
	default:
		return NULL;
	}
}

const char *
deed_finished(const struct deed_memory *peer, uint32_t talk)
{
	return peer->word[talk] == peer->expected[talk] ? NULL : "an atomic was not done once";
}

uint32_t
deed_access(uint8_t opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_ACCESS_REMOTE_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_ACCESS_REMOTE_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_ACCESS_REMOTE_ATOMIC;
	default:
		return 0;
	}
}

struct deed_part
deed_part(const struct deed_site *site, uint32_t access, uint32_t places)
{
	switch (access) {
	case IBV_ACCESS_REMOTE_WRITE:
		return (struct deed_part){ site->peer->target, (uintptr_t)place_at(site),
			(uint64_t)places * site->slot_size, access };
	case IBV_ACCESS_REMOTE_READ:
		return (struct deed_part){ site->peer->source, (uintptr_t)source[site->side],
			SOURCE, access };
	default:
		return (struct deed_part){ site->peer->words,
			(uintptr_t)&site->peer->word[site->talk], sizeof(uint64_t), access };
	}
}

enum ibv_wc_status
deed_forbid(const struct deed_site *site, uint32_t how, struct roce_wr *wr)
{
	switch (how) {
	case 0: /* a key that nobody has */
		wr->opcode = IBV_WR_RDMA_WRITE;
		wr->rkey = roce_mr_key(site->peer->target) ^ 0x55;
		wr->remote_addr = (uintptr_t)place_at(site);
		break;
	case 1: /* one byte too far */
		wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr->rkey = roce_mr_key(site->peer->target);
		wr->remote_addr = (uintptr_t)target[site->side] + TARGET - wr->sg[0].length + 1;
		break;
	case 2: /* memory that may be read, not written, and the other way round */
		wr->opcode = IBV_WR_RDMA_WRITE;
		wr->rkey = roce_mr_key(site->peer->source);
		wr->remote_addr = (uintptr_t)source[site->side];
		break;
	case 3:
		wr->opcode = IBV_WR_RDMA_READ;
		wr->rkey = roce_mr_key(site->peer->target);
		wr->remote_addr = (uintptr_t)place_at(site);
		break;
	case 4:
		wr->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr->rkey = roce_mr_key(site->peer->target);
		wr->remote_addr = (uintptr_t)place_at(site) & ~UINT64_C(7);
		break;
	case 5: /* no key of a window */
		wr->opcode = IBV_WR_SEND_WITH_INV;
		wr->imm = rte_cpu_to_be_32(roce_mr_key(site->peer->target) ^ 0x33);
		break;
	default: /* a message that no receive can hold: its length is the caller's */
		wr->opcode = IBV_WR_SEND;
		return IBV_WC_REM_INV_REQ_ERR;
	}
	return IBV_WC_REM_ACCESS_ERR;
}
