/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows in the key table: how they are made, and what they can be bound to. */

#include "mw_scene.h"

UNIT_RULE(create__is_bound_to_nothing)
{
	struct roce_mw_binding binding = { .key = 77 };

	assert_false(roce_mw_query(mw, &binding));
	assert_int_equal(binding.key, 77);
	assert_int_equal(mw->entry->key, 0);
}

/* Windows and regions are of one table: as many together as either alone. */
UNIT_RULE(create__shares_the_table_with_regions)
{
	enum {
		ALL = ROCE_KEY_PLACES - 1
	};
	static struct roce_mr *mr[ALL];
	static struct roce_mw *window[ALL];
	uint32_t n = 0;
	struct roce_mr *other;
	struct roce_mw *more;

	for (;; n++) {
		int rc = n & 1 ? roce_mw_create(end.pd, NULL, &window[n])
			       : roce_mr_create(end.pd, 0x1000, 1, 0, &mr[n]);

		if (rc != 0)
			break;
	}
	/* The scene has two regions and a window. */
	assert_int_equal(n, ALL - 3);
	assert_int_equal(roce_mw_create(end.pd, NULL, &more), -ENOMEM);
	assert_int_equal(roce_mr_destroy(mr[500]), 0);
	assert_int_equal(roce_mw_create(end.pd, NULL, &more), 0);
	assert_int_equal(roce_mr_create(end.pd, 0x1000, 1, 0, &other), -ENOMEM);
	roce_mw_destroy(more);
	mr[500] = fx_mr(end.pd, 0x1000, 1, 0);
	while (n-- > 0) {
		if (n & 1)
			roce_mw_destroy(window[n]);
		else
			assert_int_equal(roce_mr_destroy(mr[n]), 0);
	}
}

UNIT_RULE(create__without_memory_changes_nothing)
{
	struct roce_mr *mr[ROCE_KEY_CHUNK];
	uint32_t n = 0;
	struct roce_mw *more;

	/* No memory for the window, then none for the second chunk of the table. */
	while ((end.domain->keys.made + 1) % ROCE_KEY_CHUNK != 0)
		mr[n++] = fx_mr(end.pd, 0x1000, 1, 0);
	for (unsigned int nth = 1; nth <= 2; nth++) {
		fx_fail(nth);
		assert_int_equal(roce_mw_create(end.pd, NULL, &more), -ENOMEM);
		assert_true(fx_failed());
	}
	assert_int_equal(roce_mw_create(end.pd, NULL, &more), 0);
	roce_mw_destroy(more);
	while (n > 0)
		assert_int_equal(roce_mr_destroy(mr[--n]), 0);
}

UNIT_RULE(create__holds_the_protection_domain)
{
	struct roce_mw *window;
	struct roce_pd *pd = fx_pd(&end);

	assert_int_equal(roce_mw_create(pd, NULL, &window), 0);
	assert_int_equal(roce_pd_destroy(pd), -EBUSY);
	roce_mw_destroy(window);
	assert_int_equal(roce_pd_destroy(pd), 0);
}

/*
 * Segment, then privileges, then zones: whatever else is wrong, the first is told.
 *
 * Proves: rc.R19
 */
UNIT_RULE(judge__in_this_order)
{
	const uint64_t addr = (uintptr_t)end.memory;
	struct roce_mr *bare, *foreign;
	struct roce_mw *foreign_mw;
	struct roce_pd *other = fx_pd(&end);

	bare = fx_mr(end.pd, addr, 64, 0);
	foreign = fx_mr(other, addr, 64, ALL_ACCESS);
	assert_int_equal(roce_mw_create(other, NULL, &foreign_mw), 0);
	{
		const uint32_t good = roce_mr_key(region);
		const uint32_t weak = roce_mr_key(bare);
		const uint32_t far = roce_mr_key(foreign);
		const struct {
			struct roce_mw_bind bind;
			int want;
		} rule[] = {
			{ { mw, good, PEER_READS, addr, 64, 0 }, 0 },
			{ { mw, good ^ 1, PEER_READS, addr, 64, 0 }, -ENOENT },
			{ { mw, 0, PEER_READS, addr, 64, 0 }, -ENOENT },
			{ { foreign_mw, 0, PEER_READS, addr, 64, 0 }, -ENOENT },
			{ { mw, weak, PEER_READS, addr, 65, 0 }, -ERANGE },
			{ { foreign_mw, weak, PEER_READS, addr, 65, 0 }, -ERANGE },
			{ { mw, far, PEER_READS, addr + 1, 64, 0 }, -ERANGE },
			{ { mw, weak, PEER_READS, addr, 64, 0 }, -EACCES },
			{ { foreign_mw, weak, PEER_WRITES, addr, 64, 0 }, -EACCES },
			{ { mw, weak, 0, addr, 64, 0 }, 0 },
			{ { mw, far, PEER_READS, addr, 64, 0 }, -EPERM },
			{ { foreign_mw, good, PEER_READS, addr, 64, 0 }, -EPERM },
			/* Of one zone, but not that of the queue pair. */
			{ { foreign_mw, far, PEER_READS, addr, 64, 0 }, -EPERM },
			/* To nothing: only whose window it is matters. */
			{ { mw, 0, PEER_READS, 0, 0, 0 }, 0 },
			{ { mw, far, ALL_ACCESS, UINT64_MAX, 0, 0 }, 0 },
			{ { foreign_mw, far, PEER_READS, addr, 0, 0 }, -EPERM },
		};

		for (size_t i = 0; i < RTE_DIM(rule); i++) {
			struct roce_mw_bind bind = rule[i].bind;

			assert_int_equal(roce_mw_judge(qp, &bind), rule[i].want);
			/* A post says the same, and if it is no nothing has happened. */
			if (rule[i].want != 0) {
				assert_int_equal(post_bind(qp, 1, &bind, 0), rule[i].want);
				assert_int_equal(bind.key, 0);
			}
		}
	}
	fx_tx_none(&end);
	expect_no_event();
	assert_false(qp->post.one_by_one);
	roce_mw_destroy(foreign_mw);
	assert_int_equal(roce_mr_destroy(foreign), 0);
	assert_int_equal(roce_mr_destroy(bare), 0);
	assert_int_equal(roce_pd_destroy(other), 0);
}

