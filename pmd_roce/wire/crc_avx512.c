/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32 by 64-byte blocks: AVX-512 with VPCLMULQDQ. */

#include <string.h>

#include "wire/crc_fold.h"
#include "wire/crc_paths.h"

#define BLOCK  ((size_t)64)
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

TARGET static inline __m512i
load(const uint8_t *at)
{
	return _mm512_loadu_si512(at);
}

/* x, moved, plus what stands there. */
TARGET static inline __m512i
fold(__m512i x, __m512i move, __m512i there)
{
	return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(x, move, 0x00),
			_mm512_clmulepi64_epi128(x, move, 0x11), there, 0x96);
}

/* The four lanes to the place of the last, then to 32 bits. */
TARGET static inline uint32_t
reduce(__m512i x)
{
	const __m512i move =
			_mm512_set_epi64(0, 0, (long long)ROCE_CRC_X96, (long long)ROCE_CRC_X160,
					(long long)ROCE_CRC_X224, (long long)ROCE_CRC_X288,
					(long long)ROCE_CRC_X352, (long long)ROCE_CRC_X416);
	__m256i y;

	x = fold(x, move, _mm512_maskz_mov_epi64(0xc0, x));
	y = _mm256_xor_si256(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
	return roce_crc_reduce(
			_mm_xor_si128(_mm256_castsi256_si128(y), _mm256_extracti128_si256(y, 1)));
}

/* The block in which the stream begins, @p pad bytes behind @p at. */
TARGET static inline __m512i
first_block(const uint8_t *at, uint32_t pad, const uint8_t *mask)
{
	return _mm512_or_si512(_mm512_maskz_loadu_epi8(~UINT64_C(0) << pad, at),
			load(mask + ROCE_CRC_MASK_AT - pad));
}

TARGET static inline __m512i
second_block(const uint8_t *at, uint32_t pad, const uint8_t *mask)
{
	return _mm512_or_si512(load(at + BLOCK), load(mask + ROCE_CRC_MASK_AT + BLOCK - pad));
}

/* Four blocks side by side, then one. */
struct lanes {
	__m512i a, b, c, d;
};

TARGET static inline __m512i
join(const struct lanes *l)
{
	return _mm512_xor_si512(fold(l->a, MOVE_3, fold(l->b, MOVE_2, _mm512_setzero_si512())),
			fold(l->c, MOVE_1, l->d));
}

/* x and the first blocks behind it, so that the rest are fours. @return how many blocks it took. */
TARGET static inline uint32_t
spread(struct lanes *l, __m512i x, const uint8_t *at, uint32_t blocks)
{
	const __m512i none = _mm512_setzero_si512();
	const uint32_t taken = blocks & 3;

	switch (taken) {
	case 0:
		*l = (struct lanes){ none, none, none, x };
		break;
	case 1:
		*l = (struct lanes){ none, none, x, load(at) };
		break;
	case 2:
		*l = (struct lanes){ none, x, load(at), load(at + BLOCK) };
		break;
	default:
		*l = (struct lanes){ x, load(at), load(at + BLOCK), load(at + 2 * BLOCK) };
		break;
	}
	return taken;
}

/* x, then so many blocks. */
TARGET static inline uint32_t
crc_blocks(__m512i x, const uint8_t *at, uint32_t blocks)
{
	struct lanes l;
	uint32_t taken;

	if (blocks < 6) {
		for (; blocks > 0; blocks--, at += BLOCK)
			x = fold(x, MOVE_1, load(at));
		return reduce(x);
	}
	taken = spread(&l, x, at, blocks);
	at += taken * BLOCK;
	for (blocks -= taken; blocks > 0; blocks -= 4, at += 4 * BLOCK) {
		l.a = fold(l.a, MOVE_4, load(at));
		l.b = fold(l.b, MOVE_4, load(at + BLOCK));
		l.c = fold(l.c, MOVE_4, load(at + 2 * BLOCK));
		l.d = fold(l.d, MOVE_4, load(at + 3 * BLOCK));
	}
	return reduce(join(&l));
}

TARGET static uint32_t
crc(const uint8_t *stream, uint32_t len, const uint8_t *mask)
{
	const uint32_t pad = -len & (BLOCK - 1);
	const uint8_t *at = stream - pad;
	const uint32_t blocks = (len + pad) / BLOCK;
	__m512i x = first_block(at, pad, mask);

	if (blocks == 1)
		return reduce(x);
	x = fold(x, MOVE_1, second_block(at, pad, mask));
	return crc_blocks(x, at + 2 * BLOCK, blocks - 2);
}

/* A block that is copied while it is here. */
TARGET static inline __m512i
pass(uint8_t *to, const uint8_t *from)
{
	const __m512i x = load(from);

	_mm512_storeu_si512(to, x);
	return x;
}

/* The part of the payload in the first two blocks of the stream, and more, which is copied again. */
TARGET static inline void
begin(uint8_t *to, const uint8_t *from)
{
	(void)pass(to, from);
	(void)pass(to + BLOCK, from + BLOCK);
}

/* spread() of blocks that are copied. */
TARGET static inline uint32_t
spread_pass(struct lanes *l, __m512i x, uint8_t *to, const uint8_t *from, uint32_t blocks)
{
	const __m512i none = _mm512_setzero_si512();
	const uint32_t taken = blocks & 3;

	*l = (struct lanes){ none, none, none, x };
	for (uint32_t i = 0; i < taken; i++, to += BLOCK, from += BLOCK)
		*l = (struct lanes){ l->b, l->c, l->d, pass(to, from) };
	return taken;
}

/*
 * x, then so many blocks, at least four, which are copied; of the last one what @p copied has a bit for, while what
 * @p counted has a bit for goes into the CRC.
 */
TARGET static inline uint32_t
crc_pass(__m512i x, uint8_t *to, const uint8_t *from, uint32_t blocks, uint64_t copied,
		uint64_t counted)
{
	struct lanes l;
	const uint32_t taken = spread_pass(&l, x, to, from, blocks);
	__m512i last;

	to += taken * BLOCK;
	from += taken * BLOCK;
	for (blocks -= taken; blocks > 4; blocks -= 4, to += 4 * BLOCK, from += 4 * BLOCK) {
		l.a = fold(l.a, MOVE_4, pass(to, from));
		l.b = fold(l.b, MOVE_4, pass(to + BLOCK, from + BLOCK));
		l.c = fold(l.c, MOVE_4, pass(to + 2 * BLOCK, from + 2 * BLOCK));
		l.d = fold(l.d, MOVE_4, pass(to + 3 * BLOCK, from + 3 * BLOCK));
	}
	last = _mm512_maskz_loadu_epi8(counted, from + 3 * BLOCK);
	_mm512_mask_storeu_epi8(to + 3 * BLOCK, copied, last);
	l.a = fold(l.a, MOVE_4, pass(to, from));
	l.b = fold(l.b, MOVE_4, pass(to + BLOCK, from + BLOCK));
	l.c = fold(l.c, MOVE_4, pass(to + 2 * BLOCK, from + 2 * BLOCK));
	l.d = fold(l.d, MOVE_4, last);
	return reduce(join(&l));
}

/* Whether it is worth it: what is copied in blocks begins behind the first two, which hold the header. */
static inline bool
is_long(uint32_t pad, uint32_t head, uint32_t len)
{
	return (len + pad) / BLOCK >= 8 && pad + head <= 2 * BLOCK;
}

/* The first two blocks are read back. The last block's pad is not in the payload. */
TARGET static uint32_t
crc_copy_in(uint8_t *stream, uint32_t head, uint32_t len, const uint8_t *payload,
		uint32_t payload_len, const uint8_t *mask)
{
	const uint32_t pad = -len & (BLOCK - 1);
	uint8_t *at = stream - pad;
	const uint64_t last = ~UINT64_C(0) >> (len - head - payload_len);
	const uint32_t begun = 2 * BLOCK - pad - head;
	__m512i x;

	if (!is_long(pad, head, len)) {
		memcpy(stream + head, payload, payload_len);
		return crc(stream, len, mask);
	}
	begin(stream + head, payload);
	x = fold(first_block(at, pad, mask), MOVE_1, second_block(at, pad, mask));
	return crc_pass(x, at + 2 * BLOCK, payload + begun, (len + pad) / BLOCK - 2, last, last);
}

TARGET static uint32_t
crc_copy_out(const uint8_t *stream, uint32_t head, uint32_t len, uint8_t *to, uint32_t payload_len,
		const uint8_t *mask)
{
	const uint32_t pad = -len & (BLOCK - 1);
	const uint8_t *at = stream - pad;
	const uint64_t last = ~UINT64_C(0) >> (len - head - payload_len);
	const uint32_t begun = 2 * BLOCK - pad - head;
	__m512i x;

	if (!is_long(pad, head, len)) {
		memcpy(to, stream + head, payload_len);
		return crc(stream, len, mask);
	}
	begin(to, stream + head);
	x = fold(first_block(at, pad, mask), MOVE_1, second_block(at, pad, mask));
	return crc_pass(x, to + begun, at + 2 * BLOCK, (len + pad) / BLOCK - 2, last, ~UINT64_C(0));
}

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
