/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers to READs and atomics, and the table that answers their duplicates (IBTA Vol 1, 9.7.5.1.2, 9.4.5).
 *
 * The table is a ring in the order of arrival. A READ is answered from memory each time it is asked for; an atomic is
 * done once and answered from its result. A standard requester goes back to what it misses and repeats everything from
 * there. So an answer starts anew at the place asked for, and what was to be said after it follows. A requester that has
 * agreed to selective repeat asks for the missing packets alone.
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
	remote->repeat = 0;
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

/* Is the answer to a READ, but for gaps, not given to its end? */
static bool
is_unfinished(const struct roce_rd_resource *res)
{
	return res->pending && res->next != res->until;
}

/* Add the frames from @p from to @p until to those that go first. @return false: they are too far apart. */
static bool
add_gap(struct roce_rd_resource *res, uint32_t from, uint32_t until)
{
	const uint32_t sent = res->gap.map != 0 ? (uint32_t)rte_bsf64(res->gap.map) : 0;
	const uint64_t map = (uint64_t)res->gap.map >> sent;
	const uint32_t first = map != 0 ? roce_psn_add(res->gap.psn, sent) : from;
	const uint32_t begin = roce_psn_diff(from, first) < 0 ? from : first;
	const uint32_t by = (uint32_t)roce_psn_diff(first, begin);
	const uint32_t at = (uint32_t)roce_psn_diff(from, begin);
	const uint32_t end = (uint32_t)roce_psn_diff(until, begin);

	if (end > ROCE_GAP_BITS || by >= ROCE_GAP_BITS || map >> (ROCE_GAP_BITS - by) != 0)
		return false;
	res->gap.map = map << by | ((UINT64_C(1) << end) - (UINT64_C(1) << at));
	res->gap.psn = begin;
	return true;
}

/* Gaps behind it are filled by what is sent again from there on. */
static void
keep_gaps_before(struct roce_rd_resource *res, uint32_t psn)
{
	const int32_t kept = roce_psn_diff(psn, res->gap.psn);

	if (kept <= 0)
		res->gap.map = 0;
	else if (kept < ROCE_GAP_BITS)
		res->gap.map &= (UINT64_C(1) << kept) - 1;
}

/*
 * A requester that has agreed to selective repeat keeps what came early, and asks for each gap alone. That goes first, and what was
 * not sent yet of the first answer comes anyway. Gaps that are far apart have all sent again from the request on.
 */
