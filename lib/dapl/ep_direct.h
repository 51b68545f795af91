/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_EP_DIRECT_H
#define DAPL_EP_DIRECT_H

/**
 * @file
 * Connections without a connection manager.
 */

#include <stdint.h>

#include "dapl/ep.h"
#include "dapl/status.h"
#include "engine/verbs.h"

/** The values of an endpoint that its peer must know. */
struct dapl_ep_local {
	struct roce_ip ip; /**< the adapter's first */
	uint32_t qpn;
	uint32_t psn; /**< to begin with: another after each reset */
	uint32_t mtu; /**< of the adapter, bytes */
};

void dapl_ep_query_local(struct dapl_ep *ep, struct dapl_ep_local *local);
/**
 * Connect to a queue pair that is known already: no message is sent but to find the way.
 * @param peer  number, PSNs, reads, path.dst_ip; path.mtu_code 0: the adapter's. Retries are the adapter's.
 * @return DAPL_OK; the state that forbids it; DAPL_EP_NO_CONNECT_EVD; DAPL_NO_MEMORY.
 */
enum dapl_status dapl_ep_connect_direct(struct dapl_ep *ep, const struct roce_qp_connect *peer);
/** The way is known: bring the queue pair up. Locked. @return 0; -EINVAL. */
int dapl_ep_direct_ready(struct dapl_ep *ep, const struct roce_path *path);

#endif
