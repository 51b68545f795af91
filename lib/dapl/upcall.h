/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_UPCALL_H
#define DAPL_UPCALL_H

/**
 * @file
 * The upcalls of the device (struct roce_device_user), each handed to the object that it is about. Locked, as port/user.h
 * says.
 */

#include "device/user.h"

void dapl_device_notify(void *arg, enum roce_engine_async kind, void *owner, int status);
int dapl_device_cm_notify(void *arg, const struct roce_cm_event *event);
void dapl_device_port_notify(void *arg, enum roce_port_event what);

#endif
