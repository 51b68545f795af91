/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_OBSERVE_TRACE_H
#define ROCE_OBSERVE_TRACE_H

/**
 * @file
 * Rare events, reported to DPDK's tracing and to its logs (log.h): --trace=roce.* and --log-level=roce.*:debug
 * among the EAL's arguments switch them on.
 *
 * A trace point that is off costs a look at a word. Any thread.
 */

#include <stdint.h>

#include "cm/cm.h"
#include "engine/engine.h"

/** roce.device.open and roce.device.close; @p port here and below is the name of the device's port, @p mtu in bytes. */
void roce_trace_open(const char *port, const char *driver, uint32_t mtu, uint16_t engines);
void roce_trace_close(const char *port);

/** Events of a port. */
enum roce_trace_port_event {
	ROCE_TRACE_LINK_UP,
	ROCE_TRACE_LINK_DOWN,
	ROCE_TRACE_RESET,        /**< asked for by the driver, and it went on */
	ROCE_TRACE_RESET_FAILED, /**< the port is gone with it */
	ROCE_TRACE_GONE,         /**< removed, or closed by somebody */
};

/** roce.port: an event of the device's port, when it is delivered to the users. */
void roce_trace_port(const char *port, enum roce_trace_port_event what);

/** roce.notice: an async event of a queue pair, a completion queue or a shared receive queue. */
void roce_trace_async_event(
		const char *port, enum roce_engine_async kind, const void *owner, int status);

/** roce.cm: what happens to a connection. */
void roce_trace_cm(const char *port, const struct roce_cm_event *event);

/**
 * Write what was traced so far to the EAL's trace folder, over what was written before; nothing when tracing is off.
 * The EAL does it in rte_eal_cleanup(), which nobody calls in a process whose EAL we have started.
 */
void roce_trace_save(void);

#endif
