/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ENGINE_QP_H
#define ROCE_ENGINE_QP_H

/**
 * @file
 * The queue pair, in groups of cache lines by who touches them when:
 *
 *   rx    the responder, one line: looked up and validated for every request
 *   tx    the requester: cursors, window, timers
 *   post  the poster's thread: what it reads and writes of a request but the slot; or copies of the poller's.
 *   remote  the responder, when the peer reads, writes or does atomics;
 *   cold  attributes, connection, template.
 * rx and tx belong to the engine's poller (under the engine's lock).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_prefetch.h>

#include "engine/cq.h"
#include "engine/dcqcn.h"
#include "engine/engine_pvt.h"
#include "engine/recovery.h"
#include "engine/srq.h"
#include "engine/timer.h"
#include "engine/verbs.h"
#include "engine/wq.h"
#include "wire/aeth.h"
#include "wire/frame.h"
#include "wire/icrc.h"
#include "wire/psn.h"

#define ROCE_ENGINE_ASYNC_LISTED 1u /**< the queue pair is on the domain's stack cm_pending */

/** Answers that the responder owes the peer: served before any request of this end. */
#define ROCE_OWES_ACK  0x01 /**< everything before the expected PSN */
#define ROCE_OWES_NAK  0x02 /**< rx.syndrome at the expected PSN; implies the acknowledgement */
#define ROCE_OWES_READ 0x04 /**< answers to READs and atomics, which come before either */
#define ROCE_OWES_CNP  0x08 /**< a congestion notification */

/** In place of a roce_qp_state: a NAK that ends the queue pair waits behind answers to READs. */
#define ROCE_QP_ENDING 64

#define ROCE_WINDOW       128u /**< PSNs in flight at the most */
#define ROCE_ACKREQ_EVERY 32u  /**< frames between two requests for an acknowledgement */
#define ROCE_ACK_SOON     16u /**< packets not acknowledged with which an answer waits for nothing */

#define ROCE_ODD_ANSWERS_BURST 64u     /**< answers to frames that were not expected, at once */
#define ROCE_ODD_ANSWERS_HZ    200000u /**< and in a second after that */

/** Which list of its engine a queue pair is on. */
enum roce_listed {
	ROCE_LISTED_NOWHERE = 0,
	ROCE_LISTED_READY,       /**< has something to send in this poll */
	ROCE_LISTED_DELAYED_ACK, /**< owes no more than an acknowledgement, which may wait for company */
};

struct roce_qp_rx {
	uint32_t qpn;
	uint32_t epsn; /**< PSN expected next */
	uint64_t flow4; /**< IPv4: source and destination address of a good frame, as they stand in it; 0: IPv6 */
	struct roce_srq *rq;
	struct roce_recv *recv; /**< the receive in use, when holding */
	struct roce_cq *cq;
	uint32_t msn;     /**< messages completed, 24 bits */
	uint32_t got;     /**< bytes of the message in progress */
	uint16_t srq_tag; /**< of the reap counter of rq on cq; 0: none */
	uint8_t state;    /**< enum roce_qp_state */
	uint8_t verb;     /**< of the message in progress; ROCE_VERB_NONE between messages */
	uint8_t owes;     /**< ROCE_OWES_* */
	uint8_t syndrome; /**< of the NAK owed */
	bool nak_sent; /**< a gap or an empty queue was reported: be silent until the expected PSN comes */
	bool holding;    /**< recv is a receive taken and not completed */
	bool watched;    /**< before a take: a high watermark is armed, or frames are given */
	uint8_t unacked; /**< packets taken in since the last answer, modulo 256 */
	uint16_t mtu;    /**< bytes */
	uint32_t taken;  /**< receives taken, ever */
};

/**
 * A READ or atomic of the peer: answered in the order they came, and kept after that, so that a duplicate is
 * answered again; an atomic from its result.
 */
