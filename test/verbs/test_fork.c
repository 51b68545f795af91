/* SPDX-License-Identifier: BSD-3-Clause */

/* A program with devices forks (docs/embedding.md, Fork): its traffic goes on, and the child can open nothing. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "rig.h"

#define LENGTH 5000u

static struct pair *parents;

static void
exchange(struct pair *pair, uint8_t seed)
{
	struct roce_wr wr = { .wr_id = 7, .opcode = ROCE_WR_SEND, .flags = ROCE_WR_SIGNALED };

	memset(pair->a.memory, seed, LENGTH);
	ok(post_recv(&pair->b, pair->b.qp, 9, 0, LENGTH));
	ok(post_send(&pair->a, wr, 0, LENGTH));
	assert_int_equal(want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS).wr_id, 9);
	assert_int_equal(want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS).wr_id, 7);
	assert_memory_equal(pair->a.memory, pair->b.memory, LENGTH);
}

static void
want_refusal(int rc, const char *errmsg, const struct roce_device *device)
{
	assert_int_equal(rc, -ENODEV);
	assert_non_null(strstr(errmsg, "forked"));
	assert_null(device);
}

static void
open_in_vain(void **state)
{
	const struct roce_attach_config config = {
		.name = "rdma0",
		.mode = ROCE_ATTACH_HANDOVER,
		.mac = { 2, 0, 0, 0, 0, 1 },
		.params = "ip=192.0.2.1/24",
	};
	struct roce_device *device = NULL;
	char errmsg[256];
	int rc;

	/* One that the parent has, and one that nobody has. */
	rc = roce_device_open("port=loop0 ip=192.0.2.1/24", &device, errmsg, sizeof(errmsg));
	want_refusal(rc, errmsg, device);
	rc = roce_device_open("port=net_null0 ip=192.0.2.1/24", &device, errmsg, sizeof(errmsg));
	want_refusal(rc, errmsg, device);
	rc = roce_device_attach(&config, &device, errmsg, sizeof(errmsg));
	want_refusal(rc, errmsg, device);
	/* Bad arguments are told first. */
	assert_int_equal(roce_device_open("port", &device, errmsg, sizeof(errmsg)), -EINVAL);
	roce_device_close(parents->a.device);
	roce_device_close(parents->a.device);
	exit(0);
}

static void
traffic__goes_on_beside_a_child(void **state)
{
	struct pair *pair = *state;
	uint8_t seed = 1;
	pid_t child;

	parents = pair;
	pair_connect(pair);
	exchange(pair, seed);
	child = begin_child(open_in_vain);
	do {
		exchange(pair, ++seed);
	} while (!child_is_over(child));
	exchange(pair, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
				traffic__goes_on_beside_a_child, pair_open, pair_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
