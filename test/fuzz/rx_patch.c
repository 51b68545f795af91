/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of a frame made otherwise, one at a time: whatever a network, a broken peer or an enemy could do to it. */

#include <string.h>

#include "rx_world.h"

#define ETH 14u

/* Where the parts of a frame that an engine or rx_forge() made are. */
struct map {
	uint8_t *eth;
	uint8_t *ip;
	uint8_t *udp;
	uint8_t *bth;
	bool v6;
};

static struct map
map_of(struct rx_flat *flat)
{
	struct map map = { .eth = flat->bytes, .ip = flat->bytes + ETH };

	if (flat->bytes[12] == 0x81)
		map.ip += 4;
	map.v6 = map.ip[0] >> 4 == 6;
	map.udp = map.ip + (map.v6 ? 40 : 20);
	map.bth = map.udp + 8;
	return map;
}

static void
set16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static uint32_t
get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static void
insert(struct rx_flat *flat, uint32_t at, const uint8_t *bytes, uint32_t n)
{
	if (flat->len + n > sizeof(flat->bytes))
		return;
	memmove(flat->bytes + at + n, flat->bytes + at, flat->len - at);
	memcpy(flat->bytes + at, bytes, n);
	flat->len += n;
}

/* Behind the addresses. */
static void
insert_tags(struct rx_flat *flat, uint32_t tags, uint32_t tci)
{
	const uint8_t tag[4] = { 0x81, 0, (uint8_t)(tci >> 8), (uint8_t)tci };

	for (; tags > 0; tags--)
		insert(flat, 12, tag, sizeof(tag));
}

static void
insert_options(struct rx_flat *flat, const struct map *map, uint32_t words)
{
	static const uint8_t nops[40] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

	words %= 11;
	if (map->v6)
		return;
	map->ip[0] = (uint8_t)(0x45 + words);
	set16(map->ip + 2, get16(map->ip + 2) + 4 * words);
	insert(flat, (uint32_t)(map->udp - flat->bytes), nops, 4 * words);
}

/* The lengths in both headers, by the same amount: @p change of 0x8000 and more is less. */
static void
change_lengths(const struct map *map, uint32_t change)
{
	uint8_t *ip_len = map->v6 ? map->ip + 4 : map->ip + 2;

	set16(map->udp + 4, get16(map->udp + 4) + change);
	set16(ip_len, get16(ip_len) + change);
}

static void
append(struct rx_flat *flat, uint32_t n)
{
	n = RTE_MIN(n, (uint32_t)sizeof(flat->bytes) - flat->len);
	memset(flat->bytes + flat->len, 0xee, n);
	flat->len += n;
}

static void
truncate_by(struct rx_flat *flat, uint32_t n)
{
	flat->len = n < flat->len ? flat->len - n : 0;
}

/* Below the BTH. */
static void
patch_below(struct rx_flat *flat, const struct map *map, uint8_t field, uint32_t value)
{
	switch (field) {
	case 0:
		set16(map->ip - 2, value);
		break;
	case 1:
		insert_tags(flat, 1 + (value >> 15), value);
		break;
	case 2:
		map->ip[0] = (uint8_t)value;
		break;
	case 3:
		insert_options(flat, map, value);
		break;
	case 4:
		map->ip[1] = (uint8_t)value;
		break;
	case 5:
		set16(map->ip + (map->v6 ? 4 : 2), value);
		break;
	case 6:
		set16(map->ip + 6, value);
		break;
	case 7:
		map->ip[map->v6 ? 6 : 9] = (uint8_t)value;
		break;
	case 8:
		map->udp[-1 - (int)(value & 15)] ^= (uint8_t)(value >> 8);
		break;
	case 9:
		set16(map->udp + 2 * (value & 1), value >> 1);
		break;
	case 10:
		set16(map->udp + 4, value);
		break;
	case 11:
		change_lengths(map, value);
		break;
	case 12:
		set16(map->udp + 6, value);
		break;
	default:
		map->eth[value % 12] ^= (uint8_t)(value >> 8);
		break;
	}
}

/* From the BTH on, and how much there is of the frame. */
static void
patch_above(struct rx_flat *flat, const struct map *map, uint8_t field, uint32_t value)
{
	static const uint32_t numbers[4] = { 0, 1, 2, 0xffffff };
	uint32_t number;

	switch (field) {
	case 0:
		map->bth[1] = (uint8_t)value;
		break;
	case 1:
		set16(map->bth + 2, value);
		break;
	case 2:
		map->bth[4] = (uint8_t)value;
		break;
	case 3:
		map->bth[7] ^= (uint8_t)value;
		break;
	case 4:
		number = numbers[value & 3];
		map->bth[5] = (uint8_t)(number >> 16);
		set16(map->bth + 6, number);
		break;
	case 5:
		map->bth[8] = (uint8_t)value;
		break;
	case 6:
		truncate_by(flat, value & 0x3ff);
		break;
	case 7:
		append(flat, value & 0x3ff);
		break;
	case 8:
		/* More, or less, than the opcode wants, and the lengths say so. */
		change_lengths(map, value & 0x80 ? 0u - (value & 0x7f) : value & 0x7f);
		if (value & 0x80)
			truncate_by(flat, value & 0x7f);
		else
			append(flat, value & 0x7f);
		break;
	case 9:
		/* The pad says otherwise. */
		map->bth[1] ^= (uint8_t)(value << 4 & 0x30);
		break;
	default:
		if (flat->len > 0)
			flat->bytes[value % flat->len] ^= (uint8_t)(1 + (value >> 8));
		break;
	}
}

void
rx_mark(struct rx_flat *flat)
{
	struct map map = map_of(flat);

	map.ip[1] |= map.v6 ? 0x30 : 3;
}

void
rx_patch(struct rx_flat *flat, const uint8_t *r)
{
	uint32_t value = base_u16(r + 1);
	struct map map;

	if (r[0] == 0 || flat->len < ETH + 48)
		return;
	map = map_of(flat);
	if (map.v6 && flat->len < ETH + 4 + 68)
		return;
	if (r[0] & 1)
		patch_below(flat, &map, (r[0] >> 1) % 14, value);
	else
		patch_above(flat, &map, (r[0] >> 1) % 11, value);
}
