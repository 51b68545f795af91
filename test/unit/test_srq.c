/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues: birth, posting, death. */

#include "srq_scene.h"

/*
 * One, the most, and nothing beyond, for receives and for segments.
 * Proves: bug.S29 bug.S30
 */
UNIT_RULE(create__judges_its_numbers)
{
	static const struct {
		uint32_t max_wr, max_sge;
		int want;
	} rule[] = {
		{ 0, 1, -EINVAL },
		{ 1, 0, -EINVAL },
		{ 1, 1, 0 },
		{ 1, ROCE_SGE_MAX, 0 },
		{ 1, ROCE_SGE_MAX + 1, -EINVAL },
		{ 1u << 20, 1, 0 },
		{ (1u << 20) + 1, 1, -EINVAL },
		{ INT32_MAX, 1, -EINVAL },
		{ (uint32_t)INT32_MIN, 1, -EINVAL },
		{ (uint32_t)-1, 1, -EINVAL },
		{ 1, (uint32_t)-1, -EINVAL },
	};
	const unsigned int before = fx_live();

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_srq *srq = NULL;

		assert_int_equal(roce_srq_create(end.pd, rule[i].max_wr, rule[i].max_sge, NULL,
						 &srq),
				rule[i].want);
		if (rule[i].want == 0) {
			fx_expect_counts(srq, rule[i].max_wr, 0, 0);
			assert_int_equal(roce_srq_destroy(srq), 0);
		}
		assert_null(rule[i].want == 0 ? NULL : srq);
		assert_int_equal(fx_live(), before);
	}
}

/*
 * A new queue is empty, has no receive outstanding and no watermark, and causes no async event.
 * Proves: srq_create.1 srq_create.3
 */
UNIT_RULE(create__starts_empty_and_unwatched)
{
	struct roce_srq *srq = srq_of(10);

	fx_expect_counts(srq, 10, 0, 0);
	expect_mark(srq, 0, false);
	assert_int_equal(end.async_events, 0);
	assert_int_equal(roce_srq_destroy(srq), 0);
}

/*
 * Whichever allocation fails: no memory is left, none is freed twice, and the next attempt succeeds.
 * Proves: bug.S2
 */
UNIT_RULE(create__without_memory_leaves_nothing)
{
	const unsigned int before = fx_live();
	struct roce_srq *srq = NULL;
	unsigned int nth = 0;
	int rc;

	do {
		assert_int_equal(fx_live(), before);
		fx_fail(++nth);
		rc = roce_srq_create(end.pd, 8, 1, NULL, &srq);
		assert_int_equal(rc, fx_failed() ? -ENOMEM : 0);
		assert_true(rc == 0 || srq == NULL);
	} while (rc != 0);
	fx_fail(0);
	assert_int_equal(nth, 2 + 1);
	assert_int_equal(roce_srq_destroy(srq), 0);
	assert_int_equal(fx_live(), before);
}

/*
 * A queue holds its protection domain as long as it lives; what was refused or has failed does not.
 * Proves: srq_create.11 bug.S2
 */
UNIT_RULE(create__holds_its_protection_domain)
{
	struct roce_srq *srq;
	struct roce_pd *pd = fx_pd(&end);

	assert_int_equal(roce_srq_create(pd, 0, 1, NULL, &srq), -EINVAL);
	for (unsigned int nth = 1; nth <= 2; nth++) {
		fx_fail(nth);
		assert_int_equal(roce_srq_create(pd, 8, 1, NULL, &srq), -ENOMEM);
	}
	assert_int_equal(roce_srq_create(pd, 8, 1, NULL, &srq), 0);
	assert_int_equal(roce_pd_destroy(pd), -EBUSY);
	assert_int_equal(roce_srq_destroy(srq), 0);
	assert_int_equal(roce_pd_destroy(pd), 0);
}

/*
 * A queue pair holds its queue in every state of its life, to its end; receives left on the queue do not, and
 * nobody hears of them.
 * Proves: srq_free.2 srq_free.3 srq_free.5
 */
