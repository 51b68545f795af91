/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "end_scene.h"
#include "queue/domain.h"
#include "queue/sge.h"

static int
check(uint64_t addr, uint32_t length, uint32_t key, unsigned int access)
{
	const struct roce_sge sge = { addr, length, key };

	return roce_keys_check(&end.domain->keys, end.pd, &sge, access);
}

UNIT_RULE(create__refuses_nothing_and_what_wraps)
{
	static const struct {
		uint64_t addr, len;
		int want;
	} rule[] = {
		{ 0x1000, 0, -EINVAL },
		{ UINT64_MAX, 2, -EINVAL },
		{ 0x1000, UINT64_MAX, -EINVAL },
		{ UINT64_MAX - 1, 1, 0 },
		{ 0, UINT64_MAX, 0 },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_mr *mr = NULL;

		assert_int_equal(roce_mr_create(end.pd, rule[i].addr, rule[i].len, 0, &mr),
				rule[i].want);
		assert_int_equal(mr != NULL, rule[i].want == 0);
		if (mr != NULL)
			roce_mr_destroy(mr);
	}
}

/* No pair of 64-bit address and 32-bit length may pass by overflow. */
UNIT_RULE(check__bounds_hold_for_every_number)
{
	static const struct {
		uint64_t start, len, addr;
		uint32_t length;
		int want;
	} rule[] = {
		{ 0x1000, 0x100, 0x1000, 0x100, 0 },
		{ 0x1000, 0x100, 0x10ff, 1, 0 },
		{ 0x1000, 0x100, 0x1100, 0, 0 },
		{ 0x1000, 0x100, 0x1000, 0x101, -ERANGE },
		{ 0x1000, 0x100, 0x1001, 0x100, -ERANGE },
		{ 0x1000, 0x100, 0x0fff, 1, -ERANGE },
		{ 0x1000, 0x100, 0x1101, 0, -ERANGE },
		{ 0x1000, 0x100, 0, UINT32_MAX, -ERANGE },
		{ 0x1000, 0x100, UINT64_MAX, 1, -ERANGE },
		{ 0x1000, 0x100, UINT64_MAX, UINT32_MAX, -ERANGE },
		/* The attack on rxe: address plus length is exactly 2^64. */
		{ 0x1000, 0x1000, 0xfffffffffffffc00, 0x400, -ERANGE },
		{ 0xfffffffffffff000, 0xfff, 0xfffffffffffffc00, 0x3ff, 0 },
		{ 0xfffffffffffff000, 0xfff, 0xfffffffffffffc00, 0x400, -ERANGE },
		{ 0xfffffffffffff000, 0xfff, 0xfffffffffffffc00, UINT32_MAX, -ERANGE },
		{ 0, UINT64_MAX, 0, UINT32_MAX, 0 },
		{ 0, UINT64_MAX, UINT64_MAX - UINT32_MAX, UINT32_MAX, 0 },
		{ 0, UINT64_MAX, UINT64_MAX - UINT32_MAX + 1, UINT32_MAX, -ERANGE },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_mr *mr = fx_mr(end.pd, rule[i].start, rule[i].len, 0);

		assert_int_equal(check(rule[i].addr, rule[i].length, roce_mr_key(mr), 0),
				rule[i].want);
		roce_mr_destroy(mr);
	}
}

UNIT_RULE(check__wants_every_right_asked_for)
{
	static const unsigned int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

	for (unsigned int has = 0; has <= all; has++) {
		struct roce_mr *mr = fx_mr(end.pd, 0x1000, 16, has);

		for (unsigned int asked = 0; asked <= all; asked++)
			assert_int_equal(check(0x1000, 16, roce_mr_key(mr), asked),
					(asked & ~has) == 0 ? 0 : -EACCES);
		roce_mr_destroy(mr);
	}
}

UNIT_RULE(check__wants_the_protection_domain)
{
	struct roce_pd *other = fx_pd(&end);
	struct roce_mr *mr = fx_mr(other, 0x1000, 16, 0);

	assert_int_equal(check(0x1000, 16, roce_mr_key(mr), 0), -EPERM);
	assert_int_equal(roce_pd_destroy(other), -EBUSY);
	roce_mr_destroy(mr);
	assert_int_equal(roce_pd_destroy(other), 0);
}

