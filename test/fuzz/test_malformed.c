/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Malformed frames at queue pairs that carry traffic: whatever arrives, what is not a frame of the peer changes
 * nothing, costs no message, and is counted by name.
 *
 * The world is that of fuzz_rx. Every frame that is given to it is judged there (rx_give): the counters that moved
 * are those that a second opinion on the frame expects, and a frame that must be ignored left every byte of every
 * queue pair as it was. What may end a connection, because the peer itself said it, is given from another address.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rx_world.h"

#define UDP_LEN 8u
#define ICRC    4u
#define MORE    5u /**< bytes beyond the longest that an opcode could mean */

/* ---- a world that talks ---- */

/** Two engines, MTU 256, PSNs that will wrap, a shared queue of 32. */
static const uint8_t two_engines[BASE_RECORD] = { BASE_MAGIC, 0, 1, 31, 0, 3, 7, 7, 12, 11, 0, 1 };
static const uint8_t one_engine[BASE_RECORD] = { BASE_MAGIC, 0, 1, 31, 0, 3, 7, 7, 12, 11, 0, 0 };

static uint32_t beats;

/* Some messages of every kind on each real talk, in both directions. */
static void
post_some(void)
{
	for (uint8_t talk = 0; talk < RX_REAL; talk++) {
		uint8_t r[BASE_RECORD] = { 0 };

		r[2] = (uint8_t)((beats + talk) % 7);
		r[3] = ROCE_WR_SIGNALED;
		r[4] = (uint8_t)(beats * 83);
		r[5] = (uint8_t)(beats & 3);
		r[6] = (uint8_t)(beats * 29);
		r[9] = (uint8_t)beats;
		rx_post_message(&rx_world.side[beats & 1].end[talk], r);
	}
}

/* The conversation goes on a little: there is always something under way. */
static void
beat(void)
{
	beats++;
	if (beats % 3 == 0)
		post_some();
	(void)rx_serve();
	(void)rx_speak(&rx_world.side[beats & 1], 4);
	for (uint32_t n = rx_world.flights; n > 2; n--)
		rx_deliver(0, beats, false);
	rx_world.now += 1000;
	rx_check(&rx_world.side[0]);
	rx_check(&rx_world.side[1]);
}

static void
begin(const uint8_t *config)
{
	rx_open(config);
	for (unsigned int i = 0; i < 16; i++)
		beat();
}

/* Not one connection was harmed, and not one message is missing. */
static void
end(void)
{
	for (unsigned int talk = 0; talk < RX_REAL; talk++) {
		assert_true(rx_is_sound(&rx_world.side[0].end[talk]));
		assert_true(rx_world.side[0].end[talk].posted > 4);
		assert_int_equal(roce_qp_state(rx_world.side[0].end[talk].qp), ROCE_QP_RTS);
	}
	rx_dismiss();
	rx_settle();
	for (unsigned int talk = 0; talk < RX_REAL; talk++)
		assert_true(rx_all_done(&rx_world.side[0].end[talk]));
	rx_close();
}

/* ---- frames ---- */

static void
set16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* A frame to A with so many bytes from the BTH to the ICRC, whatever they mean; the lengths in its headers agree. */
static void
make(struct rx_flat *flat, const struct rx_end *to, uint8_t opcode, uint32_t pad, uint32_t bytes)
{
	const struct roce_template *t = &to->template;
	uint8_t *bth = flat->bytes + t->bth_off;
	uint32_t l4 = UDP_LEN + bytes;

	*flat = (struct rx_flat){ .to = to->side->index, .talk = to->talk };
	memcpy(flat->bytes, t->bytes, t->bth_off + sizeof(struct roce_bth));
	memset(bth + sizeof(struct roce_bth), 0x11, bytes);
	flat->len = t->bth_off + bytes;
	if (t->v6)
		set16(flat->bytes + t->l3_off + 4, l4);
	else
		set16(flat->bytes + t->l3_off + 2, l4 + 20);
	set16(flat->bytes + t->udp_off + 4, l4);
	bth[0] = opcode;
	bth[1] = (uint8_t)(pad << ROCE_BTH_PAD_SHIFT);
	/* What it would do it would do next. */
	bth[9] = (uint8_t)(to->qp->rx.epsn >> 16);
	set16(bth + 10, to->qp->rx.epsn);
	(void)oracle_seal(flat->bytes, flat->len);
}

static bool
is_well_formed(const struct rx_flat *flat)
{
	uint32_t first = flat->cut.first != 0 ? flat->cut.first : flat->len;
	struct oracle_frame frame;

	oracle_look(flat->bytes, flat->len, first, flat->stripped, &frame);
	return frame.faults == 0;
}

