/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "end_scene.h"

static bool
push(struct roce_cq *cq, uint64_t wr_id)
{
	const struct roce_event event = { .wr_id = wr_id, .kind = ROCE_EVENT_USER };

	return roce_cq_push(cq, &event);
}

UNIT_RULE(create__refuses_no_depth_and_too_much)
{
	struct roce_cq *cq;

	assert_int_equal(roce_cq_create(roce_domain_context(end.domain), 0, NULL, &cq), -EINVAL);
	assert_int_equal(roce_cq_create(roce_domain_context(end.domain), UINT32_MAX, NULL, &cq),
			-EINVAL);
}

UNIT_RULE(create__without_memory_leaves_nothing)
{
	const unsigned int before = fx_live();
	struct roce_cq *cq;

	for (unsigned int nth = 1; nth <= 2; nth++) {
		fx_fail(nth);
		assert_int_equal(roce_cq_create(roce_domain_context(end.domain), 8, NULL, &cq),
				-ENOMEM);
		assert_int_equal(fx_live(), before);
	}
}

/* Exactly the depth asked for, whatever the ring behind it, also after the cursors went round. */
UNIT_RULE(push__succeeds_exactly_depth_times)
{
	for (uint32_t depth = 1; depth <= 65; depth++) {
		struct roce_event event[70];
		struct roce_cq *cq = fx_cq(&end, depth, NULL);

		assert_int_equal(roce_cq_depth(cq), depth);
		for (uint32_t round = 0; round < 5; round++) {
			for (uint32_t i = 0; i < depth; i++)
				assert_true(push(cq, round * 100 + i));
			assert_false(push(cq, 999));
			assert_int_equal(roce_cq_count(cq), depth);
			assert_int_equal(roce_cq_poll(cq, event, 70), depth);
			for (uint32_t i = 0; i < depth; i++)
				assert_int_equal(event[i].wr_id, round * 100 + i);
		}
		assert_int_equal(roce_cq_destroy(cq), 0);
	}
}

UNIT_RULE(push__to_a_full_queue_loses_the_event_and_says_so)
{
	int owner;
	struct roce_cq *cq = fx_cq(&end, 2, &owner);

	assert_true(push(cq, 1));
	assert_true(push(cq, 2));
	assert_int_equal(end.async_events, 0);
	assert_false(push(cq, 3));
	assert_int_equal(end.async_events, 1);
	assert_fields(end.async_event[0], (kind, ROCE_ENGINE_ASYNC_CQ_OVERFLOW), (owner, &owner));
	assert_int_equal(roce_cq_count(cq), 2);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

/* A try that finds the queue full causes no async event, because its caller can do without the event. */
UNIT_RULE(try_push__to_a_full_queue_changes_nothing)
{
	const struct roce_event event = { .kind = ROCE_EVENT_USER, .wr_id = 2 };
	struct roce_event taken;
	struct roce_cq *cq = fx_cq(&end, 1, NULL);

	assert_true(push(cq, 1));
	assert_false(roce_cq_try_push(cq, &event));
	assert_int_equal(end.async_events, 0);
	assert_int_equal(roce_cq_poll(cq, &taken, 1), 1);
	assert_int_equal(taken.wr_id, 1);
	assert_true(roce_cq_try_push(cq, &event));
	assert_int_equal(roce_cq_poll(cq, &taken, 1), 1);
	assert_int_equal(taken.wr_id, 2);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

/* A queue pair's completion that finds no room is counted where telemetry looks for it. */
UNIT_RULE(push__of_a_lost_completion_is_counted)
{
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	struct roce_qp *qp;
	struct roce_cq *cq = fx_cq(&end, 1, NULL);

	attr.send_cq = cq;
	qp = fx_qp(&end, &attr);
	fx_up(qp, &connect);
	assert_int_equal(fx_send(&end, qp, 1, 0, 8, ROCE_WR_SIGNALED), 0);
	assert_int_equal(fx_send(&end, qp, 2, 0, 8, ROCE_WR_SIGNALED), 0);
	fx_to_error(qp);
	assert_int_equal(end.async_event[0].kind, ROCE_ENGINE_ASYNC_CQ_OVERFLOW);
	assert_int_equal(fx_stats(&end)->cq_overflow, 1);
	roce_qp_destroy(qp);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

UNIT_RULE(poll__takes_the_oldest_first_and_no_more_than_asked)
{
	struct roce_event event[8];

	assert_int_equal(roce_cq_poll(end.send_cq, event, 8), 0);
	for (uint32_t i = 0; i < 5; i++)
		assert_true(push(end.send_cq, i));
	assert_int_equal(roce_cq_poll(end.send_cq, event, 0), 0);
	assert_int_equal(roce_cq_poll(end.send_cq, event, 2), 2);
	assert_int_equal(event[0].wr_id, 0);
	assert_int_equal(event[1].wr_id, 1);
	assert_int_equal(roce_cq_count(end.send_cq), 3);
	assert_int_equal(roce_cq_poll(end.send_cq, event, 8), 3);
	assert_int_equal(event[2].wr_id, 4);
	assert_int_equal(roce_cq_count(end.send_cq), 0);
}

UNIT_RULE(poll__carries_every_field)
{
	const struct roce_event want = {
		.wr_id = UINT64_MAX - 1,
		.owner = &end,
		.byte_len = 0x80000000,
		.imm = 0x01020304,
		.kind = ROCE_EVENT_USER + 3,
		.status = IBV_WC_GENERAL_ERR,
		.flags = ROCE_EVENT_IMM | ROCE_EVENT_SOLICITED,
		.opcode = 77,
		.zcrx = 0xabcd,
	};
	struct roce_event got;

	assert_true(roce_cq_push(end.send_cq, &want));
	got = fx_event(end.send_cq);
	assert_memory_equal(&got, &want, sizeof(got));
}

UNIT_RULE(destroy__waits_for_the_queue_pairs)
{
	struct roce_qp *qp = fx_qp(&end, NULL);

	assert_int_equal(roce_cq_destroy(end.send_cq), -EBUSY);
	assert_int_equal(roce_cq_destroy(end.recv_cq), -EBUSY);
	roce_qp_destroy(qp);
}

UNIT_RULE(destroy__drops_what_is_inside)
{
	for (uint32_t i = 0; i < 5; i++)
		assert_true(push(end.send_cq, i));
	assert_int_equal(roce_cq_destroy(end.send_cq), 0);
	end.send_cq = NULL;
}

/* An event that is looked at stays where it is, oldest first, also behind the wrap of the ring. */
UNIT_RULE(look__leaves_the_events_there)
{
	struct roce_event event;
	struct roce_cq *cq = fx_cq(&end, 3, NULL);

	assert_false(roce_cq_look(cq, 0, &event));
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(push(cq, i));
		assert_true(push(cq, 100 + i));
		assert_true(roce_cq_look(cq, 1, &event));
		assert_int_equal(event.wr_id, 100 + i);
		assert_true(roce_cq_look(cq, 0, &event));
		assert_int_equal(event.wr_id, i);
		assert_false(roce_cq_look(cq, 2, &event));
		assert_int_equal(roce_cq_count(cq), 2);
		assert_int_equal(roce_cq_poll(cq, &event, 1), 1);
		assert_int_equal(event.wr_id, i);
		assert_int_equal(roce_cq_poll(cq, &event, 1), 1);
	}
	assert_int_equal(roce_cq_destroy(cq), 0);
}
