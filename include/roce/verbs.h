/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_VERBS_H
#define ROCE_VERBS_H

/**
 * @file
 * RDMA objects in the vocabulary of verbs: protection domains, memory regions
 * and windows, completion queues, shared receive queues and queue pairs.
 *
 * They belong to a context, one user of a device (roce/context.h), and are
 * worked for by whoever polls the device (roce/device.h). Queue pairs are
 * connected by roce/cm.h, or step by step by roce/qp_modify.h.
 *
 * Threads. Create, destroy, resize and query calls take the locks they need
 * and may come from any thread, but not from inside a callback of this
 * library. Posting and polling take no lock and make no system call, unless a
 * message leaves with its post (roce_qp_post_send()): one thread at a time per
 * queue pair and per completion queue; any number of threads may post to one
 * shared receive queue.
 *
 * Control calls return 0 or a negative errno and change nothing when they fail.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roce/mr_modify.h"
#include "roce/qp_modify.h"

#ifdef __cplusplus
extern "C" {
#endif

struct roce_context;
struct roce_pd;
struct roce_mr;
struct roce_mw;
struct roce_cq;
struct roce_srq;
struct roce_qp;
struct rte_mbuf;

/** How a request or receive ended: the numbers of enum ibv_wc_status. */
enum roce_wc_status {
	ROCE_WC_SUCCESS = 0,
	ROCE_WC_LOC_LEN_ERR = 1,
	ROCE_WC_LOC_QP_OP_ERR = 2,
	ROCE_WC_LOC_PROT_ERR = 4,
	ROCE_WC_WR_FLUSH_ERR = 5,
	ROCE_WC_MW_BIND_ERR = 6,
	ROCE_WC_BAD_RESP_ERR = 7,
	ROCE_WC_LOC_ACCESS_ERR = 8,
	ROCE_WC_REM_INV_REQ_ERR = 9,
	ROCE_WC_REM_ACCESS_ERR = 10,
	ROCE_WC_REM_OP_ERR = 11,
	ROCE_WC_RETRY_EXC_ERR = 12,
	ROCE_WC_RNR_RETRY_EXC_ERR = 13,
	ROCE_WC_FATAL_ERR =
			19 /**< the port is gone: why a queue pair broke, and of no request or receive */
};

/** The operation of a request: the numbers of enum ibv_wr_opcode. */
enum roce_wr_opcode {
	ROCE_WR_RDMA_WRITE = 0,
	ROCE_WR_RDMA_WRITE_WITH_IMM = 1,
	ROCE_WR_SEND = 2,
	ROCE_WR_SEND_WITH_IMM = 3,
	ROCE_WR_RDMA_READ = 4,
	ROCE_WR_ATOMIC_CMP_AND_SWP = 5,
	ROCE_WR_ATOMIC_FETCH_AND_ADD = 6,
	ROCE_WR_LOCAL_INV = 7,
	ROCE_WR_BIND_MW = 8,
	ROCE_WR_SEND_WITH_INV = 9
};

/** Access rights to memory: the numbers of enum ibv_access_flags. */
enum roce_access {
	ROCE_ACCESS_LOCAL_WRITE = 1 << 0,
	ROCE_ACCESS_REMOTE_WRITE = 1 << 1,
	ROCE_ACCESS_REMOTE_READ = 1 << 2,
	ROCE_ACCESS_REMOTE_ATOMIC = 1 << 3,
	/**
	 * Local read, for which verbs has no flag because every region grants it. It does here, too; but a window
	 * through which peers may read can be bound only to a region that was made with this flag.
	 */
	ROCE_ACCESS_LOCAL_READ = 1 << 15
};

/** A segment of registered memory: start address, bytes, key of the region. */
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
	ROCE_EVENT_BIND, /**< a bind or local invalidate of the send queue ended */
	ROCE_EVENT_USER =
			16 /**< first kind that belongs to the layer above; the engine only carries it */
};

#define ROCE_EVENT_IMM       0x01 /**< imm holds immediate data */
#define ROCE_EVENT_SOLICITED 0x02 /**< the sender asked to wake the receiver */
#define ROCE_EVENT_WRITE \
	0x04 /**< a receive that an RDMA WRITE with immediate used up; byte_len is what it wrote */
