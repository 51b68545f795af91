/* SPDX-License-Identifier: BSD-3-Clause */
/* For events of devices on a bus. */
#define ALLOW_EXPERIMENTAL_API

#include "ethdev/port_events.h"

#include <errno.h>

#include <rte_alarm.h>
#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_pause.h>
#include <rte_string_fns.h>

#include "ethdev/memif.h"
#include "ethdev/port.h"

#define LINK_POLL_US 250000

static const enum rte_eth_event_type heard[] = {
	RTE_ETH_EVENT_INTR_LSC,
	RTE_ETH_EVENT_INTR_RESET,
	RTE_ETH_EVENT_INTR_RMV,
	RTE_ETH_EVENT_DESTROY,
};

/*
 * A thread that was in a burst leaves it, and all others see that the port is gone. During a reset the locks are held by one
 * who may wait for this very thread, and who looks again when it is done.
 */
static void
wait_for_pollers(struct roce_port_events *events)
{
	const struct roce_port *port = container_of(events, struct roce_port, events);

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
	roce_port_events_set_gone(events);
	roce_port_events_set_pending(events, ROCE_PORT_PENDING_GONE);
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
	roce_port_events_set_pending(arg, ROCE_PORT_PENDING_LINK);
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
		roce_port_events_set_pending(events, ROCE_PORT_PENDING_LINK);
		break;
	case RTE_ETH_EVENT_INTR_RESET:
		roce_port_events_set_pending(events, ROCE_PORT_PENDING_RESET);
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
roce_port_events_begin(struct roce_port *port, struct roce_device *device,
		const struct roce_memif_notify *memif)
{
	struct roce_port_events *events = &port->events;

	/* Frames that a program injects, or that other processes send, come from no port of ethdev. */
	if (port->attached.mode == ROCE_ATTACH_HANDOVER || port->local != NULL)
		return 0;
	events->device = device;
	for (size_t i = 0; i < RTE_DIM(heard); i++)
		if (rte_eth_dev_callback_register(port->id, heard[i], hear, events) != 0)
			return -ENOMEM;
	if (hear_of_device(events, port->id) != 0)
		return -ENOMEM;
	/* From here on every change is heard of. */
	events->up = roce_port_has_link(port);
	if (events->polls_link && rte_eal_alarm_set(LINK_POLL_US, want_link, events) != 0)
		return -ENOMEM;
	return port->probe.memif != NULL ? roce_memif_begin(port->probe.memif, memif, device) : 0;
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
roce_port_events_end(struct roce_port *port)
{
	struct roce_port_events *events = &port->events;

	if (events->device == NULL)
		return;
	if (port->probe.memif != NULL)
		roce_memif_end(port->probe.memif);
	for (size_t i = 0; i < RTE_DIM(heard); i++)
		while (!leave_alone(port->id, heard[i], events))
			rte_pause();
	hear_no_more_of_device(events);
	rte_eal_alarm_cancel(want_link, events);
	events->device = NULL;
}
