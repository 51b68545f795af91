/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_MW_SCENE_H
#define ROCE_TEST_MW_SCENE_H

/**
 * @file
 * The scene of the tests of memory windows: one end, a region that windows may be bound to, and a queue pair whose
 * peer the test plays.
 */

#include <errno.h>

#include "queue/mw.h"
#include "queue/qp.h"
#include "fixture.h"

#define ALL_ACCESS  (FX_ALL | ROCE_ACCESS_LOCAL_READ)
#define PEER_READS  ((unsigned int)IBV_ACCESS_REMOTE_READ)
#define PEER_WRITES ((unsigned int)IBV_ACCESS_REMOTE_WRITE)

static struct fx_end end;
static struct fx_peer peer;
static struct roce_qp *qp;
static struct roce_mr *region; /**< all of the end's memory, every right */
static struct roce_mw *mw;     /**< its owner is the variable mw itself */

static inline void
open_scene(unsigned int engines)
{
	const struct fx_options options = { .engines = engines };

	fx_end_open(&end, 1, &options);
	qp = fx_played_qp(&end, &peer);
	region = fx_mr(end.pd, (uintptr_t)end.memory, FX_MEMORY, ALL_ACCESS);
	assert_int_equal(roce_mw_create(end.pd, &mw, &mw), 0);
}

static inline void
close_scene(void)
{
	if (mw != NULL)
		roce_mw_destroy(mw);
	fx_end_close(&end);
}

static inline int
setup(void **state)
{
	open_scene(1);
	return 0;
}

static inline int
teardown(void **state)
{
	close_scene();
	return fx_left();
}

/** Address of the end's memory at @p offset. */
static inline uint64_t
place(uint32_t offset)
{
	return (uintptr_t)end.memory + offset;
}

/** A bind of the window to a part of the region. */
static inline struct roce_mw_bind
part(uint32_t offset, uint64_t length, uint32_t access)
{
	return (struct roce_mw_bind){
		.mw = mw,
		.mr_key = roce_mr_key(region),
		.access = access,
		.addr = place(offset),
		.length = length,
	};
}

static inline int
post_bind(struct roce_qp *to, uint64_t wr_id, struct roce_mw_bind *bind, uint8_t flags)
{
	const struct roce_wr wr = {
		.wr_id = wr_id,
		.bind = bind,
		.opcode = IBV_WR_BIND_MW,
		.flags = flags,
	};

	return roce_qp_post_send(to, &wr);
}

/** Post a bind to a part of the region, good for reading and writing. @return its key. */
static inline uint32_t
post_part(uint64_t wr_id, uint32_t offset, uint64_t length)
{
	struct roce_mw_bind bind = part(offset, length, PEER_READS | PEER_WRITES);

	assert_int_equal(post_bind(qp, wr_id, &bind, ROCE_WR_SIGNALED), 0);
	return bind.key;
}

static inline void
post_send(uint64_t wr_id, uint32_t len)
{
	assert_int_equal(fx_send(&end, qp, wr_id, 0, len, ROCE_WR_SIGNALED), 0);
}

/** The peer has request packet @p number, counted from 0, and all before it. */
static inline void
acknowledge(uint32_t number)
{
	fx_rx_answer(&end, &peer, FX_ACK, roce_psn_add(FX_SQ_PSN, number));
}

/** The result for a peer in the end's protection domain that asks for this access by address, length and key. */
static inline int
peer_may(uint32_t key, uint64_t addr, uint32_t length, unsigned int access)
{
	struct roce_sge sge = { addr, length, key };
	struct roce_mr *entered;
	int rc = roce_keys_enter(end.domain, end.pd, qp, &sge, access, &entered);

	if (rc == 0)
		roce_keys_leave(entered);
	return rc;
}

/** Does the key name anything to peers? */
static inline bool
lives(uint32_t key)
{
	return roce_keys_find(&end.domain->keys, key) != NULL;
}

/** Key that the window has now; 0: it is bound to nothing. */
static inline uint32_t
bound_key(void)
{
	struct roce_mw_binding binding = { .key = 0 };

	return roce_mw_query(mw, &binding) ? binding.key : 0;
}

static inline void
break_qp(void)
{
	fx_to_error(qp);
}

/** Poll the engine until it is idle; it must have no frame to send. Binds take turns without any. */
static inline void
settle(void)
{
	do
		fx_tx_none(&end);
	while (roce_engine_deadline(end.engine) == 0);
}

/** The next event of the send queue. */
static inline struct roce_event
next_event(void)
{
	struct roce_event event = { .kind = ROCE_EVENT_NONE };

	assert_int_equal(roce_cq_poll(end.send_cq, &event, 1), 1);
	return event;
}

static inline void
expect_bind_event(uint64_t wr_id, uint8_t status)
{
	struct roce_event event = next_event();

	assert_int_equal(event.kind, ROCE_EVENT_BIND);
	assert_int_equal(event.opcode, IBV_WR_BIND_MW);
	assert_int_equal(event.wr_id, wr_id);
	assert_int_equal(event.status, status);
	assert_ptr_equal(event.owner, &mw);
}

/** Bind at once: the queue pair has nothing else to do. @return the key. */
static inline uint32_t
bind_part(uint32_t offset, uint64_t length)
{
	uint32_t key = post_part(1, offset, length);

	fx_tx_none(&end);
	expect_bind_event(1, IBV_WC_SUCCESS);
	return key;
}

static inline void
expect_send_event(uint64_t wr_id, uint8_t status)
{
	struct roce_event event = next_event();

	assert_int_equal(event.kind, ROCE_EVENT_SEND);
	assert_int_equal(event.wr_id, wr_id);
	assert_int_equal(event.status, status);
}

static inline void
expect_no_event(void)
{
	assert_int_equal(roce_cq_count(end.send_cq), 0);
}

#endif
