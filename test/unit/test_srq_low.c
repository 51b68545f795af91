/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The low watermark of a shared receive queue: told once for each arming, if and only if fewer receives are on the
 * queue than it says.
 */

#include "srq_scene.h"

/* The state while the last async event was delivered. */
static struct {
	unsigned int locked; /* engines whose lock was held */
	unsigned int events; /* completions that waited */
} moment;

static void
look_round(struct fx_end *e)
{
	moment.locked = 0;
	moment.events = roce_cq_count(e->recv_cq);
	for (unsigned int i = 0; i < roce_domain_engines(e->domain); i++) {
		struct roce_engine *engine = roce_domain_engine(e->domain, i);

		if (roce_engine_trylock(engine))
			roce_engine_unlock(engine);
		else
			moment.locked++;
	}
}

static int
setup_watched(void **state)
{
	setup(state);
	end.on_async_event = look_round;
	return 0;
}

/* The low watermark events of this owner. No other async event comes here. */
static unsigned int
told(const void *owner)
{
	unsigned int times = 0;

	assert_in_range(end.async_events, 0, FX_ASYNC_EVENTS);
	for (unsigned int i = 0; i < end.async_events; i++) {
		assert_fields(end.async_event[i], (kind, ROCE_ENGINE_ASYNC_SRQ_LOW), (status, 0));
		times += end.async_event[i].owner == owner;
	}
	return times;
}

/*
 * Below: inside the call. Equal or above: not. Zero: never. The value can be read in each case.
 * Proves: srq_set_lw.1 srq_set_lw.2 srq_set_lw.6 srq_set_lw.7 srq_query.7 bug.S15 bug.S16
 */
UNIT_RULE_IN(set_low__tells_at_once_exactly_when_below, setup_watched, teardown)
{
	enum {
		MAX = 6
	};

	for (uint32_t available = 0; available <= MAX; available++) {
		for (uint32_t low = 0; low <= MAX; low++) {
			int owner;
			struct roce_srq *srq = srq_owned(MAX, &owner);

			end.async_events = 0;
			post_many(srq, available, 0, SHORT_LEN);
			assert_int_equal(roce_srq_set_low(srq, low), 0);
			assert_int_equal(told(&owner), available < low);
			expect_mark(srq, low, low > 0 && available >= low);
			assert_int_equal(roce_srq_destroy(srq), 0);
			assert_int_equal(end.async_events, available < low);
		}
	}
}

/*
 * Else by the very take that goes below, and by none after it.
 * Proves: srq_set_lw.2 srq_set_lw.8
 */
UNIT_RULE_IN(take__tells_when_it_goes_below, setup_watched, teardown)
{
	enum {
		MAX = 8
	};

	for (uint32_t low = 0; low <= MAX; low++) {
		int owner;
		struct roce_srq *srq = srq_owned(MAX, &owner);
		struct client c;

		end.async_events = 0;
		client_on(&c, srq, end.recv_cq);
		post_many(srq, MAX, 0, SHORT_LEN);
		assert_int_equal(roce_srq_set_low(srq, low), 0);
		assert_int_equal(end.async_events, 0);
		for (uint32_t left = MAX; left-- > 0;) {
			arrive(&c);
			assert_int_equal(told(&owner), left < low);
			expect_mark(srq, low, low > 0 && left >= low);
		}
		/* One that finds nothing takes nothing. */
		arrive(&c);
		assert_int_equal(end.async_events, low > 0);
		reap_many(end.recv_cq, MAX);
		end_with(&c, srq);
	}
}

/*
 * An owner who set no watermark gets no event, however empty the queue; nor does one who set it back to 0.
 * Proves: srq_create.7 srq_set_lw.6
 */
UNIT_RULE_IN(mark__unset_or_zero_tells_nothing, setup_watched, teardown)
{
	for (unsigned int zeroed = 0; zeroed <= 1; zeroed++) {
		struct client c;
		struct roce_srq *srq = srq_with(&c, 4, NULL, 4, SHORT_LEN);

		if (zeroed) {
			/* Armed, and then not any more. */
			assert_int_equal(roce_srq_set_low(srq, 3), 0);
			expect_mark(srq, 3, true);
			assert_int_equal(roce_srq_set_low(srq, 0), 0);
		}
		expect_mark(srq, 0, false);
		for (unsigned int i = 0; i < 5; i++)
			arrive(&c);
		reap_many(end.recv_cq, 4);
		assert_int_equal(end.async_events, 0);
		end_with(&c, srq);
	}
}

