/* SPDX-License-Identifier: BSD-3-Clause */
/* A check that remembers the last good key has the same result as one that looks each key up. */

#include <errno.h>

#include "end_scene.h"
#include "queue/domain.h"

static int
check_recent(const struct roce_sge *sge, unsigned int access, struct roce_keys_recent *recent)
{
	uint64_t addr;

	return roce_keys_check_recent(&end.domain->keys, end.pd, sge, access, recent, &addr);
}

/* A key comes round again, in the end: then it may be another protection domain's, or a window's. */
UNIT_RULE(recent__is_of_one_protection_domain)
{
	const struct roce_keys *keys = &end.domain->keys;
	struct roce_keys_recent recent;
	struct roce_sge sge = { (uintptr_t)end.memory, 8, 0 };
	struct roce_pd *other = fx_pd(&end);
	struct roce_mr *mr = fx_mr(end.pd, sge.addr, 8, 0);

	sge.lkey = roce_mr_key(mr);
	roce_keys_recent_init(&recent, keys);
	assert_int_equal(check_recent(&sge, 0, &recent), 0);
	mr->pd = other;
	assert_int_equal(check_recent(&sge, 0, &recent), -EPERM);
	mr->pd = NULL;
	assert_int_equal(check_recent(&sge, 0, &recent), -EACCES);
	mr->pd = end.pd;
	roce_mr_destroy(mr);
	assert_int_equal(roce_pd_destroy(other), 0);
}

/* The remembered key is checked as any other, whatever became of it meanwhile. */
UNIT_RULE(recent__is_judged_as_any_other)
{
	const struct roce_keys *keys = &end.domain->keys;
	const uint64_t addr = (uintptr_t)end.memory;
	struct roce_keys_recent recent;
	struct roce_mr *reads, *writes;

	roce_keys_recent_init(&recent, keys);
	for (uint32_t round = 0; round < 3; round++) {
		reads = fx_mr(end.pd, addr, 64, 0);
		writes = fx_mr(end.pd, addr, 64, IBV_ACCESS_LOCAL_WRITE);
		const struct roce_sge sge[] = {
			{ addr, 64, roce_mr_key(reads) },
			{ addr + 1, 64, roce_mr_key(reads) },
			{ addr + 64, 0, roce_mr_key(reads) },
			{ addr, 64, roce_mr_key(writes) },
			{ addr, 65, roce_mr_key(writes) },
			{ addr, 0, 0 },
		};

		for (uint32_t i = 0; i < 4 * RTE_DIM(sge) * RTE_DIM(sge); i++) {
			const struct roce_sge *first = &sge[i / 4 / RTE_DIM(sge)];
			const struct roce_sge *second = &sge[i / 4 % RTE_DIM(sge)];
			unsigned int access[2] = { i & 1 ? IBV_ACCESS_LOCAL_WRITE : 0,
				i & 2 ? IBV_ACCESS_LOCAL_WRITE : 0 };

			(void)check_recent(first, access[0], &recent);
			assert_int_equal(check_recent(second, access[1], &recent),
					roce_keys_check(keys, end.pd, second, access[1]));
		}
		assert_int_equal(check_recent(&sge[0], 0, &recent), 0);
		roce_mr_destroy(reads);
		assert_int_equal(check_recent(&sge[0], 0, &recent), -EACCES);
		roce_mr_destroy(writes);
	}
}
