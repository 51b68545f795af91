/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Completion channels. The descriptor is an eventfd that counts one for each event, so that programs may sleep on it by any
 * call they like; which queue an event is of stands on a list beside it.
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "verbs/verbs_front.h"

static struct verbs_channel *
channel_of(struct ibv_comp_channel *channel)
{
	return (struct verbs_channel *)(void *)channel;
}

struct ibv_comp_channel *
ibv_create_comp_channel(struct ibv_context *context)
{
	struct verbs_channel *channel = calloc(1, sizeof(*channel));

	if (channel == NULL)
		return verbs_fail(-ENOMEM);
	channel->ibv.context = context;
	channel->ibv.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (channel->ibv.fd < 0) {
		free(channel);
		return NULL;
	}
	pthread_mutex_init(&channel->lock, NULL);
	TAILQ_INIT(&channel->ready);
	verbs_obj_add(context, &channel->obj, VERBS_KIND_CHANNEL);
	return &channel->ibv;
}

int
ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	if (__atomic_load_n(&channel->refcnt, __ATOMIC_RELAXED) != 0)
		return EBUSY;
	verbs_obj_remove(channel->context, &channel_of(channel)->obj);
	close(channel->fd);
	pthread_mutex_destroy(&channel_of(channel)->lock);
	free(channel);
	return 0;
}

void
verbs_channel_push(struct verbs_cq *cq)
{
	struct verbs_channel *channel;

	if (cq->ibv.channel == NULL)
		return;
	channel = channel_of(cq->ibv.channel);
	pthread_mutex_lock(&channel->lock);
	if (cq->queued++ == 0)
		TAILQ_INSERT_TAIL(&channel->ready, cq, link);
	(void)eventfd_write(channel->ibv.fd, 1);
	pthread_mutex_unlock(&channel->lock);
}

/* The oldest event, which counts as fetched. Under the lock. */
static struct verbs_cq *
take(struct verbs_channel *channel)
{
	struct verbs_cq *cq = TAILQ_FIRST(&channel->ready);

	if (cq == NULL)
		return NULL;
	TAILQ_REMOVE(&channel->ready, cq, link);
	if (--cq->queued > 0)
		TAILQ_INSERT_TAIL(&channel->ready, cq, link);
	cq->reported++;
	return cq;
}

int
ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct verbs_channel *own = channel_of(channel);
	struct verbs_cq *ready;
	uint64_t count;

	if (verbs_is_forked()) {
		errno = ENODEV;
		return -1;
	}
	do {
		if (read(channel->fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
			return -1;
		pthread_mutex_lock(&own->lock);
		ready = take(own);
		pthread_mutex_unlock(&own->lock);
		/* It was of a queue that has ended since. */
	} while (ready == NULL);
	*cq = &ready->ibv;
	*cq_context = ready->ibv.cq_context;
	return 0;
}

void
ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += n;
	pthread_cond_broadcast(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}

/* Take back what an event counted, unless a reader has: it finds the list without it. */
static void
uncount(int fd)
{
	uint64_t count;
	const struct iovec iov = { &count, sizeof(count) };

	(void)preadv2(fd, &iov, 1, -1, RWF_NOWAIT);
}

static void
remove_from(struct verbs_channel *channel, struct verbs_cq *cq)
{
	pthread_mutex_lock(&channel->lock);
	if (cq->queued > 0)
		TAILQ_REMOVE(&channel->ready, cq, link);
	for (; cq->queued > 0; cq->queued--)
		uncount(channel->ibv.fd);
	pthread_mutex_unlock(&channel->lock);
}

void
verbs_channel_forget(struct verbs_cq *cq)
{
	/* In a child of fork(2) the descriptor counts for the parent, too. */
	if (cq->ibv.channel != NULL && !verbs_is_forked())
		remove_from(channel_of(cq->ibv.channel), cq);
	verbs_obj_await_acks(cq->ibv.context, &cq->ibv.mutex, &cq->ibv.cond,
			&cq->ibv.comp_events_completed, &cq->reported);
	verbs_obj_await_acks(cq->ibv.context, &cq->ibv.mutex, &cq->ibv.cond,
			&cq->ibv.async_events_completed, &cq->async_reported);
	if (cq->ibv.channel != NULL)
		__atomic_fetch_sub(&cq->ibv.channel->refcnt, 1, __ATOMIC_RELAXED);
}
