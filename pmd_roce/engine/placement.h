/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ENGINE_PLACEMENT_H
#define ROCE_ENGINE_PLACEMENT_H

/**
 * @file
 * Direct placement: a fused copy and CRC. A long payload is copied in the pass over the frame that computes its ICRC: before
 * that is known, and before anything is taken or counted for it. So it is copied only to where the packet that is expected goes, and where that follows from what
 * this end knows, and not from the frame: what a damaged one leaves there, the good one is placed over before anybody is
 * told.
 */

#include "queue/qp.h"

/**
 * Judge the ICRC of a frame to @p qp with a payload of ROCE_ONE_PASS_RX and more. Sets @p pkt->placed: where the payload
 * is, when the packet is accepted after all; NULL: still in the frame alone. Locked.
 */
bool roce_icrc_ok_place(struct roce_qp *qp, struct roce_pkt *pkt);

#endif
