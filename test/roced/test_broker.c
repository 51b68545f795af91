/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The broker without sockets: where frames of the connection manager go, and which ones go nowhere.
 */
#include <stdlib.h>
#include <string.h>

#include "broker_scene.h"

/* ---- requests ---- */

UNIT_RULE(request__goes_to_the_listener_behind_the_channel_to_it)
{
	ask();
	assert_fields(*counters(), (frames_forwarded, 1), (channels, 1));
}

UNIT_RULE(request__arrives_byte_by_byte_as_it_was_sent)
{
	const struct frame_spec spec = request(A);
	const struct roce_msg msg = frame_message(&spec);
	const struct roce_msg *got;
	int fds[ROCE_PROTO_FDS];
	unsigned int n;

	listen_at(B, FRAMES_SERVICE);
	broker_message(client[A], &msg, -1);
	assert_int_equal(hear(A), ROCE_MSG_CHANNEL);
	assert_int_equal(hear(B), ROCE_MSG_CHANNEL);
	got = broker_output(client[B], fds, &n);
	assert_non_null(got);
	assert_int_equal(got->frame.len, msg.frame.len);
	assert_memory_equal(got->frame.data, msg.frame.data, msg.frame.len);
	assert_int_equal(n, 0);
}

UNIT_RULE(request__to_a_service_id_where_no_process_listens_goes_back_to_its_sender)
{
	const struct frame_spec spec = request(A);
	const struct frame_spec rej = {
		.attr = ROCE_CM_ATTR_REJ, .remote_id = frame_id(A, 5), .tid = TID
	};

	say(A, &spec);
	assert_int_equal(hear(A), ROCE_MSG_FRAME);
	assert_silence();
	/* The answer of its own connection manager comes back as well. */
	say(A, &rej);
	assert_int_equal(hear(A), ROCE_MSG_FRAME);
	assert_silence();
	assert_fields(*counters(), (frames_returned, 1), (channels, 0));
}

UNIT_RULE(request__is_not_rejected_while_a_process_has_not_come_back)
{
	const struct frame_spec spec = request(A);

	fake.locked[77] = true;
	say(A, &spec);
	assert_silence();
	/* It may have ended, or be stopped. */
	fake.locked[77] = false;
	say(A, &spec);
	assert_int_equal(hear(A), ROCE_MSG_FRAME);
	fake.locked[77] = true;
	say(A, &spec);
	assert_int_equal(hear(A), ROCE_MSG_FRAME);
	assert_silence();
}

UNIT_RULE(request__to_oneself_needs_no_channel)
{
	const struct frame_spec spec = request(A);

	listen_at(A, FRAMES_SERVICE);
	say(A, &spec);
	assert_int_equal(hear(A), ROCE_MSG_FRAME);
	assert_silence();
	assert_int_equal(counters()->frames_returned, 0);
}

/* The process that was asked first may be about to answer. */
UNIT_RULE(request__that_is_sent_again_goes_to_the_same_process_though_another_one_listens_now)
{
	const struct frame_spec spec = request(A);
	const struct roce_msg unlisten = { .type = ROCE_MSG_UNLISTEN,
		.service.service_id = FRAMES_SERVICE };

	ask();
	broker_message(client[B], &unlisten, -1);
	listen_at(C, FRAMES_SERVICE);
	say(A, &spec);
	assert_int_equal(hear(B), ROCE_MSG_FRAME);
	assert_silence();
}

UNIT_RULE(request__that_is_another_one_by_the_same_id_goes_to_the_listener_of_now)
{
	struct frame_spec spec = request(A);
	const struct roce_msg unlisten = { .type = ROCE_MSG_UNLISTEN,
		.service.service_id = FRAMES_SERVICE };

	ask();
	broker_message(client[B], &unlisten, -1);
	listen_at(C, FRAMES_SERVICE);
	spec.tid++;
	say(A, &spec);
	assert_int_equal(hear(A), ROCE_MSG_CHANNEL);
	assert_int_equal(hear(C), ROCE_MSG_CHANNEL);
	assert_int_equal(hear(C), ROCE_MSG_FRAME);
	assert_silence();
}

