/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_pause.h>
#include <rte_service.h>
#include <rte_service_component.h>

#include "port/log.h"
#include "port/memory.h"
#include "port/port.h"

#define NO_SERVICE UINT32_MAX

/* Lcores that were made service lcores here: they are given back with the last service, whose port that be. */
static bool taken[RTE_MAX_LCORE];

uint64_t
roce_port_now(void)
{
	return rte_rdtsc();
}

uint64_t
roce_port_hz(void)
{
	return rte_get_tsc_hz();
}

void
roce_port_lock(const struct roce_port *port)
{
	for (unsigned int q = 0; q < port->queues; q++)
		roce_engine_lock(port->queue[q].engine);
}

/* The last one wakes whom the events are for. */
void
roce_port_unlock(const struct roce_port *port)
{
	for (unsigned int q = port->queues - 1u; q > 0; q--)
		roce_engine_unlock_inner(port->queue[q].engine);
	roce_engine_unlock(port->queue[0].engine);
}

void
roce_port_unlock_inner(const struct roce_port *port)
{
	for (unsigned int q = port->queues; q > 0; q--)
		roce_engine_unlock_inner(port->queue[q - 1].engine);
}

unsigned int
roce_port_poll(struct roce_port_queue *queue)
{
	unsigned int moved;

	if (!roce_engine_trylock(queue->engine))
		return 0;
	/* That wants the locks of all engines. This thread is in no poll, in which it would wait for itself. */
	if (unlikely(roce_port_events_is_pending(&queue->port->events))) {
		roce_engine_unlock(queue->engine);
		roce_port_events_act(&queue->port->events);
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
roce_device_turn(struct roce_device *device, unsigned int engine)
{
	return roce_device_poll_engine(device, engine);
}
