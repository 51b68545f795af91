/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_common.h>

#include "message.h"
#include "wire/frame.h"

#define GOLDEN 0x9e3779b97f4a7c15ull

static uint64_t
mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

uint32_t
message_max(uint8_t mtu_code)
{
	return 4 * roce_mtu_bytes(mtu_code) + 8;
}

/* The lengths where something changes, and others; most are short. */
static uint32_t
length_of(uint64_t key, uint32_t mtu)
{
	switch (key & 15) {
	case 0:
		return 0;
	case 1:
		return 1 + (uint32_t)(key >> 8) % 7;
	case 2:
		return mtu - 1;
	case 3:
		return mtu;
	case 4:
		return mtu + 1;
	case 5:
		return 2 * mtu + (uint32_t)(key >> 8) % 3 - 1;
	case 6:
	case 7:
		return (uint32_t)(key >> 8) % (4 * mtu + 4);
	default:
		return (uint32_t)(key >> 8) % 96;
	}
}

/* SENDs half of the time. */
static uint8_t
opcode_of(const struct world_params *world, uint64_t key)
{
	static const uint8_t others[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ, IBV_WR_RDMA_READ, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD };

	if (world->verbs && (key >> 44 & 1) != 0)
		return others[key >> 45 & 7];
	switch (key >> 39 & 7) {
	case 0:
	case 1:
		return IBV_WR_SEND_WITH_IMM;
	case 2:
	case 3:
	case 4:
		return IBV_WR_SEND_WITH_INV;
	default:
		return IBV_WR_SEND;
	}
}

/* The requests that may carry an acknowledgement, but for SEND with invalidate, which has worlds of its own. */
static uint8_t
answer_of(uint32_t seq)
{
	static const uint8_t opcodes[] = { IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM };

	return opcodes[seq % RTE_DIM(opcodes)];
}

/* In a world in which every frame is full: everything there is in turn, as one packet or as three; answers as one. */
static void
make_full(const struct world_params *world, uint32_t seq, struct message *msg)
{
	static const uint8_t opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_READ, IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_ATOMIC_FETCH_AND_ADD };
	uint32_t mtu = roce_mtu_bytes(world->mtu_code);

	msg->opcode = world->verbs ? opcodes[seq % RTE_DIM(opcodes)] : IBV_WR_SEND_WITH_INV;
	msg->len = world->answers || seq / RTE_DIM(opcodes) % 2 == 0 ? mtu : 3 * mtu;
	if (world->verbs && world->answers)
		msg->opcode = answer_of(seq);
}

bool
message_is_received(const struct message *msg)
{
	switch (msg->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return true;
	default:
		return false;
	}
}

bool
message_is_atomic(const struct message *msg)
{
	return msg->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
			msg->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

bool
message_is_data(const struct message *msg)
{
	return !message_is_atomic(msg) && msg->opcode != IBV_WR_RDMA_READ;
}

struct message
message_of(const struct world_params *world, uint32_t talk, uint32_t side, uint32_t seq)
{
	uint64_t key = mix(world->seed +
			GOLDEN * (1 + seq + ((uint64_t)talk << 32) + ((uint64_t)side << 40)));
	struct message msg = {
		.key = key,
		.opcode = opcode_of(world, key),
		.fence = world->verbs && (key >> 48 & 7) == 0,
		.len = length_of(key, roce_mtu_bytes(world->mtu_code)),
		.imm = (uint32_t)(key >> 16),
		.solicited = (key >> 42 & 1) != 0,
		/* Now and then one must be, or the consumer could not reuse its memory. */
		.signaled = (key >> 43 & 1) != 0 || seq + 1 == world->messages ||
				seq % RTE_MAX(world->send_depth / 2, 1u) == 0,
	};

	if (world->full)
		make_full(world, seq, &msg);
	msg.has_imm = msg.opcode == IBV_WR_SEND_WITH_IMM ||
			msg.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	if (message_is_atomic(&msg)) {
		msg.len = 8;
		msg.pieces = (struct pieces){ 1, { 8 } };
	} else {
		msg.pieces = pieces_cut(msg.len, key);
	}
	msg.inlined = (key >> 52 & 1) != 0 && msg.len <= world->max_inline && message_is_data(&msg);
	return msg;
}

void
message_fill(const struct message *msg, uint8_t *at)
{
	uint64_t word = msg->key;

	for (uint32_t i = 0; i < msg->len; i += 8) {
		word = word * GOLDEN + i;
		memcpy(at + i, &word, RTE_MIN(8u, msg->len - i));
	}
}

bool
message_equal(const struct message *msg, const uint8_t *at)
{
	uint64_t word = msg->key;

	for (uint32_t i = 0; i < msg->len; i += 8) {
		word = word * GOLDEN + i;
		if (memcmp(at + i, &word, RTE_MIN(8u, msg->len - i)) != 0)
			return false;
	}
	return true;
}