UNIT_RULE(check__knows_only_live_keys)
{
	const uint32_t good = end.key;
	const uint64_t addr = (uintptr_t)end.memory;
	struct roce_mr *mr;
	uint32_t dead;

	assert_int_equal(check(addr, 1, good, 0), 0);
	for (uint32_t bit = 0; bit < 32; bit++)
		assert_int_equal(check(addr, 1, good ^ 1u << bit, 0), -EACCES);
	assert_int_equal(check(addr, 1, 0, 0), -EACCES);
	assert_int_equal(check(addr, 1, UINT32_MAX, 0), -EACCES);
	mr = fx_mr(end.pd, addr, 1, 0);
	dead = roce_mr_key(mr);
	roce_mr_destroy(mr);
	assert_int_equal(check(addr, 1, dead, 0), -EACCES);
}

/* A key may come back only after every other tag of its index, and an index only after a chunk of others. */
UNIT_RULE(create__does_not_give_a_key_again_soon)
{
	uint32_t seen_index[4 * ROCE_KEY_CHUNK];
	uint32_t last = 0;

	for (uint32_t i = 0; i < RTE_DIM(seen_index); i++) {
		struct roce_mr *mr = fx_mr(end.pd, 0x1000, 1, 0);
		uint32_t key = roce_mr_key(mr);

		assert_int_not_equal(key, last);
		assert_int_not_equal(key, end.key);
		assert_int_not_equal(key >> 8, 0);
		for (uint32_t k = i > 100 ? i - 100 : 0; k < i; k++)
			assert_int_not_equal(seen_index[k], key >> 8);
		seen_index[i] = key >> 8;
		last = key;
		roce_mr_destroy(mr);
	}
}

UNIT_RULE(create__changes_the_tag_of_an_index)
{
	static uint32_t key_of[ROCE_KEY_CHUNK];
	unsigned int again = 0;

	for (uint32_t i = 0; i < 3 * ROCE_KEY_CHUNK; i++) {
		uint32_t key, index;
		struct roce_mr *mr = fx_mr(end.pd, 0x1000, 1, 0);

		key = roce_mr_key(mr);
		index = (key >> 8) % ROCE_KEY_CHUNK;
		if (key_of[index] != 0) {
			again++;
			assert_int_not_equal(key_of[index], key);
			assert_int_equal(check(0x1000, 1, key_of[index], 0), -EACCES);
		}
		key_of[index] = key;
		roce_mr_destroy(mr);
	}
	assert_true(again > 0);
}

/* All tags of a place come before one comes again; its number stays in the middle. */
UNIT_RULE(name__of_a_place_comes_once_in_65536)
{
	static bool seen[65536];
	struct roce_mr *mr = fx_mr(end.pd, 0x1000, 1, 0);

	for (uint32_t i = 0; i < RTE_DIM(seen); i++) {
		uint32_t name = roce_keys_name(&end.domain->keys, mr);
		uint32_t tag = (name >> 16 & 0xff00) | (name & 0xff);

		assert_ptr_equal(roce_keys_entry(&end.domain->keys, name), mr);
		assert_int_equal(name >> 8 & 0xffff, mr->place);
		assert_false(seen[tag]);
		seen[tag] = true;
	}
}

static uint32_t
most_common(uint32_t (*step)(struct roce_mr *const *mr, uint32_t i), struct roce_mr *const *mr)
{
	static uint32_t times[65536];
	uint32_t most = 0;

	memset(times, 0, sizeof(times));
	for (uint32_t i = 0; i < 65536; i++) {
		uint32_t n = ++times[step(mr, i) & 0xffff];

		most = RTE_MAX(most, n);
	}
	return most;
}

static uint32_t
tag_after(struct roce_mr *mr)
{
	uint32_t name = roce_keys_name(&end.domain->keys, mr);

	return (name >> 16 & 0xff00) | (name & 0xff);
}

/* From one tag of a place to the next. */
static uint32_t
step_in_time(struct roce_mr *const *mr, uint32_t i)
{
	static uint32_t last;
	uint32_t tag = tag_after(mr[0]);
	uint32_t step = tag - last;

	last = tag;
	return step;
}

