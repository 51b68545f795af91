/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_PORT_EVENTS_H
#define ROCE_ETHDEV_PORT_EVENTS_H

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
struct roce_memif_notify;
struct roce_port;

/** Pending events. */
#define ROCE_PORT_PENDING_LINK  1u
#define ROCE_PORT_PENDING_RESET 2u
#define ROCE_PORT_PENDING_GONE  4u

struct roce_port_events {
	uint32_t pending; /**< events that were not acted on; atomic */
	bool gone;        /**< no burst any more, never again; atomic */
	bool suspended;   /**< no burst for now: it is gone, or net_memif has no peer; atomic */
	bool closed;      /**< not even the port's number is ours any more; atomic */
	bool buried; /**< DEVICE_FATAL was delivered to the users; written under the locks of all engines, atomic */
	bool up;           /**< the link, as delivered to the users; locks of all engines */
	bool polls_link;   /**< no interrupt tells of the link: it is looked at now and then */
	bool resetting;    /**< by us, with the locks of all engines; atomic */
	char bus_name[64]; /**< of the device on its bus; empty: it has none */
	struct roce_device *device; /**< the one that acts, which lies above; NULL: none */
};

/**
 * Listen to the port of a device that is complete.
 * @param memif what net_memif's peers are told to; its argument is the device.
 * @return 0; -ENOMEM.
 */
int roce_port_events_begin(struct roce_port *port, struct roce_device *device,
		const struct roce_memif_notify *memif);

/** Listen no more. No thread polls the port, and no upcall runs when this returns. A port never begun is allowed. */
void roce_port_events_end(struct roce_port *port);

static inline void
roce_port_events_set_pending(struct roce_port_events *events, uint32_t what)
{
	__atomic_fetch_or(&events->pending, what, __ATOMIC_RELEASE);
}

static inline void
roce_port_events_set_gone(struct roce_port_events *events)
{
	__atomic_store_n(&events->gone, true, __ATOMIC_RELEASE);
	__atomic_store_n(&events->suspended, true, __ATOMIC_RELEASE);
}

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
roce_port_events_is_suspended(const struct roce_port_events *events)
{
	return __atomic_load_n(&events->suspended, __ATOMIC_RELAXED);
}

#endif
