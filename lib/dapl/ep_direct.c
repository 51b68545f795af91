/* SPDX-License-Identifier: BSD-3-Clause */

/* Connections to a queue pair whose numbers the consumer knows already: the connection manager only resolves the path. */

#include <string.h>

#include "cm/cm.h"
#include "dapl/address.h"
#include "dapl/ep.h"
#include "dapl/ep_direct.h"
#include "dapl/ep_state.h"
#include "dapl/ia.h"
#include "dapl/status.h"
#include "engine/verbs.h"
#include "roce/device.h"

void
dapl_ep_query_local(struct dapl_ep *ep, struct dapl_ep_local *local)
{
	const struct roce_device_attr *attr = &ep->head.ia->attr;

	dapl_ep_lock(ep);
	*local = (struct dapl_ep_local){
		.qpn = roce_qp_number(ep->qp),
		.psn = roce_qp_first_psn(ep->qp),
		.mtu = attr->mtu,
	};
	dapl_ep_unlock(ep);
	memcpy(local->ip.b, attr->ip, sizeof(local->ip.b));
}

static enum dapl_status
begin(struct dapl_ep *ep, const struct roce_qp_connect *peer)
{
	struct dapl_ia *ia = ep->head.ia;
	uint64_t now = roce_device_now(ia->device);

	if (roce_cm_find_path(ia->cm, &ia->user.context, &peer->path.dst_ip, ep, now, &ep->conn) !=
			0)
		return DAPL_NO_MEMORY;
	dapl_ia_begin(ia);
	ep->direct = *peer;
	ep->direct.retry = ia->attr.retry;
	ep->direct.rnr_retry = ia->attr.rnr_retry;
	ep->direct.rnr_timer = ia->attr.rnr_timer;
	ep->direct.ack_timeout = ia->attr.ack_timeout;
	dapl_ip_to_sockaddr(&peer->path.dst_ip, &ep->remote);
	ep->remote_qual = 0;
	ep->local_qual = 0;
	dapl_ep_advance(ep, DAPL_EP_IN_CONNECT);
	return DAPL_OK;
}

enum dapl_status
dapl_ep_connect_direct(struct dapl_ep *ep, const struct roce_qp_connect *peer)
{
	enum dapl_status status;

	dapl_ep_lock(ep);
	if (dapl_ep_next(ep->state, DAPL_EP_IN_CONNECT) == 0)
		status = dapl_ep_state_error(ep->state);
	else if (ep->connect_evd == NULL)
		status = DAPL_EP_NO_CONNECT_EVD;
	else
		status = begin(ep, peer);
	dapl_ep_unlock(ep);
	return status;
}

int
dapl_ep_direct_ready(struct dapl_ep *ep, const struct roce_path *path)
{
	struct roce_qp_connect connect = ep->direct;
	int rc;

	connect.path = *path;
	if (ep->direct.path.mtu_code != 0)
		connect.path.mtu_code = ep->direct.path.mtu_code;
	rc = roce_qp_to_rtr(ep->qp, &connect);
	return rc == 0 ? roce_qp_to_rts(ep->qp) : rc;
}
