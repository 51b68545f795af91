/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers to READs and atomics, and the table that answers their duplicates (IBTA Vol 1, 9.7.5.1.2, 9.4.5).
 *
 * The table is a ring in the order of arrival. A READ is answered from memory each time it is asked for; an atomic is
 * done once and answered from its result. The requester goes back to what it misses and repeats everything from there.
 * So an answer starts anew at the place asked for, and what was to be said after it follows.
 */

#include <string.h>

#include <rte_branch_prediction.h>

#include "queue/frames.h"
#include "queue/mw.h"
#include "queue/piggyback.h"
#include "responder/resp.h"

void
roce_resp_read_init(struct roce_qp *qp, uint8_t allowed)
{
	struct roce_qp_remote *remote = &qp->remote;

	remote->allowed = RTE_MIN(allowed, remote->max);
	remote->newest = 0;
	remote->oldest = 0;
	if (remote->max > 0)
		memset(remote->resource, 0, remote->max * sizeof(remote->resource[0]));
}

/*
 * The resource that the answer of PSN @p psn belongs to; remote.max: none. The newest is looked at first: what was kept
 * since the PSNs last came round has the same ones.
 */
static uint8_t
find_resource(const struct roce_qp *qp, uint32_t psn)
{
	const struct roce_qp_remote *remote = &qp->remote;
	uint8_t at = remote->newest;

	for (uint8_t i = 0; i < remote->allowed; i++) {
		const struct roce_rd_resource *res = &remote->resource[at];

		if (res->verb != ROCE_VERB_NONE && roce_psn_diff(psn, res->psn) >= 0 &&
				roce_psn_diff(psn, res->end) < 0)
			return at;
		at = (uint8_t)((at != 0 ? at : remote->allowed) - 1);
	}
	return remote->max;
}

/* Bytes of a READ before the frame of its answer that has this PSN. */
static uint32_t
offset_of(const struct roce_qp *qp, const struct roce_rd_resource *res, uint32_t psn)
{
	return (uint32_t)roce_psn_diff(psn, res->psn) * qp->rx.mtu;
}

/* The same READ, or a part of it that begins where a frame of its answer does (IBTA Vol 1, 9.7.5.1.2). */
static bool
is_part_of_read(const struct roce_qp *qp, const struct roce_rd_resource *res,
		const struct roce_pkt *pkt)
{
	const struct roce_reth *reth = roce_pkt_reth(pkt);
	uint32_t length = rte_be_to_cpu_32(reth->length);
	uint32_t offset = offset_of(qp, res, pkt->psn);

	return rte_be_to_cpu_32(reth->rkey) == res->rkey &&
			rte_be_to_cpu_64(reth->va) == res->va + offset &&
			length <= res->length - offset && (length > 0 || res->length == 0);
}

static bool
is_same_atomic(const struct roce_rd_resource *res, const struct roce_pkt *pkt)
{
	const struct roce_atomiceth *eth = roce_pkt_atomiceth(pkt);

	return rte_be_to_cpu_32(eth->rkey) == res->rkey && rte_be_to_cpu_64(eth->va) == res->va;
}

/* A peer that could name other memory in a repeat would try key after key: nothing but a new request may do that. */
static bool
asks_for_the_same(const struct roce_qp *qp, const struct roce_rd_resource *res,
		const struct roce_pkt *pkt)
{
	if (res->verb != pkt->op->verb)
		return false;
	return res->verb == ROCE_VERB_READ ? is_part_of_read(qp, res, pkt)
					   : is_same_atomic(res, pkt);
}

static void
rearm_read(struct roce_qp *qp, struct roce_rd_resource *res, const struct roce_pkt *pkt)
{
	res->left = rte_be_to_cpu_32(roce_pkt_reth(pkt)->length);
	res->next = pkt->psn;
	res->until = roce_psn_add(pkt->psn, roce_packets(res->left, qp->rx.mtu));
	res->begun = false;
	res->anew = true;
}

/* Is @p a answered before @p b? Both are on the ring, whose oldest entry is the one behind the newest. */
static bool
comes_before(const struct roce_qp_remote *remote, uint8_t a, uint8_t b)
{
	uint8_t first = roce_resource_after(remote, remote->newest);

	return (a + remote->allowed - first) % remote->allowed <
			(b + remote->allowed - first) % remote->allowed;
}

