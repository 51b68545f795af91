/* SPDX-License-Identifier: BSD-3-Clause */
/* For events of devices on a bus. */
#define ALLOW_EXPERIMENTAL_API

#include "port/port_events.h"

#include <errno.h>

#include <rte_alarm.h>
#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_pause.h>
#include <rte_string_fns.h>

#include "port/device.h"
#include "port/log.h"
#include "port/memif.h"
#include "port/trace.h"

#define PENDING_LINK  1u
#define PENDING_RESET 2u
#define PENDING_GONE  4u

/* Bursts that empty the largest ring of net_memif. */
#define REST_POLLS ((1u << 14) / ROCE_PORT_RX_BURST + 1)

#define LINK_POLL_US 250000

static const enum rte_eth_event_type heard[] = {
	RTE_ETH_EVENT_INTR_LSC,
	RTE_ETH_EVENT_INTR_RESET,
	RTE_ETH_EVENT_INTR_RMV,
	RTE_ETH_EVENT_DESTROY,
};

static void
set_pending(struct roce_port_events *events, uint32_t what)
{
	__atomic_fetch_or(&events->pending, what, __ATOMIC_RELEASE);
}

static void
set_gone(struct roce_port_events *events)
{
	__atomic_store_n(&events->gone, true, __ATOMIC_RELEASE);
	__atomic_store_n(&events->quiet, true, __ATOMIC_RELEASE);
}

/*
 * A thread that was in a burst leaves it, and all others see that the port is gone. During a reset the locks are held by one
 * who may wait for this very thread, and who looks again when it is done.
 */
static void
wait_for_pollers(const struct roce_port_events *events)
{
	const struct roce_port *port = events->device->port;

	for (unsigned int q = 0; q < port->queues; q++) {
		struct roce_engine *engine = port->queue[q].engine;

		while (!roce_engine_trylock_once(engine)) {
			if (__atomic_load_n(&events->resetting, __ATOMIC_ACQUIRE))
				return;
			rte_pause();
		}
		roce_engine_unlock_inner(engine);
	}
}

/* The caller may free the port when this returns. */
static void
take_away(struct roce_port_events *events)
{
	set_gone(events);
	set_pending(events, PENDING_GONE);
	wait_for_pollers(events);
}

/* On the EAL's interrupt thread. The kernel waits until the device is closed. */
static void
hear_bus(const char *name, enum rte_dev_event_type event, void *arg)
{
	RTE_SET_USED(name);
	if (event == RTE_DEV_EVENT_REMOVE)
		take_away(arg);
}

/* On the EAL's interrupt thread: a poll looks, under the locks. */
static void
want_link(void *arg)
{
	set_pending(arg, PENDING_LINK);
	rte_eal_alarm_set(LINK_POLL_US, want_link, arg);
}

/* On a thread of ethdev's, or whoever closes the port. */
static int
hear(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *unused)
{
	struct roce_port_events *events = arg;

	RTE_SET_USED(port_id);
	RTE_SET_USED(unused);
	switch (event) {
	case RTE_ETH_EVENT_INTR_LSC:
		set_pending(events, PENDING_LINK);
		break;
	case RTE_ETH_EVENT_INTR_RESET:
		set_pending(events, PENDING_RESET);
		break;
	case RTE_ETH_EVENT_DESTROY:
		__atomic_store_n(&events->closed, true, __ATOMIC_RELEASE);
		/* fall through */
	case RTE_ETH_EVENT_INTR_RMV:
		take_away(events);
		break;
	default:
		break;
	}
	return 0;
}

static void
tell_users(struct roce_device *device, enum roce_port_event what)
{
	struct roce_device_user *user;

	rte_spinlock_lock(&device->users_lock);
	LIST_FOREACH(user, &device->users, link)
		if (user->port_notify != NULL)
			user->port_notify(user->arg, what);
	rte_spinlock_unlock(&device->users_lock);
}

