/* SPDX-License-Identifier: BSD-3-Clause */
/* Resizing a shared receive queue: exact, at any moment, without losing anything; or refused, without a trace. */

#include "srq_scene.h"

/* ---- receives that can be told from each other ---- */

/* Receive number n: so many segments of so many bytes, different from its neighbours'. */
static struct roce_recv_wr
distinct(uint64_t n, uint32_t max_sge, struct roce_sge *sge)
{
	uint32_t segments = (uint32_t)(n % (max_sge + 1));

	for (uint32_t i = 0; i < segments; i++)
		sge[i] = (struct roce_sge){ (uintptr_t)end.memory + (n * 37 + i) % 60000,
			(uint32_t)(n + i) % 1000 + 1, end.key };
	return (struct roce_recv_wr){ n << 32 | (uint32_t)~n, sge, segments, 0 };
}

static void
post_distinct(struct roce_srq *srq, uint64_t n)
{
	struct roce_sge sge[ROCE_SGE_MAX];
	const struct roce_recv_wr wr = distinct(n, srq->max_sge, sge);

	assert_int_equal(roce_srq_post(srq, &wr), 0);
}

static void
expect_distinct(struct roce_srq *srq, uint64_t n)
{
	struct roce_sge sge[ROCE_SGE_MAX];
	const struct roce_recv_wr wr = distinct(n, srq->max_sge, sge);
	union taken taken;
	uint32_t length = 0;

	assert_true(take_into(srq, &taken));
	assert_true(taken.recv.wr_id == wr.wr_id);
	assert_int_equal(taken.recv.num_sge, wr.num_sge);
	for (uint32_t i = 0; i < wr.num_sge; i++)
		length += sge[i].length;
	assert_int_equal(taken.recv.length, length);
	if (wr.num_sge > 0)
		assert_memory_equal(taken.recv.sge, sge, wr.num_sge * sizeof(sge[0]));
}

/* ---- sizes ---- */

/* A queue of one size, aged, full up to the smaller of the two, resized: content and limits. */
static void
try_pair(uint32_t from, uint32_t to, uint32_t first)
{
	const uint32_t live = RTE_MIN(from, to);
	struct roce_srq *srq = srq_of(from);

	age(srq, first);
	for (uint32_t i = 0; i < live; i++)
		post_distinct(srq, i);
	assert_int_equal(roce_srq_resize(srq, to), 0);
	fx_expect_counts(srq, to, live, live);
	for (uint32_t i = live; i < to; i++)
		post_distinct(srq, i);
	assert_int_equal(post(srq, 999), -ENOSPC);
	fx_expect_counts(srq, to, to, to);
	for (uint32_t i = 0; i < to; i++)
		expect_distinct(srq, i);
	/* Taken is still outstanding. */
	assert_int_equal(post(srq, 999), -ENOSPC);
	fx_expect_counts(srq, to, 0, to);
	roce_srq_reap_silent(srq, to);
	fx_expect_counts(srq, to, 0, 0);
	assert_int_equal(post(srq, 999), 0);
	assert_int_equal(roce_srq_destroy(srq), 0);
}

/*
 * Grown, shrunk or neither, the queue holds exactly what was asked, and what lay on it lies on it, in order; the
 * counters go round in the middle or not.
 * Proves: srq_resize.1 srq_resize.5 srq_resize.6 bug.S7 bug.S8 bug.S12
 */
UNIT_RULE(resize__is_exact_for_every_pair_of_sizes)
{
	static const uint32_t first[] = { 0, 45, UINT32_MAX - 6, UINT32_MAX - 40 };

	for (uint32_t from = 1; from <= 65; from++) {
		for (uint32_t to = 1; to <= 65; to++) {
			for (unsigned int i = 0; i < RTE_DIM(first); i++)
				try_pair(from, to, first[i]);
		}
	}
}

