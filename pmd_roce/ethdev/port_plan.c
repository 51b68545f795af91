/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/port_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_common.h>

/* Descriptors a queue. Large rings push the frames out of the caches; hardware needs some more air. */
#define SOFT_DESCRIPTORS 256
#define HARD_DESCRIPTORS 1024
#define FEW_DESCRIPTORS  256

/* Bytes of the largest frame between its Ethernet header and its payload, rounded up. */
#define MTU_OVERHEAD 104

const char *
roce_port_feature_name(enum roce_port_feature feature)
{
	static const char *const name[ROCE_PORT_FEATURES] = {
		[ROCE_PORT_RX_INTERRUPTS] = "receive interrupts",
		[ROCE_PORT_LINK_INTERRUPTS] = "link interrupts",
		[ROCE_PORT_REMOVAL_INTERRUPTS] = "removal interrupts",
		[ROCE_PORT_RSS] = "receive side scaling",
		[ROCE_PORT_TX_SEGMENTS] = "transmit frames of several segments",
		[ROCE_PORT_VLAN_FILTER] = "a filter of VLANs",
		[ROCE_PORT_RX_SCATTER] = "receive frames of several segments",
		[ROCE_PORT_OUR_DESCRIPTORS] = "the preferred number of descriptors",
		[ROCE_PORT_FEW_DESCRIPTORS] = "256 descriptors",
		[ROCE_PORT_RAISED_MTU] = "a larger MTU",
	};

	return name[feature];
}

/* Ask for a feature that the device offers, unless it is not allowed. @return true: it is asked for. */
static bool
ask(struct roce_port_plan *plan, uint32_t allowed, enum roce_port_feature feature, bool offered)
{
	const uint32_t bit = 1u << feature;

	if (!offered || (allowed & bit) == 0)
		return false;
	plan->features |= bit;
	return true;
}

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

/* The MTU that carries the largest path MTU which `mtu=` allows and the device offers. */
static uint32_t
largest_mtu(const struct roce_devargs *args, const struct rte_eth_dev_info *info)
{
	uint8_t code = most_mtu(args);

	while (code > 1 && !device_takes_mtu(info, roce_mtu_bytes(code) + MTU_OVERHEAD))
		code--;
	return roce_mtu_bytes(code) + MTU_OVERHEAD;
}

/* Path MTU, and the MTU to configure the device with (0: its own). */
static int
plan_mtu(const struct roce_port *port, uint32_t allowed, struct roce_port_plan *plan,
		struct roce_errmsg *errmsg)
{
	const struct roce_port_probe *probe = &port->probe;
	uint32_t mtu = probe->mtu, want;

	if (mtu == 0) {
		/* net_gve begins with more than its network has, and is then refused by ethdev. */
		mtu = RTE_MIN(port->own_mtu, plan->info.max_mtu);
		want = largest_mtu(port->args, &plan->info);
		if (ask(plan, allowed, ROCE_PORT_RAISED_MTU,
				    (probe->may_raise_mtu || port->args->mtu != 0) && want > mtu &&
						    device_takes_mtu(&plan->info, want)))
			mtu = want;
		plan->conf.rxmode.mtu = mtu;
	}
	return roce_port_fit_mtu(port, mtu, &plan->mtu_code, errmsg);
}

/* One buffer holds the largest frame of ours; longer frames of others may be scattered, or it holds them as well. */
static void
plan_buffers(const struct roce_port_probe *probe, uint32_t allowed, struct roce_port_plan *plan)
{
	const uint32_t most = UINT16_MAX - RTE_PKTMBUF_HEADROOM;
	uint32_t data = ROCE_FRAME_LEN_MAX(roce_mtu_bytes(plan->mtu_code));
	uint32_t frame = plan->conf.rxmode.mtu + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN +
			2 * RTE_VLAN_HLEN;
	bool offered = (plan->info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) != 0;

	data = RTE_MAX(data, probe->rx_room);
	data = RTE_MAX(data, plan->info.min_rx_bufsize);
	/* Hardware counts its buffers in kibibytes and rounds down. */
	if (!probe->soft)
		data = RTE_ALIGN_CEIL(data, 1024);
	data = RTE_MIN(data, most);
	if (ask(plan, allowed, ROCE_PORT_RX_SCATTER, offered && frame > data))
		plan->conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
	else if (offered && frame > data)
		data = RTE_MIN(RTE_ALIGN_CEIL(frame, 1024), most);
	plan->room = data + RTE_PKTMBUF_HEADROOM;
}