struct roce_rd_resource {
	uint64_t va;       /**< READ: of the next byte to send */
	uint64_t original; /**< atomic: the value before it */
	uint32_t rkey;
	uint32_t left; /**< READ: bytes to send */
	uint32_t psn;  /**< of the request */
	uint32_t end;  /**< one behind the last PSN of the answer */
	uint32_t next; /**< PSN of the next frame of the answer */
	uint32_t msn;
	uint8_t verb; /**< enum roce_verb; ROCE_VERB_NONE: never used */
	bool pending; /**< not yet answered to the end */
	bool begun;   /**< the next frame of the answer is not its first */
	bool again;   /**< was answered before: the requester may have all of it by now */
	bool anew; /**< was asked for again: the requester may have more of it than was said since */
};

/** Operations of the peer on our memory. */
struct roce_qp_remote {
	uint64_t va; /**< WRITE in progress: of the next byte */
	uint32_t rkey;
	uint32_t left;       /**< bytes still to come */
	uint32_t length;     /**< of the whole WRITE */
	uint8_t max;         /**< resources */
	uint8_t allowed;     /**< of them by this connection */
	uint8_t newest;      /**< used last */
	uint8_t oldest;      /**< pending that is answered next, when any is */
	uint8_t last_status; /**< ENDING: how the receive in use ends */
	struct roce_rd_resource *resource;
};

/** The resource used after this one: they go round. */
static inline uint8_t
roce_resource_after(const struct roce_qp_remote *remote, uint8_t i)
{
	return (uint8_t)(i + 1u < remote->allowed ? i + 1u : 0);
}

struct roce_qp_tx {
	uint32_t next;   /**< slot of the request sent next */
	uint32_t tail;   /**< slot of the oldest unacknowledged request */
	uint32_t begun;  /**< one behind the newest request of which a frame was ever sent */
	uint32_t psn;    /**< of the next frame */
	uint32_t una;    /**< oldest unacknowledged */
	uint32_t max;    /**< one behind the newest PSN ever sent */
	uint32_t offset; /**< bytes of request next that were sent */
	uint32_t ssn;    /**< messages begun: sequence number of request next, 24 bits */
	uint32_t limit;  /**< last ssn the peer has a receive for */
	uint32_t silent; /**< frames since the last acknowledge request */
	uint32_t timed_psn;
	uint64_t timed_at; /**< when timed_psn left; 0: no measurement runs */
	uint64_t timeout_at; /**< retransmit when nothing is acknowledged until then; ROCE_NEVER: nothing in flight */
	uint64_t limit_at; /**< local ACK timeout */
	uint64_t heard_until; /**< how long other answers may put off limit_at; 0: none came since the last progress */
	uint64_t rnr_at;      /**< receiver not ready: be silent until then; 0: it is ready */
	uint64_t rto;         /**< retransmission timeout now, ticks */
	uint64_t ack_timeout; /**< local ACK timeout, ticks; 0: none */
	uint32_t srtt;        /**< smoothed round trip, ticks, 0: none measured */
	uint32_t rttvar;
	uint32_t nak_psn; /**< rewound to by the last sequence NAK */
	uint16_t window;  /**< PSNs that may be in flight now, 1..ROCE_WINDOW */
	uint16_t threshold; /**< below it the window doubles with each round trip, above it grows slowly */
	uint8_t retries; /**< local ACK timeouts left */
	uint8_t rnr_retries;
	bool limited;       /**< the peer gives credits */
	bool credits_known; /**< the peer has said whether it does */
	bool draining;
	bool nak_seen;   /**< nak_psn is valid: nothing was acknowledged since */
	uint8_t listed;  /**< enum roce_listed; atomic */
	bool prot_error; /**< request next cannot be sent: its memory is gone */
	bool fence_wait; /**< request next waits for the answer to a READ or atomic */
	bool paced;      /**< cold.dcqcn limits what is sent */
	uint32_t reads;  /**< READs and atomics of which a frame was ever sent, not yet answered */
	struct roce_timer timer;
};

struct roce_qp {
	struct roce_qp_rx rx __rte_cache_aligned;

	struct roce_wq wq __rte_cache_aligned;
	struct roce_cq *send_cq;
	struct roce_qp_tx tx;
	TAILQ_ENTRY(roce_qp) ready_link;
	void *owner;
	struct roce_engine *engine;
	struct roce_pd *pd;
	uint32_t done; /**< ROCE_WQE_EXTBUF: slot of the oldest request without a completion, never ahead of tx.tail */

