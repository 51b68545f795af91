/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/port_setup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "ethdev/memory.h"
#include "ethdev/pool.h"
#include "ethdev/start.h"
#include "ethdev/zcrx.h"
#include "local/local.h"
#include "observe/log.h"

/* Descriptors a queue. Large rings push the frames out of the caches; hardware needs some more air. */
#define SOFT_DESCRIPTORS 256
#define HARD_DESCRIPTORS 1024

/* Frames that may wait in an engine's inbox. */
#define INBOX_FRAMES 1024

/* Bytes of the largest frame between its Ethernet header and its payload, rounded up. */
#define MTU_OVERHEAD 104

#define LINK_WAIT_MS 2000

/* Everything decided before the device is configured. */
struct plan {
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;
	uint32_t room; /* bytes of one receive buffer, headroom included */
	uint8_t mtu_code;
};

static bool
device_takes_mtu(const struct rte_eth_dev_info *info, uint32_t mtu)
{
	uint32_t overhead = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;

	/* As ethdev computes it. */
	if (info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu)
		overhead = info->max_rx_pktlen - info->max_mtu;
	return mtu <= info->max_mtu && mtu + overhead <= info->max_rx_pktlen;
}

/* The path MTU that `mtu=` allows, as a code. */
static uint8_t
most_mtu(const struct roce_devargs *args)
{
	return args->mtu != 0 ? roce_mtu_code(args->mtu) : 5;
}

int
roce_port_fit_mtu(const struct roce_port *port, uint32_t mtu, uint8_t *code,
		struct roce_errmsg *errmsg)
{
	const char *name = port->probe.name;
	uint32_t wanted = port->args->mtu;
	uint8_t most = most_mtu(port->args);
	uint8_t fits = RTE_MIN(roce_mtu_fit(mtu), most);

	if (fits == 0)
		return roce_errmsg_set(errmsg, -EINVAL,
				"port %s carries %" PRIu32
				" bytes a frame: too few for any path MTU",
				name, mtu);
	if (wanted != 0 && fits < most)
		return roce_errmsg_set(errmsg, -EINVAL,
				"mtu=%" PRIu32 " does not fit port %s: it carries %" PRIu32
				" bytes, enough for %" PRIu32,
				wanted, name, mtu, roce_mtu_bytes(fits));
	*code = fits;
	return 0;
}

/* Path MTU, and the MTU to configure the device with (0: its own). */
static int
plan_mtu(const struct roce_port *port, struct plan *plan, struct roce_errmsg *errmsg)
{
	const struct roce_port_probe *probe = &port->probe;
	const struct roce_devargs *args = port->args;
	uint32_t mtu = probe->mtu;
	uint16_t current = 0;

	if (mtu == 0) {
		rte_eth_dev_get_mtu(probe->port_id, &current);
		mtu = current;
		if (probe->may_raise_mtu || args->mtu != 0) {
			uint8_t code = most_mtu(args);
			uint32_t want;

			while (code > 1 &&
					!device_takes_mtu(&plan->info,
							roce_mtu_bytes(code) + MTU_OVERHEAD))
				code--;
			want = roce_mtu_bytes(code) + MTU_OVERHEAD;
			if (device_takes_mtu(&plan->info, want))
				mtu = RTE_MAX(mtu, want);
		}
		plan->conf.rxmode.mtu = mtu;
	}
	return roce_port_fit_mtu(port, mtu, &plan->mtu_code, errmsg);
}

/* One buffer holds the largest frame of ours; longer frames of others may be scattered. */
static void
plan_buffers(const struct roce_port_probe *probe, struct plan *plan)
{
	uint32_t data = ROCE_FRAME_LEN_MAX(roce_mtu_bytes(plan->mtu_code));
	uint32_t frame = plan->conf.rxmode.mtu + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN +
			2 * RTE_VLAN_HLEN;

	data = RTE_MAX(data, probe->rx_room);
	data = RTE_MAX(data, plan->info.min_rx_bufsize);
	/* Hardware counts its buffers in kibibytes and rounds down. */
	if (!probe->soft)
		data = RTE_ALIGN_CEIL(data, 1024);
	data = RTE_MIN(data, (uint32_t)UINT16_MAX - RTE_PKTMBUF_HEADROOM);
	if (frame > data)
		plan->conf.rxmode.offloads |=
				plan->info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	plan->room = data + RTE_PKTMBUF_HEADROOM;
}

/*
 * Interrupts of the link and of receive queues do not go together everywhere: net_e1000_em has one vector for both, takes
 * the request and never tells of the link again. So hardware is asked for the latter only, and its link is polled.
 */