/* From the tag of a place to that of the next place in the same use. */
static uint32_t
step_in_place(struct roce_mr *const *mr, uint32_t i)
{
	return tag_after(mr[1]) - tag_after(mr[0]);
}

/* A key tells nothing of the next one, nor of its neighbour's: no step is likelier than another. */
UNIT_RULE(name__cannot_be_told_from_another)
{
	struct roce_mr *mr[2];

	for (unsigned int i = 0; i < 2; i++)
		mr[i] = fx_mr(end.pd, 0x1000, 1, 0);
	/* With chance alone one of the 65,536 steps comes up to about nine times. */
	assert_in_range(most_common(step_in_time, mr), 1, 24);
	assert_in_range(most_common(step_in_place, mr), 1, 24);
	for (unsigned int i = 0; i < 2; i++)
		roce_mr_destroy(mr[i]);
}

/* Another adapter, another secret: the same place in the same use has another tag, nearly always. */
UNIT_RULE(name__hangs_on_the_secret)
{
	const uint64_t secret = end.domain->keys.secret;
	unsigned int alike = 0;

	for (uint64_t other = 1; other <= 1000; other++) {
		uint32_t uses = end.mr->uses;
		uint32_t name = roce_keys_name(&end.domain->keys, end.mr);

		end.domain->keys.secret = other;
		end.mr->uses = uses;
		alike += roce_keys_name(&end.domain->keys, end.mr) == name;
		end.domain->keys.secret = secret;
	}
	assert_true(alike < 5);
}

UNIT_RULE(create__fills_the_table_then_fails)
{
	enum {
		ALL = ROCE_KEY_CHUNK * ROCE_KEY_CHUNKS - 1
	};
	static struct roce_mr *mr[ALL];
	struct roce_mr *more;
	uint32_t n = 0;

	/* One is the end's own. */
	while (n < ALL && roce_mr_create(end.pd, 0x1000 + n, 1, 0, &mr[n]) == 0)
		n++;
	assert_int_equal(n, ALL - 1);
	assert_int_equal(roce_mr_create(end.pd, 0x1000, 1, 0, &more), -ENOMEM);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(check(0x1000 + i, 1, roce_mr_key(mr[i]), 0), 0);
	roce_mr_destroy(mr[77]);
	mr[77] = fx_mr(end.pd, 0x1000, 1, 0);
	for (uint32_t i = 0; i < n; i++)
		roce_mr_destroy(mr[i]);
}

UNIT_RULE(create__without_memory_changes_nothing)
{
	struct roce_mr *mr[2 * ROCE_KEY_CHUNK];
	uint32_t n = 0;

	/* Fill the first chunk; the second cannot be had. */
	while (n < ROCE_KEY_CHUNK - 2)
		mr[n++] = fx_mr(end.pd, 0x1000, 1, 0);
	fx_fail(1);
	assert_int_equal(roce_mr_create(end.pd, 0x1000, 1, 0, &mr[n]), -ENOMEM);
	assert_true(fx_failed());
	mr[n++] = fx_mr(end.pd, 0x1000, 1, 0);
	while (n > 0)
		roce_mr_destroy(mr[--n]);
}

/* A region of any protection domain, and the whole segment inside. */
UNIT_RULE(covers__wants_a_region_that_holds_it)
{
	const uint64_t addr = (uintptr_t)end.memory;
	struct roce_pd *other = fx_pd(&end);
	struct roce_mr *mr = fx_mr(other, addr, 64, 0);
	uint32_t key = roce_mr_key(mr);

	assert_true(roce_mr_covers(end.domain, end.key, addr, FX_MEMORY));
	assert_true(roce_mr_covers(end.domain, key, addr, 64));
	assert_true(roce_mr_covers(end.domain, key, addr + 64, 0));
	assert_false(roce_mr_covers(end.domain, key, addr, 65));
	assert_false(roce_mr_covers(end.domain, key, addr - 1, 1));
	assert_false(roce_mr_covers(end.domain, key, addr, UINT64_MAX));
	assert_false(roce_mr_covers(end.domain, key ^ 1, addr, 64));
	roce_mr_destroy(mr);
	assert_false(roce_mr_covers(end.domain, key, addr, 64));
	assert_int_equal(roce_pd_destroy(other), 0);
}