#define ROCE_EVENT_INVALID 0x08 /**< imm is the key that the sender invalidated, as on the wire */
#define ROCE_EVENT_QUIET   0x10 /**< posted with ROCE_WR_QUIET */
#define ROCE_EVENT_ZCRX    0x20 /**< the message lies in an mbuf: roce_qp_take_mbuf() */
#define ROCE_EVENT_LENT    ROCE_EVENT_ZCRX /**< alias for one release */

/** A completion. The engine never looks behind @c owner. */
struct roce_event {
	uint64_t wr_id; /**< cookie of the request */
	void *owner; /**< owner of the queue pair; ROCE_EVENT_BIND: of the window, if it has one */
	uint32_t byte_len; /**< bytes of the message; undefined unless status is ROCE_WC_SUCCESS */
	uint32_t imm;      /**< immediate data as on the wire (big endian) */
	uint8_t kind;      /**< enum roce_event_kind */
	uint8_t status;    /**< enum roce_wc_status */
	uint8_t flags;     /**< ROCE_EVENT_* */
	uint8_t opcode;    /**< ROCE_EVENT_SEND, _BIND: enum roce_wr_opcode; user kinds: theirs */
	uint16_t srq_tag; /**< engine's own: where the reap of a receive of a shared receive queue is counted; 0: none */
	uint16_t zcrx; /**< engine's own: of ROCE_EVENT_ZCRX, which frame */
};

/* ---- protection domain, memory region ---- */

/** @return 0; -ENOMEM. */
int roce_pd_create(struct roce_context *context, struct roce_pd **pd);

/** @return 0; -EBUSY while a region, window, queue pair or shared receive queue uses it. */
int roce_pd_destroy(struct roce_pd *pd);

/**
 * Register user memory.
 *
 * @param addr,len  the memory; it stays the caller's and must outlive the region. len > 0, no wrap.
 * @param access    enum roce_access, together.
 * @return 0; -EINVAL; -ENOMEM (memory, or the key table is full).
 */
int roce_mr_create(struct roce_pd *pd, uint64_t addr, uint64_t len, unsigned int access,
		struct roce_mr **mr);

/**
 * The same with other addresses: work requests, windows and peers name the first byte of the region by @p iova, whatever @p addr
 * is. Data that is sent inline (ROCE_WR_INLINE) is named by its own address.
 *
 * @param iova      first address of the key; it differs from @p addr by a multiple of 8, so that what is aligned for atomics is so
 *                  by both. No wrap.
 * @return as roce_mr_create(); -EINVAL also when @p iova is none.
 */
int roce_mr_create_iova(struct roce_pd *pd, uint64_t addr, uint64_t len, uint64_t iova,
		unsigned int access, struct roce_mr **mr);

/** Key of a region, as local and as remote key. No other is or was like it for a long time. */
uint32_t roce_mr_key(const struct roce_mr *mr);

/**
 * End a region: later uses of its key fail. When the call returns no engine touches its memory any more, nor any device.
 * Takes the lock of every engine of the domain once.
 * @return 0; -EBUSY while a window is bound to it, or, where the device was opened with `zero_copy=`, while somebody has
 *   frames that refer to its memory; that may be so after the end of a queue pair, whose requests nobody waits for. A
 *   bind that is posted and not executed yet fails.
 */
int roce_mr_destroy(struct roce_mr *mr);

/* ---- memory window ---- */

/** The memory to which a window is to be bound. */
struct roce_mw_bind {
	struct roce_mw *mw;
	uint32_t mr_key; /**< of the region below */
	uint32_t access; /**< what peers may do: as for a region */
	uint64_t addr;
	uint64_t length; /**< bytes; 0, of type 1 alone: to nothing, whatever the others say */
	/**
	 * Names the window to peers as soon as the bind has executed. Out; of type 2 in: the lowest eight bits are the
	 * consumer's choice, the others those of roce_mw_key().
	 */
	uint32_t key;
};

/** The memory to which a window is bound. */
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
 * @param owner  stands in the events of its binds; NULL: the owner of the queue pair does.
 * @return 0; -ENOMEM (memory, or the key table is full).
 */
int roce_mw_create(struct roce_pd *pd, void *owner, struct roce_mw **mw);

/**
 * The same of type 2 (IBTA Vol 1, 10.6.7.2, 2B): the queue pair that binds it has it, and only that one's peer reaches memory
 * through it. It is bound again only when it was invalidated, by ROCE_WR_LOCAL_INV of its queue pair or by the peer's
 * SEND with invalidate. The end of its queue pair unbinds it, too.
 */