/* A queue of @p from places whose live receives begin at place @p first, moved to a ring of @p to places. */
static void
try_rings(uint32_t from, uint32_t to, uint32_t first, uint32_t max_sge)
{
	const uint32_t live = RTE_MIN(from, to);
	struct roce_srq *srq;

	assert_int_equal(roce_srq_create(end.pd, from, max_sge, NULL, &srq), 0);
	age(srq, first);
	for (uint32_t i = 0; i < live; i++)
		post_distinct(srq, first + i);
	assert_int_equal(roce_srq_resize(srq, to), 0);
	for (uint32_t i = 0; i < live; i++)
		expect_distinct(srq, first + i);
	assert_int_equal(roce_srq_destroy(srq), 0);
}

/*
 * Wherever the live receives lie in the old ring and in the new one, round the end of either or both, each keeps its
 * cookie, its segments and its length.
 * Proves: srq_resize.1 bug.S4
 */
UNIT_RULE(resize__keeps_every_segment_of_every_receive)
{
	for (uint32_t from = 1; from <= 32; from *= 2) {
		for (uint32_t to = 1; to <= 32; to *= 2) {
			for (uint32_t first = 0; first < 2 * RTE_MAX(from, to); first++)
				try_rings(from, to, UINT32_MAX - 31 + first, 3);
		}
	}
	for (uint32_t max_sge = 1; max_sge <= ROCE_SGE_MAX; max_sge++) {
		try_rings(16, 64, 13, max_sge);
		try_rings(64, 16, 59, max_sge);
	}
}

/*
 * An invalid size is refused; one and the maximum are valid.
 * Proves: bug.S30
 */
UNIT_RULE(resize__judges_its_number)
{
	static const uint32_t bad[] = { 0, (1u << 20) + 1, INT32_MAX, (uint32_t)INT32_MIN,
		(uint32_t)-1 };
	struct roce_srq *srq = srq_of(3);
	const unsigned int before = fx_live();

	assert_int_equal(post(srq, 1), 0);
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		assert_int_equal(roce_srq_resize(srq, bad[i]), -EINVAL);
		fx_expect_counts(srq, 3, 1, 1);
		assert_int_equal(fx_live(), before);
	}
	assert_int_equal(roce_srq_resize(srq, 1u << 20), 0);
	fx_expect_counts(srq, 1u << 20, 1, 1);
	assert_int_equal(roce_srq_resize(srq, 1), 0);
	fx_expect_counts(srq, 1, 1, 1);
	assert_int_equal(post(srq, 2), -ENOSPC);
	assert_int_equal(roce_srq_destroy(srq), 0);
	assert_int_equal(fx_live(), before - 2);
}

/* ---- refusals ---- */

/* A queue with so many receives on it, held by queue pairs, and completed but not reaped. */
static void
try_below(uint32_t lying, uint32_t held, uint32_t completed)
{
	const uint32_t all = lying + held + completed;
	struct roce_srq *srq = srq_of(20);
	struct client c[4];
	unsigned int before;

	for (unsigned int i = 0; i < 4; i++)
		client_on(&c[i], srq, end.recv_cq);
	/* Some went through before: they do not count. */
	post_many(srq, 2, 0, LONG_LEN);
	arrive(&c[3]);
	arrive(&c[3]);
	reap_many(end.recv_cq, 2);
	post_many(srq, all, 0, LONG_LEN);
	for (uint32_t i = 0; i < completed; i++)
		arrive(&c[3]);
	for (uint32_t i = 0; i < held; i++)
		begin(&c[i]);
	before = fx_live();
	for (uint32_t asked = 1; asked < all; asked++) {
		assert_int_equal(roce_srq_resize(srq, asked), -EBUSY);
		fx_expect_counts(srq, 20, lying, all);
		assert_int_equal(fx_live(), before);
	}
	if (all > 0) {
		assert_int_equal(roce_srq_resize(srq, all), 0);
		fx_expect_counts(srq, all, lying, all);
		assert_int_equal(post(srq, 999), -ENOSPC);
	}
	for (uint32_t i = 0; i < held; i++)
		finish(&c[i]);
	for (uint32_t i = 0; i < lying; i++)
		arrive(&c[3]);
	for (uint32_t i = 0; i < all; i++) {
		struct roce_event event;

		assert_int_equal(roce_cq_poll(end.recv_cq, &event, 1), 1);
		assert_fields(event, (wr_id, i), (status, IBV_WC_SUCCESS));
	}
	for (unsigned int i = 0; i < 4; i++)
		roce_qp_destroy(c[i].qp);
	assert_int_equal(roce_srq_destroy(srq), 0);
}

