/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/port_configure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "ethdev/pool.h"
#include "ethdev/signals.h"
#include "ethdev/start.h"
#include "ethdev/zcrx.h"
#include "observe/log.h"

/* Frames that may wait in an engine's inbox. */
#define INBOX_FRAMES 1024

/* As many as ethdev takes where neither we nor the driver have a preference. */
#define DRIVERS_DESCRIPTORS 512

/*
 * Enough frames that neither side can starve the other: what the rings hold, two bursts in flight on either
 * side, what is kept for a device that refuses, and what may wait in inboxes. Separate pools, because a
 * driver that hands out frames without writing them (net_null) must not bring our own back to us.
 */
static unsigned int
count_frames(const struct roce_port *port, uint16_t desc)
{
	return (desc != 0 ? desc : DRIVERS_DESCRIPTORS) +
			2 * (ROCE_PORT_RX_BURST + ROCE_PORT_TX_BURST) +
			(port->queues > 1 ? INBOX_FRAMES : 0);
}

int
roce_port_make_tx_pool(struct roce_port *port, unsigned int q, uint16_t desc, int socket)
{
	uint32_t room = ROCE_FRAME_LEN_MAX(roce_mtu_bytes(port->mtu_code)) + RTE_PKTMBUF_HEADROOM;
	char name[32];

	snprintf(name, sizeof(name), "t%u_%.8s", q, port->probe.name);
	if (port->attached.mode == ROCE_PORT_SHARED)
		port->tx_pool[q] = roce_pool_create_apart(
				name, count_frames(port, desc), room, socket);
	else
		port->tx_pool[q] = roce_pool_create(name, count_frames(port, desc), room, socket);
	return port->tx_pool[q] != NULL ? 0 : -ENOMEM;
}

/* A reset keeps the pools, and so does a further attempt that needs no more or larger buffers. */
static int
make_rx_pool(struct roce_port *port, unsigned int q, const struct roce_port_plan *plan,
		unsigned int frames, int socket)
{
	struct rte_mempool *old = port->rx_pool[q];
	char name[32];

	if (old != NULL && rte_pktmbuf_data_room_size(old) >= plan->room && old->size >= frames)
		return 0;
	roce_pool_retire(old);
	snprintf(name, sizeof(name), "r%u_%.8s", q, port->probe.name);
	port->rx_pool[q] = roce_pool_create(name, frames, plan->room, socket);
	return port->rx_pool[q] != NULL ? 0 : -ENOMEM;
}

static int
make_pools(struct roce_port *port, const struct roce_port_plan *plan, struct roce_errmsg *errmsg)
{
	uint16_t rx_desc = plan->rx_desc != 0 ? plan->rx_desc
					      : plan->info.default_rxportconf.ring_size;
	/* net_ring hands out the sender's frames and takes none from here. */
	unsigned int rx_frames = strcmp(port->driver, "net_ring") == 0
			? ROCE_PORT_RX_BURST
			: count_frames(port, rx_desc) + port->args->zcrx;
	int socket = rte_eth_dev_socket_id(port->id);
	int rc = 0;

	rx_frames += port->probe.rx_frames;
	for (unsigned int q = 0; rc == 0 && q < port->queues; q++) {
		rc = make_rx_pool(port, q, plan, rx_frames, socket);
		if (rc == 0 && port->tx_pool[q] == NULL)
			rc = roce_port_make_tx_pool(port, q, plan->tx_desc, socket);
	}
	if (rc != 0)
		return roce_errmsg_set(errmsg, rc, "no memory for the frames of port %s",
				port->probe.name);
	return roce_port_zcrx_create(port, socket, errmsg);
}

/* How far an attempt gets. */
enum step {
	PLAN, /* or memory of our own: nothing to give up helps */
	CONFIGURE,
	SET_MTU,
	RX_QUEUES,
	TX_QUEUES,
	START,
	STARTED,
};

static const char *const call_of[] = {
	[CONFIGURE] = "rte_eth_dev_configure()",
	[SET_MTU] = "rte_eth_dev_set_mtu()",
	[RX_QUEUES] = "rte_eth_rx_queue_setup()",
	[TX_QUEUES] = "rte_eth_tx_queue_setup()",
	[START] = "rte_eth_dev_start()",
};

struct attempt {
	struct roce_port_plan *plan;
	enum step step; /* that was refused */
	int rc;
	char said[256]; /* why */
};

