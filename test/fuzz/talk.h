/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_FUZZ_TALK_H
#define ROCE_FUZZ_TALK_H

/**
 * @file
 * The world of fuzz_rx as the tests of malformed frames use it: every real talk carries messages of all kinds in both
 * directions while frames are given to side 0, and at the end not one message may be missing.
 */

#include "rx_world.h"

#define TALK_ICRC 4u

/** Worlds of one engine and of two: MTU 256, PSNs that will wrap, a shared queue of 32. */
extern const uint8_t talk_one_engine[BASE_RECORD];
extern const uint8_t talk_two_engines[BASE_RECORD];

/** Beats of all worlds so far. */
extern uint32_t talk_beats;

/** Make a world and let it begin to talk. */
void talk_begin(const uint8_t *config);

/** The conversation goes on a little: there is always something under way. */
void talk_beat(void);

/** Not one connection was harmed, and not one message is missing; end the world. */
void talk_end(void);

/** Two bytes, big endian. */
void talk_set16(uint8_t *at, uint32_t value);

/**
 * A frame as the peer of @p to could send it now, with so many bytes from the first of the BTH to the last of the ICRC,
 * whatever they mean. The lengths in its headers agree, its PSN is the one that is expected, its ICRC is right.
 */
void talk_frame(struct rx_flat *flat, const struct rx_end *to, uint8_t opcode, uint32_t pad,
		uint32_t bytes);

#endif