UNIT_RULE(request__is_dropped_when_no_channel_can_be_made_and_goes_when_it_can)
{
	const struct frame_spec spec = request(A);

	listen_at(B, FRAMES_SERVICE);
	for (unsigned int i = 1; i <= 3; i++) {
		fake.fail = i;
		say(A, &spec);
		assert_silence();
	}
	assert_int_equal(counters()->frames_unroutable, 3);
	fake.fail = 0;
	say(A, &spec);
	assert_int_equal(hear(A), ROCE_MSG_CHANNEL);
	assert_int_equal(hear(B), ROCE_MSG_CHANNEL);
	assert_int_equal(hear(B), ROCE_MSG_FRAME);
}

/* ---- answers ---- */

UNIT_RULE(messages__go_to_the_process_in_the_upper_bits_of_the_remote_id)
{
	static const uint16_t attr[] = { ROCE_CM_ATTR_MRA, ROCE_CM_ATTR_REP, ROCE_CM_ATTR_REJ,
		ROCE_CM_ATTR_DREQ, ROCE_CM_ATTR_DREP };
	struct frame_spec rtu = answer(ROCE_CM_ATTR_RTU, A, B);

	ask();
	for (size_t i = 0; i < sizeof(attr) / sizeof(attr[0]); i++) {
		struct frame_spec spec = answer(attr[i], B, A);

		say(B, &spec);
		assert_int_equal(hear(A), ROCE_MSG_FRAME);
		assert_silence();
	}
	say(A, &rtu);
	assert_int_equal(hear(B), ROCE_MSG_FRAME);
	assert_silence();
}

/* Until it has an answer, the sender of a request takes one from any process: so no other may answer. */
UNIT_RULE(answer__of_a_process_that_was_not_asked_is_dropped)
{
	static const uint16_t attr[] = { ROCE_CM_ATTR_MRA, ROCE_CM_ATTR_REP, ROCE_CM_ATTR_REJ };

	ask();
	for (size_t i = 0; i < sizeof(attr) / sizeof(attr[0]); i++) {
		struct frame_spec spec = answer(attr[i], C, A);

		say(C, &spec);
		spec.local_id = 0;
		say(C, &spec);
		assert_silence();
	}
	assert_int_equal(counters()->frames_forged, 6);
}

UNIT_RULE(answer__of_a_process_that_has_the_number_of_one_that_was_asked_is_dropped)
{
	const struct frame_spec spec = answer(ROCE_CM_ATTR_REP, B, A);

	ask();
	broker_disconnect(client[B]);
	assert_int_equal(hear(A), ROCE_MSG_GONE);
	attach(B, false);
	say(B, &spec);
	assert_silence();
}

/* Its receiver compares both ids with those of a connection; with one id 0 there is nothing to compare. */
UNIT_RULE(rejection__of_a_reply_passes_if_it_has_both_ids)
{
	struct frame_spec spec = answer(ROCE_CM_ATTR_REJ, A, B);

	ask();
	say(A, &spec);
	assert_int_equal(hear(B), ROCE_MSG_FRAME);
	spec.local_id = 0;
	say(A, &spec);
	assert_silence();
}

/* It does not know the other id. */
UNIT_RULE(rejection__by_a_sender_that_gives_up_goes_to_the_process_that_was_asked)
{
	struct frame_spec spec = answer(ROCE_CM_ATTR_REJ, A, B);

	ask();
	spec.local_id = frame_id(A, 5);
	spec.remote_id = 0;
	say(A, &spec);
	assert_int_equal(hear(B), ROCE_MSG_FRAME);
	spec.local_id = frame_id(A, 7);
	say(A, &spec);
	assert_silence();
}

