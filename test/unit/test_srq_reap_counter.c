/* SPDX-License-Identifier: BSD-3-Clause */
/* Reap counters: exact for every shared receive queue, however many of them a completion queue meets. */

#include "srq_scene.h"

#define ROUNDS 3000u /**< shared receive queues, one after the other */

static uint32_t
outstanding(struct roce_srq *srq)
{
	struct roce_srq_counts counts;

	roce_srq_query(srq, &counts);
	return counts.outstanding;
}

/* Reap the oldest of the completions, a success. @return its number. */
static uint64_t
reap_oldest(struct roce_cq *cq)
{
	struct roce_event event;

	assert_int_equal(roce_cq_poll(cq, &event, 1), 1);
	assert_int_equal(event.status, IBV_WC_SUCCESS);
	return event.wr_id;
}

/* A completion queue meets any number of shared receive queues while one completion of another waits. */
UNIT_RULE(get__serves_any_number_behind_one_waiting_event)
{
	struct client waiting;

	client_on(&waiting, end.srq, end.recv_cq);
	fx_fill_srq(&end, 1, 64);
	arrive(&waiting);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct roce_srq *srq = srq_of(1);
		struct roce_qp_attr attr = fx_attr(&end);

		attr.srq = srq;
		roce_qp_destroy(fx_qp(&end, &attr));
		assert_int_equal(roce_srq_destroy(srq), 0);
	}
	fx_expect_counts(end.srq, 256, 0, 1);
	assert_int_equal(reap_oldest(end.recv_cq), 0);
	fx_expect_counts(end.srq, 256, 0, 0);
}

/* The events of all queues that ended may wait: those of the queue that lives are told apart from them. */
UNIT_RULE(get__serves_any_number_whose_events_wait)
{
	struct roce_cq *cq = cq_of(ROUNDS + 2);
	struct roce_srq *last = srq_of(2);
	struct client c;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct roce_srq *srq = srq_of(1);

		client_on(&c, srq, cq);
		post_many(srq, 1, round, SHORT_LEN);
		arrive(&c);
		fx_expect_counts(srq, 1, 0, 1);
		end_with(&c, srq);
	}
	client_on(&c, last, cq);
	post_many(last, 2, ROUNDS, SHORT_LEN);
	arrive(&c);
	arrive(&c);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		fx_expect_counts(last, 2, 0, 2);
		assert_int_equal(post(last, 0), -ENOSPC);
		assert_int_equal(reap_oldest(cq), i);
	}
	for (unsigned int i = 0; i < 2; i++) {
		fx_expect_counts(last, 2, 0, 2 - i);
		assert_int_equal(reap_oldest(cq), ROUNDS + i);
	}
	fx_expect_counts(last, 2, 0, 0);
	end_with(&c, last);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

/* So many at a time as there are queue pairs. The table of counters grows while events of its first ones wait. */
UNIT_RULE(get__serves_many_at_a_time)
{
	enum {
		MANY = 1500
	};
	static struct client c[MANY];
	static struct roce_srq *srq[MANY];
	struct roce_cq *cq = cq_of(2 * MANY);

	for (unsigned int i = 0; i < MANY; i++) {
		srq[i] = srq_of(2);
		client_on(&c[i], srq[i], cq);
		post_many(srq[i], 2, i, SHORT_LEN);
		arrive(&c[i]);
	}
	for (unsigned int i = MANY; i-- > 0;)
		arrive(&c[i]);
	for (unsigned int i = 0; i < MANY; i++) {
		fx_expect_counts(srq[i], 2, 0, 2);
		assert_int_equal(reap_oldest(cq), i);
		fx_expect_counts(srq[i], 2, 0, 1);
	}
	for (unsigned int i = MANY; i-- > 0;) {
		assert_int_equal(reap_oldest(cq), i + 1);
		fx_expect_counts(srq[i], 2, 0, 0);
		roce_qp_destroy(c[i].qp);
		assert_int_equal(roce_srq_destroy(srq[i]), 0);
	}
	assert_int_equal(roce_cq_destroy(cq), 0);
}

/* A counter that was idle while 2^31 and more events went through the ring serves again; so does one about to wrap. */
UNIT_RULE(get__does_not_care_how_old_a_counter_is)
{
	static const uint32_t gone[] = { 0, 1u << 31, (1u << 31) + 7, UINT32_MAX - 1, UINT32_MAX };

	for (unsigned int i = 0; i < RTE_DIM(gone); i++) {
		struct roce_cq *cq = cq_of(8);
		struct roce_srq *srq = srq_of(4);
		struct client c;

		client_on(&c, srq, cq);
		end_with(&c, srq);
		cq->head = cq->tail = cq->head_seen = cq->tail_seen = gone[i];
		cq->reap_unused->pushed = cq->reap_unused->reaped = gone[i];
		srq = srq_of(4);
		client_on(&c, srq, cq);
		assert_int_equal(cq->reap_tags, 1);
		for (unsigned int n = 0; n < 12; n++) {
			post_many(srq, 1, n, SHORT_LEN);
			arrive(&c);
			assert_int_equal(outstanding(srq), 1);
			assert_int_equal(reap_oldest(cq), n);
			assert_int_equal(outstanding(srq), 0);
		}
		end_with(&c, srq);
		assert_int_equal(roce_cq_destroy(cq), 0);
	}
}

