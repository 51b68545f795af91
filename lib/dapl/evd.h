/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_EVD_H
#define DAPL_EVD_H

/**
 * @file
 * Events and who waits for them. Part of dapl.h, whose rules hold here.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_pause.h>
#include <rte_spinlock.h>

#include "dapl/eventcount.h"
#include "dapl/obj.h"
#include "dapl/status.h"
#include "engine/verbs.h"
#include "queue/bias.h"
#include "roce/device.h"

struct dapl_ep;

/* Streams that an event dispatcher takes. */
#define DAPL_STREAM_SOFTWARE   0x01u
#define DAPL_STREAM_CR         0x02u
#define DAPL_STREAM_DTO        0x04u
#define DAPL_STREAM_CONNECTION 0x08u
#define DAPL_STREAM_BIND       0x10u
#define DAPL_STREAM_ASYNC      0x20u
#define DAPL_STREAM_EXTENSION \
	0x40u /**< completions of operations that the standard does not have */

/** Kinds of events beyond those of the engine. */
enum dapl_event_kind {
	/** owner: endpoint; opcode: enum dapl_conn_event; wr_id, byte_len: private data */
	DAPL_EVENT_CONNECTION = ROCE_EVENT_USER,
	DAPL_EVENT_CR,       /**< owner: connection request */
	DAPL_EVENT_ASYNC,    /**< owner: the object; opcode: enum dapl_async_event */
	DAPL_EVENT_SOFTWARE, /**< wr_id: the consumer's pointer */
};

enum dapl_conn_event {
	DAPL_CONN_ESTABLISHED,
	DAPL_CONN_PEER_REJECTED,
	DAPL_CONN_NON_PEER_REJECTED,
	DAPL_CONN_ACCEPT_ERROR,
	DAPL_CONN_DISCONNECTED,
	DAPL_CONN_BROKEN,
	DAPL_CONN_TIMED_OUT,
	DAPL_CONN_UNREACHABLE,
	DAPL_CONN_EVENTS,
};

enum dapl_async_event {
	DAPL_ASYNC_EVD_OVERFLOW,
	DAPL_ASYNC_SRQ_LOW, /**< fewer buffers than the low watermark; owner: shared receive queue */
	DAPL_ASYNC_EP_SOFT_HIGH, /**< more buffers than the soft high watermark; owner: endpoint */
	/** the connection ended and no more buffers come to it from the shared receive queue; owner: endpoint */
	DAPL_ASYNC_EP_LAST_WQE,
	DAPL_ASYNC_IA_FATAL, /**< the device is gone; owner: the adapter */
	DAPL_ASYNC_EVENTS,
};

/** Which completions of a stream unblock a waiter. */
enum dapl_notify {
	DAPL_NOTIFY_ALL,       /**< each */
	DAPL_NOTIFY_THRESHOLD, /**< each, and the threshold of the wait says how many of them it takes */
	DAPL_NOTIFY_SOLICITED,   /**< of receives: those that the sender asked for */
	DAPL_NOTIFY_UNSIGNALLED, /**< but those that were posted as not to */
	DAPL_NOTIFY_MODES,
};

/** Streams of completions that feed a dispatcher, counted by mode. Lock of engine 0. */
struct dapl_feeds {
	uint32_t recv[DAPL_NOTIFY_MODES];
	uint32_t request[DAPL_NOTIFY_MODES];
	uint32_t shared_threshold; /**< of recv[DAPL_NOTIFY_THRESHOLD]: from shared receive queues */
};

/** Threads that sleep until something comes, as long as a list of those to be woken knows them. */
struct dapl_waiters {
	struct dapl_eventcount count;
	struct dapl_cno *cno; /**< whose they are; NULL: those of a dispatcher */
	bool listed;
	TAILQ_ENTRY(dapl_waiters) link;
};

