/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_SIM_TALK_H
#define ROCE_SIM_TALK_H

/**
 * @file
 * The consumers of a world: on every queue pair numbered messages go both ways,
 * and everything that comes back is held against what was sent.
 */

#include "engine/engine.h"
#include "judge.h"
#include "world.h"

/** The address of side 0 or 1. */
struct roce_ip talk_address(uint32_t side);

/** Make and connect the queue pairs of a world and post its first receives. */
void
talk_begin(const struct world_params *params, struct roce_domain **side_of, struct judge *judge);

/** Post, reap, compare. @return how much was done; 0: nothing to do now. */
uint32_t talk_act(uint64_t now);

/** When talk_act() has something to do without new events; UINT64_MAX: never. */
uint64_t talk_deadline(void);

/** Move queue pair 0 of side 0, and some time later its peer, to ERR. */
void talk_kill(uint64_t now);

/** No queue pair of that side that has begun to send and has not broken has requests left. */
bool talk_owes_nothing(uint32_t side);

/** Everything that this world promises has happened. */
bool talk_done(void);

/** The first rule that did not hold, or NULL. */
const char *talk_violation(void);

/** Take everything down again. */
void talk_end(void);

void talk_notify(void *arg, enum roce_engine_async kind, void *owner, int status);

#endif
