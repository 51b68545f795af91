/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The broker and the process of the uplink: what other hosts may say, and which process waits for which.
 */
#include <errno.h>

#include "broker_scene.h"

/* ---- the uplink ---- */

static struct frame_spec
from_remote(uint16_t attr)
{
	return (struct frame_spec){
		.src = remote_ip,
		.dst = host_ip,
		.attr = attr,
		.local_id = 0x99999999,
		.remote_id = frame_id(B, 5),
		.qpn = 0x777777,
		.tid = TID,
	};
}

UNIT_RULE(request__of_another_host_goes_to_the_listener)
{
	const struct frame_spec spec = from_remote(ROCE_CM_ATTR_REQ);

	attach_uplink();
	listen_at(B, FRAMES_SERVICE);
	say(ROCE_PROCESS_UPLINK, &spec);
	assert_int_equal(hear(B), ROCE_MSG_FRAME);
	assert_silence();
}

/* Some process has to say so. */
UNIT_RULE(request__of_another_host_where_no_process_listens_goes_to_any_process)
{
	const struct frame_spec spec = from_remote(ROCE_CM_ATTR_REQ);
	unsigned int frames = 0;

	attach_uplink();
	say(ROCE_PROCESS_UPLINK, &spec);
	for (unsigned int i = A; i <= C; i++)
		frames += hear(i) == ROCE_MSG_FRAME;
	assert_int_equal(frames, 1);
	assert_silence();
}

static void
lose(unsigned int number)
{
	broker_disconnect(client[number]);
	client[number] = NULL;
	assert_int_equal(hear(ROCE_PROCESS_UPLINK), ROCE_MSG_GONE);
}

UNIT_RULE(request__of_another_host_goes_back_to_the_uplink_when_there_is_no_process)
{
	const struct frame_spec spec = from_remote(ROCE_CM_ATTR_REQ);

	attach_uplink();
	for (unsigned int i = A; i <= C; i++)
		lose(i);
	say(ROCE_PROCESS_UPLINK, &spec);
	assert_int_equal(hear(ROCE_PROCESS_UPLINK), ROCE_MSG_FRAME);
	assert_silence();
	assert_int_equal(counters()->frames_returned, 1);
}

/* Another host would wait for answers to these. */
UNIT_RULE(message__for_a_process_that_has_ended_goes_back_to_the_uplink_if_it_wants_an_answer)
{
	static const struct {
		uint16_t attr;
		bool returned;
	} rule[] = {
		{ ROCE_CM_ATTR_MRA, false },
		{ ROCE_CM_ATTR_REJ, false },
		{ ROCE_CM_ATTR_REP, true },
		{ ROCE_CM_ATTR_RTU, false },
		{ ROCE_CM_ATTR_DREQ, true },
		{ ROCE_CM_ATTR_DREP, false },
	};

	attach_uplink();
	lose(B);
	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		const struct frame_spec spec = from_remote(rule[i].attr);

		say(ROCE_PROCESS_UPLINK, &spec);
		if (rule[i].returned)
			assert_int_equal(hear(ROCE_PROCESS_UPLINK), ROCE_MSG_FRAME);
		assert_silence();
	}
	assert_fields(*counters(), (frames_returned, 2), (frames_unroutable, 4));
}

/* Of a process that lives and has not come back to this roced yet the repeat is answered by itself. */
UNIT_RULE(message__for_a_number_that_no_process_holds_goes_back_to_the_uplink)
{
	static const uint32_t number[] = { ROCE_PROCESS_UPLINK, C + 1, ROCE_PROCESSES };
	struct frame_spec spec = from_remote(ROCE_CM_ATTR_DREQ);

	attach_uplink();
	for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
		spec.remote_id = frame_id(number[i], 5);
		say(ROCE_PROCESS_UPLINK, &spec);
		assert_int_equal(hear(ROCE_PROCESS_UPLINK), ROCE_MSG_FRAME);
	}
	fake.locked[C + 1] = true;
	spec.remote_id = frame_id(C + 1, 5);
	say(ROCE_PROCESS_UPLINK, &spec);
	assert_silence();
	assert_fields(*counters(), (frames_returned, 3), (frames_unroutable, 1));
	fake.locked[C + 1] = false;
}

