/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_PORT_DEVICE_H
#define ROCE_PORT_DEVICE_H

/**
 * @file
 * What stands behind a `struct roce_device`, for the files of this folder.
 */

#include "cm/cm.h"
#include "engine/engine.h"
#include "port/devargs.h"
#include "port/port.h"
#include "roce/roce.h"

struct roce_device {
	struct roce_device *next;
	struct roce_devargs args;
	struct roce_device_upcalls upcalls;
	struct roce_port *port;
	struct roce_domain *domain;
	struct roce_cm *cm;
	unsigned int refs;
	unsigned int turn; /**< where roce_device_poll() goes on; a hint, so it may be lost */
};

/** Call @p fn for every open device, in the order of opening; none is opened or closed meanwhile. */
void roce_device_each(void (*fn)(struct roce_device *device, void *arg), void *arg);

/** Register the telemetry commands, once in a process. */
void roce_telemetry_setup(void);

#endif
