/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_SRQ_SCENE_H
#define ROCE_TEST_SRQ_SCENE_H

/**
 * @file
 * The scene of the tests of shared receive queues: one end, queues of any size on it, and clients: connected
 * queue pairs, on any engine, whose peers the test plays.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "end_scene.h"
#include "queue/srq.h"

#define SHORT_LEN 64u   /**< bytes of an ordinary receive */
#define LONG_LEN  4096u /**< bytes of one for a message of several packets */
#define SEGMENTS  4u    /**< most segments of a receive, where the test does not care */

/** A queue pair and its peer. */
struct client {
	struct roce_qp *qp;
	struct fx_peer peer;
	struct roce_qp_connect connect;
	uint32_t psn; /**< of the peer's next packet */
};

/** The same end with so many engines. */
static inline void
reopen(unsigned int engines)
{
	const struct fx_options options = { .engines = engines };
	void (*on_async_event)(struct fx_end *) = end.on_async_event;

	fx_end_close(&end);
	fx_end_open(&end, 1, &options);
	end.on_async_event = on_async_event;
}

/* ---- queues ---- */

/** A shared queue of exactly @p max receives; the owner that its async events name is @p owner. */
static inline struct roce_srq *
srq_owned(uint32_t max, void *owner)
{
	struct roce_srq *srq = NULL;

	assert_int_equal(roce_srq_create(end.pd, max, SEGMENTS, owner, &srq), 0);
	return srq;
}

static inline struct roce_srq *
srq_of(uint32_t max)
{
	return srq_owned(max, NULL);
}

static inline struct roce_cq *
cq_of(uint32_t depth)
{
	struct roce_cq *cq = fx_cq(&end, depth, NULL);

	return cq;
}

static inline int
post_of(struct roce_srq *srq, uint64_t wr_id, uint32_t len)
{
	struct roce_sge sge;
	struct roce_recv_wr wr = fx_recv(&end, &sge, wr_id, 0, len);

	return roce_srq_post(srq, &wr);
}

static inline int
post(struct roce_srq *srq, uint64_t wr_id)
{
	return post_of(srq, wr_id, SHORT_LEN);
}

/** Post receives of @p len bytes numbered @p first, first + 1, ... */
static inline void
post_many(struct roce_srq *srq, uint32_t n, uint64_t first, uint32_t len)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(post_of(srq, first + i, len), 0);
}

/** A receive as a queue pair takes it, with room for the most segments. */
union taken {
	struct roce_recv recv;
	uint8_t room[sizeof(struct roce_recv) + ROCE_SGE_MAX * sizeof(struct roce_sge)];
};

/** Take the oldest receive as a queue pair would. @return false: there is none. */
static inline bool
take_into(struct roce_srq *srq, union taken *taken)
{
	bool got;

	roce_engine_lock(end.engine);
	got = roce_srq_take(srq, &taken->recv);
	roce_engine_unlock(end.engine);
	return got;
}

/** The same. @return its number; a failure when there is none. */
static inline uint64_t
take(struct roce_srq *srq)
{
	union taken taken;

	assert_true(take_into(srq, &taken));
	return taken.recv.wr_id;
}

/** As if @p n receives had gone through the empty queue before: counters are as old as the test wants them. */
static inline void
age(struct roce_srq *srq, uint32_t n)
{
	srq->posted = n;
	srq->taken = n;
	srq->reaped_silent = n;
	srq->reaped_seen = n;
}

static inline void
expect_mark(struct roce_srq *srq, uint32_t low, bool armed)
{
	struct roce_srq_counts counts;

	roce_srq_query(srq, &counts);
	assert_int_equal(counts.low, low);
	assert_int_equal(counts.armed, armed);
}

/* ---- clients ---- */

static inline void
client_connect(struct client *c)
{
	fx_up(c->qp, &c->connect);
	c->peer = fx_peer_of(c->qp, &c->connect);
	c->psn = c->connect.rq_psn;
}

/** A connected client on these queues; @p cq may be NULL. Events and async events name it. */
static inline void
client_on(struct client *c, struct roce_srq *srq, struct roce_cq *cq)
{
	struct roce_qp_attr attr = fx_attr(&end);

	attr.srq = srq;
	attr.recv_cq = cq;
	attr.owner = c;
	attr.max_send_wr = 1;
	*c = (struct client){ .qp = fx_qp(&end, &attr),
		.connect = fx_connect(&end, fx_ip(99), 0x777) };
	client_connect(c);
}

/** A queue of its own for a client, of @p max receives, @p n of which are posted and have @p len bytes. */
static inline struct roce_srq *
srq_with(struct client *c, uint32_t max, void *owner, uint32_t n, uint32_t len)
{
	struct roce_srq *srq = srq_owned(max, owner);

	client_on(c, srq, end.recv_cq);
	post_many(srq, n, 0, len);
	return srq;
}

/** End both; the queue has nobody else. */
static inline void
end_with(struct client *c, struct roce_srq *srq)
{
	roce_qp_destroy(c->qp);
	assert_int_equal(roce_srq_destroy(srq), 0);
}

static inline void
client_lock(const struct client *c)
{
	roce_engine_lock(roce_qp_engine(c->qp));
}

static inline void
client_unlock(const struct client *c)
{
	roce_engine_unlock(roce_qp_engine(c->qp));
}

static inline void
client_to_error(struct client *c)
{
	client_lock(c);
	roce_qp_to_error(c->qp);
	client_unlock(c);
}

static inline void
client_to_reset(struct client *c)
{
	client_lock(c);
	roce_qp_to_reset(c->qp);
	client_unlock(c);
}

/** The peer's next packet reaches the engine of the queue pair. */
static inline void
packet(struct client *c, uint8_t opcode, uint32_t len)
{
	struct roce_engine *e = roce_qp_engine(c->qp);
	struct rte_mbuf *m = fx_request(&c->peer, opcode, c->psn, len, FX_ACKREQ);

	roce_engine_lock(e);
	assert_int_equal(roce_engine_rx(e, &m, 1, end.now), 0);
	roce_engine_unlock(e);
	c->psn = roce_psn_add(c->psn, 1);
}

/** A message of one packet. */
static inline void
arrive(struct client *c)
{
	packet(c, IBV_OPCODE_RC_SEND_ONLY, 8);
}

/** The same packet again: the peer was told to wait. */
static inline void
arrive_again(struct client *c)
{
	c->psn = roce_psn_add(c->psn, ROCE_PSN_MASK);
	arrive(c);
}

/** First packet of a longer message: the queue pair holds a receive from now on. */
static inline void
begin(struct client *c)
{
	packet(c, IBV_OPCODE_RC_SEND_FIRST, FX_MTU);
}

/** Its last packet. */
static inline void
finish(struct client *c)
{
	packet(c, IBV_OPCODE_RC_SEND_LAST, 8);
}

/** Reap the only completion, a success. @return its number. */
static inline uint64_t
reap(struct roce_cq *cq)
{
	const struct roce_event event = fx_event(cq);

	assert_int_equal(event.status, IBV_WC_SUCCESS);
	return event.wr_id;
}

/** Reap exactly @p n of the completions, whatever they say. */
static inline void
reap_many(struct roce_cq *cq, uint32_t n)
{
	struct roce_event event;

	while (n-- > 0)
		assert_int_equal(roce_cq_poll(cq, &event, 1), 1);
}

#endif
