/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs themselves, through the public headers: every kind of request, windows, a queue shared by many. */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define CROWD 64u

static uint64_t
address(const struct end *end, uint32_t offset)
{
	return (uintptr_t)end->memory + offset;
}

static void
fill(struct end *end, uint32_t offset, uint32_t len, uint8_t seed)
{
	for (uint32_t i = 0; i < len; i++)
		end->memory[offset + i] = (uint8_t)(seed + i * 7);
}

/* A request of a on b's memory, which must succeed. */
static void
request(struct pair *pair, struct roce_wr wr, uint32_t offset, uint32_t len)
{
	wr.flags |= ROCE_WR_SIGNALED;
	if (wr.rkey == 0)
		wr.rkey = roce_mr_key(pair->b.mr);
	ok(post_send(&pair->a, wr, offset, len));
	assert_int_equal(want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS).opcode, wr.opcode);
}

static void
rdma__write_and_read(void **state)
{
	struct pair *pair = *state;
	const uint64_t there = address(&pair->b, 1000);

	pair_connect(pair);
	fill(&pair->a, 0, 20000, 1);
	request(pair, (struct roce_wr){ .opcode = ROCE_WR_RDMA_WRITE, .remote_addr = there }, 0,
			20000);
	assert_memory_equal(pair->b.memory + 1000, pair->a.memory, 20000);
	request(pair, (struct roce_wr){ .opcode = ROCE_WR_RDMA_READ, .remote_addr = there }, 30000,
			20000);
	assert_memory_equal(pair->a.memory + 30000, pair->a.memory, 20000);
}

static void
atomics__swap_and_add(void **state)
{
	struct pair *pair = *state;
	uint64_t *word = (uint64_t *)(void *)pair->b.memory;
	const uint64_t *was = (const uint64_t *)(const void *)pair->a.memory;
	struct roce_wr wr = { .opcode = ROCE_WR_ATOMIC_FETCH_AND_ADD, .compare_add = 3 };

	pair_connect(pair);
	*word = 40;
	wr.remote_addr = address(&pair->b, 0);
	request(pair, wr, 0, 8);
	assert_int_equal(*was, 40);
	assert_int_equal(*word, 43);
	wr = (struct roce_wr){ .opcode = ROCE_WR_ATOMIC_CMP_AND_SWP,
		.remote_addr = address(&pair->b, 0),
		.compare_add = 43,
		.swap = 99 };
	request(pair, wr, 8, 8);
	assert_int_equal(was[1], 43);
	assert_int_equal(*word, 99);
	request(pair, wr, 8, 8);
	assert_int_equal(was[1], 99);
	assert_int_equal(*word, 99);
}

static void
immediate__of_send_and_write(void **state)
{
	struct pair *pair = *state;
	struct roce_event event;

	pair_connect(pair);
	ok(post_recv(&pair->b, pair->b.qp, 1, 0, 64));
	ok(post_recv(&pair->b, pair->b.qp, 2, 0, 64));
	request(pair, (struct roce_wr){ .opcode = ROCE_WR_SEND_WITH_IMM, .imm = htobe32(5) }, 0,
			64);
	event = want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS);
	assert_int_equal(event.wr_id, 1);
	assert_int_equal(event.flags & ROCE_EVENT_IMM, ROCE_EVENT_IMM);
	assert_int_equal(event.imm, htobe32(5));
	request(pair,
			(struct roce_wr){ .opcode = ROCE_WR_RDMA_WRITE_WITH_IMM,
					.imm = htobe32(6),
					.remote_addr = address(&pair->b, 4096) },
			0, 5000);
	event = want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS);
	assert_int_equal(event.flags & (ROCE_EVENT_IMM | ROCE_EVENT_WRITE),
			ROCE_EVENT_IMM | ROCE_EVENT_WRITE);
	assert_int_equal(event.byte_len, 5000);
	assert_int_equal(event.imm, htobe32(6));
	assert_ptr_equal(event.owner, &pair->b);
}

