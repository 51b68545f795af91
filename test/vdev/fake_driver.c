/* SPDX-License-Identifier: BSD-3-Clause */

#include "fake_driver.h"

#include <errno.h>
#include <string.h>

#include <rte_bus.h>
#include <rte_common.h>
#include <rte_ethdev.h>

#include "ethdev/port_plan.h"

#define PORT    "net_ring_loop0"
#define OWN_MTU 1500

struct fake_driver fake_driver;

/* ethdev's own, and what stands in their place. */
#define REPLACED(name, ...)             \
	int __real_##name(__VA_ARGS__); \
	int __wrap_##name(__VA_ARGS__)
REPLACED(rte_eth_dev_info_get, uint16_t port, struct rte_eth_dev_info *info);
REPLACED(rte_eth_dev_get_mtu, uint16_t port, uint16_t *mtu);
REPLACED(rte_eth_dev_configure, uint16_t port, uint16_t rx, uint16_t tx,
		const struct rte_eth_conf *conf);
REPLACED(rte_eth_rx_queue_setup, uint16_t port, uint16_t queue, uint16_t desc, unsigned int socket,
		const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
REPLACED(rte_eth_tx_queue_setup, uint16_t port, uint16_t queue, uint16_t desc, unsigned int socket,
		const struct rte_eth_txconf *conf);
REPLACED(rte_eth_dev_adjust_nb_rx_tx_desc, uint16_t port, uint16_t *rx, uint16_t *tx);
REPLACED(rte_eth_dev_set_mtu, uint16_t port, uint16_t mtu);
REPLACED(rte_eth_dev_start, uint16_t port);
REPLACED(rte_eth_dev_vlan_filter, uint16_t port, uint16_t vlan, int on);
const char *__wrap_rte_bus_name(const struct rte_bus *bus);

static bool
is_fake(uint16_t port)
{
	uint16_t own;

	return rte_eth_dev_get_port_by_name(PORT, &own) == 0 && own == port;
}

static void
see(enum roce_port_feature feature, bool asked)
{
	if (asked)
		fake_driver.asked |= 1u << feature;
}

static int
refuse(enum fake_call call)
{
	for (size_t i = 0; i < RTE_DIM(fake_driver.refusal); i++) {
		const struct fake_refusal *r = &fake_driver.refusal[i];

		if (r->rc != 0 && r->call == call &&
				(fake_driver.asked & r->features) == r->features)
			return r->rc;
	}
	return 0;
}

const char *
__wrap_rte_bus_name(const struct rte_bus *bus)
{
	(void)bus;
	return fake_driver.hard ? "pci" : "vdev";
}

int
__wrap_rte_eth_dev_get_mtu(uint16_t port, uint16_t *mtu)
{
	if (!is_fake(port))
		return __real_rte_eth_dev_get_mtu(port, mtu);
	*mtu = fake_driver.configured_mtu != 0 ? fake_driver.configured_mtu : OWN_MTU;
	return 0;
}

int
__wrap_rte_eth_dev_info_get(uint16_t port, struct rte_eth_dev_info *info)
{
	static const uint32_t flags = RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_INTR_RMV;
	int rc = __real_rte_eth_dev_info_get(port, info);

	if (rc != 0 || !is_fake(port))
		return rc;
	info->dev_flags = &flags;
	info->rx_offload_capa |= RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_CHECKSUM |
			RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
	info->tx_offload_capa |= RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	info->flow_type_rss_offloads |= RTE_ETH_RSS_UDP;
	if (fake_driver.mtu_most != 0)
		info->max_mtu = fake_driver.mtu_most;
	return 0;
}

int
__wrap_rte_eth_dev_adjust_nb_rx_tx_desc(uint16_t port, uint16_t *rx, uint16_t *tx)
{
	int rc = __real_rte_eth_dev_adjust_nb_rx_tx_desc(port, rx, tx);

	if (is_fake(port) && fake_driver.desc_most != 0) {
		*rx = RTE_MIN(*rx, fake_driver.desc_most);
		*tx = RTE_MIN(*tx, fake_driver.desc_most);
	}
	return rc;
}

int
__wrap_rte_eth_dev_configure(
		uint16_t port, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf)
{
	struct rte_eth_conf plain = *conf;
	int rc;

	if (!is_fake(port))
		return __real_rte_eth_dev_configure(port, rx, tx, conf);
	fake_driver.calls++;
	fake_driver.asked = 0;
	fake_driver.vlan = -1;
	fake_driver.mtu = 0;
	fake_driver.rx_asked = conf->rxmode.offloads;
	fake_driver.tx_asked = conf->txmode.offloads;
	fake_driver.frame = conf->rxmode.mtu + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
	see(ROCE_PORT_RX_INTERRUPTS, conf->intr_conf.rxq);
	see(ROCE_PORT_LINK_INTERRUPTS, conf->intr_conf.lsc);
	see(ROCE_PORT_REMOVAL_INTERRUPTS, conf->intr_conf.rmv);
	see(ROCE_PORT_RSS, conf->rx_adv_conf.rss_conf.rss_hf != 0);
	see(ROCE_PORT_TX_SEGMENTS, (conf->txmode.offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0);
	see(ROCE_PORT_RX_SCATTER, (conf->rxmode.offloads & RTE_ETH_RX_OFFLOAD_SCATTER) != 0);
	see(ROCE_PORT_VLAN_FILTER, (conf->rxmode.offloads & RTE_ETH_RX_OFFLOAD_VLAN_FILTER) != 0);
	see(ROCE_PORT_RAISED_MTU, conf->rxmode.mtu > OWN_MTU);
	rc = refuse(FAKE_CONFIGURE);
	if (rc != 0)
		return rc;
	/* As ethdev remembers it, whatever the driver says later. */
	fake_driver.configured_mtu = (uint16_t)conf->rxmode.mtu;
	/* net_ring has none of this. */
	memset(&plain.intr_conf, 0, sizeof(plain.intr_conf));
	memset(&plain.rx_adv_conf, 0, sizeof(plain.rx_adv_conf));
	plain.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
	plain.rxmode.offloads = 0;
	plain.txmode.offloads = 0;
	return __real_rte_eth_dev_configure(port, rx, tx, &plain);
}

/* net_ring has no such call, as some drivers. */
int
__wrap_rte_eth_dev_set_mtu(uint16_t port, uint16_t mtu)
{
	int rc = is_fake(port) ? refuse(FAKE_SET_MTU) : 0;

	if (rc != 0)
		return rc;
	if (!is_fake(port))
		return __real_rte_eth_dev_set_mtu(port, mtu);
	fake_driver.mtu = mtu;
	return -ENOTSUP;
}

int
__wrap_rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t desc, unsigned int socket,
		const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct rte_eth_rxconf plain = *conf;
	int rc = 0;

	if (is_fake(port)) {
		fake_driver.rx_desc = desc;
		fake_driver.rx_room = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
		see(ROCE_PORT_OUR_DESCRIPTORS, desc > 256);
		see(ROCE_PORT_FEW_DESCRIPTORS, desc == 256);
		rc = refuse(FAKE_RX_QUEUE);
		plain.offloads = 0;
	}
	if (rc != 0)
		return rc;
	return __real_rte_eth_rx_queue_setup(port, queue, desc, socket, &plain, pool);
}

int
__wrap_rte_eth_tx_queue_setup(uint16_t port, uint16_t queue, uint16_t desc, unsigned int socket,
		const struct rte_eth_txconf *conf)
{
	struct rte_eth_txconf plain = *conf;
	int rc = is_fake(port) ? refuse(FAKE_TX_QUEUE) : 0;

	if (rc != 0)
		return rc;
	if (is_fake(port))
		plain.offloads = 0;
	return __real_rte_eth_tx_queue_setup(port, queue, desc, socket, &plain);
}

int
__wrap_rte_eth_dev_start(uint16_t port)
{
	int rc = is_fake(port) ? refuse(FAKE_START) : 0;

	return rc != 0 ? rc : __real_rte_eth_dev_start(port);
}

int
__wrap_rte_eth_dev_vlan_filter(uint16_t port, uint16_t vlan, int on)
{
	if (!is_fake(port))
		return __real_rte_eth_dev_vlan_filter(port, vlan, on);
	if (on)
		fake_driver.vlan = vlan;
	return 0;
}
