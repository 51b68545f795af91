/* SPDX-License-Identifier: BSD-3-Clause */

/* Events of a device's port: users hear of them, connections break, the port is reset. */

#include "device/burst.h"
#include "device/device.h"
#include "ethdev/memif.h"
#include "ethdev/port_setup.h"
#include "observe/log.h"
#include "observe/trace.h"

/* Bursts that empty the largest ring of net_memif. */
#define REST_POLLS ((1u << 14) / ROCE_PORT_RX_BURST + 1)

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

/* No connection breaks by itself: a frame that is lost meanwhile is sent again, as often as the connections allow. */
static void
look_at_link(struct roce_device *device)
{
	struct roce_port *port = device->port;
	bool up = roce_port_has_link(port);

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
	roce_port_events_set_gone(&port->events);
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
		roce_port_events_set_pending(&port->events, ROCE_PORT_PENDING_GONE);
		return;
	}
	ROCE_LOG(NOTICE, "port %s was reset", port->probe.name);
	roce_trace_port(port->probe.name, ROCE_TRACE_RESET);
	roce_port_events_set_pending(&port->events, ROCE_PORT_PENDING_LINK);
}

void
roce_device_events_act(struct roce_device *device)
{
	struct roce_port_events *events = &device->port->events;
	uint32_t what;

	roce_port_lock(device->port);
	while ((what = __atomic_exchange_n(&events->pending, 0, __ATOMIC_ACQUIRE)) != 0) {
		if ((what & ROCE_PORT_PENDING_GONE) != 0)
			bury(device);
		if (roce_port_events_is_gone(events))
			continue;
		/* A program resets the port that it attached. */
		if ((what & ROCE_PORT_PENDING_RESET) != 0 && device->port->attached.mode == 0)
			reset(device);
		if ((what & ROCE_PORT_PENDING_LINK) != 0)
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
	struct roce_device *device = arg;
	struct roce_port *port = device->port;
	struct roce_port_events *events = &port->events;

	/* A DREQ among the frames takes the locks of other engines, so one engine at a time. */
	if (!roce_port_events_is_gone(events))
		receive_the_rest(port);
	roce_port_lock(port);
	if (!roce_port_events_is_gone(events)) {
		__atomic_store_n(&events->suspended, true, __ATOMIC_RELEASE);
		roce_domain_break(device->domain);
	}
	roce_port_unlock_inner(port);
	ROCE_LOG(INFO, "port %s: its memif peer has gone, connections through it are broken",
			port->probe.name);
}

static void
welcome_peer(void *arg)
{
	const struct roce_device *device = arg;
	struct roce_port *port = device->port;
	struct roce_port_events *events = &port->events;

	roce_port_lock(port);
	__atomic_store_n(&events->suspended, roce_port_events_is_gone(events), __ATOMIC_RELEASE);
	roce_port_unlock_inner(port);
	ROCE_LOG(INFO, "port %s: a memif peer has come", port->probe.name);
}

static const struct roce_memif_notify memif_notify = {
	.peer_came = welcome_peer,
	.peer_left = lose_peer,
};

int
roce_device_events_begin(struct roce_device *device)
{
	return roce_port_events_begin(device->port, device, &memif_notify);
}