/** Those to be woken, of all adapters. */
struct dapl_rung {
	rte_spinlock_t lock; /**< innermost of all */
	TAILQ_HEAD(, dapl_waiters) list;
};

extern struct dapl_rung dapl_rung;

TAILQ_HEAD(dapl_evd_list, dapl_evd);

/** A function that hears of the notifications of a notification object; all zero: none. */
struct dapl_agent {
	void (*call)(void *data, void *evd);
	void *data;
};

/**
 * Consumer notification object. All but the waiters: under its adapter's notify_lock.
 *
 * A dispatcher counts the notifications that nobody collected; while there are any it is on the list of its
 * notification object. So an event makes one notification, none is lost, and none needs memory.
 */
struct dapl_cno {
	struct dapl_obj head; /**< its users are the dispatchers */
	struct dapl_waiters waiters;
	struct dapl_agent agent;
	struct dapl_evd_list
			fired; /**< dispatchers with notifications that no waiter collected, in turn */
	struct dapl_evd_list
			undelivered; /**< dispatchers with notifications not delivered to the agent, in turn */
	uint32_t waiting;            /**< threads in dapl_cno_wait(); atomic */
	uint32_t callers;  /**< threads about to call the agent; under the lock of the wakes */
	uint32_t calls;    /**< of the agent that are over */
	uint32_t orphaned; /**< times the last dispatcher was freed */
	uint32_t orphaned_delivered; /**< of them, delivered to the agent */
	uintptr_t caller; /**< the thread that is in the agent, for everybody; 0: none; atomic */
	bool aborted;     /**< the adapter is being closed; atomic */
};

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

	rte_spinlock_t look_lock; /**< held by the waiter while it touches the ring, and when it leaves */
	uint32_t threshold; /**< of the waiter; 0: there is none, or he has only come; atomic */
	struct dapl_waiters waiters;

	/* Under the adapter's notify_lock. */
	struct dapl_cno *cno; /**< NULL: none */
	uint32_t fired; /**< notifications that no waiter of the notification object collected */
	uint32_t undelivered; /**< notifications not delivered to its agent */
	TAILQ_ENTRY(dapl_evd) fired_link, undelivered_link;
};

/* ---- evd.c, wait.c ---- */

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
/**
 * Streams of an endpoint begin to feed the dispatchers that take them, either of which may be null. Modes mix as
 * uDAPL 1.2, dat_ep_create_with_srq(3DAT) says. Lock of engine 0.
 * @return false: one of the dispatchers has streams that this does not go with, and nothing changed.
 */
bool dapl_feed(const struct dapl_ep *ep);
/** They feed no more. Lock of engine 0. */
void dapl_unfeed(const struct dapl_ep *ep);
/**
 * Wait until @p threshold events are there, then take the oldest. Any thread; one at a time.
 *
 * @param timeout_us  0: only look; DAPL_INFINITE.
 * @param more        events left behind; also written on DAPL_TIMEOUT.
 * Where completions are told apart (evd->notify) a thread that sleeps is woken by those that are to, and then gets the
 * oldest, of whatever kind. An event that is there already when the wait begins, or ends for its time, is not told apart.
 *
 * @return DAPL_OK; DAPL_TIMEOUT; DAPL_EVD_UNWAITABLE; DAPL_EVD_SOLICITED, DAPL_EVD_UNSIGNALLED: where completions are told apart
 *   @p threshold must be 1; DAPL_EVD_WAITER: another thread waits; DAPL_BAD_THRESHOLD: it holds fewer events;
 *   DAPL_ABORT: the adapter was closed; DAPL_INTERRUPTED: a signal ended the sleep.
 */
enum dapl_status dapl_evd_wait(struct dapl_evd *evd, uint32_t timeout_us, uint32_t threshold,
		struct roce_event *event, uint32_t *more);
/** Send a waiter home with DAPL_EVD_UNWAITABLE, and later ones too; or let them wait again. Any thread. */
void dapl_evd_set_waitable(struct dapl_evd *evd, bool waitable);

