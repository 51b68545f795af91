/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_DAPL_H
#define DAPL_DAPL_H

/**
 * @file
 * DAT semantics without DAT types: the objects, and the calls that lib/front makes.
 *
 * The front has checked every handle and argument; these calls judge only state and
 * resources. A call that fails changes nothing. Results go through an out pointer,
 * written only on success.
 *
 * Threads: creating is safe from any thread; any other call on one object must not
 * overlap another on the same object, except where its comment says so. State of an
 * endpoint and its connection changes under the locks of engine 0 and of the engine
 * of its queue pair (in that order); upcalls of the engine hold only the latter.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include <rte_pause.h>

#include "cm/cm.h"
#include "dapl/obj.h"
#include "dapl/status.h"
#include "engine/verbs.h"
#include "roce/roce.h"

/* Limits that dat_ia_query() reports and creation enforces. */
#define DAPL_MAX_EPS            16384
#define DAPL_MAX_DTOS           16384 /**< of an endpoint, each direction */
#define DAPL_MAX_IOV            ROCE_SGE_MAX
#define DAPL_MAX_EVD_LEN        (1 << 20)
#define DAPL_MAX_SRQ_LEN        (1 << 20)
#define DAPL_MAX_MESSAGE        INT32_MAX
#define DAPL_MAX_RDMA_READS     64 /**< of an endpoint, each direction */
#define DAPL_DEFAULT_RDMA_READS 4
#define DAPL_MAX_PRIVATE        ROCE_CM_PRIVATE_MAX_REQ
#define DAPL_DEFAULT_DTOS       256
#define DAPL_DEFAULT_IOV        4
#define DAPL_INFINITE           UINT32_MAX /**< timeout */
#define DAPL_NAME_LEN           256
#define DAPL_HIGH_WATER_NONE    (-1)

/* Streams that an event dispatcher takes. */
#define DAPL_STREAM_SOFTWARE   0x01u
#define DAPL_STREAM_CR         0x02u
#define DAPL_STREAM_DTO        0x04u
#define DAPL_STREAM_CONNECTION 0x08u
#define DAPL_STREAM_BIND       0x10u
#define DAPL_STREAM_ASYNC      0x20u

/** Kinds of events beyond those of the engine. */
enum dapl_event_kind {
	/** owner: endpoint; opcode: enum dapl_conn_event; wr_id, byte_len: private data */
	DAPL_EVENT_CONNECTION = ROCE_EVENT_USER,
	DAPL_EVENT_CR,    /**< owner: connection request */
	DAPL_EVENT_ASYNC, /**< owner: the object; opcode: enum dapl_async_event */
};

enum dapl_conn_event {
	DAPL_CONN_ESTABLISHED,
	DAPL_CONN_PEER_REJECTED,
	DAPL_CONN_NON_PEER_REJECTED,
	DAPL_CONN_ACCEPT_ERROR,
	DAPL_CONN_DISCONNECTED,
	DAPL_CONN_BROKEN,
	DAPL_CONN_TIMED_OUT,
	DAPL_CONN_UNREACHABLE,
	DAPL_CONN_EVENTS,
};

enum dapl_async_event {
	DAPL_ASYNC_EVD_OVERFLOW,
	DAPL_ASYNC_SRQ_LOW, /**< fewer buffers than the low watermark; owner: shared receive queue */
	DAPL_ASYNC_EP_SOFT_HIGH, /**< more buffers than the soft high watermark; owner: endpoint */
	DAPL_ASYNC_EVENTS,
};

union dapl_sockaddr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/** A string about an adapter; laid out like DAT_NAMED_ATTR. */
struct dapl_named_attr {
	const char *name;
	const char *value;
};

#define DAPL_IA_ATTRS     8  /**< that never change */
#define DAPL_COUNTERS_MAX 96 /**< counters behind them */
#define DAPL_COUNT_LEN    21 /**< a 64-bit number and its end */

