/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ENGINE_LOAN_H
#define ROCE_ENGINE_LOAN_H

/**
 * @file
 * Receives without segments: the consumer is lent the frame that its message came in, instead of a copy of the payload.
 *
 * The consumer gets an mbuf of its own without a buffer (the head), attached to the buffer of the frame as to external
 * memory. The shared info of that tells when head and clones are gone, on whatever thread: the frame goes home, and the
 * place that it had is free again. So the consumer's mbuf has one reference like any other, nothing has to be looked for,
 * and the bound counts what is really held: what was told and not taken, and what was taken and not freed.
 *
 * A frame that is not the engine's alone, in one mbuf segment and of a pool that lends (struct roce_loan_config), is copied, into
 * one of a pool that is there for this: who lends for long keeps nobody else's memory.
 *
 * The places are the queue pair's, and outlive it, and the domain, as long as one is lent. So does its part of what the
 * domain may lend: later queue pairs cannot lend what is still out.
 */

#include <rte_mbuf.h>

#include "engine/complete.h"

struct roce_loans;

/** The budget of all queue pairs of the domain that lend. @return 0; -ENOMEM. */
int roce_loan_budget_create(struct roce_domain *domain);

/** No queue pair is left; frames may be lent. Allowed when none was made. */
void roce_loan_budget_destroy(struct roce_domain *domain);

/** Places for @p max frames, 1..ROCE_LENT_MAX. @return 0; -ENOMEM: memory, or the domain may not lend so many more. */
int roce_loans_create(struct roce_qp *qp, uint32_t max);

/** The queue pair goes, after roce_loans_drop(). There are none: allowed. */
void roce_loans_destroy(struct roce_qp *qp);

/** Frames that no consumer has taken are freed: the queue pair is reset, or goes. Locked. */
void roce_loans_drop(struct roce_qp *qp);

/**
 * Is all there that the next receive wants for this packet? Before it is taken. Locked.
 * @return false (counted): as many frames are lent as may be, or there is none to copy into.
 */
bool roce_loan_ready(struct roce_qp *qp, const struct roce_pkt *pkt);

/** Lend the frame of a whole message, for which roce_loan_ready() said yes. Locked. @return for roce_qp_complete_recv(). */
uint32_t roce_loan_give(struct roce_qp *qp, struct roce_pkt *pkt);

/** The event that told so is lost: nobody can take it. @p event_flags is what roce_loan_give() returned. Locked. */
void roce_loan_withdraw(struct roce_qp *qp, uint32_t event_flags);

#endif
