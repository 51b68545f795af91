/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ENGINE_VERBS_H
#define ROCE_ENGINE_VERBS_H

/**
 * @file
 * The upper seam of the engine, in the vocabulary of verbs: protection domains,
 * memory regions and windows, completion queues, shared receive queues and queue
 * pairs of one domain (an adapter of one or more engines).
 *
 * Threads. Create and destroy calls take the locks they need and may come from
 * any thread that holds no engine lock. Posting and polling take no engine
 * lock: one thread at a time per queue pair and per completion queue; any
 * number of threads may post to one shared receive queue. A call marked
 * "locked" wants the lock of the object's engine (engine.h) held by the caller.
 * Locks are taken in ascending engine index.
 *
 * Control calls return 0 or a negative errno and change nothing when they fail.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h> /* enumerators only: IBV_WC_*, IBV_WR_*, IBV_ACCESS_* */

#include "wire/frame.h"

struct roce_domain;
struct roce_engine;
struct roce_pd;
struct roce_mr;
struct roce_mw;
struct roce_cq;
struct roce_srq;
struct roce_qp;

/** A piece of registered memory: start address, bytes, key of the region. */
struct roce_sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

/* ---- completion events ---- */

enum roce_event_kind {
	ROCE_EVENT_NONE = 0,
	ROCE_EVENT_SEND, /**< a request of the send queue ended */
	ROCE_EVENT_RECV, /**< a receive ended */
	ROCE_EVENT_BIND, /**< a bind of the send queue ended */
	ROCE_EVENT_USER =
			16, /**< first kind that belongs to the layer above; the engine only carries it */
};

#define ROCE_EVENT_IMM       0x01 /**< imm holds immediate data */
#define ROCE_EVENT_SOLICITED 0x02 /**< the sender asked to wake the receiver */
#define ROCE_EVENT_WRITE \
	0x04 /**< a receive that an RDMA WRITE with immediate used up; byte_len is what it wrote */
#define ROCE_EVENT_INVALID 0x08 /**< imm is the key that the sender invalidated, as on the wire */
#define ROCE_EVENT_QUIET   0x10 /**< posted with ROCE_WR_QUIET */

/** What a completion queue holds. The engine never looks behind @c owner. */
struct roce_event {
	uint64_t wr_id;    /**< cookie of the request */
	void *owner;       /**< owner of the queue pair; ROCE_EVENT_BIND: of the window */
	uint32_t byte_len; /**< bytes of the message; undefined unless status is IBV_WC_SUCCESS */
	uint32_t imm;      /**< immediate data as on the wire (big endian) */
	uint8_t kind;      /**< enum roce_event_kind */
	uint8_t status;    /**< enum ibv_wc_status */
	uint8_t flags;     /**< ROCE_EVENT_* */
	uint8_t opcode;    /**< ROCE_EVENT_SEND, _BIND: enum ibv_wr_opcode; user kinds: theirs */
	uint16_t srq_share; /**< engine's own: which share of a shared receive queue the reap is booked on; 0 none */
	uint16_t reserved;
};

static_assert(sizeof(struct roce_event) == 32, "a completion queue entry is half a cache line");

/* ---- protection domain, memory region ---- */

int roce_pd_create(struct roce_domain *domain, struct roce_pd **pd);

/** @return 0; -EBUSY while a region, window, queue pair or shared receive queue uses it. */
int roce_pd_destroy(struct roce_pd *pd);

/**
 * Local read, for which verbs has no flag because every region grants it. It does here, too; but a window through
 * which peers may read can be bound only to a region that was made with this flag.
 */
#define ROCE_ACCESS_LOCAL_READ (1u << 15)

/**
 * Register user memory.
 *
 * @param addr,len  the memory; it stays the caller's and must outlive the region. len > 0, no wrap.
 * @param access    IBV_ACCESS_LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC, ROCE_ACCESS_LOCAL_READ.
 * @return 0; -EINVAL; -ENOMEM (memory, or the key table is full).
 */