/** An open Interface Adapter: one instance; several may share a device. */
struct dapl_ia {
	struct dapl_obj head;
	struct roce_device *device;
	struct roce_domain *domain;
	struct roce_cm *cm;
	struct roce_engine *engine0;
	struct dapl_evd *async_evd;   /**< NULL: nobody listens; atomic */
	bool async_own;               /**< the provider made it */
	struct dapl_obj_list objects; /**< all but the adapter itself; lock of engine 0 */
	TAILQ_ENTRY(dapl_ia) link;    /**< all open adapters of the process */
	const void *front;            /**< what the front keeps per name */
	struct roce_device_attr attr;
	union dapl_sockaddr address; /**< given out by dat_ia_query(); consumers write to it */
	unsigned int counters;
	struct dapl_named_attr named[DAPL_IA_ATTRS + DAPL_COUNTERS_MAX];
	char count[DAPL_COUNTERS_MAX][DAPL_COUNT_LEN];
	char mtu[12];
	char engines[12];
	char name[DAPL_NAME_LEN];
};

struct dapl_pz {
	struct dapl_obj head;
	struct roce_pd *pd;
};

struct dapl_lmr {
	struct dapl_obj head;
	struct dapl_pz *pz;
	struct roce_mr *mr;
	uint64_t addr;
	uint64_t length;   /**< bytes */
	uint32_t access;   /**< IBV_ACCESS_*, ROCE_ACCESS_LOCAL_READ */
	uint32_t priv;     /**< privileges as the consumer wrote them, for query */
	uint32_t key;      /**< local */
	uint32_t peer_key; /**< 0 without remote privileges */
};

/** A window for peers; what it is bound to, and until when, the engine knows. */
struct dapl_rmr {
	struct dapl_obj head;
	struct dapl_pz *pz;
	struct roce_mw *mw;
};

struct dapl_srq {
	struct dapl_obj head;
	struct roce_srq *srq;
	struct dapl_pz *pz;
	uint32_t max_recv_iov;
};

/** Event dispatcher: a ring of events and the one thread that may wait on it. */
enum dapl_evd_taker {
	DAPL_TAKER_NONE = 0,
	DAPL_TAKER_WAITER,  /**< a thread is in dapl_evd_wait() */
	DAPL_TAKER_DEQUEUE, /**< a thread is in dapl_evd_dequeue(), for a moment */
};

struct dapl_evd {
	struct dapl_obj head;
	struct roce_cq *cq;
	struct roce_device *device;
	uint32_t taker;   /**< enum dapl_evd_taker: who may take events now; atomic */
	uint32_t idle;    /**< dequeues that found nothing */
	uint32_t streams; /**< DAPL_STREAM_* */
	bool serviced;    /**< service lcores turn the device */
	bool aborted;     /**< the adapter is being closed; atomic */
	bool overflowed;  /**< told once; atomic */
};

/** Attributes of an endpoint as granted: defaults are filled in. */
struct dapl_ep_attr {
	uint64_t max_message;
	int32_t max_recv_dtos; /**< of an endpoint on a shared queue: kept, never a limit */
	int32_t max_request_dtos;
	int32_t max_recv_iov;
	int32_t max_request_iov;
	uint64_t max_rdma_size;
	int32_t max_rdma_read_in;
	int32_t max_rdma_read_out;
	int32_t max_rdma_read_iov;
	int32_t max_rdma_write_iov;
	int32_t srq_soft_hw;
	uint32_t request_flags; /**< as the consumer wrote them, for query */
};

enum dapl_ep_state {
	DAPL_EP_STATE_UNCONNECTED = 1,
	DAPL_EP_STATE_ACTIVE_PENDING,
	DAPL_EP_STATE_COMPLETION_PENDING,
	DAPL_EP_STATE_CONNECTED,
	DAPL_EP_STATE_DISCONNECT_PENDING,
	DAPL_EP_STATE_DISCONNECTED,
	DAPL_EP_STATES,
};

