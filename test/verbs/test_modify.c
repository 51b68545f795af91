/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs that a program moves step by step (roce/qp_modify.h): what each step wants, and what is set. */

#include <errno.h>
#include <string.h>

#include "steps.h"

static void
message(struct pair *pair, struct end *from, struct end *to)
{
	const struct roce_wr send = {
		.wr_id = 2, .opcode = ROCE_WR_SEND, .flags = ROCE_WR_SIGNALED
	};

	ok(post_recv(to, to->qp, 1, 0, 4096));
	ok(post_send(from, send, 8192, 3000));
	want_completion(pair, from->cq, ROCE_WC_SUCCESS);
	assert_int_equal(want_completion(pair, to->cq, ROCE_WC_SUCCESS).byte_len, 3000);
}

/* No connection manager takes part. */
static void
modify__connects_two_ends_by_their_numbers(void **state)
{
	struct pair *pair = *state;

	both_up(pair, mod_a(pair), mod_b(pair));
	message(pair, &pair->a, &pair->b);
	message(pair, &pair->b, &pair->a);
	want_quiet(pair, &pair->a);
}

/* One attribute less than a step needs, and one that it does not know: refused, and nothing has changed. */
static void
modify__needs_each_attribute_of_a_step(void **state)
{
	static const struct {
		enum roce_qps to;
		uint32_t mask;
	} steps[] = {
		{ ROCE_QPS_INIT, TO_INIT },
		{ ROCE_QPS_RTR, TO_RTR },
		{ ROCE_QPS_RTS, TO_RTS },
	};
	struct pair *pair = *state;
	struct roce_qp *qp = pair->a.qp;
	const struct roce_qp_mod mod = mod_a(pair);

	for (unsigned int i = 0; i < 3; i++) {
		enum roce_qps from = state_of(qp);

		for (uint32_t bit = 1; bit != 0; bit <<= 1) {
			if ((steps[i].mask & bit) != 0 && bit != ROCE_QP_MOD_STATE)
				assert_int_equal(step(qp, mod, steps[i].to, steps[i].mask & ~bit),
						-EINVAL);
		}
		assert_int_equal(step(qp, mod, steps[i].to, steps[i].mask | 1u << 6), -EINVAL);
		assert_int_equal(step(qp, mod, steps[i].to, steps[i].mask | 1u << 19), -EINVAL);
		assert_int_equal(step(qp, mod, steps[i].to, steps[i].mask | ROCE_QP_MOD_ALT_PATH),
				-EOPNOTSUPP);
		assert_int_equal(state_of(qp), from);
		if (steps[i].to == ROCE_QPS_RTR)
			to_rtr(pair, qp, mod);
		else
			ok(step(qp, mod, steps[i].to, steps[i].mask));
		assert_int_equal(state_of(qp), steps[i].to);
	}
}

/* Any state leads to RESET and to ERR; the rest only from one to the next. */
static void
modify__knows_the_steps(void **state)
{
	struct pair *pair = *state;
	struct roce_qp *qp = pair->a.qp;
	const struct roce_qp_mod mod = mod_a(pair);

	assert_int_equal(step(qp, mod, ROCE_QPS_RTR, TO_RTR), -EINVAL);
	assert_int_equal(step(qp, mod, ROCE_QPS_RTS, TO_RTS), -EINVAL);
	ok(step(qp, mod, ROCE_QPS_INIT, TO_INIT));
	ok(step(qp, mod, ROCE_QPS_INIT, ROCE_QP_MOD_STATE));
	assert_int_equal(step(qp, mod, ROCE_QPS_RTS, TO_RTS), -EINVAL);
	to_rtr(pair, qp, mod);
	assert_int_equal(step(qp, mod, ROCE_QPS_INIT, TO_INIT), -EINVAL);
	assert_int_equal(step(qp, mod, ROCE_QPS_RTR, ROCE_QP_MOD_STATE), -EINVAL);
	ok(step(qp, mod, ROCE_QPS_RTS, TO_RTS));
	assert_int_equal(step(qp, mod, ROCE_QPS_SQE, ROCE_QP_MOD_STATE), -EINVAL);
	assert_int_equal(step(qp, mod, (enum roce_qps)7, ROCE_QP_MOD_STATE), -EINVAL);
	assert_int_equal(state_of(qp), ROCE_QPS_RTS);
	ok(step(qp, mod, ROCE_QPS_ERR, ROCE_QP_MOD_STATE));
	assert_int_equal(step(qp, mod, ROCE_QPS_RTS, TO_RTS), -EINVAL);
	assert_int_equal(step(qp, mod, ROCE_QPS_RTS, ROCE_QP_MOD_STATE), -EINVAL);
	ok(step(qp, mod, ROCE_QPS_ERR, ROCE_QP_MOD_STATE));
	ok(step(qp, mod, ROCE_QPS_RESET, ROCE_QP_MOD_STATE));
	ok(step(qp, mod, ROCE_QPS_RESET, ROCE_QP_MOD_STATE));
	assert_int_equal(state_of(qp), ROCE_QPS_RESET);
	ok(step(qp, mod, ROCE_QPS_ERR, ROCE_QP_MOD_STATE));
	ok(step(qp, mod, ROCE_QPS_RESET, ROCE_QP_MOD_STATE));
	/* And from there it is connected again, with frames of the first life on no list. */
	both_up(pair, mod, mod_b(pair));
	message(pair, &pair->a, &pair->b);
}