static bool
tells_of_link(const struct roce_port *port, const struct rte_eth_dev_info *info)
{
	return (*info->dev_flags & RTE_ETH_DEV_INTR_LSC) != 0 &&
			(port->probe.soft || !port->rx_interrupt.wanted);
}

static int
make_plan(const struct roce_port *port, struct plan *plan, struct roce_errmsg *errmsg)
{
	const struct roce_port_probe *probe = &port->probe;
	const struct roce_devargs *args = port->args;
	uint32_t queues;
	int rc;

	memset(plan, 0, sizeof(*plan));
	rc = rte_eth_dev_info_get(probe->port_id, &plan->info);
	if (rc != 0)
		return roce_errmsg_set(errmsg, -ENODEV, "port %s does not answer: %s", probe->name,
				strerror(-rc));
	queues = RTE_MIN(plan->info.max_rx_queues, plan->info.max_tx_queues);
	if (args->queues > queues)
		return roce_errmsg_set(errmsg, -EINVAL,
				"queues=%" PRIu32 " is too many: port %s has %" PRIu32,
				args->queues, probe->name, queues);
	rc = plan_mtu(port, plan, errmsg);
	if (rc != 0)
		return rc;
	plan->conf.rxmode.offloads = plan->info.rx_offload_capa &
			(RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM);
	plan->conf.txmode.offloads = plan->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM;
	if (args->zero_copy != 0)
		plan->conf.txmode.offloads |=
				plan->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	plan->conf.rx_adv_conf.rss_conf.rss_hf = roce_steer_rss(&plan->info, args->queues);
	if (plan->conf.rx_adv_conf.rss_conf.rss_hf != 0)
		plan->conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	plan->conf.intr_conf.lsc = tells_of_link(port, &plan->info);
	plan->conf.intr_conf.rxq = port->rx_interrupt.wanted;
	plan->conf.intr_conf.rmv = (*plan->info.dev_flags & RTE_ETH_DEV_INTR_RMV) != 0;
	plan_buffers(probe, plan);
	return 0;
}

/*
 * Enough frames that neither side can starve the other: what the rings hold, two bursts in flight on either
 * side, what is kept for a device that refuses, and what may wait in inboxes. Separate pools, because a
 * driver that hands out frames without writing them (net_null) must not bring our own back to us.
 */
