/* SPDX-License-Identifier: BSD-3-Clause */

#include "dapl/ia.h"
#include "dapl/obj.h"
#include "dapl/pz.h"
#include "dapl/status.h"
#include "engine/verbs.h"

enum dapl_status
dapl_pz_create(struct dapl_ia *ia, struct dapl_pz **pz)
{
	struct dapl_pz *p = dapl_obj_alloc(sizeof(*p), ia);

	if (p == NULL)
		return DAPL_NO_MEMORY;
	if (roce_pd_create(&ia->user.context, &p->pd) != 0) {
		dapl_obj_free(p);
		return DAPL_NO_MEMORY;
	}
	dapl_obj_publish(p, DAPL_PZ);
	*pz = p;
	return DAPL_OK;
}

enum dapl_status
dapl_pz_free(struct dapl_pz *pz)
{
	/* The protection domain counts its regions, windows, queue pairs and shared receive queues itself. */
	if (roce_pd_destroy(pz->pd) != 0)
		return DAPL_PZ_IN_USE;
	dapl_obj_retire(pz);
	dapl_obj_free(pz);
	return DAPL_OK;
}
