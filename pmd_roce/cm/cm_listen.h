/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_CM_CM_LISTEN_H
#define ROCE_CM_CM_LISTEN_H

/**
 * @file
 * Requests of peers, and who listens for them.
 */

#include "cm/cm_pvt.h"

/** A REQ of no connection that we know. @param back the route to where it came from, without MTU. */
void roce_cm_listen_request(struct roce_cm *cm, const struct roce_cm_msg *req,
		const struct roce_path *back, uint64_t now);

#endif