/* Is a further attempt of no use? */
static bool
is_final(const struct roce_port *port, const struct attempt *a)
{
	/* The driver does not survive its own refusal (refuse_queues()). */
	if (strcmp(port->driver, "net_af_xdp") == 0 && a->step > CONFIGURE)
		return true;
	/* It has waited for its peer. */
	if (a->step == START && (port->probe.memif != NULL || port->probe.waits_for_peer))
		return true;
	/* Somebody else has the device. */
	return a->step == PLAN || a->step == STARTED || a->rc == -EBUSY;
}

/*
 * net_af_xdp has one word for every reason: mostly a process that has the queue, or is ending and has it still. The driver does
 * not survive its own refusal. A second try would have the kernel write all frames into one buffer, for the driver's place in
 * the fill ring is not reset. And its close would write to freed memory, and take the XDP program of that other process.
 */
static int
refuse_queues(struct roce_port *port, int rc, struct roce_errmsg *errmsg)
{
	if (rc == -EINVAL && strcmp(port->driver, "net_af_xdp") == 0) {
		roce_port_probe_leave(&port->probe);
		rc = -EBUSY;
	}
	return roce_errmsg_set(errmsg, rc == -ENOMEM || rc == -EBUSY ? rc : -EINVAL,
			"the queues of port %s cannot be set up%s: %s", port->probe.name,
			rc == -EBUSY ? ", a process may have them" : "", strerror(-rc));
}

static int
refuse_configuration(const struct roce_port *port, int rc, struct roce_errmsg *errmsg)
{
	char queues[32] = "";

	if (port->queues > 1)
		snprintf(queues, sizeof(queues), " with queues=%u", port->queues);
	return roce_errmsg_set(errmsg, rc == -EBUSY ? -EBUSY : -EINVAL,
			"port %s cannot be configured%s: %s", port->probe.name, queues,
			strerror(-rc));
}

/* Some drivers do not read the MTU that they are configured with, and want it told once more. */
static int
set_mtu(const struct roce_port *port, const struct roce_port_plan *plan)
{
	int rc;

	if (!roce_port_plan_has(plan, ROCE_PORT_RAISED_MTU))
		return 0;
	rc = rte_eth_dev_set_mtu(port->id, (uint16_t)plan->conf.rxmode.mtu);
	return rc == -ENOTSUP ? 0 : rc;
}

/* @return 0, or the driver's error; *step: the call that it came from. */
static int
set_up_queues(struct roce_port *port, const struct roce_port_plan *plan, enum step *step)
{
	struct rte_eth_rxconf rx = plan->info.default_rxconf;
	struct rte_eth_txconf tx = plan->info.default_txconf;
	unsigned int socket = (unsigned int)rte_eth_dev_socket_id(port->id);
	int rc = 0;

	rx.offloads = plan->conf.rxmode.offloads;
	tx.offloads = plan->conf.txmode.offloads;
	*step = RX_QUEUES;
	for (uint16_t q = 0; rc == 0 && q < port->queues; q++)
		rc = rte_eth_rx_queue_setup(
				port->id, q, plan->rx_desc, socket, &rx, port->rx_pool[q]);
	if (rc == 0)
		*step = TX_QUEUES;
	for (uint16_t q = 0; rc == 0 && q < port->queues; q++)
		rc = rte_eth_tx_queue_setup(port->id, q, plan->tx_desc, socket, &tx);
	return rc;
}

/* Everything up to the start. @return the step that was refused; START: none, a->rc is 0. */
static enum step
set_up(struct roce_port *port, struct attempt *a, struct roce_errmsg *errmsg)
{
	const struct roce_port_plan *plan = a->plan;
	enum step step;

	a->rc = rte_eth_dev_configure(port->id, port->queues, port->queues, &plan->conf);
	if (a->rc != 0) {
		a->rc = refuse_configuration(port, a->rc, errmsg);
		return CONFIGURE;
	}
	a->rc = set_mtu(port, plan);
	if (a->rc != 0) {
		a->rc = refuse_configuration(port, a->rc, errmsg);
		return SET_MTU;
	}
	a->rc = make_pools(port, plan, errmsg);
	if (a->rc != 0)
		return PLAN;
	a->rc = set_up_queues(port, plan, &step);
	if (a->rc != 0) {
		a->rc = refuse_queues(port, a->rc, errmsg);
		return step;
	}
	return START;
}

