/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * zcrx=: where the frames come from that consumers hold, by how a device has its port; that they are nobody else's, and that they
 * outlive the device.
 */

#include <errno.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "ethdev/pool.h"
#include "../limit.h"
#include "node.h"

#define GIVEN    4u
#define BYTES    900u
#define RECEIVER 0u /* of b's queue pairs: its receives are zero-copy, the others copy */

#define TEXTS 1000u /* messages with memory of their own */

static struct node a, b;
static uint16_t max_frames; /* frames that consumers of b may hold: of ports, more than there are to receive into when no consumer holds any */
static struct rte_mempool *pool; /* of a program; NULL: the devices have ports of their own */

/* One of b's queue pairs has zero-copy receives. */
static void
join(void)
{
	const struct roce_qp_attr attr = {
		.pd = b.pd,
		.recv_cq = b.recv_cq,
		.max_recv_wr = NODE_DEPTH,
		.max_zcrx = max_frames,
	};

	roce_qp_destroy(b.qp[RECEIVER]);
	assert_int_equal(roce_qp_create(&attr, &b.qp[RECEIVER]), 0);
	nodes_connect(&a, &b);
}

/* A program's hands, and its frames: both devices send from one pool. */
static void
open_hands(void)
{
	struct roce_attach_config one = embed_handover(1), two = embed_handover(2);

	pool = embed_pool("frames", 1023, 2048);
	one.pool[0] = pool;
	two.pool[0] = pool;
	two.params = "ip=192.0.2.2/24 zcrx=4";
	max_frames = GIVEN;
	node_open(&a, &one);
	node_open(&b, &two);
	join();
}

static void
open_ports(const char *one, const char *two)
{
	char params[256];

	pool = NULL;
	node_make(&a, open_device(one));
	max_frames = (uint16_t)RTE_MIN(a.port->rx_pool[0]->size + 64, ROCE_ZCRX_MAX);
	snprintf(params, sizeof(params), "%s zcrx=%u", two, max_frames);
	node_make(&b, open_device(params));
	join();
}

/* A wire whose receiver has the sender's frames; one whose driver fills frames of the receiver's. */
static void
open_rings(void)
{
	open_ports("port=loop0 ip=192.0.2.1/24", "port=loop1 ip=192.0.2.2/24");
}

static void
open_memif(void)
{
	char one[256], two[256];
	static unsigned int serial;
	unsigned int socket = (unsigned int)getpid() * 16 + serial++;

	snprintf(one, sizeof(one),
			"port=net_memif0,role=server,id=7,socket=/zcrx%u,socket-abstract=yes "
			"ip=192.0.2.1/24",
			socket);
	snprintf(two, sizeof(two),
			"port=net_memif1,role=client,id=7,socket=/zcrx%u,socket-abstract=yes "
			"ip=192.0.2.2/24",
			socket);
	open_ports(one, two);
}

static void
poll_once(void)
{
	struct rte_mbuf *pkts[EMBED_BURST];

	if (pool == NULL) {
		roce_device_poll(a.device);
		roce_device_poll(b.device);
		return;
	}
	assert_int_equal(roce_device_rx(b.device, 0, pkts,
					 roce_device_tx(a.device, 0, pkts, EMBED_BURST)),
			0);
	assert_int_equal(roce_device_rx(a.device, 0, pkts,
					 roce_device_tx(b.device, 0, pkts, EMBED_BURST)),
			0);
}

/* Message @p i of BYTES to the queue pair with zero-copy receives. */
static void
say(uint32_t i)
{
	const struct roce_recv_wr recv = { .wr_id = i, .flags = ROCE_WR_ZCRX };
	uint8_t *text = a.memory + (size_t)(i % TEXTS) * BYTES;
	const struct roce_sge out = { (uintptr_t)text, BYTES, roce_mr_key(a.mr) };
	const struct roce_wr wr = {
		.wr_id = i,
		.sg = &out,
		.num_sge = 1,
		.opcode = ROCE_WR_SEND,
		.flags = ROCE_WR_SIGNALED,
	};

	memset(text, (int)i + 1, BYTES);
	assert_int_equal(roce_qp_post_recv(b.qp[RECEIVER], &recv), 0);
	assert_int_equal(roce_qp_post_send(a.qp[RECEIVER], &wr), 0);
}

static void
judge(const struct rte_mbuf *m, uint32_t i)
{
	const uint8_t *at = rte_pktmbuf_mtod(m, const uint8_t *);

	assert_int_equal(m->pkt_len, BYTES);
	for (uint32_t n = 0; n < BYTES; n++)
		assert_int_equal(at[n], (uint8_t)(i + 1));
}

static struct roce_event
want(struct roce_cq *cq)
{
	uint64_t end = rte_get_tsc_cycles() + test_limit_s() * rte_get_tsc_hz();
	struct roce_event event;

	while (roce_cq_poll(cq, &event, 1) == 0) {
		assert_true(rte_get_tsc_cycles() < end);
		poll_once();
	}
	assert_int_equal(event.status, ROCE_WC_SUCCESS);
	return event;
}

