/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_FIXTURE_QP_H
#define ROCE_TEST_FIXTURE_QP_H

/** @file Queue pairs of an end, their states, and their connections: to a peer that the test plays, or to each other. */

#include "fixture_end.h"
#include "wire/frame.h"

#define FX_MTU    1024u
#define FX_SQ_PSN 0x000100u /**< first PSN of our requests */
#define FX_RQ_PSN 0x800200u /**< first PSN of the peer's */

/** Makes the frames of the other end of a queue pair. */
struct fx_peer {
	struct roce_template template;
	uint8_t repeat; /**< repeat number of its frames */
};

/** Attributes of an ordinary queue pair on the end's shared receive queue. */
struct roce_qp_attr fx_attr(const struct fx_end *end);
struct roce_qp *fx_qp(struct fx_end *end, const struct roce_qp_attr *attr);

/** A connection with the ordinary values to @p dest_qp at @p ip. */
struct roce_qp_connect fx_connect(const struct fx_end *end, struct roce_ip ip, uint32_t dest_qp);

/** Bring a queue pair to RTS. */
void fx_up(struct roce_qp *qp, const struct roce_qp_connect *connect);

/** Change the state of a queue pair, under the lock of its engine. */
void fx_to_error(struct roce_qp *qp);
void fx_to_reset(struct roce_qp *qp);
void fx_drain(struct roce_qp *qp);

/** A queue pair in RTS whose peer the test plays; ordinary when @p attr is NULL. */
struct roce_qp *fx_play(struct fx_end *end, const struct roce_qp_attr *attr,
		const struct roce_qp_connect *connect, struct fx_peer *peer);

/** The same with an ordinary queue pair; the peer is number 0x777 at 192.0.2.99. */
struct roce_qp *fx_played_qp(struct fx_end *end, struct fx_peer *peer);

/** The peer of @p qp as @p connect describes it. */
struct fx_peer fx_peer_of(const struct roce_qp *qp, const struct roce_qp_connect *connect);

/** Connect two queue pairs with each other; the second one allows each @p depth READs and atomics under way. */
void fx_join(struct fx_end *a, struct roce_qp *qa, struct fx_end *b, struct roce_qp *qb);
void fx_join_reading(struct fx_end *a, struct roce_qp *qa, struct fx_end *b, struct roce_qp *qb,
		uint8_t depth);

#endif
