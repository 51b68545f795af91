/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_VERBS_RIG_H
#define TEST_VERBS_RIG_H

/**
 * @file
 * Two ends on loop0 and loop1 in one process, by the public headers of libroce alone. Only the test polls the
 * devices. A fault in here ends the test with a sentence.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <roce/roce.h>

#include "../open_device.h"

#define PORT  4791
#define DEPTH 64u
#define BYTES 65536u

/** One end: a context with a queue of events, memory, and a queue pair that is not connected. */
struct end {
	struct roce_device *device;
	struct roce_context *context;
	struct roce_pd *pd;
	struct roce_cq *cq;
	struct roce_mr *mr;
	struct roce_qp *qp;
	struct roce_cm_id *id;
	uint8_t *memory; /**< BYTES of them */
};

struct pair {
	struct end a; /**< on loop0: who connects */
	struct end b; /**< on loop1: who listens */
	struct roce_cm_id *listener;
	/** Poll both devices once, and say whether anything moved; NULL: poll them. */
	unsigned int (*poll_once)(struct pair *pair);
};

extern const uint8_t ip_a[16];
extern const uint8_t ip_b[16];

/** A call that succeeds; DAT_SUCCESS is 0, too. */
#define ok(call) assert_int_equal((call), 0)

/** A context with all objects but queue pair and id on an open device, which stays the caller's. */
void end_join(struct end *end, struct roce_device *device);
/** Destroy what is there, in the one order that goes; the context must be gone after it. */
void end_leave(struct end *end);
/** A queue pair of the end, on its own receive queue or a shared one. */
struct roce_qp *end_qp(struct end *end, struct roce_srq *srq);

/** Two ends on two devices that are open: both joined, b listens. */
struct pair *pair_of(struct roce_device *a, struct roce_device *b);
/** Make what pair_connect() wants: a queue pair for each end, and an id for a. */
void pair_ready(struct pair *pair);

/** For cmocka: both devices open, both ends joined, b listens; *state is the pair. */
int pair_open(void **state);
int pair_close(void **state);
#define pair_test(function) cmocka_unit_test_setup_teardown(function, pair_open, pair_close)

/** Connect a's queue pair with b's, and have both events. */
void pair_connect(struct pair *pair);
/** Connect by @p id, which is a's, two other queue pairs, up to their events. @return the id at b. */
struct roce_cm_id *
connect_qps(struct pair *pair, struct roce_cm_id *id, struct roce_qp *a, struct roce_qp *b);

/** Poll both devices once. @return whether anything moved. */
unsigned int poll_once(struct pair *pair);
/** Poll until nothing moves any more. */
void settle(struct pair *pair);
/** Poll until the context has an event of a connection, which must be of this type. */
struct roce_cm_event_info want_cm(struct pair *pair, struct end *end, enum roce_cm_event_type type);
/** Poll until the queue has a completion, which must have this status. */
struct roce_event
want_completion(struct pair *pair, struct roce_cq *cq, enum roce_wc_status status);
/** Poll until the context has an event, which must be of this type and element. */
struct roce_async_event want_async(struct pair *pair, struct roce_context *context,
		enum roce_async_event_type type, void *element);
/** There is nothing to poll. */
void want_quiet(struct pair *pair, struct end *end);

/** A counter of a device by its name, which must be one. */
uint64_t counter_of(const struct roce_device *device, const char *wanted);

/** Post a receive of @p len bytes at @p offset of the end's memory. */
int post_recv(struct end *end, struct roce_qp *qp, uint64_t wr_id, uint32_t offset, uint32_t len);
/** Post a request with one segment of the end's memory; the rest of it as given. */
int post_send(struct end *end, struct roce_wr wr, uint32_t offset, uint32_t len);
int
post_send_on(struct end *end, struct roce_qp *qp, struct roce_wr wr, uint32_t offset, uint32_t len);

/** Parameters of a connection with private data. */
struct roce_cm_conn_param param_of(struct roce_qp *qp, const char *text);

#endif
