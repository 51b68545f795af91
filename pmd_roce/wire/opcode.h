/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WIRE_OPCODE_H
#define ROCE_WIRE_OPCODE_H

/**
 * @file
 * Meaning of each BTH opcode: one row per opcode (IBTA Vol 1, 9.2.1).
 *
 * The numbers are rdma-core's IBV_OPCODE_*. A row says which headers follow
 * the BTH, where each begins, and which part of a message the packet is. An
 * opcode that this provider does not know has `flags == 0`.
 */

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/opcode.h>

/** The opcodes that rdma-core's table lacks (IBTA Vol 1, 9.2.1). */
enum {
	ROCE_OPCODE_RC_SEND_LAST_WITH_INVALIDATE = 0x16,
	ROCE_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE = 0x17,
	ROCE_OPCODE_CNP = 0x81,  /**< congestion notification (IBTA annex A17.9.3) */
	ROCE_OPCODE_SACK = 0xc1, /**< manufacturer space: selective acknowledgement (bth.h) */
	/**
	 * Manufacturer space: this with the RC opcode of a whole SEND or WRITE in one packet is the same request, which
	 * carries an acknowledgement besides (struct roce_piggyback).
	 */
	ROCE_OPCODE_PIGGYBACK = 0xe0,
	ROCE_OPCODE_NONE = 0xff, /**< no opcode: manufacturer space, never sent */
};

/** The headers that follow, and which part of a message the packet is. */
#define ROCE_OP_REQUEST   0x0001u /**< travels from requester to responder */
#define ROCE_OP_RESPONSE  0x0002u /**< travels back */
#define ROCE_OP_START     0x0004u /**< first or only packet of a message */
#define ROCE_OP_END       0x0008u /**< last or only packet of a message */
#define ROCE_OP_PAYLOAD   0x0010u /**< may carry payload */
#define ROCE_OP_RETH      0x0020u
#define ROCE_OP_AETH      0x0040u
#define ROCE_OP_IMM       0x0080u
#define ROCE_OP_IETH      0x0100u
#define ROCE_OP_ATOMIC    0x0200u /**< AtomicETH */
#define ROCE_OP_ATOMICACK 0x0400u /**< AtomicAckETH, after the AETH */
#define ROCE_OP_DETH      0x0800u /**< unreliable datagram */
#define ROCE_OP_RECEIVE \
	0x1000u /**< needs a receive: every packet of a SEND, the immediate packet of a WRITE */

#define ROCE_OP_CNP  0x2000u /**< congestion notification: neither request nor response */
#define ROCE_OP_SACK 0x4000u /**< selective acknowledgement, between two ends that agreed on it */

#define ROCE_OP_PIGGYBACK \
	0x8000u /**< the acknowledgement that a request carries, ahead of every other extension header */

/** The operation that a packet belongs to. */
enum roce_verb {
	ROCE_VERB_NONE = 0,
	ROCE_VERB_SEND,
	ROCE_VERB_WRITE,
	ROCE_VERB_READ,
	ROCE_VERB_ATOMIC_CAS,
	ROCE_VERB_ATOMIC_FADD,
	ROCE_VERB_ACK,
};

struct roce_opcode_info {
	uint16_t flags;     /**< ROCE_OP_* */
	uint8_t verb;       /**< enum roce_verb */
	uint8_t header_len; /**< BTH and all that follows before the payload, bytes */
	uint8_t imm_off;    /**< ImmDt or IETH, bytes from the BTH; 0: none */
	uint8_t aeth_off; /**< AETH, or piggybacked acknowledgement, bytes from the BTH; 0: none */
	uint8_t ext_off; /**< RETH, AtomicETH, AtomicAckETH, DETH or SACK, bytes from the BTH; 0: none */
};

/** Indexed by the opcode byte. */
extern const struct roce_opcode_info roce_opcode[256];

/** Which of the two variants a message of an operation has. */
enum roce_suffix {
	ROCE_SUFFIX_NONE = 0,
	ROCE_SUFFIX_IMM,
	ROCE_SUFFIX_INVALIDATE,
};

/**
 * Opcode of a request packet.
 *
 * @param verb   SEND, WRITE, READ or an atomic.
 * @param suffix immediate or invalidate; only the last packet of a SEND or WRITE shows it.
 * @param first, last  whether the packet begins, ends its message.
 * @return the opcode; ROCE_OPCODE_NONE (0xff) when IBTA has none for the combination.
 */
uint8_t roce_opcode_request(enum roce_verb verb, enum roce_suffix suffix, bool first, bool last);

#endif