int roce_mw_create_type2(struct roce_pd *pd, void *owner, struct roce_mw **mw);

/** The key with which a window of type 2 was made, which names nothing before it is bound by it; 0: it is of type 1. */
uint32_t roce_mw_key(const struct roce_mw *mw);

/**
 * End a window, bound or not. When the call returns no peer reaches memory through it any more; binds that are
 * posted and not executed yet fail. Takes the lock of every engine of the domain once.
 */
void roce_mw_destroy(struct roce_mw *mw);

/** The memory to which the executed binds have bound the window. @return false: none, and nothing is written. */
bool roce_mw_query(const struct roce_mw *mw, struct roce_mw_binding *binding);

/**
 * Could the queue pair execute this bind now? Judged in this order:
 *
 * @return 0; -EINVAL a window of type 2 with length 0, or a key of another window; -ENOENT @c mr_key names no region; -ERANGE outside of it; -EACCES it does not grant the access (to write
 *   from afar takes local write, to read ROCE_ACCESS_LOCAL_READ); -EPERM region, window and queue pair are not of one
 *   protection domain. With length 0 only the last.
 */
int roce_mw_judge(const struct roce_qp *qp, const struct roce_mw_bind *bind);

/* ---- completion queue ---- */

/**
 * @param depth  events it holds, at least 1.
 * @param owner  stands in its async events: ROCE_ASYNC_CQ_ERR when it overflows, _CQ_READY.
 * @return 0; -EINVAL none, or more than 2^24; -ENOMEM.
 */
int roce_cq_create(struct roce_context *context, uint32_t depth, void *owner, struct roce_cq **cq);

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
 * Hold exactly @p depth events from now on; none is lost. Any thread that holds no
 * engine lock, beside pushes; one at a time, and not beside roce_cq_poll() and roce_cq_look().
 *
 * @return 0; -EINVAL as for roce_cq_create(); -EBUSY more are waiting; -ENOMEM. A failure changes nothing.
 */
int roce_cq_resize(struct roce_cq *cq, uint32_t depth);

/**
 * Deliver ROCE_ASYNC_CQ_READY to the context with the next event, once. As with ibv_req_notify_cq(): arm, poll the queue
 * again, then sleep on roce_context_fd(). Any thread.
 *
 * @param solicited  of receives only those that the sender asked to wake for; failures always wake. Armed already for
 *   every event, it stays so.
 */
void roce_cq_arm(struct roce_cq *cq, bool solicited);

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
	uint32_t flags; /**< ROCE_WR_QUIET, ROCE_WR_ZCRX */
};

/**
 * @param max_wr   receives it holds: exactly that many may be outstanding. 1..2^20.
 * @param max_sge  segments of one receive, 1..ROCE_SGE_MAX.
 * @param owner    stands in ROCE_ASYNC_SRQ_LIMIT, delivered when the low watermark is crossed.
 * @return 0; -EINVAL; -ENOMEM.
 */
int roce_srq_create(struct roce_pd *pd, uint32_t max_wr, uint32_t max_sge, void *owner,
		struct roce_srq **srq);

/** @return 0; -EBUSY while a queue pair is attached. Receives left on it vanish without completion. */
int roce_srq_destroy(struct roce_srq *srq);

/**
 * Post a receive. Any thread, any number of threads at once. Until its completion its memory is the provider's; what lies
 * there behind the bytes of the message, as its completion counts them, is not defined.
 *
 * @return 0; -EINVAL too many segments, or ROCE_WR_ZCRX; -ENOSPC as many outstanding as it holds; -EACCES key unknown or not
 *   writable; -EPERM region of another protection domain; -ERANGE outside the region.
 */
int roce_srq_post(struct roce_srq *srq, const struct roce_recv_wr *wr);

/**
 * Counts of one moment between call and return: 0 <= available <= outstanding <= max holds for every answer.
 * Any thread that holds no engine lock.
 */
void roce_srq_query(struct roce_srq *srq, struct roce_srq_counts *counts);

/**
 * Hold exactly @p max_wr receives from now on. No posted receive is lost, and no message that comes meanwhile. Any
 * thread that holds no engine lock; one at a time, beside posts, takes and reaps.
 *
 * @return 0; -EINVAL not 1..2^20; -EBUSY more are outstanding, or the low watermark is higher; -ENOMEM.
 */
