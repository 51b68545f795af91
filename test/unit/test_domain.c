/* SPDX-License-Identifier: BSD-3-Clause */
/* A domain and its engines: birth, death, randomness. */

#include <errno.h>

#include "engine/engine_pvt.h"
#include "fixture.h"

static struct fx_end end;

static int
setup(void **state)
{
	fx_end_open(&end, 1, NULL);
	return 0;
}

static int
teardown(void **state)
{
	fx_end_close(&end);
	return fx_live() != 0 || !unit_pool_is_full();
}

static struct roce_domain_config
config(void)
{
	struct roce_domain_config c = end.domain->config;

	c.engines = 3;
	for (unsigned int i = 0; i < 3; i++)
		c.pool[i] = unit_pool();
	return c;
}

static void
create__without_memory_leaves_nothing(void **state)
{
	const unsigned int before = fx_live();
	const struct roce_domain_config c = config();
	struct roce_domain *domain = NULL;
	unsigned int nth = 0;
	int rc;

	do {
		assert_int_equal(fx_live(), before);
		fx_fail(++nth);
		rc = roce_domain_create(&c, &domain);
		assert_int_equal(rc, fx_failed() ? -ENOMEM : 0);
	} while (rc != 0);
	fx_fail(0);
	assert_int_equal(nth, 1 + 3 * 3 + 1);
	assert_int_equal(roce_domain_engines(domain), 3);
	assert_null(roce_domain_engine(domain, 3));
	roce_domain_destroy(domain);
	assert_int_equal(fx_live(), before);
}

static void
create__judges_its_configuration(void **state)
{
	struct roce_domain_config bad[6];
	struct roce_domain *domain;

	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		bad[i] = config();
	bad[0].engines = 0;
	bad[1].engines = ROCE_ENGINES_MAX + 1;
	bad[2].hz = 0;
	bad[3].addrs = ROCE_ADDRS_MAX + 1;
	bad[4].pool[2] = NULL;
	bad[5].first_qpn = 1u << 24;
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		assert_int_equal(roce_domain_create(&bad[i], &domain), -EINVAL);
}

/* A run is a function of its seed. */
static void
random__repeats_itself(void **state)
{
	const struct roce_domain_config c = config();
	struct roce_domain *a, *b;

	assert_int_equal(roce_domain_create(&c, &a), 0);
	assert_int_equal(roce_domain_create(&c, &b), 0);
	for (unsigned int i = 0; i < 10; i++)
		assert_true(roce_random(a) == roce_random(b));
	roce_domain_destroy(a);
	roce_domain_destroy(b);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(create__judges_its_configuration),
		TEST(create__without_memory_leaves_nothing),
		TEST(random__repeats_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