UNIT_RULE(message__to_a_number_that_no_process_has_is_dropped)
{
	const uint32_t number[] = { 0, 500, ROCE_PROCESS_MAX, ROCE_PROCESS_MAX + 1 };

	for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
		struct frame_spec spec = answer(ROCE_CM_ATTR_DREQ, A, number[i]);

		say(A, &spec);
	}
	assert_silence();
	assert_int_equal(counters()->frames_unroutable, 4);
}

/* ---- forged ones ---- */

UNIT_RULE(frame__with_an_id_of_another_process_is_dropped)
{
	struct frame_spec spec = request(A);

	listen_at(B, FRAMES_SERVICE);
	spec.local_id = frame_id(C, 5);
	say(A, &spec);
	spec.local_id = 0;
	say(A, &spec);
	spec = answer(ROCE_CM_ATTR_DREQ, C, B);
	say(A, &spec);
	assert_silence();
	assert_int_equal(counters()->frames_forged, 3);
}

UNIT_RULE(frame__with_a_queue_pair_of_another_process_is_dropped)
{
	struct frame_spec spec = request(A);

	ask();
	spec.qpn = frame_qpn(C, 9);
	say(A, &spec);
	spec = answer(ROCE_CM_ATTR_REP, B, A);
	spec.qpn = frame_qpn(C, 9);
	say(B, &spec);
	spec.qpn = 9;
	say(B, &spec);
	assert_silence();
	assert_int_equal(counters()->frames_forged, 3);
}

UNIT_RULE(frame__of_a_process_is_from_and_to_the_same_address_of_the_host)
{
	static const struct {
		const uint8_t *src, *dst;
		bool passes;
	} rule[] = {
		{ localhost, localhost, true },
		{ other_localhost, other_localhost, true },
		{ host_ip, host_ip, true },
		{ host_ip6, host_ip6, true },
		{ localhost, other_localhost, false },
		{ host_ip, localhost, false },
		{ host_ip, remote_ip, false },
		{ remote_ip, host_ip, false },
		{ remote_ip, remote_ip, false },
	};

	attach_uplink();
	ask();
	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		struct frame_spec spec = request(A);

		spec.src = rule[i].src;
		spec.dst = rule[i].dst;
		say(A, &spec);
		assert_int_equal(hear(B), rule[i].passes ? ROCE_MSG_FRAME : 0);
		assert_silence();
	}
	assert_int_equal(counters()->frames_forged, 5);
}

UNIT_RULE(frame__that_is_none_of_the_connection_manager_is_dropped)
{
	struct frame_spec spec = request(A);
	struct roce_msg msg = frame_message(&spec);

	listen_at(B, FRAMES_SERVICE);
	msg.frame.data[42]++; /* the opcode */
	broker_message(client[A], &msg, -1);
	msg.frame.len = 0;
	broker_message(client[A], &msg, -1);
	assert_silence();
	assert_int_equal(counters()->frames_malformed, 2);
	assert_false(broker_is_over(client[A]));
}

/* ---- clients that do not read ---- */

UNIT_RULE(frames__for_a_process_that_does_not_read_are_dropped_beyond_64)
{
	const struct frame_spec spec = answer(ROCE_CM_ATTR_DREQ, A, B);
	unsigned int n = 0;

	for (unsigned int i = 0; i < 100; i++)
		say(A, &spec);
	while (hear(B) == ROCE_MSG_FRAME)
		n++;
	assert_int_equal(n, 64);
	assert_int_equal(counters()->frames_slow, 36);
	say(A, &spec);
	assert_int_equal(hear(B), ROCE_MSG_FRAME);
}

UNIT_RULE(process__that_lets_more_than_4096_messages_wait_loses_its_connection)
{
	const struct roce_msg open = { .type = ROCE_MSG_OPEN, .peer.number = 999 };

	for (unsigned int i = 0; i < 4096; i++)
		broker_message(client[A], &open, -1);
	assert_false(broker_is_over(client[A]));
	broker_message(client[A], &open, -1);
	assert_true(broker_is_over(client[A]));
	assert_int_equal(counters()->slow, 1);
	assert_false(broker_is_over(client[B]));
}

