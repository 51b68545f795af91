/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "engine/srq.h"
#include "fixture.h"

#define SEND_ONLY  IBV_OPCODE_RC_SEND_ONLY
#define SEND_FIRST IBV_OPCODE_RC_SEND_FIRST

static struct fx_end end;
static struct fx_peer peer;

static int
setup(void **state)
{
	fx_end_open(&end, 1, NULL);
	return 0;
}

static int
teardown(void **state)
{
	fx_end_close(&end);
	return fx_live() != 0 || !unit_pool_is_full();
}

static int
post(struct roce_srq *srq, uint64_t wr_id)
{
	struct roce_sge sge;
	struct roce_recv_wr wr = fx_recv(&end, &sge, wr_id, 0, 64);

	return roce_srq_post(srq, &wr);
}

static struct roce_srq *
srq_of(uint32_t max)
{
	struct roce_srq *srq;

	assert_int_equal(roce_srq_create(end.pd, max, 4, NULL, &srq), 0);
	return srq;
}

/* A queue pair on this shared queue and completion queue, whose peer the test plays. */
static struct roce_qp *
qp_on(struct roce_srq *srq, struct roce_cq *cq, struct fx_peer *its_peer)
{
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_qp *qp;

	attr.srq = srq;
	attr.recv_cq = cq;
	qp = fx_qp(&end, &attr);
	fx_up(qp, &connect);
	*its_peer = fx_peer_of(qp, &connect);
	return qp;
}

static struct roce_cq *
cq_of(uint32_t depth)
{
	struct roce_cq *cq;

	assert_int_equal(roce_cq_create(end.domain, depth, NULL, &cq), 0);
	return cq;
}

/* One message of one packet. */
static void
arrive(const struct fx_peer *from, uint32_t number)
{
	fx_rx_request(&end, from, SEND_ONLY, FX_RQ_PSN + number, 8, 0);
}

static void
create__judges_its_numbers(void **state)
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
		{ UINT32_MAX, 1, -EINVAL },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_srq *srq;

		assert_int_equal(roce_srq_create(end.pd, rule[i].max_wr, rule[i].max_sge, NULL,
						 &srq),
				rule[i].want);
		if (rule[i].want == 0)
			assert_int_equal(roce_srq_destroy(srq), 0);
	}
}

static void
create__without_memory_leaves_nothing(void **state)
{
	const unsigned int before = fx_live();
	struct roce_srq *srq;

	for (unsigned int nth = 1; nth <= 2; nth++) {
		fx_fail(nth);
		assert_int_equal(roce_srq_create(end.pd, 8, 1, NULL, &srq), -ENOMEM);
		assert_int_equal(fx_live(), before);
	}
}

/* uDAPL 1.2, the example of dat_srq_query: 10 entries, 3 posted, one received, its completion reaped. */
static void
query__is_the_example_of_the_manual(void **state)
{
	struct roce_srq *srq = srq_of(10);
	struct roce_qp *qp = qp_on(srq, end.recv_cq, &peer);

	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(post(srq, i), 0);
	fx_expect_counts(srq, 10, 3, 3);
	arrive(&peer, 0);
	fx_expect_counts(srq, 10, 2, 3);
	assert_int_equal(fx_event(end.recv_cq).wr_id, 0);
	fx_expect_counts(srq, 10, 2, 2);
	roce_qp_destroy(qp);
	assert_int_equal(roce_srq_destroy(srq), 0);
}

