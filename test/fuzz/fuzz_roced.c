/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The broker of roced and hostile processes: a script of what up to 16 clients say, each record of base.h one step.
 */
#include <string.h>

#include "base.h"
#include "roced/frames.h"
#include "roced_world.h"

#define REPEAT_MAX 5000u /* beyond what may wait for a client */

static struct world world;

/* Two bytes as a number of a process, most of them such that there is one. */
static uint32_t
number_at(const uint8_t *at)
{
	return at[1] < 0x80 ? at[0] % 24u : base_u16(at) % 1100u;
}

static const uint8_t *
address_at(uint8_t byte)
{
	static const uint8_t ip[][16] = {
		{ [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 },
		{ [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 2 },
		{ [10] = 0xff, [11] = 0xff, [12] = 192, [14] = 2, [15] = 7 },
		{ [10] = 0xff, [11] = 0xff, [12] = 192, [14] = 2, [15] = 99 },
		{ 0x20, 0x01, 0x0d, 0xb8, [15] = 7 },
		{ 0x20, 0x01, 0x0d, 0xb8, [15] = 99 },
	};

	return ip[byte % RTE_DIM(ip)];
}

static unsigned int
slot_of(const uint8_t *r)
{
	unsigned int slot = r[1] % WORLD_SLOTS;

	world_connect(&world, slot);
	return slot;
}

/* ---- steps ---- */

static void
step_disconnect(const uint8_t *r)
{
	world_disconnect(&world, r[1] % WORLD_SLOTS);
}

static void
step_hello(const uint8_t *r)
{
	struct roce_msg msg = {
		.type = ROCE_MSG_HELLO,
		.hello = {
			.version = ROCE_PROTO_VERSION + (r[4] % 16 == 15),
			.number = number_at(r + 2),
			.uplink = r[4] >> 4 == 1,
			.identity = { .mac = { 2, r[5] }, .mtu = 1500, .addrs = r[6] % 18u },
		},
	};

	for (unsigned int i = 0; i < ROCE_PROTO_ADDRS; i++) {
		memcpy(msg.hello.identity.addr[i].ip,
				address_at((uint8_t)(2 + 2 * (i & 1) + (r[7] >> 7))), 16);
		msg.hello.identity.addr[i].prefix = r[7] % 40u;
	}
	memset(msg.hello.name, r[8], sizeof(msg.hello.name));
	world.host.bells_are_bad = r[9] == 0xff;
	world_say(&world, slot_of(r), &msg, fake_fd(&world.host));
}

static void
step_attach(const uint8_t *r)
{
	const struct roce_msg msg = { .type = ROCE_MSG_HELLO,
		.hello = { .version = ROCE_PROTO_VERSION, .number = r[2] % 24u } };

	world.host.bells_are_bad = false;
	world_say(&world, slot_of(r), &msg, fake_fd(&world.host));
}

static void
step_service(const uint8_t *r)
{
	unsigned int n = 1 + (r[4] == 0xff ? base_u16(r + 5) % REPEAT_MAX : r[4] % 4u);
	struct roce_msg msg = {
		.type = r[2] % 3 == 0 ? ROCE_MSG_UNLISTEN : ROCE_MSG_LISTEN,
		.service.service_id = r[3],
	};

	for (unsigned int i = 0; i < n; i++) {
		world_say(&world, slot_of(r), &msg, -1);
		msg.service.service_id += r[7] % 3u;
	}
}

static void
step_peer(const uint8_t *r)
{
	unsigned int n = 1 + (r[5] == 0xff ? base_u16(r + 6) % REPEAT_MAX : 0);
	const struct roce_msg msg = {
		.type = r[2] % 4 == 0 ? ROCE_MSG_HAVE : ROCE_MSG_OPEN,
		.peer.number = number_at(r + 3),
	};

	for (unsigned int i = 0; i < n; i++)
		world_say(&world, slot_of(r), &msg, -1);
}

/* The number of the sender itself, unless the byte says another one. */
static uint32_t
own_number(unsigned int slot, uint8_t byte)
{
	return byte < 0xe0 ? world.slot[slot].number : byte & 0x1fu;
}

static void
step_frame(const uint8_t *r)
{
	unsigned int slot = slot_of(r);
	unsigned int n = 1 + (r[15] >= 0xf0 ? 100u : 0);
	const struct frame_spec spec = {
		.src = address_at(r[9]),
		.dst = address_at(r[10] < 0xc0 ? r[9] : r[10]),
		.attr = (uint16_t)(ROCE_CM_ATTR_REQ + r[2] % 8u),
		.local_id = r[3] == 0xff ? 0 : frame_id(own_number(slot, r[3]), r[4] % 4u),
		.remote_id = r[5] == 0xff ? 0 : frame_id(r[5] % 24u, r[6] % 4u),
		.qpn = frame_qpn(own_number(slot, r[7]), 7),
		.tid = r[11],
		.service_id = 1u + r[8] % 8u,
	};
	struct roce_msg msg = frame_message(&spec);

	if (r[12] != 0)
		msg.frame.data[base_u16(r + 12) % msg.frame.len] = r[14];
	if (r[15] % 16 == 15)
		msg.frame.len = base_u16(r + 12) % (ROCE_PROTO_FRAME_MAX + 1);
	for (unsigned int i = 0; i < n && world.slot[slot].client != NULL; i++)
		world_say(&world, slot, &msg, -1);
}

static void
step_read(const uint8_t *r)
{
	unsigned int slot = slot_of(r);

	world.slot[slot].lets_wait = r[2] & 1;
	world_read(&world, slot, base_u16(r + 3));
}

static void
step_lock(const uint8_t *r)
{
	uint32_t number = number_at(r + 2);

	if (number < ROCE_PROCESSES)
		world.host.locked[number] = r[4] & 1;
	if (r[4] & 2)
		world.host.note[number % (ROCE_PROCESSES + 1)] = r[5];
	if (r[4] & 4)
		world_tick(&world);
	/* From here on ordinary HELLOs wait for that of an uplink. */
	if (r[4] & 8)
		broker_expect_uplink(world.broker);
}

static void
step_fail(const uint8_t *r)
{
	world.host.fail = r[1] % 8u;
}

static void
step_bytes(const uint8_t *r)
{
	uint8_t bytes[2 * sizeof(struct roce_msg)];
	size_t len = r[2] < 0x80 ? base_u16(r + 3) % sizeof(bytes)
				 : roce_msg_len(r[5] % ROCE_MSG_TYPES, r[6] % 128u);
	uint32_t type = r[5] < 0xf0 ? r[5] % ROCE_MSG_TYPES : base_u24(r + 5);

	memset(bytes, r[7], sizeof(bytes));
	memcpy(bytes, &type, sizeof(type));
	memcpy(bytes + 8, r + 8, 8);
	world_say_bytes(&world, slot_of(r), bytes, len == 0 ? 1 : len);
}

static void
step_status(const uint8_t *r)
{
	const struct roce_msg msg = { .type = ROCE_MSG_STATUS, .status.json = r[2] & 1 };

	world_say(&world, slot_of(r), &msg, -1);
}

static const base_step steps[] = {
	step_attach,
	step_attach,
	step_attach,
	step_disconnect,
	step_hello,
	step_hello,
	step_lock,
	step_service,
	step_service,
	step_peer,
	step_peer,
	step_frame,
	step_frame,
	step_frame,
	step_read,
	step_bytes,
	step_status,
	step_fail,
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct base_script script;

	if (!base_script_open(&script, data, size))
		return 0;
	world_begin(&world);
	for (uint32_t i = 1; i < script.records; i++) {
		const uint8_t *r = base_script_record(&script, i);

		steps[r[0] % RTE_DIM(steps)](r);
	}
	world_end(&world);
	return 0;
}
