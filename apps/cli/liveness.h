/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_LIVENESS_H
#define CLI_LIVENESS_H

/**
 * @file
 * Asking a peer for a sign of life.
 *
 * Transport retries notice a dead peer only while something is sent to it. So a server sends to a client that has been silent for
 * a while an RDMA WRITE of no bytes: adapters acknowledge it without their consumer, it takes no receive and touches no memory.
 * When no acknowledgement comes, the connection breaks as for any other request.
 */

#include <dat/udat.h>

/** Seconds of silence, unless something else is wished for. */
#define CLI_KEEPALIVE_S 5
/** Seconds for which a peer may acknowledge nothing of what was sent to it, likewise. It may ask to be tried again for ever. */
#define CLI_STALL_S 10
/** Seconds without a message, after which a place is given to a client that asks for one, likewise. */
#define CLI_IDLE_S 60

/**
 * Post the request. It completes with @p cookie: success is the sign of life.
 * @return as dat_ep_post_rdma_write(): no room in the send queue, or the connection is ending.
 */
DAT_RETURN cli_liveness_ask(DAT_EP_HANDLE ep, uint64_t cookie);

#endif /* CLI_LIVENESS_H */