static unsigned int
count_frames(const struct roce_port *port, uint16_t desc)
{
	return desc + 2 * (ROCE_PORT_RX_BURST + ROCE_PORT_TX_BURST) +
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

static int
make_pools(struct roce_port *port, const struct plan *plan, uint16_t rx_desc, uint16_t tx_desc,
		struct roce_errmsg *errmsg)
{
	/* net_ring hands out the sender's frames and takes none from here. */
	unsigned int rx_frames = strcmp(port->driver, "net_ring") == 0
			? ROCE_PORT_RX_BURST
			: count_frames(port, rx_desc) + port->args->zcrx;
	int socket = rte_eth_dev_socket_id(port->id);

	rx_frames += port->probe.rx_frames;
	for (unsigned int q = 0; q < port->queues; q++) {
		char name[32];

		/* A reset keeps the pools, and so does a second attempt. */
		snprintf(name, sizeof(name), "r%u_%.8s", q, port->probe.name);
		if (port->rx_pool[q] == NULL)
			port->rx_pool[q] = roce_pool_create(name, rx_frames, plan->room, socket);
		if (port->rx_pool[q] == NULL ||
				(port->tx_pool[q] == NULL &&
						roce_port_make_tx_pool(port, q, tx_desc, socket) !=
								0))
			return roce_errmsg_set(errmsg, -ENOMEM,
					"no memory for the frames of port %s", port->probe.name);
	}
	return roce_port_zcrx_create(port, socket, errmsg);
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
set_up_queues(struct roce_port *port, const struct plan *plan, struct roce_errmsg *errmsg)
{
	struct rte_eth_rxconf rx = plan->info.default_rxconf;
	struct rte_eth_txconf tx = plan->info.default_txconf;
	uint16_t rx_desc = port->probe.soft ? SOFT_DESCRIPTORS : HARD_DESCRIPTORS;
	uint16_t tx_desc = rx_desc;
	int socket = rte_eth_dev_socket_id(port->id);
	int rc;

	rx.offloads = plan->conf.rxmode.offloads;
	tx.offloads = plan->conf.txmode.offloads;
	rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &rx_desc, &tx_desc);
	if (rc == 0) {
		rc = make_pools(port, plan, rx_desc, tx_desc, errmsg);
		if (rc != 0)
			return rc;
	}
	for (uint16_t q = 0; rc == 0 && q < port->queues; q++) {
		rc = rte_eth_rx_queue_setup(
				port->id, q, rx_desc, (unsigned int)socket, &rx, port->rx_pool[q]);
		if (rc == 0)
			rc = rte_eth_tx_queue_setup(
					port->id, q, tx_desc, (unsigned int)socket, &tx);
	}
	return rc != 0 ? refuse_queues(port, rc, errmsg) : 0;
}

/* net_ring has no address. One made of the IP address differs between neighbours, and repeats from run to run. */
static void
set_mac(struct roce_port *port, const struct roce_devargs *args)
{
	if (rte_eth_macaddr_get(port->id, &port->mac) == 0 && !rte_is_zero_ether_addr(&port->mac))
		return;
	port->mac.addr_bytes[0] = RTE_ETHER_LOCAL_ADMIN_ADDR;
	port->mac.addr_bytes[1] = 0;
	memcpy(&port->mac.addr_bytes[2], &args->ip.at[0].addr.b[12], 4);
	rte_eth_promiscuous_enable(port->id);
}

/* Hardware takes its time; a virtual wire has its other end or waits for it, and does not hold us up. */
static void
wait_for_link(const struct roce_port *port)
{
	struct rte_eth_link link;

	if (port->probe.soft)
		return;
	for (unsigned int ms = 0; ms < LINK_WAIT_MS; ms += 10) {
		if (rte_eth_link_get_nowait(port->id, &link) != 0 ||
				link.link_status == RTE_ETH_LINK_UP)
			return;
		rte_delay_us_sleep(10000);
	}
	ROCE_LOG(WARNING, "port %s has no link yet", port->probe.name);
}

/* A driver may offer hashes that its device then refuses: frames are forwarded between engines instead. */
static int
configure(const struct roce_port *port, struct plan *plan)
{
	int rc = rte_eth_dev_configure(port->id, port->queues, port->queues, &plan->conf);

	if (rc == 0 || plan->conf.rx_adv_conf.rss_conf.rss_hf == 0)
		return rc;
	plan->conf.rx_adv_conf.rss_conf.rss_hf = 0;
	plan->conf.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
	return rte_eth_dev_configure(port->id, port->queues, port->queues, &plan->conf);
}

void
roce_port_hear_addresses(const struct roce_port *port)
{
	for (uint32_t i = 0; i < port->ip.n; i++) {
		/* Neighbours ask for an IPv6 address at a multicast address made of it. */
		if (!roce_ip_is_v4(&port->ip.at[i].addr))
			rte_eth_allmulticast_enable(port->id);
	}
}

static int
start_once(struct roce_port *port, const struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	struct plan plan;
	int rc = make_plan(port, &plan, errmsg);

	if (rc != 0)
		return rc;
	port->mtu_code = plan.mtu_code;
	port->ip_cksum_offload = (plan.conf.txmode.offloads & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM) != 0;
	snprintf(port->driver, sizeof(port->driver), "%s", plan.info.driver_name);
	rc = configure(port, &plan);
	if (rc != 0)
		return roce_errmsg_set(errmsg, rc == -EBUSY ? -EBUSY : -EINVAL,
				"port %s cannot be configured: %s", port->probe.name,
				strerror(-rc));
	port->events.polls_link = !plan.conf.intr_conf.lsc && !port->probe.soft;
	rc = set_up_queues(port, &plan, errmsg);
	if (rc != 0)
		return rc;
	rc = roce_port_start_device(port, errmsg);
	if (rc != 0)
		return rc;
	port->started = true;
	set_mac(port, args);
	roce_port_hear_addresses(port);
	roce_steer_begin(&port->steer, port->id, port->queues, port->vlan_tci != 0,
			plan.conf.rx_adv_conf.rss_conf.rss_hf);
	roce_rx_interrupt_begin(port);
	roce_memory_plan(port, plan.conf.txmode.offloads);
	return 0;
}

/* Drivers that have no receive interrupts, or not beside others, may say so by refusing them. */
static int
start(struct roce_port *port, const struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	int rc = start_once(port, args, errmsg);

	if (rc == 0 || rc == -ENOMEM || rc == -EBUSY || !port->rx_interrupt.wanted)
		return rc;
	port->rx_interrupt.wanted = false;
	return start_once(port, args, errmsg);
}

int
roce_port_reset(struct roce_port *port, const struct roce_devargs *args, struct roce_errmsg *errmsg)
{
	int rc;

	roce_steer_end(&port->steer);
	roce_rx_interrupt_end(port);
	rte_eth_dev_stop(port->id);
	port->started = false;
	rc = rte_eth_dev_reset(port->id);
	/* Stop and start is the most that a driver without a reset can do. */
	if (rc != 0 && rc != -ENOTSUP)
		return roce_errmsg_set(errmsg, rc, "the driver says %s", strerror(-rc));
	return start(port, args, errmsg);
}

struct roce_port *
roce_port_create(const struct roce_port_config *config)
{
	const struct roce_devargs *args = config->args;
	struct roce_port *port = roce_pool_memory.alloc(NULL, sizeof(*port));

	if (port == NULL)
		return NULL;
	port->args = args;
	port->queues = (uint16_t)args->queues;
	port->vlan_tci = (uint16_t)(args->pcp << ROCE_PCP_SHIFT | args->vlan);
	port->tos = (uint8_t)(args->dscp << 2);
	port->neigh_at = ROCE_NEVER;
	port->ip.n = args->ip.n;
	memcpy(port->ip.at, args->ip.at, sizeof(port->ip.at));
	port->rx_interrupt.epoll = -1;
	rte_spinlock_init(&port->neigh_lock);
	for (uint16_t q = 0; q < port->queues; q++) {
		struct roce_port_queue *queue = &port->queue[q];

		queue->port = port;
		queue->index = q;
		queue->rx_queue = q;
		queue->tx_queue = q;
		roce_fault_injection_init(&queue->fault_injection, args->fault, config->seed, q);
	}
	return port;
}

int
roce_port_open(const struct roce_port_config *config, struct roce_port **out,
		struct roce_errmsg *errmsg)
{
	const struct roce_devargs *args = config->args;
	struct roce_port *port = roce_port_create(config);
	int rc;

	if (port == NULL)
		return roce_errmsg_set(errmsg, -ENOMEM, "no memory for a port");
	rc = roce_port_probe_open(args, &port->probe, errmsg);
	if (rc != 0)
		goto free_port;
	port->id = port->probe.port_id;
	/* A client of net_memif, which has none, would wait for its server once more without. */
	port->rx_interrupt.wanted = args->lcores.n == 0 && !port->probe.waits_for_peer;
	for (uint16_t q = 0; q < port->queues; q++) {
		port->queue[q].port_id = port->id;
		port->queue[q].idle_every = port->probe.idle_tx_ms * roce_port_hz() / 1000;
	}
	/* A memif server has no link until a client comes. */
	port->events.suspended = port->probe.memif != NULL && !port->probe.waits_for_peer;
	rc = start(port, args, errmsg);
	if (rc != 0) {
		roce_port_close(port);
		return rc;
	}
	wait_for_link(port);
	*out = port;
	return 0;

free_port:
	roce_pool_memory.free(NULL, port);
	return rc;
}

/*
 * Frames that a driver kept when it was closed are lost to the pool: the engine is gone, and the kernel's socket. So the pool
 * goes with what is missing.
 */
static void
retire_rx_pool(const struct roce_port *port, struct rte_mempool *pool)
{
	if (port->probe.forgets_frames && !roce_port_probe_is_found(&port->probe))
		rte_mempool_free(pool);
	else
		roce_pool_retire(pool);
}

void
roce_port_close(struct roce_port *port)
{
	if (port == NULL)
		return;
	for (unsigned int q = 0; q < port->queues; q++) {
		struct roce_port_queue *queue = &port->queue[q];

		roce_port_drop_held(queue);
		roce_fault_injection_fini(&queue->fault_injection);
	}
	roce_rx_interrupt_end(port);
	/* The number of a port that was closed under us may be another port's by now. */
	if (port->attached.mode == 0 && !port->events.closed) {
		roce_steer_end(&port->steer);
		roce_port_close_device(port);
	}
	if (port->attached.mode == 0 &&
			(!port->events.closed || !roce_port_probe_is_found(&port->probe)))
		roce_port_probe_close(&port->probe);
	/* A driver that was taken away finds its descriptors in there when it is closed. */
	roce_rx_interrupt_close(port);
	roce_local_close(port->local);
	for (unsigned int q = 0; q < port->queues; q++) {
		if ((port->attached.pools & 1u << q) == 0)
			roce_pool_retire(port->tx_pool[q]);
		retire_rx_pool(port, port->rx_pool[q]);
	}
	roce_port_zcrx_retire(port);
	roce_pool_memory.free(NULL, port);
}
