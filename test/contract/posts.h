/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_POSTS_H
#define TEST_CONTRACT_POSTS_H

/** @file Requests and receives of the pair, and messages that pass from a to b. */

#include "contract.h"

/** Pieces of BUFFER_LEN bytes, all in the same place: such a message takes hundreds of polls. */
#define HUGE_PIECES 32
#define HUGE_LEN    ((DAT_VLEN)HUGE_PIECES * BUFFER_LEN)

/** A buffer of HUGE_PIECES on the queue. */
DAT_RETURN post_huge_srq(const struct end *end, uint64_t value);
/** @p end sends HUGE_PIECES; its endpoint was made for it. */
DAT_RETURN post_huge_send(const struct end *end, uint64_t value);
/** The same, from a, and let both ends work until b's endpoint has taken a buffer for it. */
void begin_huge(uint64_t value);

/** @p end sends from the start of its buffer. */
DAT_RETURN
post_send_with(const struct end *end, DAT_VLEN length, uint64_t value, unsigned int flags);
/** Posts of a, with default flags. */
DAT_RETURN post_write(const DAT_LMR_TRIPLET *from, DAT_RMR_TRIPLET to, uint64_t value);
DAT_RETURN post_read(const DAT_LMR_TRIPLET *to, DAT_RMR_TRIPLET from, uint64_t value);
/** A receive for b: on its queue if it has one, else of its endpoint. */
DAT_RETURN feed(size_t offset, DAT_VLEN length, uint64_t value);
/** Post to b's queue @p n buffers of LONG_LEN, with cookies from @p first on. */
void post_long(unsigned int n, uint64_t first);
/** Send from a and wait until b's endpoint has it, @p n times. */
void deliver_n(unsigned int n, DAT_VLEN length);
/** The same with 64 bytes, and reap it. */
void use_n(unsigned int n);
/** Send from a: b's receive @p value completes with it. */
void deliver_as(uint64_t value, DAT_VLEN length);
/** Receives of b's endpoint, and sends of a's, @p from to @p to - 1. */
void post_recvs(uint64_t from, uint64_t to, DAT_VLEN length);
void post_sends(uint64_t from, uint64_t to, DAT_VLEN length);
/** Post a buffer of 64 bytes to b's queue, and deliver as much: it is used up again. */
void pass(uint64_t value);
/** The same with b's own receive, posted for it; a's request completes as well. */
void transfer(uint64_t value, DAT_VLEN length);
/** Where exchange() receives. */
#define HALF (BUFFER_LEN / 2)
/** Send @p length bytes, fewer than HALF, that depend on @p value: all of them arrive, and no others. */
void exchange(struct end *from, struct end *to, DAT_VLEN length, uint64_t value);
/** Bind in an endpoint's turn; it is bound; and one after the other. */
DAT_RMR_CONTEXT
post_bind(const struct end *end, DAT_RMR_HANDLE rmr, DAT_LMR_TRIPLET iov, unsigned int priv);
void want_bound(const struct end *end, DAT_RMR_HANDLE rmr);
DAT_RMR_CONTEXT
bind_rmr(const struct end *end, DAT_RMR_HANDLE rmr, DAT_LMR_TRIPLET iov, unsigned int priv);

#endif