/* The same from somebody else. */
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
				s->rx_icrc_errors + s->rx_unknown_qp + s->rx_wrong_source +
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
	rx_give(to->side, beats, flat);
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

	begin(config);
	for (uint32_t opcode = 0; opcode < 256; opcode++) {
		uint32_t most = header_len((uint8_t)opcode) + 3 + ICRC + MORE;

		for (uint32_t bytes = 0; bytes <= most; bytes++) {
			for (uint32_t pad = 0; pad < 4; pad++, n++) {
				struct rx_end *to = &rx_world.side[0].end[n % talks];

				make(&flat, to, (uint8_t)opcode, pad, bytes);
				give_in_vain(&flat, to);
				if (n % 8 == 0)
					beat();
			}
		}
	}
	end();
}

/* Opcodes 0..255, from no byte behind the UDP header to some more than header, pad and ICRC, each pad count. */
static void
malformed__every_opcode_at_every_length(void **state)
{
	(void)state;
	/* All but the one that was never connected. */
	every_opcode_at_every_length(one_engine, RX_TALKS - 1);
}

/* The same, when half of it comes to an engine that does not own the queue pair. */
static void
malformed__every_opcode_at_every_length_with_two_engines(void **state)
{
	(void)state;
	every_opcode_at_every_length(two_engines, RX_REAL);
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
	{ "IPv4 that says it is IPv6",     0, 0x04, 8, { BELOW(0), 0xdd, 0x86 }, 0 },
	{ "two tags",                      0, 0x04, 8, { BELOW(1), 0x05, 0x80 }, 0 },
	{ "headers in two segments",       0, 0x04, 8, { 0 }, 50 },
	{ "a segment of one byte",         0, 0x04, 8, { 0 }, 1 },
	{ "RETH in the second segment",    0, 0x0a, 8, { 0 }, 60 },
	/* From another address: */
	{ "a SEND",                        0, 0x04, 8, { 0 }, 0 },
	{ "a WRITE",                       0, 0x0a, 8, { 0 }, 0 },
	{ "a READ",                        0, 0x0c, 0, { 0 }, 0 },
	{ "an atomic",                     0, 0x13, 0, { 0 }, 0 },
	{ "an acknowledgement",            0, 0x11, 0, { 0 }, 0 },
	{ "an answer to a READ",           0, 0x10, 8, { 0 }, 0 },
	{ "SEND with invalidate",          0, 0x17, 8, { 0 }, 0 },
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
	begin(two_engines);
	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		const struct row *row = &rows[i];
		struct rx_end *to = &rx_world.side[0].end[row->talk];

		print_message("%s\n", row->name);
		make(&flat, to, row->opcode, 0,
				(oracle_header_len(row->opcode) != 0
								? oracle_header_len(row->opcode)
								: 12u) +
						row->payload + ICRC);
		rx_patch(&flat, row->patch);
		(void)oracle_seal(flat.bytes, flat.len);
		flat.cut.first = row->first;
		give_in_vain(&flat, to);
		beat();
	}
	end();
}

/* What a device without a wire delivers: frames of zeros, of any length, and no frame at all. */
static void
malformed__zeros_are_foreign(void **state)
{
	static struct rx_flat flat;

	(void)state;
	begin(one_engine);
	for (uint32_t len = 0; len < 200; len++) {
		flat = (struct rx_flat){ .len = len };
		give_in_vain(&flat, &rx_world.side[0].end[0]);
		beat();
	}
	end();
}

/* Each bit of each frame of a conversation, turned over on the way: what the ICRC covers is not believed. */
static void
malformed__no_bit_can_be_turned_over(void **state)
{
	static struct rx_flat flat;
	uint32_t frames = 0, believed = 0, turned = 0;

	(void)state;
	begin(one_engine);
	for (; frames < 40; beat()) {
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
	end();
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
		begin(two_engines);
		for (unsigned int n = 0; n < 100; n++) {
			beat();
			disturb_flights(harmless[i].patch, harmless[i].first, harmless[i].second);
			rx_deliver_all();
		}
		end();
	}
}

/* ---- what the peer itself may say ---- */

/* An acknowledgement of what was never sent or is long done, an answer to what nobody asked: counted, and nothing. */
static void
ghosts__change_nothing(void **state)
{
	static const uint8_t opcodes[] = { 0x11, 0x10, 0x0d, 0x0e, 0x0f, 0x12 };
	static struct rx_flat flat;
	static struct rx_shadow shadow;

	(void)state;
	begin(one_engine);
	for (unsigned int syndrome = 0; syndrome < 256; syndrome++) {
		for (size_t i = 0; i < RTE_DIM(opcodes); i++) {
			struct rx_end *to = &rx_world.side[0].end[4];
			uint32_t len = oracle_header_len(opcodes[i]);
			uint8_t *bth;

			/* Talk 4 sent nothing: any PSN is one that it never sent. */
			make(&flat, to, opcodes[i], 0, len + (opcodes[i] == 0x0e ? 256 : 0) + ICRC);
			bth = flat.bytes + to->template.bth_off;
			set16(bth + 10, to->qp->tx.una + syndrome);
			bth[9] = (uint8_t)((to->qp->tx.una + syndrome) >> 16);
			bth[12] = (uint8_t)syndrome;
			(void)oracle_seal(flat.bytes, flat.len);
			rx_shadow_take(to->side, &shadow);
			rx_give(to->side, 0, &flat);
			rx_shadow_judge(to->side, &shadow);
		}
		beat();
	}
	end();
}

