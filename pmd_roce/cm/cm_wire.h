/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_CM_CM_WIRE_H
#define ROCE_CM_CM_WIRE_H

/**
 * @file
 * Between datagrams and messages: frames in and out of the connection manager.
 */

#include "cm/cm_pvt.h"

/**
 * Read a datagram. One that is none of ours is counted.
 *
 * @param copy where the message is put when its frame has segments; @p msg may lead into it, or into the frame.
 * @param back the route to where it came from, without MTU.
 * @return false: dropped.
 */
bool roce_cm_wire_decode(struct roce_cm *cm, const struct roce_pkt *pkt, struct roce_cm_mad *copy,
		struct roce_cm_msg *msg, struct roce_path *back);

/** Make the messages that are owed, as far as there is room and memory. @return how many frames, at most @p max. */
uint16_t roce_cm_wire_talk(struct roce_cm *cm, struct rte_mbuf **pkts, uint16_t max);

/** Is any message owed? */
static inline bool
roce_cm_has_to_say(const struct roce_cm *cm)
{
	return cm->answers != 0 || !TAILQ_EMPTY(&cm->talking);
}

/** Answer an unknown peer: one message, lost when too many wait. */
void
roce_cm_answer(struct roce_cm *cm, const struct roce_path *path, const struct roce_cm_msg *msg);

#endif
