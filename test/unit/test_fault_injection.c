/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include "ethdev/fault_injection.h"
#include "rules.h"
#include "unit.h"

#define BURST           32
#define LOST(injection) ((injection).count[ROCE_FAULT_LOSS])

static struct rte_mbuf *frames[2 * BURST + 1];

static void
init_one(struct roce_fault_injection *injection, enum roce_fault_kind kind, uint32_t ppm,
		uint64_t seed)
{
	uint32_t rates[ROCE_FAULT_KINDS] = { 0 };

	rates[kind] = ppm;
	roce_fault_injection_init(injection, rates, seed, 0);
}

static void
init(struct roce_fault_injection *injection, uint32_t loss, uint64_t seed, uint32_t stream)
{
	const uint32_t rates[ROCE_FAULT_KINDS] = { [ROCE_FAULT_LOSS] = loss };

	roce_fault_injection_init(injection, rates, seed, stream);
}

static void
make_frames(void)
{
	for (uint16_t i = 0; i < BURST; i++)
		frames[i] = unit_mbuf(&i, sizeof(i));
}

static uint16_t
number_of(const struct rte_mbuf *m)
{
	return *rte_pktmbuf_mtod(m, const uint16_t *);
}

UNIT_RULE_IN(burst__off_touches_nothing, NULL, NULL)
{
	struct roce_fault_injection injection;
	uint64_t before;

	init(&injection, 0, 1, 0);
	before = injection.die[ROCE_FAULT_LOSS].state;
	assert_int_equal(roce_fault_injection_burst(&injection, frames, BURST), BURST);
	assert_true(injection.die[ROCE_FAULT_LOSS].state == before);
	assert_int_equal(LOST(injection), 0);
}

UNIT_RULE_IN(burst__of_all_frees_all, NULL, NULL)
{
	struct roce_fault_injection injection;

	init(&injection, 1000000, 1, 0);
	make_frames();
	assert_int_equal(roce_fault_injection_burst(&injection, frames, BURST), 0);
	assert_int_equal(LOST(injection), BURST);
	assert_true(unit_pool_is_full());
	assert_int_equal(roce_fault_injection_burst(&injection, frames, 0), 0);
}

UNIT_RULE_IN(burst__keeps_the_order_of_the_rest, NULL, NULL)
{
	struct roce_fault_injection injection;
	uint16_t kept;

	init(&injection, 500000, 7, 0);
	make_frames();
	kept = roce_fault_injection_burst(&injection, frames, BURST);
	assert_in_range(kept, 1, BURST - 1);
	assert_int_equal(kept + LOST(injection), BURST);
	for (uint16_t i = 1; i < kept; i++)
		assert_true(number_of(frames[i - 1]) < number_of(frames[i]));
	rte_pktmbuf_free_bulk(frames, kept);
	assert_true(unit_pool_is_full());
}

/* Which frames of a burst are lost, as a mask. */
static uint32_t
lost_mask(struct roce_fault_injection *injection)
{
	uint32_t mask = UINT32_MAX;
	uint16_t kept;

	make_frames();
	kept = roce_fault_injection_burst(injection, frames, BURST);
	for (uint16_t i = 0; i < kept; i++)
		mask &= ~(1u << number_of(frames[i]));
	rte_pktmbuf_free_bulk(frames, kept);
	return mask;
}

UNIT_RULE_IN(init__same_seed_and_stream_lose_the_same_frames, NULL, NULL)
{
	struct roce_fault_injection a, b, other_seed, other_stream;
	int same_seed = 0, same_stream = 0;

	init(&a, 300000, 5, 2);
	init(&b, 300000, 5, 2);
	init(&other_seed, 300000, 6, 2);
	init(&other_stream, 300000, 5, 3);
	for (int i = 0; i < 16; i++) {
		uint32_t mask = lost_mask(&a);

		assert_int_equal(mask, lost_mask(&b));
		same_seed += mask == lost_mask(&other_seed);
		same_stream += mask == lost_mask(&other_stream);
	}
	assert_int_equal(same_seed, 0);
	assert_int_equal(same_stream, 0);
}

/* Throws are made ahead, for whole bursts: how the frames are divided into bursts does not change which of them are lost. */
UNIT_RULE_IN(throw__strikes_the_same_frames_in_any_bursts, NULL, NULL)
{
	struct roce_fault_injection whole, single;

	init(&whole, 20000, 5, 2);
	init(&single, 20000, 5, 2);
	for (int i = 0; i < 200; i++) {
		uint32_t mask = lost_mask(&whole);

		for (uint16_t bit = 0; bit < BURST; bit++) {
			frames[0] = unit_mbuf(&bit, sizeof(bit));
			if (roce_fault_injection_burst(&single, frames, 1) == 1) {
				assert_false(mask >> bit & 1);
				rte_pktmbuf_free(frames[0]);
			} else {
				assert_true(mask >> bit & 1);
			}
		}
	}
	assert_in_range(LOST(whole), 1, 200 * BURST / 10);
}