/* A value out of its bounds is refused before anything else happens. */
static void
modify__judges_values(void **state)
{
	struct pair *pair = *state;
	struct roce_qp *qp = pair->a.qp;
	const struct roce_qp_mod good = mod_a(pair);
	struct roce_qp_mod bad[7];

	bad[0] = good;
	bad[0].port_num = 2;
	assert_int_equal(step(qp, bad[0], ROCE_QPS_INIT, TO_INIT), -EINVAL);
	bad[0] = good;
	bad[0].pkey_index = 1;
	assert_int_equal(step(qp, bad[0], ROCE_QPS_INIT, TO_INIT), -EINVAL);
	ok(step(qp, good, ROCE_QPS_INIT, TO_INIT));
	for (unsigned int i = 0; i < 7; i++)
		bad[i] = good;
	bad[0].path_mtu = 1000;
	bad[1].path_mtu = 8192;
	bad[2].dest_qpn = 1u << 24;
	bad[3].rq_psn = 1u << 24;
	bad[4].max_dest_rd_atomic = 5; /* the queue pair was made for four */
	bad[5].min_rnr_timer = 32;
	bad[6].flow_label = 1u << 20;
	for (unsigned int i = 0; i < 7; i++)
		assert_int_equal(step(qp, bad[i], ROCE_QPS_RTR, TO_RTR), -EINVAL);
	to_rtr(pair, qp, good);
	for (unsigned int i = 0; i < 5; i++)
		bad[i] = good;
	bad[0].sq_psn = 1u << 24;
	bad[1].timeout = 32;
	bad[2].retry_cnt = 8;
	bad[3].rnr_retry = 8;
	bad[4].max_rd_atomic = ROCE_RD_ATOMIC_MAX + 1;
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(step(qp, bad[i], ROCE_QPS_RTS, TO_RTS), -EINVAL);
	bad[0] = good;
	bad[0].cur_state = ROCE_QPS_INIT;
	assert_int_equal(step(qp, bad[0], ROCE_QPS_RTS, TO_RTS | ROCE_QP_MOD_CUR_STATE), -EINVAL);
	bad[0].cur_state = ROCE_QPS_RTR;
	ok(step(qp, bad[0], ROCE_QPS_RTS, TO_RTS | ROCE_QP_MOD_CUR_STATE));
}

/* From the peer's own address no path leads to it; nor from one that is not ours. */
static void
modify__judges_addresses(void **state)
{
	static const uint8_t far[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 51, 100,
		1 };
	struct pair *pair = *state;
	struct roce_qp_mod mod = mod_a(pair);

	ok(step(pair->a.qp, mod, ROCE_QPS_INIT, TO_INIT));
	memcpy(mod.remote_ip, far, sizeof(far));
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_RTR, TO_RTR), -ENETUNREACH);
	mod = mod_a(pair);
	to_rtr(pair, pair->a.qp, mod);
	ok(step(pair->a.qp, mod, ROCE_QPS_RESET, ROCE_QP_MOD_STATE));
	ok(step(pair->a.qp, mod, ROCE_QPS_INIT, TO_INIT));
	memcpy(mod.local_ip, ip_b, sizeof(ip_b));
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_RTR, TO_RTR), -EINVAL);
	memcpy(mod.local_ip, ip_a, sizeof(ip_a));
	to_rtr(pair, pair->a.qp, mod);
}

