/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ENGINE_ENGINE_PVT_H
#define ROCE_ENGINE_ENGINE_PVT_H

/**
 * @file
 * Inside a domain and its engines: what the files of this folder share.
 *
 * A queue pair number names its engine (the low bits) and its place in the
 * domain's table; numbers move on with every use of a place, so a late frame of
 * a dead queue pair finds nothing.
 */

#include <sys/queue.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_ring.h>
#include <rte_spinlock.h>

#include "engine/bias.h"
#include "engine/engine.h"
#include "engine/mr.h"
#include "engine/stats.h"
#include "engine/timer.h"
#include "engine/verbs.h"
#include "wire/icrc.h"
#include "wire/random.h"

#define ROCE_QPS_MAX     16384u /**< queue pairs of a domain */
#define ROCE_QPS_MASK    (ROCE_QPS_MAX - 1)
#define ROCE_RX_BURST    32u
#define ROCE_SPARE_MAX   64u
#define ROCE_ONE_PASS    512u  /**< payload from which copy and ICRC are one pass (crc_avx512.c) */
#define ROCE_ONE_PASS_RX 1024u /**< the same of a received frame, whose place has to be foreseen */
#define ROCE_ICRC_MAX    64u   /**< frames whose ICRC may wait for each other */
#define ROCE_INBOX_LEN   1024u
#define ROCE_PATIENCE    8u  /**< polls that an acknowledgement waits for more to acknowledge */
#define ROCE_QUANTUM     32u /**< frames one queue pair sends before the next has its turn */

TAILQ_HEAD(roce_qp_list, roce_qp);
TAILQ_HEAD(roce_srq_list, roce_srq);

/** A frame that is complete but for its ICRC, and the template it was made from. */
struct roce_icrc_due {
	struct rte_mbuf *m;
	const struct roce_template *template;
};

struct roce_engine {
	struct roce_domain *domain;
	unsigned int index;
	struct roce_lock lock;
	uint32_t wanted;  /**< callers of roce_engine_lock() who wait; atomic */
	uint32_t refused; /**< polls refused since one insisted; atomic */
	struct rte_mempool *pool;
	struct roce_qp_list ready; /**< queue pairs with something to send, in turn */
	struct roce_qp_list
			delayed_acks; /**< queue pairs whose acknowledgement may wait a little */
	bool busy;      /**< the last burst was full: more frames are there, most likely */
	uint8_t waited; /**< polls that acknowledgements waited for that */
	struct roce_wheel *wheel;
	struct rte_ring *inbox;       /**< frames that other engines received for our queue pairs */
	struct roce_extbufs *extbufs; /**< NULL: every frame has a copy of its payload (extbuf.h) */
	unsigned int spares;
	struct rte_mbuf *spare[ROCE_SPARE_MAX]; /**< empty frames, fetched in bulk */
	unsigned int icrc_dues;
	struct roce_icrc_due icrc_due[ROCE_ICRC_MAX]; /**< of this poll */
	struct roce_stats stats;

	/* Written by posters. */
	struct roce_qp *doorbell
			__rte_cache_aligned; /**< stack of queue pairs that were posted to */
} __rte_cache_aligned;

struct roce_domain {
	struct roce_domain_config config;
	struct roce_context context; /**< its own */
	struct roce_keys keys;
	struct roce_gsi gsi;
	struct roce_qp *cm_pending; /**< stack of queue pairs with async events for the connection manager */
	struct rte_mbuf *
			final_acks; /**< to be sent, oldest first, linked by next (final_ack.h); atomic */
	struct rte_mbuf *
			final_acks_last; /**< when there is one; like the rest under the lock of engine 0 */
	uint32_t final_acks_count;
	struct roce_cq *pending_cqs; /**< stack of armed completion queues that were pushed to */
	bool wake_pending; /**< events were delivered to waiters, and wake() must follow; atomic */
	uint64_t random;   /**< how far its sequence of random numbers is; atomic */
	uint32_t engine_mask; /**< of a queue pair number */
	uint32_t next_qpn;    /**< before it is disguised */
	uint64_t qpn_secret;  /**< 0: numbers are as they come */
	rte_spinlock_t qpn_lock;
	uint32_t qps;             /**< there are; atomic */
	rte_spinlock_t srqs_lock; /**< of the list; taken before any engine's lock */
	struct roce_srq_list srqs;
	uint32_t next_srq; /**< number of the next shared receive queue */
	bool multi_engine; /**< more than one engine: producers of shared rings need a lock */
	struct roce_zcrx_budget *zcrx_budget; /**< NULL: no frame is given (zcrx.h) */
	struct roce_engine *engine[ROCE_ENGINES_MAX];
	struct roce_qp *qp[ROCE_QPS_MAX];
};

static inline void *
roce_alloc(struct roce_domain *domain, size_t size)
{
	return domain->config.memory.alloc(domain->config.memory.arg, size);
}

static inline void
roce_free(struct roce_domain *domain, void *p)
{
	domain->config.memory.free(domain->config.memory.arg, p);
}

/** One number of the domain's sequence, which tells nothing of the others (wire/random.h). Any thread. */
uint64_t roce_random(struct roce_domain *domain);

/** Deliver an async event of an object to its context; @p pending is the object's. Locked (any engine). */
void roce_context_deliver(const struct roce_context *context, struct roce_pending_async *pending,
		enum roce_engine_async kind, void *owner, int status);

/** The object goes away, and its pending async events with it. No engine delivers one of it any more. */
void roce_context_forget(const struct roce_context *context, struct roce_pending_async *pending);

/** Lock and unlock every engine once: whoever works under a lock has left what was unlinked before. */
void roce_domain_grace(struct roce_domain *domain);

/** More empty frames. Locked. @return false: the pool is dry, which is counted. */
bool roce_engine_refill(struct roce_engine *e);

/** An empty frame; NULL (counted) when the pool is dry. Locked. */
static inline struct rte_mbuf *
roce_engine_frame(struct roce_engine *e)
{
	if (unlikely(e->spares == 0) && !roce_engine_refill(e))
		return NULL;
	return e->spare[--e->spares];
}

/** The ICRC of every frame that waits for it. Before the frames are given away. Locked. */
static inline void
roce_engine_icrc_put(struct roce_engine *e)
{
	for (unsigned int i = 0; i < e->icrc_dues; i++)
		roce_icrc_put(e->icrc_due[i].m, e->icrc_due[i].template);
	e->icrc_dues = 0;
}

/**
 * The ICRC of a frame at the end of this poll. Its wide loads would have to wait for the many narrow stores that made
 * the frame; behind the rest of a burst they need not. The frame and its queue pair stay until then. Locked.
 */
static inline void
roce_engine_icrc_later(
		struct roce_engine *e, struct rte_mbuf *m, const struct roce_template *template)
{
	if (unlikely(e->icrc_dues == ROCE_ICRC_MAX))
		roce_engine_icrc_put(e);
	e->icrc_due[e->icrc_dues++] = (struct roce_icrc_due){ m, template };
}

/** One that was not needed. Others may have been fetched meanwhile, as many as there is room for. Locked. */
static inline void
roce_engine_unframe(struct roce_engine *e, struct rte_mbuf *m)
{
	if (likely(e->spares < ROCE_SPARE_MAX))
		e->spare[e->spares++] = m;
	else
		rte_pktmbuf_free(m);
}

/** Lock every engine, in ascending order; unlock them. */
void roce_domain_lock(struct roce_domain *domain);
void roce_domain_unlock(struct roce_domain *domain);

#endif
