/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_RESPONDER_RESP_RDMA_H
#define ROCE_RESPONDER_RESP_RDMA_H

/**
 * @file
 * The rules of requests about memory. resp_rdma.c follows them for any request, resp_read.h for the READs of its fast path.
 */

#include <rte_branch_prediction.h>

#include "queue/mw.h"
#include "responder/resp.h"

/**
 * May the peer do this with so many bytes? The queue pair is asked first, whatever the key is; nothing at all needs no key
 * (IBTA Vol 1, 9.7.4.1.5). Locked.
 */
static inline bool
roce_resp_key_ok(const struct roce_qp *qp, const struct roce_sge *memory, uint8_t access)
{
	/* The caller goes on with the peer's address, which is translated when memory is touched. */
	struct roce_sge translated = *memory;
	struct roce_mr *entered;

	if (unlikely((qp->remote.access & access) == 0))
		return false;
	if (memory->length == 0)
		return true;
	if (roce_keys_enter(qp->engine->domain, qp->pd, qp, &translated, access, &entered) != 0)
		return false;
	roce_keys_leave(entered);
	return true;
}

/**
 * One more READ or atomic than was agreed upon would push one out that is not answered yet. A repeated answer may
 * be pushed out: a late copy asked for it, and the requester would not go on without having it. Locked.
 */
static inline bool
roce_resp_has_resource(const struct roce_qp *qp)
{
	const struct roce_qp_remote *remote = &qp->remote;
	const struct roce_rd_resource *res;

	if (remote->allowed == 0)
		return false;
	res = &remote->resource[roce_resource_after(remote, remote->newest)];
	return !res->pending || res->again;
}

/** May a READ of so much memory, whatever its key is, be answered? Locked. */
static inline bool
roce_resp_read_ok(const struct roce_qp *qp, const struct roce_sge *memory)
{
	return memory->length <= ROCE_MSG_MAX &&
			roce_packets(memory->length, qp->rx.mtu) <= ROCE_READ_PACKETS_MAX &&
			roce_resp_has_resource(qp);
}

/**
 * Keep an accepted READ or atomic, the expected request, whose answer has @p packets PSNs, and owe that answer. Locked.
 * roce_resp_has_resource() has said that there is room. @return what is kept; its memory is to be filled in.
 */
static inline struct roce_rd_resource *
roce_resp_new_resource(struct roce_qp *qp, uint32_t psn, uint8_t verb, uint32_t packets)
{
	struct roce_qp_remote *remote = &qp->remote;
	struct roce_rd_resource *res;

	res = &remote->resource[roce_resource_after(remote, remote->newest)];
	if (unlikely(res->pending))
		roce_resp_read_forget(qp, res);
	remote->newest = roce_resource_after(remote, remote->newest);
	if (!(qp->rx.owes & ROCE_OWES_READ))
		remote->oldest = remote->newest;
	*res = (struct roce_rd_resource){
		.psn = psn,
		.next = psn,
		.end = roce_psn_add(psn, packets),
		.until = roce_psn_add(psn, packets),
		.msn = roce_psn_add(qp->rx.msn, 1),
		.verb = verb,
		.pending = true,
	};
	roce_resp_advance(&qp->rx, packets);
	roce_qp_owe(qp, ROCE_OWES_READ);
	return res;
}

/** The expected READ, of @p memory, is accepted. Locked. */
static inline void
roce_resp_begin_read(struct roce_qp *qp, uint32_t psn, const struct roce_sge *memory)
{
	struct roce_rd_resource *res = roce_resp_new_resource(
			qp, psn, ROCE_VERB_READ, roce_packets(memory->length, qp->rx.mtu));

	res->va = memory->addr;
	res->rkey = memory->lkey;
	res->length = memory->length;
	res->left = memory->length;
	qp->engine->stats.rx_read_requests++;
}

#endif
