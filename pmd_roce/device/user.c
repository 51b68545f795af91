/* SPDX-License-Identifier: BSD-3-Clause */

/* The users of a device: how they come and go, and what is delivered to each. */

#include "device/user.h"

#include <errno.h>

#include <rte_common.h>
#include <rte_eal.h>

#include "device/burst.h"
#include "device/device.h"
#include "device/port_neigh.h"
#include "local/local.h"
#include "observe/trace.h"

#define POLLS 64u /**< for other threads that sleep, before one goes its own way */

static void
pass_async_event(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	const struct roce_device_user *user = arg;

	roce_trace_async_event(user->device->port->probe.name, kind, owner, status);
	user->notify(user->arg, kind, owner, status);
}

void
roce_device_wake_users(void *arg)
{
	struct roce_device *device = arg;
	roce_wake_fn wake = __atomic_load_n(&device->wake, __ATOMIC_ACQUIRE);

	if (wake != NULL)
		wake(NULL);
}

void
roce_device_wake_poller(void *arg)
{
	const struct roce_device *device = arg;

	if (device->port->local != NULL)
		roce_local_wake(device->port->local);
}

/* DAT and verbs have one event for all causes. */
static void
log_unreachable(const struct roce_device *device, const struct roce_cm_event *event)
{
	struct roce_port *port = device->port;
	const struct roce_unreachable u = {
		.own = device->args.ip.at,
		.n = device->args.ip.n,
		.gw = device->args.gw,
		.port = port->probe.name,
		.vlan = (uint16_t)device->args.vlan,
		.gone = roce_port_events_is_gone(&port->events),
		.program_knows = port->attached.resolve != NULL,
		.no_uplink = port->local != NULL && roce_local_identity(port->local)->uplink == 0,
	};

	if (event->kind != ROCE_CM_UNREACHABLE || event->path == NULL)
		return;
	roce_unreachable_log(&u, &event->path->dst_ip, &port->unreachable, roce_port_now(),
			roce_port_hz());
}

int
roce_device_tell_cm_event(void *arg, const struct roce_cm_event *event)
{
	/* The event only looks at it; it is the user's own. */
	struct roce_context *context = (struct roce_context *)(uintptr_t)event->context;
	struct roce_device_user *user = container_of(context, struct roce_device_user, context);

	roce_trace_cm(user->device->port->probe.name, event);
	log_unreachable(user->device, event);
	return user->cm_notify(user->arg, event);
}

void
roce_device_join(struct roce_device *device, struct roce_device_user *user)
{
	struct roce_device *first = device->first;

	user->device = device;
	user->context.domain = device->domain;
	user->context.addrs = device->args.ip.n;
	for (uint32_t i = 0; i < device->args.ip.n; i++)
		user->context.addr[i] = device->args.ip.at[i].addr;
	user->context.notify = pass_async_event;
	user->context.arg = user;
	if (user->wake != NULL)
		__atomic_store_n(&first->wake, user->wake, __ATOMIC_RELEASE);
	rte_spinlock_lock(&first->users_lock);
	LIST_INSERT_HEAD(&first->users, user, link);
	/* Too late for the delivery to the others. A second DEVICE_FATAL changes nothing. */
	if (__atomic_load_n(&device->port->events.buried, __ATOMIC_ACQUIRE) &&
			user->port_notify != NULL)
		user->port_notify(user->arg, ROCE_DEVICE_FATAL);
	rte_spinlock_unlock(&first->users_lock);
}

void
roce_device_leave(struct roce_device *device, struct roce_device_user *user)
{
	struct roce_device *first = device->first;

	rte_spinlock_lock(&first->users_lock);
	LIST_REMOVE(user, link);
	rte_spinlock_unlock(&first->users_lock);
}

int
roce_device_resolve(struct roce_device *device, const struct roce_context *context,
		const struct roce_ip *dst, const struct roce_ip *local, struct roce_path *path)
{
	return roce_port_resolve_from(device->port, context, dst, local, path, roce_port_now());
}

void
roce_device_receive(struct roce_device *device)
{
	struct roce_port *port = device->port;

	for (unsigned int q = 1; q < port->queues; q++) {
		struct roce_port_queue *queue = &port->queue[q];

		roce_engine_lock(queue->engine);
		if (port->attached.mode == ROCE_ATTACH_HANDOVER)
			roce_engine_rx_forwarded(queue->engine, roce_port_now());
		else
			roce_port_receive(queue, roce_port_now());
		roce_engine_unlock_inner(queue->engine);
	}
}

/* An interrupt may have been for a thread that sleeps on, and comes once. */
static void
poll_for_others(struct roce_device *device)
{
	for (unsigned int polls = 0; polls < POLLS; polls++) {
		if (roce_device_poll(device) == 0)
			break;
	}
}

int
roce_device_rx_arm(struct roce_device *device)
{
	bool others = false;
	int fd = roce_rx_interrupt_arm(device->port, &others);

	if (others)
		poll_for_others(device);
	if (fd >= 0)
		roce_domain_add_sleeper(device->domain);
	return fd;
}

bool
roce_device_tells_posts(const struct roce_device *device)
{
	return device->port->local != NULL;
}

void
roce_device_rx_disarm(struct roce_device *device)
{
	roce_domain_remove_sleeper(device->domain);
	if (roce_rx_interrupt_disarm(device->port))
		poll_for_others(device);
}

/* Of a program that hands frames over, the link is the program; to other processes there always is one. */
bool
roce_device_has_link(const struct roce_device *device)
{
	return device->port->attached.mode == ROCE_ATTACH_HANDOVER || device->port->local != NULL ||
			roce_port_has_link(device->port);
}

bool
roce_device_has_hugepages(const struct roce_device *device)
{
	return rte_eal_has_hugepages() != 0;
}

bool
roce_device_is_manual(const struct roce_device *device)
{
	return device->args.manual != 0;
}
