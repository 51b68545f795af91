/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "dapl/dapl.h"

uint64_t
dapl_service_id(uint64_t conn_qual)
{
	return conn_qual <= UINT16_MAX ? ROCE_CM_SERVICE_TCP + conn_qual : conn_qual;
}

enum dapl_status
dapl_psp_create(struct dapl_ia *ia, uint64_t conn_qual, struct dapl_evd *evd, struct dapl_psp **psp)
{
	struct dapl_psp *p = dapl_obj_alloc(sizeof(*p), ia);
	int rc;

	if (p == NULL)
		return DAPL_NO_MEMORY;
	p->evd = evd;
	p->conn_qual = conn_qual;
	roce_engine_lock(ia->engine0);
	rc = roce_cm_listen(ia->cm, dapl_service_id(conn_qual), roce_cq_depth(evd->cq), p,
			&p->listener);
	if (rc == 0)
		dapl_obj_publish_locked(p, DAPL_PSP);
	roce_engine_unlock(ia->engine0);
	if (rc != 0) {
		dapl_obj_free(p);
		return rc == -EADDRINUSE ? DAPL_CONN_QUAL_IN_USE : DAPL_NO_MEMORY;
	}
	dapl_obj_use(evd);
	*psp = p;
	return DAPL_OK;
}

enum dapl_status
dapl_psp_free(struct dapl_psp *psp)
{
	struct roce_engine *engine0 = psp->head.ia->engine0;

	roce_engine_lock(engine0);
	dapl_obj_retire_locked(psp);
	roce_cm_unlisten(psp->listener);
	roce_engine_unlock(engine0);
	dapl_obj_drop(psp->evd);
	dapl_obj_free(psp);
	return DAPL_OK;
}
