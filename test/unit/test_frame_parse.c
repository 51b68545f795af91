/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "unit.h"
#include "wire/frame.h"

/* Every frame is parsed from a buffer of exactly its size: the sanitizer sees reads beyond. */
static enum roce_frame_verdict
verdict_of(const uint8_t *bytes, uint32_t len)
{
	struct rte_mbuf *m = unit_mbuf_exact(bytes, len);
	struct roce_pkt pkt;
	enum roce_frame_verdict verdict = roce_frame_parse(m, &pkt);

	unit_mbuf_exact_free(m);
	return verdict;
}

/* One byte of a frame replaced. */
struct edit {
	uint8_t off;
	uint8_t value;
};

struct rule {
	const char *what;
	struct edit edit[6]; /* offset 0 ends the list */
	uint8_t len;         /* 0: the whole frame */
	enum roce_frame_verdict want;
};

static void
check_rules(const struct rule *rule, size_t n, const uint8_t *frame, uint32_t frame_len)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t bytes[128] = { 0 };
		enum roce_frame_verdict got;

		memcpy(bytes, frame, frame_len);
		for (size_t j = 0; j < RTE_DIM(rule[i].edit) && rule[i].edit[j].off != 0; j++)
			bytes[rule[i].edit[j].off] = rule[i].edit[j].value;
		got = verdict_of(bytes, rule[i].len != 0 ? rule[i].len : frame_len);
		if (got != rule[i].want)
			fail_msg("%s: verdict %d, expected %d", rule[i].what, (int)got,
					(int)rule[i].want);
	}
}

static void
check_fields(const struct roce_pkt *pkt, uint32_t l3, uint32_t bth)
{
	const uint8_t *frame = rte_pktmbuf_mtod(pkt->m, const uint8_t *);

	assert_fields(*pkt, (op, &roce_opcode[IBV_OPCODE_RC_SEND_ONLY]), (l3, frame + l3),
			(bth, frame + bth), (opcode, IBV_OPCODE_RC_SEND_ONLY), (dest_qp, 0x123456),
			(psn, 0xabcdef), (payload_off, bth + 12), (payload_len, 5), (pad, 3),
			(ecn, 0), (ack_req, true), (solicited, true), (becn, false));
}

UNIT_RULE_IN(parse__reads_ipv4, NULL, NULL)
{
	struct rte_mbuf *m = unit_mbuf_exact(frame_v4, V4_LEN);
	struct roce_ip src, dst;
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	check_fields(&pkt, V4_L3, V4_BTH);
	assert_fields(pkt, (m, m), (v6, false), (vlan_tci, 0));
	roce_pkt_addresses(&pkt, &src, &dst);
	assert_true(roce_ip_is_v4(&src) && src.w[3] == RTE_BE32(0xc0000201));
	assert_true(roce_ip_is_v4(&dst) && dst.w[3] == RTE_BE32(0xc0000202));
	unit_mbuf_exact_free(m);
}

UNIT_RULE_IN(parse__reads_ipv6, NULL, NULL)
{
	struct rte_mbuf *m = unit_mbuf_exact(frame_v6, V6_LEN);
	struct roce_ip src, dst;
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	check_fields(&pkt, V6_L3, V6_BTH);
	assert_true(pkt.v6);
	roce_pkt_addresses(&pkt, &src, &dst);
	assert_false(roce_ip_is_v4(&src));
	assert_memory_equal(&src, frame_v6 + V6_L3 + 8, 16);
	assert_memory_equal(&dst, frame_v6 + V6_L3 + 24, 16);
	unit_mbuf_exact_free(m);
}

/* The frame with an 802.1Q tag of @p tci behind the addresses. @return its length. */
static uint32_t
tag(uint8_t *to, const uint8_t *frame, uint32_t len, uint16_t tci)
{
	const uint8_t bytes[] = { 0x81, 0x00, (uint8_t)(tci >> 8), (uint8_t)tci };

	memcpy(to, frame, 12);
	memcpy(to + 12, bytes, 4);
	memcpy(to + 16, frame + 12, len - 12);
	return len + 4;
}

