/* SPDX-License-Identifier: BSD-3-Clause */

/* The loop of the uplink: it polls while frames move, and sleeps when none do. */

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_epoll.h>
#include <rte_ethdev.h>
#include <rte_pause.h>

#include "uplink.h"

/** Polls without a frame before the first nap: some microseconds. */
#define IDLE_POLLS 64u

/**
 * Naps of a port without receive interrupts, nanoseconds: the first one, and how long they become. A frame of the wire may
 * wait so long, and an idle host looks a thousand times a second.
 */
#define NAP_MIN_NS 20000u
#define NAP_MAX_NS 1000000u

/** The same of a port with them: until the next look at what nothing tells of. */
#define REST_NS 1000000000u

#define SECOND_NS 1000000000u

void
uplink_end(struct uplink *uplink)
{
	const uint64_t one = 1;

	__atomic_store_n(&uplink->ends, true, __ATOMIC_RELEASE);
	(void)!write(uplink->wake, &one, sizeof(one));
}

void
uplink_lock(struct uplink *uplink)
{
	__atomic_fetch_add(&uplink->lock_waiters, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&uplink->lock);
	__atomic_fetch_sub(&uplink->lock_waiters, 1, __ATOMIC_SEQ_CST);
}

void
uplink_unlock(struct uplink *uplink)
{
	pthread_mutex_unlock(&uplink->lock);
}

static bool
has_interrupts(const struct uplink *uplink)
{
	return __atomic_load_n(&uplink->port->rx_interrupt.works, __ATOMIC_RELAXED);
}

/* The next nap, for a port that tells of frames, or for one that does not. Locked. */
static uint64_t
nap_ns(struct uplink *uplink)
{
	const uint64_t hz = rte_get_tsc_hz();
	uint64_t now = rte_rdtsc(), until = uplink_deadline(uplink);
	uint64_t ns = REST_NS;

	if (!has_interrupts(uplink)) {
		ns = uplink->nap_ns == 0 ? NAP_MIN_NS : RTE_MIN(2 * uplink->nap_ns, NAP_MAX_NS);
		uplink->nap_ns = ns;
	}
	if (uplink->held_n > 0)
		return NAP_MIN_NS;
	if (until <= now)
		return 0;
	/* Seconds away it is none of this nap's business, and would overflow. */
	return until - now >= hz ? ns : RTE_MIN(ns, (until - now) * SECOND_NS / hz);
}

/* A driver that has them and does not keep its word gets naps from now on; net_tap has nothing to switch. */
static void
enable_interrupts(struct uplink *uplink)
{
	int rc;

	if (!has_interrupts(uplink))
		return;
	rc = rte_eth_dev_rx_intr_enable(uplink->port->id, 0);
	if (rc != 0 && rc != -ENOTSUP)
		__atomic_store_n(&uplink->port->rx_interrupt.works, false, __ATOMIC_RELAXED);
}

static void
disable_interrupts(struct uplink *uplink)
{
	struct rte_epoll_event event;

	if (!has_interrupts(uplink))
		return;
	(void)rte_epoll_wait(uplink->port->rx_interrupt.epoll, &event, 1, 0);
	(void)rte_eth_dev_rx_intr_disable(uplink->port->id, 0);
}

static void
wait_for_frames(struct uplink *uplink, int processes, uint64_t ns)
{
	struct pollfd fds[] = {
		{ .fd = uplink->wake, .events = POLLIN },
		{ .fd = processes, .events = POLLIN },
		{ .fd = has_interrupts(uplink) ? uplink->port->rx_interrupt.epoll : -1,
				.events = POLLIN },
	};
	const struct timespec timeout = { .tv_sec = (time_t)(ns / SECOND_NS),
		.tv_nsec = (long)(ns % SECOND_NS) };

	(void)ppoll(fds, RTE_DIM(fds), &timeout, NULL);
}

void
uplink_sleep(struct uplink *uplink)
{
	unsigned int moved;
	int processes;
	uint64_t ns;

	pthread_mutex_lock(&uplink->lock);
	processes = roce_local_arm(uplink->local);
	enable_interrupts(uplink);
	/* A frame that was there before wakes nobody. */
	moved = uplink_poll(uplink);
	ns = nap_ns(uplink);
	pthread_mutex_unlock(&uplink->lock);
	if (moved == 0 && ns > 0)
		wait_for_frames(uplink, processes, ns);
	pthread_mutex_lock(&uplink->lock);
	roce_local_disarm(uplink->local);
	disable_interrupts(uplink);
	pthread_mutex_unlock(&uplink->lock);
}

/* A thread that waits for the lock gets it: a mutex alone would go to the loop, again and again. */
static unsigned int
poll_once(struct uplink *uplink)
{
	unsigned int moved;

	pthread_mutex_lock(&uplink->lock);
	moved = uplink_poll(uplink);
	pthread_mutex_unlock(&uplink->lock);
	while (unlikely(__atomic_load_n(&uplink->lock_waiters, __ATOMIC_RELAXED) != 0))
		sched_yield();
	return moved;
}

void
uplink_run(struct uplink *uplink)
{
	unsigned int idle = 0;

	while (!__atomic_load_n(&uplink->ends, __ATOMIC_ACQUIRE) &&
			!roce_uplink_is_over(uplink->local)) {
		if (unlikely(uplink->polled_at >= uplink->tell_at))
			uplink_tell(uplink);
		if (poll_once(uplink) > 0) {
			idle = 0;
			uplink->nap_ns = 0;
			continue;
		}
		if (++idle >= IDLE_POLLS)
			uplink_sleep(uplink);
		else
			rte_pause();
	}
}
