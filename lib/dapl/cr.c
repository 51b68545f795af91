/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "cm/cm.h"
#include "dapl/address.h"
#include "dapl/cr.h"
#include "dapl/ep.h"
#include "dapl/ep_conn.h"
#include "dapl/ep_state.h"
#include "dapl/evd.h"
#include "dapl/event.h"
#include "dapl/ia.h"
#include "dapl/obj.h"
#include "dapl/sp.h"
#include "dapl/status.h"
#include "engine/engine.h"
#include "engine/verbs.h"
#include "roce/device.h"

/* Under the lock of the endpoint. */
static void
know_peer(struct dapl_ep *ep, const struct dapl_cr *cr)
{
	ep->remote = cr->remote;
	ep->remote_qual = cr->remote_qual;
	ep->local_qual = cr->conn_qual;
}

/* The one request of a reserved service point takes its endpoint. Under the lock of engine 0. */
static void
claim(struct dapl_psp *rsp, struct dapl_cr *cr)
{
	struct dapl_ep *ep = rsp->ep;

	rsp->used = true;
	if (ep->engine != NULL)
		roce_engine_lock(ep->engine);
	dapl_ep_advance(ep, DAPL_EP_IN_REQUEST);
	know_peer(ep, cr);
	if (ep->engine != NULL)
		roce_engine_unlock_inner(ep->engine);
}

/* A request that is no more has no use for the endpoint that was reserved for it. */
static void
let_go(struct dapl_cr *cr)
{
	if (cr->ep != NULL) {
		dapl_ep_lock(cr->ep);
		dapl_ep_advance(cr->ep, DAPL_EP_IN_RELEASE);
		dapl_ep_unlock(cr->ep);
	}
	dapl_obj_free(cr);
}

/* Other streams may share the dispatcher: full is full, whatever the backlog says. */
static bool
has_room(const struct dapl_psp *psp)
{
	return roce_cq_count(psp->evd->cq) < roce_cq_depth(psp->evd->cq) && !psp->used;
}

/*
 * A request that is complete but for where it arrived, arrives there. Under the lock of engine 0, for which whoever
 * takes the event has to wait.
 * @return false: another engine took the last place, and nothing has changed.
 */
static bool
deliver(struct dapl_cr *cr, struct dapl_psp *psp)
{
	const struct roce_event arrival = { .kind = DAPL_EVENT_CR, .owner = cr };

	cr->psp = psp;
	cr->conn_qual = psp->conn_qual;
	cr->peer.private_data = cr->private_data;
	cr->ep = psp->ep;
	dapl_obj_publish_locked(cr, DAPL_CR);
	if (!roce_cq_try_push(psp->evd->cq, &arrival)) {
		dapl_obj_retire_locked(cr);
		return false;
	}
	if (psp->ep != NULL)
		claim(psp, cr);
	return true;
}

int
dapl_cr_arrive(struct dapl_psp *psp, const struct roce_cm_event *event)
{
	struct dapl_cr *cr;

	if (!has_room(psp))
		return -ENOBUFS;
	cr = dapl_obj_alloc(sizeof(*cr), psp->head.ia);
	if (cr == NULL)
		return -ENOMEM;
	cr->conn = event->conn;
	cr->remote_qual = event->peer_port;
	dapl_ip_to_sockaddr(&event->path->dst_ip, &cr->remote);
	cr->path = *event->path;
	cr->peer = *event->peer;
	cr->peer.private_len =
			RTE_MIN(event->peer->private_len, (uint16_t)sizeof(cr->private_data));
	if (cr->peer.private_len > 0)
		memcpy(cr->private_data, event->peer->private_data, cr->peer.private_len);
	if (deliver(cr, psp))
		return 0;
	dapl_obj_free(cr);
	return -ENOBUFS;
}

/* A service point of the instance that listens there, NULL when there is none. Under the lock of engine 0. */
static struct dapl_psp *
listens_at(const struct dapl_ia *ia, uint64_t conn_qual)
{
	struct dapl_obj *obj;

	TAILQ_FOREACH(obj, &ia->objects, link) {
		struct dapl_psp *psp = (struct dapl_psp *)(void *)obj;

		if ((obj->tag == (DAPL_MAGIC | DAPL_PSP) || obj->tag == (DAPL_MAGIC | DAPL_RSP)) &&
				psp->conn_qual == conn_qual)
			return psp;
	}
	return NULL;
}

enum dapl_status
dapl_cr_handoff(struct dapl_cr *cr, uint64_t conn_qual)
{
	struct dapl_ia *ia = cr->head.ia;
	struct dapl_cr *copy = dapl_obj_alloc(sizeof(*copy), ia);
	struct dapl_psp *psp;
	bool delivered;

	if (copy == NULL)
		return DAPL_NO_MEMORY;
	roce_engine_lock(ia->engine0);
	psp = listens_at(ia, conn_qual);
	if (psp == NULL || !has_room(psp)) {
		roce_engine_unlock(ia->engine0);
		dapl_obj_free(copy);
		return DAPL_BAD_COUNT;
	}
	copy->conn = cr->conn;
	copy->remote_qual = cr->remote_qual;
	copy->remote = cr->remote;
	copy->path = cr->path;
	copy->peer = cr->peer;
	memcpy(copy->private_data, cr->private_data, sizeof(copy->private_data));
	delivered = deliver(copy, psp);
	if (delivered)
		dapl_obj_retire_locked(cr);
	roce_engine_unlock(ia->engine0);
	if (!delivered) {
		dapl_obj_free(copy);
		return DAPL_BAD_COUNT;
	}
	let_go(cr);
	return DAPL_OK;
}

/* An endpoint that is reserved for another request cannot accept this one. */
static enum dapl_ep_input
how_accepted(const struct dapl_cr *cr)
{
	return cr->ep != NULL ? DAPL_EP_IN_ANSWER : DAPL_EP_IN_ACCEPT;
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
	dapl_ep_advance(ep, how_accepted(cr));
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
	if (dapl_ep_next(ep->state, how_accepted(cr)) == 0)
		status = dapl_ep_state_error(ep->state);
	else if (ep->connect_evd == NULL)
		status = DAPL_EP_NO_CONNECT_EVD;
	else
		status = answer(cr, ep, private_data, len);
	if (status == DAPL_OK) {
		know_peer(ep, cr);
		dapl_obj_retire_locked(cr);
	}
	dapl_ep_unlock(ep);
	if (status == DAPL_OK)
		dapl_obj_free(cr);
	return status;
}

enum dapl_status
dapl_cr_reject(struct dapl_cr *cr, const void *private_data, uint16_t len)
{
	struct dapl_ia *ia = cr->head.ia;

	roce_engine_lock(ia->engine0);
	dapl_obj_retire_locked(cr);
	roce_cm_reject(cr->conn, ROCE_CM_REJ_CONSUMER, private_data, len,
			roce_device_now(ia->device));
	roce_engine_unlock(ia->engine0);
	let_go(cr);
	return DAPL_OK;
}
