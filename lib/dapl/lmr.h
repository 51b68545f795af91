/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_LMR_H
#define DAPL_LMR_H

/**
 * @file
 * Local memory regions.
 */

#include <stdint.h>

#include "dapl/obj.h"
#include "dapl/pz.h"
#include "dapl/shared.h"
#include "dapl/status.h"
#include "engine/verbs.h"

enum dapl_lmr_type {
	DAPL_LMR_VIRTUAL, /**< an address of the process */
	DAPL_LMR_OF_LMR,  /**< the memory of another region */
	DAPL_LMR_SHARED,  /**< memory that other processes or adapters have, too */
};

struct dapl_lmr {
	struct dapl_obj head;
	struct dapl_pz *pz;
	struct roce_mr *mr;
	enum dapl_lmr_type type;
	const struct dapl_lmr *of; /**< maybe freed since: a value, not to be followed */
	struct dapl_shared shared; /**< of DAPL_LMR_SHARED */
	uint64_t addr;
	uint64_t length;   /**< bytes */
	uint32_t access;   /**< IBV_ACCESS_*, ROCE_ACCESS_LOCAL_READ */
	uint32_t priv;     /**< privileges as the consumer wrote them, for query */
	uint32_t key;      /**< local */
	uint32_t peer_key; /**< 0 without remote privileges */
};

struct dapl_lmr_create {
	enum dapl_lmr_type type;
	const struct dapl_lmr *of; /**< DAPL_LMR_OF_LMR: whose memory; address and length are its */
	const void *cookie;        /**< DAPL_LMR_SHARED: DAPL_COOKIE_LEN bytes, copied */
	uint64_t addr;
	uint64_t length; /**< bytes, not 0, no wrap */
	uint32_t access; /**< IBV_ACCESS_*, ROCE_ACCESS_LOCAL_READ */
	uint32_t priv;
};

/**
 * Register memory. A region made of another one is independent of it from then on. Any thread.
 * @return DAPL_OK; DAPL_NO_MEMORY; DAPL_BAD_REGION; DAPL_NOT_SHARED: some of the memory is private or not there;
 *   DAPL_BAD_COOKIE: a region of other memory has that name.
 */
enum dapl_status
dapl_lmr_create(struct dapl_pz *pz, const struct dapl_lmr_create *create, struct dapl_lmr **lmr);
/**
 * Transfers that still use the region fail from now on, and so do binds that are posted.
 * @return DAPL_OK; DAPL_LMR_IN_USE: a remote memory region is bound to it.
 */
enum dapl_status dapl_lmr_free(struct dapl_lmr *lmr);

#endif
