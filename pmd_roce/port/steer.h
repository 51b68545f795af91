/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_PORT_STEER_H
#define ROCE_PORT_STEER_H

/**
 * @file
 * Spreading RoCEv2 over the queues of a port by the device, where it can.
 *
 * Correctness never depends on it: a frame that reaches the wrong engine is
 * handed over. So whatever the device refuses is let be, without a word.
 */

#include <stdint.h>

#include <rte_ethdev.h>

/** RSS hash types to configure for @p queues queues, of those the device offers; 0: no RSS. */
uint64_t roce_steer_rss(const struct rte_eth_dev_info *info, unsigned int queues);

/**
 * Ask the device to spread UDP port 4791, and nothing else, over the queues. The port is started.
 * @return how many rules it took (0..2).
 */
unsigned int roce_steer_flows(uint16_t port_id, unsigned int queues, uint64_t rss);

#endif
