/* SPDX-License-Identifier: BSD-3-Clause */

/* Devices on queue 1 of ports whose queue 0 is the program's, and which the program has before, meanwhile and after. */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "device/user.h"
#include "../limit.h"
#include "node.h"
#include "rings.h"

#define MESSAGES 16u
#define OURS     1u /**< the queue */
#define THEIRS   0u

static struct rings wire;

/* Frames that foreign() must be given, in order. */
struct told {
	struct embed_shadow shadow[64];
	uint32_t expected, seen;
};

static void
hear_foreign(void *arg, unsigned int engine, struct rte_mbuf **pkts, uint16_t n)
{
	struct told *told = arg;

	assert_int_equal(engine, 0);
	for (uint16_t i = 0; i < n; i++) {
		/* Words among neighbours of the devices themselves come as well. */
		if (told->seen < told->expected && pkts[i] == told->shadow[told->seen].m)
			embed_compare(&told->shadow[told->seen++], pkts[i]);
		else
			assert_int_equal(rte_pktmbuf_mtod(pkts[i], const uint8_t *)[12], 0x08);
		rte_pktmbuf_free(pkts[i]);
	}
}

static struct roce_attach_config
on_wire(uint8_t n, struct rte_mempool *pool)
{
	struct roce_attach_config config = embed_handover(n);

	config.mode = ROCE_ATTACH_QUEUES;
	config.port_id = wire.port[n - 1];
	config.rx_queue[0] = OURS;
	config.tx_queue[0] = OURS;
	config.pool[0] = pool;
	return config;
}

/* A frame of the program's own reaches the other port's queue. */
static void
pass_one(uint16_t from, uint16_t to, uint16_t queue)
{
	struct rte_mbuf *m = embed_frame(embed_foreign, EMBED_UDP, queue), *came = NULL;
	struct embed_shadow shadow;

	embed_remember(&shadow, m);
	assert_int_equal(rte_eth_tx_burst(from, queue, &m, 1), 1);
	assert_int_equal(rte_eth_rx_burst(to, queue, &came, 1), 1);
	embed_compare(&shadow, came);
	rte_pktmbuf_free(came);
}

/* Frames of others, put where @p end receives next. */
static void
strew(struct told *told, unsigned int end)
{
	struct rte_mbuf *m;

	while (told->expected < RTE_DIM(told->shadow)) {
		m = embed_frame(embed_foreign, told->expected % EMBED_KINDS, told->expected);
		embed_remember(&told->shadow[told->expected], m);
		if (rte_ring_enqueue(wire.to[end][OURS], m) != 0) {
			rte_pktmbuf_free(m);
			return;
		}
		told->expected++;
		if (told->expected % 5 == 0)
			return;
	}
}

static void
talk(struct node *a, struct node *b, struct told *told)
{
	uint64_t end = rte_get_tsc_cycles() + test_limit_s() * rte_get_tsc_hz();
	uint32_t done = 0;

	nodes_post(a, b, MESSAGES);
	while (done < 2 * NODE_QPS * MESSAGES && rte_get_tsc_cycles() < end) {
		if (told != NULL)
			strew(told, 1);
		roce_device_work(a->device, 0, 1);
		roce_device_work(b->device, 0, 1);
		done = nodes_reap(a, b, done);
	}
	assert_int_equal(done, 2 * NODE_QPS * MESSAGES);
	nodes_judge(a, b, MESSAGES);
}

/* No device polls the first port: free the frames that were sent to it. @return how many. */
static unsigned int
drain(void)
{
	unsigned int n = 0;
	struct rte_mbuf *m;

	for (; rte_eth_rx_burst(wire.port[0], OURS, &m, 1) > 0; n++)
		rte_pktmbuf_free(m);
	return n;
}

static int
start(void **state)
{
	embed_start_foreign(state);
	rings_open(&wire, true);
	return 0;
}

static int
end(void **state)
{
	rings_stop(&wire);
	rings_close(&wire);
	return embed_end_foreign(state);
}

static void
attach__takes_the_queues_and_leaves_the_rest(void **state)
{
	struct rte_mempool *pool = embed_pool("frames", 1023, 2048);
	struct roce_attach_config one = on_wire(1, pool), two = on_wire(2, pool);
	struct roce_device_attr attr;
	struct told told = { 0 };
	struct node a, b;

	two.foreign = hear_foreign;
	two.arg = &told;
	nodes_open(&a, &b, &one, &two);
	roce_device_query(a.device, &attr);
	assert_string_equal(attr.port, "hands1");
	assert_string_equal(attr.driver, "net_ring");
	assert_true(attr.serviced);

	talk(&a, &b, &told);
	while (roce_device_poll_engine(b.device, 0) > 0)
		continue;
	assert_int_equal(told.seen, told.expected);
	assert_int_equal(told.seen, RTE_DIM(told.shadow));
	/* The other queue was the program's all the time. */
	pass_one(wire.port[0], wire.port[1], THEIRS);
	assert_true(rte_ring_empty(wire.to[0][THEIRS]) && rte_ring_empty(wire.to[1][THEIRS]));
	nodes_close(&a, &b);
	embed_pool_end(pool);

	/* So is ours again: the port runs as before. */
	for (uint16_t q = 0; q < RINGS_QUEUES; q++)
		pass_one(wire.port[0], wire.port[1], q);
}

