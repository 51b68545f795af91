/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_DAPL_H
#define DAPL_DAPL_H

/**
 * @file
 * DAT semantics without DAT types: the objects, and the calls that lib/front makes.
 *
 * The front has checked every handle and argument; these calls validate only state and
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

#include "cm/cm.h"
#include "dapl/async.h"
#include "dapl/evd.h"
#include "dapl/ia_drain.h"
#include "dapl/mem.h"
#include "dapl/obj.h"
#include "dapl/status.h"
#include "dapl/upcall.h"
#include "engine/verbs.h"
#include "ethdev/fork.h"

/* Limits that dat_ia_query() reports and creation enforces. */
#define DAPL_MAX_EPS            16384
#define DAPL_MAX_DTOS           32768 /**< of an endpoint, each direction */
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

#define DAPL_IA_ATTRS     13 /**< that never change */
#define DAPL_COUNTERS_MAX 96 /**< counters behind them */
#define DAPL_COUNT_LEN    21 /**< a 64-bit number and its end */

/** An open Interface Adapter: one instance; several may share a device. */
struct dapl_ia {
	struct dapl_obj head;
	struct roce_device *device;
	struct roce_device_user user; /**< the adapter as a user of it */
	struct roce_domain *domain;
	struct roce_cm *cm;
	struct roce_engine *engine0;
	struct dapl_evd *async_evd; /**< NULL: nobody listens; atomic */
	bool async_own;             /**< the provider made it */
	bool progress_thread;       /**< uses the thread of progress_thread.c */
	bool begun; /**< has listened or connected: from then on a peer waits for its answers; atomic */
	bool last_wqe; /**< an endpoint on a shared queue says so when it will take no more from it */
	rte_spinlock_t notify_lock;   /**< of all notifications; inside an engine's lock */
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
	TAILQ_ENTRY(dapl_ia) alive; /**< the open, opening and closing; lock of forks */
	/* Behind all that is read with every call: two threads write here, now and then. */
	uintptr_t poller; /**< the last thread that polled the device by a dequeue; 0: none has; atomic */
	uint32_t looks; /**< of others in passing, since then, and DAPL_LOOKED; atomic */
	bool quiet;     /**< nobody polled it between the last two looks; the progress thread's */
};

/** The progress thread has looked, and nobody has polled the device since. */
#define DAPL_LOOKED (UINT32_C(1) << 31)

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
	uint32_t recv_flags, request_flags; /**< as the consumer wrote them, for query */
	enum dapl_notify recv_notify, request_notify;
};

enum dapl_ep_state {
	DAPL_EP_STATE_UNCONNECTED = 1,
	DAPL_EP_STATE_RESERVED,        /**< a service point waits for a request on its behalf */
	DAPL_EP_STATE_PASSIVE_PENDING, /**< the request is there and wants an answer */
	DAPL_EP_STATE_ACTIVE_PENDING,
	DAPL_EP_STATE_COMPLETION_PENDING,
	DAPL_EP_STATE_CONNECTED,
	DAPL_EP_STATE_DISCONNECT_PENDING,
	DAPL_EP_STATE_DISCONNECTED,
	DAPL_EP_STATES,
};

/** Inputs of the state machine of an endpoint. */
enum dapl_ep_input {
	DAPL_EP_IN_CONNECT,     /**< dat_ep_connect(), roce_dat_ep_connect() */
	DAPL_EP_IN_ACCEPT,      /**< dat_cr_accept() of anybody's request */
	DAPL_EP_IN_RESERVE,     /**< dat_rsp_create() */
	DAPL_EP_IN_REQUEST,     /**< the reserved service point has a request */
	DAPL_EP_IN_ANSWER,      /**< dat_cr_accept() of that */
	DAPL_EP_IN_RELEASE,     /**< dat_rsp_free(), or dat_cr_reject() of that */
	DAPL_EP_IN_ESTABLISHED, /**< both ends are ready */
	DAPL_EP_IN_REFUSED,     /**< rejected, unreachable, not answered */
	DAPL_EP_IN_GRACEFUL,    /**< dat_ep_disconnect(), graceful */
	DAPL_EP_IN_ABRUPT,      /**< dat_ep_disconnect(), abrupt */
	DAPL_EP_IN_PEER_LEFT,   /**< the connection ended in order */
	DAPL_EP_IN_DRAINED, /**< no request is left, and there is no connection manager to send a DREQ to */
	DAPL_EP_IN_BROKEN, /**< the transport gave up */
	DAPL_EP_IN_RESET,  /**< dat_ep_reset() */
	DAPL_EP_INPUTS,
};

