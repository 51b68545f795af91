/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Mutations of scripts that know what a step is: libFuzzer's own, which know bytes only, would move every step
 * behind an inserted byte to the wrong place.
 */

#include <string.h>

#include "base.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
		uint8_t *out, size_t max);

/* Every choice of the mutator follows from the seed it was given. */
static uint32_t
draw(uint64_t *random, uint32_t n)
{
	uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z >> 32) * n >> 32);
}

static uint8_t *
record(uint8_t *data, uint32_t index)
{
	return data + (size_t)index * BASE_RECORD;
}

/* Make room for a step at @p at. */
static void
open_gap(uint8_t *data, uint32_t records, uint32_t at)
{
	memmove(record(data, at + 1), record(data, at), (size_t)(records - at) * BASE_RECORD);
}

/* One more step: a copy of another one, or anything. @return records. */
static uint32_t
insert(uint8_t *data, uint32_t records, uint64_t *random)
{
	uint32_t at = 1 + draw(random, records);
	uint32_t from = draw(random, records);
	uint8_t copy[BASE_RECORD];

	memcpy(copy, record(data, from), sizeof(copy));
	if (from == 0 || draw(random, 3) == 0) {
		for (uint32_t i = 0; i < sizeof(copy); i++)
			copy[i] = draw(random, 2) ? (uint8_t)draw(random, 256) : 0;
	}
	open_gap(data, records, at);
	memcpy(record(data, at), copy, sizeof(copy));
	return records + 1;
}

static uint32_t
erase(uint8_t *data, uint32_t records, uint64_t *random)
{
	uint32_t at = 1 + draw(random, records - 1);

	memmove(record(data, at), record(data, at + 1), (size_t)(records - at - 1) * BASE_RECORD);
	return records - 1;
}

static void
swap(uint8_t *data, uint32_t records, uint64_t *random)
{
	uint8_t *a = record(data, 1 + draw(random, records - 1));
	uint8_t *b = record(data, 1 + draw(random, records - 1));
	uint8_t copy[BASE_RECORD];

	memcpy(copy, a, sizeof(copy));
	memmove(a, b, sizeof(copy));
	memcpy(b, copy, sizeof(copy));
}

/* Some bytes of one record, the world's included. */
static void
change(uint8_t *data, uint32_t records, uint64_t *random)
{
	uint8_t *at = record(data, draw(random, records));

	switch (draw(random, 4)) {
	case 0:
		(void)LLVMFuzzerMutate(at, BASE_RECORD, BASE_RECORD);
		break;
	case 1:
		at[draw(random, BASE_RECORD)] ^= (uint8_t)(1u << draw(random, 8));
		break;
	case 2:
		at[draw(random, BASE_RECORD)] += (uint8_t)(draw(random, 5) - 2);
		break;
	default:
		at[draw(random, BASE_RECORD)] = (uint8_t)draw(random, 256);
		break;
	}
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	uint32_t most = (uint32_t)RTE_MIN(max / BASE_RECORD, (size_t)BASE_STEPS_MAX + 1);
	uint32_t records = (uint32_t)RTE_MIN(size / BASE_RECORD, (size_t)most);
	uint64_t random = seed;

	if (most < 2)
		return 0;
	if (records == 0) {
		memset(data, 0, BASE_RECORD);
		records = 1;
	}
	for (uint32_t n = 1 + draw(&random, 4); n > 0; n--) {
		uint32_t what = draw(&random, 8);

		if (records < most && (records < 2 || what == 0))
			records = insert(data, records, &random);
		else if (records > 2 && what == 1)
			records = erase(data, records, &random);
		else if (records > 2 && what == 2)
			swap(data, records, &random);
		else
			change(data, records, &random);
	}
	data[0] = BASE_MAGIC;
	return (size_t)records * BASE_RECORD;
}

/* The beginning of one script, its world included, and the end of another. */
size_t
LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
		uint8_t *out, size_t max)
{
	uint32_t a_records = (uint32_t)(a_size / BASE_RECORD);
	uint32_t b_records = (uint32_t)(b_size / BASE_RECORD);
	uint64_t random = a_size * 31 + b_size + (a_size > 1 ? a[a_size - 1] : 0);
	uint32_t head, tail;

	if (a_records == 0 || b_records < 2)
		return 0;
	head = 1 + draw(&random, a_records);
	tail = RTE_MIN(1 + draw(&random, b_records - 1), (uint32_t)(max / BASE_RECORD) - 1);
	head = RTE_MIN(head, (uint32_t)(max / BASE_RECORD) - tail);
	memcpy(out, a, (size_t)head * BASE_RECORD);
	memcpy(out + (size_t)head * BASE_RECORD, b + (size_t)(b_records - tail) * BASE_RECORD,
			(size_t)tail * BASE_RECORD);
	return (size_t)(head + tail) * BASE_RECORD;
}
