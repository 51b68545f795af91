/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "unit.h"
#include "wire/bth.h"
#include "wire/opcode.h"

/* The opcodes of IBTA Vol 1, 9.2.1 and annex A17.9.3 by name, and bytes between BTH and payload. */
static const struct {
	uint8_t opcode;
	uint8_t extension_len;
	const char *name;
} known[] = {
	{ 0x00, 0, "SEND_FIRST" },
	{ 0x01, 0, "SEND_MIDDLE" },
	{ 0x02, 0, "SEND_LAST" },
	{ 0x03, 4, "SEND_LAST_IMMEDIATE" },
	{ 0x04, 0, "SEND_ONLY" },
	{ 0x05, 4, "SEND_ONLY_IMMEDIATE" },
	{ 0x06, 16, "WRITE_FIRST" },
	{ 0x07, 0, "WRITE_MIDDLE" },
	{ 0x08, 0, "WRITE_LAST" },
	{ 0x09, 4, "WRITE_LAST_IMMEDIATE" },
	{ 0x0a, 16, "WRITE_ONLY" },
	{ 0x0b, 20, "WRITE_ONLY_IMMEDIATE" },
	{ 0x0c, 16, "READ_REQUEST" },
	{ 0x0d, 4, "READ_RESPONSE_FIRST" },
	{ 0x0e, 0, "READ_RESPONSE_MIDDLE" },
	{ 0x0f, 4, "READ_RESPONSE_LAST" },
	{ 0x10, 4, "READ_RESPONSE_ONLY" },
	{ 0x11, 4, "ACKNOWLEDGE" },
	{ 0x12, 12, "ATOMIC_ACKNOWLEDGE" },
	{ 0x13, 28, "COMPARE_SWAP" },
	{ 0x14, 28, "FETCH_ADD" },
	{ 0x16, 4, "SEND_LAST_INVALIDATE" },
	{ 0x17, 4, "SEND_ONLY_INVALIDATE" },
	{ 0x64, 8, "UD_SEND_ONLY" },
	{ 0x65, 12, "UD_SEND_ONLY_IMMEDIATE" },
	{ 0x81, 16, "CONGESTION_NOTIFICATION" },
	/* Ours, of the manufacturer's range (IBTA Vol 1, 9.2.1). */
	{ 0xc1, 16, "SELECTIVE_ACK" },
	{ 0xe4, 8, "SEND_ONLY_PIGGYBACK" },
	{ 0xe5, 12, "SEND_ONLY_IMMEDIATE_PIGGYBACK" },
	{ 0xea, 24, "WRITE_ONLY_PIGGYBACK" },
	{ 0xeb, 28, "WRITE_ONLY_IMMEDIATE_PIGGYBACK" },
	{ 0xf7, 12, "SEND_ONLY_INVALIDATE_PIGGYBACK" },
};

static bool
name_has(size_t row, const char *word)
{
	return strstr(known[row].name, word) != NULL;
}

static uint32_t
flags_of(size_t row)
{
	return roce_opcode[known[row].opcode].flags;
}

UNIT_RULE_IN(table__knows_these_opcodes_and_no_others, NULL, NULL)
{
	bool listed[256] = { false };

	for (size_t i = 0; i < RTE_DIM(known); i++)
		listed[known[i].opcode] = true;
	for (size_t i = 0; i < 256; i++)
		assert_true(listed[i] == (roce_opcode[i].flags != 0));
	assert_int_equal(roce_opcode[ROCE_OPCODE_NONE].flags, 0);
}

UNIT_RULE_IN(table__header_length_is_the_standards, NULL, NULL)
{
	for (size_t i = 0; i < RTE_DIM(known); i++)
		assert_int_equal(roce_opcode[known[i].opcode].header_len,
				sizeof(struct roce_bth) + known[i].extension_len);
}

/* Law: the header length is the BTH and the extension headers that the flags name. */
UNIT_RULE_IN(table__header_length_is_the_sum_of_its_headers, NULL, NULL)
{
	static const struct {
		uint32_t flag;
		uint32_t len;
	} header[] = { { ROCE_OP_RETH, 16 }, { ROCE_OP_AETH, 4 }, { ROCE_OP_IMM, 4 },
		{ ROCE_OP_IETH, 4 }, { ROCE_OP_ATOMIC, 28 }, { ROCE_OP_ATOMICACK, 8 },
		{ ROCE_OP_DETH, 8 }, { ROCE_OP_CNP, 16 }, { ROCE_OP_SACK, 16 },
		{ ROCE_OP_PIGGYBACK, 8 } };

	for (size_t i = 0; i < RTE_DIM(known); i++) {
		uint32_t sum = sizeof(struct roce_bth);

		for (size_t j = 0; j < RTE_DIM(header); j++)
			sum += flags_of(i) & header[j].flag ? header[j].len : 0;
		assert_int_equal(roce_opcode[known[i].opcode].header_len, sum);
	}
}

