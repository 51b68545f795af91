/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_CM_CM_H
#define ROCE_CM_CM_H

/**
 * @file
 * Connection management over queue pair 1: InfiniBand CM messages (IBTA Vol 1,
 * chapter 12) with the RDMA IP CM header (annex A11), as Linux rdma_cm speaks it.
 *
 * Sans I/O like the engine: parsed datagrams and `now` in, frames and a
 * deadline out. It knows no queue pair: numbers and PSNs pass through it, and
 * the layer above moves the queue pairs in its notify callback.
 *
 * Threads: every call wants the lock of engine 0 held by the caller; notify is
 * called under it. A connection belongs to its owner until roce_cm_release();
 * afterwards it lives on inside (time wait) without telling anybody.
 *
 * The start of life of a connection:
 *   active   RESOLVING -> REQ_SENT -> (REP) -> ESTABLISHED
 *   passive  REQ_RCVD (notify REQUEST) -> accept -> REP_SENT -> (RTU or data) -> ESTABLISHED
 * and its end: DREQ_SENT, or the peer's DREQ answered at once -> TIMEWAIT -> CLOSED. The
 * memory goes when it is CLOSED and released, whichever comes last.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "engine/engine.h"
#include "wire/frame.h"

struct roce_cm;
struct roce_cm_conn;
struct roce_cm_listener;

#define ROCE_CM_PRIVATE_MAX_REQ \
	56 /**< bytes of consumer private data in a REQ, behind the IP CM header */
#define ROCE_CM_PRIVATE_MAX_REP 196
#define ROCE_CM_PRIVATE_MAX_REJ 148

/** Service ids of the RDMA TCP port space: this plus the port. */
#define ROCE_CM_SERVICE_TCP 0x0000000001060000ull

/** Bits of a communication id below those of the process. */
#define ROCE_CM_PROCESS_SHIFT 22

/** The parameters that one side offers, or was offered. */
struct roce_cm_param {
	uint32_t qpn;
	uint32_t psn; /**< first PSN that side wants to receive: its peer begins with it */
	uint8_t responder_resources; /**< READs and atomics it can serve */
	uint8_t initiator_depth;     /**< it wants to have outstanding */
	uint8_t retry;
	uint8_t rnr_retry;   /**< how often the receiver of this message shall retry on RNR */
	uint8_t ack_timeout; /**< local ACK timeout code (REQ only) */
	uint8_t mtu_code;    /**< path MTU (REQ only) */
	bool srq;
	bool by_number; /**< of this end: the owner's queue pair does not name the connection (roce_qp_set_conn()) */
	bool extensions; /**< it speaks this provider's extensions (wire/mad.h); of this end the configuration says so */
	const void *private_data; /**< behind the IP CM header; on notify valid during the call only */
	uint16_t private_len;
};

enum roce_cm_event_kind {
	ROCE_CM_REQUEST =
			1, /**< passive: a REQ for a listener; @c conn is new and has no owner yet */
	ROCE_CM_REPLY, /**< active: the REP came; bring the queue pair to RTS and return 0: RTU goes out; or ROCE_CM_LATER */
	ROCE_CM_ESTABLISHED, /**< passive: RTU, or data came first */
	ROCE_CM_REJECTED,    /**< @c reason; private data when the consumer rejected */
	ROCE_CM_TIMED_OUT, /**< nobody answered in time: REQ (active) or REP (passive) repeated in vain */
	ROCE_CM_UNREACHABLE,  /**< no route to the address */
	ROCE_CM_DISCONNECTED, /**< the peer's DREQ came, or ours is answered or given up */
	ROCE_CM_PATH, /**< the path that roce_cm_find_path() resolved; nothing follows, and it wants to be released */
	ROCE_CM_BROKEN, /**< the queue pair broke, and its engine has delivered that: the connection ends, and nothing follows */
};

struct roce_cm_event {
	enum roce_cm_event_kind kind;
	struct roce_cm_conn *conn;
	const struct roce_context *context; /**< for whom it was made; only carried */
	void *owner;                        /**< of the connection; of the listener for REQUEST */
	const struct roce_cm_param *peer;   /**< REQUEST, REPLY; private data also for REJECTED */
	const struct roce_path *path;       /**< REQUEST, REPLY, PATH: where the peer is */
	uint64_t service_id;                /**< REQUEST */
	uint16_t peer_port;                 /**< REQUEST: source port of the IP CM header */
	uint16_t reason;                    /**< REJECTED: IBTA reason; 28 is the consumer's */
};

