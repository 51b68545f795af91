/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/poll.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_pause.h>
#include <rte_service.h>
#include <rte_service_component.h>

#include "device/burst.h"
#include "device/device.h"
#include "ethdev/memory.h"
#include "observe/log.h"

#define NO_SERVICE UINT32_MAX

/* Lcores that were made service lcores here: they are given back with the last service, whose port that be. */
static bool taken[RTE_MAX_LCORE];

unsigned int
roce_port_poll(struct roce_port_queue *queue)
{
	unsigned int moved;

	if (!roce_engine_trylock(queue->engine))
		return 0;
	/* That wants the locks of all engines. This thread is in no poll, in which it would wait for itself. */
	if (unlikely(roce_port_events_is_pending(&queue->port->events))) {
		roce_engine_unlock(queue->engine);
		roce_device_events_act(queue->port->events.device);
		return 0;
	}
	/* Under the lock, so that time never runs backwards for the engine. */
	moved = roce_port_poll_locked(queue, rte_rdtsc());
	roce_engine_unlock(queue->engine);
	return moved;
}

static int32_t
serve_queue(void *arg)
{
	roce_port_poll(arg);
	return 0;
}

/* Make an lcore a service lcore, unless it is one. DPDK does not ask whether there is a thread behind it. */
static int
take_lcore(uint32_t lcore, struct roce_errmsg *errmsg)
{
	enum rte_lcore_role_t role = rte_eal_lcore_role(lcore);
	int rc = -EINVAL;

	if (lcore != rte_get_main_lcore() && (role == ROLE_RTE || role == ROLE_SERVICE))
		rc = rte_service_lcore_add(lcore);
	if (rc == -EALREADY)
		return 0;
	if (rc != 0)
		return roce_errmsg_set(errmsg, -EINVAL,
				"lcores=%" PRIu32 " is invalid: the EAL has no such worker lcore",
				lcore);
	taken[lcore] = true;
	return 0;
}

static void
drop_lcore(uint32_t lcore)
{
	if (!taken[lcore] || rte_service_lcore_count_services(lcore) > 0)
		return;
	if (rte_service_lcore_stop(lcore) != 0)
		return;
	rte_eal_wait_lcore(lcore);
	rte_service_lcore_del(lcore);
	taken[lcore] = false;
}

static int
serve_one(struct roce_port_queue *queue, uint32_t lcore, struct roce_errmsg *errmsg)
{
	struct rte_service_spec spec = {
		.callback = serve_queue,
		.callback_userdata = queue,
		.socket_id = SOCKET_ID_ANY,
	};
	int rc;

	snprintf(spec.name, sizeof(spec.name), "roce_%.16s_%u", queue->port->probe.name,
			queue->index);
	if (rte_service_component_register(&spec, &queue->service) != 0)
		return roce_errmsg_set(errmsg, -ENOMEM, "no room for service %s", spec.name);
	rte_service_component_runstate_set(queue->service, 1);
	rte_service_runstate_set(queue->service, 1);
	rte_service_map_lcore_set(queue->service, lcore, 1);
	rc = rte_service_lcore_start(lcore);
	if (rc != 0 && rc != -EALREADY)
		return roce_errmsg_set(
				errmsg, -EINVAL, "lcores=%" PRIu32 ": it does not start", lcore);
	return 0;
}

/* The queues 0..n-1. */
static void
unserve_first(struct roce_port *port, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		uint32_t service = port->queue[i].service;

		if (service == NO_SERVICE)
			continue;
		rte_service_runstate_set(service, 0);
		rte_service_component_runstate_set(service, 0);
		/* Before it is unmapped: an lcore reports the end only of services it looks at. */
		while (rte_service_may_be_active(service) == 1)
			rte_pause();
		rte_service_map_lcore_set(service, port->lcores[i], 0);
		rte_service_component_unregister(service);
	}
	for (unsigned int i = 0; i < n; i++)
		drop_lcore(port->lcores[i]);
	port->serviced = false;
}

int
roce_port_serve(struct roce_port *port, const uint32_t *lcores, unsigned int n,
		struct roce_errmsg *errmsg)
{
	for (unsigned int i = 0; i < port->queues; i++) {
		int rc;

		port->lcores[i] = lcores[i % n];
		port->queue[i].service = NO_SERVICE;
		rc = take_lcore(port->lcores[i], errmsg);
		if (rc == 0)
			rc = serve_one(&port->queue[i], port->lcores[i], errmsg);
		if (rc != 0) {
			unserve_first(port, i + 1);
			return rc;
		}
		roce_memory_log_lcore(port, port->lcores[i]);
	}
	port->serviced = true;
	return 0;
}

void
roce_port_unserve(struct roce_port *port)
{
	if (port->serviced)
		unserve_first(port, port->queues);
}

unsigned int
roce_device_poll_engine(struct roce_device *device, unsigned int engine)
{
	const struct roce_port *port = device->port;

	if (engine >= port->queues || port->attached.mode == ROCE_ATTACH_HANDOVER)
		return 0;
	return roce_port_poll(&device->port->queue[engine]);
}

void
roce_device_transmit(void *arg, unsigned int engine)
{
	const struct roce_device *device = arg;
	int before;

	/* Drivers make system calls, in which a thread that is cancelled would end with the lock of the engine. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	roce_port_transmit(&device->port->queue[engine]);
	pthread_setcancelstate(before, NULL);
}

unsigned int
roce_device_work(struct roce_device *device, unsigned int engine, unsigned int budget)
{
	unsigned int moved = 0, n;

	do {
		n = roce_device_poll_engine(device, engine);
		moved += n;
	} while (n > 0 && moved < budget);
	return moved;
}

/* One engine after the other, from where the last call stopped: none is favoured. */
static __rte_noinline unsigned int
poll_in_turn(struct roce_device *device)
{
	const struct roce_port *port = device->port;
	unsigned int moved = 0;

	for (unsigned int i = 0; i < port->queues && moved == 0; i++) {
		unsigned int q = __atomic_load_n(&device->turn, __ATOMIC_RELAXED);

		__atomic_store_n(&device->turn, q + 1 < port->queues ? q + 1 : 0, __ATOMIC_RELAXED);
		moved = roce_device_poll_engine(device, q);
	}
	return moved;
}

unsigned int
roce_device_poll(struct roce_device *device)
{
	if (unlikely(device->port->queues > 1))
		return poll_in_turn(device);
	return roce_device_poll_engine(device, 0);
}

uint64_t
roce_device_deadline(struct roce_device *device)
{
	struct roce_port *port = device->port;
	uint64_t deadline = ROCE_NEVER;

	/* The next poll delivers events of the port. */
	if (roce_port_events_is_pending(&port->events))
		return 0;
	for (unsigned int q = 0; q < port->queues; q++) {
		struct roce_port_queue *queue = &port->queue[q];

		/* Being polled by somebody at this moment: ask again. */
		if (!roce_engine_trylock(queue->engine))
			return 0;
		deadline = RTE_MIN(deadline, roce_port_deadline(queue));
		roce_engine_unlock(queue->engine);
	}
	return deadline;
}

unsigned int
roce_device_turn(struct roce_device *device, unsigned int engine)
{
	return roce_device_poll_engine(device, engine);
}
