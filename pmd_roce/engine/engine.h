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
#include <sys/queue.h>

#include <rte_common.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_spinlock.h>

#include "wire/frame.h"

struct roce_domain;
struct roce_engine;
struct roce_qp;

#define ROCE_NEVER       UINT64_MAX
#define ROCE_ENGINES_MAX 8
#define ROCE_ADDRS_MAX   8

/** Where the domain's memory comes from: zeroed, cache-line aligned. */
struct roce_memory {
	void *(*alloc)(void *arg, size_t size); /**< NULL when there is none left */
	void (*free)(void *arg, void *p);       /**< NULL is allowed */
	void *arg;
};

/** Async events: rare, and delivered to the layer above at once. lib/roce makes enum roce_async_event_type of them. */
enum roce_engine_async {
	ROCE_ENGINE_ASYNC_QP_ESTABLISHED = 1, /**< first packet in state RTR: the peer is ready */
	ROCE_ENGINE_ASYNC_QP_BROKEN, /**< the transport gave up: state is ERR, everything is flushed */
	ROCE_ENGINE_ASYNC_QP_DRAINED, /**< roce_qp_drain() is done */
	ROCE_ENGINE_ASYNC_CQ_OVERFLOW,
	ROCE_ENGINE_ASYNC_SRQ_LOW, /**< fewer receives are on the shared queue than its low watermark */
	ROCE_ENGINE_ASYNC_QP_SOFT_HIGH, /**< the queue pair holds more receives than its soft high watermark */
	ROCE_ENGINE_ASYNC_CQ_EVENTS, /**< an armed completion queue has so many more events that wake */
};

/**
 * Delivers an async event, under the lock of the engine it happened on: ESTABLISHED before the first receive completes,
 * BROKEN when the queue pair is in ERR and everything is flushed. The receiver may record, push events to completion
 * queues and change its own state under the same lock; nothing else.
 *
 * @param owner  of the queue pair, completion queue or shared receive queue.
 * @param status QP_BROKEN: enum ibv_wc_status of the cause; CQ_EVENTS: how many. CQ_EVENTS is delivered when the lock
 *   is about to be dropped, and the receiver may not push events then.
 */
typedef void (*roce_notify_fn)(void *arg, enum roce_engine_async kind, void *owner, int status);

/**
 * The pending async events of an object. It stands in the object, so that no event is lost for want of memory; an event
 * that happens again before it was polled is delivered once.
 */
struct roce_pending_async {
	TAILQ_ENTRY(roce_pending_async) link;
	void *owner;
	uint32_t kinds; /**< bits 1 << enum roce_engine_async; 0: it is on no list */
	int status;     /**< of ROCE_ENGINE_ASYNC_QP_BROKEN */
};

TAILQ_HEAD(roce_pending_async_list, roce_pending_async);

/** The objects of a context with pending async events, that which waits longest first. */
struct roce_async_queue {
	rte_spinlock_t lock; /**< taken under any other */
	uint32_t count;      /**< on the list; written under the lock, atomic */
	struct roce_pending_async_list list;
};

void roce_async_queue_init(struct roce_async_queue *queue);

/** Take one pending async event. Any thread. @return false: there is none, and nothing was written. */
bool roce_async_queue_take(struct roce_async_queue *queue, enum roce_engine_async *kind,
		void **owner, int *status);

/**
 * A user of a domain, as a struct ibv_context of verbs: protection domains, completion queues and connections are made
 * for it, and it gets their async events, and those of what hangs on them. It outlives them.
 */
struct roce_context {
	struct roce_domain *domain;
	roce_notify_fn notify;
	void *arg; /**< handed to notify() */
	/**
	 * NULL, or where an async event becomes pending before notify() is called: all but
	 * ROCE_ENGINE_ASYNC_QP_ESTABLISHED and _DRAINED. The pending events of an object vanish with it.
	 */
	struct roce_async_queue *async_queue;
	uint32_t users; /**< protection domains, completion queues, and what the layer above counts; atomic */
	uint32_t addrs; /**< of addr; 0: all that the domain has */
	struct roce_ip addr
			[ROCE_ADDRS_MAX]; /**< its connections are made from and to these alone */
};

/** CQ_EVENTS was delivered: now that the lock is dropped, wake the waiters. @p arg is that of notify(). */
typedef void (*roce_wake_fn)(void *arg);

/** Queue pair 1, the general services: the connection manager's side of the engine. All on engine 0, locked. */
struct roce_gsi {
	/** A datagram to QP 1 with a good ICRC and one of our addresses. The frame stays the engine's. */
	void (*rx)(void *arg, const struct roce_pkt *pkt, uint64_t now);
	/** Frames to send, at most @p max; complete, ownership passes. @return how many. */
	uint16_t (*tx)(void *arg, struct rte_mbuf **pkts, uint16_t max, uint64_t now);
	/** Next time at which tx() has something to do; ROCE_NEVER when there is none. */
	uint64_t (*deadline)(void *arg);
	/** A queue pair with a connection was established by data or broke; @p conn from roce_qp_set_conn(). */
	void (*qp_async_event)(void *arg, void *conn, enum roce_engine_async kind, uint64_t now);
	void *arg;
	/** Before it tx() has nothing to do; as the last calls left it. NULL: tx() is always asked. */
	const uint64_t *at;
};

