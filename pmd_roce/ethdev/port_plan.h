/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_PORT_PLAN_H
#define ROCE_ETHDEV_PORT_PLAN_H

/**
 * @file
 * The configuration of a port of our own, made before the device is touched.
 */

#include <stdint.h>

#include <rte_ethdev.h>

#include "ethdev/port.h"
#include "observe/errmsg.h"

/** Features that a port is asked for where its driver offers them, and works without. Those that matter least come first. */
enum roce_port_feature {
	ROCE_PORT_RX_INTERRUPTS,
	ROCE_PORT_LINK_INTERRUPTS,
	ROCE_PORT_REMOVAL_INTERRUPTS,
	ROCE_PORT_RSS,
	ROCE_PORT_TX_SEGMENTS, /**< frames of several segments, for zero_copy= */
	ROCE_PORT_VLAN_FILTER, /**< that lets the VLAN of vlan= pass, or VID 0 with pcp= alone */
	ROCE_PORT_RX_SCATTER,  /**< frames larger than a receive buffer */
	ROCE_PORT_OUR_DESCRIPTORS, /**< as many descriptors as suit the provider: else 256, then those of the driver's choice */
	ROCE_PORT_FEW_DESCRIPTORS,
	ROCE_PORT_RAISED_MTU, /**< larger than what the device has already */
	ROCE_PORT_FEATURES,
};

#define ROCE_PORT_FEATURES_ALL ((1u << ROCE_PORT_FEATURES) - 1)

/** How log lines and pages call a feature. */
const char *roce_port_feature_name(enum roce_port_feature feature);

struct roce_port_plan {
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;
	uint32_t room;             /**< bytes of one receive buffer, headroom included */
	uint16_t rx_desc, tx_desc; /**< of a queue; 0: the driver chooses */
	uint32_t features;         /**< bit per feature: those that the device is asked for */
	uint8_t mtu_code;
};

/**
 * Make the plan of a port that was probed. The device stays as it is.
 *
 * @param allowed bit per feature: others are not asked for.
 * @return 0; -ENODEV the device does not answer; -EINVAL `mtu=` or `queues=` does not fit it.
 */
int roce_port_plan_make(const struct roce_port *port, uint32_t allowed, struct roce_port_plan *plan,
		struct roce_errmsg *errmsg);

/** Does the plan ask for the feature? */
static inline bool
roce_port_plan_has(const struct roce_port_plan *plan, enum roce_port_feature feature)
{
	return (plan->features & 1u << feature) != 0;
}

/**
 * The path MTU of a port that carries @p mtu bytes behind the Ethernet header.
 * @return 0; -EINVAL too few for any, or for what `mtu=` wants.
 */
int roce_port_fit_mtu(const struct roce_port *port, uint32_t mtu, uint8_t *code,
		struct roce_errmsg *errmsg);

#endif