	struct {
		uint32_t head;       /**< slot of the next post; the engine reads it */
		uint32_t tail_seen;  /**< lower bound of tx.tail */
		uint32_t max;        /**< requests */
		uint32_t max_read;   /**< bytes of a READ */
		uint16_t max_inline; /**< bytes */
		uint8_t max_sge;
		uint8_t max_rd_atomic; /**< READs and atomics that may be outstanding */
		bool atomics;
		bool binds;     /**< a bind was posted since RESET; the engine reads it */
		bool connected; /**< not in RESET; written by the engine, atomic */
		bool rung;      /**< on the doorbell stack; atomic */
		struct roce_wq wq;
		struct roce_engine *engine;
		const struct roce_keys *keys;
		const struct roce_pd *pd;
		struct roce_qp *next_rung;
		struct roce_keys_recent recent;
	} post __rte_cache_aligned;

	struct roce_qp_remote remote __rte_cache_aligned;

	struct {
		struct roce_template template;
		struct roce_qp_connect connect;
		struct roce_ip peer;  /**< source of a good frame */
		struct roce_ip local; /**< its destination */
		void *conn;
		struct roce_pending_async async;
		struct roce_srq_reap_counter *reap_counter; /**< of rx.rq on rx.cq; NULL: none */
		uint32_t eventless; /**< of rx.taken: receives that ended without an event, ever */
		struct roce_qp *next_cm_pending;
		uint32_t cm_events; /**< bits 1 << enum roce_engine_async, and ROCE_ENGINE_ASYNC_LISTED; atomic */
		uint32_t first_psn;
		uint32_t soft_high; /**< high watermarks; ROCE_HIGH_NONE: none, or delivered */
		uint32_t hard_high;
		bool heard;      /**< the peer's first packet came: ESTABLISHED was delivered */
		uint8_t max_sge; /**< segments of a request, as agreed upon: post.max_sge or more */
		uint64_t odd_answers; /**< until when the answers to unexpected frames are used up */
		uint64_t cnp_at; /**< when the last congestion notification was owed; 0: never */
		struct roce_dcqcn dcqcn;
		struct roce_recovery recovery;
		struct roce_zcrx *zcrx; /**< NULL: it has no zero-copy receives (zcrx.h) */
	} cold __rte_cache_aligned;
};

static_assert(sizeof(struct roce_qp_rx) <= RTE_CACHE_LINE_SIZE, "the responder works in one line");
static_assert(offsetof(struct roce_qp, wq) % RTE_CACHE_LINE_SIZE == 0, "the requester's");
static_assert(offsetof(struct roce_qp, post) % RTE_CACHE_LINE_SIZE == 0, "the poster's own");
static_assert(offsetof(struct roce_qp, remote) % RTE_CACHE_LINE_SIZE == 0, "and behind it");

/** The queue pair of a number; NULL when there is none. Locked (any engine), valid while the lock is held. */
static inline struct roce_qp *
roce_qp_find(const struct roce_domain *domain, uint32_t qpn)
{
	struct roce_qp *qp = __atomic_load_n(&domain->qp[qpn & ROCE_QPS_MASK], __ATOMIC_ACQUIRE);

	return qp != NULL && qp->rx.qpn == qpn ? qp : NULL;
}

/** Which list it is on (enum roce_listed). Any thread may look. */
static inline uint8_t
roce_qp_listed(const struct roce_qp *qp)
{
	return __atomic_load_n(&qp->tx.listed, __ATOMIC_RELAXED);
}

/** It is on that list now. Locked. */
static inline void
roce_qp_list(struct roce_qp *qp, enum roce_listed listed)
{
	__atomic_store_n(&qp->tx.listed, (uint8_t)listed, __ATOMIC_RELAXED);
}

/** Off the list it is on, if any. Locked. */
static inline void
roce_qp_unlist(struct roce_qp *qp)
{
	struct roce_engine *e = qp->engine;

	if (qp->tx.listed != ROCE_LISTED_NOWHERE)
		TAILQ_REMOVE(qp->tx.listed == ROCE_LISTED_READY ? &e->ready : &e->delayed_acks, qp,
				ready_link);
	roce_qp_list(qp, ROCE_LISTED_NOWHERE);
}

