/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_MIX_H
#define TEST_CONTRACT_MIX_H

/**
 * @file
 * Requests of every kind on one send queue, and what becomes of them.
 */

#include "rig.h"

/** What a send queue takes. */
enum verb {
	SEND,
	WRITE,
	READ,
	BIND,
	VERBS
};

/** A connected pair; a posts requests of every kind, b lets it. */
struct mix {
	struct pair pair;
	DAT_RMR_HANDLE rmr; /**< of a; what it binds */
	DAT_RMR_CONTEXT target; /**< where a writes and reads: all of b's buffer, unless the test wants another */
};

/** Open and connect. Both ends hold @p depth requests and receives, and dispatchers for all of their completions. */
void mix_up(struct mix *m, DAT_COUNT depth);
void mix_close(struct mix *m);

/** Post a request from, or to, the start of both buffers. */
DAT_RETURN mix_post(struct mix *m, enum verb verb, DAT_VLEN length, uint64_t value);

/** Cookie and status of a completion, of a transfer or a bind. */
void mix_result(const DAT_EVENT *event, uint64_t *value, DAT_DTO_COMPLETION_STATUS *status);

/** The next completion of a's requests. */
void mix_want(struct mix *m, uint64_t value, DAT_DTO_COMPLETION_STATUS status);

/** Another region of all of @p end's buffer, with all privileges. */
DAT_LMR_HANDLE mix_region(const struct end *end, DAT_LMR_CONTEXT *key, DAT_RMR_CONTEXT *peer_key);

/** Every byte of @p end's buffer is @p byte. */
void mix_want_all(const struct end *end, uint8_t byte);

#endif
