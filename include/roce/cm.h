/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_CM_H
#define ROCE_CM_H

/**
 * @file
 * Connections, in the manner of librdmacm: an id is one end of a connection, or
 * a listener. On the wire these are the messages of the InfiniBand connection
 * manager with the header of RDMA IP CM, as Linux rdma_cm speaks them.
 *
 * A queue pair is given with connect or accept, and the id moves it through its
 * states until its last event: REJECTED, UNREACHABLE, CONNECT_ERROR or
 * DISCONNECTED. Until that is polled, or the id destroyed, the queue pair is not
 * destroyed.
 *
 * Or its number is given, and it is none of the id's concern: its owner moves it by
 * roce_qp_modify() with what roce_cm_id_peer() says. The end that connects hears CONNECT_RESPONSE
 * in the place of ESTABLISHED, and calls roce_cm_id_establish() when the queue pair is
 * ready to send.
 *
 * Everything that follows a call is delivered as an event, never before the
 * call returns on the same thread; no memory is needed for it.
 *
 * Threads. Any thread may call, but not two at once for one id, and not from
 * inside a callback of this library. Events are polled by one thread at a time.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct roce_context;
struct roce_qp;
struct roce_cm_id;

#define ROCE_CM_PRIVATE_REQUEST 56  /**< bytes of private data that fit a request */
#define ROCE_CM_PRIVATE_REPLY   196 /**< that fit its acceptance */
#define ROCE_CM_PRIVATE_REJECT  148 /**< that fit its refusal */

/** Occasions of enum rdma_cm_event_type. */
enum roce_cm_event_type {
	ROCE_CM_EVENT_CONNECT_REQUEST =
			1,         /**< on a listener: accept or reject @c id, which is new */
	ROCE_CM_EVENT_ESTABLISHED, /**< both ends are ready to send */
	ROCE_CM_EVENT_REJECTED, /**< @c status is the reason: 28 the peer's consumer, 8 nobody listens, 3 no room */
	ROCE_CM_EVENT_UNREACHABLE,   /**< no route to the address, or nobody answers there */
	ROCE_CM_EVENT_CONNECT_ERROR, /**< an accepted connection did not come to be */
	ROCE_CM_EVENT_DISCONNECTED, /**< it is over, however it ended: the queue pair is in error, everything is flushed */
	/** By number: the peer has accepted, and waits for roce_cm_id_establish(), or for reject. */
	ROCE_CM_EVENT_CONNECT_RESPONSE
};

/** One event. Its pointers are valid until the next roce_cm_poll() of the context. */
struct roce_cm_event_info {
	enum roce_cm_event_type type;
	int status; /**< REJECTED, and CONNECT_ERROR by that: the reason of the message, above 0; UNREACHABLE: -EHOSTUNREACH no route, -ETIMEDOUT no answer; else 0 */
	struct roce_cm_id *id;        /**< the connection; of CONNECT_REQUEST the new one */
	struct roce_cm_id *listen_id; /**< CONNECT_REQUEST: where it arrived; else NULL */
	void *user;                   /**< of @c id; of CONNECT_REQUEST: of the listener */
	const void *private_data; /**< CONNECT_REQUEST, ESTABLISHED of who connected, CONNECT_RESPONSE, REJECTED, CONNECT_ERROR by that */
	uint16_t private_data_len;
	uint8_t responder_resources; /**< CONNECT_REQUEST, CONNECT_RESPONSE: READs and atomics the peer can serve */
	uint8_t initiator_depth; /**< the same: it wants to have outstanding */
	uint8_t remote_ip[16];   /**< of the peer, IPv6 or IPv4-mapped */
	uint16_t remote_port;    /**< CONNECT_REQUEST: source port that it names */
	uint8_t local_ip[16]; /**< of this end, to which or from which the peer is connected; zero without a path */
};

/** The parameters that one side offers; zero stands for a good value in every field but @c qp and @c qp_num. */
struct roce_cm_conn_param {
	struct roce_qp *qp; /**< of the same context, in state RESET, of no other id; NULL: by number */
	const void *private_data; /**< copied */
	uint16_t private_data_len;
	/** READs and atomics it serves, at most the queue pair's max_dest_rd_atomic; 0: as many as that. */
	uint8_t responder_resources;
	uint8_t initiator_depth; /**< READs and atomics it wants to have outstanding, 1..ROCE_RD_ATOMIC_MAX; 0: 16 */
	uint8_t rnr_retry; /**< how often the peer shall come back to an empty queue, 1..6, 7 for ever; 0: the device's */
	uint8_t srq; /**< by number: it has a shared receive queue */
	uint32_t qp_num; /**< by number: of a queue pair that its owner moves, 2..0xfffffe; else not looked at */
	uint8_t ack_timeout; /**< local ACK timeout of @c qp, a code 1..31; 0: the device's */
	/** Traffic class of the frames of this end (TOS of IPv4), and by connect also of the peer's; its two lowest bits are not looked at. 0: the device's. */
	uint8_t traffic_class;
	/** By connect: the address of this end, one of the device's of the family of the peer's; all zero: as the route says. */
	uint8_t local_ip[16];
};

