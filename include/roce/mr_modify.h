/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_MR_MODIFY_H
#define ROCE_MR_MODIFY_H

/**
 * @file
 * Changes of memory regions, as ibv_rereg_mr() makes them. roce/verbs.h includes it.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct roce_mr;
struct roce_pd;

/** Which fields of struct roce_mr_mod count: the numbers of enum ibv_rereg_mr_flags. */
enum roce_mr_mod_mask {
	ROCE_MR_MOD_TRANSLATION = 1 << 0, /**< addr and length; the iova is addr then */
	ROCE_MR_MOD_PD = 1 << 1,
	ROCE_MR_MOD_ACCESS = 1 << 2
};

/** The new state of a region. */
struct roce_mr_mod {
	struct roce_pd *pd; /**< of the same device */
	uint64_t addr;      /**< as for roce_mr_create() */
	uint64_t length;    /**< bytes */
	uint32_t access;    /**< enum roce_access, together */
	uint32_t reserved;  /**< 0 */
};

/**
 * Change a region, which keeps its key: as if it ended and another one began. Requests and receives that are posted are validated
 * again when they are executed. Until the call returns the key may be dead to posts and to peers. Takes the lock of every engine
 * once. Any thread, but one at a time for a region.
 *
 * @param mask  enum roce_mr_mod_mask, together; at least one.
 * @return 0; -EINVAL no change, or a field that is none; -EBUSY as roce_mr_destroy(). A failure changes nothing.
 */
int roce_mr_modify(struct roce_mr *mr, const struct roce_mr_mod *mod, uint32_t mask);

#ifdef __cplusplus
}
#endif

#endif