UNIT_RULE(destroy__waits_for_the_queue_pairs)
{
	struct roce_srq *srq = srq_of(8);
	struct client c[2];

	post_many(srq, 5, 0, SHORT_LEN);
	client_on(&c[0], srq, end.recv_cq);
	client_on(&c[1], srq, end.send_cq);
	assert_int_equal(roce_srq_destroy(srq), -EBUSY);
	client_to_error(&c[0]);
	client_to_reset(&c[1]);
	assert_int_equal(roce_srq_destroy(srq), -EBUSY);
	roce_qp_destroy(c[0].qp);
	assert_int_equal(roce_srq_destroy(srq), -EBUSY);
	/* Refused is untouched. */
	fx_expect_counts(srq, 8, 5, 5);
	client_connect(&c[1]);
	arrive(&c[1]);
	assert_int_equal(reap(end.send_cq), 0);
	roce_qp_destroy(c[1].qp);
	assert_int_equal(roce_srq_destroy(srq), 0);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	assert_int_equal(roce_cq_count(end.send_cq), 0);
	assert_int_equal(end.async_events, 0);
}

/*
 * Events of a dead shared queue can still be reaped, and its share serves another queue only afterwards.
 * Proves: bug.S23
 */
UNIT_RULE(destroy__leaves_its_events_reapable)
{
	struct roce_event event[4];
	struct client c;

	for (unsigned int round = 0; round < 5; round++) {
		struct roce_srq *old = srq_of(4);
		struct roce_srq *new;

		client_on(&c, old, end.recv_cq);
		post_many(old, 2, 1, SHORT_LEN);
		arrive(&c);
		arrive(&c);
		end_with(&c, old);

		/* The old events are in front of the new one's: their reap is not the new one's. */
		new = srq_of(4);
		client_on(&c, new, end.recv_cq);
		assert_int_equal(post(new, 3), 0);
		arrive(&c);
		fx_expect_counts(new, 4, 0, 1);
		assert_int_equal(roce_cq_poll(end.recv_cq, event, 2), 2);
		assert_int_equal(event[0].wr_id, 1);
		assert_int_equal(event[1].wr_id, 2);
		fx_expect_counts(new, 4, 0, 1);
		assert_int_equal(roce_cq_poll(end.recv_cq, event, 4), 1);
		assert_int_equal(event[0].wr_id, 3);
		fx_expect_counts(new, 4, 0, 0);
		end_with(&c, new);
	}
}

/*
 * Exactly max posts for every size; every completion reaped makes room for exactly one more.
 * Proves: srq_create.2 srq_post_recv.6 srq_post_recv.7 bug.S8
 */
UNIT_RULE(post__succeeds_exactly_max_times)
{
	for (uint32_t max = 1; max <= 65; max++) {
		uint64_t posted = 0, got = 0;
		struct client c;
		struct roce_srq *srq = srq_with(&c, max, NULL, 0, 0);

		for (uint32_t i = 0; i < max; i++) {
			assert_int_equal(post(srq, posted++), 0);
			fx_expect_counts(srq, max, i + 1, i + 1);
		}
		assert_int_equal(post(srq, 999), -ENOSPC);
		for (uint32_t round = 0; round < 3 * max; round++) {
			arrive(&c);
			/* Completed and not reaped: still outstanding. */
			assert_int_equal(post(srq, 999), -ENOSPC);
			assert_int_equal(reap(end.recv_cq), got++);
			assert_int_equal(post(srq, posted++), 0);
			assert_int_equal(post(srq, 999), -ENOSPC);
		}
		fx_expect_counts(srq, max, max, max);
		end_with(&c, srq);
	}
}

/*
 * A series of posts that crosses the limit: what fits is accepted, the rest refused, whatever the room is taken by.
 * Proves: srq_post_recv.6 bug.S9
 */
UNIT_RULE(post__of_a_series_is_accepted_up_to_the_limit)
{
	struct roce_srq *srq = srq_of(9);
	struct client c[2];

	client_on(&c[0], srq, end.recv_cq);
	client_on(&c[1], srq, end.recv_cq);
	post_many(srq, 5, 0, LONG_LEN);
	/* Two on the queue, one held, two completed and one of these reaped: 4 outstanding. */
	begin(&c[0]);
	arrive(&c[1]);
	assert_int_equal(reap(end.recv_cq), 1);
	arrive(&c[1]);
	fx_expect_counts(srq, 9, 2, 4);
	for (uint64_t i = 5; i < 15; i++)
		assert_int_equal(post_of(srq, i, LONG_LEN), i < 10 ? 0 : -ENOSPC);
	fx_expect_counts(srq, 9, 7, 9);
	finish(&c[0]);
	reap_many(end.recv_cq, 2);
	for (uint64_t want = 3; want < 10; want++) {
		arrive(&c[1]);
		assert_int_equal(reap(end.recv_cq), want);
	}
	fx_expect_counts(srq, 9, 0, 0);
}