struct dapl_ep {
	struct dapl_obj head;
	/* The fields that a post reads share the cache line of the head. */
	struct roce_qp *qp;
	uint32_t max_message; /**< bytes of a send */
	uint8_t state;        /**< enum dapl_ep_state; written by dapl_ep_advance() alone */
	uint8_t max_request_iov;
	uint8_t max_recv_iov;
	bool has_srq : 1;
	bool watched : 1; /**< a high watermark was set: a post to its own queue may exceed it */
	bool quiet_recvs : 1;    /**< a receive may be posted as unsignalled */
	bool quiet_requests : 1; /**< a request may */

	struct roce_engine *engine; /**< of the queue pair when that is not engine 0, else NULL */
	struct roce_cm_conn *conn;  /**< NULL when there is none */
	struct dapl_pz *pz;
	struct dapl_evd *recv_evd, *request_evd, *connect_evd; /**< NULL: no interest */
	struct dapl_srq *srq;
	struct dapl_ep_attr attr;
	int32_t hard_high; /**< as it was set; the soft one is an attribute */
	union dapl_sockaddr remote;
	uint64_t local_qual;
	uint64_t remote_qual;
	uint32_t first_psn;            /**< that we offered */
	struct roce_qp_connect direct; /**< of a connection without messages: what the peer is */
	uint8_t private_data[ROCE_CM_PRIVATE_MAX_REP]; /**< of the last connection event */
};

/** Was the endpoint made with room for atomic operations, and with READs? */
static inline bool
dapl_ep_has_atomics(const struct dapl_ep *ep)
{
	return ep->attr.max_rdma_read_out > 0 &&
			RTE_MAX(ep->attr.max_request_iov,
					RTE_MAX(ep->attr.max_rdma_read_iov,
							ep->attr.max_rdma_write_iov)) > 1;
}

/** Service point: public (DAPL_PSP), or reserved for one request to one endpoint (DAPL_RSP). */
struct dapl_psp {
	struct dapl_obj head;
	struct roce_cm_listener *listener;
	struct dapl_evd *evd;
	uint64_t conn_qual;
	struct dapl_ep *ep; /**< of a reserved one; once it is used a value, not to be followed */
	bool used;          /**< the one request came */
};

/** A request that waits for accept or reject. */
struct dapl_cr {
	struct dapl_obj head;
	struct roce_cm_conn *conn;
	struct dapl_psp *
			psp; /**< where it arrived; maybe freed since: a value, not to be followed */
	struct dapl_ep *ep;  /**< the only one that may accept; NULL: any that is unconnected */
	uint64_t conn_qual;
	uint64_t remote_qual;
	union dapl_sockaddr remote;
	struct roce_path path;
	struct roce_cm_param peer;
	uint8_t private_data[ROCE_CM_PRIVATE_MAX_REQ]; /**< consumers write to it */
};

/* ---- ia.c, ia_list.c ---- */