/*
 * Below what is outstanding, be it on the queue, held or not yet reaped: refused, and nothing changed. Down to
 * exactly that: done, and all of it still arrives, in order.
 * Proves: srq_resize.2 srq_resize.6
 */
UNIT_RULE(resize__below_what_is_outstanding_is_refused)
{
	for (uint32_t lying = 0; lying <= 2; lying++) {
		for (uint32_t held = 0; held <= 3; held++) {
			for (uint32_t completed = 0; completed <= 2; completed++)
				try_below(lying, held, completed);
		}
	}
}

/*
 * Below the low watermark is refused, whether it was told or not; the watermark itself is a size; and with none
 * anything goes. Value and arming stay as they are.
 * Proves: srq_resize.3
 */
UNIT_RULE(resize__below_the_low_watermark_is_refused)
{
	for (unsigned int was_told = 0; was_told <= 1; was_told++) {
		struct roce_srq *srq = srq_of(40);

		post_many(srq, was_told ? 1 : 6, 0, SHORT_LEN);
		assert_int_equal(roce_srq_set_low(srq, 6), 0);
		assert_int_equal(end.async_events, was_told);
		for (uint32_t asked = was_told ? 1 : 6; asked < 6; asked++) {
			assert_int_equal(roce_srq_resize(srq, asked), -EBUSY);
			expect_mark(srq, 6, !was_told);
		}
		assert_int_equal(roce_srq_resize(srq, 6), 0);
		expect_mark(srq, 6, !was_told);
		assert_int_equal(end.async_events, was_told);
		/* The new size bounds the next watermark. */
		assert_int_equal(roce_srq_set_low(srq, 7), -EINVAL);
		assert_int_equal(roce_srq_resize(srq, 7), 0);
		assert_int_equal(roce_srq_set_low(srq, 0), 0);
		if (was_told)
			assert_int_equal(roce_srq_resize(srq, 1), 0);
		assert_int_equal(roce_srq_destroy(srq), 0);
	}
}

/*
 * An armed watermark goes off at the same take as without the resize, and a told one stays told.
 * Proves: srq_resize.1
 */
UNIT_RULE(resize__keeps_the_low_watermark)
{
	static const uint32_t size[] = { 8, 9, 64, 5, 8 };
	int owner;
	struct client c;
	struct roce_srq *srq = srq_with(&c, 8, &owner, 5, SHORT_LEN);

	assert_int_equal(roce_srq_set_low(srq, 3), 0);
	for (unsigned int i = 0; i < RTE_DIM(size); i++) {
		assert_int_equal(roce_srq_resize(srq, size[i]), 0);
		expect_mark(srq, 3, i < 3);
		assert_int_equal(end.async_events, i < 3 ? 0 : 1);
		arrive(&c);
		assert_int_equal(end.async_events, i < 2 ? 0 : 1);
	}
	assert_ptr_equal(end.async_event[0].owner, &owner);
	reap_many(end.recv_cq, 5);
}

/* ---- memory ---- */

/* A resize whose n-th allocation fails changes nothing. @return it did not come to that: it succeeded. */
static bool
try_without_memory(struct roce_srq *srq, unsigned int nth, uint32_t to)
{
	const unsigned int before = fx_live();
	struct roce_srq_counts was, is;
	int rc;

	roce_srq_query(srq, &was);
	fx_fail(nth);
	rc = roce_srq_resize(srq, to);
	assert_int_equal(rc, fx_failed() ? -ENOMEM : 0);
	fx_fail(0);
	roce_srq_query(srq, &is);
	assert_fields(is, (max, rc == 0 ? to : was.max), (available, was.available),
			(outstanding, was.outstanding), (low, was.low), (armed, was.armed));
	assert_int_equal(fx_live(), before);
	return rc == 0;
}