/* Take everything off the queue, and refill it. */
static void
drop_and_refill(struct roce_srq *srq, struct client *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		arrive(c);
	reap_many(end.recv_cq, n);
	fx_expect_counts(srq, n, 0, 0);
	post_many(srq, n, 0, SHORT_LEN);
}

/*
 * One async event for each call, however often the queue empties and fills; the next call arms again.
 * Proves: srq_set_lw.1 srq_set_lw.8
 */
UNIT_RULE_IN(mark__tells_once_for_each_arming, setup_watched, teardown)
{
	int owner;
	struct client c;
	struct roce_srq *srq = srq_with(&c, 8, &owner, 8, SHORT_LEN);

	for (unsigned int arming = 1; arming <= 5; arming++) {
		assert_int_equal(roce_srq_set_low(srq, 4), 0);
		expect_mark(srq, 4, true);
		assert_int_equal(told(&owner), arming - 1);
		for (unsigned int round = 0; round < 3; round++) {
			drop_and_refill(srq, &c, 8);
			assert_int_equal(told(&owner), arming);
			/* Told, so no longer armed; the value stays what was set. */
			expect_mark(srq, 4, false);
		}
	}
}

/*
 * Setting it when the queue is already below tells at once, and then not again when posts have lifted it and takes
 * lower it: exactly one.
 * Proves: srq_set_lw.8 bug.S15
 */
UNIT_RULE_IN(mark__told_at_once_is_not_told_again, setup_watched, teardown)
{
	int owner;
	struct client c;
	struct roce_srq *srq = srq_with(&c, 8, &owner, 2, SHORT_LEN);

	assert_int_equal(roce_srq_set_low(srq, 3), 0);
	assert_int_equal(told(&owner), 1);
	post_many(srq, 6, 0, SHORT_LEN);
	drop_and_refill(srq, &c, 8);
	assert_int_equal(told(&owner), 1);
}

/*
 * A call replaces what an earlier one armed and has not told: lower, higher, the same.
 * Proves: srq_set_lw.1
 */
UNIT_RULE_IN(mark__armed_again_forgets_the_former, setup_watched, teardown)
{
	static const struct {
		uint32_t former, low;
	} rule[] = { { 5, 2 }, { 2, 5 }, { 4, 4 }, { 8, 1 }, { 1, 8 } };

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		int owner;
		struct roce_srq *srq = srq_owned(8, &owner);
		struct client c;

		end.async_events = 0;
		client_on(&c, srq, end.recv_cq);
		post_many(srq, 8, 0, SHORT_LEN);
		assert_int_equal(roce_srq_set_low(srq, rule[i].former), 0);
		assert_int_equal(roce_srq_set_low(srq, rule[i].low), 0);
		for (uint32_t left = 8; left-- > 0;) {
			arrive(&c);
			assert_int_equal(told(&owner), left < rule[i].low);
		}
		reap_many(end.recv_cq, 8);
		end_with(&c, srq);
	}
}

/*
 * Up to the size of the queue; more is refused and leaves value and arming as they were.
 * Proves: srq_set_lw.3
 */
UNIT_RULE_IN(set_low__judges_its_number, setup_watched, teardown)
{
	static const uint32_t bad[] = { 9, INT32_MAX, (uint32_t)INT32_MIN, (uint32_t)-1 };
	int owner;
	struct client c;
	struct roce_srq *srq = srq_with(&c, 8, &owner, 8, SHORT_LEN);

	assert_int_equal(roce_srq_set_low(srq, 7), 0);
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		assert_int_equal(roce_srq_set_low(srq, bad[i]), -EINVAL);
		expect_mark(srq, 7, true);
	}
	arrive(&c);
	assert_int_equal(told(&owner), 0);
	arrive(&c);
	assert_int_equal(told(&owner), 1);
	/* Told and refused: still told. */
	assert_int_equal(roce_srq_set_low(srq, 9), -EINVAL);
	expect_mark(srq, 7, false);
	reap_many(end.recv_cq, 2);
	post_many(srq, 2, 0, SHORT_LEN);
	/* The size itself is allowed: the next take goes below. */
	assert_int_equal(roce_srq_set_low(srq, 8), 0);
	expect_mark(srq, 8, true);
	arrive(&c);
	assert_int_equal(told(&owner), 2);
	roce_qp_destroy(c.qp);
	reap_many(end.recv_cq, 1);
}

/*
 * The async event comes first and the completion of the message that caused it after, be it of one packet or of several.
 * Proves: srq_set_lw.2 bug.S28
 */
