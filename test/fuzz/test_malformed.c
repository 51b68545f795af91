/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Malformed frames at queue pairs that carry traffic: whatever arrives, what is not a frame of the peer changes
 * nothing, costs no message, and is counted by name.
 *
 * The world is that of fuzz_rx. Every frame that is given to it is judged there (rx_give): the counters that moved
 * are those that a second opinion on the frame expects, and a frame that must be ignored left every byte of every
 * queue pair as it was. A frame that would end a connection if its peer sent it is given from another address.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "talk.h"

#define MORE 5u /**< bytes beyond the longest that an opcode could mean */

static bool
is_well_formed(const struct rx_flat *flat)
{
	uint32_t first = flat->cut.first != 0 ? flat->cut.first : flat->len;
	struct oracle_frame frame;

	oracle_look(flat->bytes, flat->len, first, flat->stripped, &frame);
	return frame.faults == 0;
}

/* Make it a frame of another sender. */
static void
disguise(struct rx_flat *flat, const struct rx_end *to)
{
	const struct roce_template *t = &to->template;

	flat->bytes[t->l3_off + (t->v6 ? 23 : 15)] ^= 0x20;
	(void)oracle_seal(flat->bytes, flat->len);
}

/* Sum of the counters that name a reason to drop a frame. */
static uint64_t
dropped(const struct rx_side *side)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < side->engines; i++) {
		const struct roce_stats *s = roce_engine_stats(roce_domain_engine(side->domain, i));

		sum += s->rx_malformed_length + s->rx_malformed_opcode + s->rx_malformed_version +
				s->rx_malformed_pkey + s->rx_malformed_fragment +
				s->rx_icrc_encapsulated + s->rx_unknown_qp + s->rx_wrong_source +
				s->rx_wrong_state + s->rx_foreign;
	}
	return sum;
}

/* Give a frame that nobody may hear; it is dropped by name. */
static void
give_in_vain(struct rx_flat *flat, struct rx_end *to)
{
	uint64_t before = dropped(to->side);

	if (is_well_formed(flat))
		disguise(flat, to);
	rx_give(to->side, talk_beats, flat);
	assert_int_equal(dropped(to->side), before + 1);
}

static uint32_t
header_len(uint8_t opcode)
{
	uint8_t len = oracle_header_len(opcode);

	/* Of what nobody knows, as long as the longest that somebody does. */
	return len != 0 ? len : sizeof(struct roce_bth) + sizeof(struct roce_atomiceth);
}

/* ---- tests ---- */

static void
every_opcode_at_every_length(const uint8_t *config, uint32_t talks)
{
	static struct rx_flat flat;
	uint32_t n = 0;

	talk_begin(config);
	for (uint32_t opcode = 0; opcode < 256; opcode++) {
		uint32_t most = header_len((uint8_t)opcode) + 3 + TALK_ICRC + MORE;

		for (uint32_t bytes = 0; bytes <= most; bytes++) {
			for (uint32_t pad = 0; pad < 4; pad++, n++) {
				struct rx_end *to = &rx_world.side[0].end[n % talks];

				talk_frame(&flat, to, (uint8_t)opcode, pad, bytes);
				give_in_vain(&flat, to);
				if (n % 8 == 0)
					talk_beat();
			}
		}
	}
	talk_end();
}

/* Opcodes 0..255, from no byte behind the UDP header to some more than header, pad and TALK_ICRC, each pad count. */
static void
malformed__every_opcode_at_every_length(void **state)
{
	(void)state;
	/* All but the one that was never connected. */
	every_opcode_at_every_length(talk_one_engine, RX_TALKS - 1);
}

/* The same, when half of it comes to an engine that does not own the queue pair. */
static void
malformed__every_opcode_at_every_length_with_two_engines(void **state)
{
	(void)state;
	every_opcode_at_every_length(talk_two_engines, RX_REAL);
}

/** A frame that is right but for one thing. */
struct row {
	const char *name;
	uint8_t talk;
	uint8_t opcode;
	uint16_t payload;
	uint8_t patch[3]; /**< rx_patch(): the field, and two bytes of value */
	uint8_t first;    /**< bytes in the first segment; 0: all */
};

/* Fields of rx_patch(): odd ones lie below the BTH. */
#define BELOW(field) (1 + 2 * (field))
#define ABOVE(field) (2 * (field) + (22))

