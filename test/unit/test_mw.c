/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows in the key table: what they can be bound to, what peers may do through them, how bindings end. */

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "mw_scene.h"

static uint64_t
place(uint32_t offset)
{
	return (uintptr_t)end.memory + offset;
}

/* Bind at once: the queue pair has nothing else to do. */
static uint32_t
bind_part(uint32_t offset, uint64_t length)
{
	uint32_t key = post_part(1, offset, length);

	fx_tx_none(&end);
	expect_bind_event(1, IBV_WC_SUCCESS);
	return key;
}

static void
create__is_bound_to_nothing(void **state)
{
	struct roce_mw_binding binding = { .key = 77 };

	assert_false(roce_mw_query(mw, &binding));
	assert_int_equal(binding.key, 77);
	assert_int_equal(mw->entry->key, 0);
}

/* Windows and regions are of one table: as many together as either alone. */
static void
create__shares_the_table_with_regions(void **state)
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
	assert_int_equal(roce_mr_create(end.pd, 0x1000, 1, 0, &mr[500]), 0);
	while (n-- > 0) {
		if (n & 1)
			roce_mw_destroy(window[n]);
		else
			assert_int_equal(roce_mr_destroy(mr[n]), 0);
	}
}

static void
create__without_memory_changes_nothing(void **state)
{
	struct roce_mr *mr[ROCE_KEY_CHUNK];
	uint32_t n = 0;
	struct roce_mw *more;

	/* No memory for the window, then none for the second chunk of the table. */
	while ((end.domain->keys.made + 1) % ROCE_KEY_CHUNK != 0)
		assert_int_equal(roce_mr_create(end.pd, 0x1000, 1, 0, &mr[n++]), 0);
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

static void
create__holds_the_protection_domain(void **state)
{
	struct roce_pd *pd;
	struct roce_mw *window;

	assert_int_equal(roce_pd_create(end.domain, &pd), 0);
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
static void
judge__in_this_order(void **state)
{
	const uint64_t addr = (uintptr_t)end.memory;
	struct roce_mr *bare, *foreign;
	struct roce_mw *foreign_mw;
	struct roce_pd *other;

	assert_int_equal(roce_pd_create(end.domain, &other), 0);
	assert_int_equal(roce_mr_create(end.pd, addr, 64, 0, &bare), 0);
	assert_int_equal(roce_mr_create(other, addr, 64, ALL_ACCESS, &foreign), 0);
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
	assert_false(qp->post.binds);
	roce_mw_destroy(foreign_mw);
	assert_int_equal(roce_mr_destroy(foreign), 0);
	assert_int_equal(roce_mr_destroy(bare), 0);
	assert_int_equal(roce_pd_destroy(other), 0);
}

/* Lengths of windows have 64 bits, and no pair of address and length passes by overflow. */
static void
judge__bounds_hold_for_every_number(void **state)
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
		struct roce_mr *mr;

		assert_int_equal(roce_mr_create(end.pd, rule[i].start, rule[i].len, 0, &mr), 0);
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
static void
judge__what_the_region_must_grant(void **state)
{
	static const uint32_t bits[] = { IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_WRITE,
		IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_ATOMIC, ROCE_ACCESS_LOCAL_READ };

	for (uint32_t has = 0; has < 32; has++) {
		uint32_t granted = 0;
		struct roce_mr *mr;

		for (uint32_t i = 0; i < 5; i++)
			granted |= has & 1u << i ? bits[i] : 0;
		assert_int_equal(roce_mr_create(end.pd, 0x1000, 16, granted, &mr), 0);
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
static void
judge__a_window_is_no_region(void **state)
{
	uint32_t key = bind_part(0, 64);
	struct roce_mw_bind bind = { mw, key, 0, place(0), 64, 0 };

	assert_int_equal(roce_mw_judge(qp, &bind), -ENOENT);
}

/*
 * The new key opens the new part, and from then on the old key opens nothing.
 *
 * Proves: rc.R19
 */
static void
execute__opens_a_part_and_ends_the_former(void **state)
{
	uint32_t first = bind_part(100, 50);
	struct roce_mw_binding binding;
	uint32_t second;

	assert_int_equal(peer_may(first, place(100), 50, PEER_READS), 0);
	second = bind_part(200, 10);
	assert_int_not_equal(first, second);
	assert_int_equal(peer_may(first, place(100), 50, PEER_READS), -EACCES);
	assert_int_equal(peer_may(second, place(100), 50, PEER_READS), -ERANGE);
	assert_int_equal(peer_may(second, place(200), 10, PEER_READS | PEER_WRITES), 0);
	assert_true(roce_mw_query(mw, &binding));
	assert_int_equal(binding.key, second);
	assert_int_equal(binding.mr_key, roce_mr_key(region));
	assert_int_equal(binding.access, PEER_READS | PEER_WRITES);
	assert_int_equal(binding.addr, place(200));
	assert_int_equal(binding.length, 10);
}

static void
execute__of_length_zero_unbinds(void **state)
{
	uint32_t key = bind_part(0, 64);
	struct roce_mw_binding binding;
	uint32_t none = bind_part(0, 0);

	assert_false(lives(key));
	assert_false(lives(none));
	assert_false(roce_mw_query(mw, &binding));
	/* Once more: there is nothing to end. */
	bind_part(0, 0);
	assert_false(roce_mw_query(mw, &binding));
	assert_true(lives(bind_part(0, 64)));
}

/* No post may name a window, as what it reads or what it writes; the region below it may be. */
static void
execute__gives_no_key_for_posts(void **state)
{
	const uint32_t key = bind_part(0, 64);
	const struct roce_sge sge = { place(0), 8, key };
	const struct roce_wr wr = { .sg = &sge, .num_sge = 1, .opcode = IBV_WR_SEND };
	const struct roce_recv_wr recv = { .sg = &sge, .num_sge = 1 };
	uint8_t out[8];

	assert_int_equal(roce_qp_post_send(qp, &wr), -EACCES);
	assert_int_equal(roce_srq_post(end.srq, &recv), -EACCES);
	assert_int_equal(roce_sge_copy_out(&end.domain->keys, end.pd, &sge, 0, out, 8), -EACCES);
	assert_false(roce_mr_covers(end.domain, key, place(0), 8));
	assert_true(roce_mr_covers(end.domain, roce_mr_key(region), place(0), 8));
}

/* A bind that was posted for a window of the same place, which is gone, does not bind its successor. */
static void
execute__knows_its_window(void **state)
{
	const uint32_t place_of_it = mw->entry->place;
	struct roce_mw *others[ROCE_KEY_CHUNK];
	uint32_t n = 0;

	assert_int_equal(fx_send(&end, qp, 1, 0, 8, ROCE_WR_SIGNALED), 0);
	post_part(2, 0, 64);
	roce_mw_destroy(mw);
	do
		assert_int_equal(roce_mw_create(end.pd, &others[n], &others[n]), 0);
	while (others[n++]->entry->place != place_of_it && n < RTE_DIM(others));
	mw = others[--n];
	assert_int_equal(mw->entry->place, place_of_it);
	assert_int_equal(fx_tx_one(&end).psn, FX_SQ_PSN);
	fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN);
	expect_send_event(1, IBV_WC_SUCCESS);
	assert_int_equal(next_event().status, IBV_WC_MW_BIND_ERR);
	assert_int_equal(bound_key(), 0);
	while (n > 0)
		roce_mw_destroy(others[--n]);
}

/*
 * Bounds, rights and zone of an access from afar, through a window and through a region alike.
 *
 * Proves: rc.R19
 */
static void
enter__judges_the_peer(void **state)
{
	struct roce_mw_bind reads = part(100, 50, PEER_READS);
	struct roce_pd *other;
	struct roce_mr *entered;
	struct roce_sge sge;

	assert_int_equal(post_bind(qp, 1, &reads, 0), 0);
	fx_tx_none(&end);
	assert_int_equal(peer_may(reads.key, place(100), 50, PEER_READS), 0);
	assert_int_equal(peer_may(reads.key, place(149), 1, PEER_READS), 0);
	assert_int_equal(peer_may(reads.key, place(150), 0, PEER_READS), 0);
	assert_int_equal(peer_may(reads.key, place(100), 51, PEER_READS), -ERANGE);
	assert_int_equal(peer_may(reads.key, place(99), 1, PEER_READS), -ERANGE);
	assert_int_equal(peer_may(reads.key, place(150), 1, PEER_READS), -ERANGE);
	assert_int_equal(peer_may(reads.key, UINT64_MAX, UINT32_MAX, PEER_READS), -ERANGE);
	assert_int_equal(peer_may(reads.key, place(100), 50, PEER_WRITES), -EACCES);
	assert_int_equal(peer_may(reads.key ^ 1u << 31, place(100), 50, PEER_READS), -EACCES);
	assert_int_equal(peer_may(0, place(100), 50, PEER_READS), -EACCES);
	assert_int_equal(peer_may(roce_mr_key(region), place(0), FX_MEMORY, PEER_WRITES), 0);
	/* The end's own region grants peers nothing. */
	assert_int_equal(peer_may(end.key, place(0), 1, PEER_READS), -EACCES);
	assert_int_equal(roce_pd_create(end.domain, &other), 0);
	sge = (struct roce_sge){ place(100), 50, reads.key };
	assert_int_equal(roce_keys_enter(end.domain, other, &sge, PEER_READS, &entered), -EPERM);
	sge.lkey = roce_mr_key(region);
	assert_int_equal(roce_keys_enter(end.domain, other, &sge, PEER_READS, &entered), -EPERM);
	assert_int_equal(roce_pd_destroy(other), 0);
}

/* A region cannot end while a window lies over it, be it one of several. */
static void
mr_destroy__waits_for_every_window(void **state)
{
	struct roce_mw_bind bind = part(0, 64, PEER_READS);
	uint32_t key = roce_mr_key(region);
	struct roce_mw *second;

	assert_int_equal(roce_mw_create(end.pd, &mw, &second), 0);
	bind_part(0, 64);
	bind.mw = second;
	assert_int_equal(post_bind(qp, 1, &bind, 0), 0);
	fx_tx_none(&end);
	assert_int_equal(roce_mr_destroy(region), -EBUSY);
	assert_int_equal(peer_may(key, place(0), 64, PEER_READS), 0);
	bind_part(0, 0);
	assert_int_equal(roce_mr_destroy(region), -EBUSY);
	assert_int_equal(peer_may(bind.key, place(0), 64, PEER_READS), 0);
	roce_mw_destroy(second);
	assert_int_equal(roce_mr_destroy(region), 0);
	region = NULL;
	assert_false(lives(key));
}

/* Bound again and again to the same region it counts once; bound elsewhere it lets go. */
static void
mr_destroy__counts_bindings_not_binds(void **state)
{
	struct roce_mw_bind bind;
	struct roce_mr *other;

	for (unsigned int i = 0; i < 5; i++)
		bind_part(i, 64);
	assert_int_equal(roce_mr_create(end.pd, place(0), 64, 0, &other), 0);
	bind = (struct roce_mw_bind){ mw, roce_mr_key(other), 0, place(0), 64, 0 };
	assert_int_equal(post_bind(qp, 1, &bind, 0), 0);
	fx_tx_none(&end);
	assert_int_equal(roce_mr_destroy(other), -EBUSY);
	assert_int_equal(roce_mr_destroy(region), 0);
	region = NULL;
	roce_mw_destroy(mw);
	mw = NULL;
	assert_int_equal(roce_mr_destroy(other), 0);
}

static void
destroy__ends_the_binding(void **state)
{
	uint32_t key = bind_part(0, 64);

	roce_mw_destroy(mw);
	mw = NULL;
	assert_false(lives(key));
	assert_int_equal(peer_may(key, place(0), 1, PEER_READS), -EACCES);
}

/* ---- several engines ---- */

/*
 * Who found the entry by a key that ended in the meantime is not let in, and leaves no trace.
 *
 * Proves: rc.R21
 */
static void
enter__looks_at_the_key_again(void **state)
{
	const uint32_t old = bind_part(0, 64);
	const uint32_t now = bind_part(0, 64);
	struct roce_sge sge = { place(0), 64, old };

	assert_int_equal(roce_mw_enter(mw->entry, end.pd, &sge, PEER_READS), -EACCES);
	assert_int_equal(mw->entry->visitors, 0);
	sge.lkey = now;
	assert_int_equal(roce_mw_enter(mw->entry, end.pd, &sge, PEER_READS), 0);
	assert_int_equal(mw->entry->visitors, 1);
	roce_keys_leave(mw->entry);
	sge.length = 65;
	assert_int_equal(roce_mw_enter(mw->entry, end.pd, &sge, PEER_READS), -ERANGE);
	assert_int_equal(mw->entry->visitors, 0);
}

struct guest {
	pthread_t thread;
	uint32_t key;
	int rc;
	bool inside, expelled, left; /**< atomic */
};

/* Work for a peer that takes its time: it goes on for a while after somebody wants it to end. */
static void *
stay(void *arg)
{
	struct guest *it = arg;
	struct roce_engine *other = roce_domain_engine(end.domain, 1);
	const struct roce_sge sge = { place(0), 64, it->key };
	struct roce_mr *entered;

	roce_engine_lock(other);
	it->rc = roce_keys_enter(end.domain, end.pd, &sge, PEER_WRITES, &entered);
	__atomic_store_n(&it->inside, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&it->expelled, __ATOMIC_ACQUIRE))
		sched_yield();
	for (unsigned int i = 0; i < 200; i++)
		sched_yield();
	__atomic_store_n(&it->left, true, __ATOMIC_RELAXED);
	if (it->rc == 0)
		roce_keys_leave(entered);
	roce_engine_unlock(other);
	return NULL;
}

/* A scene with two engines, and its queue pair on the first. */
static void
open_two_engines(void)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);

	close_scene();
	open_scene(2);
	while (roce_qp_engine(qp) != end.engine) {
		struct roce_qp *old = qp;

		qp = fx_qp(&end, NULL);
		fx_up(qp, &connect);
		roce_qp_destroy(old);
	}
}

