/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_EP_H
#define DAPL_EP_H

/**
 * @file
 * Endpoints: a queue pair, the dispatchers of its streams, and its connection.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "cm/cm.h"
#include "dapl/address.h"
#include "dapl/ep_state.h"
#include "dapl/event.h"
#include "dapl/obj.h"
#include "dapl/status.h"
#include "engine/verbs.h"

struct dapl_evd;
struct dapl_pz;
struct dapl_srq;

#define DAPL_HIGH_WATER_NONE (-1)

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

struct dapl_ep {
	struct dapl_obj head;
	/* The fields that a post reads share the cache line of the head. */
	struct roce_qp *qp;
	uint32_t max_message; /**< bytes of a send */
	uint8_t state;        /**< enum dapl_ep_state; written by dapl_ep_advance() alone */
	uint8_t max_request_iov;
	uint8_t max_recv_iov;
	bool has_srq : 1;
	bool has_watermark : 1; /**< a high watermark was set: a post to its own queue may exceed it */
	bool unsignalled_recvs : 1;    /**< a receive may be posted as unsignalled */
	bool unsignalled_requests : 1; /**< a request may */

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

#endif