/*
 * Out of memory at any allocation: the queue goes on as it was, and the same resize succeeds when there is memory
 * again. A resize that keeps the ring needs no memory.
 * Proves: bug.S1
 */
UNIT_RULE(resize__without_memory_changes_nothing)
{
	static const struct {
		uint32_t to;
		unsigned int allocations;
	} rule[] = { { 64, 1 }, { 3, 1 }, { 4, 0 }, { 1000, 1 }, { 600, 0 }, { 3, 1 } };
	uint64_t posted = 0, got = 0;
	struct client c;
	struct roce_srq *srq = srq_with(&c, 8, NULL, 3, SHORT_LEN);

	posted = 3;
	assert_int_equal(roce_srq_set_low(srq, 2), 0);
	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		unsigned int nth = 1;

		while (!try_without_memory(srq, nth, rule[i].to)) {
			/* Alive: one message through. */
			arrive(&c);
			assert_int_equal(reap(end.recv_cq), got++);
			assert_int_equal(post(srq, posted++), 0);
			nth++;
		}
		assert_int_equal(nth - 1, rule[i].allocations);
	}
	assert_int_equal(end.async_events, 0);
	assert_int_equal(post(srq, posted), -ENOSPC);
}

/* ---- under way ---- */

/*
 * A message in progress has its receive with the queue pair: rings come and go, its bytes land where they should.
 * Proves: srq_resize.1
 */
UNIT_RULE(resize__does_not_touch_a_message_in_progress)
{
	static const uint32_t size[] = { 2, 64, 3, 2, 4096, 5 };

	for (unsigned int engines = 1; engines <= 3; engines++) {
		struct roce_srq *srq;
		struct client c;
		uint32_t psn = FX_RQ_PSN;

		reopen(engines);
		srq = srq_of(16);
		client_on(&c, srq, end.recv_cq);
		assert_int_equal(post_of(srq, 1, 8 * FX_MTU), 0);
		assert_int_equal(post(srq, 2), 0);
		memset(end.memory, 0xee, FX_MEMORY);
		begin(&c);
		for (unsigned int i = 0; i < RTE_DIM(size); i++) {
			assert_int_equal(roce_srq_resize(srq, size[i]), 0);
			fx_expect_counts(srq, size[i], 1, 2);
			packet(&c, IBV_OPCODE_RC_SEND_MIDDLE, FX_MTU);
		}
		finish(&c);
		assert_int_equal(fx_event(end.recv_cq).byte_len, 7 * FX_MTU + 8);
		for (uint32_t i = 0; i < 7 * FX_MTU + 8; i += 101)
			assert_int_equal(end.memory[i], (uint8_t)(psn + i / FX_MTU + i % FX_MTU));
		arrive(&c);
		assert_int_equal(reap(end.recv_cq), 2);
		fx_expect_counts(srq, 5, 0, 0);
		end_with(&c, srq);
	}
}

/*
 * Grown, a full queue takes posts at once: exactly as many as it grew by.
 * Proves: srq_resize.5 bug.S7
 */
UNIT_RULE(resize__of_a_full_queue_makes_room_at_once)
{
	for (uint32_t size = 1; size <= 33; size++) {
		struct client c;
		struct roce_srq *srq = srq_with(&c, size, NULL, size, SHORT_LEN);

		arrive(&c);
		assert_int_equal(post(srq, 999), -ENOSPC);
		assert_int_equal(roce_srq_resize(srq, size + 3), 0);
		post_many(srq, 3, size, SHORT_LEN);
		assert_int_equal(post(srq, 999), -ENOSPC);
		for (uint32_t i = 1; i < size + 3; i++)
			arrive(&c);
		for (uint32_t i = 0; i < size + 3; i++) {
			struct roce_event event;

			assert_int_equal(roce_cq_poll(end.recv_cq, &event, 1), 1);
			assert_int_equal(event.wr_id, i);
		}
		end_with(&c, srq);
	}
}