#define ROCE_CM_REJ_NO_RESOURCES       3
#define ROCE_CM_REJ_TIMEOUT            4
#define ROCE_CM_REJ_UNSUPPORTED        5
#define ROCE_CM_REJ_INVALID_COMM_ID    6
#define ROCE_CM_REJ_INVALID_SERVICE_ID 8
#define ROCE_CM_REJ_INVALID_TRANSPORT  9
#define ROCE_CM_REJ_STALE              10
#define ROCE_CM_REJ_INVALID_MTU        26
#define ROCE_CM_REJ_CONSUMER           28

/** Answer to ROCE_CM_REPLY: the owner is not ready yet, and calls roce_cm_ready(), disconnect or release. */
#define ROCE_CM_LATER 1

/**
 * @return for ROCE_CM_REPLY: 0; ROCE_CM_LATER; or a negative errno: the connection is rejected. For ROCE_CM_REQUEST: 0, or
 *   a negative errno: refused as if the backlog were full. Else ignored.
 */
typedef int (*roce_cm_notify_fn)(void *arg, const struct roce_cm_event *event);

/**
 * Resolve the path of a context (NULL: of any) to an address, from one of the addresses of that context. @p src: the one that
 * is wanted; all zero: as the route says. Fills addresses, MACs, tag, TOS, TTL and MTU of @p path (not udp_sport).
 * @return 0; -EAGAIN: asked, roce_cm_resolved() will be called (everything but the MAC of the peer should be
 *   filled all the same: a passive connection has that MAC already); -ENETUNREACH, -EHOSTUNREACH; -EINVAL:
 *   @p src is no address of the context, or the path cannot begin there.
 */
typedef int (*roce_cm_resolve_fn)(void *arg, const struct roce_context *context,
		const struct roce_ip *dst, const struct roce_ip *src, struct roce_path *path,
		uint64_t now);

struct roce_cm_config {
	uint64_t hz;
	uint64_t seed;
	uint64_t ca_guid; /**< EUI-64 of the port */
	bool extensions; /**< offer the extensions, and believe peers that do (struct roce_cm_param) */
	struct rte_mempool *pool;
	struct roce_memory memory;
	uint32_t connections_max; /**< live and waiting together, e.g. 32768 */
	bool ip_cksum_offload;
	uint16_t process; /**< stands in the upper bits of communication ids (ROCE_CM_PROCESS_SHIFT); 0: nothing does */
	roce_cm_resolve_fn resolve;
	void *resolve_arg;
	roce_cm_notify_fn notify;
	void *notify_arg;
};

/** @param config copied. @return 0; -EINVAL; -ENOMEM. */
int roce_cm_create(const struct roce_cm_config *config, struct roce_cm **out);

/** Frees every connection and listener without telling anybody. */
void roce_cm_destroy(struct roce_cm *cm);

/** The hooks for roce_domain_set_gsi(). */
void roce_cm_gsi(struct roce_cm *cm, struct roce_gsi *gsi);

/**
 * Listen at the addresses of a context (NULL: at all), as a bound listener of rdma_cm does: a request to another of our
 * addresses is another listener's, or nobody's.
 *
 * @param backlog requests that may wait for accept or reject.
 * @return 0; -EADDRINUSE somebody listens to that service at one of these addresses; -ENOMEM.
 */
int roce_cm_listen(struct roce_cm *cm, const struct roce_context *context, uint64_t service_id,
		uint32_t backlog, void *owner, struct roce_cm_listener **out);

/** Change how many requests may wait; those that do stay. */
void roce_cm_set_backlog(struct roce_cm_listener *listener, uint32_t backlog);

/** Requests delivered already are not affected; later ones are refused as if nobody listened. */
void roce_cm_unlisten(struct roce_cm_listener *listener);

