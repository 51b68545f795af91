/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The fates of a device, as a program sees it that has contexts: links that go and come, ports that are stopped, reset,
 * removed or closed, queues that are full and pools that are empty; on a port of the device's own, on queues of the
 * program's, and by its hands. At the end of each every frame is home and all memory given back: way_close().
 */

#include <errno.h>
#include <string.h>

#include "ways.h"

#define MESSAGES 32
#define LENGTH   1500u /**< of a message */
#define SENT     100u  /**< wr_id of the first send; receives count from zero */

#define IMPATIENT "retry=1 timeout=8"  /**< a silent peer is given up within milliseconds */
#define PATIENT   "retry=7 timeout=14" /**< it is not within a minute of a busy machine */

/* MESSAGES from a to b are posted, each into a place of its own; b's memory is clean. */
static void
begin_traffic(struct pair *pair)
{
	struct roce_wr wr = { .opcode = ROCE_WR_SEND, .flags = ROCE_WR_SIGNALED };

	memset(pair->b.memory, 0, BYTES);
	for (unsigned int i = 0; i < MESSAGES; i++) {
		memset(pair->a.memory + (size_t)i * LENGTH, (int)i + 1, LENGTH);
		ok(post_recv(&pair->b, pair->b.qp, i, i * LENGTH, LENGTH));
		wr.wr_id = SENT + i;
		ok(post_send(&pair->a, wr, i * LENGTH, LENGTH));
	}
}

/* No event is left at either end, and the queue pairs are as they were. */
static void
want_peace(struct pair *pair)
{
	want_quiet(pair, &pair->a);
	want_quiet(pair, &pair->b);
	assert_int_equal(roce_qp_state(pair->a.qp), ROCE_QP_RTS);
	assert_int_equal(roce_qp_state(pair->b.qp), ROCE_QP_RTS);
}

/* Everything arrived, once, in order, and nobody heard of anything. */
static void
end_traffic(struct pair *pair)
{
	struct roce_event event;

	for (unsigned int i = 0; i < MESSAGES; i++)
		assert_int_equal(want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS).wr_id, i);
	for (unsigned int i = 0; i < MESSAGES; i++)
		assert_int_equal(
				want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS).wr_id, SENT + i);
	assert_memory_equal(pair->a.memory, pair->b.memory, (size_t)MESSAGES * LENGTH);
	want_peace(pair);
	assert_int_equal(roce_cq_poll(pair->a.cq, &event, 1), 0);
	assert_int_equal(roce_cq_poll(pair->b.cq, &event, 1), 0);
}

static void
want_port(struct pair *pair, struct end *end, enum roce_async_event_type type)
{
	if (way_has_port())
		want_async(pair, end->context, type, NULL);
}

/* So many are flushed, each once; and one before them, unless it is 0, failed with @p status. */
static void
want_ruin(struct pair *pair, struct end *end, unsigned int n, uint64_t first,
		enum roce_wc_status status)
{
	struct roce_event event;

	if (first != 0)
		assert_int_equal(want_completion(pair, end->cq, status).wr_id, first);
	while (n-- > 0)
		want_completion(pair, end->cq, ROCE_WC_WR_FLUSH_ERR);
	settle(pair);
	assert_int_equal(roce_cq_poll(end->cq, &event, 1), 0);
	assert_int_equal(roce_qp_state(end->qp), ROCE_QP_ERR);
}

/* Both ends know that it is over: they connect again, by new queue pairs, and all is as it was. */
static void
connect_again(struct pair *pair)
{
	roce_cm_id_destroy(pair->a.id);
	roce_cm_id_destroy(pair->b.id);
	roce_qp_destroy(pair->a.qp);
	roce_qp_destroy(pair->b.qp);
	pair->b.id = NULL;
	pair_ready(pair);
	pair_connect(pair);
	begin_traffic(pair);
	end_traffic(pair);
}

