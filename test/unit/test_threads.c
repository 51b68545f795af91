/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The promises of verbs.h about threads: threads that post, reap and query beside the poller of the engine, on one
 * shared receive queue and one queue pair, without a lock of their own. Run it under the thread sanitizer
 * (`./run.sh sanitize`); frames stay on the poller's thread, so that only the engine's own sharing is tested.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "fixture.h"

#define POSTERS  2
#define MESSAGES 20000u
#define SRQ_SIZE 64u
#define SEGMENT  64u

struct scene {
	struct fx_end end;
	struct fx_peer peer;
	struct roce_qp *qp;
	bool stop;
	uint64_t posted[POSTERS];
	uint64_t sent;
	uint64_t acknowledged;
	uint64_t reaped;
	bool in_order;
	bool counts_held;
};

struct poster {
	struct scene *scene;
	unsigned int index;
};

static bool
stopped(const struct scene *s)
{
	return __atomic_load_n(&s->stop, __ATOMIC_ACQUIRE);
}

static void *
post_receives(void *arg)
{
	const struct poster *p = arg;
	struct scene *s = p->scene;

	while (!stopped(s)) {
		struct roce_sge sge;
		struct roce_recv_wr wr =
				fx_recv(&s->end, &sge, p->index, SEGMENT * p->index, SEGMENT);

		if (roce_srq_post(s->end.srq, &wr) == 0)
			s->posted[p->index]++;
		else
			sched_yield();
	}
	return NULL;
}