/* Law: BTH; piggybacked acknowledgement; AETH or the long header; AtomicAckETH; immediate or key; payload. */
UNIT_RULE_IN(table__offsets_follow_the_order_on_the_wire, NULL, NULL)
{
	for (size_t i = 0; i < RTE_DIM(known); i++) {
		const struct roce_opcode_info *op = &roce_opcode[known[i].opcode];
		uint32_t at = sizeof(struct roce_bth);

		assert_int_equal(op->aeth_off,
				op->flags & (ROCE_OP_AETH | ROCE_OP_PIGGYBACK) ? at : 0);
		at += op->flags & ROCE_OP_AETH ? 4 : 0;
		at += op->flags & ROCE_OP_PIGGYBACK ? 8 : 0;
		if (op->flags &
				(ROCE_OP_RETH | ROCE_OP_ATOMIC | ROCE_OP_DETH | ROCE_OP_ATOMICACK |
						ROCE_OP_SACK))
			assert_int_equal(op->ext_off, at);
		else
			assert_int_equal(op->ext_off, 0);
		if (op->flags & (ROCE_OP_IMM | ROCE_OP_IETH))
			assert_int_equal(op->imm_off, op->header_len - 4);
		else
			assert_int_equal(op->imm_off, 0);
	}
}

/* Law: with an acknowledgement a whole SEND or WRITE is the request that it is without, and no other opcode has one. */
UNIT_RULE_IN(table__piggyback_changes_no_request, NULL, NULL)
{
	for (size_t i = 0; i < 256; i++) {
		const struct roce_opcode_info *op = &roce_opcode[i];
		const struct roce_opcode_info *plain = &roce_opcode[i & ~0xe0u];

		if (!(op->flags & ROCE_OP_PIGGYBACK))
			continue;
		assert_int_equal(i & 0xe0u, 0xe0u);
		assert_int_equal(op->flags, plain->flags | ROCE_OP_PIGGYBACK);
		assert_int_equal(op->verb, plain->verb);
		assert_true(op->verb == ROCE_VERB_SEND || op->verb == ROCE_VERB_WRITE);
		assert_int_equal(op->flags & (ROCE_OP_START | ROCE_OP_END),
				ROCE_OP_START | ROCE_OP_END);
	}
}

/* Proves: rc.R7 */
UNIT_RULE_IN(table__start_and_end_are_as_the_name_says, NULL, NULL)
{
	for (size_t i = 0; i < RTE_DIM(known); i++) {
		bool part = name_has(i, "FIRST") || name_has(i, "MIDDLE") || name_has(i, "LAST");

		assert_true(!(flags_of(i) & ROCE_OP_START) == (part && !name_has(i, "FIRST")));
		assert_true(!(flags_of(i) & ROCE_OP_END) == (part && !name_has(i, "LAST")));
	}
}

UNIT_RULE_IN(table__direction_is_one_of_two_or_none, NULL, NULL)
{
	for (size_t i = 0; i < RTE_DIM(known); i++) {
		bool response = name_has(i, "RESPONSE") || name_has(i, "ACKNOWLEDGE");

		assert_true(!(flags_of(i) & ROCE_OP_RESPONSE) == !response);
		assert_true(!(flags_of(i) & ROCE_OP_CNP) == !name_has(i, "CONGESTION"));
		assert_true(!(flags_of(i) & ROCE_OP_SACK) == !name_has(i, "SELECTIVE"));
		assert_true(!(flags_of(i) & ROCE_OP_REQUEST) ==
				(response || name_has(i, "CONGESTION") ||
						name_has(i, "SELECTIVE")));
	}
}

UNIT_RULE_IN(table__immediate_and_key_are_as_the_name_says, NULL, NULL)
{
	for (size_t i = 0; i < RTE_DIM(known); i++) {
		assert_true(!(flags_of(i) & ROCE_OP_IMM) == !name_has(i, "IMMEDIATE"));
		assert_true(!(flags_of(i) & ROCE_OP_IETH) == !name_has(i, "INVALIDATE"));
		assert_true(!(flags_of(i) & ROCE_OP_DETH) == !name_has(i, "UD_"));
	}
}

UNIT_RULE_IN(table__sends_and_immediates_need_a_receive, NULL, NULL)
{
	for (size_t i = 0; i < RTE_DIM(known); i++) {
		bool needs = name_has(i, "SEND") || name_has(i, "IMMEDIATE");

		assert_true(!(flags_of(i) & ROCE_OP_RECEIVE) == !needs);
	}
}