static void
link__lost_and_back_loses_nothing(void **state)
{
	struct pair *pair = *state;

	pair_connect(pair);
	way_link(false);
	want_port(pair, &pair->a, ROCE_ASYNC_PORT_ERR);
	want_port(pair, &pair->b, ROCE_ASYNC_PORT_ERR);
	begin_traffic(pair);
	while (way_lost() == 0)
		poll_once(pair);
	want_peace(pair);
	way_link(true);
	want_port(pair, &pair->a, ROCE_ASYNC_PORT_ACTIVE);
	want_port(pair, &pair->b, ROCE_ASYNC_PORT_ACTIVE);
	end_traffic(pair);
}

/* An event that was not polled is overtaken: the last word counts. */
static void
link__is_told_as_it_is_when_it_is_polled(void **state)
{
	struct pair *pair = *state;

	way_link(false);
	settle(pair);
	way_link(true);
	settle(pair);
	want_async(pair, pair->a.context, ROCE_ASYNC_PORT_ACTIVE, NULL);
	want_quiet(pair, &pair->a);
	way_link(false);
	settle(pair);
	want_async(pair, pair->a.context, ROCE_ASYNC_PORT_ERR, NULL);
	want_async(pair, pair->b.context, ROCE_ASYNC_PORT_ERR, NULL);
	want_quiet(pair, &pair->a);
}

static void
link__down_beyond_the_retries_breaks_and_connects_again(void **state)
{
	struct pair *pair = *state;

	pair_connect(pair);
	way_link(false);
	want_port(pair, &pair->a, ROCE_ASYNC_PORT_ERR);
	begin_traffic(pair);
	assert_int_equal(want_async(pair, pair->a.context, ROCE_ASYNC_QP_FATAL, &pair->a).status,
			ROCE_WC_RETRY_EXC_ERR);
	want_ruin(pair, &pair->a, MESSAGES - 1, SENT, ROCE_WC_RETRY_EXC_ERR);
	want_cm(pair, &pair->a, ROCE_CM_EVENT_DISCONNECTED);
	want_port(pair, &pair->b, ROCE_ASYNC_PORT_ERR);
	want_quiet(pair, &pair->b);
	way_link(true);
	want_port(pair, &pair->a, ROCE_ASYNC_PORT_ACTIVE);
	want_port(pair, &pair->b, ROCE_ASYNC_PORT_ACTIVE);
	/* The DREQ is repeated until it arrives. */
	want_cm(pair, &pair->b, ROCE_CM_EVENT_DISCONNECTED);
	want_ruin(pair, &pair->b, MESSAGES, 0, ROCE_WC_SUCCESS);
	connect_again(pair);
}

/* A device without its port: connections are broken, no new one comes to be, and who comes late is told at once. */
static void
want_no_device(struct pair *pair)
{
	struct roce_cm_conn_param ask;
	struct roce_device *device;
	struct end late;

	want_async(pair, pair->a.context, ROCE_ASYNC_DEVICE_FATAL, NULL);
	assert_int_equal(want_async(pair, pair->a.context, ROCE_ASYNC_QP_FATAL, &pair->a).status,
			ROCE_WC_FATAL_ERR);
	want_cm(pair, &pair->a, ROCE_CM_EVENT_DISCONNECTED);
	want_ruin(pair, &pair->a, MESSAGES, 0, ROCE_WC_SUCCESS);
	want_quiet(pair, &pair->a);
	assert_int_equal(way_reopen(&device), -ENODEV);

	end_join(&late, pair->a.device);
	want_async(pair, late.context, ROCE_ASYNC_DEVICE_FATAL, NULL);
	late.qp = end_qp(&late, NULL);
	ask = param_of(late.qp, NULL);
	ok(roce_cm_id_create(late.context, &late, &late.id));
	ok(roce_cm_id_connect(late.id, ip_b, PORT, &ask, UINT64_MAX));
	assert_int_equal(want_cm(pair, &late, ROCE_CM_EVENT_UNREACHABLE).status, -EHOSTUNREACH);
	want_quiet(pair, &late);
	end_leave(&late);
}

