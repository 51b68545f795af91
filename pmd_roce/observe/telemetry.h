/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_OBSERVE_TELEMETRY_H
#define ROCE_OBSERVE_TELEMETRY_H

/**
 * @file
 * Telemetry commands of DPDK: /roce/ports, /roce/stats and the others.
 *
 * Logs and traces lie below the devices that write them, and telemetry lies beside these. So its commands know no
 * device: a table of functions, which the owner of the devices has, yields what is shown of each.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include "cm/cm.h"
#include "engine/engine.h"
#include "wire/frame.h"

struct roce_device;

/** A device for the time of one answer. */
struct roce_telemetry_device {
	const struct roce_device *device; /**< for counter() */
	const char *port;                 /**< its name */
	const char *driver;
	struct roce_domain *domain;
	struct roce_cm *cm;
	unsigned int engines;
	uint32_t mtu;      /**< of paths, bytes */
	struct roce_ip ip; /**< the first of its addresses */
	uint32_t prefix;   /**< of that */
	struct rte_ether_addr mac;
	bool serviced;             /**< its consumers need not poll it */
	bool link;                 /**< it has a link now */
	const char *steering_ipv4; /**< the rule by which frames come on queues; NULL: left out */
	const char *steering_ipv6;
	uint32_t process; /**< of a port that processes share: the number of this one; 0: of no such port */
	uint32_t channels;        /**< to other processes, */
	uint32_t channels_polled; /**< of which so many are polled at each poll; the others are armed */
};

/** A channel to another process of the host. */
struct roce_telemetry_channel {
	uint32_t process;  /**< number of the peer */
	const char *state; /**< "polled", "armed", "stalled", "broken" */
	uint64_t rx_frames;
	uint64_t tx_frames;
};

/** Questions that the commands ask. */
struct roce_telemetry_source {
	/** Call @p fn for every open device, in the order of opening; none is opened or closed meanwhile. */
	void (*each)(void (*fn)(const struct roce_telemetry_device *device, void *arg), void *arg);
	/** Call @p fn for every user of a device that has a name, with its first address, under a lock. */
	void (*each_user)(const struct roce_device *device,
			void (*fn)(void *arg, const char *name, const struct roce_ip *ip),
			void *arg);
	/** The channels to the processes @p first and above, at most @p n, by their numbers. @return how many. */
	unsigned int (*channels)(const struct roce_device *device, uint32_t first,
			struct roce_telemetry_channel *channel, unsigned int n);
	/** As roce_device_counter(). */
	bool (*counter)(const struct roce_device *device, unsigned int index, const char **name,
			uint64_t *value);
	/** The meaning of the counter with that index. @return false: there is none. */
	bool (*meaning)(unsigned int index, const char **name, const char **unit,
			const char **meaning);
};

/** Register the telemetry commands, once in a process; @p source lives as long as that. */
void roce_telemetry_setup(const struct roce_telemetry_source *source);

#endif