static bool
link_is_up(const struct roce_port *port)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(port->id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

/* No connection breaks by itself: a frame that is lost meanwhile is sent again, as often as the connections allow. */
static void
look_at_link(struct roce_device *device)
{
	struct roce_port *port = device->port;
	bool up = link_is_up(port);

	/* Down and up again between two polls is news to nobody. */
	if (up == port->events.up)
		return;
	port->events.up = up;
	ROCE_LOG(NOTICE, "port %s: link is %s", port->probe.name, up ? "up" : "down");
	roce_trace_port(port->probe.name, up ? ROCE_TRACE_LINK_UP : ROCE_TRACE_LINK_DOWN);
	if (up)
		roce_domain_set_line_rate(device->domain, roce_port_line_rate(port));
	tell_users(device, up ? ROCE_PORT_ACTIVE : ROCE_PORT_ERR);
}

/* Connections end before the users hear of it, so that theirs are the last words of each. */
static void
bury(struct roce_device *device)
{
	struct roce_port *port = device->port;

	/* Removed, then closed by its owner: one end. */
	if (port->events.buried)
		return;
	__atomic_store_n(&port->events.buried, true, __ATOMIC_RELEASE);
	set_gone(&port->events);
	ROCE_LOG(ERR, "port %s is gone: its connections are broken", port->probe.name);
	roce_trace_port(port->probe.name, ROCE_TRACE_GONE);
	for (unsigned int q = 0; q < port->queues; q++)
		roce_port_drop_held(&port->queue[q]);
	roce_domain_break(device->domain);
	tell_users(device, ROCE_DEVICE_FATAL);
}

static void
reset(struct roce_device *device)
{
	struct roce_port *port = device->port;
	char text[128] = "";
	struct roce_errmsg errmsg = { .text = text, .len = sizeof(text) };
	int rc;

	__atomic_store_n(&port->events.resetting, true, __ATOMIC_RELEASE);
	rc = roce_port_reset(port, &device->args, &errmsg);
	__atomic_store_n(&port->events.resetting, false, __ATOMIC_RELEASE);
	if (rc != 0) {
		ROCE_LOG(ERR, "port %s does not come back from a reset: %s", port->probe.name,
				text);
		roce_trace_port(port->probe.name, ROCE_TRACE_RESET_FAILED);
		set_pending(&port->events, PENDING_GONE);
		return;
	}
	ROCE_LOG(NOTICE, "port %s was reset", port->probe.name);
	roce_trace_port(port->probe.name, ROCE_TRACE_RESET);
	set_pending(&port->events, PENDING_LINK);
}

void
roce_port_events_act(struct roce_port_events *events)
{
	struct roce_device *device = events->device;
	uint32_t what;

	roce_port_lock(device->port);
	while ((what = __atomic_exchange_n(&events->pending, 0, __ATOMIC_ACQUIRE)) != 0) {
		if ((what & PENDING_GONE) != 0)
			bury(device);
		if (roce_port_events_is_gone(events))
			continue;
		/* A program resets the port that it attached. */
		if ((what & PENDING_RESET) != 0 && device->port->attached.mode == 0)
			reset(device);
		if ((what & PENDING_LINK) != 0)
			look_at_link(device);
	}
	roce_port_unlock(device->port);
}

/* Receive the frames in the rings of a peer that has gone: the last ones may say why. */
static void
receive_the_rest(struct roce_port *port)
{
	for (unsigned int q = 0; q < port->queues; q++) {
		struct roce_port_queue *queue = &port->queue[q];

		roce_engine_lock(queue->engine);
		for (unsigned int i = 0; i < REST_POLLS; i++) {
			uint64_t before = queue->stats.rx_frames;

			roce_port_poll_locked(queue, roce_port_now());
			if (queue->stats.rx_frames == before)
				break;
		}
		roce_port_drop_held(queue);
		roce_engine_unlock_inner(queue->engine);
	}
}

/* The only peer of net_memif has gone. The frames that it had sent are received, then the connections break. */
static void
lose_peer(void *arg)
{
	struct roce_port_events *events = arg;
	struct roce_device *device = events->device;
	struct roce_port *port = device->port;

	/* A DREQ among the frames takes the locks of other engines, so one engine at a time. */
	if (!roce_port_events_is_gone(events))
		receive_the_rest(port);
	roce_port_lock(port);
	if (!roce_port_events_is_gone(events)) {
		__atomic_store_n(&events->quiet, true, __ATOMIC_RELEASE);
		roce_domain_break(device->domain);
	}
	roce_port_unlock_inner(port);
	ROCE_LOG(INFO, "port %s: its memif peer has gone, connections through it are broken",
			port->probe.name);
}

static void
welcome_peer(void *arg)
{
	struct roce_port_events *events = arg;
	struct roce_port *port = events->device->port;

	roce_port_lock(port);
	__atomic_store_n(&events->quiet, roce_port_events_is_gone(events), __ATOMIC_RELEASE);
	roce_port_unlock_inner(port);
	ROCE_LOG(INFO, "port %s: a memif peer has come", port->probe.name);
}

static const struct roce_memif_notify memif_notify = {
	.peer_came = welcome_peer,
	.peer_left = lose_peer,
};

static int
hear_of_device(struct roce_port_events *events, uint16_t port_id)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(port_id, &info) != 0 || info.device == NULL)
		return 0;
	rte_strlcpy(events->bus_name, rte_dev_name(info.device), sizeof(events->bus_name));
	if (rte_dev_event_callback_register(events->bus_name, hear_bus, events) == 0)
		return 0;
	events->bus_name[0] = '\0';
	return -ENOMEM;
}