int roce_mr_create(struct roce_pd *pd, uint64_t addr, uint64_t len, unsigned int access,
		struct roce_mr **mr);

/** Key of a region, as local and as remote key. No other is or was like it for a long time. */
uint32_t roce_mr_key(const struct roce_mr *mr);

/**
 * End a region: later uses of its key fail. When the call returns no engine touches its memory any more.
 * Takes the lock of every engine of the domain once.
 * @return 0; -EBUSY while a window is bound to it. A bind that is posted and not executed yet fails.
 */
int roce_mr_destroy(struct roce_mr *mr);

/** Does @p key name a region, of any protection domain, that holds @p len bytes at @p addr? Any thread. */
bool roce_mr_covers(struct roce_domain *domain, uint32_t key, uint64_t addr, uint64_t len);

/* ---- memory window ---- */

/** What to bind a window to. */
struct roce_mw_bind {
	struct roce_mw *mw;
	uint32_t mr_key; /**< of the region below */
	uint32_t access; /**< what peers may do: as for a region */
	uint64_t addr;
	uint64_t length; /**< bytes; 0: to nothing, whatever the others say */
	uint32_t key;    /**< out: names the window to peers as soon as the bind has executed */
};

/** What a window is bound to. */
struct roce_mw_binding {
	uint32_t key;
	uint32_t mr_key;
	uint32_t access;
	uint64_t addr;
	uint64_t length;
};

/**
 * Make a window (of type 1: any queue pair of the protection domain serves it). It is bound to nothing.
 *
 * @param owner  stands in the events of its binds.
 * @return 0; -ENOMEM (memory, or the key table is full).
 */
int roce_mw_create(struct roce_pd *pd, void *owner, struct roce_mw **mw);

/**
 * End a window, bound or not. When the call returns no peer reaches memory through it any more; binds that are
 * posted and not executed yet fail. Takes the lock of every engine of the domain once.
 */
void roce_mw_destroy(struct roce_mw *mw);

/** What the window is bound to, by the binds that were executed. @return false: to nothing, and nothing is written. */
bool roce_mw_query(const struct roce_mw *mw, struct roce_mw_binding *binding);

/**
 * Could the queue pair execute this bind now? Judged in this order:
 *
 * @return 0; -ENOENT @c mr_key names no region; -ERANGE outside of it; -EACCES it does not grant the access (to write
 *   from afar takes local write, to read ROCE_ACCESS_LOCAL_READ); -EPERM region, window and queue pair are not of one
 *   protection domain. With length 0 only the last.
 */
int roce_mw_judge(const struct roce_qp *qp, const struct roce_mw_bind *bind);

/* ---- completion queue ---- */

/**
 * @param depth  events it holds, at least 1.
 * @param owner  handed to notify() when it overflows.
 */
int roce_cq_create(struct roce_domain *domain, uint32_t depth, void *owner, struct roce_cq **cq);

/** @return 0; -EBUSY while a queue pair feeds it. Events left inside are dropped (and booked as reaped). */
int roce_cq_destroy(struct roce_cq *cq);

/** Take up to @p n events, oldest first. One thread at a time. @return how many. */
unsigned int roce_cq_poll(struct roce_cq *cq, struct roce_event *events, unsigned int n);

/** Copy the event behind @p i others and leave it where it is. The thread that polls. @return false: there is none. */
bool roce_cq_look(const struct roce_cq *cq, uint32_t i, struct roce_event *event);

/** Events waiting; exact when nothing else moves. */
unsigned int roce_cq_count(const struct roce_cq *cq);

/** Events it can hold. */
uint32_t roce_cq_depth(const struct roce_cq *cq);

/**
 * Hold exactly @p depth events from now on; none is lost, shares of shared receive queues stay. Any thread that holds no
 * engine lock, beside pushes; one at a time, and not beside roce_cq_poll() and roce_cq_look().
 *
 * @return 0; -EINVAL as for roce_cq_create(); -EBUSY more are waiting; -ENOMEM. A failure changes nothing.
 */
