/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_RESPONDER_ZCRX_H
#define ROCE_RESPONDER_ZCRX_H

/**
 * @file
 * Receives without segments: the consumer is given the frame that its message came in, instead of a copy of the payload.
 *
 * The consumer gets an mbuf of its own without a buffer (the head), attached to the buffer of the frame as to external
 * memory. The shared info of that tells when head and clones are gone, on whatever thread: the frame goes home, and the
 * place that it had is free again. So the consumer's mbuf has one reference like any other, nothing has to be looked for,
 * and the bound counts what is really held: what was told and not taken, and what was taken and not freed.
 *
 * A frame must be the engine's alone, in one mbuf segment and of a pool that may be given (struct roce_zcrx_config).
 * Any other is copied into one of a pool that is there for this: a consumer that holds frames for long keeps no memory
 * of others.
 *
 * The slots are the queue pair's, and outlive it, and the domain, as long as a frame is held. So does its part of the
 * domain's budget: later queue pairs cannot give what is still out.
 */

#include <rte_mbuf.h>

#include "queue/qp.h"

struct roce_zcrx;

/** The budget of all queue pairs with zero-copy receives. @return 0; -ENOMEM. */
int roce_zcrx_budget_create(struct roce_domain *domain);

/** No queue pair is left; consumers may hold frames. Allowed when none was made. */
void roce_zcrx_budget_destroy(struct roce_domain *domain);

/** Slots for @p max frames, 1..ROCE_ZCRX_MAX. @return 0; -ENOMEM: memory, or the budget of the domain. */
int roce_zcrx_create(struct roce_qp *qp, uint32_t max);

/** The queue pair goes, after roce_zcrx_drop(). There are none: allowed. */
void roce_zcrx_destroy(struct roce_qp *qp);

/** Frames that no consumer has taken are freed: the queue pair is reset, or goes. Locked. */
void roce_zcrx_drop(struct roce_qp *qp);

/**
 * Is all there that the next receive wants for this packet? Before it is taken. Locked.
 * @return false (counted): as many frames are held as may be, or there is none to copy into.
 */
bool roce_zcrx_ready(struct roce_qp *qp, const struct roce_pkt *pkt);

/** Give the frame of a whole message, for which roce_zcrx_ready() said yes. Locked. @return for roce_qp_complete_recv(). */
uint32_t roce_zcrx_give(struct roce_qp *qp, struct roce_pkt *pkt);

/** The event that told so is lost: nobody can take it. @p event_flags is what roce_zcrx_give() returned. Locked. */
void roce_zcrx_withdraw(struct roce_qp *qp, uint32_t event_flags);

#endif
