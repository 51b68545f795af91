/* SPDX-License-Identifier: BSD-3-Clause */
/* The state SQD (IBTA Vol 1, 10.3.1.5): what was begun ends, nothing else begins, and who hears of it. */

#include "steps.h"

#define LARGE  60000u /**< bytes of a message that is under way for a while */
#define NOTIFY (ROCE_QP_MOD_STATE | ROCE_QP_MOD_EN_SQD_ASYNC_NOTIFY)

static int
send_some(struct pair *pair, uint64_t wr_id, uint32_t len)
{
	const struct roce_wr wr = {
		.wr_id = wr_id, .opcode = ROCE_WR_SEND, .flags = ROCE_WR_SIGNALED
	};

	return post_send(&pair->a, wr, 0, len);
}

static struct roce_qp_mod
query(struct roce_qp *qp)
{
	struct roce_qp_mod mod;

	roce_qp_query(qp, &mod);
	return mod;
}

/* Connected, with two receives at b, and a message of a under way that b has not seen. */
static struct roce_qp_mod
under_way(struct pair *pair)
{
	struct roce_qp_mod mod = mod_a(pair);

	mod.en_sqd_async_notify = 1;
	both_up(pair, mod, mod_b(pair));
	ok(post_recv(&pair->b, pair->b.qp, 1, 0, BYTES));
	ok(post_recv(&pair->b, pair->b.qp, 2, 0, BYTES));
	ok(send_some(pair, 1, LARGE));
	(void)roce_device_poll(pair->a.device);
	return mod;
}

static void
want_of(struct pair *pair, struct roce_cq *cq, uint64_t wr_id)
{
	assert_int_equal(want_completion(pair, cq, ROCE_WC_SUCCESS).wr_id, wr_id);
}

/* Neither completion nor event, however often the devices are polled. */
static void
nothing_moves(struct pair *pair)
{
	settle(pair);
	assert_int_equal(roce_cq_count(pair->a.cq), 0);
	assert_int_equal(roce_cq_count(pair->b.cq), 0);
	want_quiet(pair, &pair->a);
}

/* Requests are posted in SQD as ever; they leave with the step to RTS. */
static void
sqd__finishes_what_was_begun_and_begins_nothing(void **state)
{
	struct pair *pair = *state;
	const struct roce_qp_mod mod = under_way(pair);

	ok(step(pair->a.qp, mod, ROCE_QPS_SQD, NOTIFY));
	assert_int_equal(query(pair->a.qp).state, ROCE_QPS_SQD);
	assert_int_equal(query(pair->a.qp).sq_draining, 1);
	ok(send_some(pair, 2, 64));
	want_of(pair, pair->a.cq, 1);
	want_of(pair, pair->b.cq, 1);
	want_async(pair, pair->a.context, ROCE_ASYNC_SQ_DRAINED, &pair->a);
	assert_int_equal(query(pair->a.qp).sq_draining, 0);
	nothing_moves(pair);
	ok(step(pair->a.qp, mod, ROCE_QPS_RTS, ROCE_QP_MOD_STATE));
	assert_int_equal(state_of(pair->a.qp), ROCE_QPS_RTS);
	want_of(pair, pair->a.cq, 2);
	want_of(pair, pair->b.cq, 2);
}

/* A request that was posted before and not begun waits, too: the queue has drained at once. */
static void
sqd__is_drained_at_once_when_nothing_was_begun(void **state)
{
	struct pair *pair = *state;
	struct roce_qp_mod mod = mod_a(pair);

	mod.en_sqd_async_notify = 1;
	both_up(pair, mod, mod_b(pair));
	ok(post_recv(&pair->b, pair->b.qp, 1, 0, BYTES));
	ok(send_some(pair, 1, LARGE));
	ok(step(pair->a.qp, mod, ROCE_QPS_SQD, NOTIFY));
	assert_int_equal(query(pair->a.qp).sq_draining, 0);
	want_async(pair, pair->a.context, ROCE_ASYNC_SQ_DRAINED, &pair->a);
	nothing_moves(pair);
	ok(step(pair->a.qp, mod, ROCE_QPS_RTS, ROCE_QP_MOD_STATE));
	want_of(pair, pair->a.cq, 1);
	want_of(pair, pair->b.cq, 1);
}

