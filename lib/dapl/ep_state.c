/* SPDX-License-Identifier: BSD-3-Clause */

#include "dapl/ep.h"
#include "dapl/ep_state.h"
#include "dapl/ia.h"
#include "dapl/status.h"
#include "engine/engine.h"

#define IN(name) [DAPL_EP_IN_##name]
#define TO(name) DAPL_EP_STATE_##name

/*
 * The endpoint's whole life (uDAPL 1.2, dat_ep_connect, dat_cr_accept, dat_ep_disconnect, dat_ep_reset).
 * roce_dat_ep_connect() is a CONNECT, too, and DRAINED the end of such a connection, whose peer is not asked.
 * Printed and compared in test_ep_state.c. A hole means "no". The tentative states belong to
 * provider-made endpoints, which this release does not have.
 */
/* clang-format off */
static const uint8_t next[DAPL_EP_STATES][DAPL_EP_INPUTS] = {
	[TO(UNCONNECTED)] = {
		IN(CONNECT)     = TO(ACTIVE_PENDING),
		IN(ACCEPT)      = TO(COMPLETION_PENDING),
		IN(RESERVE)     = TO(RESERVED),
		IN(RESET)       = TO(UNCONNECTED),
	},
	[TO(RESERVED)] = {
		IN(REQUEST)     = TO(PASSIVE_PENDING),
		IN(RELEASE)     = TO(UNCONNECTED),
	},
	[TO(PASSIVE_PENDING)] = {
		IN(ANSWER)      = TO(COMPLETION_PENDING),
		IN(RELEASE)     = TO(UNCONNECTED),
	},
	[TO(ACTIVE_PENDING)] = {
		IN(ESTABLISHED) = TO(CONNECTED),
		IN(REFUSED)     = TO(DISCONNECTED),
		IN(GRACEFUL)    = TO(DISCONNECTED),
		IN(ABRUPT)      = TO(DISCONNECTED),
	},
	[TO(COMPLETION_PENDING)] = {
		IN(ESTABLISHED) = TO(CONNECTED),
		IN(REFUSED)     = TO(DISCONNECTED),
		IN(GRACEFUL)    = TO(DISCONNECTED),
		IN(ABRUPT)      = TO(DISCONNECTED),
	},
	[TO(CONNECTED)] = {
		IN(GRACEFUL)    = TO(DISCONNECT_PENDING),
		IN(ABRUPT)      = TO(DISCONNECTED),
		IN(PEER_LEFT)   = TO(DISCONNECTED),
		IN(BROKEN)      = TO(DISCONNECTED),
	},
	[TO(DISCONNECT_PENDING)] = {
		IN(GRACEFUL)    = TO(DISCONNECT_PENDING),
		IN(ABRUPT)      = TO(DISCONNECTED),
		IN(PEER_LEFT)   = TO(DISCONNECTED),
		IN(DRAINED)     = TO(DISCONNECTED),
		IN(BROKEN)      = TO(DISCONNECTED),
	},
	[TO(DISCONNECTED)] = {
		IN(GRACEFUL)    = TO(DISCONNECTED),
		IN(ABRUPT)      = TO(DISCONNECTED),
		IN(RESET)       = TO(UNCONNECTED),
	},
};
/* clang-format on */

unsigned int
dapl_ep_next(unsigned int state, enum dapl_ep_input in)
{
	return next[state][in];
}

bool
dapl_ep_advance(struct dapl_ep *ep, enum dapl_ep_input in)
{
	unsigned int to = dapl_ep_next(ep->state, in);

	if (to == 0)
		return false;
	/* A poster reads it without the lock. */
	__atomic_store_n(&ep->state, (uint8_t)to, __ATOMIC_RELEASE);
	return true;
}

enum dapl_status
dapl_ep_state_error(unsigned int state)
{
	static const enum dapl_status error[DAPL_EP_STATES] = {
		[TO(UNCONNECTED)] = DAPL_EP_UNCONNECTED,
		[TO(RESERVED)] = DAPL_EP_RESERVED,
		[TO(PASSIVE_PENDING)] = DAPL_EP_PASSIVE_PENDING,
		[TO(ACTIVE_PENDING)] = DAPL_EP_ACTIVE_PENDING,
		[TO(COMPLETION_PENDING)] = DAPL_EP_COMPLETION_PENDING,
		[TO(CONNECTED)] = DAPL_EP_CONNECTED,
		[TO(DISCONNECT_PENDING)] = DAPL_EP_DISCONNECT_PENDING,
		[TO(DISCONNECTED)] = DAPL_EP_DISCONNECTED,
	};

	return error[state];
}

void
dapl_ep_lock(struct dapl_ep *ep)
{
	roce_engine_lock(ep->head.ia->engine0);
	if (ep->engine != NULL)
		roce_engine_lock(ep->engine);
}

void
dapl_ep_unlock(struct dapl_ep *ep)
{
	if (ep->engine != NULL)
		roce_engine_unlock_inner(ep->engine);
	roce_engine_unlock(ep->head.ia->engine0);
}