int roce_srq_resize(struct roce_srq *srq, uint32_t max_wr);

/**
 * Set the low watermark and arm it: ROCE_ASYNC_SRQ_LIMIT is delivered once when fewer than @p low receives are on the
 * queue. That is inside this call if they are already, else in the take that makes it true, before the message of that
 * take completes. 0 disarms. Threads as roce_srq_resize().
 *
 * @return 0; -EINVAL: more than the queue holds, and nothing changed.
 */
int roce_srq_set_low(struct roce_srq *srq, uint32_t low);

/* ---- queue pair ---- */

#define ROCE_SGE_MAX       32 /**< segments of one request or receive */
#define ROCE_INLINE_MAX    1024
#define ROCE_MSG_MAX       (1u << 31)
#define ROCE_ZCRX_MAX      4096          /**< frames of one queue pair that consumers may hold */
#define ROCE_LENT_MAX      ROCE_ZCRX_MAX /**< alias for one release */
#define ROCE_RD_ATOMIC_MAX 128

enum roce_qp_state {
	ROCE_QP_RESET = 1,
	ROCE_QP_RTR, /**< receives; sends when the peer is known to be ready */
	ROCE_QP_RTS,
	ROCE_QP_ERR /**< everything posted is flushed */
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
	__extension__ union {
		uint16_t max_zcrx; /**< frames of its zero-copy receives that the consumer may hold, 0..ROCE_ZCRX_MAX */
		uint16_t max_lent; /**< alias for one release */
	};
	void *owner; /**< stands in every event of the queue pair */
};

/**
 * @return 0; -EINVAL, also for queues of another device, and for max_zcrx with an SRQ or without a recv_cq; -ENOMEM
 *   (memory, the 16,384 queue pairs of a device, the 65,535 shared queues of a completion queue, or more max_zcrx than what
 *   is left of the device's `zcrx=`).
 */
int roce_qp_create(const struct roce_qp_attr *attr, struct roce_qp **qp);

/**
 * End a queue pair in any state. Requests and receives it holds end without completion: a receive taken
 * from a shared receive queue counts as reaped. One that was connected holds none when its id has ended, but for requests
 * posted since the last poll. Its number is not used again soon. Frames that it gave and that were taken stay the
 * consumer's, who may free them whenever he likes; the others are freed. With `zero_copy=` the device may read the memory of its
 * requests until roce_mr_destroy() succeeds.
 */
void roce_qp_destroy(struct roce_qp *qp);

uint32_t roce_qp_number(const struct roce_qp *qp);
enum roce_qp_state roce_qp_state(const struct roce_qp *qp);
/** Requests not finished yet; receives posted to its own queue or held from a shared one. Exact when locked. */
void roce_qp_depth(const struct roce_qp *qp, uint32_t *requests, uint32_t *receives);

#define ROCE_HIGH_NONE UINT32_MAX /**< a high watermark that nothing exceeds */

/**
 * Set and arm the high watermarks of the receives that the queue pair has and that are not completed: those posted
 * to its own queue, or taken from a shared one. More than @p soft: its context gets ROCE_ASYNC_QP_HIGH, once for
 * each call. More than @p hard while it is connected, or at the peer's first message: the queue pair breaks. Judged at
 * once (so it may break inside), whenever it takes from a shared queue, and when its connection is established.
 */
void roce_qp_set_watermarks(struct roce_qp *qp, uint32_t soft, uint32_t hard);

#define ROCE_WR_SIGNALED  0x01 /**< an event on success; failures always make one */
#define ROCE_WR_SOLICITED 0x02
#define ROCE_WR_FENCE     0x04
/**
 * SEND and WRITE: the bytes are copied into the request before the call returns. The memory may be used again at once,
 * and need not be registered: keys are not looked at.
 */
#define ROCE_WR_INLINE 0x08
#define ROCE_WR_QUIET  0x10 /**< its event says ROCE_EVENT_QUIET; the engine only carries it */

/**
 * A receive without segments, of a queue pair's own queue with max_zcrx: the consumer is given the frame that the message
 * came in. It takes a message of one packet; a longer one ends it with ROCE_WC_LOC_LEN_ERR, as one longer than its segments.
 */
#define ROCE_WR_ZCRX 0x100
#define ROCE_WR_LEND ROCE_WR_ZCRX /**< alias for one release */

