/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_REFILL_H
#define SRQD_REFILL_H

/**
 * @file
 * A shared receive queue that is filled again when its low watermark says so: the pattern that this
 * program is there to show.
 *
 * Every buffer is in one of three places: on the queue, in use by the server, or on the free list.
 * One whose message has been dealt with goes to the free list and stays there. When fewer than
 * the low watermark are left on the queue, one asynchronous event comes; then all free buffers are
 * posted in one go, and the watermark is armed again.
 *
 * So the queue is touched once for many messages and not once for each. A post takes the queue's
 * lock and writes its producer index, which whoever receives has to read again: with one post for
 * each message that lock and that cache line go to and fro between poster and receiver all the time.
 *
 * The watermark is how many messages may arrive between the event and the refill without a sender
 * being told to wait; depth minus watermark is how many posts share one event.
 *
 * Used by one thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include <dat/udat.h>

#include "buffers.h"

struct refill_config {
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;
	uint32_t size;             /**< bytes of a buffer */
	uint32_t depth, max_depth; /**< buffers at first, and as many as there may ever be */
	uint32_t low;              /**< 0: no watermark, each buffer is posted again at once */
};

struct refill {
	DAT_SRQ_HANDLE srq;
	struct buffers buffers;
	uint32_t depth, max_depth, low;
	uint32_t *free; /**< the free list; the buffer used last is the first to go, it may be cached */
	uint32_t n_free;
	bool owed; /**< an event has come that found nothing free */

	uint64_t events;  /**< low watermark events */
	uint64_t refills; /**< of them, those answered by a batch of posts */
	uint64_t posts;   /**< buffers posted, after the first filling */
	uint32_t grown;   /**< times the queue was made longer */
};

/** Make the queue, fill it and arm its watermark. @return 0; -1 on error; the error was printed. */
int refill_open(struct refill *refill, const struct refill_config *config);

/** A buffer is not in use any more. @return 0; -1 on error; the error was printed. */
int refill_put(struct refill *refill, uint32_t buffer);

/** Is this asynchronous event the low watermark of this queue? */
bool refill_is_event(const struct refill *refill, const DAT_EVENT *event);

/**
 * The low watermark event has come: post what is free and arm again; when little is free and the
 * queue may grow, make it twice as long first. @return 0; -1 on error; the error was printed.
 */
int refill_event(struct refill *refill);

/**
 * Answer an event that found nothing free, once something is. To be called now and then, such as
 * after each batch of completions. @return 0; -1 on error; the error was printed.
 */
int refill_settle(struct refill *refill);

/** Ask the queue for its counts. @return 0; -1 on error; the error was printed. */
int refill_query(const struct refill *refill, DAT_SRQ_PARAM *param);

/** While no buffer is in use: does every one lie on the queue or on the free list? @return 0; -1: no; the error was printed. */
int refill_audit(const struct refill *refill);

/** Give back what refill_open() made; nothing is also good. @return 0; -1 on error; the error was printed. */
int refill_close(struct refill *refill);

#endif /* SRQD_REFILL_H */
