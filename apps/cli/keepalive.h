/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_KEEPALIVE_H
#define CLI_KEEPALIVE_H

/**
 * @file
 * Asking a peer for a sign of life.
 *
 * Transport retries notice a dead peer only while something is sent to it. So a server sends to a client that has been silent for
 * a while an RDMA WRITE of no bytes: adapters acknowledge it without their consumer, it takes no receive and touches no memory.
 * When no acknowledgement comes, the connection breaks as for any other request.
 */

#include <dat/udat.h>

/**
 * Post the request. It completes with @p cookie: success is the sign of life.
 * @return as dat_ep_post_rdma_write(): no room in the send queue, or the connection is ending.
 */
DAT_RETURN cli_keepalive_ask(DAT_EP_HANDLE ep, uint64_t cookie);

#endif /* CLI_KEEPALIVE_H */
