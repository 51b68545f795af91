/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_RMR_H
#define DAPL_RMR_H

/**
 * @file
 * Remote memory regions: windows for peers.
 */

#include "dapl/obj.h"
#include "dapl/pz.h"
#include "dapl/status.h"
#include "engine/verbs.h"

struct dapl_ep;

/** A window for peers; what it is bound to, and until when, the engine knows. */
struct dapl_rmr {
	struct dapl_obj head;
	struct dapl_pz *pz;
	struct roce_mw *mw;
};

/** A remote memory region, bound to nothing. @return DAPL_OK; DAPL_NO_MEMORY. Any thread. */
enum dapl_status dapl_rmr_create(struct dapl_pz *pz, struct dapl_rmr **rmr);
/** Bound or not: no peer reaches memory through it any more. Binds that are posted fail. @return DAPL_OK. */
enum dapl_status dapl_rmr_free(struct dapl_rmr *rmr);
/**
 * Post a bind; on success its key is written. Lean.
 * @param wr  a request BIND_MW but for the window, which is that of @p rmr.
 * @return DAPL_OK; DAPL_BAD_TRIPLET: no region, or outside of it; DAPL_PRIVILEGES; DAPL_PROTECTION; the state of the
 *   endpoint that forbids it; DAPL_NO_ROOM.
 */
enum dapl_status dapl_rmr_bind(struct dapl_rmr *rmr, struct dapl_ep *ep, const struct roce_wr *wr);

#endif
