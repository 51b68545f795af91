/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_CM_CM_PVT_H
#define ROCE_CM_CM_PVT_H

/**
 * @file
 * Inside the connection manager: the data that its files share, and the states and inputs of a connection.
 *
 * Calls go one way: cm.c, cm_dispatch, cm_listen, cm_owner, cm_fsm, cm_action, cm_conn, cm_table, cm_wire, cm_msg. A file
 * calls none before it. Where one before it is to go on, a function returns what it found, or the input that follows.
 *
 * A connection has one state, one timer and one stored message (the REQ, REP,
 * DREQ or REJ of its state, sent again byte by byte). The messages that it
 * still owes are a set of bits in `owes`; connections that owe something stand in the
 * manager's `talking` list until roce_cm_gsi's tx() has fetched the frames.
 *
 * Rules that make calls from inside notify safe: a state changes before its
 * action runs, notify is the last thing an action does with a connection, and
 * memory is given back only by the wheel or by roce_cm_release().
 */

#include <sys/queue.h>

#include <rte_hash.h>

#include "cm/cm.h"
#include "cm/cm_msg.h"
#include "cm/cm_stats.h"
#include "queue/timer.h"
#include "wire/random.h"

enum roce_cm_state {
	ROCE_CM_STATE_RESOLVING = 1, /**< active: resolving the path */
	ROCE_CM_STATE_REQ_SENT,
	ROCE_CM_STATE_REP_RCVD, /**< active: the owner was told of the REP, and is not ready yet */
	ROCE_CM_STATE_REQ_RCVD, /**< passive: waits for accept or reject */
	ROCE_CM_STATE_REP_SENT,
	ROCE_CM_STATE_ESTABLISHED,
	ROCE_CM_STATE_DREQ_SENT,
	ROCE_CM_STATE_TIMEWAIT, /**< late messages are still answered; its ids are not used */
	ROCE_CM_STATE_CLOSED,   /**< over; waits for its owner's release */
	ROCE_CM_STATES,
};

/** Inputs of the state machine of a connection. The messages come first, in the order of their attribute ids. */
enum roce_cm_input_kind {
	ROCE_CM_IN_REQ,
	ROCE_CM_IN_MRA,
	ROCE_CM_IN_REJ,
	ROCE_CM_IN_REP,
	ROCE_CM_IN_RTU,
	ROCE_CM_IN_DREQ,
	ROCE_CM_IN_DREP,
	ROCE_CM_IN_SMALLER,  /**< a REJ that names a smaller MTU we can live with */
	ROCE_CM_IN_TIMER,    /**< its timer fired */
	ROCE_CM_IN_GIVE_UP,  /**< nothing left to try */
	ROCE_CM_IN_RESOLVED, /**< the path is resolved */
	ROCE_CM_IN_FOUND,    /**< the path is resolved, and nothing else was wanted */
	ROCE_CM_IN_READY,    /**< the owner's queue pair is up */
	ROCE_CM_IN_ACCEPT,
	ROCE_CM_IN_QP_UP,   /**< the queue pair received before the RTU came */
	ROCE_CM_IN_QP_DOWN, /**< the queue pair broke */
	ROCE_CM_IN_STALE,   /**< the peer uses this queue pair for a new connection */
	ROCE_CM_IN_END,     /**< the owner ends it */
	ROCE_CM_INPUTS,
};

#define ROCE_CM_IN_MESSAGES (ROCE_CM_IN_DREP + 1)

struct roce_cm_input {
	enum roce_cm_input_kind kind;
	uint16_t reason;               /**< END before it is up: of the REJ; 0: the consumer's */
	const struct roce_cm_msg *msg; /**< the messages */
	const struct roce_cm_param *param; /**< ACCEPT: what we offer; END: private data or NULL */
	uint64_t now;
};

#define ROCE_CM_LINGER_US \
	1000000u /**< no message of a connection is on the wire for longer than that */

/* The messages that a connection owes, sent in this order. */
#define ROCE_CM_OWE_MRA  0x01
#define ROCE_CM_OWE_RTU  0x02
#define ROCE_CM_OWE_MSG  0x04 /**< the stored message */
#define ROCE_CM_OWE_DREP 0x08

#define ROCE_CM_US_PER_S UINT64_C(1000000)

#define ROCE_CM_DREQ_DELAY_US 50000u /**< from the end of a queue pair to the DREQ */
#define ROCE_CM_CODE_RESPONSE 20     /**< CM response timeout we offer, 4.3 s, as Linux */
#define ROCE_CM_CODE_SERVICE  22     /**< what our MRA asks for, 17 s */
#define ROCE_CM_RETRIES       15
#define ROCE_CM_QPN_FIRST     2u /**< 0 and 1 are management's */
#define ROCE_CM_TTL           64 /**< of answers to unknown peers */