/** What moves an endpoint from state to state. */
enum dapl_ep_input {
	DAPL_EP_IN_CONNECT,     /**< dat_ep_connect() */
	DAPL_EP_IN_ACCEPT,      /**< dat_cr_accept() */
	DAPL_EP_IN_ESTABLISHED, /**< both ends are ready */
	DAPL_EP_IN_REFUSED,     /**< rejected, unreachable, not answered */
	DAPL_EP_IN_GRACEFUL,    /**< dat_ep_disconnect(), graceful */
	DAPL_EP_IN_ABRUPT,      /**< dat_ep_disconnect(), abrupt */
	DAPL_EP_IN_PEER_LEFT,   /**< the connection ended in order */
	DAPL_EP_IN_BROKEN,      /**< the transport gave up */
	DAPL_EP_IN_RESET,       /**< dat_ep_reset() */
	DAPL_EP_INPUTS,
};

struct dapl_ep {
	struct dapl_obj head;
	/* What a post looks at shares the cache line of the head. */
	struct roce_qp *qp;
	uint32_t max_message; /**< bytes of a send */
	uint8_t state;        /**< enum dapl_ep_state; written by dapl_ep_advance() alone */
	uint8_t max_request_iov;
	uint8_t max_recv_iov;
	bool has_srq : 1;
	bool watched : 1; /**< a high watermark was set: a post to its own queue may exceed it */

	struct roce_engine *engine; /**< of the queue pair when that is not engine 0, else NULL */
	struct roce_cm_conn *conn;  /**< NULL when there is none */
	struct dapl_pz *pz;
	struct dapl_evd *recv_evd, *request_evd, *connect_evd; /**< NULL: no interest */
	struct dapl_srq *srq;
	struct dapl_ep_attr attr;
	union dapl_sockaddr remote;
	uint64_t local_qual;
	uint64_t remote_qual;
	uint32_t first_psn;                            /**< that we offered */
	uint8_t private_data[ROCE_CM_PRIVATE_MAX_REP]; /**< of the last connection event */
};

/** Public service point. */
struct dapl_psp {
	struct dapl_obj head;
	struct roce_cm_listener *listener;
	struct dapl_evd *evd;
	uint64_t conn_qual;
};

/** A request that waits for accept or reject. */
struct dapl_cr {
	struct dapl_obj head;
	struct roce_cm_conn *conn;
	struct dapl_psp *
			psp; /**< where it arrived; maybe freed since: a value, not to be followed */
	uint64_t conn_qual;
	uint64_t remote_qual;
	union dapl_sockaddr remote;
	struct roce_path path;
	struct roce_cm_param peer;
	uint8_t private_data[ROCE_CM_PRIVATE_MAX_REQ]; /**< consumers write to it */
};

/* ---- ia.c ---- */

struct dapl_ia_open {
	const char *name;
	const char *params; /**< instance data of dat.conf */
	const void *provider;
	const void *front;
	struct dapl_evd *async_evd; /**< of another open instance; NULL: see @c async_make */
	bool async_make;            /**< make one for at least @c async_len events */
	int32_t async_len;
};

/**
 * Open an instance of an adapter. Any thread.
 * @return DAPL_OK; DAPL_BAD_CONFIG (one sentence on stderr says why); DAPL_NO_DEVICE;
 *   DAPL_NO_MEMORY; DAPL_BAD_HANDLE_ASYNC: that dispatcher belongs to another device.
 */
enum dapl_status dapl_ia_open(const struct dapl_ia_open *open, struct dapl_ia **ia);

/**
 * Close an instance; abruptly with everything the consumer left, waking its waiters.
 * @return DAPL_OK; DAPL_IA_IN_USE: @p graceful and objects are left.
 */
enum dapl_status dapl_ia_close(struct dapl_ia *ia, bool graceful);

/** Refresh the counters among the adapter's named attributes. */
void dapl_ia_count(struct dapl_ia *ia);

/** Turn the devices of all other open adapters once, so that a caller who polls one starves none. */
void dapl_ia_turn_others(const struct dapl_ia *ia);

/** True while an instance of the adapter @p name is open. Any thread. */
bool dapl_ia_is_open(const char *name);