/* An answer to a READ that has not the length, or the place in the answer, that is left to come: it is no answer. */
static void
answers__that_do_not_fit_change_nothing(void **state)
{
	static const uint8_t opcodes[] = { 0x0d, 0x0e, 0x0f, 0x10, 0x12 };
	static struct rx_shadow shadow;
	static struct rx_flat flat;
	/* 576 bytes: three frames. */
	const uint8_t read[BASE_RECORD] = { [2] = 4, [3] = ROCE_WR_SIGNALED, [4] = 0x40, [5] = 2 };

	(void)state;
	begin(one_engine);
	rx_post_message(&rx_world.side[0].end[4], read);
	(void)rx_speak(&rx_world.side[0], 32);
	for (uint32_t payload = 0; payload <= 260; payload += 4) {
		for (size_t i = 0; i < RTE_DIM(opcodes); i++) {
			struct rx_end *to = &rx_world.side[0].end[4];
			uint8_t *bth;

			/* First or middle, of one MTU: that would be right. */
			if ((i < 2 && payload == 256) || (i == 4 && payload > 0))
				continue;
			make(&flat, to, opcodes[i], 0,
					oracle_header_len(opcodes[i]) + payload + ICRC);
			bth = flat.bytes + to->template.bth_off;
			bth[9] = (uint8_t)(to->qp->tx.una >> 16);
			set16(bth + 10, to->qp->tx.una);
			(void)oracle_seal(flat.bytes, flat.len);
			rx_shadow_take(to->side, &shadow);
			rx_give(to->side, 0, &flat);
			rx_shadow_judge(to->side, &shadow);
		}
	}
	assert_int_equal(rx_world.side[0].end[4].qp->tx.reads, 1);
	for (unsigned int i = 0; i < 16; i++)
		beat();
	end();
}

/** A request that ends a connection, because its peer broke the protocol or has not the right. */
struct offence {
	const char *name;
	uint8_t before; /**< opcode of a frame that is right, of one MTU, and goes before; 0xff: none */
	uint8_t opcode;
	uint16_t payload;
	uint64_t va; /**< of the RETH or AtomicETH; 0: the beginning of RX_WRITE */
	uint32_t length;
	uint8_t region; /**< whose key it names */
	uint8_t nak;
};

#define NONE 0xff

