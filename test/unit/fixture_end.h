/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_FIXTURE_END_H
#define ROCE_TEST_FIXTURE_END_H

/**
 * @file
 * An end: a domain with one of everything, a clock that is a variable, a log of async events, and what came of them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/verbs.h"
#include "fixture_memory.h"
#include "queue/stats.h"
#include "unit.h"

#define FX_HZ           UINT64_C(1000000000) /**< a tick is a nanosecond */
#define FX_MEMORY       65536u               /**< bytes of registered memory an end has */
#define FX_ASYNC_EVENTS 64u

/** Rights of a region that its owner and all peers may do anything with. */
#define FX_ALL                                                                       \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
			IBV_ACCESS_REMOTE_ATOMIC)

struct fx_async_event {
	enum roce_engine_async kind;
	void *owner;
	int status;
};

struct fx_options {
	unsigned int engines; /**< 0: one */
	uint32_t first_qpn;   /**< 0: 0x100 */
	uint32_t cq_depth;    /**< 0: 1024 */
	uint32_t srq_size;    /**< 0: 256 */
	struct roce_extbuf_config extbuf;
	struct roce_zcrx_config zcrx;
	struct roce_fault_config faults;
	uint16_t process;       /**< one of several that share the address */
	uint16_t *peer_process; /**< with it */
};

struct fx_end {
	struct roce_domain *domain;
	struct roce_engine *engine; /**< number 0 */
	struct roce_pd *pd;
	struct roce_cq *send_cq;
	struct roce_cq *recv_cq;
	struct roce_srq *srq;
	struct roce_mr *mr;
	uint8_t *memory;
	uint32_t key;
	struct roce_ip ip;
	uint64_t now;
	unsigned int async_events;
	struct fx_async_event async_event[FX_ASYNC_EVENTS]; /**< the first ones */
	void (*on_async_event)(struct
			fx_end *end); /**< NULL, or called inside each async event, which is written down already */
};

/** Address 192.0.2.@p last. */
struct roce_ip fx_ip(uint8_t last);

/** A domain of one engine at this address, whose seed is @p last; its async events reach nobody. */
struct roce_domain_config fx_config(uint8_t last);

void fx_end_open(struct fx_end *end, uint8_t last, const struct fx_options *options);

/**
 * End what the test has left of its queue pairs, shared receive queues and regions, then the end itself. Protection domains,
 * completion queues and windows that the test made are gone before.
 */
void fx_end_close(struct fx_end *end);

/** A protection domain, a completion queue, a region of memory: made without an error, the caller's to destroy. */
struct roce_pd *fx_pd(const struct fx_end *end);
struct roce_cq *fx_cq(const struct fx_end *end, uint32_t depth, void *owner);
struct roce_mr *fx_mr(struct roce_pd *pd, uint64_t addr, uint64_t len, unsigned int access);

/** Teardown of a test that has closed its ends. @return 0: nothing is left, neither memory nor frames. */
int fx_left(void);

/** Counts of a shared receive queue, as three numbers. */
void fx_expect_counts(struct roce_srq *srq, uint32_t max, uint32_t available, uint32_t outstanding);

/** So many async events came, the last one of this kind. */
void fx_expect_async(const struct fx_end *end, unsigned int n, enum roce_engine_async kind);

const struct roce_stats *fx_stats(const struct fx_end *end);

#endif
