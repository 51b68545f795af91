/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_RESPONDER_RESP_WRITE_H
#define ROCE_RESPONDER_RESP_WRITE_H

/**
 * @file
 * The common request of a program that writes: a whole WRITE in one plain frame (resp_plain.h), with at least one byte, to
 * memory that the peer may write. Any other, and one that is to be refused, is left to resp_rdma.c without side effects.
 */

#include "queue/mw.h"
#include "queue/sge.h"
#include "responder/resp_plain.h"

#define ROCE_RESP_WRITE (&roce_opcode[IBV_OPCODE_RC_RDMA_WRITE_ONLY])

/** May the peer write the payload to the memory that the frame names? @p to is that. */
static __rte_always_inline bool
roce_resp_write_may(const struct roce_qp *qp, const struct roce_plain_packet *write,
		struct roce_sge *to)
{
	struct roce_mr *entered;

	/* With one engine nobody has to be told that it is left. */
	*to = roce_reth_memory(write->reth);
	return to->length == write->payload_len && to->length != 0 &&
			(qp->remote.access & IBV_ACCESS_REMOTE_WRITE) != 0 &&
			roce_keys_enter(qp->engine->domain, qp->pd, qp, to, IBV_ACCESS_REMOTE_WRITE,
					&entered) == 0;
}

/** roce_resp_write() and roce_resp_write_held(). @param held as in roce_resp_send_any(). */
static __rte_always_inline bool
roce_resp_write_any(struct roce_engine *e, const struct rte_mbuf *m, uint8_t opcode, uint64_t now,
		bool (*acknowledged)(struct roce_qp *, const struct roce_piggyback *, uint64_t),
		bool held)
{
	const uint8_t checks = held ? 0 : ROCE_CHECK_HELD;
	struct roce_plain_packet write;
	struct roce_sge to;
	struct roce_qp *qp;

	if (!roce_plain_packet_parse(m, opcode, &write))
		return false;
	qp = roce_qp_find(e->domain, write.dest_qp);
	if (unlikely(qp == NULL ||
			    !roce_resp_plain_expected(e, qp, &write, ROCE_RESP_WRITE, checks) ||
			    (!held && !roce_plain_packet_icrc_ok(&write)) ||
			    !roce_resp_write_may(qp, &write, &to)))
		return false;
	if (acknowledged != NULL && write.ack != NULL &&
			unlikely(!acknowledged(qp, write.ack, now)))
		return true;
	roce_bytes_place((uint8_t *)(uintptr_t)to.addr, write.payload, write.payload_len);
	roce_resp_arrived(&qp->rx);
	roce_resp_advance(&qp->rx, 1);
	roce_resp_settle(qp, ROCE_RESP_WRITE, write.payload_len, write.ack_req);
	return true;
}

/**
 * Receive a frame of a domain with one engine, if it is such a WRITE. Locked.
 * @param opcode,acknowledged as in roce_resp_send().
 * @return true: it was, and is executed; the frame is the caller's to free. false: nothing has changed.
 */
static __rte_always_inline bool
roce_resp_write(struct roce_engine *e, const struct rte_mbuf *m, uint8_t opcode, uint64_t now,
		bool (*acknowledged)(struct roce_qp *, const struct roce_piggyback *, uint64_t))
{
	return roce_resp_write_any(e, m, opcode, now, acknowledged, false);
}

/** The same for a frame that was held, whose turn has come. */
static inline bool
roce_resp_write_held(struct roce_engine *e, const struct rte_mbuf *m)
{
	return roce_resp_write_any(e, m, IBV_OPCODE_RC_RDMA_WRITE_ONLY, 0, NULL, true);
}

#endif
