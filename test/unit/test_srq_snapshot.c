/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking on: what telemetry learns of the shared receive queues and the queue pairs of a domain. */

#include "engine/snapshot.h"
#include "srq_scene.h"

#define MOST 16u

struct seen {
	unsigned int srqs, qps;
	struct roce_srq_snapshot srq[MOST];
	struct roce_qp_snapshot qp[MOST];
};

static void
see_srq(void *arg, const struct roce_srq_snapshot *srq)
{
	struct seen *s = arg;

	assert_in_range(s->srqs, 0, MOST - 1);
	s->srq[s->srqs++] = *srq;
}

static void
see_qp(void *arg, const struct roce_qp_snapshot *qp)
{
	struct seen *s = arg;

	assert_in_range(s->qps, 0, MOST - 1);
	s->qp[s->qps++] = *qp;
}

static struct seen
look(void)
{
	struct seen s = { 0 };

	roce_domain_each_srq(end.domain, see_srq, &s);
	roce_domain_each_qp(end.domain, see_qp, &s);
	return s;
}

/* The snapshot of a queue pair; fails unless it was seen exactly once. */
static struct roce_qp_snapshot
of_client(const struct seen *s, const struct client *c)
{
	struct roce_qp_snapshot it = { 0 };
	unsigned int times = 0;

	for (unsigned int i = 0; i < s->qps; i++) {
		if (s->qp[i].number == roce_qp_number(c->qp)) {
			it = s->qp[i];
			times++;
		}
	}
	assert_int_equal(times, 1);
	return it;
}

/*
 * Shared queues are seen oldest first, by a number that no later one gets; a queue pair's own is not.
 * Proves: bug.S19
 */
UNIT_RULE(srq__is_seen_from_birth_to_death)
{
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_srq *a, *c;
	struct seen s = look();
	uint32_t first;

	assert_int_equal(s.srqs, 1);
	first = s.srq[0].id;
	a = srq_of(3);
	srq_of(5);
	attr.srq = NULL;
	fx_qp(&end, &attr);
	s = look();
	assert_int_equal(s.srqs, 3);
	assert_int_equal(s.srq[1].counts.max, 3);
	assert_int_equal(s.srq[2].counts.max, 5);
	assert_int_equal(s.srq[1].id, first + 1);
	assert_int_equal(s.srq[2].id, first + 2);

	assert_int_equal(roce_srq_destroy(a), 0);
	fx_fail(1);
	assert_int_equal(roce_srq_create(end.pd, 7, 1, NULL, &c), -ENOMEM);
	c = srq_of(7);
	s = look();
	assert_int_equal(s.srqs, 3);
	assert_int_equal(s.srq[1].id, first + 2);
	assert_fields(s.srq[2], (id, first + 3), (counts.max, 7));
}

/* Counts as a query tells them, watermark events, and the times a queue pair found nothing. */
UNIT_RULE(srq__tells_what_happened_to_it)
{
	struct client c[2];
	struct seen s;

	client_on(&c[0], end.srq, end.recv_cq);
	client_on(&c[1], end.srq, end.recv_cq);
	for (unsigned int round = 1; round <= 3; round++) {
		post_many(end.srq, 3, 0, SHORT_LEN);
		assert_int_equal(roce_srq_set_low(end.srq, 2), 0);
		arrive(&c[0]);
		s = look();
		assert_fields(s.srq[0], (low_watermark_events, round - 1), (counts.armed, true));
		arrive(&c[1]);
		arrive(&c[0]);
		/* No receive is there, so the packet comes again. */
		arrive(&c[1]);
		arrive_again(&c[1]);
		c[1].psn = roce_psn_add(c[1].psn, ROCE_PSN_MASK);
		reap_many(end.recv_cq, 2);
		s = look();
		assert_fields(s.srq[0], (low_watermark_events, round), (empty, 2 * round),
				(counts.available, 0), (counts.outstanding, 1), (counts.low, 2),
				(counts.armed, false));
		reap_many(end.recv_cq, 1);
	}
}

