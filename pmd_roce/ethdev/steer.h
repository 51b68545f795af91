/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_STEER_H
#define ROCE_ETHDEV_STEER_H

/**
 * @file
 * Bringing RoCEv2 frames to their engines by the device, where it can.
 *
 * Best is a rule for each engine that looks at the bits of the destination
 * queue pair number which name it; next a rule that spreads UDP port 4791 by
 * its hash, or the hash that the port was configured with: then the frames of
 * a connection come on one queue, be it the right one or not.
 *
 * Correctness never depends on it: a frame that reaches the wrong engine is
 * forwarded. So whatever the device refuses is let be, without a word.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_flow.h>

#include "engine/engine.h"

/** The rule by which a frame arrives on a queue. */
enum roce_steer_by {
	ROCE_STEER_BY_NOTHING = 0, /**< that we know of */
	ROCE_STEER_BY_HASH,        /**< addresses and UDP ports */
	ROCE_STEER_BY_QP,          /**< the engine of the queue pair */
};

/** The rules of a port. Zero: it has none. */
struct roce_steer {
	enum roce_steer_by v4, v6;
	uint16_t port_id;
	bool tagged; /**< frames of ours have a VLAN tag */
	unsigned int rules;
	struct rte_flow *rule[2 * ROCE_ENGINES_MAX];
};

/** RSS hash types to configure for @p queues queues, of those the device offers; 0: no RSS. */
uint64_t roce_steer_rss(const struct rte_eth_dev_info *info, unsigned int queues);

/**
 * Ask the device to steer UDP port 4791, and nothing else. The port is started; queue i is engine i's.
 *
 * @param tagged  frames have a VLAN tag: what devices think of tags that a rule does not name differs.
 * @param rss     what was configured of roce_steer_rss(), as the device took it.
 */
void roce_steer_begin(struct roce_steer *steer, uint16_t port_id, unsigned int queues, bool tagged,
		uint64_t rss);

/** Take the rules back. The port is still started, or gone. */
void roce_steer_end(struct roce_steer *steer);

/** "nothing", "hash", "queue pair": as telemetry says it. */
const char *roce_steer_name(enum roce_steer_by by);

#endif
