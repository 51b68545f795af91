/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_FEED_H
#define DAPL_FEED_H

/**
 * @file
 * Which streams of completions feed a dispatcher, and which go together.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dapl/event.h"

struct dapl_ep;

/** Streams of completions that feed a dispatcher, counted by mode. Lock of engine 0. */
struct dapl_feeds {
	uint32_t recv[DAPL_NOTIFY_MODES];
	uint32_t request[DAPL_NOTIFY_MODES];
	uint32_t shared_threshold; /**< of recv[DAPL_NOTIFY_THRESHOLD]: from shared receive queues */
};

/**
 * Streams of an endpoint begin to feed the dispatchers that take them, either of which may be null. Modes mix as
 * uDAPL 1.2, dat_ep_create_with_srq(3DAT) says. Lock of engine 0.
 * @return false: one of the dispatchers has streams that this does not go with, and nothing changed.
 */
bool dapl_feed(const struct dapl_ep *ep);
/** They feed no more. Lock of engine 0. */
void dapl_unfeed(const struct dapl_ep *ep);

#endif
