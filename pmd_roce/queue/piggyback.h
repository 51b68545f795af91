/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_PIGGYBACK_H
#define ROCE_QUEUE_PIGGYBACK_H

/**
 * @file
 * The acknowledgement that is owed, as an AETH, and its way in a request of the other direction (struct roce_piggyback).
 *
 * Between two ends of this provider a whole SEND or WRITE in one packet takes the acknowledgement along that its sender
 * owes. Where a program answers each message at once, the acknowledgement waits for the answer, which saves a frame each way.
 * A queue pair learns that: its acknowledgements wait when the last ROCE_QUICK_ENOUGH ones were each followed by a request
 * within ROCE_QUICK_US, no longer than that, and no more once one waited in vain. So a peer that is not answered loses
 * ROCE_QUICK_US once.
 */

#include <string.h>

#include <rte_branch_prediction.h>

#include "queue/qp.h"

/* `./run.sh bench --instructions` builds with more: under valgrind an answer takes longer. */
#ifndef ROCE_QUICK_US
#define ROCE_QUICK_US \
	20u /**< microseconds after an acknowledgement: a request until then is an answer */
#endif
#define ROCE_QUICK_ENOUGH 4u /**< answers in a row until the next acknowledgement waits for one */

/** Syndrome of an acknowledgement. A shared queue gives no credits: what one connection was promised another may take. */
static inline uint8_t
roce_ack_syndrome(const struct roce_qp *qp)
{
	if (!qp->rx.rq->private_queue)
		return ROCE_AETH_ACK | ROCE_CREDIT_INVALID;
	/* The receive in use was promised too, and its message is not counted in the MSN yet. */
	return (uint8_t)(ROCE_AETH_ACK |
			roce_credit_encode(roce_srq_available(qp->rx.rq) + qp->rx.holding));
}

/** PSN of an acknowledgement: of the newest packet that was executed. */
static inline uint32_t
roce_ack_psn(const struct roce_qp *qp)
{
	return roce_psn_add(qp->rx.epsn, ROCE_PSN_MASK);
}

/** A frame says what was owed. Locked. */
static inline void
roce_ack_given(struct roce_qp *qp)
{
	qp->rx.owes &= ROCE_OWES_CNP | ROCE_OWES_SACK | ROCE_OWES_DUPLICATE;
	qp->rx.unacked = 0;
}

/** Is an acknowledgement owed, and nothing else, to a peer that takes it in a request? Locked. */
static inline bool
roce_piggyback_is_due(const struct roce_qp *qp)
{
	return qp->rx.owes == ROCE_OWES_ACK && qp->tx.piggyback;
}

/** Write the acknowledgement into a request. Locked. @param at behind the BTH. @return behind it. */
static inline uint8_t *
roce_piggyback_put(const struct roce_qp *qp, uint8_t *at)
{
	const struct roce_piggyback ack = {
		.aeth.syndrome_msn = roce_aeth_pack(roce_ack_syndrome(qp), qp->rx.msn),
		.psn = rte_cpu_to_be_32(roce_ack_psn(qp)),
	};

	memcpy(at, &ack, sizeof(ack));
	return at + sizeof(ack);
}

/** The request that carries it is complete. Locked. */
static inline void
roce_piggyback_given(struct roce_qp *qp)
{
	roce_ack_given(qp);
	qp->engine->stats.tx_piggybacked_acks++;
}

/** Requests leave. Locked. */
static inline void
roce_piggyback_requested(struct roce_qp *qp, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;

	if (tx->quick_until == 0)
		return;
	if (now >= tx->quick_until)
		tx->quick = 0;
	else if (tx->quick < ROCE_QUICK_ENOUGH)
		tx->quick++;
	tx->quick_until = 0;
}

/** An acknowledgement leaves in a frame of its own. Locked. */
static inline void
roce_piggyback_missed(struct roce_qp *qp, uint64_t now)
{
	if (qp->tx.quick_until != 0)
		qp->tx.quick = 0;
	qp->tx.quick_until = now + qp->engine->quick_ticks;
}

/** The peer sends again what it has no acknowledgement of: the next one waits for nothing. Locked. */
static inline void
roce_piggyback_hurry(struct roce_qp *qp)
{
	qp->tx.quick = 0;
}

/** Was each of the last acknowledgements followed by a request soon enough? Locked. */
static inline bool
roce_piggyback_is_quick(const struct roce_qp *qp)
{
	return qp->tx.quick >= ROCE_QUICK_ENOUGH;
}

/** May the acknowledgement that is due wait for a request? Locked. @return true: until tx.quick_until. */
static inline bool
roce_piggyback_waits(struct roce_qp *qp, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;

	if (!roce_piggyback_is_quick(qp) || qp->rx.unacked >= ROCE_ACK_SOON || tx->draining)
		return false;
	if (tx->quick_until == 0)
		tx->quick_until = now + qp->engine->quick_ticks;
	return now < tx->quick_until;
}

#endif
