/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_PORT_LIFE_H
#define ROCE_PORT_LIFE_H

/**
 * @file
 * What becomes of a port under way: its link goes and comes, it wants a reset, it is taken away.
 *
 * ethdev tells of it on a thread of its own, where it is only noted; the next turn of the device acts, with the locks
 * of all engines. One rule is at once: when ethdev has told that a port is taken away, nobody touches it any more.
 */

#include <stdbool.h>
#include <stdint.h>

struct roce_device;

struct roce_port_events {
	uint32_t pending; /**< what was noted and not acted on; atomic */
	bool gone;        /**< no burst any more, never again; atomic */
	bool closed;      /**< not even the port's number is ours any more; atomic */
	bool buried; /**< users were told that it is gone; written under the locks of all engines, atomic */
	bool up;                    /**< the link, as users were told; locks of all engines */
	bool resetting;             /**< by us, with the locks of all engines; atomic */
	struct roce_device *device; /**< NULL: nobody is to be told */
};

/** Listen to the port of a device that is complete. @return 0; -ENOMEM. */
int roce_port_events_begin(struct roce_device *device);

/** Listen no more. Nobody turns the device, and no upcall runs when this returns. A device never begun is allowed. */
void roce_port_events_end(struct roce_device *device);

/** Act on what was noted. Any thread that holds no engine's lock. */
void roce_port_events_act(struct roce_port_events *life);

static inline bool
roce_port_events_is_pending(const struct roce_port_events *life)
{
	return __atomic_load_n(&life->pending, __ATOMIC_RELAXED) != 0;
}

/** Under an engine's lock it stays false until that is dropped, unless the port was taken away without notice. */
static inline bool
roce_port_events_is_gone(const struct roce_port_events *life)
{
	return __atomic_load_n(&life->gone, __ATOMIC_RELAXED);
}

#endif
