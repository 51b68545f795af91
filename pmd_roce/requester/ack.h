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

/** An acknowledgement or NAK arrived. Locked. */
void roce_ack_rx(struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t now);

#endif