/* A message in progress holds a receive: it is not available, and outstanding. */
static void
query__counts_a_held_receive_as_outstanding(void **state)
{
	struct roce_srq *srq = srq_of(4);
	struct roce_qp *qp = qp_on(srq, end.recv_cq, &peer);
	struct roce_sge sge;
	struct roce_recv_wr wr = fx_recv(&end, &sge, 1, 0, 4096);
	uint32_t requests, receives;

	assert_int_equal(roce_srq_post(srq, &wr), 0);
	fx_rx_request(&end, &peer, SEND_FIRST, FX_RQ_PSN, FX_MTU, 0);
	fx_expect_counts(srq, 4, 0, 1);
	roce_qp_depth(qp, &requests, &receives);
	assert_int_equal(receives, 1);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_LAST, FX_RQ_PSN + 1, 5, 0);
	fx_expect_counts(srq, 4, 0, 1);
	assert_int_equal(fx_event(end.recv_cq).byte_len, FX_MTU + 5);
	fx_expect_counts(srq, 4, 0, 0);
	roce_qp_destroy(qp);
	assert_int_equal(roce_srq_destroy(srq), 0);
}

/* Exactly max posts for every size; every completion reaped makes room for exactly one more. */
static void
post__succeeds_exactly_max_times(void **state)
{
	for (uint32_t max = 1; max <= 65; max++) {
		struct roce_srq *srq = srq_of(max);
		struct roce_qp *qp = qp_on(srq, end.recv_cq, &peer);
		struct roce_event event;
		uint64_t posted = 0, got = 0;

		for (uint32_t i = 0; i < max; i++)
			assert_int_equal(post(srq, posted++), 0);
		assert_int_equal(post(srq, 999), -ENOSPC);
		for (uint32_t round = 0; round < 3 * max; round++) {
			arrive(&peer, round);
			/* Completed and not reaped: still outstanding. */
			assert_int_equal(post(srq, 999), -ENOSPC);
			assert_int_equal(roce_cq_poll(end.recv_cq, &event, 1), 1);
			assert_int_equal(event.wr_id, got++);
			assert_int_equal(event.status, IBV_WC_SUCCESS);
			assert_int_equal(post(srq, posted++), 0);
			assert_int_equal(post(srq, 999), -ENOSPC);
		}
		fx_expect_counts(srq, max, max, max);
		roce_qp_destroy(qp);
		assert_int_equal(roce_srq_destroy(srq), 0);
	}
}

static void
post__judges_the_pieces(void **state)
{
	const uint64_t addr = (uintptr_t)end.memory;
	struct roce_pd *other_pd;
	struct roce_mr *readable, *foreign;
	struct roce_srq *srq = srq_of(1);

	assert_int_equal(roce_pd_create(end.domain, &other_pd), 0);
	assert_int_equal(roce_mr_create(other_pd, addr, 64, IBV_ACCESS_LOCAL_WRITE, &foreign), 0);
	assert_int_equal(roce_mr_create(end.pd, addr, 64, 0, &readable), 0);
	{
		const struct {
			struct roce_sge sge;
			uint32_t num_sge;
			int want;
		} rule[] = {
			{ { addr, 64, end.key }, 5, -EINVAL },
			{ { addr, 64, end.key }, UINT32_MAX, -EINVAL },
			{ { addr, 64, end.key ^ 1 }, 1, -EACCES },
			{ { addr, 64, roce_mr_key(readable) }, 1, -EACCES },
			{ { addr, 64, roce_mr_key(foreign) }, 1, -EPERM },
			{ { addr + FX_MEMORY, 1, end.key }, 1, -ERANGE },
			{ { addr - 1, 1, end.key }, 1, -ERANGE },
			{ { UINT64_MAX, 1, end.key }, 1, -ERANGE },
			{ { addr, 64, end.key }, 1, 0 },
		};

		for (size_t i = 0; i < RTE_DIM(rule); i++) {
			struct roce_recv_wr wr = { 1, &rule[i].sge, rule[i].num_sge };

			/* What is refused leaves no trace. */
			fx_expect_counts(srq, 1, 0, 0);
			assert_int_equal(roce_srq_post(srq, &wr), rule[i].want);
		}
	}
	fx_expect_counts(srq, 1, 1, 1);
	assert_int_equal(roce_srq_destroy(srq), 0);
	roce_mr_destroy(readable);
	roce_mr_destroy(foreign);
	assert_int_equal(roce_pd_destroy(other_pd), 0);
}

