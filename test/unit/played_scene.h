/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_PLAYED_SCENE_H
#define ROCE_TEST_PLAYED_SCENE_H

/**
 * @file
 * The scene of the tests of one queue pair: an end, a queue pair in RTS on it, and a peer that the test plays, number
 * 0x777 at 192.0.2.99. A test may destroy the queue pair and play another one, or none.
 */

#include "queue/qp.h"
#include "fixture.h"
#include "fixture_rdma.h"

static struct fx_end end;
static struct fx_peer peer; /**< of qp */
static struct roce_qp *qp;
static struct roce_mr *
		region; /**< all of the end's memory, with the rights that the scene asks for; NULL: none */

/** The differences between the scene's queue pair and an ordinary one. */
struct played {
	uint32_t max_send_wr;       /**< 0: as many as an ordinary one */
	uint8_t max_rd_atomic;      /**< READs and atomics that it may have under way */
	uint8_t max_dest_rd_atomic; /**< those that its peer may */
	bool atomics;               /**< it may post atomics */
	uint32_t mtu;               /**< bytes; 0: that of an ordinary one */
	unsigned int rights;        /**< of the region, all of the end's memory; 0: there is none */
	bool agreed;                /**< it and its peer have agreed on the provider's extensions */
};

/** The connection to the peer, with the numbers of @p how. */
static inline struct roce_qp_connect
connect_to_peer(const struct played *how)
{
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);

	connect.max_rd_atomic = how->max_rd_atomic;
	connect.max_dest_rd_atomic = how->max_dest_rd_atomic;
	connect.extensions = how->agreed;
	if (how->mtu != 0)
		connect.path.mtu_code = roce_mtu_code(how->mtu);
	return connect;
}

static inline void
open_scene(const struct played *how)
{
	struct roce_qp_connect connect;
	struct roce_qp_attr attr;

	fx_end_open(&end, 1, NULL);
	attr = fx_attr(&end);
	attr.max_dest_rd_atomic = how->max_dest_rd_atomic;
	attr.atomics = how->atomics;
	if (how->max_send_wr != 0)
		attr.max_send_wr = how->max_send_wr;
	connect = connect_to_peer(how);
	qp = fx_play(&end, &attr, &connect, &peer);
	region = how->rights != 0 ? fx_mr(end.pd, (uintptr_t)end.memory, FX_MEMORY, how->rights)
				  : NULL;
}

/** One with an ordinary queue pair. */
static inline void
open_ordinary_scene(void)
{
	open_scene(&(struct played){ 0 });
}

/** Fails when memory or frames are left. */
static inline int
teardown(void **state)
{
	fx_end_close(&end);
	return fx_left();
}

#endif
