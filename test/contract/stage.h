/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_STAGE_H
#define TEST_CONTRACT_STAGE_H

/**
 * @file
 * An endpoint in any state of its life, and what calls on it need.
 *
 * Engines are polled by the consumer's own calls (for DAT 2.0 see held.c): once stage_open() has returned, an endpoint
 * stays as it is until somebody waits, or dequeues and finds nothing.
 */

#include "rig.h"

/** The states of an endpoint, in the order in which a connection passes through them. */
enum column {
	UNCONNECTED,
	RESERVED,
	PASSIVE,
	ACTIVE,
	COMPLETION,
	CONNECTED,
	PENDING, /**< of disconnect */
	DISCONNECTED,
	COLUMNS,
};

/** The state in the numbers of the API, and the subtype by which a refused call names it. */
struct column_names {
	const char *name;
	DAT_EP_STATE state;
	DAT_RETURN_SUBTYPE subtype;
};

extern const struct column_names columns[COLUMNS];

/** The endpoint on the stage is b's; a is its peer. */
struct stage {
	bool on_srq;
	DAT_RSP_HANDLE rsp;       /**< the endpoint is, or was, reserved for it; else null */
	DAT_CR_HANDLE own;        /**< the request of that service point, not answered; else null */
	DAT_CR_HANDLE request;    /**< of another endpoint of a's, not answered */
	DAT_EP_HANDLE connected;  /**< another endpoint of b's, connected */
	DAT_EP_HANDLE unused;     /**< another one, unconnected */
	DAT_RMR_HANDLE rmr;       /**< a window of b's */
	DAT_PZ_HANDLE other_zone; /**< a zone of b's that has nothing in it */
	DAT_EVD_HANDLE other_evd; /**< a dispatcher of b's for completions that nobody uses */
};

extern struct stage stage;

/** One way into a state. */
struct way {
	enum column column;
	const char *name;
	void (*go)(void);
};

/** Every state at least once, and each way that leaves an endpoint in another condition. */
extern const struct way ways[];
extern const unsigned int ways_count;

/** Open both adapters, and bring b's endpoint into that state. */
void stage_open(const struct way *way, bool on_srq);

#endif
