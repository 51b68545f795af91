/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Devices as a program opens them, on loop0 and loop1: no NIC, no root, no hugepages. The EAL is started by the
 * first open, so the order of the tests is that of a process's life.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_lcore.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include "../limit.h"
#include "../open_device.h"
#include "device/device.h"
#include "device/port_neigh.h"
#include "roce/device.h"

#define LOOP0 "port=loop0 ip=192.0.2.1/24 ip=2001:db8::1/64"
#define LOOP1 "port=loop1 ip=192.0.2.2/24 ip=2001:db8::2/64"

static const struct roce_ip ip0 = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000201) } };
static const struct roce_ip ip1 = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000202) } };
static const struct roce_ip ip1_v6 = { .w = { RTE_BE32(0x20010db8), 0, 0, RTE_BE32(2) } };

static void
assert_open_fails(const char *params, int want, const char *word)
{
	struct roce_device *device = NULL;
	char errmsg[256];
	int rc = roce_device_open(params, &device, errmsg, sizeof(errmsg));

	if (rc != want || strstr(errmsg, word) == NULL)
		fail_msg("%s: %d %s", params, rc, errmsg);
	assert_null(device);
}

static int
resolve(struct roce_device *device, const struct roce_ip *dst, struct roce_path *path)
{
	struct roce_engine *engine = device->port->queue[0].engine;
	int rc;

	roce_engine_lock(engine);
	rc = roce_port_resolve(device->port, NULL, dst, path, roce_device_now(device));
	roce_engine_unlock(engine);
	return rc;
}

/* Poll both ends until neither has anything to do. */
static void
settle(struct roce_device *a, struct roce_device *b)
{
	while (roce_device_poll(a) + roce_device_poll(b) > 0)
		continue;
}

static void
count_pool(struct rte_mempool *pool, void *arg)
{
	++*(unsigned int *)arg;
}

/* A pool is freed when its last frame is home, so none left means none lost. */
static unsigned int
pools_left(void)
{
	unsigned int n = 0;

	rte_mempool_walk(count_pool, &n);
	return n;
}

static void
open__says_what_is_wrong_before_anything_starts(void **state)
{
	assert_open_fails("ip=192.0.2.1/24", -EINVAL, "port=");
	assert_open_fails("port=loop0 ip=192.0.2.1/24 color=red", -EINVAL, "color");
	setenv("UDAPL_ROCE_PARAMS", "mtu=1500", 1);
	assert_open_fails(LOOP0, -EINVAL, "mtu=1500");
	unsetenv("UDAPL_ROCE_PARAMS");
	assert_int_equal(rte_lcore_count(), 0);
}

static void
open__starts_the_eal_and_leaves_the_thread_where_it_was(void **state)
{
	cpu_set_t before, after;
	struct roce_device *d;

	assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof(before), &before), 0);
	d = open_device(LOOP0);
	assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
	assert_int_equal(rte_lcore_count(), 1);
	roce_device_close(d);
	assert_int_equal(pools_left(), 0);
}

static void
open__fails_with_one_sentence_when_the_device_does(void **state)
{
	assert_open_fails("port=nowhere0 ip=192.0.2.1/24", -ENODEV, "nowhere0");
	assert_open_fails(
			"port=net_af_packet7,iface=nowhere0 ip=192.0.2.1/24", -ENODEV, "nowhere0");
	assert_open_fails("port=net_pcap7,rx_pcap=/nowhere/a.pcap ip=192.0.2.1/24", -ENODEV,
			"net_pcap7");
	assert_open_fails("port=loop0,size=7 ip=192.0.2.1/24", -EINVAL, "size");
	assert_open_fails("port=net_pcap7,tx_pcap=/dev/null queues=2 ip=192.0.2.1/24", -EINVAL,
			"queues=2");
	assert_open_fails("port=loop0 ip=192.0.2.1/24 gw=198.51.100.1", -EINVAL, "gw=");
	assert_open_fails("port=loop0 ip=192.0.2.1/24 lcores=99", -EINVAL, "lcores=99");
	assert_open_fails("port=net_memif7,role=server,id=7,bsize=2048 mtu=4096 ip=192.0.2.1/24",
			-EINVAL, "mtu=4096");
	assert_int_equal(pools_left(), 0);
}