/* The last slot of the ring holds max_sge pieces and nothing more: the address sanitizer watches. */
static void
post__of_max_sge_pieces_fits_every_slot(void **state)
{
	for (uint32_t max_sge = 1; max_sge <= ROCE_SGE_MAX; max_sge++) {
		struct roce_sge sge[ROCE_SGE_MAX];
		struct roce_recv *recv = calloc(1, sizeof(*recv) + max_sge * sizeof(*sge));
		struct roce_srq *srq;

		for (uint32_t i = 0; i < max_sge; i++)
			sge[i] = (struct roce_sge){ (uintptr_t)end.memory + i, i + 1, end.key };
		assert_int_equal(roce_srq_create(end.pd, 4, max_sge, NULL, &srq), 0);
		for (uint64_t i = 0; i < 4; i++) {
			struct roce_recv_wr wr = { i, sge, max_sge };

			assert_int_equal(roce_srq_post(srq, &wr), 0);
		}
		for (uint64_t i = 0; i < 4; i++) {
			assert_true(roce_srq_take(srq, recv));
			assert_int_equal(recv->wr_id, i);
			assert_int_equal(recv->num_sge, max_sge);
			assert_int_equal(recv->length, max_sge * (max_sge + 1) / 2);
			assert_memory_equal(recv->sge, sge, max_sge * sizeof(*sge));
		}
		assert_false(roce_srq_take(srq, recv));
		assert_int_equal(roce_srq_destroy(srq), 0);
		free(recv);
	}
}

/* A receive without memory is good for an empty message. */
static void
post__of_no_pieces_receives_nothing(void **state)
{
	struct roce_srq *srq = srq_of(1);
	struct roce_qp *qp = qp_on(srq, end.recv_cq, &peer);
	const struct roce_recv_wr wr = { .wr_id = 5 };

	assert_int_equal(roce_srq_post(srq, &wr), 0);
	fx_rx_request(&end, &peer, SEND_ONLY, FX_RQ_PSN, 0, 0);
	assert_int_equal(fx_event(end.recv_cq).byte_len, 0);
	roce_qp_destroy(qp);
	assert_int_equal(roce_srq_destroy(srq), 0);
}

/* The engine works on its own copy: what the poster does to its list afterwards changes nothing. */
static void
post__copies_the_pieces(void **state)
{
	struct roce_qp *qp = fx_played_qp(&end, &peer);
	struct roce_sge sge;
	struct roce_recv_wr wr = fx_recv(&end, &sge, 1, 100, 8);

	assert_int_equal(roce_srq_post(end.srq, &wr), 0);
	memset(&sge, 0xff, sizeof(sge));
	memset(end.memory + 100, 0, 8);
	arrive(&peer, 0);
	assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_SUCCESS);
	assert_int_equal(end.memory[101], (uint8_t)(FX_RQ_PSN + 1));
	roce_qp_destroy(qp);
}

static void
take__gives_the_oldest_to_whoever_comes(void **state)
{
	struct fx_peer p[3];
	struct roce_qp *qp[3];

	for (unsigned int i = 0; i < 3; i++)
		qp[i] = qp_on(end.srq, end.recv_cq, &p[i]);
	fx_fill_srq(&end, 30, 64);
	for (unsigned int i = 0; i < 30; i++) {
		arrive(&p[(i * 7) % 3], i / 3);
		assert_int_equal(fx_event(end.recv_cq).wr_id, i);
	}
	for (unsigned int i = 0; i < 3; i++)
		roce_qp_destroy(qp[i]);
}

