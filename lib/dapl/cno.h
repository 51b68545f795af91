/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_CNO_H
#define DAPL_CNO_H

/**
 * @file
 * Consumer notification objects, and the notifications of dispatchers.
 */

#include <stdbool.h>
#include <stdint.h>

#include <sys/queue.h>

#include "dapl/notify.h"
#include "dapl/obj.h"
#include "dapl/status.h"

struct dapl_evd;

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

/** The oldest notification whose event may still be queued. Under notify_lock. @return NULL: there is none. */
struct dapl_evd *dapl_cno_collect(struct dapl_cno *cno);

/** A dispatcher has @p n more events that wake (ROCE_ENGINE_ASYNC_CQ_EVENTS). Under an engine's lock: only records. */
void dapl_evd_notify(struct dapl_evd *evd, uint32_t n);

/** May its events trigger the notification object? Those that come meanwhile do so when they may. Any thread. */
void dapl_evd_set_enabled(struct dapl_evd *evd, bool enabled);

#endif