int roce_cq_resize(struct roce_cq *cq, uint32_t depth);

/** Does an event wake a waiter? A failure always does: what comes after it fails, too. */
static inline bool
roce_event_wakes(const struct roce_event *event, bool solicited)
{
	if (event->status != IBV_WC_SUCCESS || event->kind > ROCE_EVENT_BIND)
		return true;
	return (event->flags & (solicited ? ROCE_EVENT_SOLICITED : ROCE_EVENT_QUIET)) ==
			(solicited ? ROCE_EVENT_SOLICITED : 0);
}

/**
 * From now on ROCE_NOTICE_CQ_EVENTS is told of every event that wakes (roce_event_wakes()), until roce_cq_unwatch() is
 * called as often: behind it none is told any more. An event that came before is seen by who looks afterwards. Any
 * thread that holds no engine lock.
 */
void roce_cq_watch(struct roce_cq *cq);
void roce_cq_unwatch(struct roce_cq *cq);

/** Of receives, only solicited ones wake: those that come from now on. Any thread. */
void roce_cq_set_solicited(struct roce_cq *cq, bool solicited);

/**
 * Add an event. Locked: the caller holds the lock of any engine of the domain.
 * @return true; false: full, the event is lost and the overflow was notified.
 */
bool roce_cq_push(struct roce_cq *cq, const struct roce_event *event);

/** The same for who can do without: when it is full nobody is told. Locked. @return false: full, and nothing changed. */
bool roce_cq_try_push(struct roce_cq *cq, const struct roce_event *event);

/* ---- shared receive queue ---- */

struct roce_srq_counts {
	uint32_t max;         /**< receives it holds */
	uint32_t available;   /**< a queue pair can take now */
	uint32_t outstanding; /**< posted and not yet reaped: on the queue, held, or completed */
	uint32_t low;         /**< low watermark set last; 0: none */
	bool armed;           /**< it was not crossed since */
	uint32_t queue_pairs; /**< attached */
};

/** A receive to post. */
struct roce_recv_wr {
	uint64_t wr_id;
	const struct roce_sge *sg; /**< copied before the call returns */
	uint32_t num_sge;
	uint32_t flags; /**< 0 or ROCE_WR_QUIET */
};

/**
 * @param max_wr   receives it holds: exactly that many may be outstanding. 1..2^20.
 * @param max_sge  pieces of one receive, 1..ROCE_SGE_MAX.
 * @param owner    handed to notify() when the low watermark is crossed.
 */
int roce_srq_create(struct roce_pd *pd, uint32_t max_wr, uint32_t max_sge, void *owner,
		struct roce_srq **srq);

/** @return 0; -EBUSY while a queue pair is attached. Receives left on it vanish without completion. */
int roce_srq_destroy(struct roce_srq *srq);

/**
 * Post a receive. Any thread, any number of threads at once.
 *
 * @return 0; -EINVAL too many pieces; -ENOSPC as many outstanding as it holds; -EACCES key unknown or not
 *   writable; -EPERM region of another protection domain; -ERANGE outside the region.
 */
int roce_srq_post(struct roce_srq *srq, const struct roce_recv_wr *wr);

/**
 * Counts of one moment between call and return: 0 <= available <= outstanding <= max holds for every answer.
 * Any thread that holds no engine lock.
 */
void roce_srq_query(struct roce_srq *srq, struct roce_srq_counts *counts);

/**
 * Hold exactly @p max_wr receives from now on. Nothing posted is lost, and no message that comes meanwhile. Any
 * thread that holds no engine lock; one at a time, beside posts, takes and reaps.
 *
 * @return 0; -EINVAL not 1..2^20; -EBUSY more are outstanding, or the low watermark is higher; -ENOMEM.
 */
int roce_srq_resize(struct roce_srq *srq, uint32_t max_wr);

/**
 * Set the low watermark and arm it: ROCE_NOTICE_SRQ_LOW is told once when fewer than @p low receives are on the
 * queue, inside this call when they are already, else by the take that makes it true, before the message of that
 * take completes. 0 disarms. Threads as roce_srq_resize().
 *
 * @return 0; -EINVAL: more than the queue holds, and nothing changed.
 */
