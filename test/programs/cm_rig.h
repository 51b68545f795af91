/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_PROGRAMS_CM_RIG_H
#define TEST_PROGRAMS_CM_RIG_H

/**
 * @file
 * Ids of librdmacm on one event channel: a listener, an end that connects, and an end that its request brings.
 */

#include <arpa/inet.h>
#include <errno.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rdma/rdma_cma.h>

#include "../limit.h"

#define WAIT_MS (test_limit_s() * 1000) /**< for an event */

#define ok(call) assert_int_equal((call), 0)

/** A call that gives -1 with this errno. */
#define refused(call, error)                    \
	do {                                    \
		errno = 0;                      \
		assert_int_equal((call), -1);   \
		assert_int_equal(errno, error); \
	} while (0)

struct pair {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *active, *passive;
	struct rdma_cm_event *request; /**< that brought the passive id; NULL: acknowledged */
};

/** Where the listener is found; NULL: this host, at port 0. */
struct sockaddr_in address(const struct rdma_cm_id *listener);

/** The next event, which must be of this type; the caller acknowledges it. Others pass over TIMEWAIT_EXIT. */
struct rdma_cm_event *want(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
void want_acked(struct rdma_event_channel *channel, enum rdma_cm_event_type type);

/** Give an id a queue pair. */
void make_qp(struct rdma_cm_id *id);

/** An id that has its route, without and with a queue pair. */
struct rdma_cm_id *routed(struct rdma_event_channel *channel, struct sockaddr_in to);
struct rdma_cm_id *resolved(struct rdma_event_channel *channel, struct sockaddr_in to);

/** End an id and its queue pair; NULL is allowed. */
void end(struct rdma_cm_id *id);

/** For cmocka: a listener, and an active id with a queue pair. */
int pair_open(void **state);
int pair_close(void **state);
#define pair_test(function) cmocka_unit_test_setup_teardown(function, pair_open, pair_close)

/** Up to the request, which waits for its answer. */
void request(struct pair *pair);

/** Up to the ESTABLISHED of both. */
void establish(struct pair *pair);

#endif