/**
 * Regions in the eyes of the device, and payload that it reads where it lies (extbuf.h). Both calls come from any
 * thread, the second under an engine's lock.
 */
struct roce_extbuf_config {
	uint32_t least; /**< bytes of payload of a frame from which on it is not copied; 0: it always is */
	/** A region was made. NULL: none is looked at. @return may the device read it? */
	bool (*look)(void *arg, uint64_t addr, uint64_t len);
	/** @return what the device calls the memory; RTE_BAD_IOVA: not contiguous, so it is copied. */
	rte_iova_t (*iova)(void *arg, const void *addr, uint32_t len);
	void *arg; /**< of both */
};

/**
 * Frames that consumers may hold (zcrx.h). They get heads, mbufs that want no buffer; frames that cannot be given
 * as they came are copied, into one segment of any path MTU. Both pools have @c max for this alone, and those whose frames
 * can be given have so many more than the device wants.
 */
struct roce_zcrx_config {
	uint32_t max; /**< of all queue pairs together; 0: none */
	bool any;     /**< frames of any pool can be given */
	struct rte_mempool *heads;
	struct rte_mempool *copies;
	struct rte_mempool *pool[ROCE_ENGINES_MAX]; /**< else of these; NULL: none */
};

struct roce_domain_config {
	unsigned int engines;                /**< 1..ROCE_ENGINES_MAX */
	uint64_t hz;                         /**< ticks per second of every @c now */
	uint64_t seed;                       /**< of all that is random */
	uint32_t first_qpn;                  /**< 0: random */
	uint32_t first_psn;                  /**< UINT32_MAX: random for each queue pair */
	struct roce_ip addr[ROCE_ADDRS_MAX]; /**< ours: frames to other addresses are foreign */
	unsigned int addrs;
	uint16_t vid; /**< our VLAN: frames of others are foreign; 0: untagged, or with a tag that names none */
	struct rte_mempool *pool
			[ROCE_ENGINES_MAX]; /**< frames to send, one pool an engine; one segment holds the
						      * largest frame. The pools may be one and the same. */
	bool ip_cksum_offload;              /**< the device makes IPv4 header checksums */
	bool ecn;           /**< frames of connections say that the network may mark them */
	uint64_t line_rate; /**< bytes per second that the line carries; 0: unknown */
	struct roce_extbuf_config extbuf;
	struct roce_zcrx_config zcrx;
	struct roce_memory memory;
	roce_notify_fn notify; /**< of the domain's own context; NULL: nobody uses that */
	void *notify_arg;
	roce_wake_fn wake; /**< for all contexts; NULL: no completion queue is armed */
};

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

/** Other addresses are ours now, at most ROCE_ADDRS_MAX. All engines' locks are held. */
void roce_domain_set_addrs(struct roce_domain *domain, const struct roce_ip *addr, unsigned int n);

/**
 * There is no device any more: whatever is connected breaks, with everything flushed and QP_BROKEN delivered. Queue pairs
 * that are not connected stay as they are. All engines' locks are held.
 */
void roce_domain_break(struct roce_domain *domain);

/** Put the connection manager on QP 1. Before the first frame. */
void roce_domain_set_gsi(struct roce_domain *domain, const struct roce_gsi *gsi);

/** The bits of a queue pair number that name its engine, when there are so many: number & mask is its index. */
static inline uint32_t
roce_engine_mask(unsigned int engines)
{
	return rte_align32pow2(engines) - 1;
}

/** For control: pollers stand back until everybody who waits here was served. */
void roce_engine_lock(struct roce_engine *e);
/**
 * Makes every other running thread of the process pass a full memory barrier. From then on locks that one thread
 * takes again and again cost it no locked instruction (bias.h); without, as in the simulator, they all do.
 */
void roce_engine_use_barrier(void (*barrier)(void));
/**
 * For a poll. @return false: somebody works on the engine, or waits to; but not for ever: after so many refusals it waits for
 * a while. The caller who has it already is always refused.
 */
bool roce_engine_trylock(struct roce_engine *e);
/** For those who look again and again until nobody works on the engine, and have a reason to give up. */
bool roce_engine_trylock_once(struct roce_engine *e);
/** May call wake(), so it is for the last lock that the caller has. */
void roce_engine_unlock(struct roce_engine *e);
/** For the others. */
void roce_engine_unlock_inner(struct roce_engine *e);
/** The part of roce_engine_unlock() behind the lock, for a thread that had other locks yet when it released this one. */
void roce_engine_wake(struct roce_engine *e);

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

/** Next time at which roce_engine_tx() wants to run without new frames or posts. 0: now. ROCE_NEVER: idle. Locked. */
uint64_t roce_engine_deadline(const struct roce_engine *e);

/** Does a completion wait for nothing but that the device releases frames? Locked. */
bool roce_engine_waits_for_release(const struct roce_engine *e);

/** Counters of an engine: stats.def names them. Read without lock; single words are never torn. */
const struct roce_stats *roce_engine_stats(const struct roce_engine *e);

#endif