int roce_srq_set_low(struct roce_srq *srq, uint32_t low);

/* ---- queue pair ---- */

#define ROCE_SGE_MAX       32 /**< pieces of one request or receive */
#define ROCE_INLINE_MAX    1024
#define ROCE_MSG_MAX       (1u << 31)
#define ROCE_RD_ATOMIC_MAX 128

enum roce_qp_state {
	ROCE_QP_RESET = 1,
	ROCE_QP_RTR, /**< receives; sends when the peer is known to be ready */
	ROCE_QP_RTS,
	ROCE_QP_ERR, /**< everything posted is flushed */
};

struct roce_qp_attr {
	struct roce_pd *pd;
	struct roce_cq *send_cq; /**< NULL: nobody wants to know */
	struct roce_cq *recv_cq; /**< NULL: likewise */
	struct roce_srq *srq;    /**< NULL: a receive queue of its own of max_recv_wr */
	uint32_t max_send_wr;
	uint32_t max_recv_wr;
	uint16_t max_send_sge;
	uint16_t max_recv_sge;
	uint16_t max_inline; /**< bytes that a request may carry in itself, 0..ROCE_INLINE_MAX */
	uint8_t max_dest_rd_atomic; /**< READs and atomics the peer may have outstanding, 0..ROCE_RD_ATOMIC_MAX */
	bool atomics;               /**< will post atomics: their requests need more room */
	void *owner;                /**< stands in every event of the queue pair */
};

int
roce_qp_create(struct roce_domain *domain, const struct roce_qp_attr *attr, struct roce_qp **qp);

/**
 * End a queue pair in any state. Requests and receives it holds end without completion: a receive taken
 * from a shared receive queue counts as reaped. Its number is not used again soon.
 */
void roce_qp_destroy(struct roce_qp *qp);

/** What a connection fixes. */
struct roce_qp_connect {
	struct roce_path path; /**< udp_sport 0: chosen from the two QP numbers */
	uint32_t dest_qp;
	uint32_t rq_psn;            /**< first PSN the peer sends */
	uint32_t sq_psn;            /**< first PSN we send */
	uint8_t retry;              /**< 0..7 local ACK timeouts in a row without progress */
	uint8_t rnr_retry;          /**< 0..6; 7 for ever */
	uint8_t rnr_timer;          /**< code 0..31 that our RNR NAKs carry */
	uint8_t ack_timeout;        /**< code 0..31; 0 never */
	uint8_t max_rd_atomic;      /**< READs and atomics we may have outstanding */
	uint8_t max_dest_rd_atomic; /**< the peer may have outstanding */
};

/** RESET to RTR. Locked. @return 0; -EINVAL wrong state or attribute. */
int roce_qp_to_rtr(struct roce_qp *qp, const struct roce_qp_connect *connect);

/** RTR to RTS. Locked. @return 0 (also when it is there already); -EINVAL. */
int roce_qp_to_rts(struct roce_qp *qp);

/** Any state to ERR: what is posted is flushed in order to its completion queue before this returns. Locked. */
void roce_qp_to_error(struct roce_qp *qp);

/** Any state to RESET: what is posted is dropped without completion. Locked. */
void roce_qp_to_reset(struct roce_qp *qp);

/**
 * Graceful end: notify ROCE_NOTICE_QP_DRAINED once when no request is unfinished (at once from the next
 * turn when there is none). Locked.
 */
void roce_qp_drain(struct roce_qp *qp);

uint32_t roce_qp_number(const struct roce_qp *qp);
enum roce_qp_state roce_qp_state(const struct roce_qp *qp);
struct roce_engine *roce_qp_engine(const struct roce_qp *qp);

/** First PSN this end should offer: random, or the configured one. */
uint32_t roce_qp_first_psn(const struct roce_qp *qp);

