/* SPDX-License-Identifier: BSD-3-Clause */

/* Event channels and events: queued, fetched, acknowledged. */

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "verbs/rdmacm/cma.h"

static pthread_cond_t acknowledged = PTHREAD_COND_INITIALIZER;

struct rdma_event_channel *
rdma_create_event_channel(void)
{
	struct cma_channel *channel = calloc(1, sizeof(*channel));

	if (channel == NULL)
		return NULL;
	channel->rdma.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (channel->rdma.fd < 0) {
		free(channel);
		return NULL;
	}
	TAILQ_INIT(&channel->events);
	return &channel->rdma;
}

static void
free_channel(struct cma_channel *channel)
{
	close(channel->rdma.fd);
	free(channel);
}

/*
 * A thread that waits for an event of it goes on waiting, as one in a call of the kernel does, and is not told of an error:
 * programs end with such a thread.
 */
void
rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	struct cma_channel *own = cma_channel_of(channel);

	pthread_mutex_lock(&cma_lock);
	own->ended = own->readers > 0;
	pthread_mutex_unlock(&cma_lock);
	if (!own->ended)
		free_channel(own);
}

static void
enter(struct cma_channel *channel)
{
	pthread_mutex_lock(&cma_lock);
	channel->readers++;
	pthread_mutex_unlock(&cma_lock);
}

static void
leave(struct cma_channel *channel)
{
	bool last;

	pthread_mutex_lock(&cma_lock);
	last = --channel->readers == 0 && channel->ended;
	pthread_mutex_unlock(&cma_lock);
	if (last)
		free_channel(channel);
}

void
cma_queue(struct cma_event *event)
{
	struct cma_channel *channel = cma_channel_of(event->owner->rdma.channel);

	event->queued = true;
	TAILQ_INSERT_TAIL(&channel->events, event, link);
	(void)eventfd_write(channel->rdma.fd, 1);
}

struct cma_event *
cma_push(struct cma_id *id, enum cma_slot slot, enum rdma_cm_event_type type, int status)
{
	struct cma_event *event = &id->slots[slot];

	if (event->used)
		return NULL;
	event->used = true;
	event->owner = id;
	id->down |= slot == CMA_SLOT_DOWN;
	event->rdma = (struct rdma_cm_event){ .id = &id->rdma, .event = type, .status = status };
	cma_queue(event);
	return event;
}

/* Under the lock. A reader that has counted it already finds the list without it. */
static void
unqueue(struct cma_channel *channel, struct cma_event *event)
{
	uint64_t count;
	const struct iovec iov = { &count, sizeof(count) };

	event->queued = false;
	TAILQ_REMOVE(&channel->events, event, link);
	(void)preadv2(channel->rdma.fd, &iov, 1, -1, RWF_NOWAIT);
}

void
cma_cancel(struct cma_id *id, struct cma_event_list *requests)
{
	struct cma_channel *channel = cma_channel_of(id->rdma.channel);
	struct cma_event *event, *next;

	for (event = TAILQ_FIRST(&channel->events); event != NULL; event = next) {
		next = TAILQ_NEXT(event, link);
		if (event->owner != id)
			continue;
		unqueue(channel, event);
		event->used = false;
		if (event->allocated)
			TAILQ_INSERT_TAIL(requests, event, link);
	}
}

void
cma_move(struct cma_id *id, struct rdma_event_channel *channel)
{
	struct cma_channel *from = cma_channel_of(id->rdma.channel);
	struct cma_event *event, *next;

	if (id->rdma.channel == channel)
		return;
	id->rdma.channel = channel;
	for (event = TAILQ_FIRST(&from->events); event != NULL; event = next) {
		next = TAILQ_NEXT(event, link);
		if (event->owner != id)
			continue;
		unqueue(from, event);
		if (event->allocated)
			event->rdma.id->channel = channel;
		cma_queue(event);
	}
}

void
cma_await_acks(struct cma_id *id)
{
	while (id->unacknowledged != 0)
		pthread_cond_wait(&acknowledged, &cma_lock);
}

/* The oldest event, which counts as fetched. */
static struct cma_event *
take(struct cma_channel *channel)
{
	struct cma_event *event;

	pthread_mutex_lock(&cma_lock);
	event = TAILQ_FIRST(&channel->events);
	if (event != NULL) {
		TAILQ_REMOVE(&channel->events, event, link);
		event->queued = false;
		event->owner->unacknowledged++;
	}
	pthread_mutex_unlock(&cma_lock);
	return event;
}

