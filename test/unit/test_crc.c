/* SPDX-License-Identifier: BSD-3-Clause */
/* Every way of computing the CRC against bit by bit, and the constants of folding against the polynomial. */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "unit.h"
#include "wire/crc.h"

#ifdef RTE_ARCH_X86
#include "wire/crc_fold.h"
#endif

#define ROOM 4400u /**< the longest frame and what surrounds it */

static uint8_t mask[ROCE_CRC_MASK_LEN];

/* Four bytes of ones, then whatever covers a header of @p len bytes. */
static void
make_mask(uint32_t len, uint32_t seed)
{
	memset(mask, 0, sizeof(mask));
	for (uint32_t i = 0; i < len; i++) {
		seed = seed * 1664525u + 1013904223u;
		mask[ROCE_CRC_MASK_AT + i] = i < 4 ? 0xff : (uint8_t)((seed >> 24) & (seed >> 16));
	}
}

static void
fill(uint8_t *bytes, uint32_t len, uint32_t seed)
{
	for (uint32_t i = 0; i < len; i++) {
		seed = seed * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(seed >> 24);
	}
}

/* Law: eight bytes of ones and the initial value of all CRCs, of which four and the value cancel out. */
static uint32_t
bit_by_bit(const uint8_t *stream, uint32_t len)
{
	uint32_t crc = UINT32_MAX;

	for (uint32_t i = 0; i < 4 + len; i++) {
		uint32_t at = i - 4;

		crc ^= i < 4 ? 0xff
			     : (uint32_t)stream[at] | (at < 64 ? mask[ROCE_CRC_MASK_AT + at] : 0);
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ ((crc & 1) ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* Calls @p check with every path that this CPU has. @return how many. */
static unsigned int
with_each(void (*check)(const struct roce_crc_path *path))
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < ROCE_CRC_PATHS; i++) {
		if (roce_crc_paths[i] == NULL || !roce_crc_paths[i]->supported())
			continue;
		check(roce_crc_paths[i]);
		n++;
	}
	return n;
}

static const uint32_t lengths[] = { 44,
	64 }; /**< of headers that have something to mask: IPv4, IPv6 */

/* Each length at each alignment, in memory of exactly that length and the ten bytes in front. */
static void
check_lengths(const struct roce_crc_path *path)
{
	for (uint32_t len = 48; len <= 1100; len += 4) {
		for (unsigned int v6 = 0; v6 < 2; v6++) {
			uint8_t *bytes = malloc(10 + len);
			uint32_t want;

			assert_non_null(bytes);
			if (len < lengths[v6]) {
				free(bytes);
				continue;
			}
			make_mask(lengths[v6], len);
			fill(bytes, 10 + len, len * 2 + v6);
			want = bit_by_bit(bytes + 10, len);
			if (path->crc(bytes + 10, len, mask) != want)
				fail_msg("%s: %u bytes, header of %u", path->name, len,
						lengths[v6]);
			free(bytes);
		}
	}
}

UNIT_RULE_IN(crc__of_every_length, NULL, NULL)
{
	assert_in_range(with_each(check_lengths), 1, ROCE_CRC_PATHS);
}

/* The longest frames, where several blocks are folded side by side. */
static void
check_long(const struct roce_crc_path *path)
{
	uint8_t bytes[ROOM];

	make_mask(44, 1);
	for (uint32_t len = 4000; len <= 4240; len += 4) {
		fill(bytes, sizeof(bytes), len);
		if (path->crc(bytes + 10, len, mask) != bit_by_bit(bytes + 10, len))
			fail_msg("%s: %u bytes", path->name, len);
	}
}

UNIT_RULE_IN(crc__of_long_frames, NULL, NULL)
{
	(void)with_each(check_long);
}

/* The bytes in front of a stream do not change its CRC. */
static void
check_front(const struct roce_crc_path *path)
{
	uint8_t bytes[400];

	make_mask(44, 1);
	for (uint32_t len = 48; len <= 320; len += 4) {
		uint32_t before;

		fill(bytes, sizeof(bytes), len);
		before = path->crc(bytes + 64, len, mask);
		memset(bytes, 0xa5, 64);
		assert_int_equal(path->crc(bytes + 64, len, mask), before);
	}
}

UNIT_RULE_IN(crc__begins_where_it_is_told, NULL, NULL)
{
	(void)with_each(check_front);
}

/* A payload of exactly its bytes goes into a frame of exactly its bytes, and the CRC is that of the frame. */
static void
check_copy_of(const struct roce_crc_path *path, uint32_t head, uint32_t payload_len)
{
	const uint32_t len = head + ((payload_len + 3) & ~3u);
	uint8_t *payload = malloc(payload_len);
	uint8_t *bytes = malloc(10 + len);
	uint32_t crc;

	assert_true(payload != NULL && bytes != NULL);
	fill(bytes, 10 + head, payload_len);
	memset(bytes + 10 + len - 4, 0, 4);
	fill(payload, payload_len, head);
	crc = path->crc_copy_in(bytes + 10, head, len, payload, payload_len, mask);
	if (memcmp(bytes + 10 + head, payload, payload_len) != 0)
		fail_msg("%s: %u + %u bytes are not copied", path->name, head, payload_len);
	for (uint32_t at = head + payload_len; at < len; at++)
		assert_int_equal(bytes[10 + at], 0);
	if (crc != bit_by_bit(bytes + 10, len))
		fail_msg("%s: %u + %u bytes", path->name, head, payload_len);
	free(payload);
	free(bytes);
}

/* The payload of a frame, whatever its pad, goes into exactly its bytes, and the CRC is that of the frame. */
static void
check_copy_out_of(const struct roce_crc_path *path, uint32_t head, uint32_t payload_len)
{
	const uint32_t len = head + ((payload_len + 3) & ~3u);
	uint8_t *payload = malloc(payload_len);
	uint8_t *bytes = malloc(10 + len);
	uint32_t crc;

	assert_true(payload != NULL && bytes != NULL);
	fill(bytes, 10 + len, payload_len);
	crc = path->crc_copy_out(bytes + 10, head, len, payload, payload_len, mask);
	if (memcmp(bytes + 10 + head, payload, payload_len) != 0)
		fail_msg("%s: %u + %u bytes are not copied out", path->name, head, payload_len);
	if (crc != bit_by_bit(bytes + 10, len))
		fail_msg("%s: %u + %u bytes, copied out", path->name, head, payload_len);
	free(payload);
	free(bytes);
}

static void
check_copies_of(const struct roce_crc_path *path, uint32_t head, uint32_t payload_len)
{
	check_copy_of(path, head, payload_len);
	check_copy_out_of(path, head, payload_len);
}

static void
check_copy(const struct roce_crc_path *path)
{
	static const uint32_t heads[] = { 44, 48, 60, 64, 68, 80, 84 };

	make_mask(44, 7);
	for (unsigned int i = 0; i < RTE_DIM(heads); i++) {
		for (uint32_t payload_len = 1; payload_len < 1300; payload_len++)
			check_copies_of(path, heads[i], payload_len);
		for (uint32_t payload_len = 4040; payload_len <= 4096; payload_len++)
			check_copies_of(path, heads[i], payload_len);
	}
}

UNIT_RULE_IN(copy__is_the_same_in_one_pass, NULL, NULL)
{
	(void)with_each(check_copy);
}

#ifdef RTE_ARCH_X86

#define POLYNOMIAL UINT64_C(0x104c11db7) /**< IEEE 802.3, x^32 first */

static uint64_t
reversed(uint64_t value, unsigned int bits)
{
	uint64_t result = 0;

	for (unsigned int i = 0; i < bits; i++)
		result |= (value >> i & 1) << (bits - 1 - i);
	return result;
}

/* x^power mod P in the bit order of the data, shifted by one. */
static uint64_t
power_of_x(unsigned int power)
{
	uint64_t rest = 1;

	while (power-- > 0) {
		rest <<= 1;
		if (rest >> 32)
			rest ^= POLYNOMIAL;
	}
	return reversed(rest, 32) << 1;
}

UNIT_RULE_IN(constants__are_powers_of_x, NULL, NULL)
{
	assert_true(power_of_x(96) == ROCE_CRC_X96 && power_of_x(160) == ROCE_CRC_X160);
	assert_true(power_of_x(224) == ROCE_CRC_X224 && power_of_x(288) == ROCE_CRC_X288);
	assert_true(power_of_x(352) == ROCE_CRC_X352 && power_of_x(416) == ROCE_CRC_X416);
	assert_true(power_of_x(480) == ROCE_CRC_X480 && power_of_x(544) == ROCE_CRC_X544);
	assert_true(power_of_x(736) == ROCE_CRC_X736 && power_of_x(800) == ROCE_CRC_X800);
	assert_true(power_of_x(992) == ROCE_CRC_X992 && power_of_x(1056) == ROCE_CRC_X1056);
	assert_true(power_of_x(1504) == ROCE_CRC_X1504 && power_of_x(1568) == ROCE_CRC_X1568);
	assert_true(power_of_x(2016) == ROCE_CRC_X2016 && power_of_x(2080) == ROCE_CRC_X2080);
}

/* Long division of x^96: one bit of the quotient for each power from 64 down. */
UNIT_RULE_IN(constants__divide, NULL, NULL)
{
	uint64_t rest = UINT64_C(1) << 32, quotient = 0;

	assert_true(reversed(POLYNOMIAL, 33) == ROCE_CRC_POLYNOMIAL);
	for (unsigned int bit = 0; bit < 64; bit++) {
		uint64_t one = rest >> 32 & 1;

		quotient |= one << bit;
		rest = (one ? rest ^ POLYNOMIAL : rest) << 1;
	}
	assert_true(quotient == ROCE_CRC_QUOTIENT);
	assert_int_equal(rest >> 32 & 1, 0);
}

#endif