/* Conservation: posted = available + held + completed + reaped, over queue pairs and completion queues. */
static void
counts__hold_over_several_completion_queues(void **state)
{
	struct roce_srq *srq = srq_of(64);
	struct roce_cq *cq[3];
	struct roce_qp *qp[6];
	struct fx_peer p[6];
	uint32_t arrived[6] = { 0 };
	uint32_t available = 0, waiting[3] = { 0 };
	unsigned int seed = 7;

	for (unsigned int i = 0; i < 6; i++) {
		if (i < 3)
			cq[i] = cq_of(64);
		qp[i] = qp_on(srq, cq[i % 3], &p[i]);
	}
	for (unsigned int step = 0; step < 5000; step++) {
		unsigned int i = (unsigned int)rand_r(&seed) % 6;
		uint32_t outstanding = available + waiting[0] + waiting[1] + waiting[2];
		struct roce_event event;

		switch (rand_r(&seed) % 3) {
		case 0:
			assert_int_equal(post(srq, step), outstanding < 64 ? 0 : -ENOSPC);
			available += outstanding < 64;
			break;
		case 1:
			if (available == 0)
				break;
			arrive(&p[i], arrived[i]++);
			available--;
			waiting[i % 3]++;
			break;
		default:
			if (waiting[i % 3] > 0) {
				assert_int_equal(roce_cq_poll(cq[i % 3], &event, 1), 1);
				waiting[i % 3]--;
			}
		}
		fx_expect_counts(srq, 64, available,
				available + waiting[0] + waiting[1] + waiting[2]);
	}
	for (unsigned int i = 0; i < 6; i++)
		roce_qp_destroy(qp[i]);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(roce_cq_destroy(cq[i]), 0);
	fx_expect_counts(srq, 64, available, available);
	assert_int_equal(roce_srq_destroy(srq), 0);
}

/* A completion queue that dies with events inside reaps them: the receives can be posted again. */
static void
counts__hold_when_a_completion_queue_dies_with_events(void **state)
{
	struct roce_srq *srq = srq_of(4);
	struct roce_cq *cq = cq_of(8);
	struct roce_qp *qp = qp_on(srq, cq, &peer);
	struct roce_event event;

	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(post(srq, i), 0);
	for (uint32_t i = 0; i < 3; i++)
		arrive(&peer, i);
	assert_int_equal(roce_cq_poll(cq, &event, 1), 1);
	roce_qp_destroy(qp);
	fx_expect_counts(srq, 4, 1, 3);
	assert_int_equal(roce_cq_destroy(cq), 0);
	fx_expect_counts(srq, 4, 1, 1);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(post(srq, i), 0);
	assert_int_equal(post(srq, 9), -ENOSPC);
	assert_int_equal(roce_srq_destroy(srq), 0);
}

static void
destroy__waits_for_the_queue_pairs(void **state)
{
	struct roce_qp *qp = fx_qp(&end, NULL);

	assert_int_equal(roce_srq_destroy(end.srq), -EBUSY);
	roce_qp_destroy(qp);
	fx_fill_srq(&end, 3, 64);
	assert_int_equal(roce_srq_destroy(end.srq), 0);
	end.srq = NULL;
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
}

/* Events of a dead shared queue can still be reaped, and its share serves another queue only afterwards. */
static void
destroy__leaves_its_events_reapable(void **state)
{
	struct roce_event event[4];

	for (unsigned int round = 0; round < 5; round++) {
		struct roce_srq *old = srq_of(4);
		struct roce_qp *qp = qp_on(old, end.recv_cq, &peer);
		struct roce_srq *new;

		assert_int_equal(post(old, 1), 0);
		assert_int_equal(post(old, 2), 0);
		arrive(&peer, 0);
		arrive(&peer, 1);
		roce_qp_destroy(qp);
		assert_int_equal(roce_srq_destroy(old), 0);

		/* The old events are in front of the new one's: their reap is not the new one's. */
		new = srq_of(4);
		qp = qp_on(new, end.recv_cq, &peer);
		assert_int_equal(post(new, 3), 0);
		arrive(&peer, 0);
		fx_expect_counts(new, 4, 0, 1);
		assert_int_equal(roce_cq_poll(end.recv_cq, event, 2), 2);
		fx_expect_counts(new, 4, 0, 1);
		assert_int_equal(roce_cq_poll(end.recv_cq, event, 4), 1);
		assert_int_equal(event[0].wr_id, 3);
		fx_expect_counts(new, 4, 0, 0);
		roce_qp_destroy(qp);
		assert_int_equal(roce_srq_destroy(new), 0);
	}
}

