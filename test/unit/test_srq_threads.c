/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A crowd of threads on one shared receive queue, and others that come and go or look on beside it. Run it under the
 * thread sanitizer (`./run.sh sanitize`).
 */

#include "engine/snapshot.h"
#include "srq_crowd.h"

static uint32_t messages = MESSAGES;

static void
start(struct scene *s, struct actor *actor, unsigned int n, void *(*act)(void *), pthread_t *thread)
{
	for (unsigned int i = 0; i < n; i++) {
		actor[i] = (struct actor){ s, i, 1 + i };
		assert_int_equal(pthread_create(&thread[i], NULL, act, &actor[i]), 0);
	}
}

static void
wait_for(pthread_t *thread, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
}

static void
play(struct scene *s)
{
	struct actor poller[ENGINES_MAX], poster[POSTERS], consumer[CQS], controller[1],
			questioner[1];
	pthread_t pollers[ENGINES_MAX], posters[POSTERS], consumers[CQS], controllers[1],
			questioners[1];

	start(s, consumer, CQS, consume, consumers);
	start(s, controller, 1, control, controllers);
	start(s, questioner, 1, question, questioners);
	start(s, poster, POSTERS, post, posters);
	/* However the threads are scheduled, the watermark was armed before the first message. */
	while (__atomic_load_n(&s->armings, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	start(s, poller, s->engines, poll_engine, pollers);
	wait_for(pollers, s->engines);
	while (__atomic_load_n(&s->low_events, __ATOMIC_ACQUIRE) ==
			__atomic_load_n(&s->armings, __ATOMIC_ACQUIRE))
		sched_yield();
	while (s->looked_on && __atomic_load_n(&s->wrong, __ATOMIC_ACQUIRE) == NULL &&
			(__atomic_load_n(&s->lives, __ATOMIC_RELAXED) < 2 ||
					__atomic_load_n(&s->views, __ATOMIC_RELAXED) < 2))
		sched_yield();
	__atomic_store_n(&s->stop, true, __ATOMIC_RELEASE);
	wait_for(posters, POSTERS);
	wait_for(controllers, 1);
	wait_for(questioners, 1);
	__atomic_store_n(&s->dry, true, __ATOMIC_RELEASE);
	wait_for(consumers, CQS);
}

/* Receives of messages that were begun and not ended when the sending stopped. */
static uint32_t
held(const struct scene *s)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < s->eps; i++)
		n += s->ep[i].begun;
	return n;
}

/* No other thread is running any more: every number must be exact. */
static void
check_books(struct scene *s)
{
	struct roce_srq_counts counts;
	uint64_t rnr = 0, completed = 0, finished = 0;

	for (unsigned int i = 0; i < CQS; i++) {
		while (roce_cq_count(s->cq[i]) > 0)
			reap(s, s->cq[i]);
	}
	if (s->wrong != NULL)
		fail_msg("%s", s->wrong);
	for (unsigned int i = 0; i < s->eps; i++) {
		assert_int_equal(s->ep[i].got, s->ep[i].finished);
		finished += s->ep[i].finished;
	}
	assert_true(finished >= (uint64_t)s->engines * s->messages);
	roce_srq_query(s->srq, &counts);
	assert_int_equal(counts.available, counts.outstanding - held(s));
	assert_int_equal(s->posted, s->reaped + counts.outstanding);
	assert_int_equal(s->low_events + counts.armed, s->armings);
	for (unsigned int i = 0; i < s->engines; i++) {
		const struct roce_stats *stats =
				roce_engine_stats(roce_domain_engine(s->domain, i));

		rnr += stats->rnr_nak_sent;
		completed += stats->rx_send_requests;
		assert_int_equal(stats->cq_overflow, 0);
	}
	assert_int_equal(rnr, s->rejected);
	assert_int_equal(completed, finished + s->others);
	assert_true(s->armings > 1);
	assert_true(s->resizes > 1);
}

static void
rehearse(unsigned int engines, bool fed, bool breaks)
{
	static struct scene s;

	s = (struct scene){
		.engines = engines,
		.messages = messages,
		.fed = fed,
		.breaks = breaks,
	};
	open_scene(&s);
	play(&s);
	check_books(&s);
	if (fed)
		assert_int_equal(s.rejected, 0);
	else
		assert_int_not_equal(s.rejected, 0);
	close_scene(&s);
}

/* ---- queues that come and go beside the crowd ---- */

#define LIVES     2u
#define ONLOOKERS 2u

