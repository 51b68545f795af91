/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_REQUESTER_REQ_READ_H
#define ROCE_REQUESTER_REQ_READ_H

/**
 * @file
 * The requester's READs and atomics: which answer is expected, and what becomes of it.
 */

#include <rte_common.h>
#include <rte_mbuf.h>

#include "queue/qp.h"

/** The oldest READ or atomic of which a frame was ever sent; NULL: none. Locked. */
struct roce_wqe *roce_read_oldest(const struct roce_qp *qp);

/** PSN of the next frame of the answer to @p wqe, the oldest READ or atomic. Locked. */
uint32_t roce_read_expected(const struct roce_qp *qp, const struct roce_wqe *wqe);

/** Bytes of READ @p wqe that come before the frame of its answer that has this PSN. */
static inline uint32_t
roce_read_before(const struct roce_qp *qp, const struct roce_wqe *wqe, uint32_t psn)
{
	return (uint32_t)roce_psn_diff(psn, wqe->psn) * qp->rx.mtu;
}

/** Has a frame of the answer to a READ, of which @p left bytes are missing, so many bytes, and is it its end when it has to be? */
static inline bool
roce_read_length_ok(const struct roce_qp *qp, uint32_t left, const struct roce_opcode_info *op,
		uint32_t payload_len)
{
	const uint32_t mtu = qp->rx.mtu;

	/* A resumed answer may begin with FIRST or with MIDDLE; only its end is certain. */
	return payload_len == RTE_MIN(left, mtu) && !!(op->flags & ROCE_OP_END) == (left <= mtu);
}

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

/**
 * The peer has said something that it says behind its answers to all READs and atomics before @p psn: those that have not come are
 * lost. The peer has agreed to selective repeat: each is asked for, once. Locked.
 */
void roce_read_ask_before(struct roce_qp *qp, uint32_t psn, uint64_t now);

/** An answer to a READ or atomic arrived. Locked. */
void roce_read_rx(struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t now);

/**
 * The fast path of answers to READs: the frames that come next, one behind the other, to one queue pair of a domain with one
 * engine, whose oldest requests are those READs, of one segment each. They are validated from their bytes and placed, and
 * acknowledge together. Every other frame is left to roce_read_rx(), without side effects but for bytes of the segment
 * that the frame belongs to. Locked.
 *
 * @param pkts  of which the first is plain, with an opcode for which roce_plain_is_answer() says yes.
 * @return how many of the first frames were taken; they are the caller's to free.
 */
uint16_t
roce_read_rx_plain(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t n, uint64_t now);

#endif
