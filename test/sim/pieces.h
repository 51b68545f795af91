/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_SIM_PIECES_H
#define ROCE_SIM_PIECES_H

/**
 * @file
 * A message in several pieces of memory, with bytes between them that belong to nobody.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/verbs.h"

#define PIECES_MAX 3u
#define PIECES_GAP 8u /**< bytes between two pieces, and behind the last */

/** How a stretch of memory is cut; pieces may be empty, and there may be none. */
struct pieces {
	uint32_t n;
	uint32_t len[PIECES_MAX];
};

/** Cut @p len bytes in up to three, somehow: any @p key gives the same cut always. */
struct pieces pieces_cut(uint32_t len, uint64_t key);

/** The pieces one after the other from @p at on, as scatter or gather list. */
void pieces_list(const struct pieces *p, const uint8_t *at, uint32_t lkey, struct roce_sge *sge);

/** Put bytes into the pieces. */
void pieces_put(const struct pieces *p, uint8_t *at, const uint8_t *bytes);

/** Fetch up to @p len bytes from the pieces. */
void pieces_get(const struct pieces *p, const uint8_t *at, uint8_t *bytes, uint32_t len);

/** Mark what lies between and behind the pieces. */
void pieces_guard(const struct pieces *p, uint8_t *at);

/** Are the marks still there? */
bool pieces_guarded(const struct pieces *p, const uint8_t *at);

#endif