/* b knows nothing, and finds out when it has something to say. */
static void
want_b_alone(struct pair *pair)
{
	struct roce_wr wr = { .opcode = ROCE_WR_SEND, .flags = ROCE_WR_SIGNALED, .wr_id = SENT };

	assert_int_equal(roce_qp_state(pair->b.qp), ROCE_QP_RTS);
	ok(post_send(&pair->b, wr, 0, 64));
	want_async(pair, pair->b.context, ROCE_ASYNC_QP_FATAL, &pair->b);
	want_ruin(pair, &pair->b, MESSAGES, SENT, ROCE_WC_RETRY_EXC_ERR);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_DISCONNECTED);
	want_quiet(pair, &pair->b);
}

static void
removal__breaks_connections_and_the_device_is_opened_anew(void **state)
{
	struct pair *pair = *state;
	unsigned int bursts;

	pair_connect(pair);
	begin_traffic(pair);
	way_say(RTE_ETH_EVENT_INTR_RMV);
	bursts = way_bursts();
	want_no_device(pair);
	/* Said twice is told once; a port that is gone has no link, and is not reset. */
	way_say(RTE_ETH_EVENT_INTR_RMV);
	way_say(RTE_ETH_EVENT_INTR_LSC);
	way_say(RTE_ETH_EVENT_INTR_RESET);
	want_quiet(pair, &pair->a);
	assert_int_equal(way_bursts(), bursts);
	want_b_alone(pair);
	way_renew(pair);
	pair_connect(pair);
	begin_traffic(pair);
	end_traffic(pair);
}

static void
port__closed_by_its_owner_is_a_removal(void **state)
{
	struct pair *pair = *state;
	unsigned int bursts;

	pair_connect(pair);
	begin_traffic(pair);
	bursts = way_bursts();
	way_destroy();
	want_no_device(pair);
	assert_int_equal(way_bursts(), bursts);
	want_b_alone(pair);
}

/* A port of the device's own is reset by it: stopped by somebody, it runs again behind that. */
static void
reset__of_our_own_port_is_done_and_survived(void **state)
{
	struct pair *pair = *state;

	pair_connect(pair);
	begin_traffic(pair);
	way_start(false);
	way_say(RTE_ETH_EVENT_INTR_RESET);
	end_traffic(pair);
}

/* A program's port is reset by the program: the device leaves it alone, and goes on behind it. */
static void
reset__of_the_programs_port_is_left_to_it(void **state)
{
	struct pair *pair = *state;
	unsigned int bursts;

	pair_connect(pair);
	way_start(false);
	way_say(RTE_ETH_EVENT_INTR_RESET);
	begin_traffic(pair);
	bursts = way_bursts();
	settle(pair);
	assert_int_equal(way_bursts(), bursts);
	way_start(true);
	end_traffic(pair);
}

static void
port__stopped_goes_on_when_it_is_started(void **state)
{
	struct pair *pair = *state;
	struct roce_event event;

	pair_connect(pair);
	way_start(false);
	begin_traffic(pair);
	settle(pair);
	assert_int_equal(roce_cq_poll(pair->b.cq, &event, 1), 0);
	want_peace(pair);
	way_start(true);
	end_traffic(pair);
	/* And once more. */
	way_start(false);
	settle(pair);
	way_start(true);
	begin_traffic(pair);
	end_traffic(pair);
}

static void
queue__full_for_a_while_delays(void **state)
{
	struct pair *pair = *state;
	struct roce_event event;

	pair_connect(pair);
	way_fill();
	begin_traffic(pair);
	settle(pair);
	assert_int_equal(roce_cq_poll(pair->a.cq, &event, 1), 0);
	if (way_has_port())
		assert_true(counter_of(pair->a.device, "port_tx_refused") > 0);
	fate.b_still = false;
	end_traffic(pair);
}

static void
queue__full_for_ever_breaks(void **state)
{
	struct pair *pair = *state;

	pair_connect(pair);
	way_fill();
	begin_traffic(pair);
	assert_int_equal(want_async(pair, pair->a.context, ROCE_ASYNC_QP_FATAL, &pair->a).status,
			ROCE_WC_RETRY_EXC_ERR);
	want_ruin(pair, &pair->a, MESSAGES - 1, SENT, ROCE_WC_RETRY_EXC_ERR);
	want_cm(pair, &pair->a, ROCE_CM_EVENT_DISCONNECTED);
	fate.b_still = false;
	/* The one that waited for room says it. */
	want_cm(pair, &pair->b, ROCE_CM_EVENT_DISCONNECTED);
}