/* A process would answer in the name of the one that has ended. */
UNIT_RULE(message__of_a_process_for_one_that_has_ended_is_dropped)
{
	const struct frame_spec spec = {
		.attr = ROCE_CM_ATTR_DREQ,
		.local_id = frame_id(A, 5),
		.remote_id = frame_id(B, 5),
		.tid = TID,
	};

	attach_uplink();
	lose(B);
	say(A, &spec);
	assert_silence();
	assert_fields(*counters(), (frames_returned, 0), (frames_unroutable, 1));
}

UNIT_RULE(answer__of_another_host_goes_to_the_process_in_the_remote_id)
{
	static const uint16_t attr[] = { ROCE_CM_ATTR_MRA, ROCE_CM_ATTR_REP, ROCE_CM_ATTR_REJ,
		ROCE_CM_ATTR_RTU, ROCE_CM_ATTR_DREQ, ROCE_CM_ATTR_DREP };

	attach_uplink();
	for (size_t i = 0; i < sizeof(attr) / sizeof(attr[0]); i++) {
		const struct frame_spec spec = from_remote(attr[i]);

		say(ROCE_PROCESS_UPLINK, &spec);
		assert_int_equal(hear(B), ROCE_MSG_FRAME);
		assert_silence();
	}
}

UNIT_RULE(frame__of_the_uplink_is_from_another_host_to_this_one)
{
	static const struct {
		const uint8_t *src, *dst;
	} rule[] = {
		{ remote_ip, localhost },
		{ localhost, host_ip },
		{ host_ip, host_ip },
		{ host_ip6, host_ip6 },
		{ remote_ip, remote_ip },
	};

	attach_uplink();
	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		struct frame_spec spec = from_remote(ROCE_CM_ATTR_DREQ);

		spec.src = rule[i].src;
		spec.dst = rule[i].dst;
		say(ROCE_PROCESS_UPLINK, &spec);
		assert_silence();
	}
	assert_int_equal(counters()->frames_forged, 5);
}

/* A process that only receives never asks for the channel, and another uplink has none of the last one. */
UNIT_RULE(uplink__and_each_process_get_a_channel_whichever_comes_first)
{
	attach_uplink();
	broker_disconnect(client[ROCE_PROCESS_UPLINK]);
	client[ROCE_PROCESS_UPLINK] = NULL;
	for (unsigned int i = A; i <= C; i++)
		assert_int_equal(hear(i), ROCE_MSG_GONE);
	attach_uplink();
	broker_disconnect(client[C]);
	client[C] = NULL;
	assert_int_equal(hear(ROCE_PROCESS_UPLINK), ROCE_MSG_GONE);
	attach(C, false);
	assert_int_equal(hear(C), ROCE_MSG_CHANNEL);
	assert_int_equal(hear(ROCE_PROCESS_UPLINK), ROCE_MSG_CHANNEL);
	assert_silence();
}

/* ---- a roced that starts its uplink ---- */

/* Setup has attached processes without one: they go, and a broker that expects one follows. */
static void
expect_uplink(void)
{
	const struct broker_host host = fake_host(&fake);

	for (unsigned int i = A; i <= C; i++) {
		broker_disconnect(client[i]);
		client[i] = NULL;
	}
	broker_destroy(broker);
	broker = broker_create(&host, 1);
	assert_non_null(broker);
	broker_expect_uplink(broker);
}

UNIT_RULE(hello__before_that_of_the_uplink_waits_for_its_identity)
{
	expect_uplink();
	for (unsigned int i = A; i <= C; i++)
		say_hello(i, false);
	assert_silence();
	assert_true(broker_has_waiting(broker));
	say_hello(ROCE_PROCESS_UPLINK, true);
	assert_int_equal(hear(ROCE_PROCESS_UPLINK), ROCE_MSG_WELCOME);
	assert_false(broker_has_waiting(broker));
	for (unsigned int i = A; i <= C; i++) {
		const struct roce_msg welcome = hear_welcome(i);

		assert_int_equal(welcome.welcome.number, i);
		assert_int_equal(welcome.welcome.identity.uplink, 1);
		assert_memory_equal(welcome.welcome.identity.addr[0].ip, host_ip, sizeof(host_ip));
		assert_memory_equal(welcome.welcome.identity.gw, gateway, sizeof(gateway));
		assert_int_equal(hear(i), ROCE_MSG_CHANNEL);
		assert_int_equal(hear(ROCE_PROCESS_UPLINK), ROCE_MSG_CHANNEL);
	}
	assert_silence();
}

