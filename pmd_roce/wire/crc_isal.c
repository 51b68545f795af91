/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32 by ISA-L, for every CPU, and the choice among the paths. */

#include <string.h>

#include <isa-l/crc.h>

#include <rte_common.h>

#include "wire/crc_paths.h"

#define HEAD 64u /**< bytes that a mask covers */

/*
 * A payload of up to this length goes with the headers in one call: a call of ISA-L costs more than the copy
 * (measured: 24 instead of 34 ns at 64 bytes, 25 instead of 48 at 464).
 */
#define SHORT 448u

/* ISA-L inverts seed and result: this is the initial value zero. */
#define ZERO UINT32_MAX

/* dst = src | mask. Loads and stores of eight bytes: single bytes would stall the wide loads that follow at once. */
static inline void
mask_head(uint8_t *dst, const uint8_t *src, const uint8_t *mask, uint32_t len)
{
	uint64_t bytes, ones;
	uint32_t i;

	for (i = 0; i + sizeof(bytes) <= len; i += sizeof(bytes)) {
		memcpy(&bytes, src + i, sizeof(bytes));
		memcpy(&ones, mask + i, sizeof(ones));
		bytes |= ones;
		memcpy(dst + i, &bytes, sizeof(bytes));
	}
	for (; i < len; i++)
		dst[i] = src[i] | mask[i];
}

static uint32_t
crc(const uint8_t *stream, uint32_t len, const uint8_t *mask)
{
	const uint32_t head_len = RTE_MIN(len, HEAD);
	const uint32_t rest = len - head_len;
	uint8_t head[HEAD + SHORT] __rte_aligned(16);

	mask_head(head, stream, mask + ROCE_CRC_MASK_AT, head_len);
	if (rest > SHORT)
		return crc32_gzip_refl(
				crc32_gzip_refl(ZERO, head, head_len), stream + head_len, rest);
	memcpy(head + head_len, stream + head_len, rest);
	return crc32_gzip_refl(ZERO, head, len);
}

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
	return true;
}

const struct roce_crc_path roce_crc_isal = {
	.name = "isa-l",
	.supported = supported,
	.crc = crc,
	.crc_copy_in = crc_copy_in,
	.crc_copy_out = crc_copy_out,
};

const struct roce_crc_path *const roce_crc_paths[ROCE_CRC_PATHS] = {
#ifdef RTE_ARCH_X86
	&roce_crc_avx512,
	&roce_crc_avx2,
	&roce_crc_clmul,
#endif
	[ROCE_CRC_PATHS - 1] = &roce_crc_isal,
};

const struct roce_crc_path *roce_crc_best = &roce_crc_isal;

RTE_INIT(choose)
{
	for (unsigned int i = ROCE_CRC_PATHS; i-- > 0;) {
		if (roce_crc_paths[i] != NULL && roce_crc_paths[i]->supported())
			roce_crc_best = roce_crc_paths[i];
	}
}