UNIT_RULE_IN(parse__accepts_one_tag, NULL, NULL)
{
	const uint8_t *const frame[] = { frame_v4, frame_v6 };
	const uint32_t len[] = { V4_LEN, V6_LEN };
	const uint32_t bth[] = { V4_BTH, V6_BTH };
	uint8_t once[128], twice[128];

	for (size_t i = 0; i < RTE_DIM(frame); i++) {
		uint32_t tagged_len = tag(once, frame[i], len[i], 0xa064);
		struct rte_mbuf *m = unit_mbuf_exact(once, tagged_len);
		struct roce_pkt pkt;

		assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
		check_fields(&pkt, V4_L3 + 4, bth[i] + 4);
		assert_int_equal(pkt.vlan_tci, 0xa064);
		unit_mbuf_exact_free(m);

		tagged_len = tag(twice, once, tagged_len, 0x0001);
		assert_int_equal(verdict_of(twice, tagged_len), ROCE_FRAME_FOREIGN);
		once[12] = 0x88;
		once[13] = 0xa8;
		assert_int_equal(verdict_of(once, len[i] + 4), ROCE_FRAME_FOREIGN);
	}
}

UNIT_RULE_IN(parse__counts_a_stripped_tag_as_the_one, NULL, NULL)
{
	uint8_t tagged[128];
	uint32_t tagged_len = tag(tagged, frame_v4, V4_LEN, 0x0001);
	struct rte_mbuf *m = unit_mbuf_exact(frame_v4, V4_LEN);
	struct roce_pkt pkt;

	m->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	m->vlan_tci = 0xa064;
	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	assert_int_equal(pkt.vlan_tci, 0xa064);
	unit_mbuf_exact_free(m);

	m = unit_mbuf_exact(tagged, tagged_len);
	m->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_FOREIGN);
	unit_mbuf_exact_free(m);
}

UNIT_RULE_IN(parse__leaves_foreign_frames, NULL, NULL)
{
	static const struct rule v4[] = {
		{ "ARP", { { 12, 0x08 }, { 13, 0x06 } }, 0, ROCE_FRAME_FOREIGN },
		{ "ARP, short", { { 12, 0x08 }, { 13, 0x06 } }, 42, ROCE_FRAME_FOREIGN },
		{ "802.3 length", { { 12, 0x00 }, { 13, 0x34 } }, 0, ROCE_FRAME_FOREIGN },
		{ "RoCE v1", { { 12, 0x89 }, { 13, 0x15 } }, 0, ROCE_FRAME_FOREIGN },
		{ "TCP", { { V4_L3 + 9, 6 } }, 0, ROCE_FRAME_FOREIGN },
		{ "ICMP", { { V4_L3 + 9, 1 } }, 0, ROCE_FRAME_FOREIGN },
		{ "another port", { { V4_UDP + 3, 0xb6 } }, 0, ROCE_FRAME_FOREIGN },
		{ "our port as source only",
				{ { V4_UDP + 2, 0x35 }, { V4_UDP, 0x12 }, { V4_UDP + 1, 0xb7 } }, 0,
				ROCE_FRAME_FOREIGN },
		{ "IP version 6 in an IPv4 frame", { { V4_L3, 0x65 } }, 0, ROCE_FRAME_FOREIGN },
		{ "IP header of 16 bytes", { { V4_L3, 0x44 } }, 0, ROCE_FRAME_FOREIGN },
		{ "IP header of 16 bytes, our port behind it",
				{ { V4_L3, 0x44 }, { V4_L3 + 18, 0x12 }, { V4_L3 + 19, 0xb7 } }, 0,
				ROCE_FRAME_FOREIGN },
		{ "later fragment", { { V4_L3 + 7, 0x01 } }, 0, ROCE_FRAME_FOREIGN },
		{ "later fragment, more to come", { { V4_L3 + 6, 0x20 }, { V4_L3 + 7, 0xb9 } }, 0,
				ROCE_FRAME_FOREIGN },
		{ "options, and no UDP port behind them", { { V4_L3, 0x46 } }, 0,
				ROCE_FRAME_FOREIGN },
	};
	static const struct rule v6[] = {
		{ "hop-by-hop options", { { V6_L3 + 6, 0 } }, 0, ROCE_FRAME_FOREIGN },
		{ "fragment header", { { V6_L3 + 6, 44 } }, 0, ROCE_FRAME_FOREIGN },
		{ "ICMPv6", { { V6_L3 + 6, 58 } }, 0, ROCE_FRAME_FOREIGN },
		{ "another port", { { V6_UDP + 3, 0xb6 } }, 0, ROCE_FRAME_FOREIGN },
		{ "IP version 4 in an IPv6 frame", { { V6_L3, 0x45 } }, 0, ROCE_FRAME_FOREIGN },
	};

	check_rules(v4, RTE_DIM(v4), frame_v4, V4_LEN);
	check_rules(v6, RTE_DIM(v6), frame_v6, V6_LEN);
}