/* Every split of a text over segments and every offset gives the same bytes; empty segments do not count. */
UNIT_RULE(copy_out__walks_the_segments)
{
	for (uint32_t a = 0; a <= 20; a++) {
		for (uint32_t offset = 0; offset <= 20; offset++) {
			const struct roce_sge sge[] = {
				{ (uintptr_t)end.memory, a, end.key },
				{ (uintptr_t)end.memory + 7, 0, end.key },
				{ (uintptr_t)end.memory + a, 20 - a, end.key },
			};
			uint8_t got[20];

			assert_int_equal(roce_sge_copy_out(&end.domain->keys, end.pd, sge, offset,
							 got, 20 - offset),
					0);
			assert_memory_equal(got, end.memory + offset, 20 - offset);
		}
	}
}

/* Bytes that need not be gathered are found where they lie; and not without the right to read them. */
UNIT_RULE(find__wants_one_segment_and_its_key)
{
	const struct roce_keys *keys = &end.domain->keys;
	const struct roce_sge sge[] = {
		{ (uintptr_t)end.memory, 20, end.key },
		{ (uintptr_t)end.memory + 40, 20, end.key },
		{ (uintptr_t)end.memory + 60, 20, end.key ^ 1 },
	};

	assert_ptr_equal(roce_sge_find(keys, end.pd, sge, 0, 20, 0), end.memory);
	assert_ptr_equal(roce_sge_find(keys, end.pd, sge, 5, 15, 0), end.memory + 5);
	assert_ptr_equal(roce_sge_find(keys, end.pd, sge, 23, 7, 0), end.memory + 43);
	assert_null(roce_sge_find(keys, end.pd, sge, 5, 16, 0));
	assert_null(roce_sge_find(keys, end.pd, sge, 40, 1, 0));
	assert_null(roce_sge_find(keys, NULL, sge, 0, 20, 0));
}

/* A text on the way in, with the payload in one segment, split inside, or wholly in the second. */
UNIT_RULE(copy_in__walks_the_segments_and_the_segments)
{
	uint8_t frame[40], want[64];

	for (uint32_t i = 0; i < sizeof(frame); i++)
		frame[i] = (uint8_t)(0x80 + i);
	for (uint32_t split = 0; split <= sizeof(frame); split++) {
		for (uint32_t a = 0; a <= 20; a++) {
			const struct roce_sge sge[] = {
				{ (uintptr_t)end.memory, a, end.key },
				{ (uintptr_t)end.memory + 32, 20 - a, end.key },
			};
			struct rte_mbuf *m = unit_mbuf_exact_chain(frame, sizeof(frame), split);
			const struct roce_pkt pkt = {
				.m = m, .payload_off = 20, .payload_len = 20
			};

			memset(end.memory, 0x55, 64);
			memset(want, 0x55, 64);
			memcpy(want, frame + 20, a);
			memcpy(want + 32, frame + 20 + a, 20 - a);
			assert_int_equal(roce_sge_copy_in(&end.domain->keys, end.pd, sge, 0, &pkt),
					0);
			assert_memory_equal(end.memory, want, 64);
			unit_mbuf_exact_free(m);
		}
	}
}

UNIT_RULE(copy__judges_the_key_again)
{
	struct roce_sge sge = { (uintptr_t)end.memory, 8, 0 };
	struct rte_mbuf *m = unit_mbuf("12345678", 8);
	const struct roce_pkt pkt = { .m = m, .payload_len = 8 };
	uint8_t out[8];
	struct roce_mr *mr = fx_mr(end.pd, sge.addr, 8, 0);

	sge.lkey = roce_mr_key(mr);
	/* Readable, but not writable. */
	assert_int_equal(roce_sge_copy_out(&end.domain->keys, end.pd, &sge, 0, out, 8), 0);
	assert_int_equal(roce_sge_copy_in(&end.domain->keys, end.pd, &sge, 0, &pkt), -EACCES);
	roce_mr_destroy(mr);
	assert_int_equal(roce_sge_copy_out(&end.domain->keys, end.pd, &sge, 0, out, 8), -EACCES);
	rte_pktmbuf_free(m);
}
