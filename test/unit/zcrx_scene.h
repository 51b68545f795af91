/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_ZCRX_SCENE_H
#define ROCE_TEST_ZCRX_SCENE_H

/**
 * @file
 * The scene of the tests of zero-copy receives: one queue pair whose peer the test plays, with a receive queue of its own.
 * Frames of unit_pool() are given; heads and copies come from pools that show who has what.
 */

#include <stdlib.h>
#include <string.h>

#include "responder/zcrx.h"
#include "fixture.h"

#define GIVEN 4u  /**< frames that the queue pair gives at a time */
#define MAY   10u /**< frames that the domain gives */
#define DEPTH 16u /**< receives */
#define BYTES 1001u
#define ONLY  IBV_OPCODE_RC_SEND_ONLY

static struct fx_end end;
static struct roce_qp *qp;
static struct fx_peer peer;
static uint32_t psn; /**< of the peer's next request */
static struct rte_mempool *heads, *copies;

/** No cache: a pool shows what is out. Heads have no buffer. */
static inline struct rte_mempool *
make_pool(const char *name, uint16_t room)
{
	struct rte_mempool *pool;

	unit_eal();
	pool = rte_pktmbuf_pool_create(name, 15, 0, 0, room, (int)rte_socket_id());
	assert_non_null(pool);
	return pool;
}

static inline struct fx_options
zcrx_options(void)
{
	return (struct fx_options){
		.zcrx = { .max = MAY, .heads = heads, .copies = copies, .pool = { unit_pool() } },
	};
}

static inline struct roce_qp_attr
attr_of(uint16_t max_zcrx)
{
	struct roce_qp_attr attr = fx_attr(&end);

	attr.srq = NULL;
	attr.max_recv_wr = DEPTH;
	attr.max_zcrx = max_zcrx;
	return attr;
}

/** Connect the queue pair, with the peer that the test plays. */
static inline void
connect_it(void)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);

	fx_up(qp, &connect);
	peer = fx_peer_of(qp, &connect);
	psn = FX_RQ_PSN;
}

static inline int
setup(void **state)
{
	struct fx_options options;
	struct roce_qp_attr attr;

	heads = make_pool("heads", 0);
	copies = make_pool("copies", RTE_PKTMBUF_HEADROOM + FX_MTU);
	options = zcrx_options();
	fx_end_open(&end, 1, &options);
	attr = attr_of(GIVEN);
	qp = fx_qp(&end, &attr);
	connect_it();
	return 0;
}

/** Fails when memory, frames or heads are left. */
static inline int
teardown(void **state)
{
	bool whole;

	if (end.domain != NULL)
		fx_end_close(&end);
	whole = unit_pool_is_full() && rte_mempool_full(heads) && rte_mempool_full(copies);
	rte_mempool_free(heads);
	rte_mempool_free(copies);
	return fx_live() != 0 || !whole;
}

/** Post a zero-copy receive. */
static inline int
try_post(uint64_t wr_id)
{
	const struct roce_recv_wr wr = { .wr_id = wr_id, .flags = ROCE_WR_ZCRX };

	return roce_qp_post_recv(qp, &wr);
}

/** Post @p n of them, wr_id from @p first on. */
static inline void
post(uint64_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(try_post(first + i), 0);
}

/** Post one that copies into the end's memory. */
static inline void
post_copying(uint64_t wr_id)
{
	struct roce_sge sge;
	const struct roce_recv_wr wr = fx_recv(&end, &sge, wr_id, 0, BYTES);

	assert_int_equal(roce_qp_post_recv(qp, &wr), 0);
}

/** The peer's next message of BYTES, which arrives. Its bytes follow from its number (fx_request()). @return that. */
static inline uint32_t
hear(void)
{
	fx_rx_request(&end, &peer, ONLY, psn, BYTES, FX_ACKREQ);
	return psn++;
}

/** Is @p m the message @p number? */
static inline void
judge(const struct rte_mbuf *m, uint32_t number)
{
	const uint8_t *at = rte_pktmbuf_mtod(m, const uint8_t *);

	rte_mbuf_sanity_check(m, 1);
	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	assert_fields(*m, (pkt_len, BYTES), (data_len, BYTES));
	for (uint32_t i = 0; i < BYTES; i++)
		assert_int_equal(at[i], (uint8_t)(number + i));
}

/** The next event: a message that is given, with this wr_id. */
static inline struct roce_event
told(uint64_t wr_id)
{
	struct roce_event event;

	assert_int_equal(roce_cq_poll(end.recv_cq, &event, 1), 1);
	assert_fields(event, (wr_id, wr_id), (kind, ROCE_EVENT_RECV), (status, IBV_WC_SUCCESS),
			(flags, ROCE_EVENT_ZCRX), (byte_len, BYTES));
	return event;
}

/** The next event, and its mbuf. */
static inline struct rte_mbuf *
take(uint64_t wr_id)
{
	const struct roce_event event = told(wr_id);
	struct rte_mbuf *m = roce_qp_take_mbuf(qp, &event);

	assert_non_null(m);
	return m;
}

/** The engine's one answer has this syndrome. */
static inline void
answers(uint8_t syndrome)
{
	assert_int_equal(fx_tx_one(&end).syndrome, syndrome);
}

#endif
