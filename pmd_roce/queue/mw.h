/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_MW_H
#define ROCE_QUEUE_MW_H

/**
 * @file
 * Memory windows, and the face that the key table shows to peers.
 *
 * A window is an entry of the key table (keys.h) that no post may name. Binding it
 * gives the entry a region's bounds and a new key; the old key ends first. A
 * thread that works on memory for a peer enters the entry and leaves it: where
 * engines share a table, a bind waits for the threads that entered by the old
 * key, so that no byte moves through a binding that has ended. With one engine
 * no thread is inside when a bind is executed.
 */

#include "queue/domain.h"
#include "queue/wq.h"

struct roce_mw {
	struct roce_domain *domain;
	struct roce_mr *entry;
	struct roce_pd *pd;
	void *owner;
	uint32_t key; /**< of type 2: the key that it began with; 0: of type 1 */
};

/** The bits of a key that the consumer chooses when it binds a window of type 2. */
#define ROCE_MW_KEY_CHOICE 0xffu

/** As roce_keys_enter() for a window that engines share. */
int roce_mw_enter(struct roce_mr *mw, const struct roce_pd *pd, const struct roce_qp *qp,
		struct roce_sge *sge, unsigned int access);

/** May a peer of @p qp, which is of @p pd, do this? @return as roce_keys_enter(). */
static inline int
roce_mr_judge_peer(const struct roce_mr *mr, const struct roce_pd *pd, const struct roce_qp *qp,
		struct roce_sge *sge, unsigned int access)
{
	if (unlikely(mr->peer != pd) && mr->peer != qp)
		return -EPERM;
	if (unlikely((mr->access & access) != access))
		return -EACCES;
	sge->addr += mr->offset;
	return likely(roce_mr_holds(mr, sge->addr, sge->length)) ? 0 : -ERANGE;
}

/**
 * The peer of @p qp, a queue pair of @p pd, wants to touch memory: may it? Locked (any engine).
 *
 * @param sge     the peer's words: address, length, key. When 0 is returned, the address is that in memory; else undefined.
 * @param access  IBV_ACCESS_REMOTE_*, all of which it needs.
 * @param entered for roce_keys_leave(), which must follow at once when the memory was touched: in between no lock may
 *                be taken, since a bind on another engine may be waiting.
 * @return 0; -EACCES no such key or right; -EPERM other protection domain, or a window that another queue pair bound; -ERANGE
 *   outside.
 */
static inline int
roce_keys_enter(const struct roce_domain *domain, const struct roce_pd *pd,
		const struct roce_qp *qp, struct roce_sge *sge, unsigned int access,
		struct roce_mr **entered)
{
	struct roce_mr *mr = roce_keys_find(&domain->keys, sge->lkey);

	*entered = NULL;
	if (unlikely(mr == NULL))
		return -EACCES;
	if (likely(mr->pd != NULL || !domain->multi_engine))
		return roce_mr_judge_peer(mr, pd, qp, sge, access);
	*entered = mr;
	return roce_mw_enter(mr, pd, qp, sge, access);
}

/** The memory was touched. Only after a roce_keys_enter() that returned 0. */
static inline void
roce_keys_leave(struct roce_mr *entered)
{
	if (unlikely(entered != NULL))
		__atomic_fetch_sub(&entered->visitors, 1, __ATOMIC_RELEASE);
}

/** roce_mw_judge() by a queue pair of @p qp_pd. Any thread. @return as there. */
int roce_mw_judge_bind(const struct roce_keys *keys, const struct roce_pd *qp_pd,
		const struct roce_mw_bind *bind);

/** Fill the slot of a valid bind, but for what every request has. The poster's thread. */
void roce_mw_fill(struct roce_mw_bind *bind, struct roce_wqe *wqe);

/** The same of a local invalidate of the window that has this key then. */
void roce_mw_fill_invalidate(uint32_t key, struct roce_wqe *wqe);

/**
 * Execute a bind or local invalidate of @p qp. Locked (any engine).
 * @return 0; -ENOENT window or region are gone; -EBUSY a window of type 2 is bound; -EACCES no window of type 2 is bound by this
 *   key and this queue pair; as roce_mw_judge(): what the window was bound to stays.
 */
int roce_mw_execute(struct roce_qp *qp, const struct roce_wqe *wqe);

/**
 * The peer of @p qp asked for the end of the window's binding that has this key (IBTA Vol 1, SEND with invalidate).
 * Regions are not ended from afar. When it returns 0 nobody reaches memory by this key any more.
 * Locked (any engine). @return 0; -EACCES no window is bound by this key, or it is of another protection domain, or of type 2
 *   and another queue pair bound it.
 */
int roce_mw_invalidate(const struct roce_qp *qp, uint32_t key);

/** A bind that was executed failed: if it still is in force, the window is bound to nothing. Locked (any engine). */
void roce_mw_revoke(struct roce_domain *domain, const struct roce_wqe *wqe);

/** The queue pair ends: the windows of type 2 that it bound are bound to nothing. All engines are locked. */
void roce_mw_release(const struct roce_qp *qp);

#endif
