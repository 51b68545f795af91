/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of requests: the real complete.c and cq.c, beside a thread that takes the completions and posts. */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "queue/complete.h"
#include "queue/extbuf.h"
#include "queue/mw.h"
#include "responder/zcrx.h"
#include "explore.h"
#include "memory.h"
#include "scenario.h"
#include "world.h"

#define REQUESTS 2u

struct scene {
	const char *name;
	enum ibv_wr_opcode opcode;
	unsigned int engines;
};

static const struct scene *scene;
static struct roce_qp *sender;

/* Called by complete.c for requests that are not in these scenes. */
void
roce_extbuf_complete(struct roce_qp *qp, enum ibv_wc_status status)
{
	model_fail("a request without ROCE_WQE_EXTBUF waits for the device");
}

void
roce_mw_revoke(struct roce_domain *domain, const struct roce_wqe *wqe)
{
	model_fail("a bind that succeeded is revoked");
}

void
roce_zcrx_withdraw(struct roce_qp *qp, uint32_t event_flags)
{
	model_fail("there are no zero-copy receives");
}

static void
prepare(void)
{
	const struct world_options options = {
		.engines = scene->engines,
		.cqs = 1,
		.max = 1,
		.cq_depth = REQUESTS,
	};

	world_make(&options);
	sender = memory_alloc(NULL, sizeof(*sender));
	sender->engine = world.domain->engine[0];
	sender->send_cq = world.cq[0];
	sender->wq.mask = REQUESTS - 1;
	sender->wq.stride_shift = 6;
	sender->wq.slots = memory_alloc(NULL, REQUESTS << sender->wq.stride_shift);
	for (uint32_t i = 0; i < REQUESTS; i++) {
		struct roce_wqe *wqe = roce_wq_slot(&sender->wq, i);

		wqe->opcode = (uint8_t)scene->opcode;
		wqe->flags = ROCE_WR_SIGNALED;
		wqe->wr_id = i;
	}
	sender->post.wq = sender->wq;
}

static void
complete(void)
{
	roce_engine_lock(sender->engine);
	if (scene->opcode == IBV_WR_BIND_MW)
		roce_qp_complete_bind(sender, IBV_WC_SUCCESS);
	else
		roce_qp_complete_send(sender, IBV_WC_SUCCESS);
	roce_engine_unlock(sender->engine);
}

/* The slot is written as the next post would. */
static void
take_and_post(void)
{
	struct roce_event event;

	if (roce_cq_poll(world.cq[0], &event, 1) == 0)
		return;
	if (roce_qp_done(sender) <= event.wr_id)
		model_fail("the completion of request %u is there, and its slot is not free",
				(unsigned int)event.wr_id);
	else
		roce_wq_slot(&sender->post.wq, (uint32_t)event.wr_id)->wr_id =
				event.wr_id + REQUESTS;
}

static void
run_script(unsigned int self)
{
	for (uint32_t i = 0; i < REQUESTS; i++) {
		if (self == 0)
			complete();
		else
			take_and_post();
	}
}

static void
finish(void)
{
	if (roce_qp_done(sender) != REQUESTS || world.cq[0]->head != REQUESTS)
		model_fail("not every request has ended, with one completion each");
	memory_free(NULL, sender->wq.slots);
	memory_free(NULL, sender);
	world_end();
}

static const struct scene scenes[] = {
	{ "complete_send", IBV_WR_SEND, 1 },
	{ "complete_send_2engines", IBV_WR_SEND, 2 },
	{ "complete_bind", IBV_WR_BIND_MW, 1 },
};

/*
 * A completion that the consumer has taken has made room for the next request, and nothing of the slot is read after
 * the poster may write it.
 */
static void
complete__makes_room_before_it_is_seen(void **state)
{
	for (size_t i = 0; i < RTE_DIM(scenes); i++) {
		struct model_program program = {
			.name = scenes[i].name,
			.threads = 2,
			.prepare = prepare,
			.script = run_script,
			.observe = world_observe,
			.finish = finish,
		};
		struct explore_tally tally;
		bool holds;

		scene = &scenes[i];
		holds = explore(&program, EXPLORE_REDUCED, &tally);
		printf("%-24s %9" PRIu64 " interleavings %10" PRIu64 " steps, %2u the longest\n",
				scene->name, tally.runs, tally.steps, tally.longest);
		if (!holds)
			explore_replay(&program, explore_schedule());
		if (!holds)
			fail_msg("%s: %s", scene->name, model_failure());
	}
}

int
scenario_complete(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(complete__makes_room_before_it_is_seen),
	};

	return cmocka_run_group_tests_name("completions", tests, NULL, NULL);
}
