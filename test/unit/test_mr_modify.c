/* SPDX-License-Identifier: BSD-3-Clause */
/* roce_mr_modify(), as ibv_rereg_mr(3) has it: a region becomes another one and keeps its key. */

#include <errno.h>

#include "end_scene.h"
#include "queue/domain.h"
#include "queue/mw.h"

#define LEN 256u

static struct roce_mr *mr;

static int
setup_region(void **state)
{
	(void)setup(state);
	mr = fx_mr(end.pd, (uintptr_t)end.memory, LEN, IBV_ACCESS_LOCAL_WRITE);
	return 0;
}

static int
check(const struct roce_pd *pd, uint32_t offset, unsigned int access)
{
	const struct roce_sge sge = { (uintptr_t)end.memory + offset, LEN, roce_mr_key(mr) };

	return roce_keys_check(&end.domain->keys, pd, &sge, access);
}

UNIT_RULE_IN(modify__changes_what_the_mask_names, setup_region, teardown)
{
	struct roce_pd *other = fx_pd(&end);
	const struct roce_mr_mod mod = {
		.pd = other, .addr = (uintptr_t)end.memory + LEN, .length = LEN
	};
	const uint32_t key = roce_mr_key(mr);

	assert_int_equal(check(end.pd, 0, IBV_ACCESS_LOCAL_WRITE), 0);
	assert_int_equal(roce_mr_modify(mr, &mod, ROCE_MR_MOD_TRANSLATION), 0);
	assert_int_equal(check(end.pd, 0, 0), -ERANGE);
	assert_int_equal(check(end.pd, LEN, IBV_ACCESS_LOCAL_WRITE), 0);
	assert_int_equal(roce_mr_modify(mr, &mod, ROCE_MR_MOD_ACCESS), 0);
	assert_int_equal(check(end.pd, LEN, IBV_ACCESS_LOCAL_WRITE), -EACCES);
	assert_int_equal(check(end.pd, LEN, 0), 0);
	assert_int_equal(roce_mr_modify(mr, &mod, ROCE_MR_MOD_PD), 0);
	assert_int_equal(check(end.pd, LEN, 0), -EPERM);
	assert_int_equal(check(other, LEN, 0), 0);
	assert_int_equal(roce_mr_key(mr), key);
	assert_int_equal(roce_pd_destroy(other), -EBUSY);
	assert_int_equal(roce_mr_destroy(mr), 0);
	assert_int_equal(roce_pd_destroy(other), 0);
}

UNIT_RULE_IN(modify__moves_it_to_other_peers, setup_region, teardown)
{
	struct roce_pd *other = fx_pd(&end);
	const struct roce_mr_mod mod = { .pd = other, .access = FX_ALL };
	struct roce_sge sge = { (uintptr_t)end.memory, LEN, roce_mr_key(mr) };
	struct roce_mr *entered;

	assert_int_equal(roce_mr_modify(mr, &mod, ROCE_MR_MOD_PD | ROCE_MR_MOD_ACCESS), 0);
	assert_int_equal(roce_keys_enter(end.domain, end.pd, NULL, &sge, IBV_ACCESS_REMOTE_WRITE,
					 &entered),
			-EPERM);
	assert_int_equal(roce_keys_enter(end.domain, other, NULL, &sge, IBV_ACCESS_REMOTE_WRITE,
					 &entered),
			0);
	assert_int_equal(roce_mr_destroy(mr), 0);
	assert_int_equal(roce_pd_destroy(other), 0);
}

UNIT_RULE_IN(modify__refuses_and_changes_nothing, setup_region, teardown)
{
	static const struct {
		uint64_t addr, length;
		uint32_t mask;
	} rule[] = {
		{ 0x1000, 16, 0 },
		{ 0x1000, 16, 1 << 3 },
		{ 0x1000, 16, ROCE_MR_MOD_TRANSLATION | 1u << 31 },
		{ 0x1000, 0, ROCE_MR_MOD_TRANSLATION },
		{ UINT64_MAX, 2, ROCE_MR_MOD_TRANSLATION },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		const struct roce_mr_mod mod = { .addr = rule[i].addr, .length = rule[i].length };

		assert_int_equal(roce_mr_modify(mr, &mod, rule[i].mask), -EINVAL);
		assert_int_equal(check(end.pd, 0, IBV_ACCESS_LOCAL_WRITE), 0);
	}
	roce_mr_destroy(mr);
}

UNIT_RULE_IN(modify__takes_a_protection_domain_of_the_device, setup_region, teardown)
{
	struct fx_end far;
	struct roce_mr_mod mod;

	fx_end_open(&far, 2, NULL);
	mod = (struct roce_mr_mod){ .pd = far.pd };
	assert_int_equal(roce_mr_modify(mr, &mod, ROCE_MR_MOD_PD), -EINVAL);
	assert_int_equal(check(end.pd, 0, IBV_ACCESS_LOCAL_WRITE), 0);
	fx_end_close(&far);
	roce_mr_destroy(mr);
}

/* Once for what was posted before, and once for what was posted while the key was dead. */
UNIT_RULE_IN(modify__has_posts_validated_again, setup_region, teardown)
{
	const struct roce_mr_mod mod = { .access = 0 };
	const uint32_t epoch = roce_key_epoch(&end.domain->keys);

	assert_int_equal(roce_mr_modify(mr, &mod, ROCE_MR_MOD_ACCESS), 0);
	assert_int_equal(roce_key_epoch(&end.domain->keys), epoch + 2);
	roce_mr_destroy(mr);
}
