/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Engines that service lcores poll: `lcores=`. A program of its own, because the first open decides which lcores
 * the process has. Exits 77, skipped, on a machine with one CPU.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_lcore.h>
#include <rte_service.h>

#include "../limit.h"
#include "../open_device.h"
#include "device/device.h"
#include "device/port_neigh.h"
#include "roce/device.h"

#define LOOP0 "port=loop0 ip=192.0.2.1/24 queues=2 lcores=1"
#define LOOP1 "port=loop1 ip=192.0.2.2/24 queues=2 lcores=1"

static const struct roce_ip ip1 = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000202) } };

static int
resolve(struct roce_device *device, struct roce_path *path)
{
	struct roce_engine *engine = device->port->queue[0].engine;
	int rc;

	roce_engine_lock(engine);
	rc = roce_port_resolve(device->port, NULL, &ip1, path, roce_device_now(device));
	roce_engine_unlock(engine);
	return rc;
}

/* No thread here polls: the question goes out and the answer comes in all the same. */
static void
serve__polls_every_queue_of_every_port(void **state)
{
	struct roce_device *a = open_device(LOOP0), *b = open_device(LOOP1);
	struct roce_device_attr attr;
	struct roce_path path;
	uint64_t end;

	roce_device_query(a, &attr);
	assert_true(attr.serviced);
	assert_int_equal(rte_service_lcore_count(), 1);
	assert_int_equal(rte_service_get_count(), 4);
	assert_int_equal(rte_lcore_count(), 2);
	end = roce_device_now(a) + test_limit_s() * roce_device_hz(a);
	while (resolve(a, &path) == -EAGAIN && roce_device_now(a) < end)
		usleep(1000);
	assert_int_equal(resolve(a, &path), 0);
	roce_device_close(a);
	assert_int_equal(rte_service_get_count(), 2);
	roce_device_close(b);
}

static void
unserve__gives_the_lcore_back(void **state)
{
	assert_int_equal(rte_service_get_count(), 0);
	assert_int_equal(rte_service_lcore_count(), 0);
	assert_int_equal(rte_eal_lcore_role(1), ROLE_RTE);
}

static void
serve__again(void **state)
{
	for (int i = 0; i < 20; i++)
		roce_device_close(open_device(LOOP0));
	assert_int_equal(rte_service_lcore_count(), 0);
}

static void
serve__refuses_an_lcore_that_is_none(void **state)
{
	struct roce_device *device = NULL;
	char errmsg[256];

	assert_int_equal(roce_device_open("port=loop0 ip=192.0.2.1/24 queues=2 lcores=1,5", &device,
					 errmsg, sizeof(errmsg)),
			-EINVAL);
	assert_non_null(strstr(errmsg, "lcores=5"));
	assert_int_equal(rte_service_get_count(), 0);
	assert_int_equal(rte_service_lcore_count(), 0);
	/* The lcore the caller runs on would never come to serve. */
	assert_int_equal(roce_device_open("port=loop0 ip=192.0.2.1/24 lcores=0", &device, errmsg,
					 sizeof(errmsg)),
			-EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(serve__polls_every_queue_of_every_port),
		cmocka_unit_test(unserve__gives_the_lcore_back),
		cmocka_unit_test(serve__again),
		cmocka_unit_test(serve__refuses_an_lcore_that_is_none),
	};

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