/* One completion queue serves 255 shared queues at a time, and any number one after the other. */
static void
attach__reuses_the_shares_of_dead_queues(void **state)
{
	enum {
		SHARES = ROCE_CQ_SHARES - 1
	};
	static struct roce_srq *srq[SHARES + 1];
	static struct roce_qp *qp[SHARES];
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_qp *more;

	attr.max_send_wr = 1;
	for (unsigned int i = 0; i <= SHARES; i++) {
		srq[i] = srq_of(1);
		attr.srq = srq[i];
		if (i < SHARES)
			qp[i] = fx_qp(&end, &attr);
	}
	assert_int_equal(roce_qp_create(end.domain, &attr, &more), -ENOMEM);
	/* A second queue pair on a known queue needs no share. */
	attr.srq = srq[0];
	more = fx_qp(&end, &attr);
	roce_qp_destroy(more);

	roce_qp_destroy(qp[9]);
	assert_int_equal(roce_srq_destroy(srq[9]), 0);
	attr.srq = srq[SHARES];
	qp[9] = fx_qp(&end, &attr);
	srq[9] = srq[SHARES];
	for (unsigned int i = 0; i < SHARES; i++) {
		roce_qp_destroy(qp[i]);
		assert_int_equal(roce_srq_destroy(srq[i]), 0);
	}
}

/* The queue pair that comes back to the same pair of queues finds its share and its count again. */
static void
attach__again_goes_on_counting(void **state)
{
	for (unsigned int round = 0; round < 600; round++) {
		struct roce_qp *qp = fx_played_qp(&end, &peer);

		fx_fill_srq(&end, 1, 64);
		arrive(&peer, 0);
		fx_expect_counts(end.srq, 256, 0, 1);
		roce_qp_destroy(qp);
		fx_expect_counts(end.srq, 256, 0, 1);
		(void)fx_event(end.recv_cq);
		fx_expect_counts(end.srq, 256, 0, 0);
	}
}

/* A completion that finds its queue full is lost; the receive is not. */
static void
overflow__gives_the_receive_back(void **state)
{
	struct roce_srq *srq = srq_of(3);
	struct roce_cq *cq = cq_of(1);
	struct roce_qp *qp = qp_on(srq, cq, &peer);

	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(post(srq, i), 0);
	arrive(&peer, 0);
	fx_expect_counts(srq, 3, 2, 3);
	arrive(&peer, 1);
	assert_int_equal(end.notice[0].kind, ROCE_NOTICE_CQ_OVERFLOW);
	fx_expect_counts(srq, 3, 1, 2);
	assert_int_equal(fx_event(cq).wr_id, 0);
	fx_expect_counts(srq, 3, 1, 1);
	roce_qp_destroy(qp);
	assert_int_equal(roce_cq_destroy(cq), 0);
	assert_int_equal(roce_srq_destroy(srq), 0);
}

/* A queue pair without a completion queue: nobody reaps, so the receive is free at once. */
static void
nobody__wants_to_know(void **state)
{
	struct roce_qp *qp = qp_on(end.srq, NULL, &peer);

	fx_fill_srq(&end, 2, 64);
	arrive(&peer, 0);
	fx_expect_counts(end.srq, 256, 1, 1);
	roce_qp_destroy(qp);
}

enum ending {
	BY_ERROR,
	BY_RESET,
	BY_DESTROY,
};

/*
 * A held receive ends with its queue pair: flushed to the completion queue by an error, dropped by a reset and
 * by the end of the queue pair. What nobody took stays on the shared queue.
 */
