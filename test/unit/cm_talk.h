/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_CM_TALK_H
#define ROCE_TEST_CM_TALK_H

/**
 * @file
 * The messages and events of a world of connection managers, and ways to send a message by hand.
 */

#include "cm_world.h"

/** How often an end was told something. */
unsigned int told_times(const struct end *end, enum roce_cm_event_kind kind);

/** The kinds an end was told, in order, as letters: Q request, P reply, E established, R rejected, T timed out,
 * U unreachable, D disconnected, W the way, B broken. */
const char *told_all(const struct end *end);

uint32_t in_state(const struct end *end, enum roce_cm_state state);

uint32_t connections(const struct end *end);

/** A pair that is connected; the active end's connection in @p a, the passive one's in @p b. */
void world_connected(struct roce_cm_conn **a, struct roce_cm_conn **b);

/** Events of both ends, in the letters of told_all(). */
void expect_told(const char *by_active, const char *by_passive);

/** Everybody let go of everything: nothing is left. Another world begins. */
void world_all_over(void);

/** The same when the last connections were released, of which the second may be NULL. */
void world_over(struct roce_cm_conn *a, struct roce_cm_conn *b);

/** A frame with this MAD, from the other end to @p to, as the other end would send it. */
struct rte_mbuf *forge(struct end *to, const struct roce_cm_mad *mad);

/** Let an end hear a message of the other. */
void hear(struct end *to, const struct roce_cm_msg *msg);

/** Frames that an end sends now; they are lost, but for world->last. */
unsigned int speak(struct end *end);

/** The last frame that an end sent, as a message. */
struct roce_cm_msg last_msg(void);

/** A REQ as the other end would send it, that nothing is wrong with. */
struct roce_cm_msg good_request(struct end *to);

/** The answer of an end to this request; fails unless it is exactly one message. */
struct roce_cm_msg said_to(struct end *end, const struct roce_cm_msg *req);

#endif
