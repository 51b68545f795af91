/* SPDX-License-Identifier: BSD-3-Clause */

/* The channels of this process: how they come and go, its inbox, and how it sleeps until a peer sends. */

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "local/local_pvt.h"

/** Readiness that is taken at once. */
#define EVENTS 64

int
roce_local_tell(struct roce_local *local, const struct roce_msg *msg)
{
	int rc = -ENOTCONN;

	pthread_mutex_lock(&local->lock);
	if (local->socket >= 0)
		rc = roce_msg_send(local->socket, msg, NULL, 0);
	pthread_mutex_unlock(&local->lock);
	return rc;
}

void
roce_local_wake(const struct roce_local *local)
{
	const uint64_t one = 1;

	/* Its own: nobody else has the descriptor, so it does not fill up. */
	(void)!write(local->inbox_wake, &one, sizeof(one));
}

/* The poller and the thread of the connection do. */
static void
drop_inbound(struct roce_local *local, struct rte_mbuf *m)
{
	__atomic_fetch_add(&local->stats.inbox_dropped, 1, __ATOMIC_RELAXED);
	rte_pktmbuf_free(m);
}

static void
enqueue(struct roce_local *local, struct rte_ring *ring, struct rte_mbuf *m)
{
	if (rte_ring_mp_enqueue(ring, m) != 0) {
		drop_inbound(local, m);
		return;
	}
	if (__atomic_load_n(&local->bell->sleeping, __ATOMIC_SEQ_CST) != 0)
		roce_local_wake(local);
}

void
roce_local_enqueue(struct roce_local *local, struct rte_mbuf *m)
{
	enqueue(local, local->inbox, m);
}

void
roce_local_deliver(struct roce_local *local, const uint8_t *data, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(local->pool);
	char *to = m != NULL ? rte_pktmbuf_append(m, (uint16_t)len) : NULL;

	local->stats.rx_roced++;
	if (to == NULL) {
		drop_inbound(local, m);
		return;
	}
	memcpy(to, data, len);
	enqueue(local, local->passed, m);
}

void
roce_local_add(struct roce_local *local, struct roce_channel *channel)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = channel->number };

	local->channel[channel->number] = channel;
	local->channels++;
	local->asked[channel->number] = 0;
	(void)epoll_ctl(local->epoll, EPOLL_CTL_ADD, channel->wake, &event);
	event.events = EPOLLHUP;
	(void)epoll_ctl(local->ends, EPOLL_CTL_ADD, channel->wake, &event);
	/* The peer may have sent already. */
	roce_ring_arm(&channel->rx, true);
	(void)roce_bell_ring(local->bell, channel->number);
}

struct roce_channel *
roce_local_remove(struct roce_local *local, uint32_t number)
{
	struct roce_channel *channel = local->channel[number];

	local->asked[number] = 0;
	if (channel == NULL)
		return NULL;
	for (unsigned int i = 0; i < local->hots; i++) {
		if (local->hot[i] == channel) {
			local->hot[i] = local->hot[--local->hots];
			break;
		}
	}
	/* A child may have the socket until it executes another program: to close it here would not end the watches. */
	(void)epoll_ctl(local->epoll, EPOLL_CTL_DEL, channel->wake, NULL);
	(void)epoll_ctl(local->ends, EPOLL_CTL_DEL, channel->wake, NULL);
	local->channel[number] = NULL;
	local->channels--;
	return channel;
}

const struct roce_local_stats *
roce_local_stats(const struct roce_local *local)
{
	return &local->stats;
}

void
roce_local_count_channels(const struct roce_local *local, uint32_t *channels, uint32_t *polled)
{
	*channels = __atomic_load_n(&local->channels, __ATOMIC_RELAXED);
	*polled = __atomic_load_n(&local->hots, __ATOMIC_RELAXED);
}

unsigned int
roce_local_channels(const struct roce_local *local, uint32_t first,
		struct roce_local_channel *channel, unsigned int n)
{
	unsigned int found = 0;

	for (uint32_t number = first; number < ROCE_PROCESSES && found < n; number++) {
		const struct roce_channel *one = local->channel[number];

		if (one == NULL)
			continue;
		channel[found++] = (struct roce_local_channel){
			.number = number,
			.polled = one->hot,
			.broken = one->broken,
			.stalled = one->stalled,
			.rx_frames = one->rx_frames,
			.tx_frames = one->tx_frames,
		};
	}
	return found;
}

int
roce_local_arm(struct roce_local *local)
{
	local->sleepers++;
	__atomic_store_n(&local->bell->sleeping, 1, __ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < local->hots; i++)
		roce_ring_arm(&local->hot[i]->rx, true);
	return local->epoll;
}

/* The readiness of a descriptor is what its channel, or this process, has written. */
static void
take_wake(struct roce_local *local, const struct epoll_event *event)
{
	const struct roce_channel *channel;
	uint64_t count;

	if (event->data.u32 == ROCE_LOCAL_OWN_WAKE) {
		(void)!read(local->inbox_wake, &count, sizeof(count));
		return;
	}
	channel = local->channel[event->data.u32];
	if (channel == NULL)
		return;
	roce_channel_drain_wake(channel);
	/* The peer has closed it, and would keep sleepers awake until its end is told. */
	if ((event->events & EPOLLHUP) != 0)
		(void)epoll_ctl(local->epoll, EPOLL_CTL_DEL, channel->wake, NULL);
}

bool
roce_local_disarm(struct roce_local *local)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(local->epoll, events, EVENTS, 0);

	for (int i = 0; i < n; i++)
		take_wake(local, &events[i]);
	if (--local->sleepers > 0)
		return n > 0;
	__atomic_store_n(&local->bell->sleeping, 0, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < local->hots; i++)
		roce_ring_arm(&local->hot[i]->rx, false);
	return n > 0;
}
