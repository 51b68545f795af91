/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_PZ_H
#define DAPL_PZ_H

/**
 * @file
 * Protection zones.
 */

#include "dapl/obj.h"
#include "dapl/status.h"
#include "engine/verbs.h"

struct dapl_pz {
	struct dapl_obj head;
	struct roce_pd *pd;
};

/** @return DAPL_OK; DAPL_NO_MEMORY. Any thread. */
enum dapl_status dapl_pz_create(struct dapl_ia *ia, struct dapl_pz **pz);
/** @return DAPL_OK; DAPL_PZ_IN_USE. */
enum dapl_status dapl_pz_free(struct dapl_pz *pz);

#endif