/** A peer whose numbers are known. Zero what is not. */
struct roce_cm_peer {
	uint8_t ip[16]; /**< IPv6 or IPv4-mapped, network byte order */
	uint32_t qpn;
	uint32_t rq_psn;            /**< first PSN that the peer sends */
	uint32_t sq_psn;            /**< first PSN that this end sends, as the peer was told */
	uint32_t mtu;               /**< path MTU in bytes, that of both ends; 0: the device's */
	uint8_t max_rd_atomic;      /**< READs and atomics that this end may have outstanding */
	uint8_t max_dest_rd_atomic; /**< that the peer may have outstanding */
	uint8_t rnr_retry; /**< how often this end comes back to an empty queue, 1..6, 7 for ever; 0: the device's */
	uint8_t srq;           /**< roce_cm_id_peer(): the peer has a shared receive queue */
	uint8_t local_ip[16];  /**< roce_cm_id_peer(): the address of this end on the path */
	uint8_t traffic_class; /**< roce_cm_id_peer(): of the frames of this end; 0: the device's */
};

/**
 * Make an id.
 *
 * @param user  stands in its events.
 * @return 0; -ENOMEM.
 */
int roce_cm_id_create(struct roce_context *context, void *user, struct roce_cm_id **id);

/**
 * End an id in any state: a connection is disconnected at once, a request refused, a listener's requests too that were
 * not polled. A queue pair that was connected goes to error with everything flushed; another stays as it is. Events of
 * the id that were not polled vanish. NULL is allowed.
 */
void roce_cm_id_destroy(struct roce_cm_id *id);

/** The @c user of its events from now on. An id that a request brought begins with that of its listener. */
void roce_cm_id_set_user(struct roce_cm_id *id, void *user);
void *roce_cm_id_user(const struct roce_cm_id *id);

/**
 * Wait for requests at a port of the RDMA TCP port space, to the addresses of the device that the context was made of. An id
 * that listens there already has another backlog from now on.
 *
 * @param backlog  requests that may wait to be accepted or rejected; more are refused.
 * @return 0; -EINVAL the id is in use; -EADDRINUSE: anybody listens there, at one of these addresses; -ENOMEM.
 */
int roce_cm_id_listen(struct roce_cm_id *id, uint16_t port, uint32_t backlog);

/**
 * Connect to a port of an address. ESTABLISHED, REJECTED or UNREACHABLE follows; CONNECT_ERROR when the queue pair can
 * not be what the peer agreed to. A queue pair that was not connected may be given to another id. Also UNREACHABLE: on the
 * adapter that processes share, another @c local_ip than the peer's address within the host.
 *
 * @param ip         IPv6 or IPv4-mapped, network byte order.
 * @param param      private data up to ROCE_CM_PRIVATE_REQUEST.
 * @param timeout_us until UNREACHABLE; UINT64_MAX: as long as requests are repeated, about a minute.
 * @return 0; -EINVAL the id is in use, or a parameter is none; -ENOMEM.
 */
int roce_cm_id_connect(struct roce_cm_id *id, const uint8_t ip[16], uint16_t port,
		const struct roce_cm_conn_param *param, uint64_t timeout_us);

/**
 * Connect to a queue pair whose numbers are known, without messages: the peer does the same. ESTABLISHED follows when the
 * path to the address is resolved, or UNREACHABLE. The peer is not told of the end, and its end is not noticed.
 *
 * @param peer  copied.
 * @return as roce_cm_id_connect(); a number out of range, an MTU that is none or larger than the device's is -EINVAL.
 */
int
roce_cm_id_connect_peer(struct roce_cm_id *id, struct roce_qp *qp, const struct roce_cm_peer *peer);

/**
 * Accept a request. ESTABLISHED or CONNECT_ERROR follows. Receives should be posted before.
 *
 * @param param  private data up to ROCE_CM_PRIVATE_REPLY.
 * @return 0; -EINVAL no request, or a parameter is none; -ENOTCONN the peer has given up: only destroy is left.
 */
int roce_cm_id_accept(struct roce_cm_id *id, const struct roce_cm_conn_param *param);

/**
 * Fill @p peer with what the two ends of a connection agree on: known with CONNECT_REQUEST, CONNECT_RESPONSE and ESTABLISHED, until it is over.
 * The PSNs of a connection by number are chosen by its id; those of one with a queue pair are that one's. One of
 * roce_cm_id_connect_peer() has no more to tell than its caller knows.
 *
 * @return 0; -ENOTCONN: nothing is known yet, or any more.
 */
int roce_cm_id_peer(struct roce_cm_id *id, struct roce_cm_peer *peer);

/**
 * By number: the queue pair is ready. Behind CONNECT_RESPONSE the peer is told, and the connection is up without another event.
 * After accept it says that a packet of the peer has arrived (ROCE_ASYNC_QP_COMM_EST): ESTABLISHED follows at once.
 *
 * @return 0; -EINVAL: it waits for nothing like that, or not any more.
 */
int roce_cm_id_establish(struct roce_cm_id *id);

/** Refuse a request, or the answer to one by number, and end its id. Private data up to ROCE_CM_PRIVATE_REJECT. @return 0; -EINVAL. */
int roce_cm_id_reject(struct roce_cm_id *id, const void *private_data, uint16_t private_data_len);

/**
 * End a connection: requests that are not finished are flushed; when there is none, what has arrived is acknowledged
 * first, which the DREQ may overtake where a device has several queues. DISCONNECTED follows, when the receives are
 * flushed, too.
 * @return 0; -EINVAL it is not connected, or not any more.
 */
int roce_cm_id_disconnect(struct roce_cm_id *id);

/**
 * The oldest event of connections that was not polled.
 * @return 1; 0: there is none.
 */
int roce_cm_poll(struct roce_context *context, struct roce_cm_event_info *event);

#ifdef __cplusplus
}
#endif

#endif