static void
fill_gap(struct roce_qp *qp, struct roce_rd_resource *res, const struct roce_pkt *pkt)
{
	const uint32_t length = rte_be_to_cpu_32(roce_pkt_reth(pkt)->length);
	uint32_t until = roce_psn_add(pkt->psn, roce_packets(length, qp->rx.mtu));

	res->anew = true;
	if (is_unfinished(res) && roce_psn_diff(until, res->next) > 0)
		until = res->next;
	if (roce_psn_diff(until, pkt->psn) <= 0 || add_gap(res, pkt->psn, until))
		return;
	keep_gaps_before(res, pkt->psn);
	res->next = pkt->psn;
	res->until = res->end;
	res->left = res->length - offset_of(qp, res, pkt->psn);
	res->begun = false;
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
	roce_resp_note_repeat(qp, pkt->repeat);
	if (res->verb == ROCE_VERB_READ && qp->cold.connect.extensions)
		fill_gap(qp, res, pkt);
	else if (res->verb == ROCE_VERB_READ)
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

/* No answer waits any more. The peer was not told of all frames that are held while some did (resp_held.c). */
static void
answers_end(struct roce_qp *qp)
{
	qp->rx.owes &= (uint8_t)~ROCE_OWES_READ;
	if (unlikely(qp->rx.checks & ROCE_CHECK_HELD) && qp->cold.connect.extensions)
		roce_qp_owe(qp, ROCE_OWES_SACK);
}

void
roce_resp_read_forget(struct roce_qp *qp, struct roce_rd_resource *res)
{
	res->pending = false;
	if (res->verb == ROCE_VERB_READ)
		res->gap.map = 0;
	if (res == &qp->remote.resource[qp->remote.oldest] && !next_resource(&qp->remote))
		answers_end(qp);
}

/* An answer up to @p until acknowledges everything before it; and where it was refused, nothing says that it was given. */
static void
drop_ack(struct roce_qp *qp, uint32_t until)
{
	if (until != qp->rx.epsn)
		return;
	qp->rx.owes &= (uint8_t)~ROCE_OWES_ACK;
	qp->rx.unacked = 0;
}

/* The answer at the front is complete, up to @p until. */
static void
finish_resource(struct roce_qp *qp, struct roce_rd_resource *res, uint32_t until)
{
	res->pending = false;
	if (next_resource(&qp->remote))
		return;
	answers_end(qp);
	drop_ack(qp, until);
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
	finish_resource(qp, res, res->until);
	return m;
}

/*
 * The memory of a READ went away after it was answered, in part at least, and somebody asked again. If that was the
 * requester, it learns why it gets nothing. If it was the network, which kept a copy, the requester has what this is
 * about and drops it; and the connection, which is in order, goes on until the requester asks for what it misses.
 */
static struct rte_mbuf *
refuse_again(struct roce_qp *qp, struct roce_rd_resource *res, struct rte_mbuf *m, uint32_t psn)
{
	const struct roce_frame_spec spec = {
		.psn = psn,
		.opcode = IBV_OPCODE_RC_ACKNOWLEDGE,
	};
	struct roce_aeth *aeth = (struct roce_aeth *)roce_frame_build(m, &qp->cold.template, &spec);

	aeth->syndrome_msn = roce_aeth_pack(ROCE_AETH_NAK | ROCE_NAK_REMOTE_ACCESS,
			roce_psn_add(res->msn, ROCE_PSN_MASK));
	roce_icrc_put(m, &qp->cold.template);
	drop_ack(qp, res->until);
	roce_resp_read_forget(qp, res);
	return m;
}

/* The memory of a READ went away while it was being answered, at @p psn. */
static __rte_noinline struct rte_mbuf *
read_failed(struct roce_qp *qp, struct roce_rd_resource *res, struct rte_mbuf *m, uint32_t psn)
{
	if (res->anew)
		return refuse_again(qp, res, m, psn);
	rte_pktmbuf_free(m);
	res->pending = false;
	qp->engine->stats.resp_remote_access_errors++;
	/* The NAK stands where the next frame of the answer would. */
	qp->rx.epsn = psn;
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

/** A frame of the answer to a READ. */
struct part {
	uint32_t psn;
	uint32_t len; /**< bytes of payload */
	bool first;   /**< of the answer; also as its opcode says */
	bool last;
};

/* Build it. @p part: constants but for the PSN where most READs are one frame. */
static __rte_always_inline struct rte_mbuf *
emit_part(struct roce_qp *qp, struct roce_rd_resource *res, struct rte_mbuf *m, struct part part,
		uint8_t syndrome)
{
	const struct roce_frame_spec spec = {
		.psn = part.psn,
		.opcode = read_opcode(part.first, part.last),
		.repeat = qp->remote.repeat,
		.payload_len = part.len,
	};
	struct roce_sge from = { res->va + offset_of(qp, res, part.psn), part.len, res->rkey };
	uint8_t *at = roce_frame_build(m, &qp->cold.template, &spec);

	if (part.first || part.last) {
		const struct roce_aeth aeth = { roce_aeth_pack(syndrome, res->msn) };

		memcpy(at, &aeth, sizeof(aeth));
		at += sizeof(aeth);
	}
	if (unlikely(part.len == 0))
		roce_engine_icrc_later(qp->engine, m, &qp->cold.template);
	else if (unlikely(!put_memory(qp, from, m, at)))
		return read_failed(qp, res, m, part.psn);
	qp->engine->stats.tx_bytes += part.len;
	return m;
}

/* The next frame of a gap. Its opcode is that of its place in the whole answer: the requester knows no other end. */
static __rte_noinline struct rte_mbuf *
emit_gap(struct roce_qp *qp, struct roce_rd_resource *res, struct rte_mbuf *m, uint8_t syndrome)
{
	const uint64_t map = res->gap.map;
	const uint32_t psn = roce_psn_add(res->gap.psn, (uint32_t)rte_bsf64(map));
	const uint32_t next = roce_psn_add(psn, 1);
	const bool last = next == res->end;
	const uint32_t len = last ? res->length - offset_of(qp, res, psn) : qp->rx.mtu;

	m = emit_part(qp, res, m, (struct part){ psn, len, psn == res->psn, last }, syndrome);
	/* Refused: nothing of it goes any more. */
	if (unlikely(res->gap.map == 0))
		return m;
	res->gap.map = map & (map - 1);
	if (res->gap.map == 0 && !is_unfinished(res))
		finish_resource(qp, res, next);
	return m;
}

static struct rte_mbuf *
emit_read(struct roce_qp *qp, struct roce_rd_resource *res, struct rte_mbuf *m, uint8_t syndrome)
{
	const bool last = res->left <= qp->rx.mtu;
	const uint32_t psn = res->next, len = last ? res->left : qp->rx.mtu;

	if (unlikely(res->gap.map != 0))
		return emit_gap(qp, res, m, syndrome);
	if (likely(!res->begun && last))
		m = emit_part(qp, res, m, (struct part){ psn, len, true, true }, syndrome);
	else
		m = emit_part(qp, res, m, (struct part){ psn, len, !res->begun, last }, syndrome);
	if (unlikely(m == NULL || !res->pending))
		return m;
	res->next = roce_psn_add(psn, 1);
	if (last) {
		finish_resource(qp, res, res->until);
		return m;
	}
	res->begun = true;
	res->left -= qp->rx.mtu;
	return m;
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