/** The engine shall look at this queue pair before the end of the poll. Locked. */
static inline void
roce_qp_ready(struct roce_qp *qp)
{
	if (qp->tx.listed == ROCE_LISTED_READY)
		return;
	roce_qp_unlist(qp);
	roce_qp_list(qp, ROCE_LISTED_READY);
	TAILQ_INSERT_TAIL(&qp->engine->ready, qp, ready_link);
}

/** Owe the peer an acknowledgement or a NAK, in this poll. Locked. */
static inline void
roce_qp_owe(struct roce_qp *qp, uint8_t what)
{
	qp->rx.owes |= what;
	roce_qp_ready(qp);
}

/** Prefetch what the visit wants of a queue pair that was not heard for long. */
static inline void
roce_qp_prefetch(const struct roce_qp *qp)
{
	rte_prefetch0(&qp->tx.timer);
	rte_prefetch0(&qp->wq);
	rte_prefetch0(&qp->tx.rnr_at);
	rte_prefetch0(&qp->post);
	rte_prefetch0(&qp->cold.template);
	rte_prefetch0(&qp->cold.template.bytes[RTE_CACHE_LINE_SIZE]);
}

/** Owe the peer the acknowledgement it asked for; with more on its way, one may do for several. Locked. */
static inline void
roce_qp_owe_ack(struct roce_qp *qp)
{
	if (qp->rx.unacked >= ROCE_ACK_SOON) {
		roce_qp_owe(qp, ROCE_OWES_ACK);
		return;
	}
	qp->rx.owes |= ROCE_OWES_ACK;
	if (qp->tx.listed == ROCE_LISTED_NOWHERE) {
		roce_qp_prefetch(qp);
		roce_qp_list(qp, ROCE_LISTED_DELAYED_ACK);
		TAILQ_INSERT_TAIL(&qp->engine->delayed_acks, qp, ready_link);
	}
}

/** The queue pair holds a receive, or no longer does. Any thread may look (roce_qp_depth). */
static inline void
roce_qp_hold(struct roce_qp *qp, bool holding)
{
	__atomic_store_n(&qp->rx.holding, holding, __ATOMIC_RELAXED);
}

/** Has a bind been posted on this connection? After roce_qp_posted(): true for every bind that is among those. */
static inline bool
roce_qp_binds(const struct roce_qp *qp)
{
	return __atomic_load_n(&qp->post.binds, __ATOMIC_RELAXED);
}

/** Most packets of an answer: half of the PSNs, less a window, so that "behind" and "ahead" stay certain. */
#define ROCE_READ_PACKETS_MAX ((1u << 23) - 2 * ROCE_WINDOW)

/** Packets of a message: at least one. */
static inline uint32_t
roce_packets(uint32_t length, uint32_t mtu)
{
	if (length <= mtu)
		return 1;
	return (uint32_t)(((uint64_t)length + mtu - 1) >> rte_bsf32(mtu));
}

/** Requests posted so far, as the engine may see them. */
static inline uint32_t
roce_qp_posted(const struct roce_qp *qp)
{
	return __atomic_load_n(&qp->post.head, __ATOMIC_ACQUIRE);
}

/** Begin at RESET: cursors, flags, timer. */
void roce_qp_init(struct roce_qp *qp);

/** End with a flush what was posted to a broken queue pair. Locked. */
void roce_qp_flush(struct roce_qp *qp);

/** Tell the owner when a drain was asked for and nothing is unfinished. Locked. */
void roce_qp_check_drained(struct roce_qp *qp);

/** Ring the doorbell: the engine will look at the queue pair. Any thread. */
void roce_qp_ring(struct roce_qp *qp);

/** Move every rung queue pair to its engine's ready list, and see what was released (extbuf.h). Locked. */
void roce_engine_answer_doorbells(struct roce_engine *e);

/** Deliver to the layer above and, when there is a connection, to the connection manager. Locked. */
void roce_qp_async_event(struct roce_qp *qp, enum roce_engine_async kind, int status);