/*
 * A peer waits because nothing is on the queue and nothing can be posted: growing lets posts, and so the message, in.
 * Proves: srq_create.8 srq_resize.1
 */
UNIT_RULE(resize__helps_a_peer_that_waits)
{
	struct client c;
	struct roce_srq *srq = srq_with(&c, 2, NULL, 2, SHORT_LEN);

	arrive(&c);
	arrive(&c);
	fx_tx_drop(&end);
	arrive(&c);
	assert_int_equal(fx_tx_one(&end).syndrome, FX_RNR(12));
	assert_int_equal(post(srq, 2), -ENOSPC);
	assert_int_equal(roce_srq_resize(srq, 3), 0);
	/* More room is no receive yet. */
	arrive_again(&c);
	assert_int_equal(fx_tx_one(&end).syndrome, FX_RNR(12));
	assert_int_equal(post(srq, 2), 0);
	arrive_again(&c);
	assert_int_equal(fx_tx_one(&end).syndrome, FX_ACK);
	reap_many(end.recv_cq, 2);
	assert_int_equal(reap(end.recv_cq), 2);
}

/* ---- any moment ---- */

struct model {
	uint32_t max;
	uint32_t lying;
	uint32_t completed;
	uint64_t posted, got; /* cookies: next posted, next completed */
};

static void
resize_at_random(struct model *m, struct roce_srq *srq, unsigned int *seed)
{
	uint32_t size = 1 + (uint32_t)rand_r(seed) % 70;
	bool fits = m->lying + m->completed <= size;

	assert_int_equal(roce_srq_resize(srq, size), fits ? 0 : -EBUSY);
	if (fits)
		m->max = size;
}

static void
step(struct model *m, struct roce_srq *srq, struct client *c, unsigned int *seed)
{
	switch (rand_r(seed) % 8) {
	case 0:
	case 1:
	case 2:
		if (m->lying + m->completed == m->max) {
			assert_int_equal(post(srq, 999), -ENOSPC);
			break;
		}
		assert_int_equal(post(srq, m->posted++), 0);
		m->lying++;
		break;
	case 3:
	case 4:
		if (m->lying == 0)
			break;
		arrive(&c[rand_r(seed) % 3]);
		m->lying--;
		m->completed++;
		break;
	case 5:
	case 6: {
		struct roce_event event;

		if (m->completed == 0)
			break;
		assert_int_equal(roce_cq_poll(end.recv_cq, &event, 1), 1);
		assert_int_equal(event.wr_id, m->got++);
		m->completed--;
		break;
	}
	default:
		resize_at_random(m, srq, seed);
	}
	fx_expect_counts(srq, m->max, m->lying, m->lying + m->completed);
}

/*
 * Among posts, messages and reaps in any order, nothing is lost, doubled or reordered, and the counts are those of a
 * queue that was always as large.
 * Proves: srq_resize.1 srq_query.6
 */
UNIT_RULE(resize__at_any_moment_loses_nothing)
{
	for (unsigned int seed = 1; seed <= 4; seed++) {
		struct model m = { .max = 8 };
		unsigned int random = seed;
		struct roce_srq *srq;
		struct client c[3];

		reopen(seed % 2 ? 1 : 3);
		srq = srq_of(m.max);
		age(srq, UINT32_MAX - 1000);
		for (unsigned int i = 0; i < 3; i++)
			client_on(&c[i], srq, end.recv_cq);
		for (unsigned int i = 0; i < 10000; i++)
			step(&m, srq, c, &random);
		assert_true(m.got > 1000);
		reap_many(end.recv_cq, m.completed);
		for (unsigned int i = 0; i < 3; i++)
			roce_qp_destroy(c[i].qp);
		assert_int_equal(roce_srq_destroy(srq), 0);
	}
}
