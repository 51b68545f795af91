/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_TIMER_H
#define ROCE_QUEUE_TIMER_H

/**
 * @file
 * Timers: a hashed wheel with explicit time and intrusive entries.
 *
 * An entry sits in the slot of its deadline modulo the wheel's turn; entries of
 * later turns wait in the same slot. Arming, moving and cancelling are O(1). A
 * timer fires at the first advance whose time is not before its deadline, never
 * early; entries of one slot fire in no particular order. One thread at a time.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>

#include "queue/config.h"

#define ROCE_WHEEL_SLOTS 1024u
#define ROCE_WHEEL_WORDS (ROCE_WHEEL_SLOTS / 64)

struct roce_timer;

/** The fields are the wheel's; they are here so that a turn in which nothing is due costs no call. */
struct roce_wheel {
	uint64_t due; /**< nothing fires before it; ROCE_NEVER: nothing is armed */
	uint64_t granularity;
	uint64_t tick; /**< slots before it are empty but for later turns, in units of granularity */
	uint32_t count;
	uint64_t occupied[ROCE_WHEEL_WORDS];
	struct roce_timer *slot[ROCE_WHEEL_SLOTS];
	struct roce_memory memory;
};

/** Called by roce_wheel_advance() with the timer disarmed; may arm it or others again, or free it. */
typedef void (*roce_timer_fn)(struct roce_timer *timer, uint64_t now);

/** Embed it; the fields are the wheel's. */
struct roce_timer {
	struct roce_timer *next;
	struct roce_timer **pprev; /**< NULL: not armed */
	uint64_t deadline;
	roce_timer_fn fire;
};

/**
 * @param granularity ticks per slot, at least 1; the deadline reported is that exact, not the firing.
 * @param start       time of the first advance, or earlier.
 * @return 0; -ENOMEM.
 */
int roce_wheel_create(const struct roce_memory *memory, uint64_t granularity, uint64_t start,
		struct roce_wheel **wheel);

/** Forgets what is still armed. */
void roce_wheel_destroy(struct roce_wheel *wheel);

static inline void
roce_timer_init(struct roce_timer *timer, roce_timer_fn fire)
{
	*timer = (struct roce_timer){ .fire = fire };
}

static inline bool
roce_timer_armed(const struct roce_timer *timer)
{
	return timer->pprev != NULL;
}

/** Arm, or move when it is armed already. A deadline in the past fires at the next advance. */
void roce_timer_arm(struct roce_wheel *wheel, struct roce_timer *timer, uint64_t deadline);

/** Disarm; nothing happens when it is not armed. */
void roce_timer_cancel(struct roce_wheel *wheel, struct roce_timer *timer);

/** The part of roce_wheel_advance() for when something may be due. */
void roce_wheel_fire(struct roce_wheel *wheel, uint64_t now);

/** Fire everything due. Time never goes back. */
static inline void
roce_wheel_advance(struct roce_wheel *wheel, uint64_t now)
{
	if (unlikely(now >= wheel->due))
		roce_wheel_fire(wheel, now);
}

/** When advance() should be called next: never later than the earliest deadline; ROCE_NEVER when nothing is armed. */
uint64_t roce_wheel_deadline(const struct roce_wheel *wheel);

/** Timers armed. */
uint32_t roce_wheel_count(const struct roce_wheel *wheel);

#endif