/* Busy while the upcall runs. */
static void
hear_no_more_of_device(struct roce_port_events *events)
{
	if (events->bus_name[0] == '\0')
		return;
	while (rte_dev_event_callback_unregister(events->bus_name, hear_bus, events) == -EAGAIN)
		rte_pause();
	events->bus_name[0] = '\0';
}

int
roce_port_events_begin(struct roce_device *device)
{
	struct roce_port *port = device->port;
	struct roce_port_events *events = &port->events;

	/* Frames that a program injects come from no port that we know. */
	if (port->attached.mode == ROCE_ATTACH_HANDOVER)
		return 0;
	events->device = device;
	for (size_t i = 0; i < RTE_DIM(heard); i++)
		if (rte_eth_dev_callback_register(port->id, heard[i], hear, events) != 0)
			return -ENOMEM;
	if (hear_of_device(events, port->id) != 0)
		return -ENOMEM;
	/* From here on every change is heard of. */
	events->up = link_is_up(port);
	if (events->polls_link && rte_eal_alarm_set(LINK_POLL_US, want_link, events) != 0)
		return -ENOMEM;
	return port->probe.memif != NULL
			? roce_memif_begin(port->probe.memif, &memif_notify, events)
			: 0;
}

/*
 * Busy while the upcall runs, which ethdev says of one port only, not of all. The number of a port that is gone is
 * refused, and no upcall of that one runs any more.
 */
static bool
leave_alone(uint16_t port_id, enum rte_eth_event_type event, struct roce_port_events *events)
{
	if (rte_eth_dev_is_valid_port(port_id))
		return rte_eth_dev_callback_unregister(port_id, event, hear, events) == 0;
	return rte_eth_dev_callback_unregister(RTE_ETH_ALL, event, hear, events) == 0;
}

void
roce_port_events_end(struct roce_device *device)
{
	struct roce_port_events *events = &device->port->events;

	if (events->device == NULL)
		return;
	if (device->port->probe.memif != NULL)
		roce_memif_end(device->port->probe.memif);
	for (size_t i = 0; i < RTE_DIM(heard); i++)
		while (!leave_alone(device->port->id, heard[i], events))
			rte_pause();
	hear_no_more_of_device(events);
	rte_eal_alarm_cancel(want_link, events);
	events->device = NULL;
}
