/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_PORT_DEVICE_H
#define ROCE_PORT_DEVICE_H

/**
 * @file
 * What stands behind a `struct roce_device`, for the files of this folder.
 */

#include <sys/queue.h>

#include <rte_spinlock.h>

#include "cm/cm.h"
#include "engine/engine.h"
#include "port/devargs.h"
#include "port/port.h"
#include "port/user.h"
#include "roce/device.h"

struct roce_device {
	struct roce_device *next;
	struct roce_devargs args;
	roce_wake_fn wake; /**< of the users that have one; NULL: none has yet; atomic */
	struct roce_port *port;
	struct roce_domain *domain;
	struct roce_cm *cm;
	rte_spinlock_t users_lock; /**< of the list; inside an engine's lock */
	LIST_HEAD(, roce_device_user) users;
	unsigned int refs;
	unsigned int turn; /**< where roce_device_poll() goes on; a hint, so it may be lost */
};

/**
 * Make a device of what a program lends and put it among the others. The EAL runs.
 * @return as roce_device_attach().
 */
int roce_device_lend(const struct roce_devargs *args, const struct roce_attach_config *lent,
		struct roce_device **out, struct roce_why *why);

/**
 * May somebody who says @p args join a device? He says the same, all of it, or of one that was attached what he likes.
 * @return 0; -EINVAL a key is missing; -EBUSY one is another.
 */
int roce_device_check_joiner(const struct roce_device *device, const struct roce_devargs *args,
		struct roce_why *why);

/** One queue has one engine, of whichever device from @p devices on. @return 0; -EBUSY. */
int roce_device_check_queues(const struct roce_device *devices,
		const struct roce_attach_config *lent, struct roce_why *why);

/** As roce_wake_fn and roce_cm_notify_fn, for the engines and the connection manager; @p arg of the first: the device. */
void roce_device_wake_users(void *arg);
int roce_device_tell_cm_event(void *arg, const struct roce_cm_event *event);

/** Call @p fn for every open device, in the order of opening; none is opened or closed meanwhile. */
void roce_device_each(void (*fn)(struct roce_device *device, void *arg), void *arg);

/** What the counter of roce_device_counter() with that index means. @return false: there is none. */
bool roce_counter_meaning(
		unsigned int index, const char **name, const char **unit, const char **meaning);

/** Register the telemetry commands, once in a process. */
void roce_telemetry_setup(void);

#endif
