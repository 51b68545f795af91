/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERBS_OBJECTS_H
#define VERBS_OBJECTS_H

/**
 * @file
 * The objects behind the structures of infiniband/verbs.h: each begins with, or ends in, the structure that the program holds.
 *
 * Locks, outermost first: that of the process (progress.c), the events of a context, a completion channel. The locks of
 * queues are taken alone, or two completion queues one after the other.
 */

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <infiniband/verbs.h>

#include "roce/context.h"
#include "roce/verbs.h"

#define VERBS_RD_ATOMIC_MAX 16 /**< READs and atomics of a queue pair, each way */
#define VERBS_CQE_MAX       (1 << 22)
#define VERBS_WR_MAX        (1 << 17)
#define VERBS_SGE_MAX       ROCE_SGE_MAX
#define VERBS_POLL_BURST    16u

static_assert(sizeof(struct ibv_sge) == sizeof(struct roce_sge) &&
				offsetof(struct ibv_sge, length) ==
						offsetof(struct roce_sge, length) &&
				offsetof(struct ibv_sge, lkey) == offsetof(struct roce_sge, lkey),
		"a list of segments is passed on as it is");

/** In the order in which they are ended when their context is closed: none is used by one behind it. */
enum verbs_kind {
	VERBS_KIND_QP = 1,
	VERBS_KIND_SRQ,
	VERBS_KIND_CQ,
	VERBS_KIND_CHANNEL,
	VERBS_KIND_MW,
	VERBS_KIND_MR,
	VERBS_KIND_AH,
	VERBS_KIND_PARENT, /**< a parent domain */
	VERBS_KIND_PD,
	VERBS_KIND_TD,
	VERBS_KINDS,
};

/** On the list of its context. */
struct verbs_obj {
	TAILQ_ENTRY(verbs_obj) link;
	enum verbs_kind kind;
};

/** An async event of an object, which has one of each kind. */
struct verbs_async {
	TAILQ_ENTRY(verbs_async) link;
	bool queued; /**< on the list of its context; under its lock */
	struct ibv_async_event event;
};

TAILQ_HEAD(verbs_async_list, verbs_async);

/** A context; the program holds the address of its last member's last member. */
struct verbs_ctx {
	struct roce_context *roce;
	LIST_ENTRY(verbs_ctx) link;
	int fd;                        /**< of roce_context_fd() */
	pthread_mutex_t lock;          /**< of its events */
	struct verbs_async_list async; /**< not fetched yet, the oldest first */
	/** Deliver what happened to connections; of librdmacm, for its own context alone. Atomic. */
	unsigned int (*cm_dispatch)(struct verbs_ctx *ctx);
	TAILQ_HEAD(, verbs_obj) objects; /**< under the lock */
	bool closing;                    /**< it is being closed: no event is waited for; atomic */
	bool link_down;                  /**< as the events of the port say; atomic */
	struct verbs_async port[3];      /**< active, error, fatal */
	struct verbs_context verbs;
};

/** A protection domain, or a parent domain, which has one. */
struct verbs_pd {
	struct ibv_pd ibv;
	struct verbs_obj obj;
	struct roce_pd *roce;
	struct verbs_pd *of; /**< of a parent domain; else NULL */
	uint32_t users;      /**< objects and parent domains; atomic */
};

/** A thread domain: a promise of the program, of which no use is made. */
struct verbs_td {
	struct ibv_td ibv;
	struct verbs_obj obj;
	uint32_t users; /**< parent domains; atomic */
};

struct verbs_mr {
	struct ibv_mr ibv;
	struct verbs_obj obj;
	struct roce_mr *roce;
	bool binds; /**< made with IBV_ACCESS_MW_BIND: windows may be bound to it */
};

struct verbs_mw {
	struct ibv_mw ibv;
	struct verbs_obj obj;
	struct roce_mw *roce;
};

struct verbs_ah {
	struct ibv_ah ibv;
	struct verbs_obj obj;
	struct ibv_ah_attr attr;
};

struct verbs_cq;

/** A completion channel: an eventfd that counts the events of a list. */
struct verbs_channel {
	struct ibv_comp_channel ibv;
	struct verbs_obj obj;
	pthread_mutex_t lock;
	TAILQ_HEAD(, verbs_cq) ready; /**< queues with events, under the lock */
};

struct verbs_cq {
	union {
		struct ibv_cq ibv;
		struct ibv_cq_ex ex;
	};
	struct verbs_obj obj;
	struct roce_cq *roce;
	struct ibv_pd *domain; /**< a parent domain that it was made with; NULL: none */
	pthread_mutex_t ending; /**< of taking the completions of a queue pair out, and of resizing */
	pthread_mutex_t lock;   /**< of polling */
	/** Completions taken out of the engine's queue when one was purged. */
	struct roce_event *kept;
	uint32_t kept_head, kept_count;
	struct roce_event current; /**< of start_poll() and next_poll() */
	TAILQ_ENTRY(verbs_cq) link;
	uint32_t queued;         /**< events on the channel; under its lock */
	uint32_t reported;       /**< events fetched; under its lock */
	uint32_t async_reported; /**< under the context's lock */
	struct verbs_async error;
};

struct verbs_srq {
	struct ibv_srq ibv;
	struct verbs_obj obj;
	struct roce_srq *roce;
	uint32_t max_sge;
	uint32_t async_reported;
	struct verbs_async limit;
};

struct verbs_batch;

struct verbs_qp {
	union {
		struct ibv_qp ibv;
		struct ibv_qp_ex ex;
	};
	struct verbs_obj obj;
	struct roce_qp *roce;
	pthread_mutex_t send_lock, recv_lock;
	bool signal_all;
	bool has_ex; /**< made with send operations: ibv_wr_*() */
	struct ibv_qp_cap cap;
	uint32_t async_reported;
	struct verbs_async fatal, comm_est, last_wqe, sq_drained;
	/** Called before it ends, if not NULL: the id that connects it lets go of it. Of librdmacm; atomic. */
	void (*leave)(struct verbs_qp *qp);
	void *led_by; /**< that id; NULL: none does any more. Under the lock of librdmacm. */
	struct verbs_batch *batch; /**< of ibv_wr_*(); NULL without */
};

static_assert(offsetof(struct ibv_cq, async_events_completed) ==
				offsetof(struct ibv_cq_ex, async_events_completed),
		"the extended queue begins as the plain one");

/** Attributes of a queue pair in the form of the extended call. */
static inline struct ibv_qp_init_attr_ex
verbs_attr_ex_of(const struct ibv_qp_init_attr *attr, struct ibv_pd *pd)
{
	return (struct ibv_qp_init_attr_ex){
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
}

static inline struct verbs_ctx *
verbs_ctx_of(const struct ibv_context *context)
{
	return (struct verbs_ctx *)((uintptr_t)context - offsetof(struct verbs_ctx, verbs.context));
}

static inline struct verbs_pd *
verbs_pd_of(struct ibv_pd *pd)
{
	return (struct verbs_pd *)(void *)pd;
}

static inline struct verbs_cq *
verbs_cq_of(struct ibv_cq *cq)
{
	return (struct verbs_cq *)(void *)cq;
}

static inline struct verbs_qp *
verbs_qp_of(struct ibv_qp *qp)
{
	return (struct verbs_qp *)(void *)qp;
}

static inline struct verbs_srq *
verbs_srq_of(struct ibv_srq *srq)
{
	return (struct verbs_srq *)(void *)srq;
}

#endif