bool
roce_resp_read_again(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_qp_remote *remote = &qp->remote;
	uint8_t i = find_resource(qp, pkt->psn);
	struct roce_rd_resource *res;

	if (i == remote->max)
		return true;
	res = &remote->resource[i];
	if (!asks_for_the_same(qp, res, pkt))
		return false;
	if (res->verb == ROCE_VERB_READ)
		rearm_read(qp, res, pkt);
	/* A READ that was never answered to the end still is not. */
	res->again = !res->pending || res->again;
	res->pending = true;
	if (!(qp->rx.owes & ROCE_OWES_READ) || comes_before(remote, i, remote->oldest))
		remote->oldest = i;
	roce_qp_owe(qp, ROCE_OWES_READ);
	return true;
}

/* To the next answer that waits. @return false: there is none. */
static bool
next_resource(struct roce_qp_remote *remote)
{
	while (remote->oldest != remote->newest) {
		remote->oldest = roce_resource_after(remote, remote->oldest);
		if (remote->resource[remote->oldest].pending)
			return true;
	}
	return false;
}

void
roce_resp_read_forget(struct roce_qp *qp, struct roce_rd_resource *res)
{
	res->pending = false;
	if (res == &qp->remote.resource[qp->remote.oldest] && !next_resource(&qp->remote))
		qp->rx.owes &= (uint8_t)~ROCE_OWES_READ;
}

/* The last answer acknowledges everything before it; and where it was refused, nothing says that it was given. */
static void
drop_ack(struct roce_qp *qp, const struct roce_rd_resource *res)
{
	if (res->until != qp->rx.epsn)
		return;
	qp->rx.owes &= (uint8_t)~ROCE_OWES_ACK;
	qp->rx.unacked = 0;
}

/* The answer at the front is complete. */
static void
finish_resource(struct roce_qp *qp, struct roce_rd_resource *res)
{
	res->pending = false;
	if (next_resource(&qp->remote))
		return;
	qp->rx.owes &= (uint8_t)~ROCE_OWES_READ;
	drop_ack(qp, res);
}

static uint8_t
read_opcode(bool first, bool last)
{
	if (first)
		return last ? IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY
			    : IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST;
	return last ? IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST
		    : IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE;
}

static struct rte_mbuf *
emit_atomic(struct roce_qp *qp, struct roce_rd_resource *res, struct rte_mbuf *m, uint8_t syndrome)
{
	const struct roce_frame_spec spec = {
		.psn = res->psn,
		.opcode = IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE,
	};
	uint8_t *at = roce_frame_build(m, &qp->cold.template, &spec);
	struct roce_aeth aeth = { roce_aeth_pack(syndrome, res->msn) };
	struct roce_atomicacketh result = { rte_cpu_to_be_64(res->original) };

	memcpy(at, &aeth, sizeof(aeth));
	memcpy(at + sizeof(aeth), &result, sizeof(result));
	roce_icrc_put(m, &qp->cold.template);
	finish_resource(qp, res);
	return m;
}

/*
 * The memory of a READ went away after it was answered, in part at least, and somebody asked again. If that was the
 * requester, it learns why it gets nothing. If it was the network, which kept a copy, the requester has what this is
 * about and drops it; and the connection, which is in order, goes on until the requester asks for what it misses.
 */
static struct rte_mbuf *
refuse_again(struct roce_qp *qp, struct roce_rd_resource *res, struct rte_mbuf *m)
{
	const struct roce_frame_spec spec = {
		.psn = res->next,
		.opcode = IBV_OPCODE_RC_ACKNOWLEDGE,
	};
	struct roce_aeth *aeth = (struct roce_aeth *)roce_frame_build(m, &qp->cold.template, &spec);

	aeth->syndrome_msn = roce_aeth_pack(ROCE_AETH_NAK | ROCE_NAK_REMOTE_ACCESS,
			roce_psn_add(res->msn, ROCE_PSN_MASK));
	roce_icrc_put(m, &qp->cold.template);
	drop_ack(qp, res);
	roce_resp_read_forget(qp, res);
	return m;
}