/*
 * A binding ends when those have left who came in by it, on whatever engine: by a bind to elsewhere or to nothing.
 *
 * Proves: rc.R21
 */
static void
execute__waits_for_who_is_inside(void **state)
{
	open_two_engines();
	for (unsigned int i = 0; i < 4; i++) {
		struct guest it = { .key = bind_part(0, 64) };

		assert_int_equal(pthread_create(&it.thread, NULL, stay, &it), 0);
		while (!__atomic_load_n(&it.inside, __ATOMIC_ACQUIRE))
			sched_yield();
		post_part(2, 64, i & 1 ? 64 : 0);
		__atomic_store_n(&it.expelled, true, __ATOMIC_RELEASE);
		fx_tx_none(&end);
		assert_true(__atomic_load_n(&it.left, __ATOMIC_RELAXED));
		expect_bind_event(2, IBV_WC_SUCCESS);
		assert_int_equal(pthread_join(it.thread, NULL), 0);
		assert_int_equal(it.rc, 0);
	}
}

struct intruder {
	pthread_t thread;
	struct roce_sge sge;
	uint32_t key;     /**< to try; atomic */
	bool stop;        /**< atomic */
	unsigned long in; /**< times it was let in; atomic */
};

/* Another engine at work for peers: it writes wherever the key it knows lets it. */
static void *
intrude(void *arg)
{
	struct intruder *it = arg;
	struct roce_engine *other = roce_domain_engine(end.domain, 1);

	while (!__atomic_load_n(&it->stop, __ATOMIC_ACQUIRE)) {
		struct roce_mr *entered;

		it->sge.lkey = __atomic_load_n(&it->key, __ATOMIC_RELAXED);
		roce_engine_lock(other);
		if (roce_keys_enter(end.domain, end.pd, &it->sge, PEER_WRITES, &entered) == 0) {
			memset((void *)(uintptr_t)it->sge.addr, 0xee, it->sge.length);
			roce_keys_leave(entered);
			__atomic_fetch_add(&it->in, 1, __ATOMIC_RELAXED);
		}
		roce_engine_unlock(other);
	}
	return NULL;
}