static void
query__tells_what_was_opened(void **state)
{
	struct roce_device *d = open_device(LOOP0 " retry=3 rnr_timer=5");
	struct roce_device_attr attr;

	roce_device_query(d, &attr);
	assert_string_equal(attr.port, "loop0");
	assert_string_equal(attr.driver, "net_ring");
	assert_int_equal(attr.mtu, 4096);
	assert_int_equal(attr.engines, 1);
	assert_false(attr.serviced);
	assert_int_equal(attr.retry, 3);
	assert_int_equal(attr.rnr_timer, 5);
	assert_memory_equal(attr.ip, ip0.b, sizeof(attr.ip));
	assert_int_equal(attr.mac[0] & 3, 2); /* local, of one station */
	roce_device_close(d);
}

static void
open__joins_the_same_port_only_with_the_same_parameters(void **state)
{
	struct roce_device *a = open_device(LOOP0);
	struct roce_device *b = open_device(LOOP0);

	assert_ptr_equal(a, b);
	assert_open_fails(LOOP0 " mtu=1024", -EBUSY, "loop0");
	roce_device_close(a);
	assert_int_equal(roce_device_poll_engine(b, 0), 0);
	roce_device_close(b);
	a = open_device(LOOP0 " mtu=1024");
	roce_device_close(a);
	assert_int_equal(pools_left(), 0);
}

/* A second device on the port: others find its address while it is there, and not before or after. */
static void
open__adds_addresses_for_as_long_as_they_are_used(void **state)
{
	static const struct roce_ip more = { .w = { 0, 0, RTE_BE32(0xffff),
							     RTE_BE32(0xc0000203) } };
	struct roce_device *a = open_device(LOOP0), *b = open_device(LOOP1), *c;
	struct roce_device_user user = { 0 };
	struct roce_path path;

	assert_int_equal(resolve(b, &more, &path), -EAGAIN);
	settle(a, b);
	assert_int_equal(resolve(b, &more, &path), -EAGAIN);
	c = open_device("port=loop0 ip=192.0.2.3/24");
	assert_ptr_not_equal(c, a);
	assert_ptr_equal(c->port, a->port);
	/* It asks with its own address, and so is known; whoever asks, hears an answer. */
	roce_device_join(c, &user);
	assert_int_equal(user.context.addrs, 1);
	roce_engine_lock(c->port->queue[0].engine);
	assert_int_equal(roce_port_resolve(c->port, &user.context, &ip1, &path, roce_device_now(c)),
			-EAGAIN);
	assert_memory_equal(&path.src_mac, &a->port->mac, sizeof(path.src_mac));
	roce_engine_unlock(c->port->queue[0].engine);
	settle(a, b);
	roce_engine_lock(c->port->queue[0].engine);
	assert_int_equal(roce_port_resolve(c->port, &user.context, &ip1, &path, roce_device_now(c)),
			0);
	roce_engine_unlock(c->port->queue[0].engine);
	assert_memory_equal(&path.src_ip, &more, sizeof(more));
	assert_int_equal(resolve(a, &ip1, &path), 0);
	assert_memory_equal(&path.src_ip, &ip0, sizeof(ip0));
	roce_device_leave(c, &user);
	/* The device of the port may go before it. */
	roce_device_close(a);
	assert_int_equal(c->port->ip.n, 3);
	roce_device_close(b);
	b = open_device(LOOP1);
	assert_int_equal(resolve(b, &more, &path), -EAGAIN);
	settle(c, b);
	assert_int_equal(resolve(b, &more, &path), 0);
	a = open_device(LOOP0);
	roce_device_close(c);
	assert_int_equal(a->port->ip.n, 2);
	roce_device_close(b);
	b = open_device(LOOP1);
	assert_int_equal(resolve(b, &more, &path), -EAGAIN);
	settle(a, b);
	assert_int_equal(resolve(b, &more, &path), -EAGAIN);
	roce_device_close(a);
	roce_device_close(b);
	assert_int_equal(pools_left(), 0);
}

