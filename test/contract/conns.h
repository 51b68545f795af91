/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_CONNS_H
#define TEST_CONTRACT_CONNS_H

/** @file The connection of the pair: how it begins, ends, and is made again. */

#include "contract.h"

/** a asks b, and b accepts; nobody has heard of the connection yet. */
void begin_connection(void);
/** How a connection ends. */
enum ending {
	BY_B_ABRUPT,
	BY_B_GRACEFUL,
	BY_A_ABRUPT,
	BY_A_GRACEFUL,
	BY_A_FREE,      /**< a's endpoint is freed */
	BY_HARD_MARK,   /**< b's endpoint may have no buffer */
	BY_LOST_MEMORY, /**< b's region is freed */
};
/** Begin to end it that way. */
void end_by(enum ending how);
/** Both endpoints, which are disconnected, are reset; and connected again. */
void reset_both(void);
void connect_again(void);
/** The next event of either connection. */
void want_both(DAT_EVENT_NUMBER number);

/**
 * Check what a learns when b's connection broke while a's request @p value was on its way: the request fails with
 * @p status, and a's connection is broken, too.
 */
void want_peer_broken(uint64_t value, DAT_DTO_COMPLETION_STATUS status);

#endif
