/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_RESPONDER_RESP_PLAIN_H
#define ROCE_RESPONDER_RESP_PLAIN_H

/**
 * @file
 * The fast paths of the responder share this: a whole message in one plain frame is validated from its bytes, by the rules of
 * resp.h, and executed in one go (resp_send.h, resp_write.h). Every other frame is left to rx.c and resp.c, which validate
 * everything in the order of IBTA Vol 1, 9.7.4.1.
 */

#include "responder/resp.h"
#include "wire/frame_plain.h"

/**
 * Is it the frame that the queue pair expects next, and does nothing stand in the way of its message?
 * @param op row of its opcode, a constant: what the rules of resp.h do for others, the compiler leaves out.
 * @param checks ROCE_CHECK_* that concern it.
 */
static __rte_always_inline bool
roce_resp_plain_expected(const struct roce_engine *e, const struct roce_qp *qp,
		const struct roce_plain_packet *request, const struct roce_opcode_info *op,
		uint8_t checks)
{
	const struct roce_qp_rx *rx = &qp->rx;

	return roce_qp_rx_is_from(rx, request->flow4) &&
			roce_resp_is_expected(rx, request->psn, op, request->payload_len) &&
			(rx->checks & checks) == 0 && !request->congested &&
			roce_domain_has_vlan(e->domain, request->vlan_tci);
}

#endif
