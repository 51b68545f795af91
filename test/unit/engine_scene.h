/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_ENGINE_SCENE_H
#define ROCE_TEST_ENGINE_SCENE_H

/**
 * @file
 * The scene of the tests of the poll of an engine: a queue pair whose peer the test plays, and frames given to any
 * engine, also such as it does not consume.
 */

#include "played_scene.h"

#define PSN  FX_RQ_PSN
#define ONLY IBV_OPCODE_RC_SEND_ONLY
#define BTH  42 /* offset into an untagged IPv4 frame */

/** @return frames that the engine left. */
static inline uint16_t
feed(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t left;

	roce_engine_lock(e);
	left = roce_engine_rx(e, pkts, n, end.now);
	roce_engine_unlock(e);
	return left;
}

/** The peer's message @p number, counted from 0. */
static inline struct rte_mbuf *
request(uint32_t number)
{
	return fx_request(&peer, ONLY, PSN + number, 8, 0);
}

static inline void
patch(struct rte_mbuf *m, uint32_t offset, uint8_t value)
{
	*rte_pktmbuf_mtod_offset(m, uint8_t *, offset) = value;
}

#endif