UNIT_RULE_IN(table__only_data_carries_payload, NULL, NULL)
{
	for (size_t i = 0; i < RTE_DIM(known); i++) {
		bool data = name_has(i, "SEND") || name_has(i, "WRITE") || name_has(i, "RESPONSE");

		assert_true(!(flags_of(i) & ROCE_OP_PAYLOAD) == !data);
	}
}

UNIT_RULE_IN(table__verb_is_as_the_name_says, NULL, NULL)
{
	/* The first word found decides: both kinds of ACKNOWLEDGE are acknowledges. */
	static const struct {
		const char *word;
		enum roce_verb verb;
	} rule[] = {
		{ "ACKNOWLEDGE", ROCE_VERB_ACK },
		{ "SEND", ROCE_VERB_SEND },
		{ "WRITE", ROCE_VERB_WRITE },
		{ "READ", ROCE_VERB_READ },
		{ "SWAP", ROCE_VERB_ATOMIC_CAS },
		{ "ADD", ROCE_VERB_ATOMIC_FADD },
		{ "CONGESTION", ROCE_VERB_NONE },
		{ "SELECTIVE", ROCE_VERB_NONE },
	};
	size_t j;

	for (size_t i = 0; i < RTE_DIM(known); i++) {
		for (j = 0; !name_has(i, rule[j].word); j++)
			assert_true(j + 1 < RTE_DIM(rule));
		assert_int_equal(roce_opcode[known[i].opcode].verb, rule[j].verb);
	}
}

/* Law: what the table says about an RC request leads back to its opcode. */
UNIT_RULE_IN(request__is_the_inverse_of_the_table, NULL, NULL)
{
	for (size_t i = 0; i < RTE_DIM(known); i++) {
		uint32_t flags = flags_of(i);
		enum roce_suffix suffix = flags & ROCE_OP_IMM ? ROCE_SUFFIX_IMM
				: flags & ROCE_OP_IETH        ? ROCE_SUFFIX_INVALIDATE
							      : ROCE_SUFFIX_NONE;

		if (!(flags & ROCE_OP_REQUEST) || flags & (ROCE_OP_DETH | ROCE_OP_PIGGYBACK))
			continue;
		assert_int_equal(roce_opcode_request(roce_opcode[known[i].opcode].verb, suffix,
						 flags & ROCE_OP_START, flags & ROCE_OP_END),
				known[i].opcode);
	}
}

UNIT_RULE_IN(request__shows_the_suffix_only_on_the_last_packet, NULL, NULL)
{
	enum roce_suffix suffix;

	for (suffix = ROCE_SUFFIX_NONE; suffix <= ROCE_SUFFIX_INVALIDATE; suffix++) {
		assert_int_equal(roce_opcode_request(ROCE_VERB_SEND, suffix, true, false), 0x00);
		assert_int_equal(roce_opcode_request(ROCE_VERB_SEND, suffix, false, false), 0x01);
	}
	assert_int_equal(roce_opcode_request(ROCE_VERB_WRITE, ROCE_SUFFIX_IMM, true, false), 0x06);
	assert_int_equal(roce_opcode_request(ROCE_VERB_WRITE, ROCE_SUFFIX_IMM, false, false), 0x07);
}

UNIT_RULE_IN(request__has_no_opcode_for_what_ibta_lacks, NULL, NULL)
{
	static const struct {
		enum roce_verb verb;
		enum roce_suffix suffix;
		bool first, last;
	} bad[] = {
		{ ROCE_VERB_NONE, ROCE_SUFFIX_NONE, true, true },
		{ ROCE_VERB_ACK, ROCE_SUFFIX_NONE, true, true },
		{ ROCE_VERB_READ, ROCE_SUFFIX_IMM, true, true },
		{ ROCE_VERB_READ, ROCE_SUFFIX_NONE, true, false },
		{ ROCE_VERB_READ, ROCE_SUFFIX_NONE, false, true },
		{ ROCE_VERB_WRITE, ROCE_SUFFIX_INVALIDATE, true, true },
		{ ROCE_VERB_WRITE, ROCE_SUFFIX_INVALIDATE, true, false },
		{ ROCE_VERB_ATOMIC_CAS, ROCE_SUFFIX_NONE, false, false },
		{ ROCE_VERB_ATOMIC_FADD, ROCE_SUFFIX_INVALIDATE, true, true },
		{ ROCE_VERB_ACK + 1, ROCE_SUFFIX_NONE, true, true },
		{ ROCE_VERB_SEND, ROCE_SUFFIX_INVALIDATE + 1, true, true },
	};

	for (size_t i = 0; i < RTE_DIM(bad); i++)
		assert_int_equal(roce_opcode_request(bad[i].verb, bad[i].suffix, bad[i].first,
						 bad[i].last),
				0xff);
}
