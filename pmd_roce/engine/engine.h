/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ENGINE_ENGINE_H
#define ROCE_ENGINE_ENGINE_H

/**
 * @file
 * The lower seam of the engine: bursts of frames and the time in, bursts of
 * frames and a deadline out. The engine opens nothing, reads no clock, starts
 * no thread and logs nothing; whoever calls these functions is the world.
 *
 * A domain is an adapter: one or more engines (one per port queue) that share
 * memory keys, completion queues and shared receive queues. Each engine has one
 * lock; roce_engine_rx() and roce_engine_tx() want it held.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_mbuf.h>

#include "queue/async_events.h"
#include "queue/config.h"
#include "queue/lock.h"
#include "queue/stats.h"
#include "wire/frame.h"

/** @return 0; -EINVAL; -ENOMEM. */
int roce_domain_create(const struct roce_domain_config *config, struct roce_domain **domain);

/** All objects of the domain must be gone. */
void roce_domain_destroy(struct roce_domain *domain);

unsigned int roce_domain_engines(const struct roce_domain *domain);
struct roce_engine *roce_domain_engine(struct roce_domain *domain, unsigned int index);

/** The context that the domain has of itself, for its only user. */
struct roce_context *roce_domain_context(struct roce_domain *domain);

/** The line carries another number of bytes per second, or an unknown one (0). All engines' locks are held. */
void roce_domain_set_line_rate(struct roce_domain *domain, uint64_t line_rate);

/**
 * A thread that polls is about to sleep until the device tells of a frame, polls once more, and then sleeps; or it is awake
 * again. Meanwhile posts of other threads call wake_poller(). Any thread.
 */
void roce_domain_add_sleeper(struct roce_domain *domain);
void roce_domain_remove_sleeper(struct roce_domain *domain);

/** Other addresses are ours now, at most ROCE_ADDRS_MAX. All engines' locks are held. */
void roce_domain_set_addrs(struct roce_domain *domain, const struct roce_ip *addr, unsigned int n);

/**
 * There is no device any more: whatever is connected breaks, with everything flushed and QP_BROKEN delivered. Queue pairs
 * that are not connected stay as they are. All engines' locks are held.
 */
void roce_domain_break(struct roce_domain *domain);

/**
 * A process with which this one shares an address has ended: what is connected to it breaks, as roce_domain_break() does
 * it. A queue pair that was moved by roce_qp_do_modify() alone, without the connection manager, stays as it is: nothing is
 * received for it any more, and its requests end with their retries (IBTA Vol 1, 9.9.2). The domain has a table of
 * processes (peer_process). All engines' locks are held.
 */
void roce_domain_break_process(struct roce_domain *domain, uint16_t process);

/** Put the connection manager on QP 1. Before the first frame. */
void roce_domain_set_gsi(struct roce_domain *domain, const struct roce_gsi *gsi);

/** The bits of a queue pair number that name its engine, when there are so many: number & mask is its index. */
static inline uint32_t
roce_engine_mask(unsigned int engines)
{
	return rte_align32pow2(engines) - 1;
}

/**
 * Feed received frames. Locked.
 *
 * Frames for this provider are consumed (freed, or forwarded to the engine that owns the queue pair); the others
 * are moved to the front of @p pkts, in order and untouched. Frames that other engines forwarded are taken
 * in as well, so a call with n = 0 is useful where the domain has several.
 *
 * @return how many foreign frames are left in front; they are the caller's.
 */
uint16_t roce_engine_rx(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t n, uint64_t now);

/**
 * Take in all frames that other engines forwarded, and nothing else. Locked.
 */
void roce_engine_rx_forwarded(struct roce_engine *e, uint64_t now);

/**
 * Fetch frames to send: connection management, acknowledgements, requests. Runs the timers. Locked.
 * @return how many, at most @p max; ownership passes.
 */
uint16_t roce_engine_tx(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t max, uint64_t now);

/**
 * The part of roce_engine_tx() that sends what is on the ready list, at the time of the last roce_engine_tx(): no timer runs, and
 * no other thread is heard. For config.transmit. Locked. @return as roce_engine_tx().
 */
uint16_t roce_engine_tx_ready(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t max);

/** Next time at which roce_engine_tx() wants to run without new frames or posts. 0: now. ROCE_NEVER: idle. Locked. */
uint64_t roce_engine_deadline(const struct roce_engine *e);

/** Does a completion wait for nothing but that the device releases frames? Locked. */
bool roce_engine_waits_for_release(const struct roce_engine *e);

/** Counters of an engine: stats.def names them. Read without lock; single words are never torn. */
const struct roce_stats *roce_engine_stats(const struct roce_engine *e);

#endif
