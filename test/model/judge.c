/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts: what must be true of a call, of the async events of a run, in every order. */

#include <errno.h>

#include "script.h"
#include "world.h"

typedef bool (*state_fn)(const struct world_state *s, const struct script_call *call);

/* Was there a moment, from the call to the return, of which this is true? */
static bool
once(const struct script_call *call, state_fn is)
{
	for (unsigned int m = call->begin; m <= call->end; m++) {
		if (is(&world.states[m], call))
			return true;
	}
	return false;
}

static bool
has_room(const struct world_state *s, const struct script_call *call)
{
	return world_outstanding(s) < s->max;
}

static bool
is_full(const struct world_state *s, const struct script_call *call)
{
	return world_outstanding(s) >= s->max;
}

static bool
is_empty(const struct world_state *s, const struct script_call *call)
{
	return world_available(s) == 0;
}

static bool
may_shrink(const struct world_state *s, const struct script_call *call)
{
	return world_outstanding(s) <= call->word.number && s->low <= call->word.number;
}

static bool
may_not_shrink(const struct world_state *s, const struct script_call *call)
{
	return !may_shrink(s, call);
}

static bool
low_fits(const struct world_state *s, const struct script_call *call)
{
	return call->word.number <= s->max;
}

static bool
low_exceeds(const struct world_state *s, const struct script_call *call)
{
	return call->word.number > s->max;
}

static bool
is_the_answer(const struct world_state *s, const struct script_call *call)
{
	return call->counts.max == s->max && call->counts.available == world_available(s) &&
			call->counts.outstanding == world_outstanding(s) &&
			call->counts.low == s->low && call->counts.armed == (s->armed != 0);
}

static bool
counts_hold(const struct roce_srq_counts *c)
{
	return c->available <= c->outstanding && c->outstanding <= c->max;
}

static void
judge_query(const struct script_call *call)
{
	const struct roce_srq_counts *c = &call->counts;

	if (!counts_hold(c) || !once(call, is_the_answer))
		model_fail("query answers max %u available %u outstanding %u low %u%s, which never was",
				c->max, c->available, c->outstanding, c->low,
				c->armed ? " armed" : "");
	if (c->armed && c->available < c->low)
		model_fail("query answers available %u low %u, and still armed", c->available,
				c->low);
}

static void
judge_outcome(const struct script_call *call, const char *what, int refusal, state_fn good,
		state_fn bad)
{
	if (call->rc != 0 && call->rc != refusal)
		model_fail("%s%u returns %d", what, call->word.number, call->rc);
	if (call->rc == 0 && !once(call, good))
		model_fail("%s%u was granted and never could be", what, call->word.number);
	if (call->rc != 0 && (!call->word.may_fail || !once(call, bad)))
		model_fail("%s%u was refused without a reason", what, call->word.number);
}

static bool
always(const struct world_state *s, const struct script_call *call)
{
	return true;
}

void
judge_call(const struct script_call *call)
{
	switch (call->word.verb) {
	case SCRIPT_POST:
		judge_outcome(call, "post", -ENOSPC, has_room, is_full);
		break;
	case SCRIPT_TAKE:
		judge_outcome(call, "take", -EAGAIN, always, is_empty);
		break;
	case SCRIPT_LOW:
		judge_outcome(call, "low", -EINVAL, low_fits, low_exceeds);
		break;
	case SCRIPT_RESIZE:
		judge_outcome(call, "resize", -EBUSY, may_shrink, may_not_shrink);
		break;
	case SCRIPT_STARVE:
		if (call->rc != -ENOMEM)
			model_fail("a resize without memory returns %d", call->rc);
		break;
	case SCRIPT_QUERY:
		judge_query(call);
		break;
	case SCRIPT_FREE:
		judge_outcome(call, "free", -EBUSY, always, always);
		break;
	default:
		if (call->rc != 0)
			model_fail("a call that cannot fail returns %d", call->rc);
		break;
	}
}

/* Was less available than the mark, at some moment of these? */
static bool
went_below(uint32_t mark, unsigned int from, unsigned int to)
{
	for (unsigned int m = from; m <= to; m++) {
		if (world_available(&world.states[m]) < mark)
			return true;
	}
	return false;
}

/*
 * Each async event belongs to one arming and each arming has at most one async event. An arming lasts from its call to the
 * return of the next one; while two calls of which one arms and one takes last at once, either may have been first.
 * So there are armings that must have an async event (less was available at a moment that is certainly theirs), those
 * that may and those that may not; the async events of a run are right when they can be dealt out so.
 */
static bool
deal_out(const struct script_call *low, unsigned int n, unsigned int async_events)
{
	const unsigned int present = world.moments - 1;
	const struct world_async_event *next =
			&world.async_event[world.async_events - async_events];
	unsigned int sure_end, sure_begin;

	if (n == 0)
		return async_events == 0;
	sure_begin = low[0].end;
	sure_end = n > 1 ? low[1].begin : present;
	if (!went_below(low[0].word.number, sure_begin, sure_end) &&
			deal_out(low + 1, n - 1, async_events))
		return true;
	/* The next async event is this arming's: it came while it lasted, and not before less was available. */
	return async_events > 0 && next->tick > low[0].begin_tick &&
			(n == 1 || next->tick < low[1].end_tick) &&
			went_below(low[0].word.number, low[0].begin, next->moment) &&
			deal_out(low + 1, n - 1, async_events - 1);
}

void
judge_async_events(const struct script_call *low, unsigned int n)
{
	if (!deal_out(low, n, world.async_events))
		model_fail("%u async events for %u armings", world.async_events, n);
}