/* The next uplink is as the last one was. */
UNIT_RULE(hello__while_the_uplink_is_started_again_does_not_wait)
{
	expect_uplink();
	attach(ROCE_PROCESS_UPLINK, true);
	assert_true(broker_has_uplink(broker));
	broker_disconnect(client[ROCE_PROCESS_UPLINK]);
	client[ROCE_PROCESS_UPLINK] = NULL;
	assert_false(broker_has_uplink(broker));
	say_hello(A, false);
	assert_int_equal(hear_welcome(A).welcome.identity.uplink, 1);
	assert_silence();
}

UNIT_RULE(hello__does_not_wait_for_ever)
{
	expect_uplink();
	say_hello(A, false);
	for (unsigned int i = 1; i < BROKER_WAIT_CHECKS; i++)
		broker_check_waiting(broker);
	say_hello(B, false);
	assert_silence();
	broker_check_waiting(broker);
	assert_int_equal(hear_refused(A), -ENETDOWN);
	assert_true(broker_is_over(client[A]));
	assert_false(broker_is_over(client[B]));
	assert_true(broker_has_waiting(broker));
	assert_silence();
}

/* ---- what the uplink counts ---- */

static void
tell_counters(unsigned int number, uint64_t rx_frames, uint64_t tx_refused)
{
	const struct roce_msg msg = {
		.type = ROCE_MSG_UPLINK,
		.uplink = { .rx_frames = rx_frames, .tx_refused = tx_refused },
	};

	broker_message(client[number], &msg, -1);
}

/* The status, as JSON or not, has these words, or does not. */
static void
assert_status(bool json, const char *words, bool wanted)
{
	const struct roce_msg ask = { .type = ROCE_MSG_STATUS, .status.json = json };

	broker_message(client[A], &ask, -1);
	assert_int_equal(hear(A), ROCE_MSG_STATUS_TEXT);
	if ((strstr(fake.text, words) != NULL) != wanted)
		fail_msg("'%s' in %s", words, fake.text);
}

UNIT_RULE(counters__that_the_uplink_has_told_last_are_in_the_status)
{
	attach_uplink();
	assert_status(true, "\"uplink_counters\":{\"rx_frames\":0,", true);
	tell_counters(ROCE_PROCESS_UPLINK, 5, 6);
	tell_counters(ROCE_PROCESS_UPLINK, 7, 8);
	assert_status(true, "\"uplink_counters\":{\"rx_frames\":7,", true);
	assert_status(true, "\"tx_refused\":8}", true);
	assert_status(false, "                   7  rx_frames\n", true);
	assert_silence();
}

UNIT_RULE(counters__of_an_uplink_are_not_told_where_there_is_none)
{
	assert_status(true, "uplink_counters", false);
	assert_status(false, "rx_frames", false);
}

UNIT_RULE(counters__of_an_uplink_are_for_no_other_process_to_tell)
{
	attach_uplink();
	tell_counters(A, 5, 6);
	assert_true(broker_is_over(client[A]));
	assert_int_equal(counters()->violations, 1);
}

/* In whatever way it ends: teardown counts the descriptors. */
UNIT_RULE(waiting__process_may_ask_for_the_status_and_nothing_else)
{
	const struct roce_msg status = { .type = ROCE_MSG_STATUS };
	const struct roce_msg listen = { .type = ROCE_MSG_LISTEN };

	expect_uplink();
	for (unsigned int i = A; i <= C; i++)
		say_hello(i, false);
	broker_message(client[A], &status, -1);
	assert_int_equal(hear(A), ROCE_MSG_STATUS_TEXT);
	broker_message(client[A], &listen, -1);
	assert_true(broker_is_over(client[A]));
	broker_disconnect(client[B]);
	client[B] = NULL;
	assert_true(broker_has_waiting(broker));
}
