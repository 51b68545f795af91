/* SPDX-License-Identifier: BSD-3-Clause */

#include "unit.h"
#include "wire/aeth.h"

UNIT_RULE_IN(pack__puts_syndrome_before_msn, NULL, NULL)
{
	struct roce_aeth aeth = { .syndrome_msn = roce_aeth_pack(ROCE_AETH_NAK | 1, 0xabcdef) };
	const uint8_t wire[] = { 0x61, 0xab, 0xcd, 0xef };

	assert_memory_equal(&aeth, wire, sizeof(wire));
	assert_int_equal(roce_aeth_syndrome(&aeth), 0x61);
	assert_int_equal(roce_aeth_msn(&aeth), 0xabcdef);
}

UNIT_RULE_IN(pack__cuts_the_msn_to_24_bits, NULL, NULL)
{
	struct roce_aeth aeth = { .syndrome_msn = roce_aeth_pack(ROCE_AETH_RNR | 14, 0x1000002) };

	assert_int_equal(roce_aeth_syndrome(&aeth), 0x2e);
	assert_int_equal(roce_aeth_msn(&aeth), 2);
}

/* The table of IBTA Vol 1, 9.7.7.2.4, as far as a person can check it by eye. */
UNIT_RULE_IN(credit_decode__is_the_standards_table, NULL, NULL)
{
	static const struct {
		uint8_t code;
		uint32_t receives;
	} row[] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 }, { 5, 6 }, { 6, 8 }, { 7, 12 },
		{ 8, 16 }, { 9, 24 }, { 10, 32 }, { 16, 256 }, { 20, 1024 }, { 30, 32768 },
		{ 31, UINT32_MAX } };

	for (size_t i = 0; i < RTE_DIM(row); i++)
		assert_int_equal(roce_credit_decode(row[i].code), row[i].receives);
}

UNIT_RULE_IN(credit_decode__doubles_every_two_codes, NULL, NULL)
{
	for (uint8_t code = 4; code < ROCE_CREDIT_INVALID; code++)
		assert_int_equal(roce_credit_decode(code),
				2 * roce_credit_decode((uint8_t)(code - 2)));
}

UNIT_RULE_IN(credit_encode__never_promises_more_than_there_is, NULL, NULL)
{
	for (uint32_t n = 0; n < 70000; n++) {
		uint8_t code = roce_credit_encode(n);

		assert_true(code < ROCE_CREDIT_INVALID);
		assert_true(roce_credit_decode(code) <= n);
		assert_true(code == ROCE_CREDIT_INVALID - 1 ||
				roce_credit_decode((uint8_t)(code + 1)) > n);
	}
	assert_int_equal(roce_credit_encode(UINT32_MAX), ROCE_CREDIT_INVALID - 1);
}

UNIT_RULE_IN(credit_encode__undoes_decode, NULL, NULL)
{
	for (uint8_t code = 0; code < ROCE_CREDIT_INVALID; code++)
		assert_int_equal(roce_credit_encode(roce_credit_decode(code)), code);
}

UNIT_RULE_IN(rnr_timer__is_the_standards_table, NULL, NULL)
{
	static const struct {
		uint8_t code;
		uint32_t us;
	} row[] = { { 0, 655360 }, { 1, 10 }, { 2, 20 }, { 3, 30 }, { 4, 40 }, { 5, 60 },
		{ 12, 640 }, { 14, 1280 }, { 20, 10240 }, { 25, 61440 }, { 31, 491520 } };

	for (size_t i = 0; i < RTE_DIM(row); i++)
		assert_int_equal(roce_rnr_timer_us(row[i].code), row[i].us);
}

UNIT_RULE_IN(rnr_timer__doubles_every_two_codes, NULL, NULL)
{
	for (uint8_t code = 4; code < 32; code++)
		assert_int_equal(roce_rnr_timer_us(code),
				2 * roce_rnr_timer_us((uint8_t)(code - 2)));
	/* Code 0 stands where code 32 would. */
	assert_int_equal(roce_rnr_timer_us(0), 2 * roce_rnr_timer_us(30));
}

UNIT_RULE_IN(ack_timeout__doubles_and_zero_means_none, NULL, NULL)
{
	assert_true(roce_ack_timeout_ns(0) == 0);
	assert_true(roce_ack_timeout_ns(1) == 8192);
	assert_true(roce_ack_timeout_ns(14) == 67108864);
	assert_true(roce_ack_timeout_ns(31) == UINT64_C(8796093022208));
	for (uint8_t code = 2; code < 32; code++)
		assert_true(roce_ack_timeout_ns(code) ==
				2 * roce_ack_timeout_ns((uint8_t)(code - 1)));
}

/* A code comes from a five-bit field; whatever stands in the bits above is not part of it. */
UNIT_RULE_IN(codes__have_five_bits, NULL, NULL)
{
	assert_int_equal(roce_credit_decode(0xe0 | 5), 6);
	assert_int_equal(roce_rnr_timer_us(0xe0 | 1), 10);
	assert_true(roce_ack_timeout_ns(0xe0 | 1) == 8192);
}