/* A query gives back what was set. */
static void
query__gives_all_of_it_back(void **state)
{
	struct pair *pair = *state;
	struct roce_qp_mod set = mod_a(pair), got;

	roce_qp_query(pair->a.qp, &got);
	assert_int_equal(got.state, ROCE_QPS_RESET);
	assert_int_equal(got.access, 0);
	both_up(pair, set, mod_b(pair));
	roce_qp_query(pair->a.qp, &got);
	set.state = set.cur_state = ROCE_QPS_RTS;
	memcpy(set.local_ip, ip_a, sizeof(ip_a));
	assert_memory_equal(&got, &set, sizeof(got));
	set.access = ROCE_ACCESS_REMOTE_READ;
	set.min_rnr_timer = 31;
	ok(roce_qp_modify(pair->a.qp, &set, ROCE_QP_MOD_ACCESS | ROCE_QP_MOD_MIN_RNR_TIMER));
	roce_qp_query(pair->a.qp, &got);
	assert_memory_equal(&got, &set, sizeof(got));
}

/* A message comes to an end that is ready to receive and nothing else; posts to its send queue are refused. */
static void
rtr__receives_and_does_not_send(void **state)
{
	const struct roce_wr send = {
		.wr_id = 2, .opcode = ROCE_WR_SEND, .flags = ROCE_WR_SIGNALED
	};
	struct pair *pair = *state;

	ok(step(pair->a.qp, mod_a(pair), ROCE_QPS_INIT, TO_INIT));
	ok(step(pair->b.qp, mod_b(pair), ROCE_QPS_INIT, TO_INIT));
	to_rtr(pair, pair->a.qp, mod_a(pair));
	to_rtr(pair, pair->b.qp, mod_b(pair));
	ok(step(pair->a.qp, mod_a(pair), ROCE_QPS_RTS, TO_RTS));
	message(pair, &pair->a, &pair->b);
	assert_int_equal(post_send(&pair->b, send, 0, 8), -EINVAL);
	ok(step(pair->b.qp, mod_b(pair), ROCE_QPS_RTS, TO_RTS));
	message(pair, &pair->b, &pair->a);
}

/* The peer sends: whoever waits for that in RTR hears of the first packet, and of that alone. */
static void
rtr__tells_of_the_first_packet(void **state)
{
	struct pair *pair = *state;

	ok(step(pair->a.qp, mod_a(pair), ROCE_QPS_INIT, TO_INIT));
	ok(step(pair->b.qp, mod_b(pair), ROCE_QPS_INIT, TO_INIT));
	to_rtr(pair, pair->a.qp, mod_a(pair));
	to_rtr(pair, pair->b.qp, mod_b(pair));
	ok(step(pair->a.qp, mod_a(pair), ROCE_QPS_RTS, TO_RTS));
	want_quiet(pair, &pair->b);
	message(pair, &pair->a, &pair->b);
	want_async(pair, pair->b.context, ROCE_ASYNC_QP_COMM_EST, &pair->b);
	message(pair, &pair->a, &pair->b);
	want_quiet(pair, &pair->b);
	want_quiet(pair, &pair->a);
}

/* Its shared queue may be given to others from then on; a queue pair with a queue of its own has nothing to say. */
static void
err__tells_of_the_last_receive(void **state)
{
	struct pair *pair = *state;
	struct roce_srq *srq;

	ok(roce_srq_create(pair->a.pd, DEPTH, 1, NULL, &srq));
	ok(step(pair->a.qp, mod_a(pair), ROCE_QPS_ERR, ROCE_QP_MOD_STATE));
	want_quiet(pair, &pair->a);
	roce_qp_destroy(pair->a.qp);
	pair->a.qp = end_qp(&pair->a, srq);
	for (unsigned int round = 0; round < 2; round++) {
		both_up(pair, mod_a(pair), mod_b(pair));
		ok(step(pair->a.qp, mod_a(pair), ROCE_QPS_ERR, ROCE_QP_MOD_STATE));
		want_async(pair, pair->a.context, ROCE_ASYNC_QP_LAST_WQE, &pair->a);
		ok(step(pair->a.qp, mod_a(pair), ROCE_QPS_ERR, ROCE_QP_MOD_STATE));
		want_quiet(pair, &pair->a);
		ok(step(pair->a.qp, mod_a(pair), ROCE_QPS_RESET, ROCE_QP_MOD_STATE));
		ok(step(pair->b.qp, mod_a(pair), ROCE_QPS_RESET, ROCE_QP_MOD_STATE));
	}
	roce_qp_destroy(pair->a.qp);
	pair->a.qp = NULL;
	ok(roce_srq_destroy(srq));
}

