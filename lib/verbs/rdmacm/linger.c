/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Listeners that have just ended. Servers end a listener when they have a connection, and listen again for the next; perftest
 * does, while its client is on its way to the second. A kernel is slow enough for that to work nearly always, and we are not. So
 * requests of two seconds wait for the next listener at the port, and are refused if there is none.
 */

#include <stdlib.h>

#include "verbs/rdmacm/cma.h"

#define LINGER_NS INT64_C(2000000000)

/** In the place of an id that has ended, with a channel that nobody reads. */
struct lingerer {
	struct cma_id id;
	struct cma_channel channel;
	TAILQ_ENTRY(lingerer) link;
	int64_t until; /**< nanoseconds of the monotonic clock */
};

/* Under cma_lock; the number of them is atomic. */
static TAILQ_HEAD(, lingerer) lingers = TAILQ_HEAD_INITIALIZER(lingers);
static uint32_t count;

static void
remove_one(struct lingerer *linger)
{
	TAILQ_REMOVE(&lingers, linger, link);
	__atomic_fetch_sub(&count, 1, __ATOMIC_RELAXED);
}

bool
cma_linger_begin(struct cma_id *id)
{
	struct lingerer *linger = id->listens ? calloc(1, sizeof(*linger)) : NULL;

	if (linger == NULL)
		return false;
	linger->id.rdma = id->rdma;
	linger->id.rdma.channel = &linger->channel.rdma;
	linger->id.roce = id->roce;
	linger->channel.rdma.fd = -1;
	TAILQ_INIT(&linger->channel.events);
	linger->until = cma_now_ns() + LINGER_NS;
	roce_cm_id_set_user(linger->id.roce, &linger->id);
	TAILQ_INSERT_TAIL(&lingers, linger, link);
	__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
	return true;
}

/* Requests that came meanwhile are those of the new listener. */
static void
give_requests(struct lingerer *linger, struct cma_id *id)
{
	struct cma_event *event;

	while ((event = TAILQ_FIRST(&linger->channel.events)) != NULL) {
		struct rdma_cm_id *request = event->rdma.id;

		TAILQ_REMOVE(&linger->channel.events, event, link);
		event->owner = id;
		event->rdma.listen_id = &id->rdma;
		request->channel = id->rdma.channel;
		request->context = id->rdma.context;
		request->ps = id->rdma.ps;
		request->pd = id->rdma.pd;
		cma_queue(event);
	}
}

bool
cma_linger_take(struct cma_id *id, uint32_t backlog)
{
	__be16 port = cma_port_of(&id->rdma.route.addr.src_addr);
	struct lingerer *linger;

	TAILQ_FOREACH(linger, &lingers, link) {
		if (cma_port_of(&linger->id.rdma.route.addr.src_addr) == port)
			break;
	}
	if (linger == NULL)
		return false;
	remove_one(linger);
	roce_cm_id_destroy(id->roce);
	id->roce = linger->id.roce;
	roce_cm_id_set_user(id->roce, id);
	give_requests(linger, id);
	free(linger);
	/* It listens there: this is the backlog of the new one. */
	(void)roce_cm_id_listen(id->roce, ntohs(port), backlog);
	return true;
}

/* The first whose time is over, taken off the list; NULL: there is none. */
static struct lingerer *
take_due(void)
{
	struct lingerer *linger;

	pthread_mutex_lock(&cma_lock);
	linger = TAILQ_FIRST(&lingers);
	if (linger != NULL && linger->until > cma_now_ns())
		linger = NULL;
	if (linger != NULL)
		remove_one(linger);
	pthread_mutex_unlock(&cma_lock);
	return linger;
}

static void *
end_one(void *arg)
{
	struct cma_event_list requests = TAILQ_HEAD_INITIALIZER(requests);
	struct lingerer *linger = arg;

	roce_cm_id_destroy(linger->id.roce);
	/* None comes any more. */
	pthread_mutex_lock(&cma_lock);
	cma_cancel(&linger->id, &requests);
	pthread_mutex_unlock(&cma_lock);
	cma_drop_requests(&requests);
	free(linger);
	return NULL;
}

/* Giving the port back may wait for roced, and the thread that delivers events may not. */
void
cma_linger_expire(void)
{
	struct lingerer *linger;
	pthread_t thread;

	if (__atomic_load_n(&count, __ATOMIC_RELAXED) == 0)
		return;
	while ((linger = take_due()) != NULL) {
		if (pthread_create(&thread, NULL, end_one, linger) == 0)
			pthread_detach(thread);
		else
			end_one(linger);
	}
}