/** Socket address to IP. @return false: neither AF_INET nor AF_INET6. */
bool dapl_ip_from_sockaddr(const struct sockaddr *sa, struct roce_ip *ip);
void dapl_ip_to_sockaddr(const struct roce_ip *ip, union dapl_sockaddr *out);

/** Was the endpoint made with room for atomic operations, and with READs? */
static inline bool
dapl_ep_has_atomics(const struct dapl_ep *ep)
{
	return ep->attr.max_rdma_read_out > 0 &&
			RTE_MAX(ep->attr.max_request_iov,
					RTE_MAX(ep->attr.max_rdma_read_iov,
							ep->attr.max_rdma_write_iov)) > 1;
}

/* ---- pz.c, lmr.c, rmr.c, srq.c ---- */

/** @return DAPL_OK; DAPL_NO_MEMORY. Any thread. */
enum dapl_status dapl_pz_create(struct dapl_ia *ia, struct dapl_pz **pz);
/** @return DAPL_OK; DAPL_PZ_IN_USE. */
enum dapl_status dapl_pz_free(struct dapl_pz *pz);

struct dapl_lmr_create {
	uint64_t addr;
	uint64_t length; /**< bytes, not 0, no wrap */
	uint32_t access; /**< IBV_ACCESS_*, ROCE_ACCESS_LOCAL_READ */
	uint32_t priv;
};

/** @return DAPL_OK; DAPL_NO_MEMORY; DAPL_BAD_REGION. Any thread. */
enum dapl_status
dapl_lmr_create(struct dapl_pz *pz, const struct dapl_lmr_create *create, struct dapl_lmr **lmr);
/**
 * Transfers that still use the region fail from now on, and so do binds that are posted.
 * @return DAPL_OK; DAPL_LMR_IN_USE: a remote memory region is bound to it.
 */
enum dapl_status dapl_lmr_free(struct dapl_lmr *lmr);

/** A remote memory region, bound to nothing. @return DAPL_OK; DAPL_NO_MEMORY. Any thread. */
enum dapl_status dapl_rmr_create(struct dapl_pz *pz, struct dapl_rmr **rmr);
/** Bound or not: no peer reaches memory through it any more. Binds that are posted fail. @return DAPL_OK. */
enum dapl_status dapl_rmr_free(struct dapl_rmr *rmr);
/**
 * Post a bind; on success its key is written. Lean.
 * @param wr  a request BIND_MW but for the window, which is that of @p rmr.
 * @return DAPL_OK; DAPL_BAD_TRIPLET: no region, or outside of it; DAPL_PRIVILEGES; DAPL_PROTECTION; the state of the
 *   endpoint that forbids it; DAPL_NO_ROOM.
 */
enum dapl_status dapl_rmr_bind(struct dapl_rmr *rmr, struct dapl_ep *ep, const struct roce_wr *wr);

/** @return DAPL_OK; DAPL_NO_MEMORY. Any thread. */
enum dapl_status
dapl_srq_create(struct dapl_pz *pz, uint32_t max_dtos, uint32_t max_iov, struct dapl_srq **srq);
/** @return DAPL_OK; DAPL_SRQ_IN_USE. Buffers still posted vanish without completion. */
enum dapl_status dapl_srq_free(struct dapl_srq *srq);
/** @return DAPL_OK; DAPL_BUSY: more is outstanding, or the low watermark is higher; DAPL_NO_MEMORY. */
enum dapl_status dapl_srq_resize(struct dapl_srq *srq, uint32_t max_dtos);
/** Set and arm the low watermark. @return DAPL_OK; DAPL_BAD_COUNT: above the size of the queue. */
enum dapl_status dapl_srq_set_lw(struct dapl_srq *srq, uint32_t low);
/** Post a buffer; lean. Any number of threads. @return DAPL_OK or as dapl_post_error(). */
enum dapl_status dapl_srq_post_recv(struct dapl_srq *srq, const struct roce_recv_wr *wr);

/* ---- evd.c, wait.c ---- */