static struct rte_mempool *life_pool[LIVES];

/** A shared queue with all that belongs to it, from birth to death. */
struct life {
	struct roce_mr *mr;
	struct roce_cq *cq;
	struct roce_srq *srq;
	struct endpoint ep;
	uint32_t low_events;
	uint8_t memory[2 * ROOM];
};

static bool
be_born(struct scene *s, struct life *life)
{
	struct roce_qp_attr attr = { .pd = s->pd, .owner = &life->ep };

	if (roce_mr_create(s->pd, (uintptr_t)life->memory, sizeof(life->memory),
			    IBV_ACCESS_LOCAL_WRITE, &life->mr) != 0 ||
			roce_cq_create(roce_domain_context(s->domain), 4, NULL, &life->cq) != 0 ||
			roce_srq_create(s->pd, 2, 1, &life->low_events, &life->srq) != 0)
		return false;
	attr.recv_cq = life->cq;
	attr.srq = life->srq;
	if (roce_qp_create(&attr, &life->ep.qp) != 0)
		return false;
	introduce(&life->ep);
	roce_engine_lock(roce_qp_engine(life->ep.qp));
	connect_ep(s, &life->ep);
	roce_engine_unlock(roce_qp_engine(life->ep.qp));
	return true;
}

static void
expect_events(struct scene *s, const struct life *life, uint32_t n)
{
	if (__atomic_load_n(&life->low_events, __ATOMIC_ACQUIRE) != n)
		complain(s, "not one event for each arming, or not of its own queue");
}

/* One event inside the call, one by the take of a message; the message stays unfinished half of the times. */
static void
be_busy(struct actor *a, struct life *life)
{
	const uint32_t key = roce_mr_key(life->mr);
	struct rte_mbuf *m = rte_pktmbuf_alloc(life_pool[a->index]);
	struct roce_srq_counts counts;
	bool whole;

	if (m == NULL) {
		complain(a->s, "frames are missing");
		return;
	}
	if (roce_srq_set_low(life->srq, 1) != 0)
		complain(a->s, "a low watermark was refused");
	expect_events(a->s, life, 1);
	for (uint64_t i = 0; i < 2; i++) {
		struct roce_sge sge = { (uintptr_t)life->memory + i * ROOM, ROOM, key };
		struct roce_recv_wr wr = { i, &sge, 1, 0 };

		if (roce_srq_post(life->srq, &wr) != 0)
			complain(a->s, "a post was refused");
	}
	if (roce_srq_set_low(life->srq, 2) != 0)
		complain(a->s, "a low watermark was refused");
	expect_events(a->s, life, 1);
	whole = rand_r(&a->seed) % 2;
	__atomic_fetch_add(&a->s->others, whole, __ATOMIC_RELAXED);
	(void)deliver(a->s, roce_qp_engine(life->ep.qp), build(&life->ep, m, whole));
	expect_events(a->s, life, 2);
	roce_srq_query(life->srq, &counts);
	if (counts.max != 2 || counts.available != 1 || counts.outstanding != 2 || counts.armed)
		complain(a->s, "the counts of a short life are wrong");
}

/* The completion queue and the shared queue die in any order, with an event inside or a receive held. */
static void
die(struct actor *a, struct life *life)
{
	struct roce_event event;
	int rc = 0;

	roce_qp_destroy(life->ep.qp);
	if (rand_r(&a->seed) % 2)
		(void)roce_cq_poll(life->cq, &event, 1);
	if (rand_r(&a->seed) % 2) {
		rc |= roce_cq_destroy(life->cq);
		rc |= roce_srq_destroy(life->srq);
	} else {
		rc |= roce_srq_destroy(life->srq);
		rc |= roce_cq_destroy(life->cq);
	}
	if (rc != 0)
		complain(a->s, "something that nobody uses cannot die");
	roce_mr_destroy(life->mr);
	expect_events(a->s, life, 2);
}

static void *
live_and_die(void *arg)
{
	struct actor *a = arg;

	while (!is_set(&a->s->stop)) {
		struct life *life = calloc(1, sizeof(*life));

		if (life == NULL || !be_born(a->s, life)) {
			complain(a->s, "a birth failed");
			return NULL;
		}
		be_busy(a, life);
		die(a, life);
		/* A thread that still looks at it now is seen by the sanitizers. */
		free(life);
		__atomic_fetch_add(&a->s->lives, 1, __ATOMIC_RELAXED);
		sched_yield();
	}
	return NULL;
}