/* It arrives and is acknowledged. */
static struct rte_mbuf *
give_frame(uint32_t i)
{
	struct roce_event event;
	struct rte_mbuf *m;

	say(i);
	event = want(b.recv_cq);
	assert_int_equal(event.wr_id, i);
	m = roce_qp_take_mbuf(b.qp[RECEIVER], &event);
	assert_non_null(m);
	judge(m, i);
	assert_int_equal(want(a.send_cq).wr_id, i);
	return m;
}

/* GIVEN messages are taken, @p copied of them as copies: none of the program's frames is home before its consumer frees it. */
static void
want_given(uint64_t copied)
{
	unsigned int before = pool != NULL ? rte_mempool_in_use_count(pool) : 0;
	struct rte_mbuf *m[GIVEN];

	for (uint32_t i = 0; i < GIVEN; i++)
		m[i] = give_frame(i);
	assert_int_equal(embed_counter(b.device, "rx_lent"), GIVEN);
	assert_int_equal(embed_counter(b.device, "rx_lent_copied"), copied);
	if (pool != NULL)
		assert_true(rte_mempool_in_use_count(pool) >= before + GIVEN);
	rte_pktmbuf_free_bulk(m, GIVEN);
	nodes_close(&a, &b);
	if (pool != NULL)
		embed_pool_end(pool);
	assert_int_equal(roce_pool_sweep(), 0);
}

/* Frames of the program's pool are given as they are; it has them back when its consumer frees them. */
static void
handover__gives_the_programs_frames(void **state)
{
	open_hands();
	want_given(0);
}

/* A frame that came over net_ring is the sender's, which has it back at once, whatever the consumer does. */
static void
rings__give_copies(void **state)
{
	open_rings();
	want_given(GIVEN);
}

/* A frame of our own that the driver has filled is given as it is. */
static void
memif__gives_its_frames(void **state)
{
	open_memif();
	want_given(0);
}

/* The other connections of the port receive while a consumer holds all that it may. */
static void
others__receive_meanwhile(void **state)
{
	static void (*const open[])(void) = { open_rings, open_memif };

	for (size_t way = 0; way < RTE_DIM(open); way++) {
		static struct rte_mbuf *m[ROCE_ZCRX_MAX];

		open[way]();
		for (uint32_t i = 0; i < max_frames; i++)
			m[i] = give_frame(i);
		for (uint32_t i = 0; i < 20 * NODE_DEPTH; i++) {
			uint32_t q = 1 + i % (NODE_QPS - 1);

			nodes_post_one(&a, &b, q, i % NODE_DEPTH);
			(void)want(b.recv_cq);
			(void)want(a.send_cq);
			nodes_judge_one(&a, &b, q, i % NODE_DEPTH);
		}
		rte_pktmbuf_free_bulk(m, max_frames);
		nodes_close(&a, &b);
		assert_int_equal(roce_pool_sweep(), 0);
	}
}

/* The device is closed, and its port: the program has what it took, and pools go when that is home. */
static void
device__may_go_before_what_it_gave(void **state)
{
	static void (*const open[])(void) = { open_hands, open_rings, open_memif };

	for (size_t way = 0; way < RTE_DIM(open); way++) {
		struct rte_mbuf *m[2];

		open[way]();
		m[0] = give_frame(0);
		m[1] = give_frame(1);
		say(2);
		(void)want(a.send_cq);
		assert_int_equal(embed_counter(b.device, "rx_lent"), 3);
		nodes_close(&a, &b);
		assert_int_not_equal(roce_pool_sweep(), 0);
		judge(m[0], 0);
		rte_pktmbuf_free(m[0]);
		judge(m[1], 1);
		rte_pktmbuf_free(m[1]);
		assert_int_equal(roce_pool_sweep(), 0);
		if (pool != NULL)
			embed_pool_end(pool);
	}
}

/* A device without zcrx= has no zero-copy receive, and a value out of range is refused. */
static void
zcrx__is_asked_for(void **state)
{
	struct roce_attach_config config = embed_handover(1);
	struct roce_qp_attr attr;
	struct roce_qp *qp;

	node_open(&a, &config);
	attr = (struct roce_qp_attr){ .pd = a.pd, .recv_cq = a.recv_cq, .max_zcrx = 1 };
	assert_int_equal(roce_qp_create(&attr, &qp), -ENOMEM);
	node_close(&a);
	config.params = "ip=192.0.2.1/24 zcrx=65537";
	embed_refused(&config, -EINVAL, "zcrx");
	assert_int_equal(roce_pool_sweep(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handover__gives_the_programs_frames),
		cmocka_unit_test(rings__give_copies),
		cmocka_unit_test(memif__gives_its_frames),
		cmocka_unit_test(others__receive_meanwhile),
		cmocka_unit_test(device__may_go_before_what_it_gave),
		cmocka_unit_test(zcrx__is_asked_for),
	};

	return cmocka_run_group_tests(tests, embed_start, NULL);
}
