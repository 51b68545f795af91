/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_EP_CONN_H
#define DAPL_EP_CONN_H

/**
 * @file
 * The connection of an endpoint: what its consumer asks, and what the connection manager and the engine say.
 */

#include <stdbool.h>
#include <stdint.h>

#include <sys/socket.h>

#include "cm/cm.h"
#include "dapl/ep.h"
#include "dapl/event.h"
#include "dapl/status.h"

struct dapl_ep_connect {
	const struct sockaddr *remote;
	uint64_t conn_qual;
	uint32_t timeout_us; /**< not 0; DAPL_INFINITE */
	uint16_t private_len;
	const void *private_data;
};

/** @return DAPL_OK; the state that forbids it; DAPL_EP_NO_CONNECT_EVD; DAPL_BAD_ADDRESS; DAPL_NO_MEMORY. */
enum dapl_status dapl_ep_connect(struct dapl_ep *ep, const struct dapl_ep_connect *connect);
/** Connect to where @p other is connected to. @return as dapl_ep_connect(); the state of @p other that forbids it. */
enum dapl_status dapl_ep_dup_connect(
		struct dapl_ep *ep, struct dapl_ep *other, const struct dapl_ep_connect *connect);
/** @return DAPL_OK; the state that forbids it. */
enum dapl_status dapl_ep_disconnect(struct dapl_ep *ep, bool graceful);
/** Let go of the connection; the peer is told when it is up. Locked (dapl_ep_lock). */
void dapl_ep_forget_conn(struct dapl_ep *ep);
/** Push a connection event. Locked. */
void
dapl_ep_push(struct dapl_ep *ep, enum dapl_conn_event what, const void *private_data, uint16_t len);
/** Our offer in a REQ, or in a REP to @p peer: everything but the private data. Locked. */
void
dapl_ep_offer(struct dapl_ep *ep, const struct roce_cm_param *peer, struct roce_cm_param *local);
/** Bring the queue pair to RTR towards @p peer, with what was offered. Locked. @return 0; -EINVAL. */
int dapl_ep_ready_to_receive(
		struct dapl_ep *ep, const struct roce_cm_param *peer, const struct roce_path *path);

/** A step of its connection, as the connection manager says. Locked. @return as roce_cm_notify_fn. */
int dapl_ep_conn_event(struct dapl_ep *ep, const struct roce_cm_event *event);
/** Passive side: the peer's RTU came, or its first packet, whichever is first. Locked. */
void dapl_ep_established(struct dapl_ep *ep);
/** The queue pair broke, and its engine has flushed it. Locked. */
void dapl_ep_broken(struct dapl_ep *ep);
/** A queue pair that was to drain has no request left. Locked. */
void dapl_ep_drained(struct dapl_ep *ep);

#endif
