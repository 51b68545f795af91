/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An agent makes calls for the very dispatcher that its thread is about to take from, to wait on or to resize. A call
 * that waited for itself would run into the test's timeout.
 */

#include <stdlib.h>
#include <string.h>

#include "dapl/cno.h"
#include "dapl/evd.h"
#include "dapl/event.h"
#include "dapl/ia.h"
#include "dapl/ia_limits.h"
#include "dapl/obj.h"
#include "dapl/status.h"
#include "dapl/wait.h"
#include "rules.h"

#define LEN 8u

/* So many dequeues of one thread make it the owner of a dispatcher, where the system lets anybody own one. */
#define LONG (4 * ROCE_BIAS_THRESHOLD)

static const int provider; /* stands for the table of calls */

static struct dapl_ia *ia;
static struct dapl_evd *evd; /* of which the agent takes */
static struct dapl_cno *cno;

/** The call that the agent makes when it is called for the first time, and the result. */
static struct {
	enum dapl_status (*act)(void);
	enum dapl_status status;
	struct roce_event event;
	uint32_t taker;  /**< of the dispatcher, when the agent has come */
	uint32_t inside; /**< is its owner */
	unsigned int calls;
} agent;

static void
hear(void *data, void *of)
{
	if (agent.calls++ != 0)
		return;
	agent.taker = evd->taker;
	agent.inside = evd->bias.inside[0] | evd->bias.inside[1];
	agent.status = agent.act();
}

static void
post(uint64_t pointer)
{
	assert_int_equal(dapl_evd_post_software(evd, pointer), DAPL_OK);
}

/* As another thread does it that has not come to wake anybody yet: whoever lets go of an engine next calls the agent. */
static void have_agent_called(enum dapl_status (*act)(void))
{
	const struct roce_event event = { .kind = DAPL_EVENT_SOFTWARE };
	struct roce_event old;

	memset(&agent, 0, sizeof(agent));
	agent.act = act;
	(void)roce_cq_poll(ia->async_evd->cq, &old, 1);
	roce_engine_lock(ia->engine0);
	assert_true(roce_cq_try_push(ia->async_evd->cq, &event));
	roce_engine_unlock_inner(ia->engine0);
}

static int
setup(void **state)
{
	const struct dapl_ia_open open = {
		.name = "mine",
		.params = "port=loop0 ip=192.0.2.1/24",
		.provider = &provider,
		.async_make = true,
		.async_len = LEN,
	};
	const struct dapl_agent hears = { .call = hear };

	assert_int_equal(dapl_ia_open(&open, &ia), DAPL_OK);
	assert_int_equal(dapl_cno_create(ia, &hears, &cno), DAPL_OK);
	assert_int_equal(dapl_evd_create(ia, LEN, DAPL_STREAM_SOFTWARE, NULL, &evd), DAPL_OK);
	/* The agent is called for another one than it takes of: its calls for that are its own affair. */
	dapl_evd_set_cno(ia->async_evd, cno);
	return 0;
}

static int
teardown(void **state)
{
	/* Closed, the object tells its agent so. */
	agent.calls = 1;
	assert_int_equal(dapl_ia_close(ia, false), DAPL_OK);
	return 0;
}

static void
want(enum dapl_status status, uint64_t pointer)
{
	struct roce_event event;

	assert_int_equal(dapl_evd_dequeue(evd, &event), status);
	if (status == DAPL_OK)
		assert_int_equal(event.wr_id, pointer);
}

/* No thread is in the dispatcher, and the next one that comes gets the event that is there. */
static void
want_at_rest(void)
{
	assert_int_equal(evd->taker, DAPL_TAKER_NONE);
	assert_int_equal(evd->bias.inside[0] | evd->bias.inside[1], 0);
	assert_false(rte_spinlock_is_locked(&evd->waiter_lock));
	post(77);
	want(DAPL_OK, 77);
	want(DAPL_QUEUE_EMPTY, 0);
}

static void
own(void)
{
	for (unsigned int i = 0; i < LONG; i++)
		want(DAPL_QUEUE_EMPTY, 0);
}

/* Each rule holds for a dispatcher that several threads use, and for one biased to its only one. */
static void
both(void (*rule)(void))
{
	rule();
	want_at_rest();
	own();
	rule();
	want_at_rest();
}

static enum dapl_status
take(void)
{
	return dapl_evd_dequeue(evd, &agent.event);
}

static enum dapl_status
post_and_take(void)
{
	post(1);
	post(2);
	return take();
}

static enum dapl_status
post_and_wait(void)
{
	uint32_t more;

	post(1);
	post(2);
	return dapl_evd_wait(evd, DAPL_INFINITE, 1, &agent.event, &more);
}

static enum dapl_status
post_and_resize(void)
{
	post(2);
	return dapl_evd_resize(evd, 4 * LEN);
}

static enum dapl_status
resize(void)
{
	return dapl_evd_resize(evd, 2 * LEN);
}

static enum dapl_status
look(void)
{
	uint32_t more;

	return dapl_evd_wait(evd, 0, 1, &agent.event, &more);
}

static enum dapl_status
end(void)
{
	return dapl_evd_free(evd);
}

/* ---- in a dequeue ---- */

