/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/start.h"

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_log.h>

#include "ethdev/interrupt_thread.h"
#include "ethdev/memif.h"
#include "ethdev/signals.h"
#include "ethdev/vhost.h"

/* How long a client of net_memif waits for its server. */
#define SERVER_WAIT_MS 2000

/* A memif server that is started answers its client by then. */
#define MEMIF_ANSWER_MS 500

static void
stop_device(void *arg)
{
	uint16_t *port_id = arg;

	rte_eth_dev_stop(*port_id);
}

/* One try of a client of net_memif. @return 0: both ends have agreed. */
static int
try_memif(const struct roce_port *port)
{
	uint16_t port_id;

	if (rte_eth_dev_start(port->id) != 0)
		return -ECONNREFUSED;
	for (unsigned int ms = 0; ms < MEMIF_ANSWER_MS; ms += 10) {
		if (roce_port_has_link(port))
			return 0;
		rte_delay_us_sleep(10000);
	}
	port_id = port->id;
	roce_interrupt_thread_do(stop_device, &port_id);
	return -ECONNREFUSED;
}

/*
 * The device of somebody else, so the proxy (memif.h) is not between. A client of net_memif cannot start before its server, and tries only then. A server whose socket is there and which
 * is not started itself takes the connection and never answers. So two programs started together get a moment, and
 * a client without a link asks anew. The driver's words about each try would only confuse.
 */
static int
start_client(const struct roce_port *port)
{
	int log = rte_log_register("pmd.net.memif");
	int level = rte_log_get_level((uint32_t)log);
	uint64_t end = roce_port_now() + SERVER_WAIT_MS * roce_port_hz() / 1000;
	int rc;

	rte_log_set_level((uint32_t)log, RTE_LOG_CRIT);
	rc = try_memif(port);
	while (rc != 0 && roce_port_now() < end) {
		rte_delay_us_sleep(50000);
		rc = try_memif(port);
	}
	rte_log_set_level((uint32_t)log, (uint32_t)level);
	return rc;
}

/* Some drivers start threads. */
static int
start_now(const struct roce_port *port)
{
	sigset_t signals;
	int rc;

	roce_signals_block(&signals);
	rc = rte_eth_dev_start(port->id);
	roce_signals_restore(&signals);
	return rc;
}

int
roce_port_start_device(const struct roce_port *port, struct roce_errmsg *errmsg)
{
	const char *name = port->probe.name;
	int rc;

	if (port->probe.memif != NULL)
		return roce_memif_start(port->probe.memif, port->id, errmsg);
	rc = port->probe.waits_for_peer ? start_client(port) : start_now(port);
	if (rc == -ECONNREFUSED)
		return roce_errmsg_set(
				errmsg, -ENODEV, "port %s: its memif server is not there", name);
	if (rc != 0)
		return roce_errmsg_set(errmsg, rc == -EBUSY ? -EBUSY : -ENODEV,
				"port %s does not start: %s", name, strerror(-rc));
	return 0;
}

static void
stop(const struct roce_port *port)
{
	if (port->started)
		rte_eth_dev_stop(port->id);
}

static void
close_stopped(const struct roce_port *port)
{
	if (roce_port_probe_is_found(&port->probe))
		return;
	roce_vhost_hang_up(port->probe.port);
	rte_eth_dev_close(port->id);
}

/* The thread may be the program's, as its EAL may be: it takes no signal that a driver causes. */
static void
do_quietly(void (*act)(const struct roce_port *port), const struct roce_port *port)
{
	sigset_t signals;

	roce_signals_block(&signals);
	act(port);
	roce_signals_restore(&signals);
}

static void
stop_quietly(void *port)
{
	do_quietly(stop, port);
}

static void
close_quietly(void *port)
{
	do_quietly(close_stopped, port);
}

static void
stop_and_close_quietly(void *port)
{
	stop_quietly(port);
	close_quietly(port);
}

/*
 * When its server goes, net_virtio_user sets an alarm, which it does not cancel when the port is closed: it would find freed
 * memory. So the port is stopped and closed where alarms run, and between the two those that are due have run.
 */
static void
close_virtio_user(struct roce_port *port)
{
	roce_interrupt_thread_do(stop_quietly, port);
	rte_delay_us_sleep(1000);
	roce_interrupt_thread_do(close_quietly, port);
}

static void
close_memif(struct roce_port *port)
{
	int log = rte_log_register("pmd.net.memif");
	int level = rte_log_get_level((uint32_t)log);

	/* The driver complains that the file of its private socket has gone. */
	if (port->probe.memif != NULL)
		rte_log_set_level((uint32_t)log, RTE_LOG_CRIT);
	roce_interrupt_thread_do(stop_and_close_quietly, port);
	rte_log_set_level((uint32_t)log, (uint32_t)level);
}

void
roce_port_close_device(struct roce_port *port)
{
	if (strcmp(port->driver, "net_memif") == 0)
		close_memif(port);
	else if (strcmp(port->driver, "net_virtio_user") == 0)
		close_virtio_user(port);
	else
		stop_and_close_quietly(port);
}