/* It was not told of the peer, so it is not told of its end either. */
UNIT_RULE(end__of_a_peer_takes_back_all_about_it_that_was_not_read)
{
	const struct frame_spec spec = request(A);

	listen_at(B, FRAMES_SERVICE);
	say(A, &spec);
	broker_disconnect(client[A]);
	client[A] = NULL;
	assert_silence();
}

UNIT_RULE(end__of_a_peer_is_told_behind_its_frames_when_its_channel_was_read)
{
	const struct frame_spec spec = answer(ROCE_CM_ATTR_DREQ, A, B);

	ask();
	say(A, &spec);
	broker_disconnect(client[A]);
	client[A] = NULL;
	assert_int_equal(hear(B), ROCE_MSG_FRAME);
	assert_int_equal(hear(B), ROCE_MSG_GONE);
	assert_silence();
}

static void
open_pair(unsigned int from, unsigned int to)
{
	const struct roce_msg msg = { .type = ROCE_MSG_OPEN, .peer.number = to };

	broker_message(client[from], &msg, -1);
}

/* It is the end of the process that had the number before. */
UNIT_RULE(end__of_a_peer_leaves_the_end_that_was_told_before)
{
	open_pair(A, B);
	assert_int_equal(hear(A), ROCE_MSG_CHANNEL);
	broker_disconnect(client[B]);
	attach(B, false);
	open_pair(B, A);
	assert_int_equal(hear(B), ROCE_MSG_CHANNEL);
	broker_disconnect(client[B]);
	client[B] = NULL;
	assert_int_equal(hear(A), ROCE_MSG_GONE);
	assert_silence();
}

/* ---- violations ---- */

UNIT_RULE(message__before_hello_ends_the_connection)
{
	static const uint32_t type[] = { ROCE_MSG_LISTEN, ROCE_MSG_UNLISTEN, ROCE_MSG_OPEN,
		ROCE_MSG_HAVE, ROCE_MSG_FRAME, ROCE_MSG_WELCOME, ROCE_MSG_GONE };

	for (size_t i = 0; i < sizeof(type) / sizeof(type[0]); i++) {
		struct broker_client *guest = broker_connect(broker, 1, NULL);
		const struct roce_msg msg = { .type = type[i] };

		broker_message(guest, &msg, -1);
		assert_true(broker_is_over(guest));
		broker_disconnect(guest);
	}
}

UNIT_RULE(message__that_only_roced_sends_or_a_second_hello_ends_the_connection)
{
	static const uint32_t type[] = { ROCE_MSG_HELLO, ROCE_MSG_WELCOME, ROCE_MSG_REFUSED,
		ROCE_MSG_LISTENED, ROCE_MSG_CHANNEL, ROCE_MSG_GONE, ROCE_MSG_STATUS_TEXT };

	for (size_t i = 0; i < sizeof(type) / sizeof(type[0]); i++) {
		const struct roce_msg msg = { .type = type[i] };

		broker_message(client[A], &msg, -1);
		assert_true(broker_is_over(client[A]));
		broker_disconnect(client[A]);
		attach(A, false);
	}
	assert_false(broker_is_over(client[B]));
}

UNIT_RULE(hello__without_resources_is_refused_and_leaves_nothing)
{
	struct roce_msg msg = { .type = ROCE_MSG_HELLO, .hello.version = ROCE_PROTO_VERSION };
	struct broker_client *guest = broker_connect(broker, 1, NULL);
	const unsigned int open = fake.open;
	int fds[ROCE_PROTO_FDS];
	const struct roce_msg *got;
	unsigned int n;

	fake.bells_are_bad = true;
	broker_message(guest, &msg, fake_fd(&fake));
	assert_true(broker_is_over(guest));
	got = broker_output(guest, fds, &n);
	assert_non_null(got);
	assert_int_equal(got->type, ROCE_MSG_REFUSED);
	assert_int_equal(fake.open, open);
	broker_disconnect(guest);
}
