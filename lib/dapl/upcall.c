/* SPDX-License-Identifier: BSD-3-Clause */

/* Upcalls of the device, each handed to the object that it is about. */

#include "cm/cm.h"
#include "dapl/async.h"
#include "dapl/cno.h"
#include "dapl/cr.h"
#include "dapl/ep.h"
#include "dapl/ep_conn.h"
#include "dapl/event.h"
#include "dapl/ia.h"
#include "dapl/upcall.h"
#include "engine/engine.h"
#include "device/user.h"

int
dapl_device_cm_notify(void *arg, const struct roce_cm_event *event)
{
	struct dapl_ep *ep = event->owner;
	int rc;

	if (event->kind == ROCE_CM_REQUEST)
		return dapl_cr_arrive(event->owner, event);
	if (event->kind == ROCE_CM_DISCONNECTED)
		roce_device_receive(ep->head.ia->device);
	if (ep->engine != NULL)
		roce_engine_lock(ep->engine);
	rc = dapl_ep_conn_event(ep, event);
	if (ep->engine != NULL)
		roce_engine_unlock_inner(ep->engine);
	return rc;
}

void
dapl_device_notify(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	switch (kind) {
	case ROCE_ENGINE_ASYNC_QP_ESTABLISHED:
		dapl_ep_established(owner);
		break;
	case ROCE_ENGINE_ASYNC_QP_BROKEN:
		dapl_ep_broken(owner);
		break;
	case ROCE_ENGINE_ASYNC_CQ_OVERFLOW:
		dapl_evd_overflow(owner);
		break;
	case ROCE_ENGINE_ASYNC_CQ_EVENTS:
		dapl_evd_notify(owner, (uint32_t)status);
		break;
	case ROCE_ENGINE_ASYNC_SRQ_LOW:
		dapl_evd_push_async(owner, DAPL_ASYNC_SRQ_LOW);
		break;
	case ROCE_ENGINE_ASYNC_QP_SOFT_HIGH:
		dapl_evd_push_async(owner, DAPL_ASYNC_EP_SOFT_HIGH);
		break;
	case ROCE_ENGINE_ASYNC_QP_DRAINED:
		dapl_ep_drained(owner);
		break;
	default:
		break;
	}
}

void
dapl_device_port_notify(void *arg, enum roce_port_event what)
{
	/* DAT knows nothing of links: connections outlive a short loss, and say themselves when it was too long. */
	if (what == ROCE_DEVICE_FATAL)
		dapl_evd_push_async(arg, DAPL_ASYNC_IA_FATAL);
}