/* Lengths of windows have 64 bits, and no pair of address and length passes by overflow. */
UNIT_RULE(judge__bounds_hold_for_every_number)
{
	static const struct {
		uint64_t start, len, addr, length;
		int want;
	} rule[] = {
		{ 0x1000, 0x100, 0x1000, 0x100, 0 },
		{ 0x1000, 0x100, 0x10ff, 1, 0 },
		{ 0x1000, 0x100, 0x1000, 0x101, -ERANGE },
		{ 0x1000, 0x100, 0x0fff, 1, -ERANGE },
		{ 0x1000, 0x100, 0x1100, 1, -ERANGE },
		{ 0x1000, 0x100, 0x1000, UINT64_MAX, -ERANGE },
		{ 0x1000, 0x100, 0x1010, UINT64_MAX - 0xf, -ERANGE },
		{ 0x1000, 0x100, UINT64_MAX, 1, -ERANGE },
		{ 0x1000, 0x1000, 0xfffffffffffffc00, 0x400, -ERANGE },
		{ 0, UINT64_MAX, 0, UINT64_MAX, 0 },
		{ 0, UINT64_MAX, 1, UINT64_MAX - 1, 0 },
		{ 0, UINT64_MAX, 1, UINT64_MAX, -ERANGE },
		{ 0, UINT64_MAX, 1ull << 40, 1ull << 46, 0 },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct roce_mw_bind bind = { mw, 0, 0, rule[i].addr, rule[i].length, 0 };
		struct roce_mr *mr = fx_mr(end.pd, rule[i].start, rule[i].len, 0);

		bind.mr_key = roce_mr_key(mr);
		assert_int_equal(roce_mw_judge(qp, &bind), rule[i].want);
		assert_int_equal(roce_mr_destroy(mr), 0);
	}
}

/*
 * To write from afar takes local write, to read local read; the region's own remote rights do not matter.
 *
 * Proves: rc.R19
 */
UNIT_RULE(judge__what_the_region_must_grant)
{
	static const uint32_t bits[] = { IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_WRITE,
		IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_ATOMIC, ROCE_ACCESS_LOCAL_READ };

	for (uint32_t has = 0; has < 32; has++) {
		uint32_t granted = 0;
		struct roce_mr *mr;

		for (uint32_t i = 0; i < 5; i++)
			granted |= has & 1u << i ? bits[i] : 0;
		mr = fx_mr(end.pd, 0x1000, 16, granted);
		for (uint32_t asks = 0; asks < 32; asks++) {
			struct roce_mw_bind bind = { mw, roce_mr_key(mr), 0, 0x1000, 16, 0 };
			/* Asked for: 0 local write, 1 write, 2 read, 3 atomics, 4 local read. */
			bool writes = asks & 0x0b;
			bool reads = asks & 0x1c;
			bool good = (!writes || (has & 0x01)) && (!reads || (has & 0x10));

			for (uint32_t i = 0; i < 5; i++)
				bind.access |= asks & 1u << i ? bits[i] : 0;
			assert_int_equal(roce_mw_judge(qp, &bind), good ? 0 : -EACCES);
		}
		assert_int_equal(roce_mr_destroy(mr), 0);
	}
}

/* Proves: rc.R19 */
UNIT_RULE(judge__a_window_is_no_region)
{
	uint32_t key = bind_part(0, 64);
	struct roce_mw_bind bind = { mw, key, 0, place(0), 64, 0 };

	assert_int_equal(roce_mw_judge(qp, &bind), -ENOENT);
}