/** @return DAPL_OK; DAPL_NO_MEMORY. Any thread. */
enum dapl_status
dapl_evd_create(struct dapl_ia *ia, uint32_t len, uint32_t streams, struct dapl_evd **evd);
/** @return DAPL_OK; DAPL_EVD_IN_USE; DAPL_EVD_WAITER; DAPL_EVD_ASYNC: the adapter's own. */
enum dapl_status dapl_evd_free(struct dapl_evd *evd);
/** Destroy in any state; nobody may feed it or wait on it any more. */
void dapl_evd_destroy(struct dapl_evd *evd);
/**
 * Become the one who takes events; a dequeue of another thread is waited for, it is short.
 * @return false: a thread is in dapl_evd_wait().
 */
static inline bool
dapl_evd_take_over(struct dapl_evd *evd, uint32_t taker)
{
	uint32_t nobody = DAPL_TAKER_NONE;

	while (unlikely(!__atomic_compare_exchange_n(
			&evd->taker, &nobody, taker, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))) {
		if (nobody == DAPL_TAKER_WAITER)
			return false;
		nobody = DAPL_TAKER_NONE;
		rte_pause();
	}
	return true;
}

/** Take the oldest event; turns the device when there is none. Lean. @return DAPL_OK; DAPL_QUEUE_EMPTY; DAPL_EVD_WAITER. */
enum dapl_status dapl_evd_dequeue(struct dapl_evd *evd, struct roce_event *event);
/** Tell the asynchronous dispatcher of the object's adapter, if it has one. Locked: any engine of the device. */
void dapl_evd_push_async(void *object, enum dapl_async_event what);
/** The ring is full: tell the asynchronous dispatcher. Upcall of the engine, locked. */
void dapl_evd_overflow(struct dapl_evd *evd);

/**
 * Wait until @p threshold events are there, then take the oldest. Any thread; one at a time.
 *
 * @param timeout_us  0: only look; DAPL_INFINITE.
 * @param more        events left behind; also written on DAPL_TIMEOUT.
 * @return DAPL_OK; DAPL_TIMEOUT; DAPL_EVD_WAITER: another thread waits; DAPL_ABORT: the adapter was closed;
 *   DAPL_INTERRUPTED: a signal ended the sleep.
 */
enum dapl_status dapl_evd_wait(struct dapl_evd *evd, uint32_t timeout_us, uint32_t threshold,
		struct roce_event *event, uint32_t *more);
/** Send a waiter home with DAPL_ABORT and wait until it has left; later waits return at once. */
void dapl_evd_abort(struct dapl_evd *evd);

/* ---- ep.c, ep_state.c, ep_post.c ---- */

struct dapl_ep_create {
	struct dapl_pz *pz;
	struct dapl_evd *recv_evd, *request_evd, *connect_evd; /**< NULL: no interest */
	struct dapl_srq *srq;     /**< NULL: a receive queue of its own */
	struct dapl_ep_attr attr; /**< complete */
};

/** @return DAPL_OK; DAPL_NO_MEMORY. Any thread. */
enum dapl_status
dapl_ep_create(struct dapl_ia *ia, const struct dapl_ep_create *create, struct dapl_ep **ep);
/** Destroy in any state; the peer is told. @return DAPL_OK. */
enum dapl_status dapl_ep_free(struct dapl_ep *ep);
/** @return DAPL_OK, also when unconnected already; the state that forbids it. */
enum dapl_status dapl_ep_reset(struct dapl_ep *ep);
/** Set and arm the high watermarks; DAPL_HIGH_WATER_NONE: none. Any state. May break the connection inside. */
void dapl_ep_set_watermark(struct dapl_ep *ep, int32_t soft, int32_t hard);
/** Buffers that the endpoint has and whose completion was not generated: exact at one moment of the call. */
uint32_t dapl_ep_recv_count(struct dapl_ep *ep);
/** Lock and unlock what protects an endpoint: engine 0, then the engine of its queue pair. */
void dapl_ep_lock(struct dapl_ep *ep);
void dapl_ep_unlock(struct dapl_ep *ep);