/* The frame with four bytes of IPv4 options (no-operation) in front of UDP. */
UNIT_RULE_IN(parse__refuses_fragments_and_options, NULL, NULL)
{
	static const struct rule v4[] = {
		{ "first fragment", { { V4_L3 + 6, 0x20 } }, 0, ROCE_FRAME_FRAGMENT },
		{ "reserved flag is no fragment", { { V4_L3 + 6, 0xc0 } }, 0, ROCE_FRAME_OK },
		{ "may fragment, but was not", { { V4_L3 + 6, 0x00 } }, 0, ROCE_FRAME_OK },
	};
	uint8_t options[V4_LEN + 4] = { 0 };

	check_rules(v4, RTE_DIM(v4), frame_v4, V4_LEN);

	memcpy(options, frame_v4, V4_UDP);
	options[V4_L3] = 0x46;
	options[V4_L3 + 3] += 4;
	memset(options + V4_UDP, 0x01, 4);
	memcpy(options + V4_UDP + 4, frame_v4 + V4_UDP, V4_LEN - V4_UDP);
	assert_int_equal(verdict_of(options, sizeof(options)), ROCE_FRAME_FRAGMENT);
}

UNIT_RULE_IN(parse__refuses_lengths_that_contradict, NULL, NULL)
{
	static const struct rule v4[] = {
		{ "IP longer than UDP", { { V4_L3 + 3, 0x38 } }, 0, ROCE_FRAME_LENGTH },
		{ "IP shorter than UDP", { { V4_L3 + 3, 0x30 } }, 0, ROCE_FRAME_LENGTH },
		{ "IP shorter than its header", { { V4_L3 + 3, 0x08 } }, 0, ROCE_FRAME_LENGTH },
		{ "IP length 0", { { V4_L3 + 3, 0x00 } }, 0, ROCE_FRAME_LENGTH },
		{ "UDP length 0", { { V4_UDP + 5, 0x00 } }, 0, ROCE_FRAME_LENGTH },
		{ "both longer than the frame", { { V4_L3 + 3, 0x38 }, { V4_UDP + 5, 0x24 } }, 0,
				ROCE_FRAME_LENGTH },
		{ "IP and UDP end before the ICRC could",
				{ { V4_L3 + 3, 0x28 }, { V4_UDP + 5, 0x14 } }, 0,
				ROCE_FRAME_LENGTH },
		{ "the same, and the version is wrong too: length first",
				{ { V4_L3 + 3, 0x28 }, { V4_UDP + 5, 0x14 }, { V4_BTH + 1, 0xf1 } },
				0, ROCE_FRAME_LENGTH },
		{ "four bytes of the frame are missing", { { 0 } }, V4_LEN - 4, ROCE_FRAME_LENGTH },
		{ "one byte of the frame is missing", { { 0 } }, V4_LEN - 1, ROCE_FRAME_LENGTH },
		{ "trailing bytes", { { 0 } }, V4_LEN + 20, ROCE_FRAME_OK },
		{ "payload not a multiple of 4", { { V4_L3 + 3, 0x33 }, { V4_UDP + 5, 0x1f } }, 0,
				ROCE_FRAME_LENGTH },
		{ "shortest: no payload",
				{ { V4_L3 + 3, 0x2c }, { V4_UDP + 5, 0x18 }, { V4_BTH + 1, 0xc0 } },
				0, ROCE_FRAME_OK },
		{ "pad without payload", { { V4_L3 + 3, 0x2c }, { V4_UDP + 5, 0x18 } }, 0,
				ROCE_FRAME_LENGTH },
		{ "payload of 1, pad 3", { { V4_L3 + 3, 0x30 }, { V4_UDP + 5, 0x1c } }, 0,
				ROCE_FRAME_OK },
	};
	static const struct rule v6[] = {
		{ "IP longer than UDP", { { V6_L3 + 5, 0x24 } }, 0, ROCE_FRAME_LENGTH },
		{ "IP shorter than UDP", { { V6_L3 + 5, 0x1c } }, 0, ROCE_FRAME_LENGTH },
		{ "jumbogram", { { V6_L3 + 5, 0x00 }, { V6_UDP + 5, 0x00 } }, 0,
				ROCE_FRAME_LENGTH },
		{ "one byte of the frame is missing", { { 0 } }, V6_LEN - 1, ROCE_FRAME_LENGTH },
		{ "trailing bytes", { { 0 } }, V6_LEN + 20, ROCE_FRAME_OK },
	};

	check_rules(v4, RTE_DIM(v4), frame_v4, V4_LEN);
	check_rules(v6, RTE_DIM(v6), frame_v6, V6_LEN);
}

