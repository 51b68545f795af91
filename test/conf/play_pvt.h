/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_CONF_PLAY_PVT_H
#define ROCE_TEST_CONF_PLAY_PVT_H

/**
 * @file
 * A rule that is being played: what play.c and play_words.c share.
 */

#include <stdio.h>

#include "play.h"
#include "stage.h"

struct play {
	const struct rule *rule;
	const struct rule_line *line; /**< being played */
	unsigned int at;              /**< its next token */
	struct stage *stage;
	bool turned; /**< the engine spoke since the last line that was not about that */
	bool broken; /**< the rule said so */
};

/** The rule does not hold. Does not return. */
void play_fail(const struct play *p, const char *what);

/** The next token of the line; NULL at its end. */
const char *play_next(struct play *p);

bool play_is(const char *token, const char *name);

uint64_t play_number(const struct play *p, const char *token);

/** "5" or "5..9". */
void play_range(const struct play *p, const char *token, int32_t *first, int32_t *last);

uint32_t play_key(const struct play *p, const char *name);

enum ibv_wc_status play_status(const struct play *p, const char *name);

/** The rest of the line is a frame. */
struct stage_frame play_frame(struct play *p);

void play_post(struct play *p);
void play_receive(struct play *p);
void play_event(struct play *p);

#endif
