/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs: their numbers, birth and death. */

#include <errno.h>

#include "end_scene.h"
#include "queue/qp.h"

static struct fx_peer peer;

static void
reopen(unsigned int engines, uint32_t first_qpn)
{
	const struct fx_options options = { .engines = engines, .first_qpn = first_qpn };

	fx_end_close(&end);
	fx_end_open(&end, 1, &options);
}

static struct roce_qp_attr
small_attr(void)
{
	struct roce_qp_attr attr = fx_attr(&end);

	attr.max_send_wr = 1;
	attr.max_send_sge = 1;
	return attr;
}

/* Numbers are handed out from first_qpn on, and the low bits say which engine owns the queue pair. */
UNIT_RULE(create__numbers_from_the_first)
{
	for (unsigned int engines = 1; engines <= ROCE_ENGINES_MAX; engines++) {
		const uint32_t mask = rte_align32pow2(engines) - 1;
		struct roce_qp *qp[20];
		uint32_t last = 0x123;

		reopen(engines, 0x124);
		for (unsigned int i = 0; i < 20; i++) {
			uint32_t number;

			qp[i] = fx_qp(&end, NULL);
			number = roce_qp_number(qp[i]);
			/* The next number whose engine exists. */
			do
				last++;
			while ((last & mask) >= engines);
			assert_int_equal(number, last);
			assert_ptr_equal(roce_qp_engine(qp[i]),
					roce_domain_engine(end.domain, number & mask));
			assert_ptr_equal(roce_qp_find(end.domain, number), qp[i]);
			assert_null(roce_qp_find(end.domain, number + ROCE_QPS_MAX));
		}
		for (unsigned int i = 0; i < 20; i++)
			roce_qp_destroy(qp[i]);
	}
}

/* 0 and 1 are management, the last is multicast: never handed out, also when the numbers go round. */
UNIT_RULE(create__leaves_reserved_numbers_out)
{
	struct roce_qp *qp[4];

	reopen(1, ROCE_QPN_MASK - 1);
	for (unsigned int i = 0; i < 4; i++)
		qp[i] = fx_qp(&end, NULL);
	assert_int_equal(roce_qp_number(qp[0]), 0xfffffe);
	assert_int_equal(roce_qp_number(qp[1]), 2);
	assert_int_equal(roce_qp_number(qp[2]), 3);
	for (unsigned int i = 0; i < 4; i++)
		roce_qp_destroy(qp[i]);
}

/* A dead queue pair's number rests: a late frame of it finds nothing. */
UNIT_RULE(create__does_not_give_a_number_again_soon)
{
	static uint8_t used[(1u << 24) / 8];

	for (unsigned int i = 0; i < 3 * ROCE_QPS_MAX; i++) {
		const struct roce_qp_attr attr = small_attr();
		struct roce_qp *qp = fx_qp(&end, &attr);
		const uint32_t number = roce_qp_number(qp);

		assert_false(used[number / 8] & 1u << number % 8);
		used[number / 8] |= (uint8_t)(1u << number % 8);
		roce_qp_destroy(qp);
		assert_null(roce_qp_find(end.domain, number));
	}
}

UNIT_RULE(create__fills_the_table_then_fails)
{
	static struct roce_qp *qp[ROCE_QPS_MAX];
	struct roce_qp_attr attr = small_attr();
	struct roce_qp *more;
	unsigned int before;

	for (uint32_t i = 0; i < ROCE_QPS_MAX; i++)
		qp[i] = fx_qp(&end, &attr);
	before = fx_live();
	assert_int_equal(roce_qp_create(&attr, &more), -ENOMEM);
	assert_int_equal(fx_live(), before);
	roce_qp_destroy(qp[777]);
	qp[777] = fx_qp(&end, &attr);
	for (uint32_t i = 0; i < ROCE_QPS_MAX; i++) {
		assert_ptr_equal(roce_qp_find(end.domain, roce_qp_number(qp[i])), qp[i]);
		roce_qp_destroy(qp[i]);
	}
}

/* Every allocation may be the one that fails; afterwards everything is as before and creating works. */
UNIT_RULE(create__without_memory_leaves_nothing)
{
	for (unsigned int own = 0; own <= 1; own++) {
		struct roce_qp_attr attr = fx_attr(&end);
		struct roce_qp *qp = NULL;
		unsigned int nth;

		if (own)
			attr.srq = NULL;
		for (nth = 1;; nth++) {
			const unsigned int before = fx_live();
			int rc;

			fx_fail(nth);
			rc = roce_qp_create(&attr, &qp);
			if (!fx_failed()) {
				assert_int_equal(rc, 0);
				break;
			}
			assert_int_equal(rc, -ENOMEM);
			assert_null(qp);
			/* The table of shares of the completion queue may stay with it. */
			assert_in_range(fx_live(), before, before + 1);
		}
		fx_fail(0);
		assert_true(nth > 3);
		roce_qp_destroy(qp);
		assert_int_equal(roce_srq_destroy(end.srq), 0);
		assert_int_equal(roce_cq_destroy(end.recv_cq), 0);
		assert_int_equal(roce_cq_destroy(end.send_cq), 0);
		end.srq = NULL;
		end.recv_cq = NULL;
		end.send_cq = NULL;
		teardown(state);
		setup(state);
	}
}