UNIT_RULE_IN(event__precedes_the_completion, setup_watched, teardown)
{
	int owner;
	struct client c;
	struct roce_srq *srq = srq_with(&c, 4, &owner, 4, LONG_LEN);

	assert_int_equal(roce_srq_set_low(srq, 4), 0);
	arrive(&c);
	assert_int_equal(told(&owner), 1);
	assert_int_equal(moment.events, 0);
	assert_int_equal(reap(end.recv_cq), 0);

	assert_int_equal(roce_srq_set_low(srq, 3), 0);
	begin(&c);
	assert_int_equal(told(&owner), 2);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	packet(&c, IBV_OPCODE_RC_SEND_MIDDLE, FX_MTU);
	finish(&c);
	assert_int_equal(told(&owner), 2);
	assert_int_equal(reap(end.recv_cq), 1);
}

/* The same for a message in the middle of a burst: the completions before it are there, its own is not. */
UNIT_RULE_IN(event__takes_its_place_in_a_burst, setup_watched, teardown)
{
	int owner;
	struct rte_mbuf *burst[16];
	struct client c;
	struct roce_srq *srq = srq_with(&c, 16, &owner, 16, SHORT_LEN);

	assert_int_equal(roce_srq_set_low(srq, 10), 0);
	for (uint32_t i = 0; i < 16; i++)
		burst[i] = fx_request(&c.peer, IBV_OPCODE_RC_SEND_ONLY, c.psn + i, 8, 0);
	roce_engine_lock(end.engine);
	assert_int_equal(roce_engine_rx(end.engine, burst, 16, end.now), 0);
	roce_engine_unlock(end.engine);
	assert_int_equal(told(&owner), 1);
	/* Six messages leave 10, the seventh 9. */
	assert_int_equal(moment.events, 6);
	reap_many(end.recv_cq, 16);
}

/* Under the lock of an engine, so that who hears it can tell it before what comes after it: by a take and by the call. */
UNIT_RULE_IN(event__is_delivered_under_a_lock, setup_watched, teardown)
{
	for (unsigned int engines = 1; engines <= 3; engines++) {
		struct roce_srq *srq;
		struct client c[3];

		reopen(engines);
		srq = srq_of(8);
		for (unsigned int i = 0; i < 3; i++)
			client_on(&c[i], srq, end.recv_cq);
		post_many(srq, 3, 0, SHORT_LEN);
		for (unsigned int i = 0; i < 3; i++) {
			assert_int_equal(roce_srq_set_low(srq, 3 - i), 0);
			assert_int_equal(end.async_events, i);
			moment.locked = 0;
			arrive(&c[i]);
			assert_int_equal(end.async_events, i + 1);
			assert_int_equal(moment.locked, 1);
		}
		moment.locked = 0;
		assert_int_equal(roce_srq_set_low(srq, 1), 0);
		assert_int_equal(end.async_events, 4);
		assert_int_equal(moment.locked, 1);
		reap_many(end.recv_cq, 3);
		for (unsigned int i = 0; i < 3; i++)
			roce_qp_destroy(c[i].qp);
		assert_int_equal(roce_srq_destroy(srq), 0);
	}
}

/*
 * One async event although every engine takes, whichever it is that goes below.
 * Proves: srq_set_lw.1 srq_set_lw.2
 */
UNIT_RULE_IN(event__is_one_for_all_engines, setup_watched, teardown)
{
	enum {
		ENGINES = 4,
		MAX = 16
	};

	reopen(ENGINES);
	for (uint32_t low = 1; low <= MAX; low++) {
		int owner;
		struct roce_srq *srq = srq_owned(MAX, &owner);
		struct client c[ENGINES];

		end.async_events = 0;
		for (unsigned int i = 0; i < ENGINES; i++)
			client_on(&c[i], srq, end.recv_cq);
		post_many(srq, MAX, 0, SHORT_LEN);
		assert_int_equal(roce_srq_set_low(srq, low), 0);
		for (uint32_t left = MAX; left-- > 0;) {
			arrive(&c[left % ENGINES]);
			assert_int_equal(told(&owner), left < low);
			if (left + 1 == low)
				assert_int_equal(moment.events, MAX - low);
		}
		reap_many(end.recv_cq, MAX);
		for (unsigned int i = 0; i < ENGINES; i++)
			roce_qp_destroy(c[i].qp);
		assert_int_equal(roce_srq_destroy(srq), 0);
	}
}

/*
 * Two queues of one domain, one queue pair on each: the async event names the right one, the other stays armed.
 * Proves: bug.S16 bug.S17
 */
