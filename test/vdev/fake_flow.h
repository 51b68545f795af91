/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_FAKE_FLOW_H
#define TEST_FAKE_FLOW_H

/**
 * @file
 * A device that steers, or refuses to: this program's own rte_flow_validate(), _create() and _destroy() stand in front of
 * DPDK's, and its rte_eth_dev_info_get() and _configure() have a virtual device offer RSS. Rules are kept as they were
 * asked for, and applied to frames that the test describes.
 */

#include <stdbool.h>
#include <stdint.h>

/** The behaviour of the device, and what it has seen. Zero: no RSS, and every rule is refused. */
struct fake_device {
	bool offers_rss;
	bool refuses_rss; /**< when it is configured */
	bool takes_raw;   /**< bytes behind the UDP header */
	bool takes_hash;  /**< a rule that spreads */
	unsigned int raw_room; /**< rules with bytes it has room for; said at creation only; 0: any number */
	bool refuses_v6;
	bool wants_tag; /**< has rules for frames with a VLAN tag only, else for those without */

	unsigned int asked;  /**< calls of rte_flow so far */
	unsigned int raw;    /**< rules that are in place, with bytes */
	unsigned int hash;   /**< and without */
	bool configured_rss; /**< the last rte_eth_dev_configure() wanted it */
	bool stopped_with_rules;
};

extern struct fake_device fake;

#define FAKE_HASHED  (-1) /**< by a rule, over all queues */
#define FAKE_NO_RULE (-2)

/** Where a frame arrives, RoCEv2 to this queue pair. @return the queue; FAKE_*. */
int fake_queue(bool v6, uint32_t dest_qp);

/** How many queues the rule with a hash spreads over; 0: there is none. */
unsigned int fake_spread(bool v6);

#endif