/* b binds a window over part of its region, a writes through it and then takes it away. */
static void
window__bound_used_invalidated(void **state)
{
	struct pair *pair = *state;
	struct roce_mw_bind bind = { .mr_key = roce_mr_key(pair->b.mr),
		.access = ROCE_ACCESS_REMOTE_WRITE,
		.addr = address(&pair->b, 4096),
		.length = 4096 };
	struct roce_wr wr = { .opcode = ROCE_WR_BIND_MW, .bind = &bind, .flags = ROCE_WR_SIGNALED };
	struct roce_mw_binding bound;
	struct roce_event event;
	struct roce_mw *mw;

	pair_connect(pair);
	ok(roce_mw_create(pair->b.pd, &bind, &mw));
	bind.mw = mw;
	ok(roce_qp_post_send(pair->b.qp, &wr));
	event = want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS);
	assert_int_equal(event.kind, ROCE_EVENT_BIND);
	assert_ptr_equal(event.owner, &bind);
	assert_true(roce_mw_query(mw, &bound));
	assert_int_equal(bound.key, bind.key);
	fill(&pair->a, 0, 64, 9);
	request(pair,
			(struct roce_wr){ .opcode = ROCE_WR_RDMA_WRITE,
					.rkey = bind.key,
					.remote_addr = bind.addr + 4032 },
			0, 64);
	assert_memory_equal(pair->b.memory + 8128, pair->a.memory, 64);
	ok(post_recv(&pair->b, pair->b.qp, 1, 0, 64));
	request(pair, (struct roce_wr){ .opcode = ROCE_WR_SEND_WITH_INV, .imm = htobe32(bind.key) },
			0, 8);
	event = want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS);
	assert_int_equal(event.flags & ROCE_EVENT_INVALID, ROCE_EVENT_INVALID);
	assert_false(roce_mw_query(mw, &bound));
	roce_mw_destroy(mw);
}

/* A queue pair of each end, connected by a listener of many. */
struct couple {
	struct roce_qp *a, *b;
	struct roce_cm_id *id_a, *id_b;
};

static void
couple_up(struct pair *pair, struct couple *c, struct roce_srq *srq)
{
	c->a = end_qp(&pair->a, NULL);
	c->b = end_qp(&pair->b, srq);
	ok(roce_cm_id_create(pair->a.context, c, &c->id_a));
	c->id_b = connect_qps(pair, c->id_a, c->a, c->b);
	assert_ptr_equal(want_cm(pair, &pair->a, ROCE_CM_EVENT_ESTABLISHED).id, c->id_a);
	assert_ptr_equal(want_cm(pair, &pair->b, ROCE_CM_EVENT_ESTABLISHED).id, c->id_b);
}

static void
couple_down(const struct couple *c)
{
	roce_cm_id_destroy(c->id_a);
	roce_cm_id_destroy(c->id_b);
	roce_qp_destroy(c->a);
	roce_qp_destroy(c->b);
}

static void
post_srq(const struct end *end, struct roce_srq *srq, uint64_t wr_id)
{
	struct roce_sge sge = { .addr = address(end, (uint32_t)wr_id * 64),
		.length = 64,
		.lkey = roce_mr_key(end->mr) };
	struct roce_recv_wr wr = { .wr_id = wr_id, .sg = &sge, .num_sge = 1 };

	ok(roce_srq_post(srq, &wr));
}

