/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_DOMAIN_H
#define ROCE_QUEUE_DOMAIN_H

/**
 * @file
 * A domain and its engines: the state that all objects of an adapter share.
 *
 * A queue pair number names its engine (the low bits) and its place in the
 * domain's table; numbers move on with every use of a place, so a late frame of
 * a dead queue pair finds nothing.
 */

#include <sys/queue.h>

#include <rte_common.h>
#include <rte_ring.h>
#include <rte_spinlock.h>

#include "queue/bias.h"
#include "queue/config.h"
#include "queue/keys.h"
#include "queue/lock.h"
#include "queue/objects.h"
#include "queue/stats.h"
#include "queue/timer.h"
#include "wire/icrc.h"
#include "wire/random.h"

#define ROCE_QPS_MAX   ((uint32_t)ROCE_QPS_LIMIT)
#define ROCE_QPS_MASK  (ROCE_QPS_MAX - 1)
#define ROCE_RX_BURST  32u
#define ROCE_SPARE_MAX 64u /**< empty frames that an engine keeps */
#define ROCE_ICRC_MAX  64u /**< frames whose ICRC may wait for each other */
#define ROCE_INBOX_LEN 1024u
#define ROCE_PATIENCE  8u  /**< polls that an acknowledgement waits for more to acknowledge */
#define ROCE_QUANTUM   32u /**< frames one queue pair sends before the next has its turn */

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
	struct roce_qp_list
			patient_acks; /**< queue pairs whose acknowledgement waits for a request, the longest first */
	uint64_t quick_ticks; /**< ROCE_QUICK_US */
	uint16_t burst;       /**< frames that came with the last burst that brought any */
	uint32_t lone_qpn; /**< queue pair whose request left with its post since the last poll; 0: none did (lone.h) */
	uint64_t lone_ticks; /**< ROCE_LONE_US */
	uint64_t polled_at;  /**< time of the last poll */
	bool busy;           /**< the last burst was full: more frames are there, most likely */
	uint8_t waited;      /**< polls that acknowledgements waited for that */
	uint32_t held;       /**< frames that its queue pairs hold (held.h) */
	uint32_t held_max;   /**< and may hold */
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
	uint32_t sleepers; /**< threads that poll, and sleep until the device tells of a frame; atomic */
	uint32_t engine_mask; /**< of a queue pair number */
	uint32_t next_qpn;    /**< before it is disguised */
	uint64_t qpn_secret;  /**< 0: numbers are as they come */
	uint32_t next_dice;   /**< number of the next queue pair, in the order of their making */
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

/** Is a frame with this tag in the VLAN of the domain? @p vlan_tci as in struct roce_pkt. */
static inline bool
roce_domain_has_vlan(const struct roce_domain *domain, uint16_t vlan_tci)
{
	return ((vlan_tci ^ domain->config.vid) & ROCE_VID_MASK) == 0;
}

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
static inline uint64_t
roce_random(struct roce_domain *domain)
{
	return roce_random_at(domain->config.seed, ROCE_RANDOM_ENGINE,
			__atomic_add_fetch(&domain->random, 1, __ATOMIC_RELAXED));
}

#endif
