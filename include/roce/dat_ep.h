/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_DAT_EP_H
#define ROCE_DAT_EP_H

/**
 * @file
 * Connect an Endpoint of this Provider without a connection manager: to a queue pair whose number, PSNs and address the
 * two ends have told each other in some other way, over a socket, say. DAT has no call for that.
 *
 * Each end asks with roce_dat_ep_query() what to tell, and connects with roce_dat_ep_connect() to what it was told.
 * Both ends have to do it before either posts a request; receives may be posted before.
 *
 * A program asks the adapter first, as dat/dat_ib_extensions.h says: these calls are there from version 2 on.
 */

#include <stdint.h>

#include <dat/dat_ib_extensions.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The values of this side that the peer must know. */
struct roce_dat_ep_local {
	uint32_t qpn;    /**< number of the Endpoint's queue pair; another after dat_ep_modify() */
	uint32_t psn;    /**< to begin with, random or `psn=` of dat.conf; any other will do */
	uint8_t gid[16]; /**< the adapter's first address: IPv6, or IPv4-mapped */
	uint32_t mtu;    /**< path MTU of the adapter, bytes */
	uint8_t max_rd_atomic; /**< READs and atomics that the Endpoint was made to have outstanding */
	uint8_t max_dest_rd_atomic; /**< READs and atomics of the peer that it was made to serve */
};

/** The peer. Zero stands for a value that is not known. */
struct roce_dat_ep_peer {
	uint32_t qpn;
	uint32_t rq_psn;            /**< first PSN that the peer sends */
	uint32_t sq_psn;            /**< first PSN that this end sends, as the peer was told */
	uint8_t gid[16];            /**< address of the peer: IPv6, or IPv4-mapped */
	uint32_t mtu;               /**< path MTU in bytes, that of both ends; 0: the adapter's */
	uint8_t max_rd_atomic;      /**< READs and atomics that this end may have outstanding */
	uint8_t max_dest_rd_atomic; /**< that the peer may have outstanding */
};

/** The calls for it, in the extension of the Provider's table of calls. */
struct roce_dat_ep_calls {
	DAT_RETURN (*query)(DAT_EP_HANDLE ep_handle, struct roce_dat_ep_local *local);
	DAT_RETURN (*connect)(DAT_EP_HANDLE ep_handle, const struct roce_dat_ep_peer *peer);
};

/**
 * The values of an Endpoint that the peer must know, in any state; meant for one that is unconnected.
 *
 * @param local  filled whole, on success only.
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER, DAT_INVALID_ARG2: @p local is null.
 *
 * Thread: one at a time for one Endpoint.
 */
static __inline__ DAT_RETURN
roce_dat_ep_query(IN DAT_EP_HANDLE ep_handle, OUT struct roce_dat_ep_local *local)
{
	return DAT_IB_EXTENSION_OF(ep_handle)->ep_calls->query(ep_handle, local);
}

/**
 * Connect to a peer that is known.
 *
 * The Endpoint is DAT_EP_STATE_ACTIVE_CONNECTION_PENDING until the path to the address is resolved, and then connected:
 * the connect dispatcher has DAT_CONNECTION_EVENT_ESTABLISHED without private data, or
 * DAT_CONNECTION_EVENT_UNREACHABLE. The peer is neither asked nor told of the end: a graceful disconnect is over
 * when the requests are, an abrupt one at once, and the peer's end is not noticed. Reset, free and everything else are
 * as for any connection. Numbers of retries are those of dat.conf.
 *
 * @param peer  copied.
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_INVALID_PARAMETER, DAT_INVALID_ARG2: @p peer is null; a queue pair number is
 *   not 2..0xfffffe; a PSN is not below 2^24; the MTU is no path MTU or larger than the adapter's; more READs than the
 *   Endpoint was made for. DAT_INVALID_STATE: it is not unconnected, or has no connect dispatcher;
 *   DAT_INSUFFICIENT_RESOURCES.
 *
 * Thread: one at a time for one Endpoint.
 */
static __inline__ DAT_RETURN
roce_dat_ep_connect(IN DAT_EP_HANDLE ep_handle, IN const struct roce_dat_ep_peer *peer)
{
	return DAT_IB_EXTENSION_OF(ep_handle)->ep_calls->connect(ep_handle, peer);
}

#ifdef __cplusplus
}
#endif

#endif