/* Rings run both ways at once: the queue that is received need not be the one that is sent on. */
static void
attach__may_cross_its_queues(void **state)
{
	struct rte_mempool *pool = embed_pool("frames", 1023, 2048);
	struct roce_attach_config one = on_wire(1, pool), two = on_wire(2, pool);
	struct node a, b;

	one.tx_queue[0] = THEIRS;
	two.rx_queue[0] = THEIRS;
	nodes_open(&a, &b, &one, &two);
	talk(&a, &b, NULL);
	nodes_close(&a, &b);
	embed_pool_end(pool);
}

static void
foreign__frames_are_freed_when_nobody_wants_them(void **state)
{
	const struct roce_attach_config config = on_wire(2, NULL);
	struct roce_device *device = embed_attach(&config);
	struct told told = { 0 };

	strew(&told, 1);
	assert_int_equal(roce_device_work(device, 0, 100), told.expected + 1);
	/* One was a question for us, which was answered. */
	assert_int_equal(embed_counter(device, "port_rx_foreign"), told.expected - 1);
	assert_int_equal(rte_mempool_in_use_count(embed_foreign), 0);
	assert_int_equal(drain(), 1);
	roce_device_close(device);
}

static void
work__ends_with_its_budget(void **state)
{
	const struct roce_attach_config config = on_wire(2, NULL);
	struct roce_device *device = embed_attach(&config);
	struct told told = { 0 };

	while (told.expected < 60)
		strew(&told, 1);
	/* A poll receives at most 32. */
	assert_int_equal(roce_device_work(device, 0, 1) / 32, 1);
	assert_true(!rte_ring_empty(wire.to[1][OURS]));
	assert_int_equal(roce_device_work(device, 0, 0) > 0, 1);
	assert_int_equal(roce_device_work(device, 0, 1000), 0);
	assert_int_equal(roce_device_work(device, 1, 1000), 0);
	/* Handover is not for ports. */
	assert_int_equal(roce_device_rx(device, 0, NULL, 3), 3);
	assert_int_equal(roce_device_tx(device, 0, NULL, 3), 0);
	assert_true(drain() > 0);
	roce_device_close(device);
}

static void
set_mtu(uint32_t mtu)
{
	rings_stop(&wire);
	rings_set_mtu(&wire, mtu);
	rings_start(&wire);
}

/* A network with jumbo frames gets the largest path MTU of InfiniBand, and no more. */
static void
attach__to_jumbo_frames_has_the_largest_path_mtu(void **state)
{
	struct rte_mempool *pool = embed_pool("frames", 1023, 4352);
	struct roce_attach_config one, two;
	struct roce_device_attr attr;
	struct node a, b;

	set_mtu(9000);
	one = on_wire(1, pool);
	two = on_wire(2, pool);
	node_open(&a, &one);
	node_open(&b, &two);
	roce_device_query(a.device, &attr);
	assert_int_equal(attr.mtu, 4096);
	nodes_connect(&a, &b);
	talk(&a, &b, NULL);
	nodes_close(&a, &b);
	embed_pool_end(pool);
	set_mtu(1500);
}

/* Fill the ring from which port 1 receives: its neighbour's device takes no more frames. */
static void
stuff(void)
{
	for (uint32_t serial = 0;; serial++) {
		struct rte_mbuf *m = embed_frame(embed_foreign, EMBED_UDP, serial);

		if (rte_ring_enqueue(wire.to[1][OURS], m) == 0)
			continue;
		rte_pktmbuf_free(m);
		return;
	}
}

/*
 * A device that takes no frame for long: refused frames wait, in order and in bounds, and the engine is asked for no
 * more. No frame is lost, so without a single timeout all of them arrive when there is room.
 */
