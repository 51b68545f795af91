/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_MEM_H
#define DAPL_MEM_H

/**
 * @file
 * Objects that are about memory: protection zones, local and remote memory regions, shared receive queues. Part of
 * dapl.h, whose rules hold here.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dapl/obj.h"
#include "dapl/status.h"
#include "engine/verbs.h"

struct dapl_ep;

struct dapl_pz {
	struct dapl_obj head;
	struct roce_pd *pd;
};

enum dapl_lmr_type {
	DAPL_LMR_VIRTUAL, /**< an address of the process */
	DAPL_LMR_OF_LMR,  /**< the memory of another region */
	DAPL_LMR_SHARED,  /**< memory that other processes or adapters have, too */
};

#define DAPL_COOKIE_LEN 40

/** Which memory it is, whatever address it has in a process. */
struct dapl_backing {
	uint64_t device, inode;
	uint64_t offset; /**< of the first byte */
};

/** A region of shared memory among all of the process. */
struct dapl_shared {
	LIST_ENTRY(dapl_shared) link;
	uint64_t length; /**< bytes */
	struct dapl_backing backing;
	uint8_t cookie[DAPL_COOKIE_LEN]; /**< the name that the consumers agreed upon */
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

/** A window for peers; what it is bound to, and until when, the engine knows. */
struct dapl_rmr {
	struct dapl_obj head;
	struct dapl_pz *pz;
	struct roce_mw *mw;
};

struct dapl_srq {
	struct dapl_obj head;
	struct roce_srq *srq;
	struct dapl_pz *pz;
	uint32_t max_recv_iov;
};

/* ---- pz.c, lmr.c, rmr.c, srq.c ---- */

/** @return DAPL_OK; DAPL_NO_MEMORY. Any thread. */
enum dapl_status dapl_pz_create(struct dapl_ia *ia, struct dapl_pz **pz);
/** @return DAPL_OK; DAPL_PZ_IN_USE. */
enum dapl_status dapl_pz_free(struct dapl_pz *pz);

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

/** Is all of it mapped as shared memory, and which is it? Reads /proc/self/maps. Any thread. */
bool dapl_shared_look(uint64_t addr, uint64_t length, struct dapl_backing *backing);
/** Remember a region of shared memory. Any thread. @return false: its cookie names other memory; not added. */
bool dapl_shared_add(struct dapl_shared *entry);
void dapl_shared_remove(struct dapl_shared *entry);

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

/** @return DAPL_OK; DAPL_NO_MEMORY. Any thread. */
enum dapl_status
dapl_srq_create(struct dapl_pz *pz, uint32_t max_dtos, uint32_t max_iov, struct dapl_srq **srq);
/** @return DAPL_OK; DAPL_SRQ_IN_USE. Buffers still posted vanish without completion. */
enum dapl_status dapl_srq_free(struct dapl_srq *srq);
/** @return DAPL_OK; DAPL_BUSY: more is outstanding, or the low watermark is higher; DAPL_NO_MEMORY. */
enum dapl_status dapl_srq_resize(struct dapl_srq *srq, uint32_t max_dtos);
/** Set and arm the low watermark. @return DAPL_OK; DAPL_BAD_COUNT: above the size of the queue. */
enum dapl_status dapl_srq_set_lw(struct dapl_srq *srq, uint32_t low);
/** Post a buffer; lean. Any number of threads. @return DAPL_OK or as dapl_post_error(). */
enum dapl_status dapl_srq_post_recv(struct dapl_srq *srq, const struct roce_recv_wr *wr);

#endif
