/* SPDX-License-Identifier: BSD-3-Clause */

/* Ports on rings, and what lies between the rings: a switch that chooses the queue on which a frame arrives. */

#include "rings.h"
#include "spread.h"

#include <rte_dev.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_spinlock.h>

#define RING_SIZE 8192u /**< more than there are frames: nothing is lost on the way */
#define ROCE_PORT 4791u
#define UDP_LEN   8u

static const char *const names[] = { "spread0", "spread1" };

const char *
spread_port_name(unsigned int i)
{
	static const char *const full[] = { "net_ring_spread0", "net_ring_spread1" };

	return full[i];
}

/* ---- a pool of our own: what DPDK's libraries lock is invisible to the thread sanitizer ---- */

struct stack {
	rte_spinlock_t lock;
	unsigned int n;
	void *frame[];
};

static int
stack_alloc(struct rte_mempool *pool)
{
	struct stack *stack = calloc(1, sizeof(*stack) + pool->size * sizeof(stack->frame[0]));

	pool->pool_data = stack;
	return stack != NULL ? 0 : -ENOMEM;
}

static void
stack_free(struct rte_mempool *pool)
{
	free(pool->pool_data);
}

static int
stack_put(struct rte_mempool *pool, void *const *frames, unsigned int n)
{
	struct stack *stack = pool->pool_data;

	rte_spinlock_lock(&stack->lock);
	memcpy(stack->frame + stack->n, frames, n * sizeof(frames[0]));
	stack->n += n;
	rte_spinlock_unlock(&stack->lock);
	return 0;
}

static int
stack_get(struct rte_mempool *pool, void **frames, unsigned int n)
{
	struct stack *stack = pool->pool_data;
	bool enough;

	rte_spinlock_lock(&stack->lock);
	enough = stack->n >= n;
	if (enough) {
		stack->n -= n;
		memcpy(frames, stack->frame + stack->n, n * sizeof(frames[0]));
	}
	rte_spinlock_unlock(&stack->lock);
	return enough ? 0 : -ENOBUFS;
}

static unsigned int
stack_count(const struct rte_mempool *pool)
{
	const struct stack *stack = pool->pool_data;

	return stack->n;
}

static const struct rte_mempool_ops stack_ops = {
	.name = "spread",
	.alloc = stack_alloc,
	.free = stack_free,
	.enqueue = stack_put,
	.dequeue = stack_get,
	.get_count = stack_count,
};

struct rte_mempool *
spread_pool(const char *name, unsigned int frames)
{
	static bool registered;
	struct rte_mempool *pool;

	if (!registered)
		assert_true(rte_mempool_register_ops(&stack_ops) >= 0);
	registered = true;
	pool = rte_pktmbuf_pool_create_by_ops(name, frames, 0, 0, 2048 + RTE_PKTMBUF_HEADROOM,
			SOCKET_ID_ANY, stack_ops.name);
	assert_non_null(pool);
	return pool;
}

/* ---- ports ---- */

static struct rte_ring *
make_ring(const char *way, unsigned int end, unsigned int q)
{
	char name[24];
	struct rte_ring *ring;

	snprintf(name, sizeof(name), "%s%u_%u", way, end, q);
	ring = rte_ring_create(name, RING_SIZE, SOCKET_ID_ANY, 0);
	assert_non_null(ring);
	return ring;
}

/* As a program does that attaches its queues. */
static void
start_port(const struct spread *s, uint16_t port)
{
	const uint16_t queues = (uint16_t)s->engines;
	const struct rte_eth_conf conf = { 0 };

	assert_int_equal(rte_eth_dev_configure(port, queues, queues, &conf), 0);
	for (uint16_t q = 0; q < queues; q++) {
		assert_int_equal(rte_eth_rx_queue_setup(port, q, 64, 0, NULL, s->ports), 0);
		assert_int_equal(rte_eth_tx_queue_setup(port, q, 64, 0, NULL), 0);
	}
	assert_int_equal(rte_eth_dev_start(port), 0);
}

static void
open_port(struct spread *s, unsigned int i)
{
	int port = rte_eth_from_rings(
			names[i], s->to[i], s->engines, s->from[i], s->engines, SOCKET_ID_ANY);

	assert_true(port >= 0);
	s->port[i] = (uint16_t)port;
	if (s->mode == SPREAD_QUEUES)
		start_port(s, s->port[i]);
}

