/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "cm/cm.h"
#include "dapl/address.h"
#include "dapl/ep.h"
#include "dapl/ep_state.h"
#include "dapl/evd.h"
#include "dapl/ia.h"
#include "dapl/obj.h"
#include "dapl/sp.h"
#include "dapl/status.h"
#include "device/user.h"
#include "engine/engine.h"
#include "engine/verbs.h"

/* On the shared adapter the qualifier is one for all processes of the host. No lock is held. */
static enum dapl_status
take_service(const struct dapl_psp *sp)
{
	int rc = roce_device_take_service(sp->head.ia->device, dapl_service_id(sp->conn_qual));

	if (rc == 0)
		return DAPL_OK;
	return rc == -EADDRINUSE ? DAPL_CONN_QUAL_IN_USE : DAPL_NO_MEMORY;
}

static void
drop_service(const struct dapl_psp *sp)
{
	roce_device_drop_service(sp->head.ia->device, dapl_service_id(sp->conn_qual));
}

/* Listen, and make the handle good. Locked (engine 0). */
static enum dapl_status
begin(struct dapl_psp *sp, uint32_t backlog, enum dapl_type type)
{
	int rc = roce_cm_listen(sp->head.ia->cm, &sp->head.ia->user.context,
			dapl_service_id(sp->conn_qual), backlog, sp, &sp->listener);

	if (rc != 0)
		return rc == -EADDRINUSE ? DAPL_CONN_QUAL_IN_USE : DAPL_NO_MEMORY;
	dapl_ia_begin(sp->head.ia);
	dapl_obj_use(sp->evd);
	dapl_obj_publish_locked(sp, type);
	return DAPL_OK;
}

enum dapl_status
dapl_psp_create(struct dapl_ia *ia, uint64_t conn_qual, struct dapl_evd *evd, struct dapl_psp **psp)
{
	struct dapl_psp *p = dapl_obj_alloc(sizeof(*p), ia);
	enum dapl_status status;

	if (p == NULL)
		return DAPL_NO_MEMORY;
	p->evd = evd;
	p->conn_qual = conn_qual;
	status = take_service(p);
	if (status != DAPL_OK)
		goto free_psp;
	roce_engine_lock(ia->engine0);
	status = begin(p, roce_cq_depth(evd->cq), DAPL_PSP);
	roce_engine_unlock(ia->engine0);
	if (status != DAPL_OK)
		goto drop_service;
	*psp = p;
	return DAPL_OK;

drop_service:
	drop_service(p);
free_psp:
	dapl_obj_free(p);
	return status;
}

enum dapl_status
dapl_rsp_create(struct dapl_ia *ia, uint64_t conn_qual, struct dapl_ep *ep, struct dapl_evd *evd,
		struct dapl_psp **rsp)
{
	struct dapl_psp *r = dapl_obj_alloc(sizeof(*r), ia);
	enum dapl_status status;

	if (r == NULL)
		return DAPL_NO_MEMORY;
	r->evd = evd;
	r->conn_qual = conn_qual;
	r->ep = ep;
	status = take_service(r);
	if (status != DAPL_OK)
		goto free_rsp;
	dapl_ep_lock(ep);
	if (dapl_ep_next(ep->state, DAPL_EP_IN_RESERVE) == 0)
		status = dapl_ep_state_error(ep->state);
	else
		status = begin(r, 1, DAPL_RSP);
	if (status == DAPL_OK)
		dapl_ep_advance(ep, DAPL_EP_IN_RESERVE);
	dapl_ep_unlock(ep);
	if (status != DAPL_OK)
		goto drop_service;
	*rsp = r;
	return DAPL_OK;

drop_service:
	drop_service(r);
free_rsp:
	dapl_obj_free(r);
	return status;
}

enum dapl_status
dapl_rsp_free(struct dapl_psp *rsp)
{
	struct roce_engine *engine0 = rsp->head.ia->engine0;
	struct dapl_ep *waiting = NULL;

	roce_engine_lock(engine0);
	dapl_obj_retire_locked(rsp);
	roce_cm_unlisten(rsp->listener);
	if (!rsp->used)
		waiting = rsp->ep;
	roce_engine_unlock(engine0);
	/* The listener is gone, so no request comes between. */
	if (waiting != NULL) {
		dapl_ep_lock(waiting);
		dapl_ep_advance(waiting, DAPL_EP_IN_RELEASE);
		dapl_ep_unlock(waiting);
	}
	drop_service(rsp);
	dapl_obj_drop(rsp->evd);
	dapl_obj_free(rsp);
	return DAPL_OK;
}

/* The ports that are nobody's by agreement (RFC 6335): the search goes on where the last one ended. */
#define ANY_FIRST 49152u
#define ANY_COUNT (UINT16_MAX + 1u - ANY_FIRST)

enum dapl_status
dapl_psp_create_any(struct dapl_ia *ia, struct dapl_evd *evd, struct dapl_psp **psp)
{
	static uint32_t next;

	for (uint32_t i = 0; i < ANY_COUNT; i++) {
		uint32_t qual = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % ANY_COUNT;
		enum dapl_status status = dapl_psp_create(ia, ANY_FIRST + qual, evd, psp);

		if (status != DAPL_CONN_QUAL_IN_USE)
			return status;
	}
	return DAPL_CONN_QUAL_UNAVAILABLE;
}

enum dapl_status
dapl_psp_free(struct dapl_psp *psp)
{
	struct roce_engine *engine0 = psp->head.ia->engine0;

	roce_engine_lock(engine0);
	dapl_obj_retire_locked(psp);
	roce_cm_unlisten(psp->listener);
	roce_engine_unlock(engine0);
	drop_service(psp);
	dapl_obj_drop(psp->evd);
	dapl_obj_free(psp);
	return DAPL_OK;
}