/* The receives that each queue pair took and holds, and the queue that it takes from: on every engine. */
UNIT_RULE(qp__tells_what_it_took_and_holds)
{
	for (unsigned int engines = 1; engines <= 4; engines++) {
		struct client c[4];
		struct roce_srq *other;
		struct seen s;

		reopen(engines);
		other = srq_of(8);
		for (unsigned int i = 0; i < 4; i++)
			client_on(&c[i], i == 3 ? other : end.srq, end.recv_cq);
		post_many(end.srq, 8, 0, LONG_LEN);
		post_many(other, 1, 0, LONG_LEN);
		for (unsigned int n = 0; n < 3; n++)
			arrive(&c[1]);
		begin(&c[2]);
		begin(&c[3]);
		client_to_error(&c[3]);
		client_lock(&c[0]);
		roce_qp_set_high(c[0].qp, 5, 7);
		client_unlock(&c[0]);
		s = look();
		assert_fields(s, (srqs, 2), (qps, 4));
		for (unsigned int i = 0; i < 4; i++) {
			static const uint32_t taken[] = { 0, 3, 1, 1 };
			const struct roce_qp_snapshot it = of_client(&s, &c[i]);

			assert_fields(it, (taken, taken[i]), (held, i == 2), (requests, 0));
			/* Message by message, whether somebody reaped it or not. */
			assert_fields(it, (received, i == 1 ? 3 : 0), (srq, s.srq[i == 3].id),
					(state, i == 3 ? ROCE_QP_ERR : ROCE_QP_RTS),
					(soft_high, i == 0 ? 5 : ROCE_HIGH_NONE),
					(hard_high, i == 0 ? 7 : ROCE_HIGH_NONE));
			assert_ptr_equal(roce_domain_engine(end.domain, it.engine),
					roce_qp_engine(c[i].qp));
		}
		for (unsigned int i = 0; i < 4; i++)
			roce_qp_destroy(c[i].qp);
		assert_int_equal(roce_srq_destroy(other), 0);
		assert_int_equal(look().qps, 0);
	}
}

/* The requests that were posted, and those of them that ended: the difference of two looks gives a rate. */
UNIT_RULE(qp__tells_what_was_posted_and_completed)
{
	struct client c = { .connect = fx_connect(&end, fx_ip(99), 0x777) };
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_qp_snapshot it;
	struct seen s;

	c.qp = fx_qp(&end, &attr);
	client_connect(&c);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(fx_send(&end, c.qp, i, 0, SHORT_LEN, 0), 0);
	s = look();
	it = of_client(&s, &c);
	assert_fields(it, (posted, 3), (completed, 0), (requests, 3));
	client_to_error(&c);
	s = look();
	assert_fields(of_client(&s, &c), (posted, 3), (completed, 3), (requests, 0));
}

/* A queue of its own has no number, and what is posted to it is held. */
UNIT_RULE(qp__with_a_queue_of_its_own)
{
	struct client c = { .connect = fx_connect(&end, fx_ip(99), 0x777) };
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_qp_snapshot it;
	struct seen s;

	attr.srq = NULL;
	c.qp = fx_qp(&end, &attr);
	for (uint64_t i = 0; i < 3; i++) {
		struct roce_sge sge;
		struct roce_recv_wr wr = fx_recv(&end, &sge, i, 0, LONG_LEN);

		assert_int_equal(roce_qp_post_recv(c.qp, &wr), 0);
	}
	s = look();
	it = of_client(&s, &c);
	assert_fields(it, (srq, ROCE_NO_SRQ), (held, 3), (taken, 0), (state, ROCE_QP_RESET));
	client_connect(&c);
	begin(&c);
	s = look();
	assert_fields(of_client(&s, &c), (held, 3), (taken, 1));
}
