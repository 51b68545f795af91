/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_MIX_H
#define TEST_CONTRACT_MIX_H

/** @file Requests of every kind on one send queue, a's, and what becomes of them. */

#include "rig.h"

/** Kinds of requests that a send queue takes. */
enum verb {
	SEND,
	WRITE,
	READ,
	BIND,
	VERBS
};

/** Memory that a's posts use; b grants it. */
struct mix {
	DAT_RMR_HANDLE rmr; /**< of a; what it binds */
	DAT_RMR_CONTEXT target; /**< where a writes and reads: all of b's buffer, unless the test wants another */
};

extern struct mix mix;

/** The rig is connected, or is going to be: make a's window, and let a reach all of b's buffer. */
void mix_begin(void);
/** Open, connect and begin. Both ends hold @p depth requests and receives, and dispatchers for all of their completions. */
void mix_up(DAT_COUNT depth);

/** Post a request from, or to, the start of both buffers. */
DAT_RETURN mix_post(enum verb verb, DAT_VLEN length, uint64_t value);
DAT_RETURN mix_post_with(enum verb verb, DAT_VLEN length, uint64_t value, unsigned int flags);

/** Cookie and status of a completion, of a transfer or a bind. */
void mix_result(const DAT_EVENT *event, uint64_t *value, DAT_DTO_COMPLETION_STATUS *status);

/** The next completion of a's requests. */
void mix_want(uint64_t value, DAT_DTO_COMPLETION_STATUS status);
/** Those of one request of each verb, which were posted with the verb as cookie. */
void mix_want_verbs(DAT_DTO_COMPLETION_STATUS status);

#endif
