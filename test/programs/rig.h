/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_PROGRAMS_RIG_H
#define TEST_PROGRAMS_RIG_H

/**
 * @file
 * A program of verbs, compiled with the headers of rdma-core and linked with our libraries: two ends on one context, which
 * reach each other because a device reaches itself.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <infiniband/verbs.h>

#include "../limit.h"

#define DEPTH   16
#define BYTES   4096
#define WAIT_MS (test_limit_s() * 1000) /**< for an event */

#define ok(call) assert_int_equal((call), 0)

/** A call that gives a pointer fails with this errno. */
#define refused(call, error)                    \
	do {                                    \
		errno = 0;                      \
		assert_null(call);              \
		assert_int_equal(errno, error); \
	} while (0)

struct rig {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *a, *b;
	uint8_t memory[BYTES];
};

/** Attributes of a queue pair of the rig, on its completion queue. */
struct ibv_qp_init_attr qp_init(struct rig *rig);
/** The same for ibv_wr_*() with these operations (enum ibv_qp_create_send_ops_flags). */
struct ibv_qp_init_attr_ex qp_init_ex(struct rig *rig, uint64_t operations);
struct ibv_qp *make_qp(struct rig *rig, struct ibv_srq *srq);

/** To INIT, RTR and RTS; each must succeed. */
void to_init(struct ibv_qp *qp);
void to_rtr(struct rig *rig, struct ibv_qp *qp, struct ibv_qp *peer);
void to_rts(struct ibv_qp *qp);
/** Both of them, all the way. */
void connect_qps(struct rig *rig, struct ibv_qp *a, struct ibv_qp *b);

/** Post; the result is that of the call. */
int post_recv(struct rig *rig, struct ibv_qp *qp, uint64_t wr_id);
int post_send(struct rig *rig, struct ibv_qp *qp, uint64_t wr_id);

/** Poll until there is a completion, which the caller looks at. */
struct ibv_wc want_wc(struct ibv_cq *cq);

/** For cmocka: everything made, and ended. */
int rig_open(void **state);
int rig_close(void **state);
#define rig_test(function) cmocka_unit_test_setup_teardown(function, rig_open, rig_close)

#endif
