/* SPDX-License-Identifier: BSD-3-Clause */
/* Armed completion queues: which events are delivered to whom, and when; and queues that change their length. */

#include <errno.h>
#include <string.h>

#include "queue/cq.h"
#include "fixture.h"

#define EVENT(...) (&(const struct roce_event){ .kind = ROCE_EVENT_RECV, __VA_ARGS__ })

static struct fx_end end;
static unsigned int wakes;
static int owner;

/* A lock that this thread holds could not be had again. */
static void
wake(void *arg)
{
	wakes++;
	for (unsigned int i = 0; i < roce_domain_engines(end.domain); i++) {
		struct roce_engine *e = roce_domain_engine(end.domain, i);

		assert_true(roce_engine_trylock(e));
		roce_engine_unlock(e);
	}
}

static int
setup_engines(unsigned int engines)
{
	const struct fx_options options = { .engines = engines };

	fx_end_open(&end, 1, &options);
	end.domain->config.wake = wake;
	wakes = 0;
	return 0;
}

static int
setup(void **state)
{
	return setup_engines(1);
}

static int
setup_two(void **state)
{
	return setup_engines(2);
}

static int
teardown(void **state)
{
	fx_end_close(&end);
	return fx_live() != 0;
}

static struct roce_cq *
make(uint32_t depth, bool armed)
{
	struct roce_cq *cq = fx_cq(&end, depth, &owner);

	if (armed)
		roce_cq_add_waiter(cq);
	return cq;
}

static void
lock(void)
{
	roce_engine_lock(end.engine);
}

static void
unlock(void)
{
	roce_engine_unlock(end.engine);
}

/* @return how many events were delivered under this lock. */
static unsigned int
delivered_of(struct roce_cq *cq, const struct roce_event *event)
{
	unsigned int before = end.async_events;

	lock();
	assert_true(roce_cq_push(cq, event));
	assert_int_equal(end.async_events, before);
	unlock();
	if (end.async_events == before)
		return 0;
	assert_int_equal(end.async_events, before + 1);
	assert_int_equal(end.async_event[before].kind, ROCE_ENGINE_ASYNC_CQ_EVENTS);
	assert_ptr_equal(end.async_event[before].owner, &owner);
	return (unsigned int)end.async_event[before].status;
}

