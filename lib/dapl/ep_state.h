/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_EP_STATE_H
#define DAPL_EP_STATE_H

/**
 * @file
 * States of an endpoint, and the lock that they change under.
 */

#include <stdbool.h>

#include "dapl/status.h"

struct dapl_ep;

enum dapl_ep_state {
	DAPL_EP_STATE_UNCONNECTED = 1,
	DAPL_EP_STATE_RESERVED,        /**< a service point waits for a request on its behalf */
	DAPL_EP_STATE_PASSIVE_PENDING, /**< the request is there and wants an answer */
	DAPL_EP_STATE_ACTIVE_PENDING,
	DAPL_EP_STATE_COMPLETION_PENDING,
	DAPL_EP_STATE_CONNECTED,
	DAPL_EP_STATE_DISCONNECT_PENDING,
	DAPL_EP_STATE_DISCONNECTED,
	DAPL_EP_STATES,
};

/** Inputs of the state machine of an endpoint. */
enum dapl_ep_input {
	DAPL_EP_IN_CONNECT,     /**< dat_ep_connect(), roce_dat_ep_connect() */
	DAPL_EP_IN_ACCEPT,      /**< dat_cr_accept() of anybody's request */
	DAPL_EP_IN_RESERVE,     /**< dat_rsp_create() */
	DAPL_EP_IN_REQUEST,     /**< the reserved service point has a request */
	DAPL_EP_IN_ANSWER,      /**< dat_cr_accept() of that */
	DAPL_EP_IN_RELEASE,     /**< dat_rsp_free(), or dat_cr_reject() of that */
	DAPL_EP_IN_ESTABLISHED, /**< both ends are ready */
	DAPL_EP_IN_REFUSED,     /**< rejected, unreachable, not answered */
	DAPL_EP_IN_GRACEFUL,    /**< dat_ep_disconnect(), graceful */
	DAPL_EP_IN_ABRUPT,      /**< dat_ep_disconnect(), abrupt */
	DAPL_EP_IN_PEER_LEFT,   /**< the connection ended in order */
	DAPL_EP_IN_DRAINED, /**< no request is left, and there is no connection manager to send a DREQ to */
	DAPL_EP_IN_BROKEN, /**< the transport gave up */
	DAPL_EP_IN_RESET,  /**< dat_ep_reset() */
	DAPL_EP_INPUTS,
};

/** Lock and unlock what protects an endpoint: engine 0, then the engine of its queue pair. */
void dapl_ep_lock(struct dapl_ep *ep);
void dapl_ep_unlock(struct dapl_ep *ep);

/** State after @p in from @p state; 0: not allowed. */
unsigned int dapl_ep_next(unsigned int state, enum dapl_ep_input in);
/** The only assignment to ep->state, locked. @return false: not allowed, nothing changed. */
bool dapl_ep_advance(struct dapl_ep *ep, enum dapl_ep_input in);
/** The outcome of a call that @p state forbids. */
enum dapl_status dapl_ep_state_error(unsigned int state);

#endif
