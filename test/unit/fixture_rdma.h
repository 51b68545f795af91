/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_FIXTURE_RDMA_H
#define ROCE_TEST_FIXTURE_RDMA_H

/**
 * @file
 * Frames of a played peer that are about memory: its WRITEs, READs and atomics, and its answers to ours.
 *
 * The frames are those of fx_request(), with the headers filled in that it leaves empty; they are the caller's.
 */

#include "fixture.h"

#define FX_ORIGINAL UINT64_C(0x1122334455667788) /**< what an answer to an atomic says was there */

/** Memory that a request is about. */
struct fx_target {
	uint64_t va;
	uint32_t rkey;
	uint32_t length; /**< of an atomic: what it adds, or stores */
};

/** Write into a request of the peer which memory it is about. @return that. */
struct rte_mbuf *fx_name(struct fx_peer *peer, struct rte_mbuf *m, const struct fx_target *target);

/** A WRITE, READ or atomic of the peer, with @p len bytes of payload. Of any other request: fx_request(). */
struct rte_mbuf *fx_about(struct fx_peer *peer, uint8_t opcode, uint32_t psn, uint32_t len,
		const struct fx_target *target, unsigned int flags);

/** A packet of the peer's answer to a READ or an atomic: its payload, its ACK for message @p msn, if it has them. */
struct rte_mbuf *
fx_response(struct fx_peer *peer, uint8_t opcode, uint32_t psn, uint32_t len, uint32_t msn);

/** Shorter: give such a packet, with the ACK of message 1. */
void fx_rx_response(struct fx_end *end, struct fx_peer *peer, uint8_t opcode, uint32_t psn,
		uint32_t len);

#endif
