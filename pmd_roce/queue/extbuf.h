/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_EXTBUF_H
#define ROCE_QUEUE_EXTBUF_H

/**
 * @file
 * Payload that is not copied: frames whose payload is an external buffer of DPDK (rte_pktmbuf_attach_extbuf()) over the
 * memory of a region.
 *
 * Such a frame has three segments: the headers, the region's memory, pad and ICRC. The device may hold it for long,
 * beyond the acknowledgement of its bytes; the consumer may write to them only afterwards. So a completion means both:
 * acknowledged (or given up), and released by the device, each frame that was ever made of the request. Completions keep
 * their order: behind one that waits, others do. The protocol does not: requests end when they always did, that is
 * roce_qp.tx.tail; their completions follow at roce_qp.done, and the slot is the poster's again.
 *
 * Each request of which such a frame was made has one shared info, whose references are the request's own until it ends
 * and one for each frame. The thread that drops the last one pushes it to a stack of the engine. Shared infos
 * are the engine's, not the queue pair's, and outlive even the engine as long as a frame refers to one.
 *
 * A queue pair that is reset or destroyed waits for nobody, though after a reset the completions still come of what had
 * ended before; but a region ends only when no frame refers to it.
 */

#include <rte_mbuf.h>

#include "queue/qp.h"

#define ROCE_EXTBUFS_MAX \
	4096u /**< requests of an engine with frames that refer to memory; further ones copy */
#define ROCE_EXTBUF_REGIONS 4u /**< regions of one request; what lies in others is copied */

struct roce_extbufs;

/** The shared infos of an engine. @return 0; -ENOMEM. */
int roce_extbufs_create(struct roce_engine *e);

/** No queue pair is left; frames may be. Allowed when none was made. */
void roce_extbufs_destroy(struct roce_engine *e);

/** Has somebody released what a request waited for? Any thread. */
bool roce_extbufs_released(const struct roce_engine *e);

/** Has a request ended whose completion waits for the device? Locked. */
bool roce_extbufs_wait(const struct roce_engine *e);

/** Complete what waited and need not any more. Locked. */
void roce_extbufs_collect(struct roce_engine *e);

/**
 * Put payload and ICRC to a frame of a request with ROCE_WQE_EXTBUF which is no inline one: by reference where that is
 * possible and worth it, else by copying. Locked.
 *
 * @param to   behind the headers of the frame, in its only segment: the payload's place when it is copied.
 * @param len  bytes of payload, from tx.offset on.
 * @return 0, or as roce_keys_check(): the frame is of no use.
 */
int roce_extbuf_finish(struct roce_qp *qp, struct roce_wqe *wqe, struct rte_mbuf *m, uint8_t *to,
		uint32_t len);

/** The request at the tail, which has ROCE_WQE_EXTBUF, ends: its completion comes now or later. Locked. */
void roce_extbuf_complete(struct roce_qp *qp, enum ibv_wc_status status);

/**
 * All requests that have not ended, sent or not, end without completion; those that have still wait for theirs. The
 * cursors are set by the caller, who begins anew. Locked.
 */
void roce_extbuf_drop(struct roce_qp *qp);

/** The queue pair goes, after roce_extbuf_drop(): nobody waits for anything. Locked. */
void roce_extbuf_forget(struct roce_qp *qp);

#endif