/* ---- those who look on ---- */

struct view {
	struct scene *s;
	uint32_t srqs;
	uint32_t last_id;
	uint32_t crowd; /**< queue pairs on the crowd's queue */
};

static void
see_srq(void *arg, const struct roce_srq_snapshot *srq)
{
	struct view *view = arg;

	if (view->srqs++ > 0 ? srq->id <= view->last_id : srq->id != 0)
		complain(view->s, "the list of shared queues is not in the order of their births");
	view->last_id = srq->id;
	if (srq->counts.available > srq->counts.outstanding ||
			srq->counts.outstanding > srq->counts.max || srq->counts.max > RECEIVES)
		complain(view->s, "a shared queue on the list has impossible counts");
}

static void
see_qp(void *arg, const struct roce_qp_snapshot *qp)
{
	struct view *view = arg;

	view->crowd += qp->srq == 0;
	if (qp->held > 1 || qp->engine >= view->s->engines || qp->requests != 0)
		complain(view->s, "a queue pair on the list has impossible counts");
}

static void *
look_on(void *arg)
{
	struct scene *s = ((struct actor *)arg)->s;

	while (!is_set(&s->stop)) {
		struct view view = { .s = s };

		roce_domain_each_srq(s->domain, see_srq, &view);
		if (view.srqs < 1 || view.srqs > 1 + LIVES)
			complain(s, "a dead shared queue is on the list, or a live one is not");
		roce_domain_each_qp(s->domain, see_qp, &view);
		if (view.crowd != s->eps)
			complain(s, "a queue pair is missing on the list");
		__atomic_fetch_add(&s->views, 1, __ATOMIC_RELAXED);
		sched_yield();
	}
	return NULL;
}

/* ---- the tests ---- */

/*
 * A message that is sent when a receive was posted for it always finds one, however the queue is resized meanwhile:
 * nothing is lost, repeated, out of order or told to come again.
 *
 * Proves: srq_resize.1 srq_query.6 srq_set_lw.8 srq_create.9 bug.S13 bug.S14
 */
UNIT_RULE_IN(resize__loses_no_message_of_several_engines, NULL, NULL)
{
	rehearse(2, true, false);
	rehearse(4, true, false);
}

/*
 * More messages than receives: who finds the queue empty comes again, and in the end each message came once.
 *
 * Proves: srq_create.8 srq_query.6 srq_set_lw.8 bug.S13
 */
UNIT_RULE_IN(take__on_several_engines_empties_the_queue_and_no_more, NULL, NULL)
{
	rehearse(2, false, false);
	rehearse(4, false, false);
}

/*
 * Connections break in the middle of messages: each receive comes back once, as a message or flushed.
 *
 * Proves: srq_post_recv.9 srq_resize.1 srq_set_lw.8 bug.S13 bug.S24
 */
UNIT_RULE_IN(break__on_several_engines_returns_every_receive, NULL, NULL)
{
	rehearse(2, true, true);
	rehearse(4, true, true);
}

/*
 * Shared queues are born, armed, used and ended on two threads, others list all there are, and the crowd goes on:
 * an event is never that of another queue or of a dead one, and a list shows no dead queue and no half-born one.
 *
 * Proves: srq_free.3 srq_set_lw.1 srq_set_lw.7 srq_query.6 bug.S17 bug.S18 bug.S19 bug.S20
 */
UNIT_RULE_IN(snapshot__is_whole_while_queues_come_and_go, NULL, NULL)
{
	static struct scene s;
	struct actor living[LIVES], looking[ONLOOKERS];
	pthread_t lives[LIVES], onlookers[ONLOOKERS];

	s = (struct scene){ .engines = 2, .messages = messages, .fed = true, .looked_on = true };
	open_scene(&s);
	start(&s, living, LIVES, live_and_die, lives);
	start(&s, looking, ONLOOKERS, look_on, onlookers);
	play(&s);
	wait_for(lives, LIVES);
	wait_for(onlookers, ONLOOKERS);
	check_books(&s);
	assert_int_equal(s.rejected, 0);
	assert_true(s.lives > 1);
	assert_true(s.views > 1);
	close_scene(&s);
}

/* An argument is the number of messages of an engine: for a long run. */
int
main(int argc, char **argv)
{
	if (argc > 1)
		messages = (uint32_t)strtoul(argv[1], NULL, 0);
	make_pools();
	for (unsigned int i = 0; i < LIVES; i++)
		life_pool[i] = make_pool("life", i);
	return unit_run();
}