static const struct row rows[] = {
	/* clang-format off */
	{ "transport version 1",           0, 0x04, 8, { ABOVE(0), 0x01, 0 }, 0 },
	{ "transport version 15",          0, 0x04, 8, { ABOVE(0), 0x0f, 0 }, 0 },
	{ "another partition",             0, 0x04, 8, { ABOVE(1), 0x34, 0x12 }, 0 },
	{ "queue pair 0",                  0, 0x04, 8, { ABOVE(4), 0, 0 }, 0 },
	{ "queue pair 1, no datagram",     0, 0x04, 8, { ABOVE(4), 1, 0 }, 0 },
	{ "queue pair 0xffffff",           0, 0x04, 8, { ABOVE(4), 3, 0 }, 0 },
	{ "opcode 0xff",                   0, 0xff, 8, { 0 }, 0 },
	{ "opcode 0xff, 0xffffff, 48 B",   0, 0xff, 32, { ABOVE(4), 3, 0 }, 0 },
	{ "reserved opcode",               0, 0x15, 8, { 0 }, 0 },
	{ "notification to nobody",        0, 0x81, 0, { ABOVE(4), 3, 0 }, 0 },
	{ "notification to queue pair 1",  0, 0x81, 0, { ABOVE(4), 1, 0 }, 0 },
	{ "notification, not yet ready",   5, 0x81, 0, { 0 }, 0 },
	{ "unreliable connection",         0, 0x24, 8, { 0 }, 0 },
	{ "a datagram",                    0, 0x64, 8, { 0 }, 0 },
	{ "a datagram, not yet ready",     5, 0x64, 8, { 0 }, 0 },
	{ "truncated by one",              0, 0x04, 8, { ABOVE(6), 1, 0 }, 0 },
	{ "truncated to the BTH",          0, 0x04, 8, { ABOVE(6), 12, 0 }, 0 },
	{ "IP length too large",           0, 0x04, 8, { BELOW(5), 0xff, 0x0f }, 0 },
	{ "IP length 0",                   0, 0x04, 8, { BELOW(5), 0, 0 }, 0 },
	{ "UDP length too large",          0, 0x04, 8, { BELOW(10), 0xff, 0x0f }, 0 },
	{ "UDP length 0",                  0, 0x04, 8, { BELOW(10), 0, 0 }, 0 },
	{ "UDP length of the header",      0, 0x04, 8, { BELOW(10), 8, 0 }, 0 },
	{ "both lengths too large",        0, 0x04, 8, { BELOW(11), 4, 0 }, 0 },
	{ "another UDP port",              0, 0x04, 8, { BELOW(9), 3, 0x12 }, 0 },
	{ "first fragment",                0, 0x04, 8, { BELOW(6), 0x00, 0x20 }, 0 },
	{ "later fragment",                0, 0x04, 8, { BELOW(6), 0x10, 0x00 }, 0 },
	{ "IP options",                    0, 0x04, 8, { BELOW(3), 1, 0 }, 0 },
	{ "all the IP options there are",  0, 0x04, 8, { BELOW(3), 10, 0 }, 0 },
	{ "IP header of 16 bytes",         0, 0x04, 8, { BELOW(2), 0x44, 0 }, 0 },
	{ "IP version 5",                  0, 0x04, 8, { BELOW(2), 0x55, 0 }, 0 },
	{ "TCP",                           0, 0x04, 8, { BELOW(7), 6, 0 }, 0 },
	{ "IPv6 hop-by-hop options",       3, 0x04, 8, { BELOW(7), 0, 0 }, 0 },
	{ "IPv6 fragment header",          3, 0x04, 8, { BELOW(7), 44, 0 }, 0 },
	{ "IPv6 length too large",         3, 0x04, 8, { BELOW(5), 0xff, 0x0f }, 0 },
	{ "ethertype of ARP",              0, 0x04, 8, { BELOW(0), 0x06, 0x08 }, 0 },
	{ "a service tag",                 0, 0x04, 8, { BELOW(0), 0xa8, 0x88 }, 0 },
	{ "IPv4 that says it is IPv6",     0, 0x04, 8, { BELOW(0), 0xdd, 0x86 }, 0 },
	{ "two tags",                      0, 0x04, 8, { BELOW(1), 0x05, 0x80 }, 0 },
	{ "headers in two segments",       0, 0x04, 8, { 0 }, 50 },
	{ "a segment of one byte",         0, 0x04, 8, { 0 }, 1 },
	{ "RETH in the second segment",    0, 0x0a, 8, { 0 }, 60 },
	{ "AETH in the second segment",    0, 0x11, 0, { 0 }, 54 },
	{ "key in the second segment",     0, 0x17, 8, { 0 }, 55 },
	/* From another address: */
	{ "a SEND",                        0, 0x04, 8, { 0 }, 0 },
	{ "a WRITE",                       0, 0x0a, 8, { 0 }, 0 },
	{ "a READ",                        0, 0x0c, 0, { 0 }, 0 },
	{ "an atomic",                     0, 0x13, 0, { 0 }, 0 },
	{ "an acknowledgement",            0, 0x11, 0, { 0 }, 0 },
	{ "an answer to a READ",           0, 0x10, 8, { 0 }, 0 },
	{ "SEND with invalidate",          0, 0x17, 8, { 0 }, 0 },
	{ "a notification",                0, 0x81, 0, { 0 }, 0 },
	{ "first of a message, short",     0, 0x00, 8, { 0 }, 0 },
	{ "middle of no message",          0, 0x01, 256, { 0 }, 0 },
	{ "last without a byte",           0, 0x02, 0, { 0 }, 0 },
	{ "longer than the MTU",           0, 0x04, 260, { 0 }, 0 },
	/* clang-format on */
};

