/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_DEVICE_USER_H
#define ROCE_DEVICE_USER_H

/**
 * @file
 * Users of a device: each has a context for its objects and hears of its own,
 * however many share the device. This is the seam to the layers above; programs
 * have roce/context.h.
 */

#include <stdbool.h>
#include <sys/queue.h>

#include "cm/cm.h"
#include "engine/engine.h"
#include "roce/device.h"

/** Events of the port; docs/embedding.md, "Life of a device". */
enum roce_port_event {
	ROCE_PORT_ACTIVE = 1, /**< the link is up again */
	ROCE_PORT_ERR,        /**< the link is down; what is lost is sent again until retries end */
	ROCE_DEVICE_FATAL, /**< the port was taken away: all connections are broken, nothing moves again */
};

/** A user; it stays the caller's, and is in place from join to leave. */
struct roce_device_user {
	struct roce_context context; /**< but for its async_queue filled by join, as @c device */
	struct roce_device *device;
	roce_notify_fn notify;       /**< of what hangs on the context */
	roce_cm_notify_fn cm_notify; /**< of connections and listeners made for it */
	/** As roce_wake_fn, without an argument to speak of: all users that want it must want the same function. */
	roce_wake_fn wake;
	/**
	 * Of the port; NULL: of no interest. Under the locks of all engines: as roce_notify_fn, and no user may join
	 * or leave from inside.
	 */
	void (*port_notify)(void *arg, enum roce_port_event what);
	void *arg;        /**< handed to all but wake() */
	const char *name; /**< what telemetry calls it, in place like the user; NULL: it has none */
	LIST_ENTRY(roce_device_user) link; /**< the device's */
};

/** Become a user. All calls of the device's domain and connection manager are open to it. */
void roce_device_join(struct roce_device *device, struct roce_device_user *user);

/** Be none any more: port_notify() is not called behind this. All objects of the context are gone. No lock is held. */
void roce_device_leave(struct roce_device *device, struct roce_device_user *user);

/**
 * Take a service id of the connection manager before listening to it, and give it back after that: on the shared adapter
 * it is one for all processes of the host. As often as somebody likes. No engine's lock is held.
 * @return 0; -EADDRINUSE another process has it; -ETIMEDOUT roced does not answer; -ENOMEM.
 */
int roce_device_take_service(struct roce_device *device, uint64_t service_id);
void roce_device_drop_service(struct roce_device *device, uint64_t service_id);

/** Has its port a link now? */
bool roce_device_has_link(const struct roce_device *device);

/** Does the process have its memory on hugepages? */
bool roce_device_has_hugepages(const struct roce_device *device);

/** Was it opened with progress=manual: the consumer's own calls poll it, and nothing else does. */
bool roce_device_is_manual(const struct roce_device *device);

/**
 * Receive what lies at the queues of all engines but engine 0, and what engines forwarded to them. For a user who learns on
 * engine 0 that the peer of a queue pair has left: its last acknowledgements lie there, and came before. Of a program that
 * hands frames over, only those that it has handed over. The lock of engine 0 is held, and no other engine's.
 */
void roce_device_receive(struct roce_device *device);

/**
 * The path of a context to an address, and from @p local unless that is all zero. Locked: engine 0.
 * @return 0; -EAGAIN the address was asked for: again when the device was polled; -EHOSTUNREACH, -ENETUNREACH; -EINVAL
 *   @p local is none of the context's, or not one that the other end could answer to.
 */
int roce_device_resolve(struct roce_device *device, const struct roce_context *context,
		const struct roce_ip *dst, const struct roce_ip *local, struct roce_path *path);

struct roce_domain *roce_device_domain(struct roce_device *device);
struct roce_cm *roce_device_cm(struct roce_device *device);

#endif
