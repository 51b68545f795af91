/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_TEST_BROKER_SCENE_H
#define ROCED_TEST_BROKER_SCENE_H

/**
 * @file
 * The scene of a test of the broker: three processes, without sockets, and another host beyond the uplink.
 *
 * Each program that includes it has the one broker, and setup() and teardown() for its rules.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "roced/broker.h"
#include "fake_host.h"
#include "frames.h"
#include "unit/rules.h"

#define CLIENTS 4
#define A       1u
#define B       2u
#define C       3u
#define TID     77

static struct fake_host fake;
static struct broker *broker;
static struct broker_client *client[CLIENTS]; /* by number; 0 is the uplink, if there is one */

static const uint8_t host_ip[16]
		__attribute__((unused)) = { [10] = 0xff, [11] = 0xff, [12] = 192, 0, 2, 7 };
static const uint8_t host_ip6[16] __attribute__((unused)) = { 0x20, 0x01, 0x0d, 0xb8, [15] = 7 };
static const uint8_t gateway[16]
		__attribute__((unused)) = { [10] = 0xff, [11] = 0xff, [12] = 192, 0, 2, 1 };
static const uint8_t remote_ip[16]
		__attribute__((unused)) = { [10] = 0xff, [11] = 0xff, [12] = 192, 0, 2, 99 };
static const uint8_t localhost[16]
		__attribute__((unused)) = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 };
static const uint8_t other_localhost[16]
		__attribute__((unused)) = { [10] = 0xff, [11] = 0xff, [12] = 127, 9, 8, 7 };

/* ---- the scene ---- */

/* The message that the client hears next. @return its type; 0: there is none. */
static inline uint32_t
hear(unsigned int number)
{
	int fds[ROCE_PROTO_FDS];
	unsigned int n;
	const struct roce_msg *msg = broker_output(client[number], fds, &n);
	uint32_t type = msg == NULL ? 0 : msg->type;

	if (msg != NULL)
		broker_output_sent(client[number]);
	return type;
}

static inline void
say_hello(unsigned int number, bool is_uplink)
{
	struct roce_msg msg = {
		.type = ROCE_MSG_HELLO,
		.hello = {
			.version = ROCE_PROTO_VERSION,
			.number = number,
			.uplink = is_uplink,
			.identity = {
				.mac = { 2, 1, 1, 1, 1, 1 },
				.mtu = 1500,
				.addrs = 2,
				.addr = { { .prefix = 24 }, { .prefix = 64 } },
			},
		},
	};

	memcpy(msg.hello.identity.addr[0].ip, host_ip, sizeof(host_ip));
	memcpy(msg.hello.identity.addr[1].ip, host_ip6, sizeof(host_ip6));
	memcpy(msg.hello.identity.gw, gateway, sizeof(gateway));
	client[number] = broker_connect(broker, 100 + number, NULL);
	assert_non_null(client[number]);
	broker_message(client[number], &msg, fake_fd(&fake));
}

static inline struct roce_msg
hear_welcome(unsigned int number)
{
	int fds[ROCE_PROTO_FDS];
	unsigned int n;
	const struct roce_msg *msg = broker_output(client[number], fds, &n);
	struct roce_msg copy = { .type = 0 };

	assert_non_null(msg);
	assert_int_equal(msg->type, ROCE_MSG_WELCOME);
	copy.welcome = msg->welcome;
	broker_output_sent(client[number]);
	return copy;
}

static inline int32_t
hear_refused(unsigned int number)
{
	int fds[ROCE_PROTO_FDS];
	unsigned int n;
	const struct roce_msg *msg = broker_output(client[number], fds, &n);
	int32_t error;

	assert_non_null(msg);
	assert_int_equal(msg->type, ROCE_MSG_REFUSED);
	error = msg->refused.error;
	broker_output_sent(client[number]);
	return error;
}

static inline void
attach(unsigned int number, bool is_uplink)
{
	say_hello(number, is_uplink);
	assert_int_equal(hear(number), ROCE_MSG_WELCOME);
}

/* It gets a channel to each process at once. */
static inline void
attach_uplink(void)
{
	attach(ROCE_PROCESS_UPLINK, true);
	for (unsigned int i = A; i <= C; i++) {
		assert_int_equal(hear(ROCE_PROCESS_UPLINK), ROCE_MSG_CHANNEL);
		assert_int_equal(hear(i), ROCE_MSG_CHANNEL);
	}
}

static inline int
setup(void **state)
{
	const struct broker_host host = fake_host(&fake);

	fake_host_init(&fake);
	broker = broker_create(&host, 1);
	assert_non_null(broker);
	memset(client, 0, sizeof(client));
	for (unsigned int i = A; i <= C; i++)
		attach(i, false);
	return 0;
}

/* In the end no descriptor is left, and none was closed twice. */
static inline int
teardown(void **state)
{
	for (unsigned int i = 0; i < CLIENTS; i++) {
		if (client[i] != NULL)
			broker_disconnect(client[i]);
	}
	broker_destroy(broker);
	assert_int_equal(fake.open, 0);
	assert_false(fake.bad);
	return 0;
}

static inline void
say(unsigned int from, const struct frame_spec *spec)
{
	const struct roce_msg msg = frame_message(spec);

	broker_message(client[from], &msg, -1);
}

static inline void
listen_at(unsigned int number, uint64_t service_id)
{
	const struct roce_msg msg = { .type = ROCE_MSG_LISTEN, .service.service_id = service_id };

	broker_message(client[number], &msg, -1);
	assert_int_equal(hear(number), ROCE_MSG_LISTENED);
}

static inline void
assert_silence(void)
{
	for (unsigned int i = 0; i < CLIENTS; i++) {
		if (client[i] != NULL)
			assert_int_equal(hear(i), 0);
	}
}

static inline struct frame_spec
request(unsigned int from)
{
	return (struct frame_spec){
		.attr = ROCE_CM_ATTR_REQ,
		.local_id = frame_id(from, 5),
		.qpn = frame_qpn(from, 9),
		.tid = TID,
	};
}

static inline struct frame_spec
answer(uint16_t attr, unsigned int from, unsigned int to)
{
	return (struct frame_spec){
		.attr = attr,
		.local_id = frame_id(from, 6),
		.remote_id = frame_id(to, 5),
		.qpn = frame_qpn(from, 8),
		.tid = TID,
	};
}

static inline const struct broker_counters *
counters(void)
{
	return broker_counters(broker);
}

/* A has asked B, which listens, and both have their channel. */
static inline void
ask(void)
{
	const struct frame_spec spec = request(A);

	listen_at(B, FRAMES_SERVICE);
	say(A, &spec);
	assert_int_equal(hear(A), ROCE_MSG_CHANNEL);
	assert_int_equal(hear(B), ROCE_MSG_CHANNEL);
	assert_int_equal(hear(B), ROCE_MSG_FRAME);
	assert_silence();
}

#endif /* ROCED_TEST_BROKER_SCENE_H */
