/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_RESPONDER_FINAL_ACK_H
#define ROCE_RESPONDER_FINAL_ACK_H

/**
 * @file
 * Acknowledgements of queue pairs that end before the next poll.
 *
 * An adapter acknowledges a message when it has received it (IBTA Vol 1, 9.7.5.1.2). Here the acknowledgement leaves in the
 * transmit half of a poll, or later: one may stand for several messages, and a device may refuse frames. A consumer that
 * has its message may end the queue pair before that. The peer would see its request
 * flushed although the message was received. So the frame is made when the queue pair ends, and is kept by the domain,
 * which needs no queue pair for it. Engine 0 sends it, ahead of what the connection manager has to send: the peer gets
 * the acknowledgement before the DREQ.
 */

#include "queue/qp.h"

/** That wait for a poll, and at most a quarter of the pool: more would take the mbufs of those that work. */
#define ROCE_FINAL_ACKS_MAX 256u

/**
 * Make the frame of the ACK or NAK that @p qp owes and of nothing else. Without a free mbuf, and behind
 * as many others as may wait, it stays owed. Locked: the queue pair's engine, and engine 0, whose frame it is.
 */
void roce_final_ack_make(struct roce_qp *qp);

/** Is there one to be sent? Any thread. */
static inline bool
roce_final_acks_wait(const struct roce_domain *domain)
{
	return __atomic_load_n(&domain->final_acks, __ATOMIC_RELAXED) != NULL;
}

/** Take up to @p max of them, oldest first; the frames are the caller's. Engine 0, locked. @return how many. */
uint16_t roce_final_acks_take(struct roce_domain *domain, struct rte_mbuf **pkts, uint16_t max);

/** Free those that were never sent. No engine is polled. */
void roce_final_acks_drop(struct roce_domain *domain);

#endif
