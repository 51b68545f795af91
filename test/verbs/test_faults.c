/* SPDX-License-Identifier: BSD-3-Clause */
/* ROCE_FAULTS: faults on purpose for any program, by an environment variable that is read where a device is opened. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define VARIABLE   "ROCE_FAULTS"
#define MESSAGES   400u
#define BYTES_EACH 64u

/** The devices of the ends; called with the parameters of another device, both are that one, which reaches itself. */
static const char *ends[] = { "port=loop0 ip=192.0.2.1/24", "port=loop1 ip=192.0.2.2/24" };

static void
close_pair(struct pair *pair)
{
	void *state = pair;

	pair_close(&state);
}

/* Connected at the address of b, which may be a's own. */
static struct pair *
open_pair(const char *faults, const char *a, const char *b)
{
	struct roce_cm_conn_param ask, answer;
	struct roce_device *device;
	struct roce_device_attr attr;
	struct pair *pair;

	setenv(VARIABLE, faults, 1);
	device = open_device(a);
	pair = pair_of(device, open_device(b));
	unsetenv(VARIABLE);
	roce_device_query(pair->b.device, &attr);
	ask = param_of(pair->a.qp, NULL);
	answer = param_of(pair->b.qp, NULL);
	ok(roce_cm_id_connect(pair->a.id, attr.ip, PORT, &ask, UINT64_MAX));
	pair->b.id = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST).id;
	ok(roce_cm_id_accept(pair->b.id, &answer));
	want_cm(pair, &pair->a, ROCE_CM_EVENT_ESTABLISHED);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_ESTABLISHED);
	return pair;
}

static int
send_message(struct pair *pair, uint32_t number)
{
	const struct roce_wr wr = {
		.wr_id = number,
		.opcode = ROCE_WR_SEND,
		.flags = ROCE_WR_SIGNALED,
	};

	memset(pair->a.memory, (int)number, BYTES_EACH);
	return post_send(&pair->a, wr, 0, BYTES_EACH);
}

/* Every message arrives, whole and in order, whatever was done to its frames. */
static void
exchange(struct pair *pair)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		ok(post_recv(&pair->b, pair->b.qp, i, 1024, BYTES_EACH));
		ok(send_message(pair, i));
		assert_int_equal(want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS).wr_id, i);
		assert_memory_equal(pair->b.memory + 1024, pair->a.memory, BYTES_EACH);
		assert_int_equal(want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS).wr_id, i);
	}
}

static void
faults__strike_and_are_survived(void **state)
{
	static const char *const counters[] = { "port_injected_losses", "port_injected_duplicates",
		"port_injected_reorders", "port_injected_corruptions" };

	/* Between two devices, and where a device reaches itself. */
	for (unsigned int i = 0; i < 2; i++) {
		struct pair *pair =
				open_pair("seed=5,loss=2%,duplicate=2%,reorder=20000,corrupt=2%",
						ends[0], ends[i]);

		exchange(pair);
		for (size_t c = 0; c < sizeof(counters) / sizeof(counters[0]); c++)
			if (counter_of(pair->a.device, counters[c]) == 0)
				fail_msg("%s: none", counters[c]);
		close_pair(pair);
	}
}

/* The requester waits for the time of the NAK and sends again; the program notices nothing but that. */
static void
faults__refuse_messages_that_come_again(void **state)
{
	struct pair *pair = open_pair("rnr=5%", ends[0], ends[1]);

	exchange(pair);
	assert_true(counter_of(pair->b.device, "injected_rnr_naks") > 0);
	assert_true(counter_of(pair->a.device, "rnr_nak_received") > 0);
	assert_int_equal(counter_of(pair->b.device, "out_of_buffer"), 0);
	close_pair(pair);
}

/* A program that asked for few tries is told that its peer is never ready; what it has posted besides is flushed. */
static void
faults__refuse_for_ever(void **state)
{
	char params[2][128];
	struct pair *pair;

	for (unsigned int i = 0; i < 2; i++)
		snprintf(params[i], sizeof(params[i]), "%s rnr_retry=2", ends[i]);
	pair = open_pair("rnr=100%", params[0], params[1]);
	ok(post_recv(&pair->b, pair->b.qp, 1, 1024, BYTES_EACH));
	ok(send_message(pair, 7));
	ok(send_message(pair, 8));
	assert_int_equal(want_completion(pair, pair->a.cq, ROCE_WC_RNR_RETRY_EXC_ERR).wr_id, 7);
	assert_int_equal(want_completion(pair, pair->a.cq, ROCE_WC_WR_FLUSH_ERR).wr_id, 8);
	close_pair(pair);
}

/* The request fails as if the peer were gone, and with it the connection, of which both ends hear. */
static void
faults__fail_requests(void **state)
{
	struct pair *pair = open_pair("wc_error=100%", ends[0], ends[1]);

	ok(post_recv(&pair->b, pair->b.qp, 1, 1024, BYTES_EACH));
	ok(send_message(pair, 7));
	ok(send_message(pair, 8));
	assert_int_equal(want_completion(pair, pair->a.cq, ROCE_WC_RETRY_EXC_ERR).wr_id, 7);
	assert_int_equal(want_completion(pair, pair->a.cq, ROCE_WC_WR_FLUSH_ERR).wr_id, 8);
	want_cm(pair, &pair->a, ROCE_CM_EVENT_DISCONNECTED);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_DISCONNECTED);
	assert_int_equal(counter_of(pair->a.device, "injected_wc_errors"), 1);
	close_pair(pair);
}

static void
refused(const char *faults, const char *sentence)
{
	struct roce_device *device = NULL;
	char errmsg[256];

	setenv(VARIABLE, faults, 1);
	assert_int_equal(roce_device_open(ends[0], &device, errmsg, sizeof(errmsg)), -EINVAL);
	unsetenv(VARIABLE);
	assert_null(device);
	assert_string_equal(errmsg, sentence);
}

/* No device is opened: one with other parameters can be. */
static void
faults__that_are_none_are_refused(void **state)
{
	char others[128];

	refused("los=1%",
			"ROCE_FAULTS: los=1% is unknown: want seed=, loss=, duplicate=, reorder=, "
			"corrupt=, mark=, rnr= or wc_error=");
	refused("seed=1,loss=101%",
			"ROCE_FAULTS: loss=101% is invalid: want a share such as 0.1%, or of a million, "
			"0..1000000");
	snprintf(others, sizeof(others), "%s rnr_timer=3", ends[0]);
	roce_device_close(open_device(others));
}

static void
faults__of_the_parameters_win(void **state)
{
	char params[128];
	struct pair *pair;

	snprintf(params, sizeof(params), "%s loss=0", ends[0]);
	pair = open_pair("loss=100%,duplicate=5%", params, params);
	exchange(pair);
	assert_int_equal(counter_of(pair->a.device, "port_injected_losses"), 0);
	assert_true(counter_of(pair->a.device, "port_injected_duplicates") > 0);
	close_pair(pair);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults__strike_and_are_survived),
		cmocka_unit_test(faults__refuse_messages_that_come_again),
		cmocka_unit_test(faults__refuse_for_ever),
		cmocka_unit_test(faults__fail_requests),
		cmocka_unit_test(faults__that_are_none_are_refused),
		cmocka_unit_test(faults__of_the_parameters_win),
	};

	unsetenv(VARIABLE);
	if (argc > 1) {
		ends[0] = argv[1];
		ends[1] = argv[1];
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
