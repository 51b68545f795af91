/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_MODEL_WAITS_H
#define ROCE_MODEL_WAITS_H

/**
 * @file
 * The objects that waiting needs on top of a world: an adapter whose engines service lcores poll, a dispatcher for each
 * completion queue, notification objects, and a futex. No sleep times out: a lost wake-up leaves its thread asleep, and
 * the explorer reports a deadlock.
 */

#include <stdbool.h>

#include "dapl/cno.h"
#include "dapl/evd.h"
#include "dapl/ia.h"
#include "dapl/ia_limits.h"
#include "dapl/wait.h"
#include "world.h"

#define WAITS_CNOS 2

struct waits {
	struct dapl_ia *ia;
	struct dapl_evd *evd[WORLD_CQS];
	struct dapl_cno *cno[WAITS_CNOS];
	unsigned int calls; /**< of the agent of cno[0] */
};

extern struct waits waits;

/** Make a world and what stands on it; dispatchers hear of nobody. No thread runs. */
void waits_make(unsigned int engines, unsigned int evds, uint32_t depth);

/** End it all: fails the run when something is left. No thread runs. */
void waits_end(void);

/** An event that wakes comes to a dispatcher, by an engine. */
void waits_push(unsigned int evd, unsigned int engine);

/** Give cno[0] an agent that counts. */
void waits_set_agent(void);

#endif