/* The memory of a READ went away while it was being answered. */
static __rte_noinline struct rte_mbuf *
read_failed(struct roce_qp *qp, struct roce_rd_resource *res, struct rte_mbuf *m)
{
	if (res->anew)
		return refuse_again(qp, res, m);
	rte_pktmbuf_free(m);
	res->pending = false;
	qp->engine->stats.resp_remote_access_errors++;
	/* The NAK stands where the next frame of the answer would. */
	qp->rx.epsn = res->next;
	qp->rx.owes = 0;
	roce_resp_refuse(qp, ROCE_NAK_REMOTE_ACCESS, IBV_WC_SUCCESS);
	return NULL;
}

/* The payload, which is not empty, and the ICRC; both in one pass where that pays. @return false: the memory is gone. */
static __rte_always_inline bool
put_memory(struct roce_qp *qp, struct roce_sge from, struct rte_mbuf *m, uint8_t *to)
{
	struct roce_mr *entered;

	if (unlikely(roce_keys_enter(qp->engine->domain, qp->pd, qp, &from, IBV_ACCESS_REMOTE_READ,
				     &entered) != 0))
		return false;
	if (from.length >= ROCE_ONE_PASS)
		roce_icrc_put_copy(m, &qp->cold.template, to, (const uint8_t *)(uintptr_t)from.addr,
				from.length);
	else
		memcpy(to, (const uint8_t *)(uintptr_t)from.addr, from.length);
	roce_keys_leave(entered);
	if (from.length < ROCE_ONE_PASS)
		roce_engine_icrc_later(qp->engine, m, &qp->cold.template);
	return true;
}

/* The next frame of the answer to a READ. @p first, last: is it that? Constants where most READs are one frame. */
static __rte_always_inline struct rte_mbuf *
emit_part(struct roce_qp *qp, struct roce_rd_resource *res, struct rte_mbuf *m, uint8_t syndrome,
		bool first, bool last)
{
	const struct roce_frame_spec spec = {
		.psn = res->next,
		.opcode = read_opcode(first, last),
		.payload_len = last ? res->left : qp->rx.mtu,
	};
	struct roce_sge from = { res->va + offset_of(qp, res, res->next), spec.payload_len,
		res->rkey };
	uint8_t *at = roce_frame_build(m, &qp->cold.template, &spec);

	if (first || last) {
		const struct roce_aeth aeth = { roce_aeth_pack(syndrome, res->msn) };

		memcpy(at, &aeth, sizeof(aeth));
		at += sizeof(aeth);
	}
	if (unlikely(spec.payload_len == 0))
		roce_engine_icrc_later(qp->engine, m, &qp->cold.template);
	else if (unlikely(!put_memory(qp, from, m, at)))
		return read_failed(qp, res, m);
	qp->engine->stats.tx_bytes += spec.payload_len;
	if (last) {
		finish_resource(qp, res);
		return m;
	}
	res->begun = true;
	res->next = roce_psn_add(res->next, 1);
	res->left -= spec.payload_len;
	return m;
}

static struct rte_mbuf *
emit_read(struct roce_qp *qp, struct roce_rd_resource *res, struct rte_mbuf *m, uint8_t syndrome)
{
	const bool last = res->left <= qp->rx.mtu;

	if (likely(!res->begun && last))
		return emit_part(qp, res, m, syndrome, true, true);
	return emit_part(qp, res, m, syndrome, !res->begun, last);
}

uint16_t
roce_resp_emit_reads(struct roce_qp *qp, struct rte_mbuf **pkts, uint16_t room)
{
	const uint8_t syndrome = roce_ack_syndrome(qp);
	uint16_t n = 0;

	while (n < room && (qp->rx.owes & ROCE_OWES_READ)) {
		struct roce_rd_resource *res = &qp->remote.resource[qp->remote.oldest];
		struct rte_mbuf *m = roce_engine_frame(qp->engine);

		if (unlikely(m == NULL))
			break;
		pkts[n] = likely(res->verb == ROCE_VERB_READ) ? emit_read(qp, res, m, syndrome)
							      : emit_atomic(qp, res, m, syndrome);
		if (unlikely(pkts[n] == NULL))
			break;
		n++;
	}
	return n;
}
