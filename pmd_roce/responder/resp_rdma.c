/* SPDX-License-Identifier: BSD-3-Clause */
/* The responder for RDMA WRITE, READ and atomics: validation and actions. Answers to READs are in resp_read.c. */

#include <errno.h>

#include <rte_branch_prediction.h>

#include "queue/mw.h"
#include "queue/sge.h"
#include "responder/resp.h"
#include "responder/resp_rdma.h"

/* The lengths of the packets must add up to what the first one announced. */
static bool
write_fits(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint32_t left = qp->remote.left;

	return pkt->op->flags & ROCE_OP_END ? pkt->payload_len == left : pkt->payload_len < left;
}

static enum roce_verdict
begin_write(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_sge memory = roce_reth_memory(roce_pkt_reth(pkt));

	if (memory.length > ROCE_MSG_MAX)
		return ROCE_INVALID;
	if (!roce_resp_key_ok(qp, &memory, IBV_ACCESS_REMOTE_WRITE))
		return ROCE_BAD_KEY;
	qp->remote.va = memory.addr;
	qp->remote.rkey = memory.lkey;
	qp->remote.left = memory.length;
	qp->remote.length = memory.length;
	return ROCE_ACCEPT;
}

static enum roce_verdict
check_write(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum roce_verdict verdict;

	if (!roce_resp_length_ok(&qp->rx, pkt->op, pkt->payload_len))
		return ROCE_INVALID;
	if (pkt->op->flags & ROCE_OP_START) {
		verdict = begin_write(qp, pkt);
		if (verdict != ROCE_ACCEPT)
			return verdict;
	}
	if (!write_fits(qp, pkt))
		return ROCE_INVALID;
	return pkt->op->flags & ROCE_OP_IMM ? roce_resp_take(qp, pkt) : ROCE_ACCEPT;
}

static enum roce_verdict
check_read(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_sge memory = roce_reth_memory(roce_pkt_reth(pkt));

	if (!roce_resp_read_ok(qp, &memory))
		return ROCE_INVALID;
	return roce_resp_key_ok(qp, &memory, IBV_ACCESS_REMOTE_READ) ? ROCE_ACCEPT : ROCE_BAD_KEY;
}

static struct roce_sge
atomic_memory(const struct roce_atomiceth *eth)
{
	return (struct roce_sge){
		.addr = rte_be_to_cpu_64(eth->va),
		.length = sizeof(uint64_t),
		.lkey = rte_be_to_cpu_32(eth->rkey),
	};
}

static enum roce_verdict
check_atomic(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_sge memory = atomic_memory(roce_pkt_atomiceth(pkt));

	if (memory.addr % sizeof(uint64_t) != 0 || !roce_resp_has_resource(qp))
		return ROCE_INVALID;
	return roce_resp_key_ok(qp, &memory, IBV_ACCESS_REMOTE_ATOMIC) ? ROCE_ACCEPT : ROCE_BAD_KEY;
}

__rte_noinline enum roce_verdict
roce_resp_check_rdma(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (!roce_resp_order_ok(&qp->rx, pkt->op))
		return ROCE_INVALID;
	switch (pkt->op->verb) {
	case ROCE_VERB_WRITE:
		return check_write(qp, pkt);
	case ROCE_VERB_READ:
		return check_read(qp, pkt);
	case ROCE_VERB_ATOMIC_CAS:
	case ROCE_VERB_ATOMIC_FADD:
		return check_atomic(qp, pkt);
	default:
		return ROCE_UNSUPPORTED;
	}
}

static int
do_write(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_qp_remote *remote = &qp->remote;
	struct roce_sge to = { remote->va, pkt->payload_len, remote->rkey };
	struct roce_mr *entered;

	/* Bytes that are placed already were validated then. */
	if (likely(to.length > 0 && !roce_pkt_is_placed(pkt))) {
		if (unlikely(roce_keys_enter(qp->engine->domain, qp->pd, qp, &to,
					     IBV_ACCESS_REMOTE_WRITE, &entered) != 0))
			return -EACCES;
		roce_payload_place(pkt, (uint8_t *)(uintptr_t)to.addr);
		roce_keys_leave(entered);
	}
	remote->va += pkt->payload_len;
	remote->left -= pkt->payload_len;
	roce_resp_advance(&qp->rx, 1);
	return 0;
}

/* Atomic towards everything that touches the word with atomic instructions: other engines, the consumer. */
static int
do_atomic(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const struct roce_atomiceth *eth = roce_pkt_atomiceth(pkt);
	struct roce_sge memory = atomic_memory(eth);
	uint64_t va = memory.addr;
	uint64_t value = rte_be_to_cpu_64(eth->swap_or_add);
	uint64_t original = rte_be_to_cpu_64(eth->compare);
	struct roce_rd_resource *res;
	struct roce_mr *entered;
	uint64_t *word;

	if (roce_keys_enter(qp->engine->domain, qp->pd, qp, &memory, IBV_ACCESS_REMOTE_ATOMIC,
			    &entered) != 0)
		return -EACCES;
	word = (uint64_t *)(uintptr_t)memory.addr;
	if (pkt->op->verb == ROCE_VERB_ATOMIC_FADD)
		original = __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
	else
		(void)__atomic_compare_exchange_n(
				word, &original, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	roce_keys_leave(entered);
	res = roce_resp_new_resource(qp, pkt->psn, pkt->op->verb, 1);
	res->va = va;
	res->rkey = memory.lkey;
	res->original = original;
	qp->engine->stats.rx_atomic_requests++;
	return 0;
}

__rte_noinline int
roce_resp_do_rdma(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_sge memory;

	switch (pkt->op->verb) {
	case ROCE_VERB_WRITE:
		return do_write(qp, pkt);
	case ROCE_VERB_READ:
		memory = roce_reth_memory(roce_pkt_reth(pkt));
		roce_resp_note_repeat(qp, pkt->repeat);
		roce_resp_begin_read(qp, pkt->psn, &memory);
		return 0;
	default:
		return do_atomic(qp, pkt);
	}
}
