/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_SIM_FLIP_H
#define ROCE_SIM_FLIP_H

/**
 * @file
 * Damaged frames: which bit is flipped, and the account of all bits that ever were.
 *
 * A frame kind is an opcode. Its positions are those of all headers from the first byte of the Ethernet header on,
 * of the payload, and of the ICRC, which is counted from the end.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#define FLIP_WORLDS 8u /**< worlds of a sweep that flip the same positions */
#define FLIP_EVERY  4u /**< positions of each kind that one world of a sweep flips */

/** Flip any one bit of a frame. */
void flip_any(struct rte_mbuf *m, uint64_t random);

/**
 * Flip the bit at a position. @return false: nothing was flipped, since the frame is shorter than its kind can be in
 * this world, and positions would be missed.
 */
bool flip_at(struct rte_mbuf *m, uint32_t position, uint32_t mtu);

/** The kind of a frame: its opcode. */
uint8_t flip_kind(const struct rte_mbuf *m);

/** Name of a kind. */
const char *flip_name(uint8_t kind);

/** Worlds, two for the same positions, after which a sweep has flipped every one of frames with so much payload. */
uint32_t flip_worlds(uint32_t mtu);

/** Print how many positions of each kind were flipped. @return all were, for payloads of up to @p mtu. */
bool flip_report(uint32_t mtu);

#endif
