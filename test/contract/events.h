/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_EVENTS_H
#define TEST_CONTRACT_EVENTS_H

/**
 * @file
 * Polling, and events: those that come, and those that are there already.
 *
 * Only waiting on an empty dispatcher polls both ends. While a test calls poll_once(), or takes what is there already, a
 * message that begin_long() began stays half received, and its buffer held.
 */

#include "contract.h"

/** Poll both ends, @p n times. */
void poll_both(unsigned int n);
/** Poll both ends until @p evd has an event, and no further. */
DAT_EVENT poll_until(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number);
/** dat_evd_wait() for an event that nobody wants to see, or that does not come. */
DAT_RETURN wait_for(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold);
/** The next event is that one, and when it is taken @p more are there. */
void want_event_before(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_COUNT more);
/** Take everything that is there. */
void drain(DAT_EVD_HANDLE evd);

/** The next event is there already. */
DAT_EVENT want_now(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number);
/** The next completion is there already: cookie and status. */
void want_dto_now(const struct end *end, DAT_EVD_HANDLE evd, uint64_t value,
		DAT_DTO_COMPLETION_STATUS status);
/** The next event is there already: the soft high watermark of @p ep. */
void want_soft(DAT_EVD_HANDLE async, DAT_EP_HANDLE ep);
/** The next event, whatever it is. */
DAT_EVENT next_event(DAT_EVD_HANDLE evd);
/** The next completion, of any endpoint. */
DAT_DTO_COMPLETION_EVENT_DATA next_dto(DAT_EVD_HANDLE evd);

/** b's receives @p from to @p to - 1 complete, in this order. */
void want_received(uint64_t from, uint64_t to, DAT_VLEN length);
/** The same, and they are there already. */
void want_received_now(uint64_t from, uint64_t to);
/** a's requests @p from to @p to - 1 complete, in this order. */
void want_sent(uint64_t from, uint64_t to, DAT_VLEN length);
/** b's receive and a's request complete: one message. */
void want_passed(uint64_t receive, uint64_t request, DAT_VLEN length);

/** Software events: posted with a number, and there already. */
DAT_RETURN post_software(DAT_EVD_HANDLE evd, uintptr_t number);
void want_software(DAT_EVD_HANDLE evd, uintptr_t number);

#endif
