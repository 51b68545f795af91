/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_WAIT_LOOP_H
#define DAPL_WAIT_LOOP_H

/**
 * @file
 * A wait in progress: polling, spinning and sleeping until something is found. For wait.c, which knows what.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dapl/eventcount.h"
#include "dapl/ia.h"
#include "dapl/notify.h"
#include "dapl/signals.h"
#include "dapl/status.h"

/** A wait in progress; times are ticks of the device. */
struct dapl_wait {
	struct dapl_ia *ia;
	/** Their eventcount advances when find() may find something that it did not find before. */
	struct dapl_waiters *waiters;
	/** @return DAPL_QUEUE_EMPTY: go on waiting; anything else: the wait is over. */
	enum dapl_status (*find)(struct dapl_wait *w);
	/** From now on the eventcount advances. */
	void (*arm)(struct dapl_wait *w);
	uint64_t hz;
	uint64_t end;   /**< UINT64_MAX: never */
	uint64_t spin;  /**< the longest time without a frame before it sleeps */
	uint64_t still; /**< since then nothing has moved */
	bool slept;     /**< since then */
	unsigned int idle;
	uint64_t let_in; /**< when signals were let in last */
	const struct dapl_signals
			*signals; /**< held back; NULL: a wait of no time, which holds none */
	struct dapl_bed bed;
};

/**
 * A first look found nothing: a wait begins, and from here to its end no handler of a signal runs unnoticed. A wait of no time
 * holds no signals back, and makes no system call.
 * @param signals room for them, in place until the end.
 */
void dapl_wait_begin(struct dapl_wait *w, struct dapl_signals *signals, uint32_t timeout_us);

/** @return as find(); DAPL_TIMEOUT; DAPL_INTERRUPTED: a handler ran, and nothing was found before. */
enum dapl_status dapl_wait_for(struct dapl_wait *w, uint32_t timeout_us);

/** Signals that came behind that are handled now: for the caller it is as if they came behind the call. */
void dapl_wait_end(const struct dapl_wait *w);

#endif