/* Post what one row of the table says between two good posts: the refusal leaves no trace and no lock. */
static void
refuse_between(struct roce_srq *srq, const struct roce_recv_wr *bad, int want)
{
	fx_expect_counts(srq, 2, 0, 0);
	assert_int_equal(post(srq, 1), 0);
	assert_int_equal(roce_srq_post(srq, bad), want);
	fx_expect_counts(srq, 2, 1, 1);
	assert_int_equal(post(srq, 2), 0);
	assert_int_equal(take(srq), 1);
	assert_int_equal(take(srq), 2);
	roce_srq_reap_silent(srq, 2);
}

/*
 * Segments are judged when they are posted: number, key, right, zone, bounds. The queue goes on as if nothing was.
 * Proves: srq_create.6 srq_post_recv.5 bug.S6 bug.S29
 */
UNIT_RULE(post__judges_the_segments)
{
	const uint64_t addr = (uintptr_t)end.memory;
	struct roce_srq *srq = srq_of(2);
	struct roce_pd *other_pd = fx_pd(&end);
	struct roce_mr *foreign = fx_mr(other_pd, addr, 64, IBV_ACCESS_LOCAL_WRITE);
	struct roce_mr *readable = fx_mr(end.pd, addr, 64, 0);
	const struct roce_sge good = { addr, 64, end.key };
	const struct {
		struct roce_sge sge;
		uint32_t num_sge;
		int want;
	} rule[] = {
		{ good, SEGMENTS + 1, -EINVAL },
		{ good, UINT32_MAX, -EINVAL },
		{ { addr, 64, end.key ^ 1 }, 1, -EACCES },
		{ { addr, 64, roce_mr_key(readable) }, 1, -EACCES },
		{ { addr, 64, roce_mr_key(foreign) }, 1, -EPERM },
		{ { addr + FX_MEMORY, 1, end.key }, 1, -ERANGE },
		{ { addr + 1, FX_MEMORY, end.key }, 1, -ERANGE },
		{ { addr - 1, 1, end.key }, 1, -ERANGE },
		{ { UINT64_MAX, 1, end.key }, 1, -ERANGE },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		const struct roce_recv_wr first = { 9, &rule[i].sge, rule[i].num_sge, 0 };
		const struct roce_sge segments[2] = { good, rule[i].sge };
		const struct roce_recv_wr second = { 9, segments, 2, 0 };

		refuse_between(srq, &first, rule[i].want);
		/* The last segment is judged as the first. */
		if (rule[i].num_sge == 1)
			refuse_between(srq, &second, rule[i].want);
	}
	assert_int_equal(roce_srq_destroy(srq), 0);
	roce_mr_destroy(readable);
	roce_mr_destroy(foreign);
	assert_int_equal(roce_pd_destroy(other_pd), 0);
}

/*
 * The last slot of the ring holds max_sge segments and nothing more: the address sanitizer watches.
 * Proves: srq_create.2 bug.S4
 */
UNIT_RULE(post__of_max_sge_segments_fits_every_slot)
{
	for (uint32_t max_sge = 1; max_sge <= ROCE_SGE_MAX; max_sge++) {
		struct roce_sge sge[ROCE_SGE_MAX];
		union taken taken;
		struct roce_srq *srq;

		for (uint32_t i = 0; i < max_sge; i++)
			sge[i] = (struct roce_sge){ (uintptr_t)end.memory + i, i + 1, end.key };
		assert_int_equal(roce_srq_create(end.pd, 4, max_sge, NULL, &srq), 0);
		for (uint64_t i = 0; i < 4; i++) {
			struct roce_recv_wr wr = { i, sge, max_sge, 0 };

			assert_int_equal(roce_srq_post(srq, &wr), 0);
			wr.num_sge++;
			assert_int_equal(roce_srq_post(srq, &wr), -EINVAL);
		}
		for (uint64_t i = 0; i < 4; i++) {
			assert_true(take_into(srq, &taken));
			assert_fields(taken.recv, (wr_id, i), (num_sge, max_sge),
					(length, max_sge * (max_sge + 1) / 2));
			assert_memory_equal(taken.recv.sge, sge, max_sge * sizeof(*sge));
		}
		assert_false(take_into(srq, &taken));
		assert_int_equal(roce_srq_destroy(srq), 0);
	}
}

/*
 * Fewer segments than the queue allows, the last of them empty: the message fills what there is, and no segment that an
 * earlier receive left in the slot.
 * Proves: srq_post_recv.2 bug.S11
 */
