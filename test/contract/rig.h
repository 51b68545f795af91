/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_RIG_H
#define TEST_CONTRACT_RIG_H

/**
 * @file
 * What the tests of endpoints, of sharing and of the life cycle add to contract.h: endpoints of any kind, events that
 * are there already, and many connections into one queue.
 *
 * Only waiting on an empty dispatcher polls both ends. While a test calls poll_once(), or takes what is there already, a
 * message that begin_long() began stays half received, and its buffer held.
 */

#include <stdbool.h>

#include "contract.h"

#define CROWD_MAX 1024
#define EVDS_MAX  64

/** A dispatcher of @p end; DAT_EVD_*_FLAG. */
DAT_EVD_HANDLE make_evd(const struct end *end, unsigned int flags);
/** An endpoint on @p end's queue with its dispatchers; null attributes: zeros. */
DAT_EP_HANDLE srq_ep(const struct end *end, const DAT_EP_ATTR *attr);
/** Replace @p end's endpoint by one on its queue. */
void use_srq_ep(struct end *end, const DAT_EP_ATTR *attr);
/** The same, and it tells everything to one new dispatcher: end->recv, ->request and ->connect. */
void use_one_evd(struct end *end);

/** Pieces of BUFFER_LEN bytes, all in the same place: such a message takes hundreds of polls. */
#define HUGE_PIECES 32
#define HUGE_LEN    ((DAT_VLEN)HUGE_PIECES * BUFFER_LEN)

/** Replace @p end's endpoint by one that can send that. */
void use_huge_ep(struct end *end);
/** A buffer of HUGE_PIECES on the queue. */
DAT_RETURN post_huge_srq(const struct end *end, uint64_t value);
/** a sends HUGE_PIECES. */
DAT_RETURN post_huge_send(const struct pair *pair, uint64_t value);
/** The same, and let both ends work until b's endpoint has taken a buffer for it. */
void begin_huge(struct pair *pair, uint64_t value);

/** Both endpoints, which are disconnected, are reset and connected again. */
void connect_again(struct pair *pair);

/** An endpoint has @p n buffers, and the span says the same. */
void want_held(DAT_EP_HANDLE ep, DAT_COUNT n);

/** Poll both ends until @p evd has an event, and no further. */
DAT_EVENT poll_until(struct pair *pair, DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number);

/** The next event is there already. */
DAT_EVENT want_now(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number);
/** The next completion is there already: cookie and status. */
void want_dto_now(const struct end *end, DAT_EVD_HANDLE evd, uint64_t value,
		DAT_DTO_COMPLETION_STATUS status);
/** The next event is there already: the soft high watermark of @p ep. */
void want_soft(DAT_EVD_HANDLE async, DAT_EP_HANDLE ep);

/**
 * What a learns when b's connection broke while a's request @p value was on its way: the request fails with
 * @p status, and a's connection is broken, too.
 */
void want_peer_broken(struct pair *pair, uint64_t value, DAT_DTO_COMPLETION_STATUS status);

/** Parameters of both adapters from the next open on; null: those of dat.conf. */
void set_params(const char *params);
/** Before anything is opened: the provider is not to use hugepages, of which a machine has more or fewer. */
void use_no_hugepages(void);

/** After each test: the parameters, and what a failed test left open. */
int rig_sweep(void **state);

#define rig_test(function) cmocka_unit_test_teardown(function, rig_sweep)

/** Pairs of endpoints, those of b on one queue. */
struct crowd {
	struct pair pair; /**< the adapters; the endpoints are those picked last */
	unsigned int n;
	unsigned int evds;            /**< recv dispatchers of b that endpoints use in turn */
	DAT_EVD_HANDLE evd[EVDS_MAX]; /**< the first is pair.b.recv */
	DAT_EP_HANDLE client[CROWD_MAX];
	DAT_EP_HANDLE server[CROWD_MAX];
};

/** Open both adapters and connect @p n pairs; a queue of @p depth buffers, dispatchers of @p evd_len events. */
void crowd_open(struct crowd *crowd, unsigned int n, DAT_COUNT depth, DAT_COUNT evd_len,
		unsigned int evds);
/** Make the endpoints of pair @p i those of pair.a, pair.b, and its recv dispatcher that of b. */
void crowd_pick(struct crowd *crowd, unsigned int i);
/** Which pair a server's endpoint belongs to. */
unsigned int crowd_index(const struct crowd *crowd, DAT_EP_HANDLE ep);

#endif
