/* SPDX-License-Identifier: BSD-3-Clause */

#include "srq_crowd.h"

void
complain(struct scene *s, const char *what)
{
	__atomic_store_n(&s->wrong, what, __ATOMIC_RELEASE);
}

bool
is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

void
notify(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	if (kind == ROCE_ENGINE_ASYNC_SRQ_LOW)
		__atomic_fetch_add((uint32_t *)owner, 1, __ATOMIC_ACQ_REL);
	else
		complain(arg, "an async event that nothing caused");
}

/* ---- posters, consumers ---- */

static bool
get_idle(struct scene *s, uint32_t *receive)
{
	bool some;

	pthread_mutex_lock(&s->idle_lock);
	some = s->idles > 0;
	if (some)
		*receive = s->idle[--s->idles];
	pthread_mutex_unlock(&s->idle_lock);
	return some;
}

static void
put_idle(struct scene *s, uint32_t receive)
{
	pthread_mutex_lock(&s->idle_lock);
	if (s->idles == RECEIVES)
		complain(s, "a receive came back twice");
	else
		s->idle[s->idles++] = receive;
	pthread_mutex_unlock(&s->idle_lock);
}

/* Where messages may find no receive, nothing is posted before one did. */
static bool
is_still_hungry(const struct scene *s)
{
	return !s->fed && __atomic_load_n(&s->rejected, __ATOMIC_ACQUIRE) == 0;
}

void *
post(void *arg)
{
	struct scene *s = ((struct actor *)arg)->s;
	uint32_t receive;

	while (!is_set(&s->stop)) {
		struct roce_sge sge;
		struct roce_recv_wr wr = { .sg = &sge, .num_sge = 1 };

		if (is_set(&s->hold_back) || is_still_hungry(s) || !get_idle(s, &receive)) {
			sched_yield();
			continue;
		}
		sge = (struct roce_sge){ (uintptr_t)s->memory + receive * ROOM, ROOM, s->key };
		wr.wr_id = receive;
		if (roce_srq_post(s->srq, &wr) == 0) {
			__atomic_fetch_add(&s->posted, 1, __ATOMIC_RELAXED);
			__atomic_fetch_add(&s->permits, 1, __ATOMIC_RELEASE);
		} else {
			put_idle(s, receive);
			sched_yield();
		}
	}
	return NULL;
}

/* Messages of a queue pair come once and in order; where connections break, some are missing. */
static void
check_message(struct scene *s, const struct roce_event *event)
{
	struct endpoint *ep = event->owner;
	struct stamp stamp;

	memcpy(&stamp, s->memory + event->wr_id * ROOM, sizeof(stamp));
	if (stamp.ep != ep->index)
		complain(s, "a message is in the receive of another queue pair");
	else if (s->breaks ? stamp.message < ep->next : stamp.message != ep->next)
		complain(s, "a message is lost, repeated or out of order");
	ep->next = stamp.message + 1;
	ep->got++;
}

void
reap(struct scene *s, struct roce_cq *cq)
{
	struct roce_event events[8];
	unsigned int n = roce_cq_poll(cq, events, RTE_DIM(events));

	for (unsigned int i = 0; i < n; i++) {
		if (events[i].status == IBV_WC_SUCCESS)
			check_message(s, &events[i]);
		else if (events[i].status == IBV_WC_WR_FLUSH_ERR && s->breaks)
			__atomic_fetch_add(&s->flushed, 1, __ATOMIC_RELAXED);
		else
			complain(s, "a receive failed");
		put_idle(s, (uint32_t)events[i].wr_id);
	}
	__atomic_fetch_add(&s->reaped, n, __ATOMIC_RELAXED);
	if (n == 0)
		sched_yield();
}

void *
consume(void *arg)
{
	const struct actor *a = arg;

	while (!is_set(&a->s->dry))
		reap(a->s, a->s->cq[a->index]);
	return NULL;
}

/* ---- the controller ---- */

/* An exact size, or a refusal that changes nothing: more are outstanding, or the watermark is higher. */
static void
resize(struct scene *s, uint32_t max)
{
	struct roce_srq_counts counts;
	int rc = roce_srq_resize(s->srq, max);

	if (rc == 0)
		s->max = max;
	else if (rc != -EBUSY || max == RECEIVES)
		complain(s, "a resize was refused without reason");
	roce_srq_query(s->srq, &counts);
	if (counts.max != s->max)
		complain(s, "the size is not the one granted last");
	__atomic_fetch_add(&s->resizes, 1, __ATOMIC_RELEASE);
}

void
look(struct scene *s)
{
	struct roce_srq_counts counts;

	roce_srq_query(s->srq, &counts);
	if (counts.available > counts.outstanding || counts.outstanding > counts.max)
		complain(s, "0 <= available <= outstanding <= max does not hold");
}

/*
 * The next arming comes when the event of this one did, so that each can be counted. When the queue does not run
 * low by itself, the posters rest until it does.
 */
static void
set_low(struct scene *s, unsigned int *seed, unsigned int *patience)
{
	uint32_t told = __atomic_load_n(&s->low_events, __ATOMIC_ACQUIRE);

	if (told > s->armings)
		complain(s, "a second event for one arming");
	if (told < s->armings) {
		if (++*patience > PATIENCE)
			__atomic_store_n(&s->hold_back, true, __ATOMIC_RELEASE);
		return;
	}
	__atomic_store_n(&s->hold_back, false, __ATOMIC_RELEASE);
	*patience = 0;
	__atomic_store_n(&s->armings, s->armings + 1, __ATOMIC_RELEASE);
	if (roce_srq_set_low(s->srq, 1 + (uint32_t)rand_r(seed) % s->max) != 0)
		complain(s, "a low watermark was refused");
}

void *
control(void *arg)
{
	struct actor *a = arg;
	unsigned int patience = 0;

	while (!is_set(&a->s->stop)) {
		uint32_t max = (uint32_t)rand_r(&a->seed) % 8 == 0
				? RECEIVES
				: 1 + (uint32_t)rand_r(&a->seed) % RECEIVES;

		resize(a->s, max);
		set_low(a->s, &a->seed, &patience);
		sched_yield();
	}
	return NULL;
}

void *
question(void *arg)
{
	struct scene *s = ((struct actor *)arg)->s;

	while (!is_set(&s->stop)) {
		for (unsigned int i = 0; i < LOOKS; i++)
			look(s);
		sched_yield();
	}
	return NULL;
}