/* One percent of many is one percent, give or take five standard deviations. */
UNIT_RULE_IN(throw__loses_the_share_asked_for, NULL, NULL)
{
	static const struct {
		uint32_t loss;
		uint32_t least, most; /* of 320,000 */
	} rule[] = {
		{ 10000, 2918, 3482 },
		{ 200000, 62868, 65132 },
		{ 10, 0, 13 },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_fault_injection injection;

		init(&injection, rule[i].loss, 1, 0);
		for (int n = 0; n < 10000; n++)
			lost_mask(&injection);
		assert_in_range(LOST(injection), rule[i].least, rule[i].most);
	}
	assert_true(unit_pool_is_full());
}

/* ---- the other kinds ---- */

UNIT_RULE_IN(duplicate__follows_its_original, NULL, NULL)
{
	struct roce_fault_injection injection;
	uint16_t n;

	init_one(&injection, ROCE_FAULT_DUPLICATE, 1000000, 1);
	make_frames();
	n = roce_fault_injection_burst(&injection, frames, BURST);
	assert_int_equal(n, 2 * BURST);
	for (uint16_t i = 0; i < n; i++)
		assert_int_equal(number_of(frames[i]), i / 2);
	assert_int_equal(injection.count[ROCE_FAULT_DUPLICATE], BURST);
	rte_pktmbuf_free_bulk(frames, n);
	assert_true(unit_pool_is_full());
}

/* No frame is lost, some are out of order, and none by more frames than ROCE_FAULT_LATE_MAX. */
UNIT_RULE_IN(reorder__holds_a_frame_back_for_a_while, NULL, NULL)
{
	struct roce_fault_injection injection;
	uint16_t seen[BURST] = { 0 };
	unsigned int displaced = 0;
	uint16_t n;

	init_one(&injection, ROCE_FAULT_REORDER, 200000, 3);
	make_frames();
	n = roce_fault_injection_burst(&injection, frames, BURST);
	for (uint16_t i = 0; i < n; i++) {
		uint16_t number = number_of(frames[i]);

		seen[number]++;
		displaced += number != i;
		assert_true(i <= number + ROCE_FAULT_LATE_MAX);
	}
	rte_pktmbuf_free_bulk(frames, n);
	assert_true(displaced > 0);
	/* The last one may still be held: polls without a frame let it go. */
	for (unsigned int polls = 0; injection.late != NULL; polls++) {
		assert_true(polls < ROCE_FAULT_LATE_MAX);
		if (roce_fault_injection_burst(&injection, frames, 0) == 1) {
			seen[number_of(frames[0])]++;
			rte_pktmbuf_free(frames[0]);
		}
	}
	for (uint16_t i = 0; i < BURST; i++)
		assert_int_equal(seen[i], 1);
	assert_true(unit_pool_is_full());
}

/* A frame that is late goes behind so many frames at most, also if those come in bursts to which nothing else happens. */
UNIT_RULE_IN(reorder__holds_no_frame_back_for_longer, NULL, NULL)
{
	struct roce_fault_injection injection;
	uint16_t sent = 0, out = 0, latest = 0;

	init_one(&injection, ROCE_FAULT_REORDER, 2000, 3);
	for (unsigned int burst = 0; burst < 1000; burst++) {
		uint16_t n;

		for (uint16_t i = 0; i < BURST; i++, sent++)
			frames[i] = unit_mbuf(&sent, sizeof(sent));
		n = roce_fault_injection_burst(&injection, frames, BURST);
		for (uint16_t i = 0; i < n; i++, out++) {
			if (number_of(frames[i]) < out)
				latest = RTE_MAX(latest, (uint16_t)(out - number_of(frames[i])));
		}
		rte_pktmbuf_free_bulk(frames, n);
	}
	assert_in_range(latest, ROCE_FAULT_LATE_MAX / 2, ROCE_FAULT_LATE_MAX);
	roce_fault_injection_fini(&injection);
	assert_true(unit_pool_is_full());
}

