/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_QP_H
#define ROCE_QUEUE_QP_H

/**
 * @file
 * The queue pair, in groups of cache lines by who touches them when:
 *
 *   rx    the responder, one line: looked up and validated for every request
 *   tx    the requester: cursors, window, timers
 *   post  the poster's thread: what it reads and writes of a request but the slot; or copies of the poller's.
 *   remote  the responder, when the peer reads, writes or does atomics;
 *   cold  attributes, connection, template.
 * rx and tx belong to the engine's poller (under the engine's lock).
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_prefetch.h>

#include "queue/cq.h"
#include "queue/domain.h"
#include "queue/held.h"
#include "queue/objects.h"
#include "queue/qp_rx.h"
#include "queue/qp_tx.h"
#include "queue/srq.h"
#include "queue/wq.h"
#include "wire/aeth.h"
#include "wire/frame.h"
#include "wire/icrc.h"
#include "wire/psn.h"

#define ROCE_ENGINE_ASYNC_LISTED 1u /**< the queue pair is on the domain's stack cm_pending */

/** Which list of its engine a queue pair is on. */
enum roce_listed {
	ROCE_LISTED_NOWHERE = 0,
	ROCE_LISTED_READY,       /**< has something to send in this poll */
	ROCE_LISTED_DELAYED_ACK, /**< owes no more than an acknowledgement, which may wait for company */
	ROCE_LISTED_PATIENT_ACK, /**< the same, and it waits for a request that takes it along (piggyback.h) */
};

struct roce_qp {
	struct roce_qp_rx rx __rte_cache_aligned;

	struct roce_wq wq __rte_cache_aligned;
	struct roce_cq *send_cq;
	struct roce_qp_tx tx;
	TAILQ_ENTRY(roce_qp) ready_link;
	void *owner;
	struct roce_engine *engine;
	struct roce_pd *pd;
	uint32_t done; /**< ROCE_WQE_EXTBUF: slot of the oldest request without a completion, never ahead of tx.tail */

	struct {
		uint32_t head;       /**< slot of the next post; the engine reads it */
		uint32_t tail_seen;  /**< lower bound of tx.tail */
		uint32_t max;        /**< requests */
		uint32_t max_read;   /**< bytes of a READ */
		uint16_t max_inline; /**< bytes */
		uint8_t max_sge;
		uint8_t max_rd_atomic; /**< READs and atomics that may be outstanding */
		bool atomics;
		bool one_by_one; /**< binds were posted since RESET, it was in SQD, or requests fail on purpose; the engine reads it */
		bool connected;  /**< not in RESET; written by the engine, atomic */
		bool rung;       /**< on the doorbell stack; atomic */
		struct roce_wq wq;
		struct roce_engine *engine;
		const struct roce_keys *keys;
		const struct roce_pd *pd;
		struct roce_qp *next_rung;
		struct roce_keys_recent recent;
	} post __rte_cache_aligned;

	struct roce_qp_remote remote __rte_cache_aligned;

	struct {
		struct roce_template template;
		struct roce_qp_connect connect;
		struct roce_ip peer;  /**< source of a good frame */
		struct roce_ip local; /**< its destination */
		void *conn;
		struct roce_pending_async async;
		struct roce_srq_reap_counter *reap_counter; /**< of rx.rq on rx.cq; NULL: none */
		uint32_t eventless; /**< of rx.taken: receives that ended without an event, ever */
		uint32_t odd_psn; /**< expected when an answer with data was asked for again last: see odd_answers */
		struct roce_qp *next_cm_pending;
		uint32_t cm_events; /**< bits 1 << enum roce_engine_async, and ROCE_ENGINE_ASYNC_LISTED; atomic */
		uint32_t first_psn;
		uint32_t soft_high; /**< high watermarks; ROCE_HIGH_NONE: none, or delivered */
		uint32_t hard_high;
		bool heard;       /**< the peer's first packet came: ESTABLISHED was delivered */
		bool ended;       /**< roce_qp_to_error() was called since RESET */
		bool binds_type2; /**< it bound a window of type 2 */
		bool nak_alone; /**< a NAK came without a selective acknowledgement, and none has come since */
		bool sqd; /**< in SQD of roce/qp_modify.h, which is RTS here: no request is begun */
		bool sqd_event;   /**< in SQD, and the end of the drain is to be delivered */
		bool initialised; /**< in INIT of roce/qp_modify.h, which is RESET here */
		uint8_t max_sge; /**< segments of a request, as agreed upon: post.max_sge or more */
		uint32_t max_wr; /**< requests, as agreed upon: post.max, which is 0 until there are slots */
		uint64_t odd_answers; /**< until when the answers to unexpected frames are used up */
		uint64_t cnp_at; /**< when the last congestion notification was owed; 0: never */
		struct roce_dcqcn dcqcn;
		struct roce_recovery recovery;
		struct roce_held held;
		struct roce_repair repair;
		struct roce_reorder reorder;
		struct roce_zcrx *zcrx; /**< NULL: it has no zero-copy receives (zcrx.h) */
		struct {
			uint32_t number;  /**< of the queue pair in its domain */
			uint32_t refused; /**< messages on purpose, ever */
		} dice;                   /**< fault_dice.h */
	} cold __rte_cache_aligned;
};

static_assert(sizeof(struct roce_qp_rx) <= RTE_CACHE_LINE_SIZE, "the responder works in one line");
static_assert(offsetof(struct roce_qp, wq) % RTE_CACHE_LINE_SIZE == 0, "the requester's");
static_assert(offsetof(struct roce_qp, post) % RTE_CACHE_LINE_SIZE == 0, "the poster's own");
static_assert(offsetof(struct roce_qp, remote) % RTE_CACHE_LINE_SIZE == 0, "and behind it");