/* Each of 64 queue pairs sends one message into the receives of all; the low watermark is told in time. */
static void
srq__shared_by_a_crowd(void **state)
{
	struct pair *pair = *state;
	struct couple *crowd = calloc(CROWD, sizeof(*crowd));
	const struct roce_wr wr = { .opcode = ROCE_WR_SEND };
	struct roce_srq_counts counts;
	struct roce_srq *srq;
	uint64_t taken = 0;

	assert_non_null(crowd);
	ok(roce_srq_create(pair->b.pd, CROWD, 1, &srq, &srq));
	for (uint64_t i = 0; i < CROWD; i++)
		post_srq(&pair->b, srq, i);
	ok(roce_srq_set_low(srq, 10));
	for (unsigned int i = 0; i < CROWD; i++)
		couple_up(pair, &crowd[i], srq);
	for (unsigned int i = 0; i < CROWD; i++)
		ok(post_send_on(&pair->a, crowd[i].a, wr, 0, 64));
	for (unsigned int i = 0; i < CROWD; i++)
		taken |= UINT64_C(1) << want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS).wr_id;
	assert_int_equal(taken, UINT64_MAX);
	want_async(pair, pair->b.context, ROCE_ASYNC_SRQ_LIMIT, &srq);
	roce_srq_query(srq, &counts);
	assert_int_equal(counts.available, 0);
	assert_int_equal(counts.outstanding, 0);
	assert_int_equal(counts.queue_pairs, CROWD);
	for (unsigned int i = 0; i < CROWD; i++) {
		assert_int_equal(roce_srq_destroy(srq), -EBUSY);
		couple_down(&crowd[i]);
	}
	ok(roce_srq_destroy(srq));
	free(crowd);
}

/*
 * An acknowledgement waits for company while frames keep coming. An end that goes meanwhile says it all the same: the peer may
 * believe its completions.
 */
static void
disconnect__what_arrived_is_acknowledged(void **state)
{
	struct pair *pair = *state;
	struct roce_wr wr = { .opcode = ROCE_WR_SEND };
	struct roce_event event = { 0 };
	struct roce_device_attr attr;
	struct couple busy, last;

	/* The acknowledgement and the DREQ leave by two queues, and arrive as these are polled. */
	roce_device_query(pair->a.device, &attr);
	if (attr.engines > 1)
		skip();
	couple_up(pair, &busy, NULL);
	couple_up(pair, &last, NULL);
	ok(post_recv(&pair->b, last.b, 1, 0, 64));
	for (unsigned int i = 0; i < 31; i++) {
		ok(post_recv(&pair->b, busy.b, 0, 0, 64));
		ok(post_send_on(&pair->a, busy.a, wr, 0, 64));
	}
	/* All of them together are a full burst. */
	wr.wr_id = 1;
	wr.flags = ROCE_WR_SIGNALED;
	ok(post_send_on(&pair->a, last.a, wr, 0, 64));
	for (unsigned int i = 0; i < DEPTH; i++)
		roce_device_poll(pair->a.device);
	while (event.wr_id != 1) {
		roce_device_poll(pair->b.device);
		while (event.wr_id != 1 && roce_cq_poll(pair->b.cq, &event, 1) == 1)
			;
	}
	ok(roce_cm_id_disconnect(last.id_b));
	settle(pair);
	assert_int_equal(want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS).wr_id, 1);
	couple_down(&busy);
	couple_down(&last);
}

/* Both ends agree on what one asks and the other serves: more READs than that wait, and all come. */
static void
reads__as_many_as_agreed(void **state)
{
	struct pair *pair = *state;

	pair_connect(pair);
	fill(&pair->b, 0, 8192, 3);
	for (uint32_t i = 0; i < 16; i++) {
		struct roce_wr wr = { .opcode = ROCE_WR_RDMA_READ,
			.rkey = roce_mr_key(pair->b.mr),
			.remote_addr = address(&pair->b, i * 512),
			.flags = ROCE_WR_SIGNALED };

		ok(post_send(&pair->a, wr, i * 512, 512));
	}
	for (unsigned int i = 0; i < 16; i++)
		want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS);
	assert_memory_equal(pair->a.memory, pair->b.memory, 8192);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(rdma__write_and_read),
		pair_test(atomics__swap_and_add),
		pair_test(immediate__of_send_and_write),
		pair_test(window__bound_used_invalidated),
		pair_test(srq__shared_by_a_crowd),
		pair_test(disconnect__what_arrived_is_acknowledged),
		pair_test(reads__as_many_as_agreed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