static const struct offence offences[] = {
	/* clang-format off */
	{ "first after first",          0x00, 0x00, 256, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "only after first",           0x00, 0x04, 8, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "WRITE in a SEND",            0x00, 0x0a, 8, 0, 8, RX_WRITE, ROCE_NAK_INVALID_REQUEST },
	{ "READ in a SEND",             0x00, 0x0c, 0, 0, 8, RX_READ, ROCE_NAK_INVALID_REQUEST },
	{ "atomic in a SEND",           0x00, 0x13, 0, 0, 0, RX_ATOMIC, ROCE_NAK_INVALID_REQUEST },
	{ "last of a WRITE in a SEND",  0x00, 0x08, 8, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "middle too short",           0x00, 0x01, 252, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "last of no byte",            0x00, 0x02, 0, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "middle of nothing",          NONE, 0x01, 256, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "last of nothing",            NONE, 0x02, 8, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "first too short",            NONE, 0x00, 252, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "longer than the MTU",        NONE, 0x04, 260, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "less than announced",        NONE, 0x0a, 8, 0, 16, RX_WRITE, ROCE_NAK_INVALID_REQUEST },
	{ "more than announced",        NONE, 0x0a, 8, 0, 4, RX_WRITE, ROCE_NAK_INVALID_REQUEST },
	{ "more than 2^31",             NONE, 0x06, 256, 0, UINT32_MAX, RX_WRITE, ROCE_NAK_INVALID_REQUEST },
	{ "READ of more than 2^31",     NONE, 0x0c, 0, 0, UINT32_MAX, RX_READ, ROCE_NAK_INVALID_REQUEST },
	{ "misaligned atomic",          NONE, 0x14, 0, 4, 0, RX_ATOMIC, ROCE_NAK_INVALID_REQUEST },
	{ "at the end of all",          NONE, 0x0a, 8, 0xfffffffffffffc00, 8, RX_WRITE, ROCE_NAK_REMOTE_ACCESS },
	{ "beyond the end of all",      NONE, 0x06, 256, 0xfffffffffffffc00, 0x400, RX_WRITE, ROCE_NAK_REMOTE_ACCESS },
	{ "READ beyond the end of all", NONE, 0x0c, 0, 0xfffffffffffffc00, 0x400, RX_READ, ROCE_NAK_REMOTE_ACCESS },
	{ "READ of half the PSNs",      NONE, 0x0c, 0, 0, 1u << 31, RX_READ, ROCE_NAK_INVALID_REQUEST },
	{ "READ of 2^30",               NONE, 0x0c, 0, 0, 1u << 30, RX_READ, ROCE_NAK_REMOTE_ACCESS },
	{ "WRITE to what may be read",  NONE, 0x0a, 8, 0, 8, RX_READ, ROCE_NAK_REMOTE_ACCESS },
	{ "WRITE to what may be sent",  NONE, 0x0a, 8, 0, 8, RX_SEND, ROCE_NAK_REMOTE_ACCESS },
	{ "WRITE to another domain",    NONE, 0x0a, 8, 0, 8, RX_OTHER, ROCE_NAK_REMOTE_ACCESS },
	{ "WRITE to what is gone",      NONE, 0x0a, 8, 0, 8, RX_DEAD, ROCE_NAK_REMOTE_ACCESS },
	{ "READ of what may be written", NONE, 0x0c, 0, 0, 8, RX_WRITE, ROCE_NAK_REMOTE_ACCESS },
	{ "atomic on what may be written", NONE, 0x14, 0, 0, 0, RX_WRITE, ROCE_NAK_REMOTE_ACCESS },
	{ "WRITE that begins inside",   NONE, 0x06, 256, 0, RX_PATTERN + 1, RX_WRITE, ROCE_NAK_REMOTE_ACCESS },
	{ "WRITE to receives",          NONE, 0x0a, 8, 0, 8, RX_RECV, ROCE_NAK_REMOTE_ACCESS },
	/* clang-format on */
};

static void
offend(struct rx_end *to, const struct offence *o, struct rx_flat *flat)
{
	const struct roce_template *t = &to->template;
	const struct roce_reth reth = {
		.va = rte_cpu_to_be_64(
				o->va > 7 ? o->va
					  : (uintptr_t)rx_region_at(to->side, o->region) + o->va),
		.rkey = rte_cpu_to_be_32(to->side->key[o->region]),
		.length = rte_cpu_to_be_32(o->length),
	};
	uint32_t pad = -(uint32_t)o->payload & 3;

	make(flat, to, o->opcode, pad, oracle_header_len(o->opcode) + o->payload + pad + ICRC);
	/* The AtomicETH begins alike. */
	if (roce_opcode[o->opcode].flags & (ROCE_OP_RETH | ROCE_OP_ATOMIC))
		memcpy(flat->bytes + t->bth_off + sizeof(struct roce_bth), &reth,
				roce_opcode[o->opcode].flags & ROCE_OP_RETH ? sizeof(reth) : 12);
	(void)oracle_seal(flat->bytes, flat->len);
}

static void
believed__ends_the_connection_and_touches_nothing(void **state)
{
	static struct rx_shadow before, after;
	static struct rx_flat flat;

	(void)state;
	begin(one_engine);
	for (size_t i = 0; i < RTE_DIM(offences); i++) {
		const struct offence *o = &offences[i];
		struct rx_end *to = &rx_world.side[0].end[4];

		print_message("%s\n", o->name);
		roce_engine_lock(roce_qp_engine(to->qp));
		roce_qp_to_reset(to->qp);
		roce_engine_unlock(roce_qp_engine(to->qp));
		rx_end_connect(to, true);
		(void)rx_serve();
		if (o->before != NONE) {
			make(&flat, to, o->before, 0, 12 + 256 + ICRC);
			rx_give(to->side, 0, &flat);
		}
		offend(to, o, &flat);
		rx_shadow_take(to->side, &before);
		rx_give(to->side, 0, &flat);
		rx_shadow_take(to->side, &after);
		assert_int_equal(roce_qp_state(to->qp), ROCE_QP_ERR);
		assert_int_equal(before.memory, after.memory);
		to->said = 0;
		(void)rx_speak(to->side, 32);
		assert_int_equal(to->said, IBV_OPCODE_RC_ACKNOWLEDGE);
		assert_int_equal(to->syndrome, ROCE_AETH_NAK | o->nak);
		/* The others go on. */
		beat();
	}
	end();
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
		cmocka_unit_test(ghosts__change_nothing),
		cmocka_unit_test(answers__that_do_not_fit_change_nothing),
		cmocka_unit_test(believed__ends_the_connection_and_touches_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