/* The right of the region is not enough: the queue pair that does not allow it says remote access error. */
static void
access__is_that_of_the_queue_pair_too(void **state)
{
	static const struct {
		enum roce_wr_opcode opcode;
		uint32_t right;
		uint32_t len;
	} rule[] = {
		{ ROCE_WR_RDMA_WRITE, ROCE_ACCESS_REMOTE_WRITE, 64 },
		{ ROCE_WR_RDMA_WRITE, ROCE_ACCESS_REMOTE_WRITE, 5000 },
		{ ROCE_WR_RDMA_READ, ROCE_ACCESS_REMOTE_READ, 64 },
		{ ROCE_WR_ATOMIC_FETCH_AND_ADD, ROCE_ACCESS_REMOTE_ATOMIC, 8 },
	};
	struct pair *pair = *state;
	struct roce_qp_mod mod = mod_b(pair);

	for (unsigned int i = 0; i < 2 * sizeof(rule) / sizeof(rule[0]); i++) {
		struct roce_wr wr = {
			.opcode = (uint8_t)rule[i / 2].opcode,
			.flags = ROCE_WR_SIGNALED,
			.rkey = roce_mr_key(pair->b.mr),
			.remote_addr = (uintptr_t)pair->b.memory,
		};
		bool allowed = i % 2 == 0;

		mod.access = allowed ? rule[i / 2].right : REMOTE_ALL & ~rule[i / 2].right;
		both_up(pair, mod_a(pair), mod);
		ok(post_send(&pair->a, wr, 16384, rule[i / 2].len));
		want_completion(pair, pair->a.cq,
				allowed ? ROCE_WC_SUCCESS : ROCE_WC_REM_ACCESS_ERR);
		if (!allowed)
			assert_int_equal(state_of(pair->b.qp), ROCE_QPS_ERR);
		settle(pair);
		ok(step(pair->a.qp, mod, ROCE_QPS_RESET, ROCE_QP_MOD_STATE));
		ok(step(pair->b.qp, mod, ROCE_QPS_RESET, ROCE_QP_MOD_STATE));
	}
}

/* An id has charge of its queue pair: only the error is open. Its query knows what the two ends agreed upon. */
static void
modify__leaves_connections_to_their_ids(void **state)
{
	struct pair *pair = *state;
	const struct roce_qp_mod mod = mod_a(pair);
	struct roce_qp_mod got;

	pair_connect(pair);
	roce_qp_query(pair->a.qp, &got);
	assert_int_equal(got.state, ROCE_QPS_RTS);
	assert_int_equal(got.dest_qpn, roce_qp_number(pair->b.qp));
	assert_int_equal(got.access, REMOTE_ALL);
	assert_memory_equal(got.remote_ip, ip_b, sizeof(ip_b));
	assert_int_equal(step(pair->a.qp, mod, ROCE_QPS_RESET, ROCE_QP_MOD_STATE), -EBUSY);
	ok(step(pair->a.qp, mod, ROCE_QPS_ERR, ROCE_QP_MOD_STATE));
	assert_int_equal(state_of(pair->a.qp), ROCE_QPS_ERR);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(modify__connects_two_ends_by_their_numbers),
		pair_test(modify__needs_each_attribute_of_a_step),
		pair_test(modify__knows_the_steps),
		pair_test(modify__judges_values),
		pair_test(modify__judges_addresses),
		pair_test(query__gives_all_of_it_back),
		pair_test(rtr__receives_and_does_not_send),
		pair_test(rtr__tells_of_the_first_packet),
		pair_test(err__tells_of_the_last_receive),
		pair_test(access__is_that_of_the_queue_pair_too),
		pair_test(modify__leaves_connections_to_their_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
