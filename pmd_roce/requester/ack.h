/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_REQUESTER_ACK_H
#define ROCE_REQUESTER_ACK_H

/**
 * @file
 * Acknowledgements of requests: what they complete, and the credits that they bring.
 */

#include "queue/qp.h"

/** Everything before @p psn arrived, and was answered: complete what ends there. Locked. */
void roce_ack_advance(struct roce_qp *qp, uint32_t psn, uint64_t now);

/** The credits that an answer brings. Locked. */
void roce_ack_learn_credits(struct roce_qp *qp, const struct roce_aeth *aeth);

/** An acknowledgement or NAK with this PSN arrived. Locked. */
void roce_ack_rx(struct roce_qp *qp, const struct roce_aeth *aeth, uint32_t psn, uint64_t now);

/**
 * A request brings an acknowledgement (struct roce_piggyback). Locked.
 * @return false: the request is not to be executed. There was no agreement, or it is no acknowledgement, which is counted; or
 *   what it acknowledges has ended the queue pair.
 */
bool roce_ack_rx_piggybacked(struct roce_qp *qp, const struct roce_piggyback *ack, uint64_t now);

#endif