/** A request to post. */
struct roce_wr {
	uint64_t wr_id;
	__extension__ union {
		/** Copied before the call returns; the memory is read until completion. */
		const struct roce_sge *sg;
		struct roce_mw_bind *bind; /**< of BIND_MW; copied, its key written */
	};
	uint32_t num_sge;
	uint32_t imm;   /**< big endian: immediate data, or the key to invalidate */
	uint8_t opcode; /**< enum roce_wr_opcode */
	uint8_t flags;  /**< ROCE_WR_* */
	uint32_t rkey;  /**< RDMA and atomics: key of the peer's memory */
	uint64_t remote_addr;
	uint64_t compare_add; /**< atomics: compare with, or add */
	uint64_t swap;        /**< compare-and-swap: put there when equal */
};

/**
 * Post to the send queue. One thread at a time per queue pair; takes no lock, makes no system call, with one exception.
 *
 * The request leaves with the next poll. The exception: the thread that polls a device of ours, not an attached one, sends a
 * request of one frame that would be alone in its burst at once; the driver may make a system call for that.
 *
 * A bind is executed when everything posted before it was sent (with ROCE_WR_FENCE: was completed), and nothing
 * posted after it is sent before. It ends what the window was bound to, and completes in its turn. When it can not
 * be executed any more it fails with ROCE_WC_MW_BIND_ERR, and the queue pair breaks. One that is flushed changes
 * nothing; if it was executed before a request in front of it failed, the window is bound to nothing. One thread at
 * a time posts binds of one window.
 *
 * A local invalidate takes its turn as a bind does. It unbinds the window of type 2 that the queue pair bound by the key; where
 * there is none it fails as a bind, and so does a bind of a window of type 2 that is bound.
 *
 * A SEND with invalidate unbinds the peer's window that has the key, before its receive completes; when there is none
 * in the protection domain of the peer's queue pair, or it is of type 2 and another one's, both ends break, this one with ROCE_WC_REM_ACCESS_ERR. A READ or
 * atomic in front of it may be answered, or be answered again, after it: fence it when they use the same window.
 *
 * @return 0; -EINVAL too many segments, state RESET, or inline what is not sent from here; -EMSGSIZE longer than
 *   ROCE_MSG_MAX, or inline and longer than the queue pair's max_inline; -EOPNOTSUPP opcode;
 *   -ENOSPC queue full; -EACCES, -EPERM, -ERANGE as for roce_srq_post(), of a bind as for roce_mw_judge(). In state
 *   ERR the request is accepted, and flushed by the next poll.
 */
int roce_qp_post_send(struct roce_qp *qp, const struct roce_wr *wr);

/**
 * Post the @p n requests of an array in their order, or none of them when one is refused. Keys that binds of windows of type 1
 * receive in a list that is refused are not used again. Threads as for roce_qp_post_send().
 *
 * @return as roce_qp_post_send() for the first request that is refused; -ENOSPC: there is no room for all.
 */
int roce_qp_post_list(struct roce_qp *qp, const struct roce_wr *wr, uint32_t n);

/**
 * Post to the queue pair's own receive queue, in any state.
 *
 * @return as roce_srq_post(); -EINVAL with an SRQ; ROCE_WR_ZCRX is welcome, but -EINVAL with segments, or where max_zcrx is 0.
 */
int roce_qp_post_recv(struct roce_qp *qp, const struct roce_recv_wr *wr);

/**
 * The message of an event with ROCE_EVENT_ZCRX: an mbuf of one segment whose data are exactly the bytes of the message.
 * It is the caller's, to be read, written and freed by rte_pktmbuf_free() on any thread at any time, also when the queue
 * pair, the device or the connection has ended. Its buffer is external to it and the payload lies in the middle: what is
 * around it are headers, which nobody needs any more.
 *
 * Until it is freed it is one of the max_zcrx; so is one that nobody takes, until the queue pair is destroyed. Meanwhile a
 * message that wants one more is answered with receiver not ready, and comes again: nothing is lost.
 *
 * The thread that polls. Before the queue pair is destroyed; in state ERR, too.
 *
 * @return NULL: the event has no ROCE_EVENT_ZCRX (a message without bytes gives no frame), or its mbuf was taken already.
 */
struct rte_mbuf *roce_qp_take_mbuf(struct roce_qp *qp, const struct roce_event *event);

#ifdef __cplusplus
}
#endif

#endif
