/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_H
#define TEST_CONTRACT_H

/**
 * @file
 * Helpers that the tests of this folder share, on top of dat_pair.h: a pair whose end b receives from a shared queue.
 *
 * Helpers fail the test they are called from; only the main thread may call them.
 */

#include "../vdev/dat_pair.h"

#define POISON 0xa5

/** A message that needs many packets and polls: the endpoint has taken its buffer long before it is complete. */
#define LONG_LEN BUFFER_LEN

/** Open both ends with dispatchers for 512 events; b has an endpoint on an empty queue @p depth by @p iov. */
void srq_pair_open(struct pair *pair, DAT_COUNT depth, DAT_COUNT iov);
/** The same, connected. */
void srq_pair_up(struct pair *pair, DAT_COUNT depth, DAT_COUNT iov);

/** A queue of @p end, in its zone. */
DAT_SRQ_HANDLE make_srq(const struct end *end, DAT_COUNT depth, DAT_COUNT iov);
/** An endpoint of @p end on @p srq, with the end's other dispatchers. */
DAT_EP_HANDLE make_srq_ep(const struct end *end, DAT_SRQ_HANDLE srq, DAT_EVD_HANDLE recv);
/** A dispatcher of @p end for completions. */
DAT_EVD_HANDLE make_dto_evd(const struct end *end, DAT_COUNT len);
/** Register all of @p end's buffer once more, in @p pz and with @p priv; returns the key. */
DAT_LMR_CONTEXT
register_as(const struct end *end, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS priv, DAT_LMR_HANDLE *lmr);
/** Connect a pair of endpoints that are made for it, b's on its queue, and make them those of the pair. */
void add_connection(struct pair *pair);

/** Bytes that differ from place to place and from seed to seed. */
void fill_bytes(uint8_t *p, size_t n, uint32_t seed);

/** All fields, asked into a poisoned struct. */
DAT_SRQ_PARAM srq_param(DAT_SRQ_HANDLE srq);
void want_counts(DAT_SRQ_HANDLE srq, DAT_COUNT max, DAT_COUNT available, DAT_COUNT outstanding);
/** A query shows the same as in @p before. */
void want_unchanged(DAT_SRQ_HANDLE srq, const DAT_SRQ_PARAM *before);

/** Post @p n buffers of 64 bytes with cookies from @p first on, each in a place of its own. */
void post_many(struct end *end, unsigned int n, uint64_t first);
/** Send from a and wait until b's endpoint has it: its completion is on b's dispatcher. */
void deliver(struct pair *pair, DAT_VLEN length);
/** The same with 64 bytes, and reap it: one buffer less on the queue. */
void use_one(struct pair *pair);
/** Send LONG_LEN bytes and let both ends work until b's endpoint has taken a buffer for it, but not all of it. */
void begin_long(struct pair *pair, uint64_t value);
/** Buffers that an endpoint has taken and not completed. */
DAT_COUNT held(DAT_EP_HANDLE ep);

/** One poll of the adapter; no event is taken. */
void poll_once(const struct end *end);

/** No event is there, nor does one poll of the adapter bring any. */
void want_none(DAT_EVD_HANDLE evd);
/** The next event is there already: the low watermark of @p srq. */
void want_low(DAT_EVD_HANDLE async, DAT_SRQ_HANDLE srq);

/** Disconnect from b at once, and take both ends' events. */
void part(struct pair *pair);

#endif
