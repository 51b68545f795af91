/* SPDX-License-Identifier: BSD-3-Clause */
/* A device that is polled inside of its own poll, by a callback of the program: it says that nothing moved, always. */

#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/poll.h"
#include "unit.h"

#define POLLS 1000u /**< many more than who is refused takes before it insists */

static struct {
	struct roce_port port;
	struct roce_domain *domain;
	struct roce_device *device;
} scene;

static void *
alloc(void *arg, size_t size)
{
	void *p = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(size, RTE_CACHE_LINE_SIZE));

	if (p != NULL)
		memset(p, 0, size);
	return p;
}

static void
release(void *arg, void *p)
{
	free(p);
}

/* A port without ethdev: nothing of it is touched as long as nobody gets its lock. */
static int
setup(void **state)
{
	const struct roce_domain_config config = {
		.engines = 1,
		.hz = 1000000000,
		.memory = { .alloc = alloc, .free = release },
		.pool = { unit_pool() },
	};

	memset(&scene.port, 0, sizeof(scene.port));
	assert_int_equal(roce_domain_create(&config, &scene.domain), 0);
	scene.device = calloc(1, sizeof(*scene.device));
	assert_non_null(scene.device);
	scene.device->port = &scene.port;
	scene.port.queues = 1;
	scene.port.queue[0].port = &scene.port;
	scene.port.queue[0].engine = roce_domain_engine(scene.domain, 0);
	scene.port.events.device = scene.device;
	return 0;
}

static int
teardown(void **state)
{
	roce_domain_destroy(scene.domain);
	free(scene.device);
	return 0;
}

static void
expect_refused(void)
{
	struct roce_engine *e = scene.port.queue[0].engine;

	roce_engine_lock(e);
	for (unsigned int i = 0; i < POLLS; i++)
		assert_int_equal(roce_port_poll(&scene.port.queue[0]), 0);
	roce_engine_unlock(e);
}

UNIT_RULE(poll__inside_a_poll_is_refused)
{
	expect_refused();
}

/* Also when ethdev has news of the port, which wants the locks of all engines: that waits for the end of the poll. */
UNIT_RULE(poll__inside_a_poll_leaves_news_alone)
{
	/* Of a kind that nobody knows: nothing is done for it but locking. */
	const uint32_t news = 1u << 31;

	__atomic_store_n(&scene.port.events.pending, news, __ATOMIC_RELAXED);
	expect_refused();
	assert_int_equal(scene.port.events.pending, news);
	assert_int_equal(roce_port_poll(&scene.port.queue[0]), 0);
	assert_int_equal(scene.port.events.pending, 0);
}
