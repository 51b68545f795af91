/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>

#include <rte_common.h>

#include "flip.h"
#include "wire/opcode.h"

#define BELOW_BTH   42u /**< Ethernet, IPv4 and UDP */
#define LONGEST_BTH 40u /**< with everything that may follow it */
#define ICRC        4u
#define ICRC_AT     4256u /**< in the account */
#define BYTES       (ICRC_AT + ICRC)

static uint8_t flipped[256][BYTES];

static const struct {
	uint8_t opcode;
	const char *name;
} kinds[] = {
	{ IBV_OPCODE_RC_SEND_FIRST, "SEND first" },
	{ IBV_OPCODE_RC_SEND_MIDDLE, "SEND middle" },
	{ IBV_OPCODE_RC_SEND_LAST, "SEND last" },
	{ IBV_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE, "SEND last, immediate" },
	{ ROCE_OPCODE_RC_SEND_LAST_WITH_INVALIDATE, "SEND last, invalidate" },
	{ IBV_OPCODE_RC_SEND_ONLY, "SEND only" },
	{ IBV_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE, "SEND only, immediate" },
	{ ROCE_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE, "SEND only, invalidate" },
	{ IBV_OPCODE_RC_RDMA_WRITE_FIRST, "WRITE first" },
	{ IBV_OPCODE_RC_RDMA_WRITE_MIDDLE, "WRITE middle" },
	{ IBV_OPCODE_RC_RDMA_WRITE_LAST, "WRITE last" },
	{ IBV_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE, "WRITE last, immediate" },
	{ IBV_OPCODE_RC_RDMA_WRITE_ONLY, "WRITE only" },
	{ IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE, "WRITE only, immediate" },
	{ IBV_OPCODE_RC_RDMA_READ_REQUEST, "READ request" },
	{ IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST, "READ response first" },
	{ IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE, "READ response middle" },
	{ IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST, "READ response last" },
	{ IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, "READ response only" },
	{ IBV_OPCODE_RC_COMPARE_SWAP, "compare and swap" },
	{ IBV_OPCODE_RC_FETCH_ADD, "fetch and add" },
	{ IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE, "atomic response" },
	{ IBV_OPCODE_RC_ACKNOWLEDGE, "acknowledge" },
	{ ROCE_OPCODE_CNP, "congestion notification" },
	{ ROCE_OPCODE_SACK, "selective acknowledgement" },
	{ ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_SEND_ONLY, "SEND only, piggyback" },
	{ ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE,
			"SEND only, immediate, piggyback" },
	{ ROCE_OPCODE_PIGGYBACK | ROCE_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE,
			"SEND only, invalidate, piggyback" },
	{ ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_RDMA_WRITE_ONLY, "WRITE only, piggyback" },
	{ ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE,
			"WRITE only, immediate, piggyback" },
};

uint8_t
flip_kind(const struct rte_mbuf *m)
{
	return *rte_pktmbuf_mtod_offset(m, const uint8_t *, BELOW_BTH);
}

const char *
flip_name(uint8_t kind)
{
	for (uint32_t i = 0; i < RTE_DIM(kinds); i++) {
		if (kinds[i].opcode == kind)
			return kinds[i].name;
	}
	return "something else";
}

/* Bytes of a frame of a kind that carries so much payload. */
static uint32_t
length_of(uint8_t kind, uint32_t payload)
{
	const struct roce_opcode_info *op = &roce_opcode[kind];

	return BELOW_BTH + op->header_len + (op->flags & ROCE_OP_PAYLOAD ? payload : 0) + ICRC;
}

static void
flip(struct rte_mbuf *m, uint32_t bit)
{
	uint32_t byte = bit / 8;
	uint32_t behind = m->data_len - byte;
	uint8_t mask = (uint8_t)(1u << (bit % 8));

	flipped[flip_kind(m)][behind <= ICRC ? ICRC_AT + ICRC - behind : byte] |= mask;
	rte_pktmbuf_mtod(m, uint8_t *)[byte] ^= mask;
}

void
flip_any(struct rte_mbuf *m, uint64_t random)
{
	flip(m, (uint32_t)(random % (m->data_len * 8u)));
}

bool
flip_at(struct rte_mbuf *m, uint32_t position, uint32_t mtu)
{
	if (m->data_len != length_of(flip_kind(m), mtu))
		return false;
	flip(m, position % (m->data_len * 8u));
	return true;
}

uint32_t
flip_worlds(uint32_t mtu)
{
	return ((BELOW_BTH + LONGEST_BTH + mtu + ICRC) * 8 + FLIP_EVERY - 1) / FLIP_EVERY *
			FLIP_WORLDS;
}

/* Flipped positions among the first @p n bytes from @p from on. */
static uint32_t
count(const uint8_t *from, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += (uint32_t)__builtin_popcount(from[i]);
	return sum;
}

bool
flip_report(uint32_t mtu)
{
	uint32_t done = 0, all = 0;

	printf("bit positions flipped, payloads of up to %u bytes:\n", mtu);
	for (uint32_t i = 0; i < RTE_DIM(kinds); i++) {
		const uint8_t *bits = flipped[kinds[i].opcode];
		uint32_t length = length_of(kinds[i].opcode, mtu);
		uint32_t n = count(bits, length - ICRC) + count(bits + ICRC_AT, ICRC);

		printf("  %-24s %5u of %5u\n", kinds[i].name, n, length * 8);
		done += n;
		all += length * 8;
	}
	printf("  %-24s %5u of %5u\n", "all", done, all);
	return done == all;
}