int
rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct cma_channel *own = cma_channel_of(channel);
	struct cma_event *taken = NULL;
	uint64_t count;

	if (cma_is_forked())
		return cma_refuse(ENODEV);
	enter(own);
	/* Without an event it was one of an id that has ended since. */
	while (taken == NULL && read(channel->fd, &count, sizeof(count)) == (ssize_t)sizeof(count))
		taken = take(own);
	leave(own);
	if (taken == NULL)
		return -1;
	*event = &taken->rdma;
	return 0;
}

int
rdma_ack_cm_event(struct rdma_cm_event *event)
{
	struct cma_event *own = (struct cma_event *)(void *)event;

	if (event == NULL)
		return cma_refuse(EINVAL);
	pthread_mutex_lock(&cma_lock);
	own->used = false;
	if (--own->owner->unacknowledged == 0)
		pthread_cond_broadcast(&acknowledged);
	if (own->allocated)
		free(own);
	pthread_mutex_unlock(&cma_lock);
	return 0;
}

/* The errno of a synchronous call whose event says that it failed. */
static int
error_of(const struct rdma_cm_event *event)
{
	if (event->event == RDMA_CM_EVENT_REJECTED)
		return ECONNREFUSED;
	return event->status < 0 ? -event->status : ECONNABORTED;
}

int
cma_complete(struct cma_id *id, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	if (!id->synchronous)
		return 0;
	if (id->rdma.event != NULL)
		rdma_ack_cm_event(id->rdma.event);
	id->rdma.event = NULL;
	if (rdma_get_cm_event(id->rdma.channel, &event) != 0)
		return -1;
	id->rdma.event = event;
	return event->event == type ? 0 : cma_refuse(error_of(event));
}

const char *
rdma_event_str(enum rdma_cm_event_type event)
{
	static const char *const names[] = {
		[RDMA_CM_EVENT_ADDR_RESOLVED] = "RDMA_CM_EVENT_ADDR_RESOLVED",
		[RDMA_CM_EVENT_ADDR_ERROR] = "RDMA_CM_EVENT_ADDR_ERROR",
		[RDMA_CM_EVENT_ROUTE_RESOLVED] = "RDMA_CM_EVENT_ROUTE_RESOLVED",
		[RDMA_CM_EVENT_ROUTE_ERROR] = "RDMA_CM_EVENT_ROUTE_ERROR",
		[RDMA_CM_EVENT_CONNECT_REQUEST] = "RDMA_CM_EVENT_CONNECT_REQUEST",
		[RDMA_CM_EVENT_CONNECT_RESPONSE] = "RDMA_CM_EVENT_CONNECT_RESPONSE",
		[RDMA_CM_EVENT_CONNECT_ERROR] = "RDMA_CM_EVENT_CONNECT_ERROR",
		[RDMA_CM_EVENT_UNREACHABLE] = "RDMA_CM_EVENT_UNREACHABLE",
		[RDMA_CM_EVENT_REJECTED] = "RDMA_CM_EVENT_REJECTED",
		[RDMA_CM_EVENT_ESTABLISHED] = "RDMA_CM_EVENT_ESTABLISHED",
		[RDMA_CM_EVENT_DISCONNECTED] = "RDMA_CM_EVENT_DISCONNECTED",
		[RDMA_CM_EVENT_DEVICE_REMOVAL] = "RDMA_CM_EVENT_DEVICE_REMOVAL",
		[RDMA_CM_EVENT_MULTICAST_JOIN] = "RDMA_CM_EVENT_MULTICAST_JOIN",
		[RDMA_CM_EVENT_MULTICAST_ERROR] = "RDMA_CM_EVENT_MULTICAST_ERROR",
		[RDMA_CM_EVENT_ADDR_CHANGE] = "RDMA_CM_EVENT_ADDR_CHANGE",
		[RDMA_CM_EVENT_TIMEWAIT_EXIT] = "RDMA_CM_EVENT_TIMEWAIT_EXIT",
	};

	if ((unsigned int)event >= sizeof(names) / sizeof(names[0]))
		return "UNKNOWN EVENT";
	return names[event];
}
