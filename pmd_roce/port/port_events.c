/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port_events.h"

#include <errno.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_pause.h>

#include "port/device.h"
#include "port/log.h"
#include "port/trace.h"

#define PENDING_LINK  1u
#define PENDING_RESET 2u
#define PENDING_GONE  4u

static const enum rte_eth_event_type heard[] = {
	RTE_ETH_EVENT_INTR_LSC,
	RTE_ETH_EVENT_INTR_RESET,
	RTE_ETH_EVENT_INTR_RMV,
	RTE_ETH_EVENT_DESTROY,
};

static void
note(struct roce_port_events *life, uint32_t what)
{
	__atomic_fetch_or(&life->pending, what, __ATOMIC_RELEASE);
}

/*
 * Whoever was in a burst leaves it, and all others see that the port is gone. During a reset the locks are held by one
 * who may wait for this very thread, and who looks again when it is done.
 */
static void
wait_for_turners(const struct roce_port_events *life)
{
	const struct roce_port *port = life->device->port;

	for (unsigned int q = 0; q < port->queues; q++) {
		struct roce_engine *engine = port->queue[q].engine;

		while (!roce_engine_trylock_once(engine)) {
			if (__atomic_load_n(&life->resetting, __ATOMIC_ACQUIRE))
				return;
			rte_pause();
		}
		roce_engine_unlock(engine);
	}
}

/* On a thread of ethdev's, or whoever closes the port. */
static int
hear(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *unused)
{
	struct roce_port_events *life = arg;

	RTE_SET_USED(port_id);
	RTE_SET_USED(unused);
	switch (event) {
	case RTE_ETH_EVENT_INTR_LSC:
		note(life, PENDING_LINK);
		break;
	case RTE_ETH_EVENT_INTR_RESET:
		note(life, PENDING_RESET);
		break;
	case RTE_ETH_EVENT_DESTROY:
		__atomic_store_n(&life->closed, true, __ATOMIC_RELEASE);
		/* fall through */
	case RTE_ETH_EVENT_INTR_RMV:
		__atomic_store_n(&life->gone, true, __ATOMIC_RELEASE);
		note(life, PENDING_GONE);
		wait_for_turners(life);
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

/* Nothing breaks by itself: what is lost meanwhile is sent again, as often as the connections allow. */
static void
look_at_link(struct roce_device *device)
{
	struct roce_port *port = device->port;
	bool up = link_is_up(port);

	/* Down and up again between two turns is news to nobody. */
	if (up == port->life.up)
		return;
	port->life.up = up;
	ROCE_LOG(NOTICE, "port %s: link is %s", port->attach.name, up ? "up" : "down");
	roce_trace_port(device, up ? ROCE_TRACE_LINK_UP : ROCE_TRACE_LINK_DOWN);
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
	if (port->life.buried)
		return;
	__atomic_store_n(&port->life.buried, true, __ATOMIC_RELEASE);
	__atomic_store_n(&port->life.gone, true, __ATOMIC_RELEASE);
	ROCE_LOG(ERR, "port %s is gone: its connections are broken", port->attach.name);
	roce_trace_port(device, ROCE_TRACE_GONE);
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
	struct roce_errmsg why = { .text = text, .len = sizeof(text) };
	int rc;

	__atomic_store_n(&port->life.resetting, true, __ATOMIC_RELEASE);
	rc = roce_port_reset(port, &device->args, &why);
	__atomic_store_n(&port->life.resetting, false, __ATOMIC_RELEASE);
	if (rc != 0) {
		ROCE_LOG(ERR, "port %s does not come back from a reset: %s", port->attach.name,
				text);
		roce_trace_port(device, ROCE_TRACE_RESET_FAILED);
		note(&port->life, PENDING_GONE);
		return;
	}
	ROCE_LOG(NOTICE, "port %s was reset", port->attach.name);
	roce_trace_port(device, ROCE_TRACE_RESET);
	note(&port->life, PENDING_LINK);
}

void
roce_port_events_act(struct roce_port_events *life)
{
	struct roce_device *device = life->device;
	uint32_t what;

	roce_port_lock(device->port);
	while ((what = __atomic_exchange_n(&life->pending, 0, __ATOMIC_ACQUIRE)) != 0) {
		if ((what & PENDING_GONE) != 0)
			bury(device);
		if (roce_port_events_is_gone(life))
			continue;
		/* A port that is lent is reset by who lends it. */
		if ((what & PENDING_RESET) != 0 && device->port->lent.mode == 0)
			reset(device);
		if ((what & PENDING_LINK) != 0)
			look_at_link(device);
	}
	roce_port_unlock(device->port);
}

int
roce_port_events_begin(struct roce_device *device)
{
	struct roce_port *port = device->port;
	struct roce_port_events *life = &port->life;

	/* Frames that a program hands over come from no port that we know. */
	if (port->lent.mode == ROCE_ATTACH_HANDOVER)
		return 0;
	life->device = device;
	for (size_t i = 0; i < RTE_DIM(heard); i++)
		if (rte_eth_dev_callback_register(port->id, heard[i], hear, life) != 0)
			return -ENOMEM;
	/* From here on every change is heard of. */
	life->up = link_is_up(port);
	return 0;
}

/*
 * Busy while the upcall runs, which ethdev says of one port only, not of all. The number of a port that is gone is
 * refused, and no upcall of that one runs any more.
 */
static bool
leave_alone(uint16_t port_id, enum rte_eth_event_type event, struct roce_port_events *life)
{
	if (rte_eth_dev_is_valid_port(port_id))
		return rte_eth_dev_callback_unregister(port_id, event, hear, life) == 0;
	return rte_eth_dev_callback_unregister(RTE_ETH_ALL, event, hear, life) == 0;
}

void
roce_port_events_end(struct roce_device *device)
{
	struct roce_port_events *life = &device->port->life;

	if (life->device == NULL)
		return;
	for (size_t i = 0; i < RTE_DIM(heard); i++)
		while (!leave_alone(device->port->id, heard[i], life))
			rte_pause();
	life->device = NULL;
}