static void
neighbours__find_each_other_over_the_loop(void **state)
{
	static const struct roce_ip *const addresses[] = { &ip1, &ip1_v6 };
	struct roce_device *a = open_device(LOOP0), *b = open_device(LOOP1);
	struct roce_path path;

	for (size_t i = 0; i < RTE_DIM(addresses); i++) {
		assert_int_equal(resolve(a, addresses[i], &path), -EAGAIN);
		assert_true(roce_device_deadline(a) <= roce_device_now(a));
		settle(a, b);
		assert_int_equal(resolve(a, addresses[i], &path), 0);
		assert_memory_equal(&path.dst_mac, &b->port->mac, sizeof(path.dst_mac));
		assert_memory_equal(&path.src_mac, &a->port->mac, sizeof(path.src_mac));
		assert_memory_equal(&path.dst_ip, addresses[i], sizeof(path.dst_ip));
		assert_int_equal(path.mtu_code, 5);
		assert_int_equal(path.ttl, 64);
	}
	/* The device that was asked knows the one that asked. */
	assert_int_equal(resolve(b, &ip0, &path), 0);
	assert_memory_equal(&path.dst_mac, &a->port->mac, sizeof(path.dst_mac));
	assert_int_equal(a->port->queue[0].stats.neighbour, 2);
	assert_int_equal(a->port->queue[0].stats.foreign, 0);
	roce_device_close(a);
	roce_device_close(b);
	assert_int_equal(pools_left(), 0);
}

static void
resolve__fills_the_path_from_the_parameters(void **state)
{
	struct roce_device *d = open_device("port=loop0 ip=192.0.2.1/24 vlan=7 dscp=26 mtu=512 "
					    "gw=192.0.2.9 neigh=192.0.2.9@02:00:00:00:00:09");
	const struct roce_ip far = roce_ip_from_v4(RTE_BE32(0xc6336401));
	struct roce_path path;

	assert_int_equal(resolve(d, &far, &path), 0);
	assert_int_equal(path.dst_mac.addr_bytes[5], 9);
	assert_int_equal(path.vlan_tci, 7);
	assert_int_equal(path.tos, 26 << 2);
	assert_int_equal(path.mtu_code, 2);
	assert_memory_equal(&path.src_ip, &ip0, sizeof(ip0));
	/* The port reaches itself, from its own address. */
	assert_int_equal(resolve(d, &ip0, &path), 0);
	assert_memory_equal(&path.dst_mac, &path.src_mac, sizeof(path.src_mac));
	assert_memory_equal(&path.src_ip, &ip0, sizeof(ip0));
	assert_memory_equal(&path.dst_ip, &ip0, sizeof(ip0));
	assert_int_equal(resolve(d, &ip1_v6, &path), -ENETUNREACH);
	roce_device_close(d);
}

static void
poll__frees_what_is_foreign_and_counts_it(void **state)
{
	struct roce_device *d = open_device(LOOP0);
	struct rte_ring *ring = rte_ring_lookup("roce_loop0_0");
	struct rte_mbuf *m = rte_pktmbuf_alloc(d->port->rx_pool[0]);

	assert_non_null(ring);
	assert_non_null(m);
	memset(rte_pktmbuf_append(m, 64), 0x5a, 64);
	assert_int_equal(rte_ring_enqueue(ring, m), 0);
	assert_int_equal(roce_device_poll_engine(d, 0), 1);
	assert_int_equal(d->port->queue[0].stats.foreign, 1);
	assert_int_equal(roce_engine_stats(d->port->queue[0].engine)->rx_foreign, 1);
	assert_int_equal(roce_device_poll_engine(d, 0), 0);
	assert_int_equal(roce_device_turn(d, 1), 0);
	roce_device_close(d);
	assert_int_equal(pools_left(), 0);
}

static void
poll__keeps_what_the_device_refuses(void **state)
{
	struct roce_device *d = open_device("port=loop0,size=8 ip=192.0.2.1/24");
	struct rte_ring *ring = rte_ring_lookup("roce_loop1_0");
	struct rte_mbuf *fill[8], *m = NULL;
	struct roce_path path;
	unsigned int n;

	assert_int_equal(rte_pktmbuf_alloc_bulk(d->port->rx_pool[0], fill, 8), 0);
	n = rte_ring_enqueue_burst(ring, (void **)fill, 8, NULL);
	assert_int_equal(n, 7);
	rte_pktmbuf_free(fill[7]);
	assert_int_equal(resolve(d, &ip1, &path), -EAGAIN);
	assert_int_equal(roce_device_poll_engine(d, 0), 0);
	assert_int_equal(d->port->queue[0].held_n, 1);
	assert_int_equal(d->port->queue[0].stats.tx_refused, 1);
	assert_int_equal(roce_device_deadline(d), 0);
	assert_int_equal(roce_device_poll_engine(d, 0), 0);

	assert_int_equal(rte_ring_dequeue(ring, (void **)&m), 0);
	rte_pktmbuf_free(m);
	assert_int_equal(roce_device_poll_engine(d, 0), 1);
	assert_int_equal(d->port->queue[0].held_n, 0);
	/* Six of ours stay in the ring, and the question: closing drains it. */
	roce_device_close(d);
	assert_int_equal(pools_left(), 0);
}

