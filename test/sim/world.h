/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_SIM_WORLD_H
#define ROCE_SIM_WORLD_H

/**
 * @file
 * A world: two adapters, a simulated wire, a virtual clock, and consumers that
 * send numbered messages on every queue pair in both directions. Everything
 * that happens follows from its parameters.
 *
 * Rules, any of which ends the world when it does not hold:
 *   - every message is delivered once, in order, with its bytes, length, flags and immediate data;
 *   - every WRITE, READ and atomic that succeeded did what it should, once (deed.h);
 *   - every bind is in force before what was posted behind it arrives, and no bind is executed twice (window.h);
 *   - every request that wants a completion has one, in order, with the status the world allows;
 *   - of shared receive queues: posted = available + held + completed + reaped, at every look;
 *   - every single frame is one that the protocol allows at that moment (judge.h);
 *   - on a wire without faults nothing is sent twice;
 *   - a side that is stopped for less than all retries take breaks nothing, one that is stopped for longer does;
 *   - afterwards every frame is back in its pool and no timer is armed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/verbs.h"
#include "wire.h"

#define WORLD_TALKS_MAX 8u
#define WORLD_HZ        1000000000u

#define WORLD_MESSAGES_MAX 256u /**< of each queue pair in each direction */

/** How a world may end. */
enum world_end {
	WORLD_WHOLE = 0, /**< all messages arrive */
	WORLD_KILLED, /**< one end is moved to ERR on the way: everything posted must come back */
	WORLD_DEAD, /**< the wire dies on the way: retries must run out, everything posted must come back */
	WORLD_STOPPED, /**< one side is stopped for longer than all retries take: as with a dead wire */
	WORLD_DENIED, /**< one request asks for what it may not have: it is refused, and the connection breaks */
};

struct world_params {
	uint64_t seed;
	uint32_t talks;    /**< queue pairs of each side */
	uint32_t engines;  /**< of each side */
	uint32_t messages; /**< of each queue pair in each direction */
	uint32_t depth;    /**< receives of a side (shared), or of a queue pair */
	uint32_t send_depth;
	uint32_t first_psn; /**< of every queue pair; UINT32_MAX: random */
	uint32_t room;      /**< frames the device takes in a poll */
	bool moody;         /**< the device takes fewer than that, or none, as it likes */
	uint32_t held; /**< frames that an engine may hold; UINT32_MAX: as many as the engine finds right */
	uint32_t frames; /**< transmit pool of both sides together, fewer than 64; 0: plenty */
	uint32_t repost_ns; /**< a reaped receive is posted again so much later: makes queues run empty */
	uint64_t line; /**< bytes per second that a queue pair reaches without limiter */
	uint8_t mtu_code;
	uint16_t max_inline; /**< bytes that a request of half of the messages carries in itself, if it can */
	bool answers; /**< a message is posted in answer to one of the peer, in turns that side 0 begins */
	bool extensions; /**< both sides have agreed on the provider's extensions */
	bool shared;     /**< one shared receive queue for each side */
	bool verbs;      /**< all operations; else SEND only */
	bool binds; /**< memory windows are bound among them, granted to the peer, and invalidated by it */
	bool full;     /**< every message fills its packets */
	uint8_t reads; /**< READs and atomics outstanding */
	enum world_end end;
	uint64_t end_at; /**< nanoseconds of world time; WORLD_DENIED: number of the request */
	uint64_t stop_at; /**< nanoseconds of world time: from here on one side's adapter is not polled ... */
	uint64_t stop_ns; /**< ... for so long; 0: never */
	uint8_t stop_side;
	uint8_t ack_timeout; /**< local ACK timeout code */
	struct wire_trouble trouble;
};

/** Sums over all worlds. */
struct world_totals {
	uint64_t worlds, messages, frames, lost, damaged, repeated, marked, retransmits, broken,
			notified, held;
	uint64_t inlined;                     /**< messages */
	uint64_t binds, invalidated, refused; /**< binds, keys, requests */
	uint64_t dry;                         /**< times that the pool was */
};

extern struct world_totals world_totals;

/** Once, before the first world. */
void world_start(void);

/**
 * Live one world from beginning to end.
 * @return NULL when everything held; else what did not, one sentence (static storage).
 */
const char *world_run(const struct world_params *params);

/** After the last world: frees the adapters. @return false: a frame or memory is missing. */
bool world_stop(void);

#endif