/** The queue pair of a number; NULL when there is none. Locked (any engine), valid while the lock is held. */
static inline struct roce_qp *
roce_qp_find(const struct roce_domain *domain, uint32_t qpn)
{
	struct roce_qp *qp = __atomic_load_n(&domain->qp[qpn & ROCE_QPS_MASK], __ATOMIC_ACQUIRE);

	return qp != NULL && qp->rx.qpn == qpn ? qp : NULL;
}

/** Which list it is on (enum roce_listed). Any thread may look. */
static inline uint8_t
roce_qp_listed(const struct roce_qp *qp)
{
	return __atomic_load_n(&qp->tx.listed, __ATOMIC_RELAXED);
}

/** It is on that list now. Locked. */
static inline void
roce_qp_list(struct roce_qp *qp, enum roce_listed listed)
{
	__atomic_store_n(&qp->tx.listed, (uint8_t)listed, __ATOMIC_RELAXED);
}

/** Off the list it is on, if any. Locked. */
static inline void
roce_qp_unlist(struct roce_qp *qp)
{
	struct roce_engine *e = qp->engine;

	if (qp->tx.listed == ROCE_LISTED_READY)
		TAILQ_REMOVE(&e->ready, qp, ready_link);
	else if (qp->tx.listed == ROCE_LISTED_DELAYED_ACK)
		TAILQ_REMOVE(&e->delayed_acks, qp, ready_link);
	else if (qp->tx.listed == ROCE_LISTED_PATIENT_ACK)
		TAILQ_REMOVE(&e->patient_acks, qp, ready_link);
	roce_qp_list(qp, ROCE_LISTED_NOWHERE);
}

/** The engine shall look at this queue pair before the end of the poll. Locked. */
static inline void
roce_qp_ready(struct roce_qp *qp)
{
	if (qp->tx.listed == ROCE_LISTED_READY)
		return;
	roce_qp_unlist(qp);
	roce_qp_list(qp, ROCE_LISTED_READY);
	TAILQ_INSERT_TAIL(&qp->engine->ready, qp, ready_link);
}

/** Owe the peer an acknowledgement or a NAK, in this poll. Locked. */
static inline void
roce_qp_owe(struct roce_qp *qp, uint8_t what)
{
	qp->rx.owes |= what;
	roce_qp_ready(qp);
}

/** Prefetch what the visit wants of a queue pair that was not heard for long. */
static inline void
roce_qp_prefetch(const struct roce_qp *qp)
{
	rte_prefetch0(&qp->tx.timer);
	rte_prefetch0(&qp->wq);
	rte_prefetch0(&qp->tx.rnr_at);
	rte_prefetch0(&qp->post);
	rte_prefetch0(&qp->cold.template);
	rte_prefetch0(&qp->cold.template.bytes[RTE_CACHE_LINE_SIZE]);
}

/** Owe the peer the acknowledgement it asked for; with more on its way, one may do for several. Locked. */
static inline void
roce_qp_owe_ack(struct roce_qp *qp)
{
	if (qp->rx.unacked >= ROCE_ACK_SOON) {
		roce_qp_owe(qp, ROCE_OWES_ACK);
		return;
	}
	qp->rx.owes |= ROCE_OWES_ACK;
	if (qp->tx.listed == ROCE_LISTED_NOWHERE) {
		roce_qp_prefetch(qp);
		roce_qp_list(qp, ROCE_LISTED_DELAYED_ACK);
		TAILQ_INSERT_TAIL(&qp->engine->delayed_acks, qp, ready_link);
	}
}

/** The queue pair holds a receive, or no longer does. Any thread may look (roce_qp_depth). */
static inline void
roce_qp_hold(struct roce_qp *qp, bool holding)
{
	__atomic_store_n(&qp->rx.holding, holding, __ATOMIC_RELAXED);
}

/**
 * Does the requester look at each request before it builds frames? There may be binds, requests that fail on purpose, or SQD.
 * After roce_qp_posted(): true for every bind that is among those.
 */
static inline bool
roce_qp_one_by_one(const struct roce_qp *qp)
{
	return __atomic_load_n(&qp->post.one_by_one, __ATOMIC_RELAXED);
}

/** Packets of a message: at least one. */
static inline uint32_t
roce_packets(uint32_t length, uint32_t mtu)
{
	if (length <= mtu)
		return 1;
	return (uint32_t)(((uint64_t)length + mtu - 1) >> rte_bsf32(mtu));
}

/** Requests posted so far, as the engine may see them. */
static inline uint32_t
roce_qp_posted(const struct roce_qp *qp)
{
	return __atomic_load_n(&qp->post.head, __ATOMIC_ACQUIRE);
}

/**
 * Requests that the requester may send where it looks at each (roce_qp_one_by_one()): all that are posted, and in SQD those that
 * were begun, over which a rewind goes back.
 */
static inline uint32_t
roce_qp_sendable(const struct roce_qp *qp)
{
	const uint32_t posted = roce_qp_posted(qp);

	return qp->cold.sqd ? qp->tx.begun : posted;
}

/** Slot of the oldest request that the poster may not write again. Any thread. */
static inline uint32_t
roce_qp_done(const struct roce_qp *qp)
{
	return __atomic_load_n(qp->post.wq.flags & ROCE_WQE_EXTBUF ? &qp->done : &qp->tx.tail,
			__ATOMIC_ACQUIRE);
}

#endif