UNIT_RULE(armed__delivers_events_and_wakes)
{
	struct roce_cq *cq = make(8, false);

	assert_int_equal(delivered_of(cq, EVENT()), 0);
	roce_cq_add_waiter(cq);
	/* An event from before wakes no waiter: a waiter looks at the queue first. */
	assert_int_equal(end.async_events, 0);
	assert_int_equal(wakes, 0);
	assert_int_equal(delivered_of(cq, EVENT()), 1);
	assert_int_equal(wakes, 1);
	lock();
	unlock();
	assert_int_equal(wakes, 1);
	lock();
	for (int i = 0; i < 5; i++)
		assert_true(roce_cq_push(cq, EVENT()));
	unlock();
	assert_int_equal(end.async_events, 2);
	assert_int_equal(end.async_event[1].status, 5);
	assert_int_equal(wakes, 2);
	roce_cq_remove_waiter(cq);
	assert_int_equal(delivered_of(cq, EVENT()), 0);
	assert_int_equal(wakes, 2);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

/* It is armed until each waiter has left. */
UNIT_RULE(armed__is_counted)
{
	struct roce_cq *cq = make(8, true);

	roce_cq_add_waiter(cq);
	roce_cq_remove_waiter(cq);
	assert_int_equal(delivered_of(cq, EVENT()), 1);
	roce_cq_remove_waiter(cq);
	assert_int_equal(delivered_of(cq, EVENT()), 0);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

/* Every event counts, though the consumer takes them while they are pushed, round and round the ring. */
UNIT_RULE(armed__counts_what_was_taken_at_once)
{
	struct roce_event event;

	for (uint32_t depth = 1; depth <= 5; depth++) {
		struct roce_cq *cq = make(depth, true);

		lock();
		for (int i = 0; i < 20; i++) {
			assert_true(roce_cq_push(
					cq, EVENT(.flags = i % 4 == 0 ? ROCE_EVENT_QUIET : 0)));
			assert_int_equal(roce_cq_poll(cq, &event, 1), 1);
		}
		unlock();
		assert_int_equal(end.async_event[end.async_events - 1].status, 15);
		assert_int_equal(roce_cq_destroy(cq), 0);
	}
}

/* An event that is lost for want of room does not count; only the overflow is delivered. */
UNIT_RULE(armed__not_of_what_is_lost)
{
	struct roce_cq *cq = make(2, true);

	lock();
	assert_true(roce_cq_push(cq, EVENT()));
	assert_true(roce_cq_push(cq, EVENT()));
	assert_false(roce_cq_push(cq, EVENT()));
	unlock();
	assert_int_equal(end.async_events, 2);
	assert_int_equal(end.async_event[0].kind, ROCE_ENGINE_ASYNC_CQ_OVERFLOW);
	assert_int_equal(end.async_event[1].status, 2);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

/* Which events wake, as a table. */
UNIT_RULE(armed__of_events_that_wake)
{
	static const struct {
		struct roce_event event;
		bool any, solicited;
	} rule[] = {
		{ { .kind = ROCE_EVENT_RECV }, true, false },
		{ { .kind = ROCE_EVENT_RECV, .flags = ROCE_EVENT_SOLICITED }, true, true },
		{ { .kind = ROCE_EVENT_RECV, .flags = ROCE_EVENT_QUIET }, false, false },
		{ { .kind = ROCE_EVENT_SEND, .flags = ROCE_EVENT_QUIET }, false, false },
		{ { .kind = ROCE_EVENT_BIND, .flags = ROCE_EVENT_QUIET }, false, false },
		{ { .kind = ROCE_EVENT_SEND,
				  .status = IBV_WC_WR_FLUSH_ERR,
				  .flags = ROCE_EVENT_QUIET },
				true, true },
		{ { .kind = ROCE_EVENT_RECV, .status = IBV_WC_LOC_LEN_ERR }, true, true },
		{ { .kind = ROCE_EVENT_USER }, true, true },
	};
	struct roce_cq *cq = make(2 * RTE_DIM(rule), true);

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		roce_cq_set_solicited(cq, false);
		assert_int_equal(delivered_of(cq, &rule[i].event), rule[i].any);
		roce_cq_set_solicited(cq, true);
		assert_int_equal(delivered_of(cq, &rule[i].event), rule[i].solicited);
	}
	assert_int_equal(wakes, end.async_events);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

/* Several queues: one delivery each, and one wake-up for all. */
UNIT_RULE(armed__of_several_queues)
{
	struct roce_cq *cq[3];
	unsigned int delivered = 0;

	for (int i = 0; i < 3; i++)
		cq[i] = make(4, i != 1);
	lock();
	for (int i = 0; i < 3; i++)
		for (int n = 0; n <= i; n++)
			assert_true(roce_cq_push(cq[i], EVENT()));
	unlock();
	assert_int_equal(end.async_events, 2);
	delivered = (unsigned int)(end.async_event[0].status + end.async_event[1].status);
	assert_int_equal(delivered, 4);
	assert_int_equal(wakes, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(roce_cq_destroy(cq[i]), 0);
}

/* Waiters are woken when the last of several locks is dropped, though events are delivered at the first. */
UNIT_RULE_IN(armed__wakes_behind_the_last_lock, setup_two, teardown)
{
	struct roce_engine *inner = roce_domain_engine(end.domain, 1);
	struct roce_cq *cq = make(4, true);

	lock();
	roce_engine_lock(inner);
	assert_true(roce_cq_push(cq, EVENT()));
	roce_engine_unlock_inner(inner);
	assert_int_equal(end.async_events, 1);
	assert_int_equal(wakes, 0);
	unlock();
	assert_int_equal(wakes, 1);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

UNIT_RULE(resize__refuses_what_create_refuses)
{
	struct roce_cq *cq = make(4, false);

	assert_int_equal(roce_cq_resize(cq, 0), -EINVAL);
	assert_int_equal(roce_cq_resize(cq, UINT32_MAX), -EINVAL);
	assert_int_equal(roce_cq_depth(cq), 4);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

UNIT_RULE(resize__without_memory_changes_nothing)
{
	struct roce_cq *cq = make(4, false);
	struct roce_event event;

	assert_true(roce_cq_push(cq, EVENT(.wr_id = 7)));
	fx_fail(1);
	assert_int_equal(roce_cq_resize(cq, 5), -ENOMEM);
	assert_int_equal(roce_cq_depth(cq), 4);
	assert_int_equal(roce_cq_poll(cq, &event, 2), 1);
	assert_int_equal(event.wr_id, 7);
	/* The same ring holds 3 as well: no memory is needed. */
	fx_fail(1);
	assert_int_equal(roce_cq_resize(cq, 3), 0);
	fx_fail(0);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

static void
resize_with(uint32_t from, uint32_t to, uint32_t n)
{
	struct roce_cq *cq = make(from, n % 2 == 0);
	struct roce_event event;

	for (uint32_t i = 0; i < 7; i++) {
		assert_true(roce_cq_push(cq, EVENT()));
		assert_int_equal(roce_cq_poll(cq, &event, 1), 1);
	}
	for (uint32_t i = 0; i < n; i++)
		assert_true(roce_cq_push(cq, EVENT(.wr_id = i)));
	assert_int_equal(roce_cq_resize(cq, to), n > to ? -EBUSY : 0);
	assert_int_equal(roce_cq_depth(cq), n > to ? from : to);
	for (uint32_t i = n; i < roce_cq_depth(cq); i++)
		assert_true(roce_cq_push(cq, EVENT(.wr_id = i)));
	assert_false(roce_cq_push(cq, EVENT()));
	for (uint32_t i = 0; roce_cq_poll(cq, &event, 1) == 1; i++)
		assert_int_equal(event.wr_id, i);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

/* From every length to every other, with every number of events, in the middle of the ring, armed or not. */
UNIT_RULE(resize__keeps_events_and_counts)
{
	for (uint32_t from = 1; from <= 9; from++)
		for (uint32_t to = 1; to <= 9; to++)
			for (uint32_t n = 0; n <= from; n++)
				resize_with(from, to, n);
}

/* An event that was pushed and taken already is delivered all the same when the ring it lay in is gone. */
UNIT_RULE(resize__forgets_no_delivery)
{
	struct roce_cq *cq = make(2, true);
	struct roce_event event;

	roce_cq_set_solicited(cq, true);
	assert_true(roce_cq_push(cq, EVENT(.flags = ROCE_EVENT_SOLICITED)));
	assert_int_equal(roce_cq_poll(cq, &event, 1), 1);
	assert_int_equal(roce_cq_resize(cq, 64), 0);
	assert_int_equal(end.async_events, 1);
	assert_int_equal(end.async_event[0].status, 1);
	assert_int_equal(delivered_of(cq, EVENT(.flags = ROCE_EVENT_SOLICITED)), 1);
	assert_int_equal(roce_cq_destroy(cq), 0);
}
