/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_DEVICE_POLL_H
#define ROCE_DEVICE_POLL_H

/**
 * @file
 * Polling of devices, by any thread that asks or by service lcores.
 */

#include <stdint.h>

#include "ethdev/port.h"
#include "observe/errmsg.h"

/** Poll a queue unless somebody else is polling it. Any thread. @return frames moved. */
unsigned int roce_port_poll(struct roce_port_queue *queue);

/**
 * Let service lcores poll the queues, queue i on lcore i modulo @p n. One thread at a time, as roce_port_unserve().
 * @return 0; -EINVAL an lcore is none of the EAL's; -ENOMEM.
 */
int roce_port_serve(struct roce_port *port, const uint32_t *lcores, unsigned int n,
		struct roce_errmsg *errmsg);

/** End that; returns when no service lcore is inside. */
void roce_port_unserve(struct roce_port *port);

#endif