/* @return the step that was refused. */
static enum step
go_through(struct roce_port *port, uint32_t allowed, struct attempt *a, struct roce_errmsg *errmsg)
{
	sigset_t signals;
	enum step step;

	a->rc = roce_port_plan_make(port, allowed, a->plan, errmsg);
	if (a->rc != 0)
		return PLAN;
	port->mtu_code = a->plan->mtu_code;
	snprintf(port->driver, sizeof(port->driver), "%s", a->plan->info.driver_name);
	roce_signals_block(&signals);
	step = set_up(port, a, errmsg);
	roce_signals_restore(&signals);
	if (step != START)
		return step;
	a->rc = roce_port_start_device(port, errmsg);
	return a->rc == 0 ? STARTED : START;
}

/* Everything from the plan on, asking only for features that are allowed. */
static struct attempt
attempt(struct roce_port *port, uint32_t allowed, struct roce_port_plan *plan)
{
	struct attempt a = { .plan = plan };
	struct roce_errmsg errmsg = { a.said, sizeof(a.said) };

	a.step = go_through(port, allowed, &a, &errmsg);
	return a;
}

/* Features that are given up at once, in this order. */
static const uint32_t concession[] = {
	1u << ROCE_PORT_RX_INTERRUPTS,
	1u << ROCE_PORT_LINK_INTERRUPTS,
	1u << ROCE_PORT_REMOVAL_INTERRUPTS,
	1u << ROCE_PORT_RSS,
	1u << ROCE_PORT_TX_SEGMENTS,
	1u << ROCE_PORT_VLAN_FILTER,
	1u << ROCE_PORT_RX_SCATTER,
	1u << ROCE_PORT_OUR_DESCRIPTORS,
	1u << ROCE_PORT_OUR_DESCRIPTORS | 1u << ROCE_PORT_FEW_DESCRIPTORS,
	1u << ROCE_PORT_RAISED_MTU,
};

/*
 * Attempts with less than what @p refused asked for: one concession at a time, or all up to one. Without one feature another
 * may be asked for: *asked has them all.
 * @return the first that gets further, with *allowed what it was allowed; one after which no further attempt is of use; else
 *   @p refused.
 */
static struct attempt
concede(struct roce_port *port, bool together, struct attempt refused, uint32_t *asked,
		uint32_t *allowed)
{
	uint32_t less = *allowed;

	for (size_t i = 0; i < RTE_DIM(concession); i++) {
		struct attempt next;

		if ((concession[i] & *asked) == 0)
			continue;
		less = (together ? less : *allowed) & ~concession[i];
		next = attempt(port, less, refused.plan);
		*asked |= refused.plan->features;
		/* A plan that is not possible is no reason not to try another one; but without memory none is. */
		if (next.step > refused.step ||
				(is_final(port, &next) &&
						(next.step != PLAN || next.rc == -ENOMEM))) {
			*allowed = less;
			return next;
		}
	}
	return refused;
}

static void
log_refused(const struct roce_port *port, uint32_t refused, enum step step)
{
	for (unsigned int f = 0; f < ROCE_PORT_FEATURES; f++) {
		const char *name = roce_port_feature_name(f);

		if ((refused & 1u << f) == 0)
			continue;
		/* Most virtual devices have no interrupts. */
		if (f <= ROCE_PORT_REMOVAL_INTERRUPTS)
			ROCE_LOG(INFO, "port %s works without %s: %s failed", port->probe.name,
					name, call_of[step]);
		else
			ROCE_LOG(WARNING, "port %s works without %s: %s failed", port->probe.name,
					name, call_of[step]);
	}
}

int
roce_port_configure(struct roce_port *port, struct roce_port_plan *plan, struct roce_errmsg *errmsg)
{
	uint32_t refused[STARTED] = { 0 }; /* features, by the step that failed */
	uint32_t allowed = ROCE_PORT_FEATURES_ALL;
	struct attempt a;

	if (port->own_mtu == 0)
		rte_eth_dev_get_mtu(port->id, &port->own_mtu);
	a = attempt(port, allowed, plan);
	while (!is_final(port, &a)) {
		const uint32_t before = allowed;
		const enum step step = a.step;
		uint32_t asked = plan->features;
		struct attempt next = concede(port, false, a, &asked, &allowed);

		if (next.step == step && !is_final(port, &next))
			next = concede(port, true, a, &asked, &allowed);
		a = next;
		if (a.step <= step)
			break;
		refused[step] = before & ~allowed & asked;
	}
	if (a.rc != 0)
		return roce_errmsg_set(errmsg, a.rc, "%s", a.said);
	for (enum step step = CONFIGURE; step < STARTED; step++)
		log_refused(port, refused[step], step);
	return 0;
}