#define ROUNDS 30u
#define OPEN   64u

static void
wait_until_inside(const struct intruder *it)
{
	unsigned long before = __atomic_load_n(&it->in, __ATOMIC_RELAXED);

	while (__atomic_load_n(&it->in, __ATOMIC_RELAXED) == before)
		sched_yield();
}

static bool
all_bytes_are(const uint8_t *at, uint8_t value, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (at[i] != value)
			return false;
	}
	return true;
}

/*
 * Nothing moves through a binding any more when the bind that ended it has completed, though the other engine may
 * have been in the middle of it: the thread sanitizer watches every byte.
 *
 * Proves: rc.R21
 */
static void
execute__lets_other_engines_leave(void **state)
{
	struct intruder it = { .stop = false };

	open_two_engines();
	it.sge = (struct roce_sge){ place(0), OPEN, 0 };
	assert_int_equal(pthread_create(&it.thread, NULL, intrude, &it), 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		__atomic_store_n(&it.key, bind_part(0, OPEN), __ATOMIC_RELAXED);
		wait_until_inside(&it);
		/* By turns: the window is unbound, bound elsewhere, or gone. */
		if (i % 3 == 0) {
			bind_part(0, 0);
		} else if (i % 3 == 1) {
			bind_part(OPEN, OPEN);
		} else {
			roce_mw_destroy(mw);
			assert_int_equal(roce_mw_create(end.pd, &mw, &mw), 0);
		}
		memset(end.memory, 0x11, OPEN);
		assert_true(all_bytes_are(end.memory, 0x11, OPEN));
	}
	__atomic_store_n(&it.stop, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(it.thread, NULL), 0);
	assert_true(all_bytes_are(end.memory, 0x11, OPEN));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(create__is_bound_to_nothing),
		TEST(create__shares_the_table_with_regions),
		TEST(create__without_memory_changes_nothing),
		TEST(create__holds_the_protection_domain),
		TEST(judge__in_this_order),
		TEST(judge__bounds_hold_for_every_number),
		TEST(judge__what_the_region_must_grant),
		TEST(judge__a_window_is_no_region),
		TEST(execute__opens_a_part_and_ends_the_former),
		TEST(execute__of_length_zero_unbinds),
		TEST(execute__gives_no_key_for_posts),
		TEST(execute__knows_its_window),
		TEST(execute__waits_for_who_is_inside),
		TEST(execute__lets_other_engines_leave),
		TEST(enter__judges_the_peer),
		TEST(enter__looks_at_the_key_again),
		TEST(mr_destroy__waits_for_every_window),
		TEST(mr_destroy__counts_bindings_not_binds),
		TEST(destroy__ends_the_binding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