/* Proves: rc.R22 */
UNIT_RULE_IN(parse__refuses_headers_that_do_not_fit, NULL, NULL)
{
	static const struct rule v4[] = {
		{ "RETH in 8 bytes", { { V4_BTH, IBV_OPCODE_RC_RDMA_WRITE_ONLY } }, 0,
				ROCE_FRAME_LENGTH },
		{ "AtomicETH in 8 bytes", { { V4_BTH, IBV_OPCODE_RC_FETCH_ADD } }, 0,
				ROCE_FRAME_LENGTH },
		{ "DETH in 8 bytes, pad 0",
				{ { V4_BTH, IBV_OPCODE_UD_SEND_ONLY }, { V4_BTH + 1, 0xc0 } }, 0,
				ROCE_FRAME_OK },
		{ "DETH in 8 bytes, pad 3", { { V4_BTH, IBV_OPCODE_UD_SEND_ONLY } }, 0,
				ROCE_FRAME_LENGTH },
		{ "acknowledge with payload", { { V4_BTH, IBV_OPCODE_RC_ACKNOWLEDGE } }, 0,
				ROCE_FRAME_LENGTH },
		{ "acknowledge",
				{ { V4_BTH, IBV_OPCODE_RC_ACKNOWLEDGE }, { V4_BTH + 1, 0xc0 },
						{ V4_L3 + 3, 0x30 }, { V4_UDP + 5, 0x1c } },
				0, ROCE_FRAME_OK },
		{ "acknowledge with pad",
				{ { V4_BTH, IBV_OPCODE_RC_ACKNOWLEDGE }, { V4_BTH + 1, 0xd0 },
						{ V4_L3 + 3, 0x30 }, { V4_UDP + 5, 0x1c } },
				0, ROCE_FRAME_LENGTH },
	};

	check_rules(v4, RTE_DIM(v4), frame_v4, V4_LEN);
}

UNIT_RULE_IN(parse__judges_version_opcode_and_partition, NULL, NULL)
{
	static const struct rule v4[] = {
		{ "version 1", { { V4_BTH + 1, 0xf1 } }, 0, ROCE_FRAME_VERSION },
		{ "version 15", { { V4_BTH + 1, 0xff } }, 0, ROCE_FRAME_VERSION },
		{ "UC", { { V4_BTH, 0x24 } }, 0, ROCE_FRAME_OPCODE },
		{ "congestion notification without its reserved bytes", { { V4_BTH, 0x81 } }, 0,
				ROCE_FRAME_LENGTH },
		{ "opcode 0x15", { { V4_BTH, 0x15 } }, 0, ROCE_FRAME_OPCODE },
		{ "opcode 0xff", { { V4_BTH, 0xff } }, 0, ROCE_FRAME_OPCODE },
		{ "another partition", { { V4_BTH + 3, 0xfe } }, 0, ROCE_FRAME_PKEY },
		{ "partition 0x8000", { { V4_BTH + 2, 0x80 }, { V4_BTH + 3, 0x00 } }, 0,
				ROCE_FRAME_PKEY },
		{ "limited member", { { V4_BTH + 2, 0x7f } }, 0, ROCE_FRAME_OK },
		{ "MigReq 0", { { V4_BTH + 1, 0xb0 } }, 0, ROCE_FRAME_OK },
		{ "reserved bits", { { V4_BTH + 4, 0x3f }, { V4_BTH + 8, 0xff } }, 0,
				ROCE_FRAME_OK },
		{ "UDP checksum", { { V4_UDP + 6, 0x12 } }, 0, ROCE_FRAME_OK },
	};

	check_rules(v4, RTE_DIM(v4), frame_v4, V4_LEN);
}

/*
 * Every opcode at every length: accepted exactly when the table's header and whole words fit.
 *
 * Proves: rc.R22
 */
