/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_REQUESTER_DCQCN_H
#define ROCE_REQUESTER_DCQCN_H

/**
 * @file
 * Congestion: marks of the network become notifications (CNP) to their sender, and a sender obeys the notifications
 * it gets by a rate limiter (RoCEv2 congestion management, IBTA annex A17.9; DCQCN, SIGCOMM 2015).
 *
 * A queue pair is not limited before its first notification, and not any more when it has come back to the speed of
 * the line; in between `tx.paced` is set, and its frames go out as its token bucket allows. Time is looked at when
 * the queue pair is: what happened while it was idle is made up for then.
 */

#include <stdint.h>

#include "queue/qp.h"

#define ROCE_CNP_INTERVAL_US \
	50u /**< between two notifications to one sender, and between two reductions */
#define ROCE_DCQCN_PERIOD_US 55u       /**< between two steps of the recovery, and of alpha */
#define ROCE_DCQCN_VOLUME    10000000u /**< bytes sent that count like a period */
#define ROCE_DCQCN_FAST      5u        /**< steps that halve the distance before the target moves */
#define ROCE_DCQCN_ADD \
	UINT64_C(5000000) /**< bytes/s that the target gains with each step then (40 Mbit/s) */
#define ROCE_DCQCN_ADD_HYPER \
	UINT64_C(50000000) /**< once both clocks are beyond the fast steps (400 Mbit/s) */
#define ROCE_DCQCN_ALPHA_ONE 65536u
#define ROCE_DCQCN_GAIN      256u /**< alpha moves by one part of so many */
#define ROCE_DCQCN_RATE_MIN \
	UINT64_C(1250000) /**< bytes/s: no notification slows further (10 Mbit/s) */
#define ROCE_DCQCN_LINE \
	UINT64_C(12500000000) /**< bytes/s of a line that does not say (100 Gbit/s) */

/** The network marked a good frame of the peer: a notification may be due. Locked. */
void roce_dcqcn_marked(struct roce_qp *qp, uint64_t now);

/** The notification that is owed; NULL: no frame to be had. Locked. */
struct rte_mbuf *roce_dcqcn_emit(struct roce_qp *qp);

/** A notification arrived: slow down. Locked. */
void roce_dcqcn_slow(struct roce_qp *qp, uint64_t now);

/**
 * How many frames may the limited queue pair send now? It may have become unlimited in here. Locked.
 * @return at most @p room; 0: none before cold.dcqcn.resume_at, of which the timer will remind.
 */
uint16_t roce_dcqcn_room(struct roce_qp *qp, uint16_t room, uint64_t now);

/** These frames of it leave. Locked. */
void roce_dcqcn_charge(struct roce_qp *qp, struct rte_mbuf *const *pkts, uint16_t n);

#endif
