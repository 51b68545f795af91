/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_OBJECTS_H
#define ROCE_QUEUE_OBJECTS_H

/**
 * @file
 * The calls of roce/verbs.h, and what the layers above the engine may do besides with completion queues, regions and
 * queue pairs that exist. The states of a queue pair are in engine/verbs.h.
 *
 * Threads. A call marked "locked" wants the lock of the object's engine (lock.h) held by the caller; the calls of
 * roce/verbs.h want none held. Locks are taken in ascending engine index.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h> /* enumerators only: IBV_WC_*, IBV_WR_*, IBV_ACCESS_* */

#include "queue/async_events.h"
#include "roce/verbs.h"
#include "wire/frame.h"

static_assert(sizeof(struct roce_event) == 32, "a completion queue entry is half a cache line");

/** Does @p key name a region, of any protection domain, that holds @p len bytes at @p addr? Any thread. */
bool roce_mr_covers(struct roce_domain *domain, uint32_t key, uint64_t addr, uint64_t len);

/** Does an event wake a waiter? A failure always does: what comes after it fails, too. */
static inline bool
roce_event_wakes(const struct roce_event *event, bool solicited)
{
	if (event->status != IBV_WC_SUCCESS || event->kind > ROCE_EVENT_BIND)
		return true;
	return (event->flags & (solicited ? ROCE_EVENT_SOLICITED : ROCE_EVENT_QUIET)) ==
			(solicited ? ROCE_EVENT_SOLICITED : 0);
}

/**
 * Add a waiter: the queue is armed until roce_cq_remove_waiter() is called as often. While it is armed, ROCE_ENGINE_ASYNC_CQ_EVENTS
 * is delivered for every event that wakes (roce_event_wakes()), and after it for none. A waiter that polls after this
 * call sees the events that came before. Any thread that holds no engine lock.
 */
void roce_cq_add_waiter(struct roce_cq *cq);
void roce_cq_remove_waiter(struct roce_cq *cq);

/** As roce_cq_resize() for who has locks of his own: roce_engine_wake() must follow when he has let go of them. */
int roce_cq_resize_inner(struct roce_cq *cq, uint32_t depth);

/** Of receives, only solicited ones wake: those that come from now on. Any thread. */
void roce_cq_set_solicited(struct roce_cq *cq, bool solicited);

/**
 * Add an event. Locked: the caller holds the lock of any engine of the domain.
 * @return true; false: full, the event is lost and the overflow was notified.
 */
bool roce_cq_push(struct roce_cq *cq, const struct roce_event *event);

/** The same for who can do without: when it is full no async event is delivered. Locked. @return false: full, and nothing changed. */
bool roce_cq_try_push(struct roce_cq *cq, const struct roce_event *event);

/**
 * Calls for the common message. Each may return false, without side effects: then roce_qp_post_send(),
 * roce_qp_post_recv(), roce_srq_post() or roce_cq_poll() says why, or does it. Threads as there.
 */

/** A SEND of one segment. @param flags ROCE_WR_*, but for ROCE_WR_INLINE. */
bool roce_qp_try_send(struct roce_qp *qp, struct roce_sge sge, uint64_t wr_id, uint8_t flags);

/** A WRITE of one segment. @param remote  addr and lkey: the peer's memory and its key. @param flags as above. */
bool roce_qp_try_write(struct roce_qp *qp, struct roce_sge sge, struct roce_sge remote,
		uint64_t wr_id, uint8_t flags);

/** A READ into one segment, of as many bytes. @param remote, flags as above. */
bool roce_qp_try_read(struct roce_qp *qp, struct roce_sge sge, struct roce_sge remote,
		uint64_t wr_id, uint8_t flags);

/** A receive of one segment, to the queue pair's own queue. */
bool roce_qp_try_recv(struct roce_qp *qp, struct roce_sge sge, uint64_t wr_id);

/** A receive of one segment, to a queue that is shared (roce_srq_create()). */
bool roce_srq_try_post(struct roce_srq *srq, struct roce_sge sge, uint64_t wr_id);

/** The completion of a transfer (ROCE_EVENT_SEND, ROCE_EVENT_RECV). */
bool roce_cq_try_poll(struct roce_cq *cq, struct roce_event *event);

/** The values that a connection fixes. */
struct roce_qp_connect {
	struct roce_path path; /**< udp_sport 0: chosen from the two QP numbers */
	uint32_t dest_qp;
	uint32_t rq_psn;            /**< first PSN the peer sends */
	uint32_t sq_psn;            /**< first PSN we send */
	uint8_t retry;              /**< 0..7 local ACK timeouts in a row without progress */
	uint8_t rnr_retry;          /**< 0..6; 7 for ever */
	uint8_t rnr_timer;          /**< code 0..31 that our RNR NAKs carry */
	uint8_t ack_timeout;        /**< code 0..31; 0 never */
	uint8_t max_rd_atomic;      /**< READs and atomics we may have outstanding */
	uint8_t max_dest_rd_atomic; /**< the peer may have outstanding */
	bool extensions; /**< both ends have agreed on this provider's extensions (wire/mad.h) */
	uint32_t flow_label; /**< that path.udp_sport was made of; 0: none. For queries alone. */
};

/** Any state to ERR: what is posted is flushed in order to its completion queue before this returns. Locked. */
void roce_qp_to_error(struct roce_qp *qp);

/** Has a request ended whose completion only waits for the device to release frames? Any thread. */
bool roce_qp_waits_for_release(const struct roce_qp *qp);

/**
 * Graceful end: notify ROCE_ENGINE_ASYNC_QP_DRAINED once when no request is unfinished (at once from the next
 * poll when there is none). Locked.
 */
void roce_qp_drain(struct roce_qp *qp);

struct roce_engine *roce_qp_engine(const struct roce_qp *qp);

/** First PSN this end should offer: random, or the configured one. */
uint32_t roce_qp_first_psn(const struct roce_qp *qp);

/** The connection that belongs to a queue pair; the engine only carries it. Locked. */
void roce_qp_set_conn(struct roce_qp *qp, void *conn);

/** The values of a queue pair that a connection needs. */
struct roce_qp_made {
	const struct roce_context *context;
	void *conn; /**< of roce_qp_set_conn() */
	bool srq;
	uint8_t max_dest_rd_atomic;
};

void roce_qp_describe(const struct roce_qp *qp, struct roce_qp_made *made);

#endif