static void
close__frees_what_is_held(void **state)
{
	struct roce_device *d = open_device("port=loop0,size=8 ip=192.0.2.1/24");
	struct rte_ring *ring = rte_ring_lookup("roce_loop1_0");
	struct rte_mbuf *fill[7];
	struct roce_path path;

	assert_int_equal(rte_pktmbuf_alloc_bulk(d->port->rx_pool[0], fill, 7), 0);
	assert_int_equal(rte_ring_enqueue_burst(ring, (void **)fill, 7, NULL), 7);
	assert_int_equal(resolve(d, &ip1, &path), -EAGAIN);
	assert_int_equal(roce_device_poll_engine(d, 0), 0);
	assert_int_equal(d->port->queue[0].held_n, 1);
	roce_device_close(d);
	assert_int_equal(pools_left(), 0);
}

static void
close__of_one_end_lets_its_frames_come_home_later(void **state)
{
	struct roce_device *a = open_device(LOOP0), *b = open_device(LOOP1);
	struct roce_path path;

	assert_int_equal(resolve(a, &ip1, &path), -EAGAIN);
	assert_int_equal(roce_device_poll_engine(a, 0), 1);
	roce_device_close(a);
	/* The question is on its way, in a pool whose port is gone. */
	assert_int_equal(roce_device_poll(b), 2);
	a = open_device(LOOP0);
	/* The answer came too late for the old a and is not for the new one. */
	assert_int_equal(roce_device_poll(a), 0);
	roce_device_close(b);
	roce_device_close(a);
	assert_int_equal(pools_left(), 0);
}

static void
loss__takes_frames_that_are_sent(void **state)
{
	struct roce_device *a = open_device(LOOP0 " loss=1000000 seed=1");
	struct roce_device *b = open_device(LOOP1);
	struct roce_path path;

	assert_int_equal(resolve(a, &ip1, &path), -EAGAIN);
	settle(a, b);
	assert_int_equal(a->port->queue[0].fault_injection.count[ROCE_FAULT_LOSS], 1);
	assert_int_equal(b->port->queue[0].stats.rx_frames, 0);
	/* The other end asks in vain: the question arrives, the answer is lost. */
	assert_int_equal(resolve(b, &ip0, &path), -EAGAIN);
	settle(b, a);
	assert_int_equal(a->port->queue[0].stats.neighbour, 1);
	assert_int_equal(a->port->queue[0].fault_injection.count[ROCE_FAULT_LOSS], 2);
	roce_device_close(a);
	roce_device_close(b);
	assert_int_equal(pools_left(), 0);
}

static void
queues__are_joined_one_to_one(void **state)
{
	struct roce_device *a = open_device(LOOP0 " queues=2"), *b;
	struct roce_device_attr attr;
	struct roce_path path;

	assert_open_fails(LOOP1, -EINVAL, "queues=1");
	b = open_device(LOOP1 " queues=2");
	roce_device_query(a, &attr);
	assert_int_equal(attr.engines, 2);
	assert_int_equal(resolve(a, &ip1, &path), -EAGAIN);
	settle(a, b);
	settle(a, b);
	assert_int_equal(resolve(a, &ip1, &path), 0);
	roce_device_close(b);
	roce_device_close(a);
	assert_int_equal(pools_left(), 0);
}

/* The driver makes frames up out of whatever its pool holds: nothing of it may come from our own frames. */
static void
null__hands_out_garbage_and_loses_no_buffer(void **state)
{
	struct roce_device *d = open_device("port=net_null0,size=62 ip=192.0.2.1/24");
	const struct roce_port_queue *queue = &d->port->queue[0];
	const struct roce_stats *stats = roce_engine_stats(queue->engine);

	for (int i = 0; i < 10000; i++)
		assert_int_equal(roce_device_poll_engine(d, 0), ROCE_PORT_RX_BURST);
	assert_int_equal(queue->stats.foreign, 320000);
	assert_int_equal(stats->rx_foreign, 320000);
	roce_device_close(d);
	assert_int_equal(pools_left(), 0);
}

