/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_NEIGHBOUR_UNREACHABLE_H
#define ROCE_NEIGHBOUR_UNREACHABLE_H

/**
 * @file
 * Why a connection has no route to its peer: DAT and verbs have one event for all causes, the log has the sentence.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "neighbour/subnet.h"

/** The end that looked for a route: addresses, gateway, port and VLAN. */
struct roce_unreachable {
	const struct roce_subnet *own; /**< its addresses */
	unsigned int n;
	struct roce_ip gw;  /**< zero: none */
	const char *port;   /**< name */
	uint16_t vlan;      /**< 0: untagged */
	bool gone;          /**< the port was taken away */
	bool program_knows; /**< an attached device: the program resolves */
	bool no_uplink;     /**< the shared adapter of a host without an uplink */
};

/** The sentence: which address, why, and what to do. @return @p text. */
const char *roce_unreachable_words(const struct roce_unreachable *u, const struct roce_ip *dst,
		char *text, size_t len);

/** The address that was logged last. */
struct roce_unreachable_logged {
	struct roce_ip dst;
	uint64_t until; /**< the time from which on it is logged again */
};

/** Log the sentence, unless the same address was logged a moment ago. @p hz: ticks per second of @p now. */
void roce_unreachable_log(const struct roce_unreachable *u, const struct roce_ip *dst,
		struct roce_unreachable_logged *logged, uint64_t now, uint64_t hz);

#endif
