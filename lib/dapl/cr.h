/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_CR_H
#define DAPL_CR_H

/**
 * @file
 * Connection requests.
 */

#include <stdint.h>

#include "cm/cm.h"
#include "dapl/address.h"
#include "dapl/obj.h"
#include "dapl/status.h"
#include "engine/verbs.h"

struct dapl_ep;
struct dapl_psp;

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