/* Of each set of kinds: so many frames may come in that those which go out have room. */
UNIT_RULE_IN(room__is_that_of_all_frames_that_a_burst_becomes, NULL, NULL)
{
	const uint16_t room = 16;

	for (unsigned int set = 1; set < 1u << ROCE_FAULT_KINDS; set++) {
		uint32_t rates[ROCE_FAULT_KINDS] = { 0 };
		struct roce_fault_injection injection;
		uint16_t n, most = 0;

		for (unsigned int kind = 0; kind < ROCE_FAULT_KINDS; kind++)
			rates[kind] = (set >> kind & 1) *
					(kind == ROCE_FAULT_DUPLICATE ? 1000000 : 100000);
		roce_fault_injection_init(&injection, rates, set, 0);
		for (unsigned int burst = 0; burst < 1000; burst++) {
			n = roce_fault_injection_room(&injection, room);
			for (uint16_t i = 0; i < n; i++)
				frames[i] = unit_mbuf((const uint8_t[64]){ 0 }, 64);
			n = roce_fault_injection_burst(&injection, frames, n);
			most = RTE_MAX(most, n);
			rte_pktmbuf_free_bulk(frames, n);
		}
		roce_fault_injection_fini(&injection);
		assert_in_range(most, room - 1, room);
	}
	assert_true(unit_pool_is_full());
}

UNIT_RULE_IN(fini__frees_what_is_held, NULL, NULL)
{
	struct roce_fault_injection injection;
	uint16_t n;

	init_one(&injection, ROCE_FAULT_REORDER, 1000000, 3);
	frames[0] = unit_mbuf(&(uint16_t){ 7 }, 2);
	n = roce_fault_injection_burst(&injection, frames, 1);
	assert_int_equal(n, 0);
	assert_non_null(injection.late);
	roce_fault_injection_fini(&injection);
	assert_true(unit_pool_is_full());
}

UNIT_RULE_IN(corrupt__changes_one_bit_behind_the_ethernet_header, NULL, NULL)
{
	uint8_t zeros[64] = { 0 }, any[64] = { 0 };
	struct roce_fault_injection injection;

	init_one(&injection, ROCE_FAULT_CORRUPT, 1000000, 5);
	for (unsigned int i = 0; i < 20000; i++) {
		unsigned int bits = 0;
		const uint8_t *at;

		frames[0] = unit_mbuf(zeros, sizeof(zeros));
		assert_int_equal(roce_fault_injection_burst(&injection, frames, 1), 1);
		at = rte_pktmbuf_mtod(frames[0], const uint8_t *);
		for (unsigned int b = 0; b < sizeof(zeros); b++) {
			bits += (unsigned int)__builtin_popcount(at[b]);
			any[b] |= at[b];
		}
		assert_int_equal(bits, 1);
		rte_pktmbuf_free(frames[0]);
	}
	for (unsigned int b = 0; b < sizeof(any); b++)
		assert_int_equal(any[b], b < 14 ? 0 : 0xff);
}

/* IPv4, DF, UDP, 192.0.2.1 to 192.0.2.2, behind Ethernet; its checksum was made by scapy for each TOS. */
static const uint8_t v4_frame[] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0x02, 0, 0x1c,
	0, 0, 0x40, 0, 0x40, 0x11, 0xb6, 0xcb, 0xc0, 0, 2, 1, 0xc0, 0, 2, 2, 0, 0, 0x12, 0xb7, 0, 8,
	0, 0 };

UNIT_RULE_IN(mark__is_what_a_router_does, NULL, NULL)
{
	uint8_t frame[sizeof(v4_frame)];
	struct roce_fault_injection injection;
	const uint8_t *at;

	init_one(&injection, ROCE_FAULT_MARK, 1000000, 5);
	memcpy(frame, v4_frame, sizeof(frame));
	frames[0] = unit_mbuf(frame, sizeof(frame));
	assert_int_equal(roce_fault_injection_burst(&injection, frames, 1), 1);
	at = rte_pktmbuf_mtod(frames[0], const uint8_t *);
	assert_int_equal(at[15], 3);
	assert_int_equal(at[24] << 8 | at[25], 0xb6ca);
	rte_pktmbuf_free(frames[0]);
	assert_int_equal(injection.count[ROCE_FAULT_MARK], 1);

	/* A frame whose sender does not announce ECN is not marked. */
	frame[15] = 0;
	frames[0] = unit_mbuf(frame, sizeof(frame));
	assert_int_equal(roce_fault_injection_burst(&injection, frames, 1), 1);
	assert_memory_equal(rte_pktmbuf_mtod(frames[0], const uint8_t *), frame, sizeof(frame));
	rte_pktmbuf_free(frames[0]);
	assert_int_equal(injection.count[ROCE_FAULT_MARK], 1);
}
