/* SPDX-License-Identifier: BSD-3-Clause */

#include "wire/aeth.h"

/*
 * Receives per credit code (IBTA Vol 1, 9.7.7.2.4). From the third row on,
 * twice the value two rows up.
 */
static const uint16_t credit[ROCE_CREDIT_INVALID] = {
	/* clang-format off */
	    0,     1,     2,     3,     4,     6,     8,    12,
	   16,    24,    32,    48,    64,    96,   128,   192,
	  256,   384,   512,   768,  1024,  1536,  2048,  3072,
	 4096,  6144,  8192, 12288, 16384, 24576, 32768,
	/* clang-format on */
};

/*
 * RNR NAK timer per code in microseconds (IBTA Vol 1, 9.7.5.2.8). Ten times the
 * credit table, but for code 0, which stands where code 32 would.
 */
static const uint32_t rnr_us[32] = {
	/* clang-format off */
	655360,     10,     20,     30,     40,     60,     80,    120,
	   160,    240,    320,    480,    640,    960,   1280,   1920,
	  2560,   3840,   5120,   7680,  10240,  15360,  20480,  30720,
	 40960,  61440,  81920, 122880, 163840, 245760, 327680, 491520,
	/* clang-format on */
};

uint8_t
roce_credit_encode(uint32_t receives)
{
	uint32_t top;

	if (receives < 2)
		return (uint8_t)receives;
	if (receives >= credit[ROCE_CREDIT_INVALID - 1])
		return ROCE_CREDIT_INVALID - 1;
	/* Two codes per power of two: the highest bit, then the one below it. */
	top = 31 - (uint32_t)__builtin_clz(receives);
	return (uint8_t)(2 * top + ((receives >> (top - 1)) & 1));
}

uint32_t
roce_credit_decode(uint8_t code)
{
	code &= ROCE_AETH_VALUE_MASK;
	return code == ROCE_CREDIT_INVALID ? UINT32_MAX : credit[code];
}

uint32_t
roce_rnr_timer_us(uint8_t code)
{
	return rnr_us[code & ROCE_AETH_VALUE_MASK];
}

uint64_t
roce_ack_timeout_ns(uint8_t code)
{
	code &= ROCE_AETH_VALUE_MASK;
	return code == 0 ? 0 : UINT64_C(4096) << code;
}