static void
dequeue_of_nothing(void)
{
	have_agent_called(take);
	want(DAPL_QUEUE_EMPTY, 0);
	assert_fields(agent, (calls, 1), (status, DAPL_QUEUE_EMPTY));
	/* Another thread would find it free. */
	assert_fields(agent, (taker, DAPL_TAKER_NONE), (inside, 0));
}

static void
dequeue_before_the_caller(void)
{
	have_agent_called(post_and_take);
	want(DAPL_OK, 2);
	assert_fields(agent, (status, DAPL_OK), (event.wr_id, 1));
}

/* The agent finds what is there, or nothing; its caller goes on behind it. */
UNIT_RULE(dequeue__of_an_agent_in_a_dequeue)
{
	both(dequeue_of_nothing);
	both(dequeue_before_the_caller);
}

static void
wait_before_the_caller(void)
{
	have_agent_called(post_and_wait);
	want(DAPL_OK, 2);
	assert_fields(agent, (status, DAPL_OK), (event.wr_id, 1));
}

UNIT_RULE(wait__of_an_agent_in_a_dequeue)
{
	both(wait_before_the_caller);
}

static void
resize_before_the_caller(void)
{
	have_agent_called(post_and_resize);
	want(DAPL_OK, 2);
	assert_int_equal(agent.status, DAPL_OK);
	assert_int_equal(roce_cq_depth(evd->cq), 4 * LEN);
	assert_int_equal(dapl_evd_resize(evd, LEN), DAPL_OK);
}

UNIT_RULE(resize__of_an_agent_in_a_dequeue)
{
	both(resize_before_the_caller);
}

/* The next dispatcher may get the memory of the one that ends here, and must not be taken for it. */
static enum dapl_status
end_and_begin(void)
{
	enum dapl_status status = dapl_evd_free(evd);
	struct dapl_evd *next;

	assert_int_equal(dapl_evd_create(ia, LEN, DAPL_STREAM_SOFTWARE, NULL, &next), DAPL_OK);
	assert_int_equal(dapl_evd_post_software(next, 1), DAPL_OK);
	return status;
}

/* Its caller does not touch what is gone. */
UNIT_RULE(free__of_an_agent_in_a_dequeue)
{
	have_agent_called(end_and_begin);
	want(DAPL_QUEUE_EMPTY, 0);
	assert_int_equal(agent.status, DAPL_OK);
	assert_null(dapl_obj_check(evd, DAPL_EVD));
}

/* ---- in a wait: the thread that waits has the dispatcher to itself ---- */

static void
in_a_wait(enum dapl_status (*act)(void), enum dapl_status status)
{
	struct roce_event event;
	uint32_t more;

	have_agent_called(act);
	assert_int_equal(dapl_evd_wait(evd, 0, 1, &event, &more), DAPL_TIMEOUT);
	assert_fields(agent, (calls, 1), (taker, DAPL_TAKER_WAITER), (status, status));
}

static void
all_in_a_wait(void)
{
	in_a_wait(take, DAPL_EVD_WAITER);
	in_a_wait(look, DAPL_EVD_WAITER);
	in_a_wait(end, DAPL_EVD_WAITER);
	in_a_wait(resize, DAPL_OK);
	assert_int_equal(roce_cq_depth(evd->cq), 2 * LEN);
	assert_int_equal(dapl_evd_resize(evd, LEN), DAPL_OK);
}

UNIT_RULE(wait__has_it_to_itself_before_its_agent)
{
	both(all_in_a_wait);
}

/* ---- in a resize ---- */

static void
in_a_resize(enum dapl_status (*act)(void), enum dapl_status status)
{
	have_agent_called(act);
	assert_int_equal(dapl_evd_resize(evd, 3 * LEN), DAPL_OK);
	assert_fields(agent, (calls, 1), (taker, DAPL_TAKER_NONE), (status, status));
}

static void
all_in_a_resize(void)
{
	in_a_resize(take, DAPL_QUEUE_EMPTY);
	in_a_resize(post_and_take, DAPL_OK);
	want(DAPL_OK, 2);
	in_a_resize(look, DAPL_TIMEOUT);
	/* The last word is the agent's: the caller had changed the length before. */
	in_a_resize(resize, DAPL_OK);
	assert_int_equal(roce_cq_depth(evd->cq), 2 * LEN);
	assert_int_equal(dapl_evd_resize(evd, LEN), DAPL_OK);
}

UNIT_RULE(resize__is_over_before_an_agent_is_called)
{
	both(all_in_a_resize);
}

/* A thread that waits is made by hand: it would poll the device, and call the agent itself. */
UNIT_RULE(resize__beside_a_waiter_is_over_before_an_agent_is_called)
{
	evd->threshold = 1;
	evd->taker = DAPL_TAKER_WAITER;
	have_agent_called(resize);
	assert_int_equal(dapl_evd_resize(evd, 3 * LEN), DAPL_OK);
	assert_fields(agent, (calls, 1), (status, DAPL_OK));
	assert_int_equal(roce_cq_depth(evd->cq), 2 * LEN);
	evd->taker = DAPL_TAKER_NONE;
	evd->threshold = 0;
	want_at_rest();
}
