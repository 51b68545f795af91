/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Zero-copy receives, as a program uses them: messages in mbufs, held and freed as it likes, on a port of the device's own,
 * on queues of the program's, and by its hands. At the end every frame is home: way_close().
 */

#include <errno.h>
#include <string.h>

#include <rte_mbuf.h>

#include "../limit.h"
#include "ways.h"

#define GIVEN    4u
#define HELD     3u /**< of them by the program */
#define MESSAGES 60u
#define LENGTH   1000u
#define POSTED   16u

#define PARAMS "retry=7 timeout=14 rnr_retry=7 rnr_timer=1 zcrx=8"

/* b has a queue pair with zero-copy receives, instead of the one that it was made with. */
static void
begin(struct pair *pair)
{
	const struct roce_qp_attr attr = {
		.pd = pair->b.pd,
		.send_cq = pair->b.cq,
		.recv_cq = pair->b.cq,
		.max_recv_wr = DEPTH,
		.max_zcrx = GIVEN,
		.owner = &pair->b,
	};

	roce_qp_destroy(pair->b.qp);
	ok(roce_qp_create(&attr, &pair->b.qp));
	pair_connect(pair);
}

static void
post(struct pair *pair, uint64_t wr_id)
{
	const struct roce_recv_wr wr = { .wr_id = wr_id, .flags = ROCE_WR_ZCRX };

	ok(roce_qp_post_recv(pair->b.qp, &wr));
}

/* Message @p i, which differs from others in all bytes; a's memory has POSTED of them. */
static void
say(struct pair *pair, uint64_t i)
{
	const struct roce_wr wr = {
		.wr_id = i,
		.opcode = ROCE_WR_SEND,
		.flags = ROCE_WR_SIGNALED,
	};
	uint32_t offset = (uint32_t)(i % POSTED) * LENGTH;

	memset(pair->a.memory + offset, (int)i + 1, LENGTH);
	ok(post_send(&pair->a, wr, offset, LENGTH));
}

/* A receive, and the message for it. */
static void
post_and_say(struct pair *pair, uint64_t i)
{
	post(pair, i);
	say(pair, i);
}

static void
judge(const struct rte_mbuf *m, uint64_t i)
{
	const uint8_t *at = rte_pktmbuf_mtod(m, const uint8_t *);

	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(m->data_len, LENGTH);
	for (uint32_t n = 0; n < LENGTH; n++)
		assert_int_equal(at[n], (uint8_t)(i + 1));
}

/* The next message, as an mbuf. */
static struct rte_mbuf *
take(struct pair *pair, uint64_t i)
{
	const struct roce_event event = want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS);
	struct rte_mbuf *m;

	assert_int_equal(event.wr_id, i);
	assert_int_equal(event.kind, ROCE_EVENT_RECV);
	assert_int_equal(event.flags & ROCE_EVENT_ZCRX, ROCE_EVENT_ZCRX);
	assert_int_equal(event.byte_len, LENGTH);
	m = roce_qp_take_mbuf(pair->b.qp, &event);
	assert_non_null(m);
	assert_null(roce_qp_take_mbuf(pair->b.qp, &event));
	return m;
}

/* Each message once and in order, while the program always has the last few of them. */
static void
messages__are_held_and_freed(void **state)
{
	struct rte_mbuf *held[HELD] = { NULL };
	struct pair *pair = *state;

	begin(pair);
	for (unsigned int i = 0; i < POSTED; i++)
		post_and_say(pair, i);
	for (unsigned int i = 0; i < MESSAGES; i++) {
		unsigned int at = i % HELD;

		if (held[at] != NULL)
			judge(held[at], i - HELD);
		rte_pktmbuf_free(held[at]);
		held[at] = take(pair, i);
		assert_int_equal(want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS).wr_id, i);
		if (i + POSTED < MESSAGES)
			post_and_say(pair, i + POSTED);
	}
	for (unsigned int i = 0; i < HELD; i++)
		rte_pktmbuf_free(held[i]);
	assert_int_equal(counter_of(pair->b.device, "rx_lent"), MESSAGES);
	want_quiet(pair, &pair->a);
	want_quiet(pair, &pair->b);
}

