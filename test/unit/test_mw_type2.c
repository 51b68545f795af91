/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows of type 2 (IBTA Vol 1, 10.6.7.2): whose they are, by which key, and how they become free again. */

#include "mw_scene.h"

static struct roce_mw *window;

static int
setup_type2(void **state)
{
	open_scene(1);
	assert_int_equal(roce_mw_create_type2(end.pd, NULL, &window), 0);
	return 0;
}

static int
teardown_type2(void **state)
{
	roce_mw_destroy(window);
	return teardown(state);
}

/* The window's key with these bits of the consumer. */
static uint32_t
chosen(uint8_t bits)
{
	return (roce_mw_key(window) & ~ROCE_MW_KEY_CHOICE) | bits;
}

static struct roce_mw_bind
by(uint32_t key)
{
	struct roce_mw_bind bind = part(0, 64, PEER_READS);

	bind.mw = window;
	bind.key = key;
	return bind;
}

static uint8_t
status_of(const struct roce_wr *wr)
{
	assert_int_equal(roce_qp_post_send(qp, wr), 0);
	settle();
	return next_event().status;
}

static uint8_t
bind_it(uint32_t key)
{
	struct roce_mw_bind bind = by(key);
	const struct roce_wr wr = {
		.bind = &bind, .opcode = IBV_WR_BIND_MW, .flags = ROCE_WR_SIGNALED
	};

	return status_of(&wr);
}

static uint8_t
invalidate(uint32_t key)
{
	const struct roce_wr wr = {
		.imm = rte_cpu_to_be_32(key), .opcode = IBV_WR_LOCAL_INV, .flags = ROCE_WR_SIGNALED
	};

	return status_of(&wr);
}

UNIT_RULE_IN(judge__wants_the_key_of_the_window_and_some_memory, setup_type2, teardown_type2)
{
	struct roce_mw_bind bind = by(chosen(1));

	assert_int_equal(roce_mw_key(mw), 0);
	assert_int_equal(roce_mw_judge(qp, &bind), 0);
	bind.key ^= 0x100;
	assert_int_equal(roce_mw_judge(qp, &bind), -EINVAL);
	bind.key ^= 0x100 ^ 1u << 31;
	assert_int_equal(roce_mw_judge(qp, &bind), -EINVAL);
	bind = by(chosen(1));
	bind.length = 0;
	assert_int_equal(roce_mw_judge(qp, &bind), -EINVAL);
}

/* Not all of a domain: another queue pair's peer is refused as one of another domain. */
UNIT_RULE_IN(enter__lets_in_the_peer_of_the_binding_queue_pair, setup_type2, teardown_type2)
{
	struct roce_sge sge = { place(0), 64, chosen(7) };
	struct roce_mr *entered;

	assert_int_equal(bind_it(chosen(7)), IBV_WC_SUCCESS);
	assert_int_equal(peer_may(chosen(7), place(0), 64, PEER_READS), 0);
	assert_int_equal(peer_may(chosen(7), place(0), 65, PEER_READS), -ERANGE);
	assert_int_equal(peer_may(chosen(7), place(0), 64, PEER_WRITES), -EACCES);
	assert_int_equal(peer_may(chosen(8), place(0), 64, PEER_READS), -EACCES);
	assert_int_equal(roce_keys_enter(end.domain, end.pd, NULL, &sge, PEER_READS, &entered),
			-EPERM);
}

UNIT_RULE_IN(execute__of_what_is_bound_breaks, setup_type2, teardown_type2)
{
	assert_int_equal(bind_it(chosen(7)), IBV_WC_SUCCESS);
	assert_int_equal(bind_it(chosen(8)), IBV_WC_MW_BIND_ERR);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
	assert_true(lives(chosen(7)));
}

/* It was not executed, though it has the key that the window is bound by. */
UNIT_RULE_IN(flush__of_a_bind_ends_no_other, setup_type2, teardown_type2)
{
	struct roce_mw_bind bind = by(chosen(7));
	const struct roce_wr wr = {
		.bind = &bind, .opcode = IBV_WR_BIND_MW, .flags = ROCE_WR_SIGNALED
	};

	assert_int_equal(bind_it(chosen(7)), IBV_WC_SUCCESS);
	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	break_qp();
	assert_int_equal(next_event().status, IBV_WC_WR_FLUSH_ERR);
	assert_true(lives(chosen(7)));
}

UNIT_RULE_IN(invalidate__makes_it_free, setup_type2, teardown_type2)
{
	assert_int_equal(bind_it(chosen(7)), IBV_WC_SUCCESS);
	assert_int_equal(roce_mr_destroy(region), -EBUSY);
	assert_int_equal(invalidate(chosen(7)), IBV_WC_SUCCESS);
	assert_false(lives(chosen(7)));
	/* Also by the same key. */
	assert_int_equal(bind_it(chosen(7)), IBV_WC_SUCCESS);
	assert_int_equal(invalidate(chosen(7)), IBV_WC_SUCCESS);
	assert_int_equal(invalidate(chosen(7)), IBV_WC_MW_BIND_ERR);
	assert_int_equal(roce_mr_destroy(region), 0);
}

/* A window of type 1 is ended by a bind to nothing, or from afar. */
UNIT_RULE_IN(invalidate__is_of_type_2, setup_type2, teardown_type2)
{
	const uint32_t key = bind_part(0, 64);

	assert_int_equal(invalidate(key), IBV_WC_MW_BIND_ERR);
	assert_true(lives(key));
}

UNIT_RULE_IN(invalidate__is_not_of_regions, setup_type2, teardown_type2)
{
	assert_int_equal(invalidate(roce_mr_key(region)), IBV_WC_MW_BIND_ERR);
	assert_true(lives(roce_mr_key(region)));
}

/* A window that was bound is a lock on its region, which goes with the queue pair. */
UNIT_RULE_IN(destroy__of_the_queue_pair_makes_it_free, setup_type2, teardown_type2)
{
	assert_int_equal(bind_it(chosen(7)), IBV_WC_SUCCESS);
	roce_qp_destroy(qp);
	qp = NULL;
	assert_false(lives(chosen(7)));
	assert_int_equal(roce_mr_destroy(region), 0);
}
