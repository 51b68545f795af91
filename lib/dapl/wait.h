/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_WAIT_H
#define DAPL_WAIT_H

/**
 * @file
 * Waiting, for events and for notifications.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dapl/cno.h"
#include "dapl/evd.h"
#include "dapl/status.h"
#include "engine/verbs.h"

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
 *   DAPL_ABORT: the adapter was closed; DAPL_INTERRUPTED: a handler of a signal ran.
 */
enum dapl_status dapl_evd_wait(struct dapl_evd *evd, uint32_t timeout_us, uint32_t threshold,
		struct roce_event *event, uint32_t *more);
/** Send a waiter home with DAPL_EVD_UNWAITABLE, and later ones too; or let them wait again. Any thread. */
void dapl_evd_set_waitable(struct dapl_evd *evd, bool waitable);

/** A thread sleeps in a wait, and polls all adapters between its sleeps. Any thread. */
bool dapl_wait_sleeps(void);

/** In a child of fork(2): nobody does. */
void dapl_wait_forget_parent(void);

/** Send a waiter home with DAPL_ABORT and wait until it has left; later waits return at once. */
void dapl_evd_abort(struct dapl_evd *evd);

/**
 * Collect a notification, waiting for one. Any thread, any number of them: a notification goes to one of them.
 *
 * @param timeout_us  0: only look; DAPL_INFINITE.
 * @param evd         a dispatcher with an event of which nobody collected the notification; NULL: the adapter was
 *                    closed, or the last dispatcher was freed meanwhile.
 * @return DAPL_OK; DAPL_CNO_TIMEOUT; DAPL_INTERRUPTED: a handler of a signal ran.
 */
enum dapl_status dapl_cno_wait(struct dapl_cno *cno, uint32_t timeout_us, struct dapl_evd **evd);

#endif
