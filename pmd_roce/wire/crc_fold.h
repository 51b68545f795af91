/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WIRE_CRC_FOLD_H
#define ROCE_WIRE_CRC_FOLD_H

/**
 * @file
 * CRC-32 by carry-less multiplication: constants, and the last step from 128 bits to 32.
 *
 * A block is a polynomial of degree 127 with the highest power in its first bit. Moving it d bits towards the end of the
 * stream multiplies it by x^d, and modulo P that is: its first half times (x^(d+32) mod P), plus its second half times
 * (x^(d-32) mod P). Constants are written in the bit order of the data, and shifted by one because the product of two
 * reversed numbers is. test_crc.c computes each of them anew.
 */

/* The build keeps the rest out of everything else for the time that it takes to read (meson.build). */
#ifdef ROCE_SSE4_ONLY
#undef __IMMINTRIN_H
#endif
#include <immintrin.h>
#include <stdint.h>

#define ROCE_CRC_X96   UINT64_C(0x0ccaa009e)
#define ROCE_CRC_X160  UINT64_C(0x1751997d0)
#define ROCE_CRC_X224  UINT64_C(0x15a546366)
#define ROCE_CRC_X288  UINT64_C(0x0f1da05aa)
#define ROCE_CRC_X352  UINT64_C(0x174359406)
#define ROCE_CRC_X416  UINT64_C(0x03db1ecdc)
#define ROCE_CRC_X480  UINT64_C(0x1c6e41596)
#define ROCE_CRC_X544  UINT64_C(0x154442bd4)
#define ROCE_CRC_X736  UINT64_C(0x18cb44e58)
#define ROCE_CRC_X800  UINT64_C(0x0df068dc2)
#define ROCE_CRC_X992  UINT64_C(0x14a7fe880)
#define ROCE_CRC_X1056 UINT64_C(0x1e88ef372)
#define ROCE_CRC_X1504 UINT64_C(0x12e958ac4)
#define ROCE_CRC_X1568 UINT64_C(0x1821d8bc0)
#define ROCE_CRC_X2016 UINT64_C(0x1322d1430)
#define ROCE_CRC_X2080 UINT64_C(0x11542778a)

#define ROCE_CRC_POLYNOMIAL UINT64_C(0x1db710641) /**< P, 33 bits */
#define ROCE_CRC_QUOTIENT \
	UINT64_C(0xb4e5b025f7011641) /**< x^96 divided by P, 65 bits of which the last is 0 */

/*
 * 128 bits times x^32, modulo P, inverted. First 96 bits are left; their quotient by P is found by one multiplication,
 * exactly, as there are no carries; what remains is the CRC.
 */
__attribute__((target("pclmul,sse4.1"))) static inline uint32_t
roce_crc_reduce(__m128i x)
{
	const __m128i to_96 = _mm_set_epi64x(0, (long long)ROCE_CRC_X96);
	const __m128i divide = _mm_set_epi64x(
			(long long)ROCE_CRC_POLYNOMIAL, (long long)ROCE_CRC_QUOTIENT);
	__m128i quotient;

	x = _mm_xor_si128(_mm_srli_si128(x, 8), _mm_clmulepi64_si128(x, to_96, 0x00));
	quotient = _mm_clmulepi64_si128(x, divide, 0x00);
	x = _mm_xor_si128(x, _mm_clmulepi64_si128(quotient, divide, 0x10));
	return ~(uint32_t)_mm_extract_epi32(x, 2);
}

#endif