/* The sender of requests also reaps them: both queues are its own. */
static void *
send_requests(void *arg)
{
	struct scene *s = arg;
	struct roce_event event;

	while (!stopped(s)) {
		if (fx_send(&s->end, s->qp, s->sent, 0, 8, ROCE_WR_SIGNALED) == 0)
			s->sent++;
		else
			sched_yield();
		while (roce_cq_poll(s->end.send_cq, &event, 1) == 1) {
			s->in_order = s->in_order && event.wr_id == s->acknowledged;
			__atomic_store_n(&s->acknowledged, s->acknowledged + 1, __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

static void *
poll_receives(void *arg)
{
	struct scene *s = arg;
	struct roce_event events[16];

	while (!stopped(s)) {
		unsigned int n = roce_cq_poll(s->end.recv_cq, events, RTE_DIM(events));

		s->reaped += n;
		if (n == 0)
			sched_yield();
	}
	return NULL;
}

static void *
ask(void *arg)
{
	struct scene *s = arg;
	struct roce_srq_counts counts;
	uint32_t requests, receives;

	while (!stopped(s)) {
		roce_srq_query(s->end.srq, &counts);
		roce_qp_depth(s->qp, &requests, &receives);
		if (counts.available > counts.outstanding || counts.outstanding > counts.max ||
				roce_cq_count(s->end.recv_cq) > roce_cq_depth(s->end.recv_cq))
			s->counts_held = false;
		sched_yield();
	}
	return NULL;
}

/*
 * The poller: the peer's messages in, acknowledgements and requests out, and the peer acknowledges. Until all messages
 * are there, and the sender has seen one acknowledgement at least.
 */
static void
poll_engine(struct scene *s)
{
	uint32_t delivered = 0;

	while (delivered < MESSAGES || __atomic_load_n(&s->acknowledged, __ATOMIC_RELAXED) == 0) {
		const struct fx_sent *out;
		struct roce_srq_counts counts;
		unsigned int n;

		roce_srq_query(s->end.srq, &counts);
		if (delivered < MESSAGES && counts.available > 0) {
			fx_rx_request(&s->end, &s->peer, IBV_OPCODE_RC_SEND_ONLY,
					roce_psn_add(FX_RQ_PSN, delivered), 8, FX_ACKREQ);
			delivered++;
		} else {
			sched_yield();
		}
		out = fx_tx_all(&s->end, &n);
		for (unsigned int i = 0; i < n; i++) {
			if (out[i].opcode != IBV_OPCODE_RC_ACKNOWLEDGE && out[i].ack_req)
				fx_rx_answer(&s->end, &s->peer, FX_ACK, out[i].psn);
		}
	}
}

/* Proves: srq_query.6 bug.S14 */
UNIT_RULE_IN(srq__posters_poller_and_questioner_beside_the_engine, NULL, NULL)
{
	static struct scene s;
	const struct fx_options options = { .srq_size = SRQ_SIZE };
	struct poster poster[POSTERS] = { { &s, 0 }, { &s, 1 } };
	pthread_t thread[POSTERS + 3];
	struct roce_srq_counts counts;
	struct roce_event event;
	unsigned int n = 0;

	s = (struct scene){ .in_order = true, .counts_held = true };
	fx_end_open(&s.end, 1, &options);
	s.qp = fx_played_qp(&s.end, &s.peer);
	for (unsigned int i = 0; i < POSTERS; i++)
		assert_int_equal(pthread_create(&thread[n++], NULL, post_receives, &poster[i]), 0);
	assert_int_equal(pthread_create(&thread[n++], NULL, send_requests, &s), 0);
	assert_int_equal(pthread_create(&thread[n++], NULL, poll_receives, &s), 0);
	assert_int_equal(pthread_create(&thread[n++], NULL, ask, &s), 0);
	poll_engine(&s);
	__atomic_store_n(&s.stop, true, __ATOMIC_RELEASE);
	while (n > 0)
		assert_int_equal(pthread_join(thread[--n], NULL), 0);

	while (roce_cq_poll(s.end.recv_cq, &event, 1) == 1)
		s.reaped++;
	roce_srq_query(s.end.srq, &counts);
	assert_int_equal(s.reaped, MESSAGES);
	assert_int_equal(s.posted[0] + s.posted[1], s.reaped + counts.available);
	assert_int_equal(counts.available, counts.outstanding);
	assert_true(s.in_order);
	assert_true(s.acknowledged > 0 && s.acknowledged <= s.sent);
	assert_true(s.counts_held);
	fx_end_close(&s.end);
}

/* ---- a slot is written again only behind the reap of what it held ---- */

#define FEW 2u /**< receives of the queue: every post waits for a reap */

struct relay {
	struct fx_end end;
	struct fx_peer peer;
	struct roce_qp *qp;
	uint32_t posted; /**< atomic */
	bool stop;
};

static void *
post_again(void *arg)
{
	struct relay *r = arg;

	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED)) {
		struct roce_sge sge;
		struct roce_recv_wr wr = fx_recv(&r->end, &sge, 7, 0, SEGMENT);

		if (roce_srq_post(r->end.srq, &wr) == 0)
			__atomic_store_n(&r->posted, r->posted + 1, __ATOMIC_RELEASE);
		else
			sched_yield();
	}
	return NULL;
}

static void *
poll_again(void *arg)
{
	struct relay *r = arg;
	struct roce_event event;

	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED)) {
		if (roce_cq_poll(r->end.recv_cq, &event, 1) == 0)
			sched_yield();
	}
	return NULL;
}

/*
 * The engine's poller reads a slot, the consumer reaps its event, the poster writes the slot again: nothing but the reap orders
 * the write behind the read. So nobody here asks for counts or takes a lock that would order them by chance.
 *
 * Proves: bug.S13 bug.S14
 */
UNIT_RULE_IN(post__writes_a_slot_behind_its_reap, NULL, NULL)
{
	static struct relay r;
	const struct fx_options options = { .srq_size = FEW };
	pthread_t poster, poller;

	r = (struct relay){ 0 };
	fx_end_open(&r.end, 1, &options);
	r.qp = fx_played_qp(&r.end, &r.peer);
	assert_int_equal(pthread_create(&poster, NULL, post_again, &r), 0);
	assert_int_equal(pthread_create(&poller, NULL, poll_again, &r), 0);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		while (__atomic_load_n(&r.posted, __ATOMIC_ACQUIRE) <= i)
			sched_yield();
		fx_rx_request(&r.end, &r.peer, IBV_OPCODE_RC_SEND_ONLY, roce_psn_add(FX_RQ_PSN, i),
				8, 0);
	}
	__atomic_store_n(&r.stop, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(poster, NULL), 0);
	assert_int_equal(pthread_join(poller, NULL), 0);
	assert_int_equal(fx_stats(&r.end)->out_of_buffer, 0);
	fx_end_close(&r.end);
}

