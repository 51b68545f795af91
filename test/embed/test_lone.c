/* SPDX-License-Identifier: BSD-3-Clause */

/* Requests that leave with their post (queue/lone.h), as a port sends them; and when the port leaves them to the next poll. */

#include <sys/syscall.h>
#include <unistd.h>

#include <linux/membarrier.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "device/user.h"
#include "queue/lone.h"
#include "queue/qp.h"
#include "../limit.h"
#include "node.h"
#include "rings.h"

#define OURS      1u /**< queue of the program's ports that is left to the devices */
#define TEST_SKIP 77 /**< as meson wants it */

static struct node a, b;
static struct rings wire;

static uint64_t
sent(void)
{
	return embed_counter(a.device, "port_tx_frames");
}

/* Let all that was posted arrive and be acknowledged. */
static void
deliver(void)
{
	uint64_t end = rte_get_tsc_cycles() + test_limit_s() * rte_get_tsc_hz();
	uint32_t done = 0;

	while (done < 2) {
		if (rte_get_tsc_cycles() > end)
			fail_msg("a message does not arrive");
		roce_device_poll_engine(b.device, 0);
		roce_device_poll_engine(a.device, 0);
		done = nodes_reap(&a, &b, done);
	}
	nodes_judge_one(&a, &b, 1, 0);
}

/* A message of one packet. @return frames that left with it. */
static uint64_t
post(void)
{
	const uint64_t before = sent();

	nodes_post_one(&a, &b, 1, 0);
	return sent() - before;
}

/* The thread polls often enough to own the engines' locks, and the queue pair sends one message after the other. */
static void
learn(void)
{
	for (unsigned int i = 0; i < 2 * ROCE_BIAS_THRESHOLD; i++) {
		roce_device_poll_engine(a.device, 0);
		roce_device_poll_engine(b.device, 0);
	}
	for (unsigned int i = 0; i < 2 * ROCE_LONE_ENOUGH; i++) {
		(void)post();
		deliver();
	}
	assert_true(roce_bias_owns(&roce_qp_engine(a.qp[1])->lock.bias));
	assert_int_equal(a.qp[1]->tx.lone, ROCE_LONE_ENOUGH);
}

static void
open_pair(const char *more)
{
	char params[128];

	snprintf(params, sizeof(params), "port=loop0 ip=192.0.2.1/24 %s", more);
	node_make(&a, open_device(params));
	node_make(&b, open_device("port=loop1 ip=192.0.2.2/24"));
	nodes_connect_one(&a, &b, 1);
}

static void
request__leaves_with_its_post(void **state)
{
	open_pair("");
	learn();
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(post(), 1);
		deliver();
	}
	nodes_close(&a, &b);
}

/* It is counted as refused, and goes first in the next poll. */
static void
request__that_the_device_refuses_waits(void **state)
{
	struct rte_mbuf *filler[1024];
	uint64_t refused;
	uint16_t n = 0;

	open_pair("");
	learn();
	refused = embed_counter(a.device, "port_tx_refused");
	do {
		filler[n] = embed_frame(embed_foreign, EMBED_UDP, n);
	} while (rte_eth_tx_burst(a.port->id, 0, &filler[n], 1) == 1 && ++n < RTE_DIM(filler) - 1);
	rte_pktmbuf_free(filler[n]);
	assert_int_equal(post(), 0);
	assert_int_equal(embed_counter(a.device, "port_tx_refused") - refused, 1);
	deliver();
	nodes_close(&a, &b);
}

/* Faults on purpose are for polls. */
static void
request__waits_where_frames_are_changed(void **state)
{
	open_pair("loss=1");
	learn();
	assert_int_equal(post(), 0);
	deliver();
	nodes_close(&a, &b);
}

/* Its program decides when a queue is used: it polls. */
static void
request__waits_on_a_queue_of_a_program(void **state)
{
	struct rte_mempool *pool = embed_pool("frames", 1023, 2048);
	struct roce_attach_config config[2];

	rings_open(&wire, true);
	for (uint8_t i = 0; i < 2; i++) {
		config[i] = embed_handover((uint8_t)(i + 1));
		config[i].mode = ROCE_ATTACH_QUEUES;
		config[i].port_id = wire.port[i];
		config[i].rx_queue[0] = OURS;
		config[i].tx_queue[0] = OURS;
		config[i].pool[0] = pool;
	}
	nodes_open(&a, &b, &config[0], &config[1]);
	learn();
	assert_int_equal(post(), 0);
	deliver();
	nodes_close(&a, &b);
	rings_stop(&wire);
	rings_close(&wire);
	embed_pool_end(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request__leaves_with_its_post),
		cmocka_unit_test(request__that_the_device_refuses_waits),
		cmocka_unit_test(request__waits_where_frames_are_changed),
		cmocka_unit_test(request__waits_on_a_queue_of_a_program),
	};

	if (syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0) {
		printf("skipped: the system has no membarrier() for a process, so no thread owns an engine\n");
		return TEST_SKIP;
	}
	return cmocka_run_group_tests(tests, embed_start_foreign, embed_end_foreign);
}
