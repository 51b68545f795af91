/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_FAKE_DRIVER_H
#define ROCE_TEST_FAKE_DRIVER_H

/**
 * @file
 * A driver that offers every feature of port_plan.h and then refuses some of them, in any call where DPDK lets a driver
 * refuse. Behind it stands the port of loop0, so frames go to loop1 and back. The linker puts its functions in the place
 * of ethdev's (meson.build).
 */

#include <stdbool.h>
#include <stdint.h>

enum fake_call {
	FAKE_CONFIGURE,
	FAKE_SET_MTU,
	FAKE_RX_QUEUE,
	FAKE_TX_QUEUE,
	FAKE_START,
	FAKE_CALLS,
};

/** A refusal: the driver was asked, by that call at latest, for all of these features. */
struct fake_refusal {
	enum fake_call call;
	uint32_t features; /**< bit per enum roce_port_feature; 0: whatever is asked for */
	int rc;            /**< 0: nothing is refused */
};

struct fake_driver {
	bool hard;          /**< on a PCI bus */
	uint16_t mtu_most;  /**< that it says it takes; 0: any */
	uint16_t desc_most; /**< descriptors of a queue that it says it takes; 0: any number */
	struct fake_refusal refusal[2];
	/* Seen. */
	uint32_t asked;              /**< features, since the last rte_eth_dev_configure() */
	uint64_t rx_asked, tx_asked; /**< offloads then */
	uint16_t rx_desc;            /**< of the last queue; 0: it chooses */
	uint16_t configured_mtu; /**< of the last rte_eth_dev_configure() that passed; 0: none */
	uint16_t mtu;            /**< that it was told by rte_eth_dev_set_mtu(); 0: none */
	uint32_t frame;          /**< the largest of the MTU that was asked for, bytes */
	uint32_t rx_room;        /**< of a receive buffer, bytes */
	int vlan;                /**< that it was told to let pass; -1: none */
	unsigned int calls;      /**< of rte_eth_dev_configure() */
};

extern struct fake_driver fake_driver;

#endif