/*
 * Interrupts of the link and of receive queues do not go together everywhere: net_e1000_em has one vector for both, takes
 * the request and never tells of the link again. So hardware is asked for the latter only, and its link is polled.
 */
static void
plan_interrupts(const struct roce_port *port, uint32_t allowed, struct roce_port_plan *plan)
{
	const uint32_t flags = *plan->info.dev_flags;
	struct rte_intr_conf *intr = &plan->conf.intr_conf;

	intr->rxq = ask(plan, allowed, ROCE_PORT_RX_INTERRUPTS, port->rx_interrupt.wanted);
	intr->lsc = ask(plan, allowed, ROCE_PORT_LINK_INTERRUPTS,
			(flags & RTE_ETH_DEV_INTR_LSC) != 0 && (port->probe.soft || !intr->rxq));
	intr->rmv = ask(plan, allowed, ROCE_PORT_REMOVAL_INTERRUPTS,
			(flags & RTE_ETH_DEV_INTR_RMV) != 0);
}

static void
plan_rss(const struct roce_port *port, uint32_t allowed, struct roce_port_plan *plan)
{
	const uint64_t hash = roce_steer_rss(&plan->info, port->args->queues);

	if (!ask(plan, allowed, ROCE_PORT_RSS, hash != 0))
		return;
	plan->conf.rx_adv_conf.rss_conf.rss_hf = hash;
	plan->conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
}

/*
 * The device makes no IPv4 checksum: it is known from the last frame of that length, and drivers such as net_ixgbe and net_i40e
 * send by their vector paths only when no offload is asked for. Of received frames it validates nothing: their ICRC is
 * validated here, which covers the IPv4 header. But some devices
 * drop every tagged frame whose VLAN they were not told, net_virtio on QEMU and virtual functions for example.
 */
static void
plan_offloads(const struct roce_port *port, uint32_t allowed, struct roce_port_plan *plan)
{
	if (ask(plan, allowed, ROCE_PORT_TX_SEGMENTS,
			    port->args->zero_copy != 0 &&
					    (plan->info.tx_offload_capa &
							    RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0))
		plan->conf.txmode.offloads |= RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	if (ask(plan, allowed, ROCE_PORT_VLAN_FILTER,
			    port->vlan_tci != 0 &&
					    (plan->info.rx_offload_capa &
							    RTE_ETH_RX_OFFLOAD_VLAN_FILTER) != 0))
		plan->conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
}

/* A power of two where the device allows that: some drivers want one and do not say so. */
static uint16_t
even(const struct rte_eth_desc_lim *limit, uint16_t n)
{
	uint16_t power = (uint16_t)rte_align32prevpow2(n);

	return power < limit->nb_min || (limit->nb_align != 0 && power % limit->nb_align != 0)
			? n
			: power;
}

static void
plan_descriptors(const struct roce_port *port, uint32_t allowed, struct roce_port_plan *plan)
{
	uint16_t wanted = port->probe.soft ? SOFT_DESCRIPTORS : HARD_DESCRIPTORS;
	uint16_t rx, tx;

	if (!ask(plan, allowed, ROCE_PORT_OUR_DESCRIPTORS, wanted > FEW_DESCRIPTORS))
		wanted = FEW_DESCRIPTORS;
	if (wanted == FEW_DESCRIPTORS && !ask(plan, allowed, ROCE_PORT_FEW_DESCRIPTORS, true))
		return;
	rx = tx = wanted;
	if (rte_eth_dev_adjust_nb_rx_tx_desc(port->probe.port_id, &rx, &tx) != 0)
		return;
	plan->rx_desc = even(&plan->info.rx_desc_lim, rx);
	plan->tx_desc = even(&plan->info.tx_desc_lim, tx);
}

int
roce_port_plan_make(const struct roce_port *port, uint32_t allowed, struct roce_port_plan *plan,
		struct roce_errmsg *errmsg)
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
	rc = plan_mtu(port, allowed, plan, errmsg);
	if (rc != 0)
		return rc;
	plan_interrupts(port, allowed, plan);
	plan_rss(port, allowed, plan);
	plan_offloads(port, allowed, plan);
	plan_buffers(probe, allowed, plan);
	plan_descriptors(port, allowed, plan);
	return 0;
}
