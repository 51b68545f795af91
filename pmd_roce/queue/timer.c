/* SPDX-License-Identifier: BSD-3-Clause */
/* A bitmap of the occupied slots makes both the walk over many empty slots and the deadline cheap. */

#include <errno.h>

#include <rte_common.h>

#include "queue/timer.h"

#define SLOTS     ROCE_WHEEL_SLOTS
#define SLOT_MASK (SLOTS - 1)

int
roce_wheel_create(const struct roce_memory *memory, uint64_t granularity, uint64_t start,
		struct roce_wheel **wheel)
{
	struct roce_wheel *w = memory->alloc(memory->arg, sizeof(*w));

	if (w == NULL)
		return -ENOMEM;
	w->due = ROCE_NEVER;
	w->granularity = granularity;
	w->tick = start / granularity;
	w->memory = *memory;
	*wheel = w;
	return 0;
}

void
roce_wheel_destroy(struct roce_wheel *wheel)
{
	if (wheel != NULL)
		wheel->memory.free(wheel->memory.arg, wheel);
}

void
roce_timer_cancel(struct roce_wheel *wheel, struct roce_timer *timer)
{
	uintptr_t offset = (uintptr_t)timer->pprev - (uintptr_t)wheel->slot;
	uint32_t index = (uint32_t)(offset / sizeof(wheel->slot[0]));

	if (timer->pprev == NULL)
		return;
	*timer->pprev = timer->next;
	if (timer->next != NULL)
		timer->next->pprev = timer->pprev;
	/* The last one of a slot is the one that the slot itself points to. */
	if (timer->next == NULL && offset < sizeof(wheel->slot))
		wheel->occupied[index / 64] &= ~(UINT64_C(1) << (index % 64));
	timer->next = NULL;
	timer->pprev = NULL;
	wheel->count--;
}

void
roce_timer_arm(struct roce_wheel *wheel, struct roce_timer *timer, uint64_t deadline)
{
	uint64_t tick = RTE_MAX(deadline / wheel->granularity, wheel->tick);
	uint32_t index = (uint32_t)(tick & SLOT_MASK);
	struct roce_timer **slot = &wheel->slot[index];

	roce_timer_cancel(wheel, timer);
	timer->deadline = deadline;
	timer->next = *slot;
	timer->pprev = slot;
	if (timer->next != NULL)
		timer->next->pprev = &timer->next;
	*slot = timer;
	wheel->occupied[index / 64] |= UINT64_C(1) << (index % 64);
	wheel->count++;
	wheel->due = RTE_MIN(wheel->due, deadline);
}

/* The first occupied slot at or behind @p from, within @p span slots; SLOTS when there is none. */
static uint32_t
next_occupied(const struct roce_wheel *wheel, uint64_t from, uint32_t span)
{
	uint32_t done = 0;

	while (done < span) {
		uint32_t index = (uint32_t)((from + done) & SLOT_MASK);
		uint64_t word = wheel->occupied[index / 64] >> (index % 64);

		if (word != 0) {
			done += (uint32_t)__builtin_ctzll(word);
			return done < span ? done : SLOTS;
		}
		done += 64 - index % 64;
	}
	return SLOTS;
}

/* Fire what is due in one slot. The list is taken apart first: a callback may arm into this very slot. */
static void
fire_slot(struct roce_wheel *wheel, uint32_t index, uint64_t now)
{
	struct roce_timer *due = NULL;
	struct roce_timer *timer = wheel->slot[index];
	struct roce_timer *next;

	for (; timer != NULL; timer = next) {
		next = timer->next;
		if (timer->deadline > now)
			continue;
		roce_timer_cancel(wheel, timer);
		timer->next = due;
		timer->pprev = &due;
		if (due != NULL)
			due->pprev = &timer->next;
		due = timer;
		wheel->count++;
	}
	while (due != NULL) {
		timer = due;
		/* A callback may cancel or move another due timer: always restart from the head. */
		due = timer->next;
		if (due != NULL)
			due->pprev = &due;
		timer->next = NULL;
		timer->pprev = NULL;
		wheel->count--;
		timer->fire(timer, now);
	}
}

/*
 * No later than the earliest timer, by what the slots say. A slot may hold only timers of later turns while one behind
 * it holds one of this turn: so it is no later than the end of the first that holds any.
 */
static uint64_t
earliest(const struct roce_wheel *wheel)
{
	uint32_t step = wheel->count == 0 ? SLOTS : next_occupied(wheel, wheel->tick, SLOTS);
	const struct roce_timer *timer;
	uint64_t at;

	if (step == SLOTS)
		return ROCE_NEVER;
	at = (wheel->tick + step + 1) * wheel->granularity;
	for (timer = wheel->slot[(wheel->tick + step) & SLOT_MASK]; timer != NULL;
			timer = timer->next)
		at = RTE_MIN(at, timer->deadline);
	return at;
}

void
roce_wheel_fire(struct roce_wheel *wheel, uint64_t now)
{
	uint64_t target = now / wheel->granularity;
	uint64_t from = wheel->tick;
	uint32_t left, step;

	if (target < from)
		return;
	left = (uint32_t)RTE_MIN(target - from + 1, (uint64_t)SLOTS);
	/* A timer that a callback arms for the past must land in a slot that is visited yet: the last one, or by the next advance. */
	wheel->tick = target;
	while (left > 0) {
		step = next_occupied(wheel, from, left);
		if (step == SLOTS)
			break;
		from += step;
		fire_slot(wheel, (uint32_t)(from & SLOT_MASK), now);
		from++;
		left -= step + 1;
	}
	wheel->due = earliest(wheel);
}

/* The slots may say less than is known: as long as nothing is due the wheel stands still. */
uint64_t
roce_wheel_deadline(const struct roce_wheel *wheel)
{
	return RTE_MAX(earliest(wheel), wheel->due);
}

uint32_t
roce_wheel_count(const struct roce_wheel *wheel)
{
	return wheel->count;
}
