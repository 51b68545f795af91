/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_DEVICE_DEVICE_H
#define ROCE_DEVICE_DEVICE_H

/**
 * @file
 * The inside of a `struct roce_device`, for the files of this folder.
 */

#include <sys/queue.h>

#include <rte_spinlock.h>

#include "cm/cm.h"
#include "device/user.h"
#include "engine/engine.h"
#include "ethdev/address_claim.h"
#include "ethdev/devargs.h"
#include "ethdev/fork.h"
#include "ethdev/port.h"
#include "observe/telemetry.h"
#include "roce/device.h"

/**
 * The result of an open. The first of a port makes the port, its engines and its connection manager, and all users are on
 * its list, whichever device they joined. An open of the port with other addresses yields a device of its own, with those
 * and with the same port behind it: a share. It is in no list but that of the first.
 */
struct roce_device {
	struct roce_device *next;        /**< of the first ones */
	struct roce_device *first;       /**< of the port; itself, if it is that */
	LIST_HEAD(, roce_device) shares; /**< of the first; devices_lock */
	LIST_ENTRY(roce_device) share;   /**< of a share */
	struct roce_devargs args;        /**< of a share: ip differs from the first's */
	struct roce_address_claim claim; /**< of the addresses of args */
	roce_wake_fn wake; /**< of the users that have one; NULL: none has yet; atomic */
	struct roce_port *port;
	struct roce_domain *domain;
	struct roce_cm *cm;
	rte_spinlock_t users_lock; /**< of the list; inside an engine's lock */
	LIST_HEAD(, roce_device_user) users;
	unsigned int refs;     /**< of the first: opens of the port, shares among them */
	struct roce_fork fork; /**< of the shared adapter: it is the parent's */
	unsigned int turn;     /**< where roce_device_poll() goes on; a hint, so it may be lost */
};

/**
 * Make a device of what a program attaches and put it among the others. The EAL is initialised.
 * @return as roce_device_attach().
 */
int
roce_device_add_attached(const struct roce_devargs *args, const struct roce_attach_config *attached,
		struct roce_device **out, struct roce_errmsg *errmsg);

/** May this process open devices? @return 0; -ENODEV: not after a fork, and @p errmsg says so. */
int roce_device_refuse_child(struct roce_errmsg *errmsg);

/**
 * May somebody who says @p args join a device? He says the same, all of it but for ip=, or of one that was attached what
 * he likes, and of the addresses there some.
 * @return 0; -EINVAL a key is missing; -EBUSY one is another.
 */
int roce_device_check_joiner(const struct roce_device *device, const struct roce_devargs *args,
		struct roce_errmsg *errmsg);

/** The sentence about a gateway that is not near. @return -EINVAL. */
int roce_device_refuse_gw(struct roce_errmsg *errmsg);

/** Is each of `neigh=` the address of one host? @return 0; -EINVAL. */
int roce_device_check_neighbours(const struct roce_devargs *args, struct roce_errmsg *errmsg);

/** Does who joins with @p args want other addresses than those that the first has? */
bool roce_device_is_share(const struct roce_device *first, const struct roce_devargs *args);

/**
 * Make a share of a device for somebody who may join it (roce_device_check_joiner()) and has addresses of his own. Under
 * the lock of the devices.
 * @return 0; -EINVAL gw= is not near; -EBUSY somebody has one of them with another prefix, or they are too many;
 *   -ENOMEM.
 */
int roce_device_add_share(struct roce_device *first, const struct roce_devargs *args,
		struct roce_device **out, struct roce_errmsg *errmsg);

/** Its addresses go with it, unless another has them too. Under the lock of the devices. */
void roce_device_drop_share(struct roce_device *share);

/** One queue has one engine, of whichever device from @p devices on. @return 0; -EBUSY. */
int roce_device_check_queues(const struct roce_device *devices,
		const struct roce_attach_config *attached, struct roce_errmsg *errmsg);

/** Listen to the port of a device that is complete. roce_port_events_end() undoes it. @return 0; -ENOMEM. */
int roce_device_events_begin(struct roce_device *device);

/** Act on pending events of its port. Any thread that holds no engine's lock. */
void roce_device_events_act(struct roce_device *device);

/** As roce_wake_fn and roce_cm_notify_fn, for the engines and the connection manager; @p arg of the first: the device. */
void roce_device_wake_users(void *arg);
void roce_device_wake_poller(void *arg);
int roce_device_tell_cm_event(void *arg, const struct roce_cm_event *event);

/**
 * For the engines: roce_port_transmit() of the queue of one; @p arg the device. Locked. Engines of a port that a program attached
 * do not call it: the program decides when its queue is used.
 */
void roce_device_transmit(void *arg, unsigned int engine);

/** Call @p fn for every open device, in the order of opening; none is opened or closed meanwhile. */
void roce_device_each(void (*fn)(const struct roce_device *device, void *arg), void *arg);

/** The devices as telemetry shows them. */
extern const struct roce_telemetry_source roce_device_telemetry;

/** The meaning of the counter of roce_device_counter() with that index. @return false: there is none. */
bool roce_counter_meaning(
		unsigned int index, const char **name, const char **unit, const char **meaning);

#endif