UNIT_RULE(create__judges_its_attributes)
{
	struct roce_qp *qp;
	struct roce_qp_attr attr = fx_attr(&end);

	attr.pd = NULL;
	assert_int_equal(roce_qp_create(&attr, &qp), -EINVAL);
	attr = fx_attr(&end);
	attr.max_send_sge = ROCE_SGE_MAX + 1;
	assert_int_equal(roce_qp_create(&attr, &qp), -EINVAL);
	attr = fx_attr(&end);
	attr.max_send_wr = UINT32_MAX;
	assert_int_equal(roce_qp_create(&attr, &qp), -EINVAL);
	/* The limits of receives do not count with a shared queue. */
	attr = fx_attr(&end);
	attr.max_recv_wr = UINT32_MAX;
	assert_int_equal(roce_qp_create(&attr, &qp), 0);
	roce_qp_destroy(qp);
	attr.srq = NULL;
	assert_int_equal(roce_qp_create(&attr, &qp), -EINVAL);
	/* A queue pair needs neither queues nor completion queues. */
	attr = (struct roce_qp_attr){ .pd = end.pd };
	assert_int_equal(roce_qp_create(&attr, &qp), 0);
	roce_qp_destroy(qp);
}

/* The protection domain, the shared queue and both completion queues are in use while the queue pair lives. */
UNIT_RULE(create__holds_what_it_was_made_of)
{
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_qp *qp;
	struct roce_pd *pd = fx_pd(&end);

	attr.pd = pd;
	qp = fx_qp(&end, &attr);
	assert_int_equal(roce_pd_destroy(pd), -EBUSY);
	assert_int_equal(roce_srq_destroy(end.srq), -EBUSY);
	assert_int_equal(roce_cq_destroy(end.send_cq), -EBUSY);
	assert_int_equal(roce_cq_destroy(end.recv_cq), -EBUSY);
	roce_qp_destroy(qp);
	assert_int_equal(roce_pd_destroy(pd), 0);
}

/* Random first PSNs differ and are 24 bits. */
UNIT_RULE(create__offers_a_random_psn)
{
	uint32_t psn[8];

	for (unsigned int i = 0; i < 8; i++) {
		struct roce_qp *qp = fx_qp(&end, NULL);

		psn[i] = roce_qp_first_psn(qp);
		assert_true(psn[i] <= ROCE_PSN_MASK);
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(psn[k], psn[i]);
		roce_qp_destroy(qp);
	}
}

/* Destroyed in whatever state, with whatever inside: nothing is completed, nothing is left. */
UNIT_RULE(destroy__in_any_state)
{
	for (unsigned int stage = 0; stage < 6; stage++) {
		const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
		struct roce_qp_attr attr = fx_attr(&end);
		struct roce_qp *qp;

		attr.srq = stage & 1 ? NULL : end.srq;
		qp = fx_qp(&end, &attr);
		if (stage > 0)
			fx_up(qp, &connect);
		if (stage > 1) {
			assert_int_equal(fx_send(&end, qp, 1, 0, 8, ROCE_WR_SIGNALED), 0);
			assert_int_equal(fx_send(&end, qp, 2, 0, 8, ROCE_WR_SIGNALED), 0);
		}
		if (stage > 2)
			fx_tx_drop(&end);
		if (stage > 3) {
			fx_drain(qp);
		}
		if (stage > 4) {
			peer = fx_peer_of(qp, &connect);
			fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, 8, 0);
		}
		roce_qp_destroy(qp);
		assert_int_equal(roce_cq_count(end.send_cq), 0);
		fx_tx_none(&end);
		assert_int_equal(roce_engine_deadline(end.engine), ROCE_NEVER);
		end.async_events = 0;
	}
}

/* Completion queues and shared receive queues serve the queue pairs of one device. */
UNIT_RULE(create__refuses_queues_of_another_device)
{
	struct roce_qp_attr attr;
	static struct fx_end other;
	struct roce_qp *qp;

	fx_end_open(&other, 2, NULL);
	for (int i = 0; i < 3; i++) {
		attr = small_attr();
		attr.send_cq = i == 0 ? other.send_cq : attr.send_cq;
		attr.recv_cq = i == 1 ? other.recv_cq : attr.recv_cq;
		attr.srq = i == 2 ? other.srq : attr.srq;
		assert_int_equal(roce_qp_create(&attr, &qp), -EINVAL);
	}
	fx_end_close(&other);
}
