/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "oracle.h"

#define ETH      14u
#define TAG      4u
#define IPV4     20u
#define IPV6     40u
#define UDP      8u
#define BTH      12u
#define ICRC     4u
#define PORT     4791u
#define RC_FIRST 0x00
#define RC_LAST  0x17

/* Bytes behind the BTH of each RC opcode, from 0x00 on; 0xff: not served (IBTA Vol 1, 9.2.1 and 9.3). */
static const uint8_t extension[RC_LAST + 1] = {
	/* clang-format off */
	0, 0, 0, 4, 0, 4,    /* SEND: first, middle, last, last with immediate, only, only with immediate */
	16, 0, 0, 4, 16, 20, /* WRITE: the same */
	16,                  /* READ request */
	4, 0, 4, 4,          /* READ response: first, middle, last, only */
	4, 12, 28, 28,       /* acknowledge, of an atomic; compare and swap, fetch and add */
	0xff, 4, 4,          /* reserved; SEND with invalidate: last, only */
	/* clang-format on */
};

#define UD_SEND     0x64
#define UD_SEND_IMM 0x65
#define CNP         0x81
#define SACK        0xc1
#define PIGGYBACK   0xe0

/* A whole SEND or WRITE that carries an acknowledgement: 0xe0 and the opcode that it has without. */
static bool
is_piggyback(uint8_t opcode)
{
	return opcode == 0xe4 || opcode == 0xe5 || opcode == 0xea || opcode == 0xeb ||
			opcode == 0xf7;
}

uint8_t
oracle_header_len(uint8_t opcode)
{
	if (is_piggyback(opcode))
		return (uint8_t)(BTH + 8 + extension[opcode - PIGGYBACK]);
	if (opcode == UD_SEND)
		return BTH + 8;
	if (opcode == UD_SEND_IMM)
		return BTH + 12;
	if (opcode == CNP || opcode == SACK)
		return BTH + 16;
	if (opcode > RC_LAST || extension[opcode] == 0xff)
		return 0;
	return (uint8_t)(BTH + extension[opcode]);
}

bool
oracle_has_payload(uint8_t opcode)
{
	/* Everything but READ requests, acknowledgements of both kinds, atomics and notifications. */
	return oracle_header_len(opcode) != 0 && opcode != 0x0c && opcode != CNP &&
			opcode != SACK && !(opcode >= 0x11 && opcode <= 0x14);
}

static uint32_t
be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t
be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | be16(p + 1);
}

/* One bit at a time would do, too; a table of half bytes is quick enough. */
static uint32_t
crc_byte(uint32_t crc, uint8_t byte)
{
	static const uint32_t half[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8,
		0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };

	crc ^= byte;
	crc = crc >> 4 ^ half[crc & 15];
	return crc >> 4 ^ half[crc & 15];
}

/* Bytes that a router may change count as ones (IBTA Vol 1, annex A17). @p at: from the IP header. */
static bool
is_masked(uint32_t at, bool v6)
{
	uint32_t udp = v6 ? IPV6 : IPV4;

	if (at == udp + 6 || at == udp + 7 || at == udp + UDP + 4)
		return true;
	if (v6)
		return (at >= 1 && at <= 3) || at == 7;
	return at == 1 || at == 8 || at == 10 || at == 11;
}

/* From the IP header up to @p end, which is the ICRC's first byte. */
static uint32_t
icrc_of(const uint8_t *l3, uint32_t len, bool v6)
{
	uint32_t crc = 0xffffffff;

	for (unsigned int i = 0; i < 8; i++)
		crc = crc_byte(crc, 0xff);
	for (uint32_t i = 0; i < len; i++) {
		uint8_t byte = is_masked(i, v6) ? 0xff : l3[i];

		/* The upper half of an IPv6 header's first byte is the version. */
		if (v6 && i == 0)
			byte |= 0x0f;
		crc = crc_byte(crc, byte);
	}
	return ~crc;
}

/* Ethernet and one tag: up to the IP header. @return false: there is none. */
static bool
look_at_link(const uint8_t *b, uint32_t len, bool stripped, struct oracle_frame *f)
{
	uint32_t type, at = ETH;

	if (len < at)
		return false;
	type = be16(b + 12);
	if (type == 0x8100) {
		if (stripped || len < at + TAG)
			return false;
		/* No adapter here is in a VLAN. */
		if ((be16(b + at) & 0xfff) != 0)
			return false;
		at += TAG;
		type = be16(b + at - 2);
	}
	f->l3_off = at;
	f->v6 = type == 0x86dd;
	return type == 0x0800 || type == 0x86dd;
}

/* Up to the UDP header. @return faults, of which FOREIGN ends the look. */
static uint32_t
look_below(const uint8_t *b, uint32_t len, bool stripped, struct oracle_frame *f)
{
	uint32_t at, header, faults = 0;

	if (!look_at_link(b, len, stripped, f))
		return ORACLE_FOREIGN;
	at = f->l3_off;
	if (len < at + (f->v6 ? IPV6 : IPV4) || b[at] >> 4 != (f->v6 ? 6 : 4))
		return ORACLE_FOREIGN;
	header = f->v6 ? IPV6 : (b[at] & 15u) * 4;
	if (b[at + (f->v6 ? 6 : 9)] != 17 || header < IPV4)
		return ORACLE_FOREIGN;
	/* A later fragment shows no port. */
	if (!f->v6 && (be16(b + at + 6) & 0x1fff) != 0)
		return ORACLE_FOREIGN;
	f->udp_off = at + header;
	if (len < f->udp_off + 4 || be16(b + f->udp_off + 2) != PORT)
		return ORACLE_FOREIGN;
	if (!f->v6 && (be16(b + at + 6) & 0x2000) != 0)
		faults |= ORACLE_FRAGMENT;
	if (!f->v6 && header != IPV4)
		faults |= ORACLE_FRAGMENT;
	return faults;
}

