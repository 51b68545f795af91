/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32 by 64-byte blocks: AVX-512 with VPCLMULQDQ. */

#include <string.h>

#include <rte_common.h>

#include "wire/crc_fold.h"
#include "wire/crc_paths.h"

#define BLOCK  ((size_t)64)
#define HEAD   2u
#define ZERO   _mm512_setzero_si512()
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,vpclmulqdq,pclmul,sse4.1")))

/* Moves by a distance: x^(d-32) and x^(d+32) for each of the four lanes. */
#define MOVE(first, second)                                                            \
	_mm512_set_epi64((long long)(second), (long long)(first), (long long)(second), \
			(long long)(first), (long long)(second), (long long)(first),   \
			(long long)(second), (long long)(first))
#define MOVE_1 MOVE(ROCE_CRC_X544, ROCE_CRC_X480)
#define MOVE_2 MOVE(ROCE_CRC_X1056, ROCE_CRC_X992)
#define MOVE_3 MOVE(ROCE_CRC_X1568, ROCE_CRC_X1504)
#define MOVE_4 MOVE(ROCE_CRC_X2080, ROCE_CRC_X2016)

typedef __m512i vec;

TARGET static inline vec
load(const uint8_t *at)
{
	return _mm512_loadu_si512(at);
}

TARGET static inline vec
load_from(const uint8_t *at, uint32_t pad)
{
	return _mm512_maskz_loadu_epi8(~UINT64_C(0) << pad, at);
}

TARGET static inline void
store(uint8_t *at, vec x)
{
	_mm512_storeu_si512(at, x);
}

TARGET static inline vec
either(vec x, vec y)
{
	return _mm512_or_si512(x, y);
}

TARGET static inline vec
plus(vec x, vec y)
{
	return _mm512_xor_si512(x, y);
}

/* x, moved, plus what stands there. */
TARGET static inline vec
fold(vec x, vec move, vec there)
{
	return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(x, move, 0x00),
			_mm512_clmulepi64_epi128(x, move, 0x11), there, 0x96);
}

/* The four lanes to the place of the last, then to 32 bits. */
TARGET static inline uint32_t
reduce(vec x)
{
	const vec move = _mm512_set_epi64(0, 0, (long long)ROCE_CRC_X96, (long long)ROCE_CRC_X160,
			(long long)ROCE_CRC_X224, (long long)ROCE_CRC_X288,
			(long long)ROCE_CRC_X352, (long long)ROCE_CRC_X416);
	__m256i y;

	x = fold(x, move, _mm512_maskz_mov_epi64(0xc0, x));
	y = _mm256_xor_si256(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
	return roce_crc_reduce(
			_mm_xor_si128(_mm256_castsi256_si128(y), _mm256_extracti128_si256(y, 1)));
}

TARGET static inline vec
pass_last(uint8_t *to, const uint8_t *from, uint32_t pad, bool counts)
{
	const uint64_t copied = ~UINT64_C(0) >> pad;
	const vec x = _mm512_maskz_loadu_epi8(counts ? ~UINT64_C(0) : copied, from);

	_mm512_mask_storeu_epi8(to, copied, x);
	return x;
}

#include "wire/crc_wide.inc"

/* The compiler's own question, not DPDK's: it also asks whether the kernel keeps such wide registers. */
static bool
supported(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
			__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("vpclmulqdq");
}

const struct roce_crc_path roce_crc_avx512 = {
	.name = "avx512+vpclmulqdq",
	.supported = supported,
	.crc = crc,
	.crc_copy_in = crc_copy_in,
	.crc_copy_out = crc_copy_out,
};