/* Receives that end without an event, lost or dropped, are no events of the counter's next queue. */
UNIT_RULE(put__counts_events_alone)
{
	struct roce_cq *cq = cq_of(2);
	struct roce_srq *srq = srq_of(5), *next = srq_of(2);
	struct client c;

	client_on(&c, srq, cq);
	post_many(srq, 5, 0, LONG_LEN);
	/* Two events, two that find no room, and a receive that is in use when the queue pair is reset. */
	for (unsigned int i = 0; i < 4; i++)
		arrive(&c);
	begin(&c);
	fx_expect_counts(srq, 5, 0, 3);
	client_to_reset(&c);
	fx_expect_counts(srq, 5, 0, 2);
	end_with(&c, srq);

	client_on(&c, next, cq);
	assert_int_equal(cq->reap_tags, 1);
	post_many(next, 2, 10, SHORT_LEN);
	assert_int_equal(reap_oldest(cq), 0);
	arrive(&c);
	fx_expect_counts(next, 2, 1, 2);
	assert_int_equal(reap_oldest(cq), 1);
	fx_expect_counts(next, 2, 1, 2);
	assert_int_equal(reap_oldest(cq), 10);
	fx_expect_counts(next, 2, 1, 1);
	end_with(&c, next);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

/* Each shared receive queue, as the walk below knows it. */
struct known {
	struct roce_srq *srq;
	struct client c;
	uint32_t unreaped;
	uint64_t number;
};

static void
known_begin(struct known *k, struct roce_cq *cq, uint64_t number)
{
	*k = (struct known){ .srq = srq_of(64), .number = number };
	client_on(&k->c, k->srq, cq);
	post_many(k->srq, 64, number, SHORT_LEN);
}

static void
known_end(struct known *k)
{
	roce_qp_destroy(k->c.qp);
	assert_int_equal(outstanding(k->srq), 64);
	assert_int_equal(roce_srq_destroy(k->srq), 0);
}

/* Queues begin and end at random in front of events that wait: each query says what its own queue has. */
UNIT_RULE(read__is_exact_in_any_order)
{
	enum {
		LIVE = 7
	};
	static struct known k[LIVE];
	struct roce_cq *cq = cq_of(64);
	struct roce_event event;
	unsigned int seed = 11;
	uint64_t numbers = 0;

	for (unsigned int i = 0; i < LIVE; i++)
		known_begin(&k[i], cq, numbers += 1000);
	for (unsigned int step = 0; step < 20000; step++) {
		unsigned int i = (unsigned int)rand_r(&seed) % LIVE;
		unsigned int what = (unsigned int)rand_r(&seed) % 16;

		if (what == 0) {
			known_end(&k[i]);
			known_begin(&k[i], cq, numbers += 1000);
		} else if (what < 8 && roce_cq_count(cq) < 64) {
			arrive(&k[i].c);
			k[i].unreaped++;
		} else if (roce_cq_poll(cq, &event, 1) == 1) {
			for (unsigned int j = 0; j < LIVE; j++) {
				if (event.wr_id / 1000 * 1000 != k[j].number)
					continue;
				k[j].unreaped--;
				assert_int_equal(post(k[j].srq, k[j].number), 0);
			}
		}
		for (unsigned int j = 0; j < LIVE; j++)
			assert_int_equal(roce_srq_available(k[j].srq) + k[j].unreaped,
					outstanding(k[j].srq));
	}
	assert_in_range(cq->reap_tags, 1, LIVE + 1);
	for (unsigned int i = 0; i < LIVE; i++)
		known_end(&k[i]);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

/* Without memory for a counter, or for a larger table, a queue pair cannot be made, and nothing changes. */
UNIT_RULE(get__without_memory_leaves_nothing)
{
	struct roce_cq *cq = cq_of(8);
	struct roce_srq *srq = srq_of(4);
	struct roce_srq_reap_counter *counter;

	for (unsigned int nth = 1; nth <= 2; nth++) {
		fx_fail(nth);
		assert_int_equal(roce_srq_attach(srq, cq, &counter), -ENOMEM);
		assert_true(fx_failed());
		assert_int_equal(cq->reap_tags, 0);
		fx_expect_counts(srq, 4, 0, 0);
	}
	fx_fail(0);
	assert_int_equal(roce_srq_attach(srq, cq, &counter), 0);
	assert_int_equal(counter->tag, 1);
	roce_srq_detach(srq, counter, 0);
	assert_int_equal(roce_srq_destroy(srq), 0);
	assert_int_equal(roce_cq_destroy(cq), 0);
}

/* The end of a completion queue leaves in the count what was reaped there, of this queue and of no other. */
UNIT_RULE(destroy__keeps_the_count)
{
	struct roce_cq *cq = cq_of(8);
	struct roce_srq *srq = srq_of(4);
	struct client c;

	for (unsigned int round = 0; round < 2; round++) {
		client_on(&c, srq, cq);
		post_many(srq, 3, 0, SHORT_LEN);
		for (unsigned int i = 0; i < 3; i++)
			arrive(&c);
		if (round == 0) {
			end_with(&c, srq);
			srq = srq_of(4);
		}
	}
	fx_expect_counts(srq, 4, 0, 3);
	reap_many(cq, 4);
	fx_expect_counts(srq, 4, 0, 2);
	roce_qp_destroy(c.qp);
	assert_int_equal(roce_cq_destroy(cq), 0);
	fx_expect_counts(srq, 4, 0, 0);
	assert_int_equal(roce_srq_destroy(srq), 0);
}