/* Without the attribute, and with one that says no, the drain ends in silence. */
static void
sqd__tells_only_when_asked(void **state)
{
	struct pair *pair = *state;
	struct roce_qp_mod mod = under_way(pair);

	ok(step(pair->a.qp, mod, ROCE_QPS_SQD, ROCE_QP_MOD_STATE));
	want_of(pair, pair->a.cq, 1);
	want_of(pair, pair->b.cq, 1);
	want_quiet(pair, &pair->a);
	ok(step(pair->a.qp, mod, ROCE_QPS_RTS, ROCE_QP_MOD_STATE));
	mod.en_sqd_async_notify = 0;
	ok(step(pair->a.qp, mod, ROCE_QPS_SQD, NOTIFY));
	want_quiet(pair, &pair->a);
}

/* A READ is over when its answer is there; the answers of this end to the peer go on. */
static void
sqd__waits_for_a_read_and_answers_others(void **state)
{
	struct pair *pair = *state;
	struct roce_qp_mod mod = mod_a(pair);
	struct roce_wr read = { .wr_id = 1,
		.opcode = ROCE_WR_RDMA_READ,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = (uintptr_t)pair->b.memory,
		.rkey = roce_mr_key(pair->b.mr) };

	mod.en_sqd_async_notify = 1;
	both_up(pair, mod, mod_b(pair));
	ok(post_send(&pair->a, read, 0, LARGE));
	(void)roce_device_poll(pair->a.device);
	ok(step(pair->a.qp, mod, ROCE_QPS_SQD, NOTIFY));
	assert_int_equal(query(pair->a.qp).sq_draining, 1);
	want_of(pair, pair->a.cq, 1);
	want_async(pair, pair->a.context, ROCE_ASYNC_SQ_DRAINED, &pair->a);
	ok(post_recv(&pair->a, pair->a.qp, 3, 0, BYTES));
	read.wr_id = 4;
	read.remote_addr = (uintptr_t)pair->a.memory;
	read.rkey = roce_mr_key(pair->a.mr);
	ok(post_send(&pair->b, read, 0, LARGE));
	want_of(pair, pair->b.cq, 4);
	ok(post_send(&pair->b,
			(struct roce_wr){ .wr_id = 5,
					.opcode = ROCE_WR_SEND,
					.flags = ROCE_WR_SIGNALED },
			0, 64));
	want_of(pair, pair->b.cq, 5);
	want_of(pair, pair->a.cq, 3);
}

/* While it drains only RESET and ERR are open; then the attributes of the timeout can change. */
static void
sqd__changes_when_it_has_drained(void **state)
{
	const uint32_t retries =
			ROCE_QP_MOD_TIMEOUT | ROCE_QP_MOD_RETRY_CNT | ROCE_QP_MOD_RNR_RETRY;
	struct pair *pair = *state;
	struct roce_qp_mod mod = under_way(pair), got;

	mod.timeout = 20;
	mod.retry_cnt = 3;
	mod.rnr_retry = 2;
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_RTS, ROCE_QP_MOD_STATE | retries), -EINVAL);
	ok(step(pair->a.qp, mod, ROCE_QPS_SQD, NOTIFY));
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_RTS, ROCE_QP_MOD_STATE), -EINVAL);
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_SQD, ROCE_QP_MOD_STATE | retries), -EINVAL);
	assert_int_equal(roce_qp_modify(pair->a.qp, &mod, retries), -EINVAL);
	want_async(pair, pair->a.context, ROCE_ASYNC_SQ_DRAINED, &pair->a);
	ok(roce_qp_modify(pair->a.qp, &mod, retries));
	got = query(pair->a.qp);
	assert_int_equal(got.timeout, 20);
	assert_int_equal(got.retry_cnt, 3);
	assert_int_equal(got.rnr_retry, 2);
	assert_int_equal(got.state, ROCE_QPS_SQD);
	ok(step(pair->a.qp, mod, ROCE_QPS_SQD,
			ROCE_QP_MOD_STATE | ROCE_QP_MOD_ACCESS | ROCE_QP_MOD_PORT |
					ROCE_QP_MOD_PKEY_INDEX));
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_SQD,
					 ROCE_QP_MOD_STATE | ROCE_QP_MOD_MAX_RD_ATOMIC),
			-EOPNOTSUPP);
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_SQD,
					 ROCE_QP_MOD_STATE | ROCE_QP_MOD_MAX_DEST_RD_ATOMIC),
			-EOPNOTSUPP);
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_SQD, ROCE_QP_MOD_STATE | ROCE_QP_MOD_AV),
			-EOPNOTSUPP);
	assert_int_equal(
			step(pair->a.qp, mod, ROCE_QPS_SQD, ROCE_QP_MOD_STATE | ROCE_QP_MOD_SQ_PSN),
			-EINVAL);
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_INIT, ROCE_QP_MOD_STATE), -EINVAL);
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_RTS, ROCE_QP_MOD_STATE | retries), -EINVAL);
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_RTS, NOTIFY), -EINVAL);
}