/* The engines keep a few empty frames in hand: what they cannot build, they build later. */
static void
pool__empty_delays_until_frames_come_back(void **state)
{
	struct pair *pair = *state;
	unsigned int arrived = 0;
	struct roce_event event;

	pair_connect(pair);
	fate.hog = true;
	begin_traffic(pair);
	while (counter_of(pair->a.device, "tx_no_mbuf") == 0)
		poll_once(pair);
	while (roce_cq_poll(pair->b.cq, &event, 1) == 1)
		assert_int_equal(event.wr_id, arrived++);
	assert_true(arrived < MESSAGES);
	want_peace(pair);
	way_release();
	for (; arrived < MESSAGES; arrived++)
		assert_int_equal(want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS).wr_id, arrived);
	for (unsigned int i = 0; i < MESSAGES; i++)
		want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS);
	assert_memory_equal(pair->a.memory, pair->b.memory, (size_t)MESSAGES * LENGTH);
	want_peace(pair);
}

static struct way own = { .kind = WAY_OWN, .params = PATIENT };
static struct way own_hasty = { .kind = WAY_OWN, .params = IMPATIENT };
static struct way queues = { .kind = WAY_QUEUES, .params = PATIENT };
static struct way queues_hasty = { .kind = WAY_QUEUES, .params = IMPATIENT };
static struct way queues_given = { .kind = WAY_QUEUES, .params = PATIENT, .given = true };
static struct way handover = { .kind = WAY_HANDOVER, .params = PATIENT };
static struct way handover_hasty = { .kind = WAY_HANDOVER, .params = IMPATIENT };
static struct way handover_given = { .kind = WAY_HANDOVER, .params = PATIENT, .given = true };

int
main(void)
{
	const struct CMUnitTest tests[] = {
		way_test(link__lost_and_back_loses_nothing, own),
		way_test(link__lost_and_back_loses_nothing, queues),
		way_test(link__lost_and_back_loses_nothing, handover),
		way_test(link__is_told_as_it_is_when_it_is_polled, own),
		way_test(link__is_told_as_it_is_when_it_is_polled, queues),
		way_test(link__down_beyond_the_retries_breaks_and_connects_again, own_hasty),
		way_test(link__down_beyond_the_retries_breaks_and_connects_again, queues_hasty),
		way_test(link__down_beyond_the_retries_breaks_and_connects_again, handover_hasty),
		way_test(removal__breaks_connections_and_the_device_is_opened_anew, own_hasty),
		way_test(removal__breaks_connections_and_the_device_is_opened_anew, queues_hasty),
		way_test(port__closed_by_its_owner_is_a_removal, own_hasty),
		way_test(port__closed_by_its_owner_is_a_removal, queues_hasty),
		way_test(reset__of_our_own_port_is_done_and_survived, own),
		way_test(reset__of_the_programs_port_is_left_to_it, queues),
		way_test(port__stopped_goes_on_when_it_is_started, own),
		way_test(port__stopped_goes_on_when_it_is_started, queues),
		way_test(port__stopped_goes_on_when_it_is_started, handover),
		way_test(queue__full_for_a_while_delays, own),
		way_test(queue__full_for_a_while_delays, queues),
		way_test(queue__full_for_a_while_delays, handover),
		way_test(queue__full_for_ever_breaks, own_hasty),
		way_test(queue__full_for_ever_breaks, queues_hasty),
		way_test(queue__full_for_ever_breaks, handover_hasty),
		way_test(pool__empty_delays_until_frames_come_back, own),
		way_test(pool__empty_delays_until_frames_come_back, queues),
		way_test(pool__empty_delays_until_frames_come_back, queues_given),
		way_test(pool__empty_delays_until_frames_come_back, handover),
		way_test(pool__empty_delays_until_frames_come_back, handover_given),
	};

	return cmocka_run_group_tests(tests, way_prepare, NULL);
}