UNIT_RULE_IN(event__names_its_queue, setup_watched, teardown)
{
	int owner[2];
	struct roce_srq *srq[2];
	struct client c[2];

	for (unsigned int i = 0; i < 2; i++) {
		srq[i] = srq_owned(4, &owner[i]);
		client_on(&c[i], srq[i], end.recv_cq);
		post_many(srq[i], 4, 0, SHORT_LEN);
		assert_int_equal(roce_srq_set_low(srq[i], 3 - i), 0);
	}
	for (unsigned int n = 0; n < 3; n++) {
		arrive(&c[1]);
		assert_int_equal(told(&owner[0]), 0);
		assert_int_equal(told(&owner[1]), n == 2);
	}
	expect_mark(srq[0], 3, true);
	expect_mark(srq[1], 2, false);
	arrive(&c[0]);
	arrive(&c[0]);
	assert_int_equal(told(&owner[0]), 1);
	assert_int_equal(told(&owner[1]), 1);
	reap_many(end.recv_cq, 5);
	for (unsigned int i = 0; i < 2; i++) {
		roce_qp_destroy(c[i].qp);
		assert_int_equal(roce_srq_destroy(srq[i]), 0);
	}
}

/*
 * Only receives on the queue count. Those that queue pairs hold, that were flushed or that wait to be reaped are
 * outstanding, but cannot be taken: when they end, the mark is neither armed nor set off.
 * Proves: srq_set_lw.2
 */
UNIT_RULE_IN(mark__counts_what_lies_on_the_queue, setup_watched, teardown)
{
	int owner;
	struct roce_srq *srq = srq_owned(8, &owner);
	struct client c[3];

	for (unsigned int i = 0; i < 3; i++)
		client_on(&c[i], srq, end.recv_cq);
	post_many(srq, 5, 0, LONG_LEN);
	begin(&c[0]);
	begin(&c[1]);
	arrive(&c[2]);
	fx_expect_counts(srq, 8, 2, 5);
	assert_int_equal(roce_srq_set_low(srq, 3), 0);
	assert_int_equal(told(&owner), 1);

	assert_int_equal(roce_srq_set_low(srq, 2), 0);
	client_to_error(&c[0]);
	client_to_reset(&c[1]);
	fx_expect_counts(srq, 8, 2, 4);
	reap_many(end.recv_cq, 2);
	fx_expect_counts(srq, 8, 2, 2);
	assert_int_equal(told(&owner), 1);
	expect_mark(srq, 2, true);
	arrive(&c[2]);
	assert_int_equal(told(&owner), 2);
	reap_many(end.recv_cq, 1);
	for (unsigned int i = 0; i < 3; i++)
		roce_qp_destroy(c[i].qp);
}

/* A packet that takes no receive is no reason: a duplicate, a gap, a message that has to wait. */
UNIT_RULE_IN(mark__is_not_crossed_by_what_takes_nothing, setup_watched, teardown)
{
	int owner;
	struct client c;
	struct roce_srq *srq = srq_with(&c, 2, &owner, 2, LONG_LEN);

	assert_int_equal(roce_srq_set_low(srq, 1), 0);
	begin(&c);
	packet(&c, IBV_OPCODE_RC_SEND_MIDDLE, FX_MTU);
	c.psn = FX_RQ_PSN;
	begin(&c);
	c.psn = FX_RQ_PSN + 9;
	begin(&c);
	c.psn = FX_RQ_PSN + 2;
	finish(&c);
	assert_int_equal(end.async_events, 0);
	expect_mark(srq, 1, true);
	begin(&c);
	assert_int_equal(told(&owner), 1);
	roce_qp_destroy(c.qp);
	reap_many(end.recv_cq, 1);
}

/* The comparison is of counts, not of counters: it holds when these go round. */
UNIT_RULE_IN(mark__holds_when_the_counters_go_round, setup_watched, teardown)
{
	for (uint32_t before = 0; before <= 9; before++) {
		int owner;
		struct roce_srq *srq = srq_owned(8, &owner);
		struct client c;

		end.async_events = 0;
		age(srq, UINT32_MAX - before);
		client_on(&c, srq, end.recv_cq);
		post_many(srq, 8, 0, SHORT_LEN);
		assert_int_equal(roce_srq_set_low(srq, 4), 0);
		for (uint32_t left = 8; left-- > 0;) {
			arrive(&c);
			assert_int_equal(told(&owner), left < 4);
		}
		reap_many(end.recv_cq, 8);
		fx_expect_counts(srq, 8, 0, 0);
		end_with(&c, srq);
	}
}
