/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_EXTBUF_SCENE_H
#define ROCE_TEST_EXTBUF_SCENE_H

/**
 * @file
 * The scene of the tests of payload that is not copied: a sends to b through a device that keeps the frames it has sent
 * until the test lets them go. b receives another copy of each frame, as from a wire, into its own memory.
 */

#include <stdlib.h>
#include <string.h>

#include "queue/extbuf.h"
#include "queue/qp.h"
#include "fixture.h"

#define LEAST  256u  /**< payload of a frame that is not copied */
#define SEND   3000u /**< bytes of a message: three frames, the last one with pad */
#define ROOM   4096u /**< between messages in the memory of a */
#define HELD   4096u
#define MIRROR 32768u /**< where b receives, in its own memory */

static struct fx_end a, b;
static struct roce_qp *qa, *qb; /**< joined */
static struct rte_mbuf *held[HELD];
static unsigned int helds;
static bool may_read; /**< what the device says of new regions */
static bool no_iova;  /**< and of memory that it is to read */
static unsigned int looks;

static bool
look(void *arg, uint64_t addr, uint64_t len)
{
	looks++;
	return may_read;
}

static rte_iova_t
iova_of(void *arg, const void *addr, uint32_t len)
{
	return no_iova ? RTE_BAD_IOVA : (rte_iova_t)(uintptr_t)addr;
}

static inline int
setup(void **state)
{
	const struct fx_options zcrx_options = { .extbuf = { LEAST, look, iova_of, NULL } };
	struct roce_qp_attr attr;

	may_read = true;
	no_iova = false;
	looks = 0;
	fx_end_open(&a, 1, &zcrx_options);
	fx_end_open(&b, 2, NULL);
	attr = fx_attr(&a);
	attr.max_send_wr = 8;
	attr.max_inline = 64;
	qa = fx_qp(&a, &attr);
	qb = fx_qp(&b, NULL);
	fx_join(&a, qa, &b, qb);
	return 0;
}

/** The device has sent the oldest @p n of what it holds. */
static inline void
release(unsigned int n)
{
	rte_pktmbuf_free_bulk(held, n);
	helds -= n;
	memmove(held, held + n, helds * sizeof(held[0]));
}

/** Fails when memory or frames are left. */
static inline int
teardown(void **state)
{
	release(helds);
	fx_end_close(&a);
	fx_end_close(&b);
	return fx_left();
}

/** The device takes the frames that a sends, and keeps them. @return frames. */
static inline unsigned int
send(void)
{
	unsigned int before = helds;
	uint16_t n;

	while ((n = fx_take(&a, held + helds, (uint16_t)RTE_MIN(32u, HELD - helds))) > 0)
		helds += n;
	return helds - before;
}

/** The wire carries the frames that the device has from number @p from on. */
static inline void
carry(unsigned int from)
{
	for (unsigned int i = from; i < helds; i++)
		fx_rx(&b, rte_pktmbuf_copy(held[i], unit_pool(), 0, UINT32_MAX));
}

/** The answers of b reach a. @return frames. */
static inline unsigned int
answer(void)
{
	struct rte_mbuf *pkts[32];
	unsigned int total = 0;
	uint16_t n;

	while ((n = fx_take(&b, pkts, 32)) > 0) {
		for (uint16_t i = 0; i < n; i++)
			fx_rx(&a, pkts[i]);
		total += n;
	}
	return total;
}

/** b is ready for messages, each of which overwrites the last one. */
static inline void
receive(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct roce_sge sge;
		struct roce_recv_wr wr = fx_recv(&b, &sge, i, MIRROR, ROOM);

		assert_int_equal(roce_srq_post(b.srq, &wr), 0);
	}
}

/** Message @p i is SEND bytes at i * ROOM. */
static inline void
post(uint64_t i)
{
	assert_int_equal(fx_send(&a, qa, i, (uint32_t)i * ROOM, SEND, ROCE_WR_SIGNALED), 0);
}

/** The poll in which the engine sees what was released. */
static inline void
poll_once(void)
{
	(void)send();
}

/** The next event of a's requests is of this one, and so it ended. */
static inline void
want(uint64_t wr_id, enum ibv_wc_status status)
{
	struct roce_event event;

	assert_int_equal(roce_cq_poll(a.send_cq, &event, 1), 1);
	assert_int_equal(event.wr_id, wr_id);
	assert_int_equal(event.status, status);
}

static inline void
want_none(void)
{
	assert_int_equal(roce_cq_count(a.send_cq), 0);
}

#endif