/** State after @p in from @p state; 0: not allowed. */
unsigned int dapl_ep_next(unsigned int state, enum dapl_ep_input in);
/** The only assignment to ep->state, locked. @return false: not allowed, nothing changed. */
bool dapl_ep_advance(struct dapl_ep *ep, enum dapl_ep_input in);
/** The outcome of a call that @p state forbids. */
enum dapl_status dapl_ep_state_error(unsigned int state);

/** Post to the send queue, whatever the operation; lean. @return DAPL_OK; the state that forbids it; as dapl_post_error(). */
enum dapl_status dapl_ep_post_send(struct dapl_ep *ep, const struct roce_wr *wr);
/** Post to the endpoint's own receive queue, in any state. @return DAPL_OK; DAPL_SRQ_IN_USE; as dapl_post_error(). */
enum dapl_status dapl_ep_post_recv(struct dapl_ep *ep, const struct roce_recv_wr *wr);
/** What an errno of the engine's post calls means. */
enum dapl_status dapl_post_error(int rc);

/* ---- ep_conn.c, sp.c, cr.c ---- */

struct dapl_ep_connect {
	const struct sockaddr *remote;
	uint64_t conn_qual;
	uint32_t timeout_us; /**< not 0; DAPL_INFINITE */
	uint16_t private_len;
	const void *private_data;
};

/** @return DAPL_OK; the state that forbids it; DAPL_EP_NO_CONNECT_EVD; DAPL_BAD_ADDRESS; DAPL_NO_MEMORY. */
enum dapl_status dapl_ep_connect(struct dapl_ep *ep, const struct dapl_ep_connect *connect);
/** @return DAPL_OK; the state that forbids it. */
enum dapl_status dapl_ep_disconnect(struct dapl_ep *ep, bool graceful);
/** Let go of the connection; the peer is told when it is up. Locked (dapl_ep_lock). */
void dapl_ep_forget_conn(struct dapl_ep *ep);
/** Push a connection event. Locked. */
void
dapl_ep_push(struct dapl_ep *ep, enum dapl_conn_event what, const void *private_data, uint16_t len);
/** What we offer in a REQ, or in a REP to @p peer: everything but the private data. Locked. */
void
dapl_ep_offer(struct dapl_ep *ep, const struct roce_cm_param *peer, struct roce_cm_param *local);
/** Bring the queue pair to RTR towards @p peer, with what was offered. Locked. @return 0; -EINVAL. */
int dapl_ep_ready_to_receive(
		struct dapl_ep *ep, const struct roce_cm_param *peer, const struct roce_path *path);

/** Upcalls of the device (roce.h). */
void dapl_device_notify(void *arg, int kind, void *owner, int status);
int dapl_device_cm_notify(void *arg, const void *event);

/** Service id of a connection qualifier: the TCP port space up to 65535, else the number itself. */
uint64_t dapl_service_id(uint64_t conn_qual);

/** @return DAPL_OK; DAPL_CONN_QUAL_IN_USE; DAPL_NO_MEMORY. Any thread. */
enum dapl_status dapl_psp_create(struct dapl_ia *ia, uint64_t conn_qual, struct dapl_evd *evd,
		struct dapl_psp **psp);
/** Requests that arrived before stay. @return DAPL_OK. */
enum dapl_status dapl_psp_free(struct dapl_psp *psp);

/** A REQ for a service point: make a request and its event. Under the lock of engine 0. @return 0; -ENOMEM; -ENOBUFS. */
int dapl_cr_arrive(struct dapl_psp *psp, const struct roce_cm_event *event);
/** On success the request is gone. @return DAPL_OK; the state that forbids it; DAPL_EP_NO_CONNECT_EVD; DAPL_INTERNAL. */
enum dapl_status
dapl_cr_accept(struct dapl_cr *cr, struct dapl_ep *ep, const void *private_data, uint16_t len);
/** The request is gone; the peer hears that the consumer refused. @return DAPL_OK. */
enum dapl_status dapl_cr_reject(struct dapl_cr *cr);

#endif
