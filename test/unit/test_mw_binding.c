/* SPDX-License-Identifier: BSD-3-Clause */
/* Bindings of memory windows: what a peer may do through one, what it keeps alive, how it ends. */

#include "mw_scene.h"
#include "queue/sge.h"

/*
 * The new key opens the new part, and from then on the old key opens nothing.
 *
 * Proves: rc.R19
 */
UNIT_RULE(execute__opens_a_part_and_ends_the_former)
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
	assert_fields(binding, (key, second), (mr_key, roce_mr_key(region)),
			(access, PEER_READS | PEER_WRITES), (addr, place(200)), (length, 10));
}

UNIT_RULE(execute__of_length_zero_unbinds)
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
UNIT_RULE(execute__gives_no_key_for_posts)
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
UNIT_RULE(execute__knows_its_window)
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

/* A window that has no owner: the event of its bind is the queue pair's. */
UNIT_RULE(execute__of_a_window_without_owner_belongs_to_the_queue_pair)
{
	struct roce_mw *nobodys;
	struct roce_mw_bind all;
	struct roce_event event;

	qp->owner = &all;
	assert_int_equal(roce_mw_create(end.pd, NULL, &nobodys), 0);
	all = part(0, 64, PEER_READS);
	all.mw = nobodys;
	assert_int_equal(post_bind(qp, 1, &all, ROCE_WR_SIGNALED), 0);
	fx_tx_none(&end);
	event = next_event();
	assert_int_equal(event.kind, ROCE_EVENT_BIND);
	assert_ptr_equal(event.owner, &all);
	roce_mw_destroy(nobodys);
}

/*
 * Bounds, rights and zone of an access from afar, through a window and through a region alike.
 *
 * Proves: rc.R19
 */
UNIT_RULE(enter__judges_the_peer)
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
	other = fx_pd(&end);
	sge = (struct roce_sge){ place(100), 50, reads.key };
	assert_int_equal(roce_keys_enter(end.domain, other, NULL, &sge, PEER_READS, &entered),
			-EPERM);
	sge.lkey = roce_mr_key(region);
	assert_int_equal(roce_keys_enter(end.domain, other, NULL, &sge, PEER_READS, &entered),
			-EPERM);
	assert_int_equal(roce_pd_destroy(other), 0);
}

/*
 * A caller that found the entry by a key which has ended since is refused, and leaves no trace.
 *
 * Proves: rc.R21
 */
UNIT_RULE(enter__looks_at_the_key_again)
{
	const uint32_t old = bind_part(0, 64);
	const uint32_t now = bind_part(0, 64);
	struct roce_sge sge = { place(0), 64, old };

	assert_int_equal(roce_mw_enter(mw->entry, end.pd, NULL, &sge, PEER_READS), -EACCES);
	assert_int_equal(mw->entry->visitors, 0);
	sge.lkey = now;
	assert_int_equal(roce_mw_enter(mw->entry, end.pd, NULL, &sge, PEER_READS), 0);
	assert_int_equal(mw->entry->visitors, 1);
	roce_keys_leave(mw->entry);
	sge.length = 65;
	assert_int_equal(roce_mw_enter(mw->entry, end.pd, NULL, &sge, PEER_READS), -ERANGE);
	assert_int_equal(mw->entry->visitors, 0);
}

/* A region cannot end while a window lies over it, be it one of several. */
UNIT_RULE(mr_destroy__waits_for_every_window)
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
	assert_false(lives(key));
}

/* Bound again and again to the same region it counts once; bound elsewhere it lets go. */
UNIT_RULE(mr_destroy__counts_bindings_not_binds)
{
	struct roce_mw_bind bind;
	struct roce_mr *other;

	for (unsigned int i = 0; i < 5; i++)
		bind_part(i, 64);
	other = fx_mr(end.pd, place(0), 64, 0);
	bind = (struct roce_mw_bind){ mw, roce_mr_key(other), 0, place(0), 64, 0 };
	assert_int_equal(post_bind(qp, 1, &bind, 0), 0);
	fx_tx_none(&end);
	assert_int_equal(roce_mr_destroy(other), -EBUSY);
	assert_int_equal(roce_mr_destroy(region), 0);
	roce_mw_destroy(mw);
	mw = NULL;
	assert_int_equal(roce_mr_destroy(other), 0);
}

UNIT_RULE(destroy__ends_the_binding)
{
	uint32_t key = bind_part(0, 64);

	roce_mw_destroy(mw);
	mw = NULL;
	assert_false(lives(key));
	assert_int_equal(peer_may(key, place(0), 1, PEER_READS), -EACCES);
}
