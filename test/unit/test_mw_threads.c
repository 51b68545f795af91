/* SPDX-License-Identifier: BSD-3-Clause */
/* A binding that ends on one engine while a peer's work goes through it on another. */

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "fixture_rdma.h"
#include "mw_scene.h"

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
	struct roce_sge sge = { place(0), 64, it->key };
	struct roce_mr *entered;

	roce_engine_lock(other);
	it->rc = roce_keys_enter(end.domain, end.pd, NULL, &sge, PEER_WRITES, &entered);
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
UNIT_RULE(execute__waits_for_who_is_inside)
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

/*
 * A packet in the middle of a WRITE that is placed while its ICRC is computed comes in by the window, and has left it when it
 * is judged: be it good or not. The bind at the end would wait for ever.
 */
UNIT_RULE(execute__waits_for_no_packet_that_was_judged)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	struct fx_target target;

	open_two_engines();
	peer = fx_peer_of(qp, &connect);
	target = (struct fx_target){ place(0), bind_part(0, 4 * FX_MTU), 4 * FX_MTU };
	fx_rx(&end, fx_about(&peer, IBV_OPCODE_RC_RDMA_WRITE_FIRST, FX_RQ_PSN, FX_MTU, &target, 0));
	for (uint32_t i = 0; i < 3; i++) {
		struct rte_mbuf *m = fx_about(&peer, IBV_OPCODE_RC_RDMA_WRITE_MIDDLE,
				FX_RQ_PSN + 1 + i / 2, FX_MTU, &target, 0);

		/* Damaged, good, good. */
		if (i == 0)
			*rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len - 1) ^= 1;
		fx_rx(&end, m);
		assert_int_equal(mw->entry->visitors, 0);
		assert_int_equal(end.memory[FX_MTU], (uint8_t)(FX_RQ_PSN + 1));
	}
	assert_int_equal(fx_stats(&end)->rx_icrc_encapsulated, 1);
	bind_part(0, 0);
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
		if (roce_keys_enter(end.domain, end.pd, NULL, &it->sge, PEER_WRITES, &entered) ==
				0) {
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
 * No byte moves through a binding any more when the bind that ended it has completed, though the other engine may
 * have been in the middle of it: the thread sanitizer watches every byte.
 *
 * Proves: rc.R21
 */
UNIT_RULE(execute__lets_other_engines_leave)
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