/* Does what the lengths say agree, and is it all there? */
static bool
lengths_agree(const uint8_t *b, uint32_t len, const struct oracle_frame *f)
{
	const uint8_t *l3 = b + f->l3_off;
	uint32_t udp_len;

	if (len < f->udp_off + UDP + BTH + ICRC)
		return false;
	udp_len = be16(b + f->udp_off + 4);
	if (f->v6 ? be16(l3 + 4) != udp_len : be16(l3 + 2) != udp_len + (l3[0] & 15u) * 4)
		return false;
	return udp_len >= UDP + BTH + ICRC && f->udp_off + udp_len <= len;
}

/* The BTH and what its opcode asks for. The lengths agree. */
static uint32_t
look_inside(const uint8_t *b, uint32_t first, struct oracle_frame *f)
{
	const uint8_t *bth = b + f->udp_off + UDP;
	uint32_t body = be16(b + f->udp_off + 4) - UDP - ICRC; /* with the BTH */
	uint32_t pad = bth[1] >> 4 & 3;
	uint32_t faults = 0;

	f->opcode = bth[0];
	f->header_len = oracle_header_len(bth[0]);
	if ((bth[1] & 15) != 0)
		faults |= ORACLE_VERSION;
	if ((be16(bth + 2) & 0x7fff) != 0x7fff)
		faults |= ORACLE_PKEY;
	if (f->header_len == 0)
		return faults | ORACLE_OPCODE;
	/* All headers lie in the first segment. */
	if (body < f->header_len || first < f->udp_off + UDP + f->header_len)
		return faults | ORACLE_LENGTH;
	body -= f->header_len;
	if (body % 4 != 0 || body < pad || (body != 0 && !oracle_has_payload(bth[0])))
		faults |= ORACLE_LENGTH;
	f->payload_off = f->udp_off + UDP + f->header_len;
	f->payload_len = body - pad;
	return faults;
}

static void
take_addresses(const uint8_t *l3, struct oracle_frame *f)
{
	static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

	if (f->v6) {
		memcpy(f->src.b, l3 + 8, 16);
		memcpy(f->dst.b, l3 + 24, 16);
		return;
	}
	memcpy(f->src.b, mapped, sizeof(mapped));
	memcpy(f->src.b + sizeof(mapped), l3 + 12, 4);
	memcpy(f->dst.b, mapped, sizeof(mapped));
	memcpy(f->dst.b + sizeof(mapped), l3 + 16, 4);
}

void
oracle_look(const uint8_t *bytes, uint32_t len, uint32_t first, bool stripped,
		struct oracle_frame *frame)
{
	const uint8_t *bth;
	uint32_t crc;

	memset(frame, 0, sizeof(*frame));
	frame->faults = look_below(bytes, len, stripped, frame);
	if (frame->faults & ORACLE_FOREIGN)
		return;
	take_addresses(bytes + frame->l3_off, frame);
	if (first < frame->udp_off + UDP + BTH || !lengths_agree(bytes, len, frame)) {
		frame->faults |= ORACLE_LENGTH;
		return;
	}
	frame->faults |= look_inside(bytes, first, frame);
	if (frame->faults != 0)
		return;
	bth = bytes + frame->udp_off + UDP;
	frame->dest_qp = be24(bth + 5);
	frame->psn = be24(bth + 9);
	frame->cnp = frame->opcode == CNP;
	frame->sack = frame->opcode == SACK;
	frame->piggyback = is_piggyback(frame->opcode);
	/* Its syndrome, behind the BTH, is that of an acknowledgement: of the upper three bits none is set. */
	frame->ack = frame->piggyback && bth[BTH] >> 5 == 0;
	frame->datagram = frame->opcode == UD_SEND || frame->opcode == UD_SEND_IMM;
	frame->request = frame->piggyback ||
			(frame->opcode <= RC_LAST &&
					(frame->opcode < 0x0d || frame->opcode > 0x12));
	frame->end = frame->udp_off + be16(bytes + frame->udp_off + 4);
	crc = icrc_of(bytes + frame->l3_off, frame->end - ICRC - frame->l3_off, frame->v6);
	frame->icrc_ok = crc ==
			((uint32_t)bytes[frame->end - 4] | (uint32_t)bytes[frame->end - 3] << 8 |
					(uint32_t)bytes[frame->end - 2] << 16 |
					(uint32_t)bytes[frame->end - 1] << 24);
}

bool
oracle_seal(uint8_t *bytes, uint32_t len)
{
	struct oracle_frame f = { 0 };
	uint32_t end, crc;

	if (look_below(bytes, len, false, &f) & ORACLE_FOREIGN)
		return false;
	if (len < f.udp_off + UDP)
		return false;
	end = f.udp_off + be16(bytes + f.udp_off + 4);
	if (end > len || end < f.udp_off + UDP + ICRC)
		return false;
	crc = icrc_of(bytes + f.l3_off, end - ICRC - f.l3_off, f.v6);
	for (unsigned int i = 0; i < 4; i++)
		bytes[end - 4 + i] = (uint8_t)(crc >> 8 * i);
	return true;
}
