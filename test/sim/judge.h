/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_SIM_JUDGE_H
#define ROCE_SIM_JUDGE_H

/**
 * @file
 * Watches each frame of a world: end states alone do not show a requester that
 * wastes the wire. Knows what was posted and the protocol, nothing of the engine.
 *
 * Of the requester (judge.c):
 *   - each frame is what the message that its PSN belongs to looks like there, and messages follow each other;
 *   - nothing whose acknowledgement has arrived is sent, and nothing beyond the window;
 *   - no message begins ahead of the credits, unless nothing is in flight;
 *   - no fenced message begins before every READ and atomic in front of it is answered, and no more of those are
 *     under way than was agreed upon;
 *   - after a receiver-not-ready NAK there is silence for as long as it says.
 *
 * Of the responder (judge_answer.c):
 *   - it acknowledges only what arrived, and with the number of the last message that ends there;
 *   - no acknowledgement overtakes the answer to a READ or atomic before it; answers leave nothing out;
 *   - a gap is reported once;
 *   - it says only of requests that arrived that it holds them, and only to a peer that has agreed to hear of it.
 *
 * Of both (judge_congestion.c):
 *   - a congestion notification follows a mark, and there is no more than one in 50 us;
 *   - a sender is at half the speed of the line after the first one.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "wire/frame.h"
#include "world.h"

#define JUDGE_FLOWS  (2u * WORLD_TALKS_MAX)
#define JUDGE_WINDOW 128
#define JUDGE_ASKS   16u
#define JUDGE_EARLY \
	1024u /**< PSNs ahead of the one that is missing: more than a window and all READs */

/** A message that was posted. */
struct judge_message {
	uint32_t length;
	uint32_t end;   /**< one behind its last PSN */
	uint8_t opcode; /**< enum ibv_wr_opcode */
	bool fence;
	bool solicited;
};

/** A READ or atomic that is not answered to the end. */
struct judge_ask {
	uint32_t psn;
	uint32_t end;
	uint32_t sent; /**< one behind the newest PSN of the answer that was sent */
};

/** A request that arrived ahead of one that is missing. */
struct judge_early {
	uint32_t psn;
	uint32_t psns; /**< that it stands for; 0: there is none */
};

/** One direction of one queue pair. */
struct judge_flow {
	uint32_t requester; /**< QP numbers */
	uint32_t responder;
	uint32_t acknowledged; /**< everything before it, as far as acknowledgements arrived */
	uint32_t next;         /**< one behind the newest PSN sent */
	uint32_t heard;        /**< everything before it arrived at the responder */
	struct judge_early early
			[JUDGE_EARLY]; /**< requests that arrived ahead of it, each at its PSN */
	struct judge_early answered[JUDGE_EARLY]; /**< the same of answers to READs */
	uint32_t answers;                         /**< of them not acknowledged */
	uint32_t posted; /**< messages; number 0 is the end of what was before the first */
	uint32_t begun;  /**< of them, on the wire */
	uint32_t limit;  /**< messages that the responder has receives for */
	bool limited;
	bool nak_sent; /**< for nak_psn, which has not arrived since */
	uint32_t nak_psn;
	uint64_t silent_until;
	bool marked; /**< a frame of the requester arrived with a mark after the last notification */
	uint32_t notified;   /**< notifications sent to the requester */
	uint64_t marked_at;  /**< first mark that arrived */
	bool slowed;         /**< a notification arrived at the requester */
	uint64_t slow_until; /**< and it has a budget until then */
	int64_t budget;      /**< bytes */
	uint32_t asks;
	struct judge_ask ask[JUDGE_ASKS];
	struct judge_message message[WORLD_MESSAGES_MAX + 1];
};

struct judge {
	uint32_t mtu;    /**< bytes */
	uint32_t reads;  /**< READs and atomics outstanding that were agreed upon */
	bool extensions; /**< both sides have agreed on the provider's extensions */
	uint64_t line;   /**< bytes per second */
	uint32_t flows;
	struct judge_flow flow[JUDGE_FLOWS];
	uint64_t again;         /**< request frames sent more than once */
	uint64_t not_ready;     /**< receiver-not-ready NAKs sent */
	uint64_t notifications; /**< that arrived */
	const char *violation;  /**< the first one */
};

void judge_init(struct judge *judge, const struct world_params *world);

/**
 * Expect requests from one queue pair to another, beginning with @p psn. The other direction must be the next one.
 * @return their flow.
 */
struct judge_flow *
judge_expect(struct judge *judge, uint32_t requester, uint32_t responder, uint32_t psn);

/** A message was posted to the flow; its @c end is filled in here. */
void
judge_posted(struct judge *judge, struct judge_flow *flow, const struct judge_message *message);

/** A frame leaves an engine. */
void judge_sent(struct judge *judge, struct rte_mbuf *m, uint64_t now);

/** A frame, perhaps damaged, reaches an engine. */
void judge_arrived(struct judge *judge, struct rte_mbuf *m, uint64_t now);

/* ---- judge_answer.c ---- */

/** An answer leaves the responder of the flow. */
void judge_answer_sent(struct judge *judge, struct judge_flow *flow, const struct roce_pkt *pkt);

/** A selective acknowledgement leaves the responder of the flow. */
void
judge_sack_sent(struct judge *judge, const struct judge_flow *flow, const struct roce_pkt *pkt);

/** A request reaches the responder of the flow. */
void judge_request_arrived(
		const struct judge *judge, struct judge_flow *flow, const struct roce_pkt *pkt);

/* ---- judge_congestion.c ---- */

/** A frame of the flow's requester arrived marked. */
void judge_marked(struct judge_flow *flow, uint64_t now);

/** A congestion notification leaves for, or reaches, the requester of the flow. */
void judge_notified(struct judge *judge, struct judge_flow *flow, uint64_t now);
void judge_slowed(struct judge *judge, struct judge_flow *flow, uint64_t now);

/** The requester of the flow sends data: a request, or an answer to its peer's. */
void
judge_speed(struct judge *judge, struct judge_flow *flow, const struct roce_pkt *pkt, uint64_t now);

/** PSNs that a request frame stands for: those of its answer. */
uint32_t judge_psns(const struct judge *judge, const struct roce_pkt *pkt);

/** Note what did not hold, if it is the first. */
void judge_violate(struct judge *judge, const char *what);

#endif
