/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_CM_CM_DISPATCH_H
#define ROCE_CM_CM_DISPATCH_H

/**
 * @file
 * From a message to its connection.
 */

#include "cm/cm_pvt.h"

/** Of struct roce_gsi: a datagram came. */
void roce_cm_rx(void *arg, const struct roce_pkt *pkt, uint64_t now);

#endif