/** A thread sleeps in a wait, and polls all adapters between its sleeps. Any thread. */
bool dapl_wait_sleeps(void);

/** In a child of fork(2): nobody does. */
void dapl_wait_forget_parent(void);
/** May its events trigger the notification object? Those that come meanwhile do so when they may. Any thread. */
void dapl_evd_set_enabled(struct dapl_evd *evd, bool enabled);
/** Add an event of the consumer's own. @return DAPL_OK; DAPL_QUEUE_FULL: nobody else is told. */
enum dapl_status dapl_evd_post_software(struct dapl_evd *evd, uint64_t pointer);
/** Send a waiter home with DAPL_ABORT and wait until it has left; later waits return at once. */
void dapl_evd_abort(struct dapl_evd *evd);

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

/* ---- cno.c, notify.c, wait.c ---- */

/** @return DAPL_OK; DAPL_NO_MEMORY. Any thread. */
enum dapl_status
dapl_cno_create(struct dapl_ia *ia, const struct dapl_agent *agent, struct dapl_cno **cno);
/** @return DAPL_OK; DAPL_CNO_IN_USE: a dispatcher or a waiter has it, or the caller is its agent. */
enum dapl_status dapl_cno_free(struct dapl_cno *cno);
/** Send waiters home, tell the agent, and wait until they have left; later waits return at once. */
void dapl_cno_abort(struct dapl_cno *cno);
/** Destroy it; no dispatcher has it and nobody waits any more. */
void dapl_cno_destroy(struct dapl_cno *cno);
/** Replace the agent. When the call returns the old one is not running, unless it is the caller itself. */
void dapl_cno_set_agent(struct dapl_cno *cno, const struct dapl_agent *agent);
struct dapl_agent dapl_cno_agent(struct dapl_cno *cno);
/**
 * Let @p cno, or nobody, hear of the events of a dispatcher. Notifications that the old one was not asked for yet go to the new
 * one; where there was none, the events that are queued are notified. One at a time for one dispatcher.
 */
void dapl_evd_set_cno(struct dapl_evd *evd, struct dapl_cno *cno);
/** A dispatcher is on its way out: its notification object forgets it, and hears when it was the last. */
void dapl_evd_leave_cno(struct dapl_evd *evd);
/** The notification object of a dispatcher; NULL: none. */
struct dapl_cno *dapl_evd_cno(struct dapl_evd *evd);

/**
 * Collect a notification, waiting for one. Any thread, any number of them: a notification goes to one of them.
 *
 * @param timeout_us  0: only look; DAPL_INFINITE.
 * @param evd         a dispatcher with an event of which nobody collected the notification; NULL: the adapter was
 *                    closed, or the last dispatcher was freed meanwhile.
 * @return DAPL_OK; DAPL_CNO_TIMEOUT; DAPL_INTERRUPTED: a signal ended the sleep.
 */
enum dapl_status dapl_cno_wait(struct dapl_cno *cno, uint32_t timeout_us, struct dapl_evd **evd);
/** The oldest notification whose event may still be queued. Under notify_lock. @return NULL: there is none. */
struct dapl_evd *dapl_cno_collect(struct dapl_cno *cno);

/** A dispatcher has @p n more events that wake (ROCE_ENGINE_ASYNC_CQ_EVENTS). Under an engine's lock: only records. */
void dapl_evd_notify(struct dapl_evd *evd, uint32_t n);
/** Something that makes waiters look again happened: wake them, at dapl_wake(). Under notify_lock, or whatever lock. */
void dapl_waiters_ring(struct dapl_waiters *waiters);
/** They are on their way out: nobody is about to wake them any more. */
void dapl_waiters_retire(struct dapl_waiters *waiters);
/** Wake who was rung for, call agents. Upcall of the device; without locks. A thread that polls the list of adapters: later. */
void dapl_wake(void *arg);

#endif