/** The connection that belongs to a queue pair; the engine only carries it. Locked. */
void roce_qp_set_conn(struct roce_qp *qp, void *conn);

/** Requests not finished yet; receives posted to its own queue or held from a shared one. Exact when locked. */
void roce_qp_depth(const struct roce_qp *qp, uint32_t *requests, uint32_t *receives);

#define ROCE_HIGH_NONE UINT32_MAX /**< a high watermark that nothing exceeds */

/**
 * Set and arm the high watermarks of the receives that the queue pair has and that are not completed: those posted
 * to its own queue, or taken from a shared one. More than @p soft: ROCE_NOTICE_QP_SOFT_HIGH, once for each call.
 * More than @p hard while it is connected, or at the peer's first message: the queue pair breaks. Judged at once (so
 * it may break inside), whenever it takes from a shared queue, and by roce_qp_check_high(). They outlive a reset.
 * Locked.
 */
void roce_qp_set_high(struct roce_qp *qp, uint32_t soft, uint32_t hard);

/** Judge the high watermarks now: after a post to its own queue, and when the connection is up. Locked. */
void roce_qp_check_high(struct roce_qp *qp);

#define ROCE_WR_SIGNALED  0x01 /**< an event on success; failures always make one */
#define ROCE_WR_SOLICITED 0x02
#define ROCE_WR_FENCE     0x04
/**
 * SEND and WRITE: the bytes are copied into the request before the call returns. The memory may be used again at once,
 * and need not be registered: keys are not looked at.
 */
#define ROCE_WR_INLINE 0x08
#define ROCE_WR_QUIET  0x10 /**< its event says ROCE_EVENT_QUIET; the engine only carries it */

/** A request to post. */
struct roce_wr {
	uint64_t wr_id;
	union {
		/** Copied before the call returns; the memory is read until completion. */
		const struct roce_sge *sg;
		struct roce_mw_bind *bind; /**< of BIND_MW; copied, its key written */
	};
	uint32_t num_sge;
	uint32_t imm;   /**< big endian immediate data, or the key to invalidate */
	uint8_t opcode; /**< enum ibv_wr_opcode */
	uint8_t flags;  /**< ROCE_WR_* */
	uint32_t rkey;  /**< RDMA and atomics: key of the peer's memory */
	uint64_t remote_addr;
	uint64_t compare_add; /**< atomics: compare with, or add */
	uint64_t swap;        /**< compare-and-swap: put there when equal */
};

/**
 * Post to the send queue. One thread at a time per queue pair; takes no lock, makes no system call.
 *
 * A bind is executed when everything posted before it was sent (with ROCE_WR_FENCE: was completed), and nothing
 * posted after it is sent before. It ends what the window was bound to, and completes in its turn. When it can not
 * be executed any more it fails with IBV_WC_MW_BIND_ERR, and the queue pair breaks. One that is flushed changes
 * nothing; if it was executed before a request in front of it failed, the window is bound to nothing. One thread at
 * a time posts binds of one window.
 *
 * A SEND with invalidate unbinds the peer's window that has the key, before its receive completes; when there is none
 * in the protection domain of the peer's queue pair both ends break, this one with IBV_WC_REM_ACCESS_ERR. A READ or
 * atomic in front of it may be answered, or be answered again, after it: fence it when they use the same window.
 *
 * @return 0; -EINVAL too many pieces, state RESET, or inline what is not sent from here; -EMSGSIZE longer than
 *   ROCE_MSG_MAX, or inline and longer than the queue pair's max_inline; -EOPNOTSUPP opcode;
 *   -ENOSPC queue full; -EACCES, -EPERM, -ERANGE as for roce_srq_post(), of a bind as for roce_mw_judge(). In state
 *   ERR the request is accepted and flushed.
 */
int roce_qp_post_send(struct roce_qp *qp, const struct roce_wr *wr);

/** Post to the queue pair's own receive queue, in any state. @return as roce_srq_post(); -EINVAL with an SRQ. */
int roce_qp_post_recv(struct roce_qp *qp, const struct roce_recv_wr *wr);

#endif
