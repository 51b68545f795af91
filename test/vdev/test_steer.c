/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The rules that a device is asked for so that frames come to their engines, what is done when it refuses, and that no
 * rule stays behind. fake_flow.c is the device.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <rte_common.h>

#include "device/device.h"
#include "device/user.h"
#include "engine/verbs.h"
#include "fake_flow.h"
#include "port_events.h"

#define QPS 16u /**< several on each engine */

static struct roce_device *
open_device(unsigned int queues, const char *more)
{
	struct roce_device *device = NULL;
	char params[128], errmsg[256];

	snprintf(params, sizeof(params), "port=loop0 ip=192.0.2.1/24 queues=%u %s", queues, more);
	if (roce_device_open(params, &device, errmsg, sizeof(errmsg)) != 0)
		fail_msg("%s: %s", params, errmsg);
	return device;
}

static void
want_steering(const struct roce_device *device, const char *v4, const char *v6)
{
	assert_string_equal(roce_steer_name(device->port->steer.v4), v4);
	assert_string_equal(roce_steer_name(device->port->steer.v6), v6);
}

/* No rule is left behind, and none was in place when the port was stopped. */
static void
close_device(struct roce_device *device)
{
	roce_device_close(device);
	assert_int_equal(fake.raw + fake.hash, 0);
	assert_false(fake.stopped_with_rules);
	assert_int_equal(pools_left(), 0);
}

/* The rules bring the frames of a queue pair to its engine, whatever its number is. */
static void
want_own_queues(struct roce_device *device)
{
	struct roce_device_user user = { 0 };
	struct roce_qp *qp[QPS];
	struct roce_pd *pd;

	roce_device_join(device, &user);
	assert_int_equal(roce_pd_create(&user.context, &pd), 0);
	for (unsigned int i = 0; i < QPS; i++) {
		const struct roce_qp_attr attr = { .pd = pd, .max_send_wr = 1 };
		unsigned int engine = 0;
		uint32_t number;

		assert_int_equal(roce_qp_create(&attr, &qp[i]), 0);
		while (device->port->queue[engine].engine != roce_qp_engine(qp[i]))
			engine++;
		number = roce_qp_number(qp[i]);
		assert_int_equal(fake_queue(false, number), engine);
		if (!fake.refuses_v6)
			assert_int_equal(fake_queue(true, number), engine);
	}
	for (unsigned int i = 0; i < QPS; i++)
		roce_qp_destroy(qp[i]);
	assert_int_equal(roce_pd_destroy(pd), 0);
	roce_device_leave(device, &user);
}

static void
steer__brings_each_queue_pair_to_its_engine(void **state)
{
	for (unsigned int queues = 2; queues <= 8; queues++) {
		struct roce_device *device;

		fake = (struct fake_device){ .offers_rss = true, .takes_raw = true };
		device = open_device(queues, "");
		want_steering(device, "queue pair", "queue pair");
		assert_int_equal(fake.raw, 2 * queues);
		assert_int_equal(fake.hash, 0);
		want_own_queues(device);
		close_device(device);
	}
}

/* Devices differ in how a rule without a tag matches tagged frames, so the rule names the tag. */
static void
steer__knows_of_tags(void **state)
{
	struct roce_device *device;

	fake = (struct fake_device){ .takes_raw = true, .wants_tag = true };
	device = open_device(2, "vlan=7");
	want_steering(device, "queue pair", "queue pair");
	want_own_queues(device);
	close_device(device);
	device = open_device(2, "");
	want_steering(device, "nothing", "nothing");
	close_device(device);
}

/* Also where the device has no hash at all. */
static void
steer__needs_no_rss_for_that(void **state)
{
	struct roce_device *device;

	fake = (struct fake_device){ .takes_raw = true, .refuses_v6 = true };
	device = open_device(4, "");
	want_steering(device, "queue pair", "nothing");
	assert_int_equal(fake.raw, 4);
	want_own_queues(device);
	close_device(device);
}

