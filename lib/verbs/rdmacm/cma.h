/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERBS_RDMACM_CMA_H
#define VERBS_RDMACM_CMA_H

/**
 * @file
 * Ids of librdmacm over those of roce/cm.h. All of it is under one lock of the process, cma_lock: these are control calls.
 *
 * The library has one context of libibverbs, opened when first needed, which all ids share. Its thread delivers the events.
 * Calls return 0, or -1 with errno, as those of rdma_cma.h do.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <rdma/rdma_cma.h>

#include "roce/cm.h"
#include "verbs/objects.h"

/** Events that an id has of its own, one of each at a time. */
enum cma_slot {
	CMA_SLOT_ADDR,   /**< an address was resolved */
	CMA_SLOT_ROUTE,  /**< a route was resolved */
	CMA_SLOT_ANSWER, /**< by number: the peer has accepted */
	CMA_SLOT_UP,     /**< the connection is up, or does not come to be */
	CMA_SLOT_DOWN,   /**< it is over */
	CMA_SLOT_EXIT,   /**< and the network has forgotten it */
	CMA_SLOTS,
};

struct cma_id;

/** An event, from when it happens until it is acknowledged. */
struct cma_event {
	struct rdma_cm_event rdma; /**< must be first */
	TAILQ_ENTRY(cma_event) link;
	struct cma_id *owner; /**< that waits for its acknowledgement: the listener of a request */
	bool used;
	bool queued;
	bool allocated; /**< of a request: freed when acknowledged */
	uint8_t private_data[ROCE_CM_PRIVATE_REPLY];
};

TAILQ_HEAD(cma_event_list, cma_event);

/** An event channel: an eventfd that counts the events of a list. */
struct cma_channel {
	struct rdma_event_channel rdma; /**< must be first */
	struct cma_event_list events;
	uint32_t readers; /**< threads in rdma_get_cm_event() */
	bool ended;       /**< with readers in it: the last of them frees it */
};

struct cma_id {
	struct rdma_cm_id rdma;  /**< must be first */
	struct roce_cm_id *roce; /**< NULL: none is needed yet, or any more */
	bool synchronous;        /**< its calls wait for their events, on a channel of its own */
	bool listens;            /**< rdma_listen() has succeeded */
	bool any_port;           /**< the port was chosen here, and may be another one */
	bool answered;       /**< CONNECT_RESPONSE was delivered, and rdma_establish() is awaited */
	bool connected;      /**< ESTABLISHED was delivered, and no end */
	bool down;           /**< DISCONNECTED was delivered */
	bool leaving;        /**< rdma_disconnect() was called */
	uint8_t ack_timeout; /**< code, of RDMA_OPTION_ID_ACK_TIMEOUT; 0: the device's */
	uint8_t tos;         /**< of RDMA_OPTION_ID_TOS; 0: the device's */
	bool bound;          /**< the program has chosen the address of this end */
	int64_t timewait_until; /**< nanoseconds of the monotonic clock; 0: not in timewait */
	TAILQ_ENTRY(cma_id) timewait;
	bool made_cqs; /**< its queues were made by rdma_create_qp() */
	bool made_srq_cq;
	struct verbs_qp *
			led; /**< the queue pair that it connects; programs may give that of another id */
	struct cma_event slots[CMA_SLOTS];
	uint32_t unacknowledged; /**< events fetched */
	struct ibv_sa_path_rec path;
	/** Of a listening endpoint: requests get queue pairs made with it. */
	struct ibv_qp_init_attr ep_attr;
	bool has_ep_attr;
};

extern pthread_mutex_t cma_lock;

/** Nanoseconds of the monotonic clock. */
int64_t cma_now_ns(void);

static inline struct cma_id *
cma_id_of(struct rdma_cm_id *id)
{
	return (struct cma_id *)(void *)id;
}

static inline struct cma_channel *
cma_channel_of(struct rdma_event_channel *channel)
{
	return (struct cma_channel *)(void *)channel;
}

/* ---- base.c ---- */

/** In a child of fork(2) whose parent had the context: its ids are the parent's, and nothing of them may be touched. */
bool cma_is_forked(void);

/** This is such a child. */
void cma_set_forked(void);

/** @return -1, with errno. */
static inline int
cma_refuse(int error)
{
	errno = error;
	return -1;
}

/** @return 0 for 0; for a negative errno of libroce -1, with errno. */
int cma_result(int rc);

/* ---- context.c ---- */

/** The context of the library. Without the lock. @return NULL, with errno: it can not be opened. */
struct ibv_context *cma_context(void);