/* ---- what belongs together ends on several threads ---- */

#define FUNERALS 3000u

struct family {
	struct fx_end end;
	struct roce_cq *cq;
	struct roce_srq *srq;
	struct roce_qp *qp;
	pthread_barrier_t gate;
};

static void *
end_cq(void *arg)
{
	struct family *f = arg;

	for (uint32_t i = 0; i < FUNERALS; i++) {
		pthread_barrier_wait(&f->gate);
		while (roce_cq_destroy(f->cq) == -EBUSY)
			sched_yield();
		pthread_barrier_wait(&f->gate);
	}
	return NULL;
}

static void *
end_srq(void *arg)
{
	struct family *f = arg;

	for (uint32_t i = 0; i < FUNERALS; i++) {
		pthread_barrier_wait(&f->gate);
		while (roce_srq_destroy(f->srq) == -EBUSY)
			sched_yield();
		pthread_barrier_wait(&f->gate);
	}
	return NULL;
}

/*
 * A completion queue and a shared queue may end as soon as their last queue pair is gone, on other threads than it:
 * whoever is refused comes again, and nobody touches what another one has freed.
 *
 * Proves: srq_free.2 srq_free.5 bug.S18 bug.S23
 */
UNIT_RULE_IN(destroy__of_a_family_on_three_threads, NULL, NULL)
{
	static struct family f;
	struct roce_sge sge;
	pthread_t cq_ender, srq_ender;

	f = (struct family){ 0 };
	fx_end_open(&f.end, 1, NULL);
	assert_int_equal(pthread_barrier_init(&f.gate, NULL, 3), 0);
	assert_int_equal(pthread_create(&cq_ender, NULL, end_cq, &f), 0);
	assert_int_equal(pthread_create(&srq_ender, NULL, end_srq, &f), 0);
	for (uint32_t i = 0; i < FUNERALS; i++) {
		struct roce_recv_wr wr = fx_recv(&f.end, &sge, 1, 0, 4 * FX_MTU);
		struct roce_qp_connect connect = fx_connect(&f.end, fx_ip(99), 0x777);
		struct roce_qp_attr attr = fx_attr(&f.end);
		struct fx_peer peer;

		f.cq = fx_cq(&f.end, 16, NULL);
		assert_int_equal(roce_srq_create(f.end.pd, 16, 1, NULL, &f.srq), 0);
		attr.recv_cq = f.cq;
		attr.srq = f.srq;
		f.qp = fx_qp(&f.end, &attr);
		fx_up(f.qp, &connect);
		peer = fx_peer_of(f.qp, &connect);
		/* An event waits, or a receive is held, when the end comes. */
		assert_int_equal(roce_srq_post(f.srq, &wr), 0);
		fx_rx_request(&f.end, &peer,
				i % 2 ? IBV_OPCODE_RC_SEND_ONLY : IBV_OPCODE_RC_SEND_FIRST,
				FX_RQ_PSN, i % 2 ? 8 : FX_MTU, 0);
		pthread_barrier_wait(&f.gate);
		roce_qp_destroy(f.qp);
		pthread_barrier_wait(&f.gate);
	}
	assert_int_equal(pthread_join(cq_ender, NULL), 0);
	assert_int_equal(pthread_join(srq_ender, NULL), 0);
	assert_int_equal(pthread_barrier_destroy(&f.gate), 0);
	fx_end_close(&f.end);
	assert_int_equal(fx_live(), 0);
}