static void
steer__falls_back_to_a_rule_that_spreads(void **state)
{
	struct roce_device *device;

	fake = (struct fake_device){ .offers_rss = true, .takes_hash = true };
	device = open_device(3, "");
	want_steering(device, "hash", "hash");
	assert_true(fake.configured_rss);
	assert_int_equal(fake.hash, 2);
	assert_int_equal(fake_spread(false), 3);
	assert_int_equal(fake_spread(true), 3);
	assert_int_equal(fake_queue(false, 0x1234), FAKE_HASHED);
	close_device(device);
}

/* Room for some rules only: none of them stays, since the rule that spreads is to have all frames. */
static void
steer__has_a_rule_for_each_engine_or_for_none(void **state)
{
	for (unsigned int room = 1; room < 4; room++) {
		struct roce_device *device;

		fake = (struct fake_device){
			.offers_rss = true, .takes_raw = true, .takes_hash = true, .raw_room = room
		};
		device = open_device(4, "");
		want_steering(device, "hash", "hash");
		assert_int_equal(fake.raw, 0);
		assert_int_equal(fake.hash, 2);
		close_device(device);
	}
}

static void
steer__falls_back_to_the_hash_of_the_port(void **state)
{
	struct roce_device *device;

	fake = (struct fake_device){ .offers_rss = true };
	device = open_device(2, "");
	want_steering(device, "hash", "hash");
	assert_true(fake.configured_rss);
	assert_int_equal(fake.raw + fake.hash, 0);
	close_device(device);
}

/* Neither rules nor a hash: the port opens all the same, and frames are forwarded between engines. */
static void
steer__does_without(void **state)
{
	struct roce_device *device;

	fake = (struct fake_device){ .offers_rss = true, .refuses_rss = true };
	device = open_device(2, "");
	want_steering(device, "nothing", "nothing");
	assert_false(fake.configured_rss);
	close_device(device);

	fake = (struct fake_device){ .offers_rss = false };
	device = open_device(2, "");
	want_steering(device, "nothing", "nothing");
	assert_int_equal(fake_queue(false, 0x1234), FAKE_NO_RULE);
	close_device(device);
}

static void
steer__asks_for_nothing_with_one_queue(void **state)
{
	struct roce_device *device;

	fake = (struct fake_device){ .offers_rss = true, .takes_raw = true, .takes_hash = true };
	device = open_device(1, "");
	assert_int_equal(fake.asked, 0);
	assert_false(fake.configured_rss);
	close_device(device);
	assert_int_equal(fake.asked, 0);
}

/* A port that was reset has lost its rules: they go before, and come again. */
static void
steer__is_made_again_after_a_reset(void **state)
{
	struct roce_device *device;
	unsigned int asked;

	fake = (struct fake_device){ .offers_rss = true, .takes_raw = true };
	device = open_device(4, "");
	asked = fake.asked;
	port_say("net_ring_loop0", RTE_ETH_EVENT_INTR_RESET);
	while (fake.asked == asked)
		roce_device_poll(device);
	want_steering(device, "queue pair", "queue pair");
	assert_int_equal(fake.raw, 8);
	want_own_queues(device);
	close_device(device);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steer__brings_each_queue_pair_to_its_engine),
		cmocka_unit_test(steer__knows_of_tags),
		cmocka_unit_test(steer__needs_no_rss_for_that),
		cmocka_unit_test(steer__falls_back_to_a_rule_that_spreads),
		cmocka_unit_test(steer__has_a_rule_for_each_engine_or_for_none),
		cmocka_unit_test(steer__falls_back_to_the_hash_of_the_port),
		cmocka_unit_test(steer__does_without),
		cmocka_unit_test(steer__asks_for_nothing_with_one_queue),
		cmocka_unit_test(steer__is_made_again_after_a_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
