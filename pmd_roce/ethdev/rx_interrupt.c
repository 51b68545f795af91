/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/rx_interrupt.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rte_epoll.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_log.h>

#include "ethdev/port.h"
#include "local/local.h"
#include "observe/log.h"

/* A queue at the descriptor. ethdev calls it an error that a driver has no interrupts. */
static int
tell_queue(const struct roce_port *port, uint16_t q, int op)
{
	int log = rte_log_register("lib.ethdev");
	int level = rte_log_get_level((uint32_t)log);
	int rc;

	rte_log_set_level((uint32_t)log, RTE_LOG_CRIT);
	rc = rte_eth_dev_rx_intr_ctl_q(
			port->id, q, port->rx_interrupt.epoll, op, (void *)(uintptr_t)q);
	rte_log_set_level((uint32_t)log, (uint32_t)level);
	return rc;
}

void
roce_rx_interrupt_begin(struct roce_port *port)
{
	struct roce_rx_interrupt *in = &port->rx_interrupt;
	uint16_t q = 0;

	if (!in->wanted)
		return;
	if (in->epoll < 0)
		in->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (in->epoll < 0)
		return;
	while (q < port->queues && tell_queue(port, q, RTE_INTR_EVENT_ADD) == 0)
		q++;
	if (q == port->queues) {
		in->added = true;
		__atomic_store_n(&in->works, true, __ATOMIC_RELEASE);
		ROCE_LOG(INFO, "port %s has receive interrupts", port->probe.name);
		return;
	}
	while (q > 0)
		tell_queue(port, --q, RTE_INTR_EVENT_DEL);
}

void
roce_rx_interrupt_end(struct roce_port *port)
{
	struct roce_rx_interrupt *in = &port->rx_interrupt;

	__atomic_store_n(&in->works, false, __ATOMIC_RELEASE);
	if (!in->added)
		return;
	in->added = false;
	/* Of a port that is gone its descriptors are, too. */
	for (uint16_t q = 0; q < port->queues && !roce_port_events_is_gone(&port->events); q++)
		tell_queue(port, q, RTE_INTR_EVENT_DEL);
}

void
roce_rx_interrupt_close(struct roce_port *port)
{
	struct roce_rx_interrupt *in = &port->rx_interrupt;

	roce_rx_interrupt_end(port);
	if (in->epoll >= 0)
		close(in->epoll);
	in->epoll = -1;
}

/* Take the interrupts, so that the descriptor is not readable. Under a lock, so that the port is there. */
static unsigned int
take_events(struct roce_port *port, struct rte_epoll_event *events)
{
	struct roce_engine *engine = port->queue[0].engine;
	int n = 0;

	roce_engine_lock(engine);
	if (port->rx_interrupt.added && !roce_port_events_is_gone(&port->events))
		n = rte_epoll_wait(port->rx_interrupt.epoll, events, ROCE_ENGINES_MAX, 0);
	roce_engine_unlock(engine);
	return n > 0 ? (unsigned int)n : 0;
}

/*
 * Under the lock of the queue's engine, so that the port is not reset or taken away meanwhile; and so that who arms and
 * who is the last to sleep agree.
 */
static int
set_queue(struct roce_port_queue *queue, bool on)
{
	struct roce_port *port = queue->port;
	const struct roce_rx_interrupt *in = &port->rx_interrupt;
	int rc = 0;

	roce_engine_lock(queue->engine);
	if (roce_port_events_is_gone(&port->events) ||
			!__atomic_load_n(&in->works, __ATOMIC_RELAXED))
		rc = -ENODEV;
	else if (on)
		rc = rte_eth_dev_rx_intr_enable(port->id, queue->rx_queue);
	else if (__atomic_load_n(&in->sleepers, __ATOMIC_SEQ_CST) == 0)
		rc = rte_eth_dev_rx_intr_disable(port->id, queue->rx_queue);
	roce_engine_unlock(queue->engine);
	return rc;
}

/* Of the shared adapter: the other processes wake this one. */
static int
arm_shared(const struct roce_port *port)
{
	int fd;

	roce_engine_lock(port->queue[0].engine);
	fd = roce_local_arm(port->local);
	roce_engine_unlock(port->queue[0].engine);
	return fd;
}

static void
disarm_shared(struct roce_port *port)
{
	roce_engine_lock(port->queue[0].engine);
	if (roce_local_disarm(port->local))
		__atomic_fetch_add(&port->queue[0].stats.rx_interrupts, 1, __ATOMIC_RELAXED);
	roce_engine_unlock(port->queue[0].engine);
}

int
roce_rx_interrupt_arm(struct roce_port *port, bool *others)
{
	struct roce_rx_interrupt *in = &port->rx_interrupt;
	struct rte_epoll_event stale[ROCE_ENGINES_MAX];
	bool works = true;

	if (port->local != NULL)
		return arm_shared(port);
	if (!__atomic_load_n(&in->works, __ATOMIC_ACQUIRE))
		return -1;
	/* Of frames that came while nobody slept. */
	take_events(port, stale);
	__atomic_fetch_add(&in->sleepers, 1, __ATOMIC_SEQ_CST);
	for (uint16_t q = 0; q < port->queues && works; q++) {
		int rc = set_queue(&port->queue[q], true);

		/* net_tap has nothing to switch on: its descriptor tells of every frame. */
		works = rc == 0 || rc == -ENOTSUP;
	}
	if (works)
		return in->epoll;
	*others = roce_rx_interrupt_disarm(port);
	/* A driver that breaks its word, or a port that is gone: from now on there are naps. */
	__atomic_store_n(&in->works, false, __ATOMIC_RELEASE);
	return -1;
}

bool
roce_rx_interrupt_disarm(struct roce_port *port)
{
	struct roce_rx_interrupt *in = &port->rx_interrupt;
	struct rte_epoll_event events[ROCE_ENGINES_MAX];
	unsigned int n;
	uint32_t left;

	if (port->local != NULL) {
		disarm_shared(port);
		return false;
	}
	n = take_events(port, events);
	for (unsigned int i = 0; i < n; i++) {
		uintptr_t q = (uintptr_t)events[i].epdata.data;

		__atomic_fetch_add(&port->queue[q].stats.rx_interrupts, 1, __ATOMIC_RELAXED);
	}
	left = __atomic_sub_fetch(&in->sleepers, 1, __ATOMIC_SEQ_CST);
	for (uint16_t q = 0; q < port->queues; q++)
		set_queue(&port->queue[q], false);
	return n > 0 && left > 0;
}