/* Requests that wait in SQD are flushed in ERR; RESET drops them, and the queue pair can be connected again. */
static void
sqd__leads_to_err_and_reset(void **state)
{
	struct pair *pair = *state;
	const struct roce_qp_mod mod = under_way(pair);

	ok(step(pair->a.qp, mod, ROCE_QPS_SQD, NOTIFY));
	ok(send_some(pair, 2, 64));
	ok(step(pair->a.qp, mod, ROCE_QPS_ERR, ROCE_QP_MOD_STATE));
	assert_int_equal(state_of(pair->a.qp), ROCE_QPS_ERR);
	want_completion(pair, pair->a.cq, ROCE_WC_WR_FLUSH_ERR);
	want_completion(pair, pair->a.cq, ROCE_WC_WR_FLUSH_ERR);
	ok(step(pair->a.qp, mod, ROCE_QPS_RESET, ROCE_QP_MOD_STATE));
	ok(step(pair->b.qp, mod, ROCE_QPS_RESET, ROCE_QP_MOD_STATE));
	(void)under_way(pair);
	ok(step(pair->a.qp, mod, ROCE_QPS_SQD, NOTIFY));
	ok(step(pair->a.qp, mod, ROCE_QPS_RESET, ROCE_QP_MOD_STATE));
	ok(step(pair->b.qp, mod, ROCE_QPS_RESET, ROCE_QP_MOD_STATE));
	nothing_moves(pair);
	both_up(pair, mod_a(pair), mod_b(pair));
	assert_int_equal(state_of(pair->a.qp), ROCE_QPS_RTS);
	ok(post_recv(&pair->b, pair->b.qp, 3, 0, BYTES));
	ok(send_some(pair, 3, LARGE));
	want_of(pair, pair->a.cq, 3);
}

/* Only a queue pair in RTS drains, and one of which an id has charge does not. */
static void
sqd__follows_rts(void **state)
{
	struct pair *pair = *state;
	const struct roce_qp_mod mod = mod_a(pair);

	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_SQD, ROCE_QP_MOD_STATE), -EINVAL);
	ok(step(pair->a.qp, mod, ROCE_QPS_INIT, TO_INIT));
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_SQD, ROCE_QP_MOD_STATE), -EINVAL);
	to_rtr(pair, pair->a.qp, mod);
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_SQD, ROCE_QP_MOD_STATE), -EINVAL);
	ok(step(pair->a.qp, mod, ROCE_QPS_RESET, ROCE_QP_MOD_STATE));
	pair_connect(pair);
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_SQD, ROCE_QP_MOD_STATE), -EBUSY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(sqd__finishes_what_was_begun_and_begins_nothing),
		pair_test(sqd__is_drained_at_once_when_nothing_was_begun),
		pair_test(sqd__tells_only_when_asked),
		pair_test(sqd__waits_for_a_read_and_answers_others),
		pair_test(sqd__changes_when_it_has_drained),
		pair_test(sqd__leads_to_err_and_reset),
		pair_test(sqd__follows_rts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
