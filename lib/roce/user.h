/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_LIB_USER_H
#define ROCE_LIB_USER_H

/**
 * @file
 * Behind a context and its ids: what the files of this folder share.
 *
 * All of it but the pending async events and the descriptor is under the lock of the device's
 * engine 0; a queue pair that is moved, under that of its own engine besides,
 * which is taken after it. An event that waits to be polled stands in its id,
 * so that it is neither lost for want of memory nor outlives the id.
 */

#include <sys/queue.h>

#include <rte_common.h>

#include "device/user.h"
#include "engine/verbs.h"
#include "roce/cm.h"
#include "roce/context.h"

static_assert(ROCE_CM_PRIVATE_REQUEST == ROCE_CM_PRIVATE_MAX_REQ, "what fits a REQ");
static_assert(ROCE_CM_PRIVATE_REPLY == ROCE_CM_PRIVATE_MAX_REP, "what fits a REP");
static_assert(ROCE_CM_PRIVATE_REJECT == ROCE_CM_PRIVATE_MAX_REJ, "what fits a REJ");

/** An event of an id that was not polled yet. */
struct roce_cm_pending_event {
	TAILQ_ENTRY(roce_cm_pending_event) link;
	struct roce_cm_id *id;
	enum roce_cm_event_type type; /**< 0: on no list */
	int status;
};

TAILQ_HEAD(roce_cm_pending_event_list, roce_cm_pending_event);

/** Behind a struct roce_context. */
struct roce_user {
	struct roce_device_user joined;
	struct roce_device *device;
	struct roce_device_attr attr;
	struct roce_engine *engine0;
	struct roce_cm *cm;
	struct roce_async_queue async_queue;
	uint32_t port_events; /**< bit per enum roce_async_event_type that is pending; atomic */
	struct roce_cm_pending_event_list cm_pending;  /**< the oldest first */
	uint32_t cm_pending_count;                     /**< atomic */
	uint8_t private_data[ROCE_CM_PRIVATE_MAX_REP]; /**< of the event polled last */
	rte_spinlock_t fd_lock;                        /**< taken under any other */
	int fd;        /**< -1: nobody asked for it; under fd_lock */
	bool readable; /**< written under fd_lock, atomic */
};

/** The life of an id; the table is in cm_id.c. */
enum roce_cm_id_state {
	ROCE_CM_ID_IDLE = 1,
	ROCE_CM_ID_LISTENING,
	ROCE_CM_ID_CONNECTING,
	ROCE_CM_ID_ANSWERED,  /**< by number: the peer has accepted, and waits for the queue pair */
	ROCE_CM_ID_REQUESTED, /**< a request that waits for an answer */
	ROCE_CM_ID_ACCEPTING,
	ROCE_CM_ID_CONNECTED,
	ROCE_CM_ID_LEAVING, /**< the peer is told that it is over */
	ROCE_CM_ID_OVER,    /**< without connection or queue pair; waits for roce_cm_id_destroy() */
	ROCE_CM_ID_STATES,
};

/** Inputs of the state machine of an id. */
enum roce_cm_id_input {
	ROCE_CM_ID_IN_LISTEN = 1,
	ROCE_CM_ID_IN_CONNECT,
	ROCE_CM_ID_IN_ACCEPT,
	ROCE_CM_ID_IN_ANSWER,     /**< by number: the peer has accepted */
	ROCE_CM_ID_IN_UP,         /**< both ends are ready */
	ROCE_CM_ID_IN_FAIL,       /**< the connection does not come to be */
	ROCE_CM_ID_IN_DISCONNECT, /**< its owner ends it */
	ROCE_CM_ID_IN_END,        /**< it is over */
	ROCE_CM_ID_INPUTS,
};

struct roce_cm_id {
	struct roce_user *user;
	void *owner; /**< stands in events */
	uint8_t state;
	uint8_t initiator_depth;     /**< READs and atomics it wants to have outstanding */
	uint8_t ack_timeout;         /**< code, of its queue pair */
	uint8_t responder_resources; /**< that it serves */
	uint16_t private_len;        /**< of the first event */
	uint16_t remote_port;
	uint16_t listens_at; /**< port of the listener */
	uint32_t first_psn;  /**< that the peer sends; by number, else of the queue pair */
	struct roce_qp *qp;  /**< while there is a connection, or one is made; NULL: by number */
	struct roce_cm_conn *conn;
	struct roce_cm_listener *listener;
	struct roce_cm_id *listen_id;       /**< of a request that was not polled yet */
	struct roce_cm_param peer;          /**< what it offers, once that is known */
	struct roce_path path;              /**< to the peer, once that is known */
	struct roce_qp_connect connect;     /**< of one without messages */
	struct roce_cm_pending_event first; /**< that it is up, or why it is not; a request */
	struct roce_cm_pending_event last;  /**< that it is over */
	uint8_t private_data[ROCE_CM_PRIVATE_MAX_REP];
};

static inline struct roce_user *
roce_user_of(struct roce_context *context)
{
	return container_of(context, struct roce_user, joined.context);
}

/* ---- user.c ---- */

/** Zeroed memory of whole cache lines, for free(). */
void *roce_user_alloc(size_t size);

/** There is something to poll: let a sleeper know. Any thread, under any lock. */
void roce_user_signal(struct roce_user *user);

/** There was nothing to poll: a sleeper may sleep. */
void roce_user_calm(struct roce_user *user);

/* ---- cm_event.c ---- */

/** Queue the first or last event of an id. Under the lock of engine 0. */
void roce_cm_id_deliver(struct roce_cm_id *id, enum roce_cm_event_type type, int status);

/** The id goes away, and with it what was not polled. Under the lock of engine 0. */
void roce_cm_id_cancel_events(struct roce_cm_id *id);

/** A request of a listener that was not polled, NULL when there is none. Under the lock of engine 0. */
struct roce_cm_id *roce_cm_id_unseen(const struct roce_cm_id *listen_id);

/* ---- cm_id_state.c ---- */

/** A new id, counted on its context. @return NULL: no memory. */
struct roce_cm_id *roce_cm_id_new(struct roce_user *user, void *owner);

/** The only assignment to id->state. @return false: not allowed, and nothing changed. */
bool roce_cm_id_advance(struct roce_cm_id *id, enum roce_cm_id_input in);

/** Is that allowed? */
bool roce_cm_id_may(const struct roce_cm_id *id, enum roce_cm_id_input in);

/* ---- cm_conn.c ---- */

/** Of struct roce_device_user: what happened to connections and listeners. */
int roce_cm_id_notify(void *arg, const struct roce_cm_event *event);

/** The lock of a queue pair's engine, under that of engine 0; @p qp may be NULL. */
void roce_user_lock_qp(const struct roce_user *user, const struct roce_qp *qp);
void roce_user_unlock_qp(const struct roce_user *user, const struct roce_qp *qp);

/** The first offer of this end, by its parameters and, of an answer, the request. */
void roce_cm_id_offer(struct roce_cm_id *id, const struct roce_cm_conn_param *param,
		struct roce_cm_param *local);

/** From RESET on to receive. Under both locks. @return as roce_qp_to_rtr(). */
int roce_cm_id_to_rtr(struct roce_cm_id *id, const struct roce_cm_param *peer,
		const struct roce_path *path);

/** Let go of connection and queue pair, which is in error if it was connected. Under both locks. */
void roce_cm_id_let_go(struct roce_cm_id *id);

#endif