/**
 * The transport gives up: the oldest request (or nobody, when it was the responder) fails with @p status, the
 * rest is flushed, the state is ERR and QP_BROKEN is delivered. Locked.
 */
void roce_qp_break(struct roce_qp *qp, enum ibv_wc_status status, bool request);

/* ---- requester (req.c, bind.c, ack.c, retry.c) ---- */

/** Frames with requests, at most @p room. Locked. @return how many. */
uint16_t roce_req_emit(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room, uint64_t now);

/** Is there a request frame that may be sent now? */
bool roce_req_wants(const struct roce_qp *qp);

/** Send again from @p psn, which is sent and not acknowledged. */
void roce_req_rewind(struct roce_qp *qp, uint32_t psn);

/** When the request that cannot be sent is the oldest one: it fails, and with it the connection. */
void roce_req_report_prot_error(struct roce_qp *qp);

/** The memory of the request at next is gone. The request fails when everything before it is acknowledged. */
void roce_req_fail_local(struct roce_qp *qp);

/** Is the request at next, before @p posted, a bind? */
bool roce_bind_is_next(const struct roce_qp *qp, uint32_t posted);

/** Could the requester go over the bind at next now? */
bool roce_bind_may_pass(const struct roce_qp *qp);

/**
 * Go over the bind at next; execute it, if that was not done before a rewind.
 * @return false: it has to wait, or it failed.
 */
bool roce_bind_pass(struct roce_qp *qp);

/** How far the sequence number of messages moves from request @p from to request @p to: binds have none. */
int32_t roce_bind_ssn_diff(const struct roce_qp *qp, uint32_t from, uint32_t to);
/** Everything before @p psn arrived, and was answered: complete what ends there. Locked. */
void roce_ack_advance(struct roce_qp *qp, uint32_t psn, uint64_t now);

/** The credits that an answer brings. Locked. */
void roce_ack_learn_credits(struct roce_qp *qp, const struct roce_aeth *aeth);

/** The oldest READ or atomic of which a frame was ever sent; NULL: none. Locked. */
struct roce_wqe *roce_read_oldest(const struct roce_qp *qp);

/** PSN of the next frame of the answer to @p wqe, the oldest READ or atomic. Locked. */
uint32_t roce_read_expected(const struct roce_qp *qp, const struct roce_wqe *wqe);

/**
 * Is the frame, which has the expected PSN, the next one of the answer to @p wqe? Nothing else about it is believed.
 * @param got bytes of a READ that came before it.
 */
bool roce_read_fits(const struct roce_qp *qp, const struct roce_wqe *wqe,
		const struct roce_pkt *pkt, uint32_t *got);

/** READs and atomics before the request at next that are not answered. Locked. */
uint32_t roce_read_outstanding(const struct roce_qp *qp);

/** The answer at @p psn is lost: ask again from there, once for each gap. Locked. */
void roce_read_lost(struct roce_qp *qp, uint32_t psn, uint64_t now);

/** An answer to a READ or atomic arrived. Locked. */
void roce_read_rx(struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t now);

/** An acknowledgement or NAK arrived. Locked. */
void roce_ack_rx(struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t now);

/** The first frame after silence, or after a rewind, left. */
void roce_retry_started(struct roce_qp *qp, uint64_t now);

/** Something new was acknowledged: counters start over. */
void roce_retry_progress(struct roce_qp *qp, uint64_t now);

/** The peer is busy with answers to our READs, if not with those that are missing: silence begins now. */
void roce_retry_heard(struct roce_qp *qp, uint64_t now);

/** Be silent for the time of an RNR NAK, then send again from @p psn. */
void roce_retry_rnr(struct roce_qp *qp, uint32_t psn, uint8_t timer_code, uint64_t now);

/** Have the timer of the requester fire no later than @p at. */
void roce_retry_watch(struct roce_qp *qp, uint64_t at);

/** The timer of the requester. */
void roce_retry_fire(struct roce_timer *timer, uint64_t now);

/** Values at the start of a connection. */
void roce_retry_init(struct roce_qp *qp);

#endif