static void
poll__keeps_what_a_full_device_refuses(void **state)
{
	struct rte_mempool *pool = embed_pool("frames", 1023, 2048);
	struct roce_attach_config one = on_wire(1, pool), two = on_wire(2, pool);
	uint64_t end = rte_get_tsc_cycles() + test_limit_s() * rte_get_tsc_hz();
	unsigned int in_use, polls = 0;
	uint32_t done = 0;
	struct node a, b;

	node_open(&a, &one);
	node_open(&b, &two);
	/* Never: who loses a frame stands still. */
	a.ack_timeout = 0;
	b.ack_timeout = 0;
	nodes_connect(&a, &b);
	for (int round = 0; round < 3; round++) {
		stuff();
		nodes_post(&a, &b, MESSAGES);
		roce_device_poll_engine(a.device, 0);
		in_use = rte_mempool_in_use_count(pool);
		assert_true(a.port->queue[0].held_n > 0);
		for (int i = 0; i < 1000; i++)
			assert_int_equal(roce_device_poll_engine(a.device, 0), 0);
		assert_int_equal(rte_mempool_in_use_count(pool), in_use);
		assert_true(embed_counter(a.device, "port_tx_refused") >= 1000);
		/* It wants to be polled, as there may be room at any time. */
		assert_int_equal(roce_device_deadline(a.device), 0);
		for (done = 0; done < 2 * NODE_QPS * MESSAGES && rte_get_tsc_cycles() < end;
				done = nodes_reap(&a, &b, done)) {
			roce_device_poll_engine(b.device, 0);
			/* Now and then it is full again. */
			if (++polls % 5 == 0)
				stuff();
			roce_device_poll_engine(a.device, 0);
		}
		assert_int_equal(done, 2 * NODE_QPS * MESSAGES);
		nodes_judge(&a, &b, MESSAGES);
	}
	assert_int_equal(embed_counter(a.device, "retransmits"), 0);
	assert_int_equal(embed_counter(b.device, "out_of_sequence"), 0);
	assert_int_equal(embed_counter(b.device, "duplicate_request"), 0);
	nodes_close(&a, &b);
	while (drain() > 0)
		continue;
	embed_pool_end(pool);
}

#define LATER 8u /**< the first message of the second connection, which the first one has not */

/* Time passes also for who cannot send: a connection whose retries are over breaks, and others begin where it ended. */
static void
poll__breaks_connections_of_a_device_that_stays_full(void **state)
{
	struct rte_mempool *pool = embed_pool("frames", 1023, 2048);
	struct roce_attach_config one = on_wire(1, pool), two = on_wire(2, pool);
	uint64_t end = rte_get_tsc_cycles() + test_limit_s() * rte_get_tsc_hz();
	struct roce_event event = { 0 };
	uint32_t done = 0;
	struct node a, b;

	node_open(&a, &one);
	node_open(&b, &two);
	a.ack_timeout = 8;
	a.retry = 2;
	nodes_connect_one(&a, &b, 0);
	stuff();
	nodes_post_one(&a, &b, 0, 1);
	nodes_post_one(&a, &b, 0, 2);
	while (roce_cq_poll(a.send_cq, &event, 1) == 0 && rte_get_tsc_cycles() < end)
		assert_int_equal(roce_device_poll_engine(a.device, 0), 0);
	assert_int_equal(event.status, ROCE_WC_RETRY_EXC_ERR);
	assert_int_equal(event.wr_id, 1);
	assert_int_equal(roce_cq_poll(a.send_cq, &event, 1), 1);
	assert_int_equal(event.status, ROCE_WC_WR_FLUSH_ERR);
	assert_int_equal(roce_qp_state(a.qp[0]), ROCE_QP_ERR);
	assert_int_equal(embed_counter(a.device, "local_ack_timeout_err"), 3);

	/* There is room again, also for what the dead one had said. */
	a.ack_timeout = 0;
	nodes_connect_one(&a, &b, 1);
	for (uint32_t n = LATER; n < LATER + MESSAGES; n++)
		nodes_post_one(&a, &b, 1, n);
	while (done < 2 * MESSAGES && rte_get_tsc_cycles() < end) {
		roce_device_poll_engine(b.device, 0);
		roce_device_poll_engine(a.device, 0);
		while (roce_cq_poll(b.recv_cq, &event, 1) > 0)
			done += event.wr_id >= LATER;
		while (roce_cq_poll(a.send_cq, &event, 1) > 0) {
			assert_int_equal(event.status, ROCE_WC_SUCCESS);
			done++;
		}
	}
	assert_int_equal(done, 2 * MESSAGES);
	for (uint32_t n = LATER; n < LATER + MESSAGES; n++)
		nodes_judge_one(&a, &b, 1, n);
	nodes_close(&a, &b);
	while (drain() > 0)
		continue;
	embed_pool_end(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attach__takes_the_queues_and_leaves_the_rest),
		cmocka_unit_test(attach__may_cross_its_queues),
		cmocka_unit_test(foreign__frames_are_freed_when_nobody_wants_them),
		cmocka_unit_test(work__ends_with_its_budget),
		cmocka_unit_test(attach__to_jumbo_frames_has_the_largest_path_mtu),
		cmocka_unit_test(poll__keeps_what_a_full_device_refuses),
		cmocka_unit_test(poll__breaks_connections_of_a_device_that_stays_full),
	};

	return cmocka_run_group_tests(tests, start, end);
}