void
spread_wire_open(struct spread *s)
{
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int q = 0; q < s->engines; q++) {
			s->from[i][q] = make_ring("from", i, q);
			s->to[i][q] = make_ring("to", i, q);
		}
	}
	if (s->mode == SPREAD_HANDOVER)
		return;
	s->ports = embed_pool("ports", 63, 2048);
	for (unsigned int i = 0; i < 2; i++)
		open_port(s, i);
}

static void
close_port(const struct spread *s, unsigned int i)
{
	if (s->mode == SPREAD_QUEUES)
		assert_int_equal(rte_eth_dev_stop(s->port[i]), 0);
	assert_int_equal(rte_eal_hotplug_remove("vdev", spread_port_name(i)), 0);
}

void
spread_wire_close(struct spread *s)
{
	for (unsigned int i = 0; i < 2; i++) {
		if (s->mode != SPREAD_HANDOVER)
			close_port(s, i);
		for (unsigned int q = 0; q < s->engines; q++) {
			rings_free(s->from[i][q]);
			rings_free(s->to[i][q]);
		}
	}
	if (s->ports != NULL)
		embed_pool_end(s->ports);
}

/* ---- the switch ---- */

static uint32_t
read_be(const uint8_t *at, unsigned int bytes)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

/* @return false: not RoCEv2. */
static bool
read_frame(struct spread *s, const struct rte_mbuf *m, uint32_t *source_port, uint32_t *dest_qp)
{
	const uint8_t *at = rte_pktmbuf_mtod(m, const uint8_t *);
	bool tagged = read_be(at + 12, 2) == RTE_ETHER_TYPE_VLAN;
	const uint8_t *l3 = at + RTE_ETHER_HDR_LEN + (tagged ? 4 : 0);
	uint32_t type = read_be(l3 - 2, 2);
	const uint8_t *udp = l3 + (type == RTE_ETHER_TYPE_IPV6 ? 40 : 20);

	if ((type != RTE_ETHER_TYPE_IPV4 && type != RTE_ETHER_TYPE_IPV6) ||
			read_be(udp + 2, 2) != ROCE_PORT)
		return false;
	s->carried++;
	s->tagged += tagged;
	s->v6 += type == RTE_ETHER_TYPE_IPV6;
	*source_port = read_be(udp, 2);
	*dest_qp = read_be(udp + UDP_LEN + 5, 3);
	return true;
}

/* The queue on which the frame arrives. */
static unsigned int
choose(struct spread *s, const struct rte_mbuf *m, unsigned int end)
{
	uint32_t source_port, dest_qp;
	unsigned int owner, queue = 0;

	if (!read_frame(s, m, &source_port, &dest_qp))
		return 0;
	/* Queue pair numbers name their engine; that of the connection manager lives on the first. */
	owner = dest_qp == 1 ? 0 : dest_qp % s->engines;
	switch (s->way) {
	case SPREAD_STEERED:
		queue = owner;
		break;
	case SPREAD_HASHED:
		queue = (source_port * 40503u >> 8) % s->engines;
		break;
	case SPREAD_ONE:
		queue = 0;
		break;
	case SPREAD_SPRAYED:
		queue = s->turn++ % s->engines;
		break;
	}
	s->wrong[end] += queue != owner;
	return queue;
}

unsigned int
spread_carry(struct spread *s)
{
	struct rte_mbuf *pkts[EMBED_BURST];
	unsigned int carried = 0;

	for (unsigned int i = 0; i < 2 * s->engines; i++) {
		unsigned int from = i % 2, to = 1 - from;
		unsigned int n = rte_ring_dequeue_burst(
				s->from[from][i / 2], (void **)pkts, EMBED_BURST, NULL);

		for (unsigned int p = 0; p < n; p++) {
			unsigned int queue = choose(s, pkts[p], to);

			if (rte_ring_enqueue(s->to[to][queue], pkts[p]) != 0) {
				rte_pktmbuf_free(pkts[p]);
				s->dropped++;
			}
		}
		carried += n;
	}
	return carried;
}