/* A program that takes nothing: the others wait at their sender, and come when it does. */
static void
bound__loses_nothing(void **state)
{
	struct pair *pair = *state;
	struct roce_device *device = pair->b.device;
	uint64_t until = roce_device_now(device) + test_limit_s() * roce_device_hz(device);

	begin(pair);
	for (unsigned int i = 0; i < POSTED; i++)
		post_and_say(pair, i);
	while (counter_of(device, "rx_lent_bound") == 0) {
		assert_true(roce_device_now(device) < until);
		poll_once(pair);
	}
	assert_int_equal(counter_of(device, "rx_lent"), GIVEN);
	for (unsigned int i = 0; i < POSTED; i++) {
		struct rte_mbuf *m = take(pair, i);

		judge(m, i);
		rte_pktmbuf_free(m);
		assert_int_equal(want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS).wr_id, i);
	}
	assert_int_equal(counter_of(device, "rx_lent"), POSTED);
	assert_int_equal(roce_qp_state(pair->b.qp), ROCE_QP_RTS);
}

/* The connection is over, then the queue pair: the program has what it took, and what it did not take is home. */
static void
destroy__leaves_what_was_taken(void **state)
{
	struct pair *pair = *state;
	struct rte_mbuf *m[2];

	begin(pair);
	for (unsigned int i = 0; i < GIVEN; i++)
		post_and_say(pair, i);
	m[0] = take(pair, 0);
	for (unsigned int i = 0; i < GIVEN; i++)
		assert_int_equal(want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS).wr_id, i);
	ok(roce_cm_id_disconnect(pair->a.id));
	want_cm(pair, &pair->b, ROCE_CM_EVENT_DISCONNECTED);
	m[1] = take(pair, 1);
	roce_cm_id_destroy(pair->b.id);
	pair->b.id = NULL;
	roce_qp_destroy(pair->b.qp);
	pair->b.qp = NULL;
	judge(m[0], 0);
	rte_pktmbuf_free(m[0]);
	judge(m[1], 1);
	rte_pktmbuf_free(m[1]);
}

/* The frames that all queue pairs of a device may give together are said when it is opened. */
static void
zcrx__bounds_the_device(void **state)
{
	struct pair *pair = *state;
	struct roce_qp_attr attr = { .pd = pair->b.pd, .recv_cq = pair->b.cq, .max_zcrx = 9 };
	struct roce_qp *qp[2];

	assert_int_equal(roce_qp_create(&attr, &qp[0]), -ENOMEM);
	attr.max_zcrx = 5;
	ok(roce_qp_create(&attr, &qp[0]));
	assert_int_equal(roce_qp_create(&attr, &qp[1]), -ENOMEM);
	attr.max_zcrx = 3;
	ok(roce_qp_create(&attr, &qp[1]));
	roce_qp_destroy(qp[0]);
	roce_qp_destroy(qp[1]);
}

static struct way own = { .kind = WAY_OWN, .params = PARAMS };
static struct way queues = { .kind = WAY_QUEUES, .params = PARAMS };
static struct way queues_given = { .kind = WAY_QUEUES, .params = PARAMS, .given = true };
static struct way handover = { .kind = WAY_HANDOVER, .params = PARAMS };
static struct way handover_given = { .kind = WAY_HANDOVER, .params = PARAMS, .given = true };

int
main(void)
{
	const struct CMUnitTest tests[] = {
		way_test(messages__are_held_and_freed, own),
		way_test(messages__are_held_and_freed, queues),
		way_test(messages__are_held_and_freed, queues_given),
		way_test(messages__are_held_and_freed, handover),
		way_test(messages__are_held_and_freed, handover_given),
		way_test(bound__loses_nothing, own),
		way_test(bound__loses_nothing, queues),
		way_test(bound__loses_nothing, handover_given),
		way_test(destroy__leaves_what_was_taken, own),
		way_test(destroy__leaves_what_was_taken, queues),
		way_test(destroy__leaves_what_was_taken, handover_given),
		way_test(zcrx__bounds_the_device, own),
		way_test(zcrx__bounds_the_device, handover),
	};

	return cmocka_run_group_tests(tests, way_prepare, NULL);
}