/** A protection domain for ids that are given none. Without the lock. @return NULL, with errno. */
struct ibv_pd *cma_pd(void);

/** Send what a call has told the connection manager: the process may end behind the call. Without the lock. */
void cma_send(const struct ibv_context *of);

/** Give an id the context, and an id of libroce. Without the lock. */
int cma_id_attach(struct cma_id *id);

/* ---- address.c ---- */

/** Address of libroce for a socket's; false: neither IPv4 nor IPv6. */
bool cma_ip_of(const struct sockaddr *addr, uint8_t ip[16]);
bool cma_is_v4(const uint8_t ip[16]);
void cma_set_addr(struct sockaddr_storage *to, const uint8_t ip[16], __be16 port);
/** The entry of the GID table with this address. @return -1: it is none of the device's. */
int cma_gid_index(struct ibv_context *context, const uint8_t ip[16]);
/** Does a connection to that address lead to this host? */
bool cma_is_local(struct ibv_context *context, const uint8_t ip[16]);
/** The address of the device for this peer: the peer's, within the host; else the first of its family, else of all. */
void cma_source_for(struct ibv_context *context, const uint8_t peer[16], uint8_t ip[16]);
__be16 cma_port_of(const struct sockaddr *addr);
void cma_set_port(struct sockaddr *addr, __be16 port);
socklen_t cma_addr_len(const struct sockaddr *addr);

/* ---- event.c ---- */

/** Deliver an event of an id. Under the lock. @return NULL: the one before it was not acknowledged. */
struct cma_event *
cma_push(struct cma_id *id, enum cma_slot slot, enum rdma_cm_event_type type, int status);

/** Queue an event at the channel of its owner. Under the lock. */
void cma_queue(struct cma_event *event);

/** Take the queued events of an id off its channel; requests among them go to a list. Under the lock. */
void cma_cancel(struct cma_id *id, struct cma_event_list *requests);

/** Have an id report to another channel, with the events of it that are queued. Under the lock. */
void cma_move(struct cma_id *id, struct rdma_event_channel *channel);

/** Wait until the events that were fetched are acknowledged. Under the lock, which is let go of meanwhile. */
void cma_await_acks(struct cma_id *id);

/** Of a synchronous id wait for its event, which must be @p type; of others do nothing. Without the lock. */
int cma_complete(struct cma_id *id, enum rdma_cm_event_type type);

/* ---- linger.c ---- */

/**
 * A listener is about to end: have its port go on for two seconds. Under the lock.
 *
 * @return false: it is none, or there is no memory, and its id of libroce is the caller's still.
 */
bool cma_linger_begin(struct cma_id *id);

/** Listen in the place of one that goes on at the port of the id. Under the lock. @return false: there is none. */
bool cma_linger_take(struct cma_id *id, uint32_t backlog);

/** End those whose time is over. Without the lock. */
void cma_linger_expire(void);

/* ---- timewait.c ---- */

/** The connection of an id has ended: TIMEWAIT_EXIT comes in a second. Under the lock. */
void cma_timewait_begin(struct cma_id *id);

/** It does not come any more. Under the lock. */
void cma_timewait_end(struct cma_id *id);

/** Deliver it to the ids whose time has come. Without the lock. */
void cma_timewait_expire(void);

/* ---- dispatch.c ---- */

/** Deliver what happened to connections of the context. Called by the thread of libibverbs. @return how many events. */
unsigned int cma_dispatch(struct verbs_ctx *ctx);

/* ---- id.c ---- */

/** A new id; NULL with errno. */
struct cma_id *
cma_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps);
void cma_id_free(struct cma_id *id);

/** Requests that nobody has fetched: their ids are known to nobody, and refused. Without the lock. */
void cma_drop_requests(struct cma_event_list *requests);

/* ---- by_number.c ---- */

/** The number of the queue pair, for connect and accept of an id that has none; @p param may be NULL, which gives none. */
struct roce_cm_conn_param cma_param_by_number(const struct rdma_conn_param *param);

/** Of an event that brings what the peer offers: what stands in that of its queue pair. */
void cma_show_number(struct cma_id *id, struct rdma_conn_param *param);

/* ---- qp.c ---- */

/** The id connects its queue pair from now on, and is told of its end. Under the lock. */
void cma_qp_lead(struct cma_id *id);

/** It does not any more. Under the lock. */
static inline void
cma_qp_let_go(struct cma_id *id)
{
	if (id->led != NULL)
		id->led->led_by = NULL;
	id->led = NULL;
}

#endif