struct roce_cm_conn {
	struct roce_timer timer;
	struct roce_cm *cm;
	const struct roce_context *context; /**< whose the owner is */
	void *owner;
	struct roce_cm_listener *listener; /**< REQ_RCVD; NULL when it stopped listening */
	TAILQ_ENTRY(roce_cm_conn) talking;
	TAILQ_ENTRY(roce_cm_conn) lingering; /**< TIMEWAIT, released: time is all it waits for */
	LIST_ENTRY(roce_cm_conn)
	waiting; /**< RESOLVING: of the manager; REQ_RCVD: of the listener */
	uint8_t state;
	uint8_t owes;
	uint8_t tries; /**< repeats in this state */
	bool active;
	bool path_only;  /**< no message follows when the path is resolved */
	bool owned;      /**< somebody wants to be told */
	bool silent;     /**< the owner knows already */
	bool released;   /**< nobody will ever use the pointer again */
	bool prolonged;  /**< the peer asked for patience since we last sent */
	bool refuses;    /**< TIMEWAIT: the stored message is a REJ */
	bool extensions; /**< passive: the REQ offers them (struct roce_cm_param) */
	uint16_t src_port;
	uint32_t local_id;
	uint32_t remote_id; /**< 0: not known yet */
	uint32_t patient_id; /**< REQ_SENT: of the peer that asked for patience since we last sent; 0: nobody did */
	uint32_t remote_qpn; /**< 0: not known yet */
	uint32_t flow_label;
	uint64_t service_id;
	uint64_t tid;      /**< of the REQ */
	uint64_t dreq_tid; /**< of the peer's DREQ */
	uint64_t give_up; /**< active: the consumer's timeout ends; passive: that of an unconfirmed REP */
	uint64_t resolve_by; /**< active: then there is no route */
	uint64_t echo_until; /**< ESTABLISHED: its REQ may still come late, once more */
	uint8_t ack_timeout;
	uint8_t tos;        /**< active: what the owner wants; 0: as the route says */
	struct roce_ip src; /**< active: what the owner wants; all zero: as the route says */
	struct roce_path path;
	struct roce_cm_param local;
	struct roce_cm_mad stored;
	uint8_t private_data[ROCE_CM_PRIVATE_MAX_REQ];
};

LIST_HEAD(roce_cm_conn_list, roce_cm_conn);
TAILQ_HEAD(roce_cm_conn_queue, roce_cm_conn);

struct roce_cm_listener {
	struct roce_cm *cm;
	const struct roce_context *context;
	void *owner;
	uint64_t service_id;
	uint32_t backlog;
	uint32_t waiting_count;
	struct roce_cm_conn_list waiting; /**< delivered, not yet accepted or rejected */
	LIST_ENTRY(roce_cm_listener) next;
};

LIST_HEAD(roce_cm_listener_list, roce_cm_listener);

/** A place for a connection; the place's number is part of the communication id. */
struct roce_cm_slot {
	struct roce_cm_conn *conn;
	uint32_t use;  /**< how often it was used: the upper bits of the id */
	uint32_t next; /**< free places, oldest first */
};

/** An answer to somebody we have no connection with. */
struct roce_cm_answer {
	struct roce_path path;
	struct roce_cm_mad mad;
};

#define ROCE_CM_RESERVE \
	8u /**< of so many places one is kept for new connections, at the cost of TIMEWAIT */
#define ROCE_CM_ANSWERS        64
#define ROCE_CM_LISTEN_BUCKETS 64

struct roce_cm {
	struct roce_cm_config config;
	struct roce_wheel *wheel;
	struct rte_hash *index; /**< by peer: see roce_cm_find_peer() */
	struct roce_cm_slot *slot;
	uint32_t slots; /**< a power of two, at least config.connections_max */
	uint32_t used;
	uint32_t free_head;
	uint32_t free_tail;
	uint32_t id_mask; /**< secret: ids are not guessed from the outside */
	uint32_t psn;
	uint64_t random; /**< how far its sequence of random numbers is */
	uint64_t at;     /**< before it tx() of struct roce_gsi has nothing to do; 0: it has */
	struct roce_cm_conn_queue talking;
	struct roce_cm_conn_queue lingering; /**< the oldest first */
	struct roce_cm_conn_list resolving;
	struct roce_cm_listener_list listeners[ROCE_CM_LISTEN_BUCKETS];
	uint32_t in_state[ROCE_CM_STATES];
	struct roce_cm_stats stats;
	uint32_t answers; /**< waiting to be sent */
	uint32_t answer_head;
	struct roce_cm_answer answer[ROCE_CM_ANSWERS];
};

/** Next number of the seeded sequence (SplitMix64). */
static inline uint64_t
roce_cm_random(struct roce_cm *cm)
{
	return roce_random_at(cm->config.seed, ROCE_RANDOM_CM, ++cm->random);
}

/** Microseconds in ticks; saturates. */
static inline uint64_t
roce_cm_ticks(const struct roce_cm *cm, uint64_t us)
{
	uint64_t seconds = us / ROCE_CM_US_PER_S;

	if (seconds >= ROCE_NEVER / cm->config.hz / 2)
		return ROCE_NEVER;
	return seconds * cm->config.hz + us % ROCE_CM_US_PER_S * cm->config.hz / ROCE_CM_US_PER_S;
}

/** @p at plus @p ticks; ROCE_NEVER instead of a wrap. */
static inline uint64_t
roce_cm_after(uint64_t at, uint64_t ticks)
{
	return at > ROCE_NEVER - ticks ? ROCE_NEVER : at + ticks;
}

/** Are there so few places left that connections in TIMEWAIT must not wait for theirs any longer? */
static inline bool
roce_cm_is_crowded(const struct roce_cm *cm)
{
	return cm->used > cm->config.connections_max - cm->config.connections_max / ROCE_CM_RESERVE;
}

#endif
