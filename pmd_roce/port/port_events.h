/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_PORT_PORT_EVENTS_H
#define ROCE_PORT_PORT_EVENTS_H

/**
 * @file
 * Port events: the link goes and comes, the port wants a reset, the port is taken away.
 *
 * ethdev tells of it on a thread of its own, where it only becomes pending; the next poll of the device acts, with the locks
 * of all engines. One rule is at once: when ethdev has told that a port is taken away, nobody touches it any more. So
 * has the bus: vfio tells so that the kernel wants a device back.
 */

#include <stdbool.h>
#include <stdint.h>

struct roce_device;

struct roce_port_events {
	uint32_t pending; /**< events that were not acted on; atomic */
	bool gone;        /**< no burst any more, never again; atomic */
	bool quiet;       /**< no burst for now: it is gone, or net_memif has no peer; atomic */
	bool closed;      /**< not even the port's number is ours any more; atomic */
	bool buried; /**< DEVICE_FATAL was delivered to the users; written under the locks of all engines, atomic */
	bool up;           /**< the link, as delivered to the users; locks of all engines */
	bool polls_link;   /**< no interrupt tells of the link: it is looked at now and then */
	bool resetting;    /**< by us, with the locks of all engines; atomic */
	char bus_name[64]; /**< of the device on its bus; empty: it has none */
	struct roce_device *device; /**< NULL: it has no users */
};

/** Listen to the port of a device that is complete. @return 0; -ENOMEM. */
int roce_port_events_begin(struct roce_device *device);

/** Listen no more. No thread polls the device, and no upcall runs when this returns. A device never begun is allowed. */
void roce_port_events_end(struct roce_device *device);

/** Act on pending events. Any thread that holds no engine's lock. */
void roce_port_events_act(struct roce_port_events *events);

static inline bool
roce_port_events_is_pending(const struct roce_port_events *events)
{
	return __atomic_load_n(&events->pending, __ATOMIC_RELAXED) != 0;
}

/** Under an engine's lock it stays false until that is dropped, unless the port was taken away without notice. */
static inline bool
roce_port_events_is_gone(const struct roce_port_events *events)
{
	return __atomic_load_n(&events->gone, __ATOMIC_RELAXED);
}

/** Under an engine's lock it stays false until that is dropped, as above. */
static inline bool
roce_port_events_is_quiet(const struct roce_port_events *events)
{
	return __atomic_load_n(&events->quiet, __ATOMIC_RELAXED);
}

#endif