/* The link of two ends in one process, which the driver's own thread joins: the first question may have to wait. */
static void
assert_linked(struct roce_device *a, struct roce_device *b, struct roce_path *path)
{
	uint64_t end = roce_device_now(a) + test_limit_s() * roce_device_hz(a);

	while (resolve(a, &ip1, path) != 0 && roce_device_now(a) < end)
		settle(a, b);
	assert_int_equal(resolve(a, &ip1, path), 0);
}

static void
memif__carries_the_largest_path_mtu(void **state)
{
	char dir[] = "/tmp/roce-memif-XXXXXX", params[2][256];
	struct roce_device *a, *b;
	struct roce_path path;

	assert_non_null(mkdtemp(dir));
	snprintf(params[0], sizeof(params[0]),
			"port=net_memif0,role=server,socket=%s/s ip=192.0.2.1/24", dir);
	snprintf(params[1], sizeof(params[1]),
			"port=net_memif1,role=client,socket=%s/s ip=192.0.2.2/24", dir);
	a = open_device(params[0]);
	b = open_device(params[1]);
	assert_linked(a, b, &path);
	assert_int_equal(path.mtu_code, 5);
	roce_device_close(b);
	roce_device_close(a);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(pools_left(), 0);
}

/* Servers of one process that differ by id share a socket; it may be had again, also without a file. */
static void
memif__servers_share_a_socket(void **state)
{
	static const char *const more[] = { "", ",socket-abstract=yes" };
	char dir[] = "/tmp/roce-memif-XXXXXX", params[4][256];
	struct roce_path path;

	assert_non_null(mkdtemp(dir));
	for (unsigned int round = 0; round < 4; round++) {
		struct roce_device *d[4];

		for (unsigned int i = 0; i < 4; i++) {
			snprintf(params[i], sizeof(params[i]),
					"port=net_memif%u,role=%s,id=%u,socket=%s/s%s ip=192.0.2.%u/24",
					i, i < 2 ? "server" : "client", 1 + i % 2, dir,
					more[round / 2], 1 + i / 2);
			d[i] = open_device(params[i]);
		}
		assert_linked(d[1], d[3], &path);
		assert_memory_equal(&path.dst_mac, &d[3]->port->mac, sizeof(path.dst_mac));
		assert_linked(d[0], d[2], &path);
		assert_memory_equal(&path.dst_mac, &d[2]->port->mac, sizeof(path.dst_mac));
		params[0][strlen("port=net_memif")] = '4';
		assert_open_fails(params[0], -EBUSY, "another port of this process");
		for (unsigned int i = 0; i < 4; i++)
			roce_device_close(d[i]);
	}
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(pools_left(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open__says_what_is_wrong_before_anything_starts),
		cmocka_unit_test(open__starts_the_eal_and_leaves_the_thread_where_it_was),
		cmocka_unit_test(open__fails_with_one_sentence_when_the_device_does),
		cmocka_unit_test(query__tells_what_was_opened),
		cmocka_unit_test(open__joins_the_same_port_only_with_the_same_parameters),
		cmocka_unit_test(open__adds_addresses_for_as_long_as_they_are_used),
		cmocka_unit_test(neighbours__find_each_other_over_the_loop),
		cmocka_unit_test(resolve__fills_the_path_from_the_parameters),
		cmocka_unit_test(poll__frees_what_is_foreign_and_counts_it),
		cmocka_unit_test(poll__keeps_what_the_device_refuses),
		cmocka_unit_test(close__frees_what_is_held),
		cmocka_unit_test(close__of_one_end_lets_its_frames_come_home_later),
		cmocka_unit_test(loss__takes_frames_that_are_sent),
		cmocka_unit_test(queues__are_joined_one_to_one),
		cmocka_unit_test(memif__carries_the_largest_path_mtu),
		cmocka_unit_test(memif__servers_share_a_socket),
		cmocka_unit_test(null__hands_out_garbage_and_loses_no_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
