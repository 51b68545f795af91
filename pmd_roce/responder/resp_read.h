/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_RESPONDER_RESP_READ_H
#define ROCE_RESPONDER_RESP_READ_H

/**
 * @file
 * The common request of a program that reads: a READ in a plain frame (resp_plain.h), of memory that the peer may read. One
 * that is to be refused is left to resp_rdma.c without side effects. resp_read.c answers it.
 */

#include "responder/resp_plain.h"
#include "responder/resp_rdma.h"

#define ROCE_RESP_READ (&roce_opcode[IBV_OPCODE_RC_RDMA_READ_REQUEST])

/**
 * Receive a frame of a domain with one engine, if it is such a READ. Locked.
 * @return true: it was, and its answer is owed; the frame is the caller's to free. false: nothing has changed.
 */
static __rte_always_inline bool
roce_resp_read(struct roce_engine *e, const struct rte_mbuf *m)
{
	struct roce_plain_packet read;
	struct roce_sge memory;
	struct roce_qp *qp;

	if (!roce_plain_packet_parse(m, IBV_OPCODE_RC_RDMA_READ_REQUEST, &read))
		return false;
	qp = roce_qp_find(e->domain, read.dest_qp);
	if (unlikely(qp == NULL ||
			    !roce_resp_plain_expected(
					    e, qp, &read, ROCE_RESP_READ, ROCE_CHECK_HELD) ||
			    !roce_plain_packet_icrc_ok(&read)))
		return false;
	memory = roce_reth_memory(read.reth);
	if (unlikely(!roce_resp_key_ok(qp, &memory, IBV_ACCESS_REMOTE_READ) ||
			    !roce_resp_read_ok(qp, &memory)))
		return false;
	roce_resp_note_repeat(qp, read.repeat);
	roce_resp_begin_read(qp, read.psn, &memory);
	roce_resp_arrived(&qp->rx);
	roce_resp_settle(qp, ROCE_RESP_READ, 0, read.ack_req);
	return true;
}

#endif
