/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "dapl/dapl.h"

int
dapl_cr_arrive(struct dapl_psp *psp, const struct roce_cm_event *event)
{
	struct dapl_evd *evd = psp->evd;
	struct roce_event arrival = { .kind = DAPL_EVENT_CR };
	struct dapl_cr *cr;

	/* Other streams may share the dispatcher: full is full, whatever the backlog says. */
	if (roce_cq_count(evd->cq) >= roce_cq_depth(evd->cq))
		return -ENOBUFS;
	cr = dapl_obj_alloc(sizeof(*cr), psp->head.ia);
	if (cr == NULL)
		return -ENOMEM;
	cr->conn = event->conn;
	cr->psp = psp;
	cr->conn_qual = psp->conn_qual;
	cr->remote_qual = event->peer_port;
	dapl_ip_to_sockaddr(&event->path->dst_ip, &cr->remote);
	cr->path = *event->path;
	cr->peer = *event->peer;
	cr->peer.private_len =
			RTE_MIN(event->peer->private_len, (uint16_t)sizeof(cr->private_data));
	if (cr->peer.private_len > 0)
		memcpy(cr->private_data, event->peer->private_data, cr->peer.private_len);
	cr->peer.private_data = cr->private_data;
	dapl_obj_publish_locked(cr, DAPL_CR);
	arrival.owner = cr;
	roce_cq_push(evd->cq, &arrival);
	return 0;
}

/* Answer with a REP. The peer may have lost patience meanwhile: then the accept fails later, as it would on the wire. */
static enum dapl_status
answer(struct dapl_cr *cr, struct dapl_ep *ep, const void *private_data, uint16_t len)
{
	struct roce_cm_param local;
	int rc;

	dapl_ep_offer(ep, &cr->peer, &local);
	if (dapl_ep_ready_to_receive(ep, &cr->peer, &cr->path) != 0)
		return DAPL_INTERNAL;
	local.private_data = private_data;
	local.private_len = len;
	ep->conn = cr->conn;
	roce_qp_set_conn(ep->qp, cr->conn);
	dapl_ep_advance(ep, DAPL_EP_IN_ACCEPT);
	rc = roce_cm_accept(cr->conn, &local, ep, roce_device_now(ep->head.ia->device));
	if (rc != 0) {
		dapl_ep_advance(ep, DAPL_EP_IN_REFUSED);
		roce_qp_to_error(ep->qp);
		dapl_ep_forget_conn(ep);
		dapl_ep_push(ep, DAPL_CONN_ACCEPT_ERROR, NULL, 0);
	}
	return DAPL_OK;
}

enum dapl_status
dapl_cr_accept(struct dapl_cr *cr, struct dapl_ep *ep, const void *private_data, uint16_t len)
{
	enum dapl_status status;

	dapl_ep_lock(ep);
	if (dapl_ep_next(ep->state, DAPL_EP_IN_ACCEPT) == 0)
		status = dapl_ep_state_error(ep->state);
	else if (ep->connect_evd == NULL)
		status = DAPL_EP_NO_CONNECT_EVD;
	else
		status = answer(cr, ep, private_data, len);
	if (status == DAPL_OK) {
		ep->remote = cr->remote;
		ep->remote_qual = cr->remote_qual;
		ep->local_qual = cr->conn_qual;
		dapl_obj_retire_locked(cr);
	}
	dapl_ep_unlock(ep);
	if (status == DAPL_OK)
		dapl_obj_free(cr);
	return status;
}

enum dapl_status
dapl_cr_reject(struct dapl_cr *cr)
{
	struct dapl_ia *ia = cr->head.ia;

	roce_engine_lock(ia->engine0);
	dapl_obj_retire_locked(cr);
	roce_cm_reject(cr->conn, ROCE_CM_REJ_CONSUMER, NULL, 0, roce_device_now(ia->device));
	roce_engine_unlock(ia->engine0);
	dapl_obj_free(cr);
	return DAPL_OK;
}
