/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_SIM_MESSAGE_H
#define ROCE_SIM_MESSAGE_H

/**
 * @file
 * The n-th message of a queue pair: a function of the world's seed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "pieces.h"
#include "world.h"

#define MESSAGE_MAX (4u * 4096 + 8)

struct message {
	uint64_t key; /**< of its bytes */
	uint32_t len;
	uint32_t imm;
	bool has_imm;
	bool solicited;
	bool signaled;
	bool fence;
	bool inlined;         /**< the request carries the bytes itself */
	uint8_t opcode;       /**< enum ibv_wr_opcode */
	struct pieces pieces; /**< of the sender's memory */
};

/** Does the message carry bytes to the peer? */
bool message_is_data(const struct message *msg);

/** Does the message use up a receive of the peer? */
bool message_is_received(const struct message *msg);

/** Is it an atomic operation? */
bool message_is_atomic(const struct message *msg);

/** Longest message of a world. */
uint32_t message_max(uint8_t mtu_code);

struct message
message_of(const struct world_params *world, uint32_t talk, uint32_t side, uint32_t seq);

void message_fill(const struct message *msg, uint8_t *at);
bool message_equal(const struct message *msg, const uint8_t *at);

#endif
