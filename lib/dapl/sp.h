/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_SP_H
#define DAPL_SP_H

/**
 * @file
 * Service points, where requests of peers arrive.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cm/cm.h"
#include "dapl/obj.h"
#include "dapl/status.h"

struct dapl_ep;
struct dapl_evd;

/** Service point: public (DAPL_PSP), or reserved for one request to one endpoint (DAPL_RSP). */
struct dapl_psp {
	struct dapl_obj head;
	struct roce_cm_listener *listener;
	struct dapl_evd *evd;
	uint64_t conn_qual;
	struct dapl_ep *ep; /**< of a reserved one; once it is used a value, not to be followed */
	bool used;          /**< the one request came */
};

/** @return DAPL_OK; DAPL_CONN_QUAL_IN_USE; DAPL_NO_MEMORY. Any thread. */
enum dapl_status dapl_psp_create(struct dapl_ia *ia, uint64_t conn_qual, struct dapl_evd *evd,
		struct dapl_psp **psp);
/** The same on a qualifier that nobody uses; psp->conn_qual. @return DAPL_OK; DAPL_CONN_QUAL_UNAVAILABLE; DAPL_NO_MEMORY. */
enum dapl_status
dapl_psp_create_any(struct dapl_ia *ia, struct dapl_evd *evd, struct dapl_psp **psp);
/** Requests that arrived before stay. @return DAPL_OK. */
enum dapl_status dapl_psp_free(struct dapl_psp *psp);

/** A service point for one request, which @p ep will answer. @return as dapl_psp_create(); the state of @p ep. Any thread. */
enum dapl_status dapl_rsp_create(struct dapl_ia *ia, uint64_t conn_qual, struct dapl_ep *ep,
		struct dapl_evd *evd, struct dapl_psp **rsp);
/** The endpoint is the consumer's again, unless the request came before. @return DAPL_OK. */
enum dapl_status dapl_rsp_free(struct dapl_psp *rsp);

#endif