static void
end__returns_the_held_receive(void **state)
{
	for (enum ending how = BY_ERROR; how <= BY_DESTROY; how++) {
		struct roce_srq *srq = srq_of(4);
		struct roce_qp *qp = qp_on(srq, end.recv_cq, &peer);
		struct roce_sge sge;
		struct roce_recv_wr wr = fx_recv(&end, &sge, 42, 0, 4096);

		assert_int_equal(roce_srq_post(srq, &wr), 0);
		assert_int_equal(post(srq, 43), 0);
		fx_rx_request(&end, &peer, SEND_FIRST, FX_RQ_PSN, FX_MTU, 0);
		fx_expect_counts(srq, 4, 1, 2);
		if (how != BY_DESTROY) {
			roce_engine_lock(end.engine);
			if (how == BY_ERROR)
				roce_qp_to_error(qp);
			else
				roce_qp_to_reset(qp);
			roce_engine_unlock(end.engine);
		}
		if (how == BY_ERROR) {
			struct roce_event event;

			fx_expect_counts(srq, 4, 1, 2);
			event = fx_event(end.recv_cq);
			assert_int_equal(event.wr_id, 42);
			assert_int_equal(event.status, IBV_WC_WR_FLUSH_ERR);
			fx_expect_counts(srq, 4, 1, 1);
		}
		roce_qp_destroy(qp);
		assert_int_equal(roce_cq_count(end.recv_cq), 0);
		fx_expect_counts(srq, 4, 1, 1);
		assert_int_equal(roce_srq_destroy(srq), 0);
	}
}

/* A queue of its own promises its depth in receives not yet used, whether or not their events are reaped. */
static void
own_queue__holds_its_depth_and_orders(void **state)
{
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_event event[8];
	struct roce_qp *qp;
	struct roce_sge sge;
	uint32_t requests, receives;

	attr.srq = NULL;
	attr.max_recv_wr = 3;
	qp = fx_qp(&end, &attr);
	for (uint64_t i = 0; i < 4; i++) {
		struct roce_recv_wr wr = fx_recv(&end, &sge, i, 0, 64);

		assert_int_equal(roce_qp_post_recv(qp, &wr), i < 3 ? 0 : -ENOSPC);
	}
	fx_up(qp, &connect);
	peer = fx_peer_of(qp, &connect);
	for (uint32_t i = 0; i < 5; i++) {
		struct roce_recv_wr wr = fx_recv(&end, &sge, 3 + i, 0, 64);

		arrive(&peer, i);
		assert_int_equal(roce_qp_post_recv(qp, &wr), 0);
		assert_int_equal(roce_qp_post_recv(qp, &wr), -ENOSPC);
	}
	roce_qp_depth(qp, &requests, &receives);
	assert_int_equal(receives, 3);
	assert_int_equal(roce_cq_poll(end.recv_cq, event, 8), 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(event[i].wr_id, i);

	roce_engine_lock(end.engine);
	roce_qp_to_error(qp);
	roce_engine_unlock(end.engine);
	assert_int_equal(roce_cq_poll(end.recv_cq, event, 8), 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(event[i].wr_id, 5 + i);
		assert_int_equal(event[i].status, IBV_WC_WR_FLUSH_ERR);
	}
	roce_qp_destroy(qp);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(create__judges_its_numbers),
		TEST(create__without_memory_leaves_nothing),
		TEST(destroy__waits_for_the_queue_pairs),
		TEST(destroy__leaves_its_events_reapable),
		TEST(post__succeeds_exactly_max_times),
		TEST(post__judges_the_pieces),
		TEST(post__of_max_sge_pieces_fits_every_slot),
		TEST(post__of_no_pieces_receives_nothing),
		TEST(post__copies_the_pieces),
		TEST(query__is_the_example_of_the_manual),
		TEST(query__counts_a_held_receive_as_outstanding),
		TEST(take__gives_the_oldest_to_whoever_comes),
		TEST(counts__hold_over_several_completion_queues),
		TEST(counts__hold_when_a_completion_queue_dies_with_events),
		TEST(attach__reuses_the_shares_of_dead_queues),
		TEST(attach__again_goes_on_counting),
		TEST(overflow__gives_the_receive_back),
		TEST(nobody__wants_to_know),
		TEST(end__returns_the_held_receive),
		TEST(own_queue__holds_its_depth_and_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
