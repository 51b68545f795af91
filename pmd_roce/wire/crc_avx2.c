/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32 by 32-byte blocks: AVX2 with VPCLMULQDQ, as AMD's Zen 3 and Intel's client processors have it without AVX-512. */

#include <string.h>

#include <rte_common.h>

#include "wire/crc_fold.h"
#include "wire/crc_paths.h"

#define BLOCK  ((size_t)32)
#define HEAD   4u
#define ZERO   _mm256_setzero_si256()
#define TARGET __attribute__((target("avx2,vpclmulqdq,pclmul,sse4.1")))

/* Moves by a distance: x^(d-32) and x^(d+32) for both lanes. */
#define MOVE(first, second)                                                             \
	_mm256_set_epi64x((long long)(second), (long long)(first), (long long)(second), \
			(long long)(first))
#define MOVE_1 MOVE(ROCE_CRC_X288, ROCE_CRC_X224)
#define MOVE_2 MOVE(ROCE_CRC_X544, ROCE_CRC_X480)
#define MOVE_3 MOVE(ROCE_CRC_X800, ROCE_CRC_X736)
#define MOVE_4 MOVE(ROCE_CRC_X1056, ROCE_CRC_X992)

typedef __m256i vec;

TARGET static inline vec
load(const uint8_t *at)
{
	return _mm256_loadu_si256((const __m256i *)at);
}

TARGET static inline vec
load_from(const uint8_t *at, uint32_t pad)
{
	static const int32_t keep[2 * BLOCK / 4] = { 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1,
		-1, -1 };

	return _mm256_maskload_epi32((const int *)at, load((const uint8_t *)keep + BLOCK - pad));
}

TARGET static inline void
store(uint8_t *at, vec x)
{
	_mm256_storeu_si256((__m256i *)at, x);
}

TARGET static inline vec
either(vec x, vec y)
{
	return _mm256_or_si256(x, y);
}

TARGET static inline vec
plus(vec x, vec y)
{
	return _mm256_xor_si256(x, y);
}

/* x, moved, plus what stands there. */
TARGET static inline vec
fold(vec x, vec move, vec there)
{
	return plus(plus(_mm256_clmulepi64_epi128(x, move, 0x00),
				    _mm256_clmulepi64_epi128(x, move, 0x11)),
			there);
}

/* The first lane to the place of the second, then to 32 bits. */
TARGET static inline uint32_t
reduce(vec x)
{
	const __m128i move = _mm_set_epi64x((long long)ROCE_CRC_X96, (long long)ROCE_CRC_X160);
	const __m128i first = _mm256_castsi256_si128(x);

	return roce_crc_reduce(
			_mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(first, move, 0x00),
						      _mm_clmulepi64_si128(first, move, 0x11)),
					_mm256_extracti128_si256(x, 1)));
}

/* In two halves that overlap by the pad. */
TARGET static inline vec
pass_last(uint8_t *to, const uint8_t *from, uint32_t pad, bool counts)
{
	const uint32_t half = BLOCK / 2 - pad;
	const __m128i first = _mm_loadu_si128((const __m128i *)from);
	const __m128i second = _mm_loadu_si128((const __m128i *)(from + half));

	_mm_storeu_si128((__m128i *)to, first);
	_mm_storeu_si128((__m128i *)(to + half), second);
	if (pad == 0)
		return _mm256_set_m128i(second, first);
	return load(counts ? from : to);
}

#include "wire/crc_wide.inc"

/* As in crc_avx512.c. */
static bool
supported(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq");
}

const struct roce_crc_path roce_crc_avx2 = {
	.name = "avx2+vpclmulqdq",
	.supported = supported,
	.crc = crc,
	.crc_copy_in = crc_copy_in,
	.crc_copy_out = crc_copy_out,
};