UNIT_RULE_IN(parse__follows_the_table_for_every_opcode_and_length, NULL, NULL)
{
	for (uint32_t opcode = 0; opcode < 256; opcode++) {
		const struct roce_opcode_info *op = &roce_opcode[opcode];

		for (uint32_t body = 0; body <= 48; body++) {
			uint8_t bytes[V4_BTH + 12 + 48 + 4] = { 0 };
			uint32_t extension = op->header_len - 12u;
			bool fits = body >= extension && (body - extension) % 4 == 0 &&
					(body == extension || op->flags & ROCE_OP_PAYLOAD);

			memcpy(bytes, frame_v4, V4_PAYLOAD);
			bytes[V4_BTH] = (uint8_t)opcode;
			bytes[V4_BTH + 1] = ROCE_BTH_MIGREQ;
			bytes[V4_UDP + 5] = (uint8_t)(24 + body);
			bytes[V4_L3 + 3] = (uint8_t)(44 + body);
			assert_int_equal(verdict_of(bytes, V4_BTH + 12 + body + 4),
					op->flags == 0         ? ROCE_FRAME_OPCODE
							: fits ? ROCE_FRAME_OK
							       : ROCE_FRAME_LENGTH);
		}
	}
}

UNIT_RULE_IN(parse__reads_ecn_and_becn, NULL, NULL)
{
	uint8_t v4[V4_LEN], v6[V6_LEN];
	struct rte_mbuf *m;
	struct roce_pkt pkt;

	memcpy(v4, frame_v4, V4_LEN);
	v4[V4_L3 + 1] |= 3;
	v4[V4_BTH + 4] = 0x40;
	m = unit_mbuf_exact(v4, V4_LEN);
	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	assert_fields(pkt, (ecn, 3), (becn, true), (dest_qp, 0x123456));
	unit_mbuf_exact_free(m);

	memcpy(v6, frame_v6, V6_LEN);
	v6[V6_L3 + 1] |= 0x10;
	m = unit_mbuf_exact(v6, V6_LEN);
	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	assert_int_equal(pkt.ecn, 1);
	unit_mbuf_exact_free(m);
}

/* A truncated frame is never accepted, and never taken for ours before its port can be seen. */
UNIT_RULE_IN(parse__refuses_every_prefix, NULL, NULL)
{
	for (uint32_t len = 0; len < V4_LEN; len++)
		assert_int_equal(verdict_of(frame_v4, len),
				len < V4_UDP + 4 ? ROCE_FRAME_FOREIGN : ROCE_FRAME_LENGTH);
	for (uint32_t len = 0; len < V6_LEN; len++)
		assert_int_equal(verdict_of(frame_v6, len),
				len < V6_UDP + 4 ? ROCE_FRAME_FOREIGN : ROCE_FRAME_LENGTH);
}

/* How the device cut the frame decides whether it can be used, never whose it is. */
UNIT_RULE_IN(parse__wants_headers_in_the_first_segment, NULL, NULL)
{
	const uint8_t *const frame[] = { frame_v4, frame_v6 };
	const uint32_t len[] = { V4_LEN, V6_LEN };
	const uint32_t payload[] = { V4_PAYLOAD, V6_PAYLOAD };
	struct roce_pkt pkt;

	for (size_t i = 0; i < RTE_DIM(frame); i++) {
		for (uint32_t split = 0; split <= len[i]; split++) {
			struct rte_mbuf *m = unit_mbuf_exact_chain(frame[i], len[i], split);

			assert_int_equal(roce_frame_parse(m, &pkt),
					split < payload[i] ? ROCE_FRAME_LENGTH : ROCE_FRAME_OK);
			unit_mbuf_exact_free(m);
		}
	}
}

/* Law: whatever is accepted lies inside the frame. Damaged frames, the same in every run. */
UNIT_RULE_IN(parse__accepts_only_what_lies_inside, NULL, NULL)
{
	uint64_t random = 88172645463325252;
	uint32_t accepted = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		uint8_t bytes[V6_LEN];
		uint32_t len = i & 1 ? V4_LEN : V6_LEN;
		struct rte_mbuf *m;
		struct roce_pkt pkt;

		memcpy(bytes, i & 1 ? frame_v4 : frame_v6, len);
		for (uint32_t j = 0; j < 1 + i % 3; j++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			bytes[random % len] = (uint8_t)(random >> 32);
		}
		m = unit_mbuf_exact_chain(bytes, len, (uint32_t)((random >> 40) % (len + 40)));
		if (roce_frame_parse(m, &pkt) == ROCE_FRAME_OK) {
			accepted++;
			assert_true(pkt.payload_off <= m->data_len);
			assert_true(pkt.payload_off + pkt.payload_len + pkt.pad + ROCE_ICRC_LEN <=
					m->pkt_len);
			assert_true(pkt.pad <= 3 && (pkt.payload_len + pkt.pad) % 4 == 0);
		}
		unit_mbuf_exact_free(m);
	}
	assert_in_range(accepted, 1000, 99000);
}