static void
malformed__one_thing_wrong_is_enough(void **state)
{
	static struct rx_flat flat;

	(void)state;
	talk_begin(talk_two_engines);
	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		const struct row *row = &rows[i];
		struct rx_end *to = &rx_world.side[0].end[row->talk];

		print_message("%s\n", row->name);
		talk_frame(&flat, to, row->opcode, 0,
				(oracle_header_len(row->opcode) != 0
								? oracle_header_len(row->opcode)
								: 12u) +
						row->payload + TALK_ICRC);
		rx_patch(&flat, row->patch);
		(void)oracle_seal(flat.bytes, flat.len);
		flat.cut.first = row->first;
		give_in_vain(&flat, to);
		talk_beat();
	}
	talk_end();
}

/* A device without a wire delivers frames of zeros, of any length, down to an empty one. */
static void
malformed__zeros_are_foreign(void **state)
{
	static struct rx_flat flat;

	(void)state;
	talk_begin(talk_one_engine);
	for (uint32_t len = 0; len < 200; len++) {
		flat = (struct rx_flat){ .len = len };
		give_in_vain(&flat, &rx_world.side[0].end[0]);
		talk_beat();
	}
	talk_end();
}

/* Each bit of each frame of a conversation, turned over on the way: what the TALK_ICRC covers is not believed. */
static void
malformed__no_bit_can_be_turned_over(void **state)
{
	static struct rx_flat flat;
	uint32_t frames = 0, believed = 0, turned = 0;

	(void)state;
	talk_begin(talk_one_engine);
	for (; frames < 40; talk_beat()) {
		if (rx_world.flights == 0 || rx_world.flight[0].to != 0)
			continue;
		frames++;
		for (uint32_t bit = 0; bit < rx_world.flight[0].len * 8; bit++, turned++) {
			struct oracle_frame frame;

			flat = rx_world.flight[0];
			flat.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			oracle_look(flat.bytes, flat.len, flat.len, false, &frame);
			/* Addresses of stations, and what a router may change: it is the same frame. */
			if (frame.faults == 0 && frame.icrc_ok)
				believed++;
			else
				rx_give(&rx_world.side[0], 0, &flat);
		}
	}
	/* 12 bytes of MAC addresses, then TOS, TTL and checksum, UDP checksum, reserved byte of the BTH; of IPv6 a few
	 * bits more. */
	assert_true(believed <= frames * 8 * (12 + 1 + 1 + 2 + 2 + 1 + 2));
	assert_true(turned > 40 * 8 * 60);
	talk_end();
}

/* ---- what a peer may do to a frame without breaking it ---- */

static const struct {
	const char *name;
	uint8_t patch[3];
	uint8_t first;
	uint8_t second;
} harmless[] = {
	/* clang-format off */
	{ "bytes behind the datagram",      { ABOVE(7), 17, 0 }, 0, 0 },
	{ "a tag",                          { BELOW(1), 7, 0 }, 0, 0 },
	{ "another type of service",        { BELOW(4), 0x68, 0 }, 0, 0 },
	{ "a UDP checksum that is wrong",   { BELOW(12), 0x34, 0x12 }, 0, 0 },
	{ "a mark of congestion",           { BELOW(4), 0x33, 0 }, 0, 0 },
	{ "a group address of a station",   { BELOW(13), 0, 1 }, 0, 0 },
	{ "the reserved byte of the BTH",   { ABOVE(2), 0x3f, 0 }, 0, 0 },
	{ "payload in a second segment",    { 0 }, 110, 0 },
	{ "payload in many segments",       { 0 }, 110, 3 },
	/* clang-format on */
};

static void
disturb_flights(const uint8_t *patch, uint8_t first, uint8_t second)
{
	for (uint32_t i = 0; i < rx_world.flights; i++) {
		struct rx_flat *flat = &rx_world.flight[i];

		rx_patch(flat, patch);
		if (flat->len > first)
			flat->cut = (struct base_cut){ .first = first, .second = second };
	}
}

static void
wellformed__arrives_however_it_is_wrapped(void **state)
{
	(void)state;
	for (size_t i = 0; i < RTE_DIM(harmless); i++) {
		print_message("%s\n", harmless[i].name);
		talk_begin(talk_two_engines);
		for (unsigned int n = 0; n < 100; n++) {
			talk_beat();
			disturb_flights(harmless[i].patch, harmless[i].first, harmless[i].second);
			rx_deliver_all();
		}
		talk_end();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed__every_opcode_at_every_length),
		cmocka_unit_test(malformed__every_opcode_at_every_length_with_two_engines),
		cmocka_unit_test(malformed__one_thing_wrong_is_enough),
		cmocka_unit_test(malformed__zeros_are_foreign),
		cmocka_unit_test(malformed__no_bit_can_be_turned_over),
		cmocka_unit_test(wellformed__arrives_however_it_is_wrapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
