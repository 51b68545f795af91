/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_NEIGH_SCENE_H
#define ROCE_TEST_NEIGH_SCENE_H

/** @file A neighbour table with an address of each kind, and what it hears and says. A tick is a millisecond. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>

#include "neigh_golden.h"
#include "neighbour/neigh.h"
#include "neighbour/neigh_msg.h"
#include "rules.h"
#include "unit.h"

#define HZ    UINT64_C(1000)
#define START UINT64_C(50000)

static const struct rte_ether_addr mac_us = { { 0x02, 0x00, 0xc0, 0x00, 0x02, 0x01 } };
static const struct rte_ether_addr mac_peer = { { 0x02, 0x00, 0xc0, 0x00, 0x02, 0x02 } };
static const struct rte_ether_addr mac_meek = { { 0x02, 0x00, 0xc0, 0x00, 0x02, 0x77 } };

static const struct roce_ip us4 = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000201) } };
static const struct roce_ip peer4 = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000202) } };
static const struct roce_ip gw4 = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc00002fe) } };
static const struct roce_ip far4 = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xcb007101) } };
static const struct roce_ip us6 = { .w = { RTE_BE32(0x20010db8), 0, 0, RTE_BE32(1) } };
static const struct roce_ip peer6 = { .w = { RTE_BE32(0x20010db8), 0, 0, RTE_BE32(2) } };
static const struct roce_ip far6 = { .w = { RTE_BE32(0x20010db9), 0, 0, RTE_BE32(2) } };

static const struct roce_subnet own[] = {
	{ { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000201) } }, 24 },
	{ { .w = { RTE_BE32(0x20010db8), 0, 0, RTE_BE32(1) } }, 64 },
};

static inline void *
alloc_zeroed(void *arg, size_t size)
{
	return calloc(1, size);
}

static inline void
free_plain(void *arg, void *p)
{
	free(p);
}

static inline struct roce_neigh_config
config(void)
{
	return (struct roce_neigh_config){
		.hz = HZ,
		.mac = mac_us,
		.addr = { { us4, 24 }, { us6, 64 } },
		.addrs = 2,
		.pool = unit_pool(),
		.memory = { .alloc = alloc_zeroed, .free = free_plain },
	};
}

static inline struct roce_neigh *
create(const struct roce_neigh_config *c)
{
	struct roce_neigh *n = NULL;

	assert_int_equal(roce_neigh_create(c, &n), 0);
	return n;
}

static inline int
setup(void **state)
{
	struct roce_neigh_config c = config();

	*state = create(&c);
	return 0;
}

static inline int
teardown(void **state)
{
	roce_neigh_destroy(*state);
	return unit_pool_is_full() ? 0 : -1;
}

static inline bool
hear_bytes(struct roce_neigh *n, const uint8_t *frame, size_t len, uint64_t now)
{
	struct rte_mbuf *m = unit_mbuf_exact(frame, (uint32_t)len);
	bool ours = roce_neigh_rx(n, m, now);

	unit_mbuf_exact_free(m);
	return ours;
}

#define HEAR(n, frame, now) hear_bytes(n, frame, sizeof(frame), now)

/* The next thing it says is exactly this frame, and nothing more. */
static inline void
assert_says_bytes(struct roce_neigh *n, const uint8_t *frame, size_t len, uint64_t now)
{
	struct rte_mbuf *m[4];

	assert_true(roce_neigh_deadline(n) <= now);
	assert_int_equal(roce_neigh_tx(n, m, 4, now), 1);
	assert_int_equal(m[0]->pkt_len, len);
	assert_int_equal(m[0]->data_len, len);
	assert_memory_equal(rte_pktmbuf_mtod(m[0], void *), frame, len);
	rte_pktmbuf_free(m[0]);
}

#define ASSERT_SAYS(n, frame, now) assert_says_bytes(n, frame, sizeof(frame), now)

static inline void
assert_silent(struct roce_neigh *n, uint64_t now)
{
	struct rte_mbuf *m[4];

	assert_int_equal(roce_neigh_tx(n, m, 4, now), 0);
}

static inline int
resolve(struct roce_neigh *n, const struct roce_ip *dst, uint64_t now)
{
	struct roce_neigh_hop hop;

	return roce_neigh_resolve(n, own, RTE_DIM(own), dst, &hop, now);
}

static inline void
assert_known(struct roce_neigh *n, const struct roce_ip *dst, const struct rte_ether_addr *mac,
		uint64_t now)
{
	struct roce_neigh_hop hop;

	assert_int_equal(roce_neigh_resolve(n, own, RTE_DIM(own), dst, &hop, now), 0);
	assert_memory_equal(&hop.mac, mac, sizeof(*mac));
	assert_memory_equal(&hop.src, roce_ip_is_v4(dst) ? &us4 : &us6, sizeof(hop.src));
}

#endif
