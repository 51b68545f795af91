/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_REQUESTER_REQ_READ_H
#define ROCE_REQUESTER_REQ_READ_H

/**
 * @file
 * The requester's READs and atomics: which answer is expected, and what becomes of it.
 */

#include "queue/qp.h"

/** The oldest READ or atomic of which a frame was ever sent; NULL: none. Locked. */
struct roce_wqe *roce_read_oldest(const struct roce_qp *qp);

/** PSN of the next frame of the answer to @p wqe, the oldest READ or atomic. Locked. */
uint32_t roce_read_expected(const struct roce_qp *qp, const struct roce_wqe *wqe);

/**
 * Is the frame, which has the expected PSN, the next one of the answer to @p wqe? Nothing else about it is believed.
 * @param got bytes of a READ that came before it.
 */
bool roce_read_fits(const struct roce_qp *qp, const struct roce_wqe *wqe,
		const struct roce_pkt *pkt, uint32_t *got);

/** READs and atomics before the request at next that are not answered. Locked. */
uint32_t roce_read_outstanding(const struct roce_qp *qp);

/** The answer at @p psn is lost: ask again from there, once for each gap. Locked. */
void roce_read_lost(struct roce_qp *qp, uint32_t psn, uint64_t now);

/** An answer to a READ or atomic arrived. Locked. */
void roce_read_rx(struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t now);

#endif