struct dapl_ia_open {
	const char *name;
	const char *params; /**< instance data of dat.conf */
	const void *provider;
	const void *front;
	struct dapl_evd *async_evd; /**< of another open instance; NULL: see @c async_make */
	bool async_make;            /**< make one for at least @c async_len events */
	bool last_wqe;              /**< tell of DAPL_ASYNC_EP_LAST_WQE */
	bool eager;                 /**< the progress thread polls beside the consumer, too */
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

/** The caller polls a dispatcher of this instance, and is about to poll its device. */
static inline void
dapl_ia_attend(struct dapl_ia *ia)
{
	uintptr_t self = roce_bias_self();

	if (__atomic_load_n(&ia->poller, __ATOMIC_RELAXED) != self)
		__atomic_store_n(&ia->poller, self, __ATOMIC_RELAXED);
	if (__atomic_load_n(&ia->looks, __ATOMIC_RELAXED) != 0)
		__atomic_store_n(&ia->looks, 0, __ATOMIC_RELAXED);
}

/** The caller polls its device in another way. */
static inline void
dapl_ia_polled(struct dapl_ia *ia)
{
	uint32_t looks = __atomic_load_n(&ia->looks, __ATOMIC_RELAXED);

	if ((looks & DAPL_LOOKED) != 0)
		__atomic_store_n(&ia->looks, looks & ~DAPL_LOOKED, __ATOMIC_RELAXED);
}

/** The progress thread looks again: an adapter has begun. Any thread. */
void dapl_progress_thread_wake(void);

/** It listens, or connects: the progress thread may poll it. Frames that a device has before that wait for the consumer. */
static inline void
dapl_ia_begin(struct dapl_ia *ia)
{
	if (!__atomic_exchange_n(&ia->begun, true, __ATOMIC_SEQ_CST))
		dapl_progress_thread_wake();
}

/**
 * Poll the devices of all other open adapters once, so that a caller who waits on one starves none. NULL: of all.
 * @return frames moved.
 */
unsigned int dapl_ia_poll_others(const struct dapl_ia *ia);

/**
 * The same for a caller who polls. Those that another thread polls all the time are left to it: what a poll needs is in
 * the caches of its processor, and not in those of the caller's.
 */
void dapl_ia_poll_unattended(const struct dapl_ia *ia);

/** Facts that the progress thread collects of all open adapters that use it. */
enum dapl_quiet {
	DAPL_NOT_BEGUN, /**< none has listened or connected */
	DAPL_ATTENDED,  /**< others poll those that have, or look for themselves just now */
	DAPL_QUIET,     /**< at least one that has was polled by nobody since the last look */
};

/**
 * For the progress thread: poll once the devices that have begun and that nobody has polled since the last call.
 * @return frames moved.
 */
unsigned int dapl_ia_poll_quiet(enum dapl_quiet *quiet);

/** For the progress thread: poll once every device that uses it. @return frames moved. */
unsigned int dapl_ia_poll_automatic(void);

/** @return true: the caller polls open adapters, and will call dapl_wake() when it has let go of their list. */
bool dapl_ia_defer_wake(void);

/** Add to the open adapters of the process; take out of them, after which no other thread polls its device. */
void dapl_ia_enlist(struct dapl_ia *ia);
void dapl_ia_delist(struct dapl_ia *ia);

/** No open adapter has a dispatcher of @p ia for its asynchronous events any more. */
void dapl_ia_drop_async_of(const struct dapl_ia *ia);

/** Does anything in this process stand still while nobody polls it? */
bool dapl_ia_must_poll(const struct dapl_ia *ia);

/** True while an instance of the adapter @p name is open. Any thread. */
bool dapl_ia_is_open(const char *name);

/** In a child of fork(2): no adapter is open, and nobody has a lock of ia_list.c. */
void dapl_ia_forget_parent(void);

/** From now on the handles of an adapter, which may still be opened, and of its objects are bad in children of fork(2). */
void dapl_fork_watch(struct dapl_ia *ia);

/** Undo dapl_fork_watch(): none of its handles is good any more. */
void dapl_fork_unwatch(struct dapl_ia *ia);

/** Socket address to IP. @return false: neither AF_INET nor AF_INET6. */
bool dapl_ip_from_sockaddr(const struct sockaddr *sa, struct roce_ip *ip);
void dapl_ip_to_sockaddr(const struct roce_ip *ip, union dapl_sockaddr *out);

/* ---- progress_thread.c ---- */

/**
 * Let one thread of the process poll the open adapters that nobody else does, or @p eager all of them. Any thread.
 * @return false: none starts.
 */
bool dapl_progress_thread_use(bool eager);
/** Undo it; with the last user the thread is gone when the call returns. Holds no lock of another. */
void dapl_progress_thread_drop(void);

/** In a child of fork(2): there is no such thread, and nobody uses it. */
void dapl_progress_thread_forget_parent(void);

/* ---- ep.c, ep_state.c, ep_post.c ---- */

struct dapl_ep_create {
	struct dapl_pz *pz;
	struct dapl_evd *recv_evd, *request_evd, *connect_evd; /**< NULL: no interest */
	struct dapl_srq *srq;     /**< NULL: a receive queue of its own */
	struct dapl_ep_attr attr; /**< complete */
};

/** @return DAPL_OK; DAPL_NO_MEMORY; DAPL_BAD_FLAGS: a dispatcher has streams of other modes. Any thread. */
enum dapl_status
dapl_ep_create(struct dapl_ia *ia, const struct dapl_ep_create *create, struct dapl_ep **ep);
/**
 * Make an endpoint that is not connected, nor about to be, what @p to describes, with the shared queue that it has. For most of that it gets a new
 * queue pair.
 * @return DAPL_OK; the state that forbids it; DAPL_EP_NOT_READY: receives are posted to the queue pair that would have to
 *   go; DAPL_BAD_FLAGS: a dispatcher has streams of other modes; DAPL_NO_MEMORY.
 */
enum dapl_status dapl_ep_modify(struct dapl_ep *ep, const struct dapl_ep_create *to);
/** Destroy; the peer is told. @return DAPL_OK; the state that forbids it: a service point or a request has the endpoint. */
enum dapl_status dapl_ep_free(struct dapl_ep *ep);
/** Destroy in any state; no service point and no request has the endpoint any more. The peer is told. */
void dapl_ep_destroy(struct dapl_ep *ep);
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
/** A message of one segment, when nothing is in its way. @return false: nothing was done; dapl_ep_post_send() says why, or does it. */
static inline bool
dapl_ep_try_send(struct dapl_ep *ep, struct roce_sge sge, uint64_t wr_id, uint8_t flags)
{
	return likely(__atomic_load_n(&ep->state, __ATOMIC_RELAXED) == DAPL_EP_STATE_CONNECTED) &&
			roce_qp_try_send(ep->qp, sge, wr_id, flags);
}
/** A receive of one segment to its own queue, when nothing is in its way. @return false: as above, dapl_ep_post_recv(). */
static inline bool
dapl_ep_try_recv(struct dapl_ep *ep, struct roce_sge sge, uint64_t wr_id)
{
	return likely(!ep->watched) && roce_qp_try_recv(ep->qp, sge, wr_id);
}
/** Post to the endpoint's own receive queue, in any state. @return DAPL_OK; DAPL_SRQ_IN_USE; as dapl_post_error(). */
enum dapl_status dapl_ep_post_recv(struct dapl_ep *ep, const struct roce_recv_wr *wr);

/* ---- ep_direct.c: connections without a connection manager ---- */

/** The values of an endpoint that its peer must know. */
struct dapl_ep_local {
	struct roce_ip ip; /**< the adapter's first */
	uint32_t qpn;
	uint32_t psn; /**< to begin with: another after each reset */
	uint32_t mtu; /**< of the adapter, bytes */
};

void dapl_ep_query_local(struct dapl_ep *ep, struct dapl_ep_local *local);
/**
 * Connect to a queue pair that is known already: no message is sent but to find the way.
 * @param peer  number, PSNs, reads, path.dst_ip; path.mtu_code 0: the adapter's. Retries are the adapter's.
 * @return DAPL_OK; the state that forbids it; DAPL_EP_NO_CONNECT_EVD; DAPL_NO_MEMORY.
 */
enum dapl_status dapl_ep_connect_direct(struct dapl_ep *ep, const struct roce_qp_connect *peer);
/** The way is known: bring the queue pair up. Locked. @return 0; -EINVAL. */
int dapl_ep_direct_ready(struct dapl_ep *ep, const struct roce_path *path);

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
/** Connect to where @p other is connected to. @return as dapl_ep_connect(); the state of @p other that forbids it. */
enum dapl_status dapl_ep_dup_connect(
		struct dapl_ep *ep, struct dapl_ep *other, const struct dapl_ep_connect *connect);
/** @return DAPL_OK; the state that forbids it. */
enum dapl_status dapl_ep_disconnect(struct dapl_ep *ep, bool graceful);
/** Let go of the connection; the peer is told when it is up. Locked (dapl_ep_lock). */
void dapl_ep_forget_conn(struct dapl_ep *ep);
/** Push a connection event. Locked. */
void
dapl_ep_push(struct dapl_ep *ep, enum dapl_conn_event what, const void *private_data, uint16_t len);
/** Our offer in a REQ, or in a REP to @p peer: everything but the private data. Locked. */
void
dapl_ep_offer(struct dapl_ep *ep, const struct roce_cm_param *peer, struct roce_cm_param *local);
/** Bring the queue pair to RTR towards @p peer, with what was offered. Locked. @return 0; -EINVAL. */
int dapl_ep_ready_to_receive(
		struct dapl_ep *ep, const struct roce_cm_param *peer, const struct roce_path *path);

/** A step of its connection, as the connection manager says. Locked. @return as roce_cm_notify_fn. */
int dapl_ep_conn_event(struct dapl_ep *ep, const struct roce_cm_event *event);
/** Passive side: the peer's RTU came, or its first packet, whichever is first. Locked. */
void dapl_ep_established(struct dapl_ep *ep);
/** The queue pair broke, and its engine has flushed it. Locked. */
void dapl_ep_broken(struct dapl_ep *ep);
/** A queue pair that was to drain has no request left. Locked. */
void dapl_ep_drained(struct dapl_ep *ep);

/** Service id of a connection qualifier: the TCP port space up to 65535, else the number itself. */
uint64_t dapl_service_id(uint64_t conn_qual);

/** @return DAPL_OK; DAPL_CONN_QUAL_IN_USE; DAPL_NO_MEMORY. Any thread. */
enum dapl_status dapl_psp_create(struct dapl_ia *ia, uint64_t conn_qual, struct dapl_evd *evd,
		struct dapl_psp **psp);
/** The same on a qualifier that nobody uses; psp->conn_qual. @return DAPL_OK; DAPL_CONN_QUAL_UNAVAILABLE; DAPL_NO_MEMORY. */
enum dapl_status
dapl_psp_create_any(struct dapl_ia *ia, struct dapl_evd *evd, struct dapl_psp **psp);
/** Requests that arrived before stay. @return DAPL_OK. */
enum dapl_status dapl_psp_free(struct dapl_psp *psp);

/** A service point for one request, which @p ep will answer. @return as dapl_psp_create(); the state of @p ep. Any thread. */
enum dapl_status dapl_rsp_create(struct dapl_ia *ia, uint64_t conn_qual, struct dapl_ep *ep,
		struct dapl_evd *evd, struct dapl_psp **rsp);
/** The endpoint is the consumer's again, unless the request came before. @return DAPL_OK. */
enum dapl_status dapl_rsp_free(struct dapl_psp *rsp);

/** A REQ for a service point: make a request and its event. Under the lock of engine 0. @return 0; -ENOMEM; -ENOBUFS. */
int dapl_cr_arrive(struct dapl_psp *psp, const struct roce_cm_event *event);
/** On success the request is gone. @return DAPL_OK; the state that forbids it; DAPL_EP_NO_CONNECT_EVD; DAPL_INTERNAL. */
enum dapl_status
dapl_cr_accept(struct dapl_cr *cr, struct dapl_ep *ep, const void *private_data, uint16_t len);
/** The request is gone; the peer hears that the consumer refused, and @p private_data, copied. @return DAPL_OK. */
enum dapl_status dapl_cr_reject(struct dapl_cr *cr, const void *private_data, uint16_t len);
/**
 * Let it arrive at another service point of the instance, as a new request.
 * @return DAPL_OK: this one is gone; DAPL_BAD_COUNT: nobody listens there, or can take it; DAPL_NO_MEMORY.
 */
enum dapl_status dapl_cr_handoff(struct dapl_cr *cr, uint64_t conn_qual);

#endif