UNIT_RULE(post__of_fewer_segments_ends_where_they_end)
{
	const uintptr_t memory = (uintptr_t)end.memory;
	const struct roce_sge old[SEGMENTS] = {
		{ memory, 8, end.key },
		{ memory + 100, 8, end.key },
		{ memory + 200, 8, end.key },
		{ memory + 300, 8, end.key },
	};
	struct client c;
	struct roce_srq *srq = srq_with(&c, 1, NULL, 0, 0);

	for (uint32_t n = 0; n < SEGMENTS; n++) {
		const struct roce_recv_wr all = { 1, old, SEGMENTS, 0 };
		struct roce_sge fewer[SEGMENTS];
		const struct roce_recv_wr some = { 2, fewer, n + 1, 0 };

		assert_int_equal(roce_srq_post(srq, &all), 0);
		arrive(&c);
		assert_int_equal(reap(end.recv_cq), 1);

		memcpy(fewer, old, sizeof(fewer));
		fewer[n].length = 0;
		memset(end.memory, 0xee, 512);
		assert_int_equal(roce_srq_post(srq, &some), 0);
		packet(&c, IBV_OPCODE_RC_SEND_ONLY, 8 * n);
		assert_int_equal(fx_event(end.recv_cq).byte_len, 8 * n);
		for (uint32_t i = 0; i < SEGMENTS; i++) {
			assert_int_equal(end.memory[(size_t)100 * i] != 0xee, i < n);
			assert_int_equal(end.memory[(size_t)100 * i + 8], 0xee);
		}
	}
	/* One byte more than the segments hold finds no room. */
	{
		const struct roce_sge sge[2] = { { memory, 8, end.key }, { memory, 0, end.key } };
		const struct roce_recv_wr wr = { 3, sge, 2, 0 };

		assert_int_equal(roce_srq_post(srq, &wr), 0);
		packet(&c, IBV_OPCODE_RC_SEND_ONLY, 9);
		assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_LOC_LEN_ERR);
	}
}

/*
 * A receive without memory is good for an empty message.
 * Proves: srq_post_recv.1
 */
UNIT_RULE(post__of_no_segments_receives_nothing)
{
	const struct roce_recv_wr wr = { .wr_id = 5 };
	struct client c;
	struct roce_srq *srq = srq_with(&c, 1, NULL, 0, 0);

	assert_int_equal(roce_srq_post(srq, &wr), 0);
	packet(&c, IBV_OPCODE_RC_SEND_ONLY, 0);
	assert_int_equal(fx_event(end.recv_cq).byte_len, 0);
}

/*
 * The engine works on its own copy: what the poster does to its list afterwards changes nothing, nor does what it
 * posts into the slot while the message of the slot's last receive is still arriving.
 * Proves: bug.S3
 */
UNIT_RULE(post__copies_the_segments)
{
	struct roce_sge sge;
	struct roce_recv_wr wr = fx_recv(&end, &sge, 1, 100, LONG_LEN);
	struct client c;
	struct roce_srq *srq = srq_with(&c, 1, NULL, 0, 0);

	assert_int_equal(roce_srq_post(srq, &wr), 0);
	memset(&sge, 0xff, sizeof(sge));
	wr.num_sge = UINT32_MAX;
	memset(end.memory, 0, 8192);
	begin(&c);
	assert_int_equal(end.memory[101], (uint8_t)(FX_RQ_PSN + 1));
	/* The worst a poster could do to a slot that was taken. */
	memset(srq->ring, 0xff, srq->stride);
	finish(&c);
	assert_int_equal(fx_event(end.recv_cq).byte_len, FX_MTU + 8);
	assert_int_equal(end.memory[100 + FX_MTU + 1], (uint8_t)(FX_RQ_PSN + 1 + 1));
}

/*
 * The cookie comes back as it was, in the event of the queue pair that used the receive; it need not be unique.
 * Proves: srq_post_recv.3
 */
UNIT_RULE(post__brings_its_cookie_back)
{
	static const uint64_t cookie[] = { 0, UINT64_MAX, 7, 7, 0x0123456789abcdef };
	struct client c[2];

	client_on(&c[0], end.srq, end.recv_cq);
	client_on(&c[1], end.srq, end.recv_cq);
	for (unsigned int i = 0; i < RTE_DIM(cookie); i++)
		assert_int_equal(post(end.srq, cookie[i]), 0);
	for (unsigned int i = 0; i < RTE_DIM(cookie); i++) {
		struct roce_event event;

		arrive(&c[i % 2]);
		event = fx_event(end.recv_cq);
		assert_true(event.wr_id == cookie[i]);
		assert_ptr_equal(event.owner, &c[i % 2]);
	}
}