struct roce_cm_connect {
	struct roce_ip dst;
	struct roce_ip src; /**< the address of this end; all zero: as the route says */
	uint8_t tos; /**< traffic class of both directions, without the marks of congestion; 0: as the route says */
	uint64_t service_id;
	struct roce_cm_param local; /**< private data copied; at most ROCE_CM_PRIVATE_MAX_REQ */
	uint64_t timeout_us; /**< until TIMED_OUT (UNREACHABLE while there is no path yet); UINT64_MAX: as long
			      * as the REQ schedule lasts, 16 times in about a minute */
};

/** Begin to connect. All that follows comes by notify, never from inside this call. @return 0; -EINVAL; -ENOMEM. */
int roce_cm_connect(struct roce_cm *cm, const struct roce_context *context,
		const struct roce_cm_connect *connect, void *owner, uint64_t now,
		struct roce_cm_conn **out);

/**
 * Resolve the path to an address for a queue pair that is connected without messages: PATH or, after as long as a REQ
 * would wait for it, UNREACHABLE is notified, never from inside this call. @return 0; -ENOMEM.
 */
int roce_cm_find_path(struct roce_cm *cm, const struct roce_context *context,
		const struct roce_ip *dst, void *owner, uint64_t now, struct roce_cm_conn **out);

/**
 * Answer a request with a REP. @p owner takes the connection, which stays with the context of the listener.
 * @param local private data at most ROCE_CM_PRIVATE_MAX_REP; copied.
 * @return 0; -EINVAL; -ENOTCONN: the peer has given up, and nothing is left to do but to release it.
 */
int roce_cm_accept(struct roce_cm_conn *conn, const struct roce_cm_param *local, void *owner,
		uint64_t now);

/** Refuse a request, or a REP that was answered by ROCE_CM_LATER; the connection is released. Private data at most ROCE_CM_PRIVATE_MAX_REJ. @return 0; -EINVAL. */
int roce_cm_reject(struct roce_cm_conn *conn, uint16_t reason, const void *private_data,
		uint16_t private_len, uint64_t now);

/**
 * The owner's queue pair is up. An active connection that said ROCE_CM_LATER is established by that without an event, and RTU
 * goes out; of a passive one that was accepted ESTABLISHED is notified from inside, before the RTU comes.
 * @return 0; -ENOTCONN: it waits for nothing like that, or not any more.
 */
int roce_cm_ready(struct roce_cm_conn *conn, uint64_t now);

/** A first PSN for a queue pair that is known by its number. */
uint32_t roce_cm_first_psn(struct roce_cm *cm);

/**
 * End a connection in any state: DREQ when established (DISCONNECTED follows), REJ when not (nothing follows).
 * It still wants to be released.
 * @return true when DISCONNECTED will be notified.
 */
bool roce_cm_disconnect(struct roce_cm_conn *conn, uint64_t now);

/**
 * The owner forgets the connection, in any state and once: no more notify, and the pointer is not used again (the
 * queue pair must not name it any more either). An unfinished one is disconnected or rejected first.
 */
void roce_cm_release(struct roce_cm_conn *conn, uint64_t now);

/** The answer of a neighbour came or changed: connections that wait for a path try again. */
void roce_cm_resolved(struct roce_cm *cm, uint64_t now);

/**
 * A process with which this one shares its addresses (roce_cm_config.process) has ended: nothing of it is waited for any
 * longer. Requests of it are over, and one that it had asked patience for is sent again. Connections that are up end with
 * their queue pairs.
 */
void roce_cm_lose_process(struct roce_cm *cm, uint16_t process, uint64_t now);

/** Connections in each state, for telemetry: fills @p counts by enum value, returns how many states there are. */
unsigned int roce_cm_count_by_state(const struct roce_cm *cm, uint32_t *counts, unsigned int n);

/** Connections whose DREQ the peer has not answered yet. A single word, read without lock. */
uint32_t roce_cm_leaving(const struct roce_cm *cm);

struct roce_cm_stats;

/** Counters: cm_stats.h has the struct, cm_stats.def names them. Read without lock; single words are never torn. */
const struct roce_cm_stats *roce_cm_stats(const struct roce_cm *cm);

/** Name of a state, for people. */
const char *roce_cm_state_name(unsigned int state);

#endif
