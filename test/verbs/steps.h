/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_VERBS_STEPS_H
#define TEST_VERBS_STEPS_H

/** @file Steps of the two queue pairs of a pair (roce/qp_modify.h), and the attributes that they set. */

#include <errno.h>
#include <string.h>

#include "rig.h"

#define TO_INIT (ROCE_QP_MOD_STATE | ROCE_QP_MOD_PKEY_INDEX | ROCE_QP_MOD_PORT | ROCE_QP_MOD_ACCESS)
#define TO_RTR                                                                              \
	(ROCE_QP_MOD_STATE | ROCE_QP_MOD_AV | ROCE_QP_MOD_PATH_MTU | ROCE_QP_MOD_DEST_QPN | \
			ROCE_QP_MOD_RQ_PSN | ROCE_QP_MOD_MAX_DEST_RD_ATOMIC |               \
			ROCE_QP_MOD_MIN_RNR_TIMER)
#define TO_RTS                                                                                  \
	(ROCE_QP_MOD_STATE | ROCE_QP_MOD_SQ_PSN | ROCE_QP_MOD_TIMEOUT | ROCE_QP_MOD_RETRY_CNT | \
			ROCE_QP_MOD_RNR_RETRY | ROCE_QP_MOD_MAX_RD_ATOMIC)
#define REMOTE_ALL (ROCE_ACCESS_REMOTE_READ | ROCE_ACCESS_REMOTE_WRITE | ROCE_ACCESS_REMOTE_ATOMIC)
#define PSN_A      0x000123u
#define PSN_B      0xfffffeu

/* All attributes of one end; a step takes those that its mask names. */
static inline struct roce_qp_mod
mod_of(struct roce_qp *peer, const uint8_t ip[16], uint32_t sq_psn, uint32_t rq_psn)
{
	struct roce_qp_mod mod = {
		.port_num = 1,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 6,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 3,
		.traffic_class = 0x20,
		.hop_limit = 9,
		.access = REMOTE_ALL,
		.path_mtu = 1024,
		.dest_qpn = roce_qp_number(peer),
		.rq_psn = rq_psn,
		.sq_psn = sq_psn,
		.flow_label = 0x54321,
	};

	memcpy(mod.remote_ip, ip, sizeof(mod.remote_ip));
	return mod;
}

static inline int
step(struct roce_qp *qp, struct roce_qp_mod mod, enum roce_qps state, uint32_t mask)
{
	mod.state = (uint8_t)state;
	return roce_qp_modify(qp, &mod, mask);
}

static inline enum roce_qps
state_of(struct roce_qp *qp)
{
	struct roce_qp_mod mod;

	roce_qp_query(qp, &mod);
	assert_int_equal(mod.state, mod.cur_state);
	return mod.state;
}

/* The neighbour is asked for its address first: nothing has changed, and the call comes again. */
static inline void
to_rtr(struct pair *pair, struct roce_qp *qp, struct roce_qp_mod mod)
{
	int rc;

	while ((rc = step(qp, mod, ROCE_QPS_RTR, TO_RTR)) == -EAGAIN) {
		assert_int_equal(state_of(qp), ROCE_QPS_INIT);
		poll_once(pair);
	}
	ok(rc);
}

static inline struct roce_qp_mod
mod_a(const struct pair *pair)
{
	return mod_of(pair->b.qp, ip_b, PSN_A, PSN_B);
}

static inline struct roce_qp_mod
mod_b(const struct pair *pair)
{
	return mod_of(pair->a.qp, ip_a, PSN_B, PSN_A);
}

static inline void
both_up(struct pair *pair, struct roce_qp_mod a, struct roce_qp_mod b)
{
	ok(step(pair->a.qp, a, ROCE_QPS_INIT, TO_INIT));
	ok(step(pair->b.qp, b, ROCE_QPS_INIT, TO_INIT));
	to_rtr(pair, pair->a.qp, a);
	to_rtr(pair, pair->b.qp, b);
	ok(step(pair->a.qp, a, ROCE_QPS_RTS, TO_RTS));
	ok(step(pair->b.qp, b, ROCE_QPS_RTS, TO_RTS));
}

#endif
