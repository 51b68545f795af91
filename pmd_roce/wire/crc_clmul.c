/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32 by 16-byte blocks: PCLMULQDQ with SSE4.1. */

#include <string.h>

#include <rte_cpuflags.h>

#include "wire/crc_fold.h"
#include "wire/crc_paths.h"

#define BLOCK  ((size_t)16)
#define HEAD   5u /**< blocks that a header may reach into */
#define TARGET __attribute__((target("pclmul,sse4.1")))

#define MOVE(first, second) _mm_set_epi64x((long long)(second), (long long)(first))
#define MOVE_1              MOVE(ROCE_CRC_X160, ROCE_CRC_X96)
#define MOVE_2              MOVE(ROCE_CRC_X288, ROCE_CRC_X224)
#define MOVE_3              MOVE(ROCE_CRC_X416, ROCE_CRC_X352)
#define MOVE_4              MOVE(ROCE_CRC_X544, ROCE_CRC_X480)

TARGET static inline __m128i
load(const uint8_t *at)
{
	return _mm_loadu_si128((const __m128i *)at);
}

TARGET static inline __m128i
fold(__m128i x, __m128i move, __m128i there)
{
	return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(x, move, 0x00),
					     _mm_clmulepi64_si128(x, move, 0x11)),
			there);
}

/*
 * The first block has up to twelve bytes in front of the stream, of which ten may be read. With all twelve there is
 * nothing in it but the ones.
 */
TARGET static inline __m128i
first_block(const uint8_t *at, uint32_t pad, const uint8_t *mask)
{
	static const uint8_t keep[2 * BLOCK] = { [BLOCK] = 0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff,
		0xff };
	const __m128i ones = load(mask + ROCE_CRC_MASK_AT - pad);

	if (pad == 12)
		return ones;
	return _mm_or_si128(_mm_and_si128(load(at), load(keep + BLOCK - pad)), ones);
}

TARGET static uint32_t
crc(const uint8_t *stream, uint32_t len, const uint8_t *mask)
{
	const uint32_t pad = -len & (BLOCK - 1);
	const uint8_t *at = stream - pad;
	uint32_t blocks = (len + pad) / BLOCK;
	__m128i a, b, c, d;
	uint32_t i;

	a = first_block(at, pad, mask);
	for (i = 1; i < HEAD && i < blocks; i++)
		a = fold(a, MOVE_1,
				_mm_or_si128(load(at + i * BLOCK),
						load(mask + ROCE_CRC_MASK_AT + i * BLOCK - pad)));
	at += i * BLOCK;
	blocks -= i;
	for (; blocks & 3; blocks--, at += BLOCK)
		a = fold(a, MOVE_1, load(at));
	if (blocks == 0)
		return roce_crc_reduce(a);
	d = a;
	a = b = c = _mm_setzero_si128();
	for (; blocks > 0; blocks -= 4, at += 4 * BLOCK) {
		a = fold(a, MOVE_4, load(at));
		b = fold(b, MOVE_4, load(at + BLOCK));
		c = fold(c, MOVE_4, load(at + 2 * BLOCK));
		d = fold(d, MOVE_4, load(at + 3 * BLOCK));
	}
	a = _mm_xor_si128(
			fold(a, MOVE_3, d), fold(b, MOVE_2, fold(c, MOVE_1, _mm_setzero_si128())));
	return roce_crc_reduce(a);
}

/* Two passes: at 16 bytes a block the multiplications take most of the time. */
static uint32_t
crc_copy_in(uint8_t *stream, uint32_t head, uint32_t len, const uint8_t *payload,
		uint32_t payload_len, const uint8_t *mask)
{
	memcpy(stream + head, payload, payload_len);
	return crc(stream, len, mask);
}

static uint32_t
crc_copy_out(const uint8_t *stream, uint32_t head, uint32_t len, uint8_t *to, uint32_t payload_len,
		const uint8_t *mask)
{
	memcpy(to, stream + head, payload_len);
	return crc(stream, len, mask);
}

static bool
supported(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_PCLMULQDQ) > 0 &&
			rte_cpu_get_flag_enabled(RTE_CPUFLAG_SSE4_1) > 0;
}

const struct roce_crc_path roce_crc_clmul = {
	.name = "pclmulqdq",
	.supported = supported,
	.crc = crc,
	.crc_copy_in = crc_copy_in,
	.crc_copy_out = crc_copy_out,
};
