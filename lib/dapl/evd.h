/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_EVD_H
#define DAPL_EVD_H

/**
 * @file
 * Event dispatchers: a ring of events, and the one thread that takes them.
 */

#include <stdbool.h>
#include <stdint.h>

#include <sys/queue.h>

#include <rte_branch_prediction.h>
#include <rte_pause.h>
#include <rte_spinlock.h>

#include "dapl/event.h"
#include "dapl/feed.h"
#include "dapl/notify.h"
#include "dapl/obj.h"
#include "dapl/status.h"
#include "engine/verbs.h"
#include "queue/bias.h"
#include "roce/device.h"

struct dapl_cno;

/** The taker of events of a dispatcher: one thread at a time. A waiter may call agents meanwhile, the others do not. */
enum dapl_evd_taker {
	DAPL_TAKER_NONE = 0,
	DAPL_TAKER_WAITER,  /**< a thread is in dapl_evd_wait() */
	DAPL_TAKER_ENTRY,   /**< a thread enters dapl_evd_wait(), for a moment */
	DAPL_TAKER_DEQUEUE, /**< a thread is in dapl_evd_dequeue(), for a moment */
	DAPL_TAKER_RESIZE,  /**< a thread is in dapl_evd_resize(), for a moment */
};

/** Event dispatcher: a ring of events and the one thread that may wait on it. */
struct dapl_evd {
	struct dapl_obj head;
	struct roce_cq *cq;
	struct roce_device *device;
	uint32_t taker; /**< enum dapl_evd_taker: who may take events now, besides the owner; atomic */
	struct roce_bias bias; /**< its owner dequeues without becoming the taker */
	uint32_t idle;         /**< dequeues that found nothing; atomic */
	uint32_t streams;      /**< DAPL_STREAM_* */
	bool serviced;         /**< service lcores poll the device */
	bool aborted;          /**< the adapter is being closed; atomic */
	bool overflowed;       /**< delivered once; atomic */
	bool unwaitable;       /**< nobody may wait on it; atomic */
	bool disabled;         /**< its events trigger no notification object; atomic */
	uint8_t notify; /**< enum dapl_notify of what feeds it, if that is one of the last two; atomic */
	struct dapl_feeds feeds;

	rte_spinlock_t waiter_lock; /**< held by the waiter while it touches the ring, and when it leaves */
	uint32_t threshold; /**< of the waiter; 0: there is none, or he has only come; atomic */
	struct dapl_waiters waiters;

	/* Under the adapter's notify_lock. */
	struct dapl_cno *cno; /**< NULL: none */
	uint32_t fired; /**< notifications that no waiter of the notification object collected */
	uint32_t undelivered; /**< notifications not delivered to its agent */
	TAILQ_ENTRY(dapl_evd) fired_link, undelivered_link;
};

/** @p cno may be null. @return DAPL_OK; DAPL_NO_MEMORY. Any thread. */
enum dapl_status dapl_evd_create(struct dapl_ia *ia, uint32_t len, uint32_t streams,
		struct dapl_cno *cno, struct dapl_evd **evd);
/**
 * Hold exactly @p len events from now on; beside events that come, a waiter and others that dequeue. One at a time.
 * @return DAPL_OK; DAPL_EVD_TOO_FULL: more events are queued; DAPL_EVD_WAITER: a thread waits for more of them;
 *   DAPL_NO_MEMORY.
 */
enum dapl_status dapl_evd_resize(struct dapl_evd *evd, uint32_t len);
/** @return DAPL_OK; DAPL_EVD_IN_USE; DAPL_EVD_WAITER; DAPL_EVD_ASYNC: the adapter's own. */
enum dapl_status dapl_evd_free(struct dapl_evd *evd);
/** Destroy in any state; nobody may feed it or wait on it any more. */
void dapl_evd_destroy(struct dapl_evd *evd);
/**
 * Become the one who takes events; a dequeue or resize of another thread is waited for, it is short.
 * @return false: a thread is in dapl_evd_wait().
 */
static inline bool
dapl_evd_take_over(struct dapl_evd *evd, uint32_t taker)
{
	uint32_t nobody = DAPL_TAKER_NONE;

	while (unlikely(!__atomic_compare_exchange_n(
			&evd->taker, &nobody, taker, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))) {
		if (nobody == DAPL_TAKER_WAITER)
			return false;
		nobody = DAPL_TAKER_NONE;
		rte_pause();
	}
	roce_bias_revoke(&evd->bias);
	return true;
}

/**
 * Take the oldest event; polls the device when there is none, and is not the one who takes events while agents are called.
 * Lean. @return DAPL_OK; DAPL_QUEUE_EMPTY; DAPL_EVD_WAITER.
 */
enum dapl_status dapl_evd_dequeue(struct dapl_evd *evd, struct roce_event *event);

/** Add an event of the consumer's own. @return DAPL_OK; DAPL_QUEUE_FULL: nobody else is told. */
enum dapl_status dapl_evd_post_software(struct dapl_evd *evd, uint64_t pointer);

/** Take the oldest event, when it is the completion of a transfer and nothing is in the way. @return false: nothing was done; dapl_evd_dequeue() says why, or does it. */
static inline bool
dapl_evd_try_dequeue(struct dapl_evd *evd, struct roce_event *event)
{
	uint32_t entered = roce_bias_enter(&evd->bias);
	bool taken;

	if (unlikely(entered == 0))
		return false;
	taken = roce_cq_try_poll(evd->cq, event);
	roce_bias_leave(&evd->bias, entered);
	return taken;
}

#endif
