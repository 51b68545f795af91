/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of a stage: built as the rule tells them, and compared with what it tells. */

#include <stdio.h>
#include <string.h>

#include <rte_ip.h>

#include "stage.h"
#include "wire/icrc.h"

static const struct {
	const char *name;
	uint8_t opcode;
} opcodes[] = {
	{ "SEND_FIRST", IBV_OPCODE_RC_SEND_FIRST },
	{ "SEND_MIDDLE", IBV_OPCODE_RC_SEND_MIDDLE },
	{ "SEND_LAST", IBV_OPCODE_RC_SEND_LAST },
	{ "SEND_LAST_IMM", IBV_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE },
	{ "SEND_LAST_INV", ROCE_OPCODE_RC_SEND_LAST_WITH_INVALIDATE },
	{ "SEND_ONLY", IBV_OPCODE_RC_SEND_ONLY },
	{ "SEND_ONLY_IMM", IBV_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE },
	{ "SEND_ONLY_INV", ROCE_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE },
	{ "WRITE_FIRST", IBV_OPCODE_RC_RDMA_WRITE_FIRST },
	{ "WRITE_MIDDLE", IBV_OPCODE_RC_RDMA_WRITE_MIDDLE },
	{ "WRITE_LAST", IBV_OPCODE_RC_RDMA_WRITE_LAST },
	{ "WRITE_LAST_IMM", IBV_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE },
	{ "WRITE_ONLY", IBV_OPCODE_RC_RDMA_WRITE_ONLY },
	{ "WRITE_ONLY_IMM", IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE },
	{ "READ", IBV_OPCODE_RC_RDMA_READ_REQUEST },
	{ "RSP_FIRST", IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST },
	{ "RSP_MIDDLE", IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE },
	{ "RSP_LAST", IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST },
	{ "RSP_ONLY", IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY },
	{ "CAS", IBV_OPCODE_RC_COMPARE_SWAP },
	{ "FADD", IBV_OPCODE_RC_FETCH_ADD },
	{ "ATOMIC_ACK", IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE },
	{ "ANSWER", IBV_OPCODE_RC_ACKNOWLEDGE },
	{ "CNP", ROCE_OPCODE_CNP },
	{ "SACK", ROCE_OPCODE_SACK },
	{ "SEND_ONLY_ACK", ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_SEND_ONLY },
	{ "SEND_ONLY_IMM_ACK", ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE },
	{ "SEND_ONLY_INV_ACK", ROCE_OPCODE_PIGGYBACK | ROCE_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE },
	{ "WRITE_ONLY_ACK", ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_RDMA_WRITE_ONLY },
	{ "WRITE_ONLY_IMM_ACK",
			ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE },
};

bool
stage_opcode_of(const char *name, uint8_t *opcode)
{
	for (size_t i = 0; i < RTE_DIM(opcodes); i++) {
		if (strcmp(opcodes[i].name, name) == 0) {
			*opcode = opcodes[i].opcode;
			return true;
		}
	}
	return false;
}

const char *
stage_opcode_name(uint8_t opcode)
{
	for (size_t i = 0; i < RTE_DIM(opcodes); i++) {
		if (opcodes[i].opcode == opcode)
			return opcodes[i].name;
	}
	return "?";
}

/* A notification is of no connection's sequence. */
static uint32_t
wire_psn(const struct stage *s, const struct stage_frame *f, int32_t psn)
{
	if (f->opcode == ROCE_OPCODE_CNP)
		return (uint32_t)psn;
	return roce_psn_add((uint32_t)s->options.psn, (uint32_t)psn);
}

/* The extension headers, wherever the opcode has them. */
static void
put_headers(struct stage *s, const struct roce_pkt *pkt, const struct stage_frame *f)
{
	uint8_t *bth = (uint8_t *)(uintptr_t)pkt->bth;
	const uint64_t va = (uintptr_t)s->end.memory + f->va;

	if (pkt->op->flags & ROCE_OP_PIGGYBACK) {
		const struct roce_piggyback ack = { { roce_aeth_pack(f->syndrome, f->msn) },
			rte_cpu_to_be_32(wire_psn(s, f, f->acked)) };

		memcpy(bth + pkt->op->aeth_off, &ack, sizeof(ack));
	}
	if (pkt->op->flags & ROCE_OP_RETH) {
		const struct roce_reth reth = { rte_cpu_to_be_64(va), rte_cpu_to_be_32(f->key),
			rte_cpu_to_be_32(f->dma) };

		memcpy(bth + pkt->op->ext_off, &reth, sizeof(reth));
	}
	if (pkt->op->flags & ROCE_OP_ATOMIC) {
		const struct roce_atomiceth eth = { rte_cpu_to_be_64(va), rte_cpu_to_be_32(f->key),
			rte_cpu_to_be_64(f->add), rte_cpu_to_be_64(f->compare) };

		memcpy(bth + pkt->op->ext_off, &eth, sizeof(eth));
	}
	if (pkt->op->flags & ROCE_OP_SACK) {
		const struct roce_sack sack = { { rte_cpu_to_be_64(f->add) } };

		memcpy(bth + pkt->op->ext_off, &sack, sizeof(sack));
	}
	if (pkt->op->flags & ROCE_OP_ATOMICACK) {
		const rte_be64_t original = rte_cpu_to_be_64(f->original);

		memcpy(bth + pkt->op->ext_off, &original, sizeof(original));
	}
	if (pkt->op->flags & ROCE_OP_AETH) {
		const rte_be32_t word = roce_aeth_pack(f->syndrome, f->msn);

		memcpy(bth + pkt->op->aeth_off, &word, sizeof(word));
	}
	if (pkt->op->flags & ROCE_OP_IETH) {
		const rte_be32_t key = rte_cpu_to_be_32(f->key);

		memcpy(bth + pkt->op->imm_off, &key, sizeof(key));
	}
}

static void
hear_one(struct stage *s, const struct stage_frame *f, int32_t psn)
{
	struct rte_mbuf *m = fx_request(&s->peer, f->opcode, wire_psn(s, f, psn), f->len,
			(f->ack ? FX_ACKREQ : 0) | (f->solicited ? FX_SOLICITED : 0));
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	put_headers(s, &pkt, f);
	if (f->marked)
		((struct rte_ipv4_hdr *)(uintptr_t)pkt.l3)->type_of_service |= 3;
	roce_icrc_put(m, &s->peer.template);
	fx_rx(&s->end, m);
}

void
stage_hear(struct stage *s, const struct stage_frame *f)
{
	for (int32_t psn = f->psn; psn <= f->last; psn++)
		hear_one(s, f, psn);
}

const char *
stage_tell(struct stage *s, struct rte_mbuf *m)
{
	static char text[200];
	struct roce_pkt pkt;
	int n;

	if (roce_frame_parse(m, &pkt) != ROCE_FRAME_OK)
		return "what is no frame";
	n = snprintf(text, sizeof(text), "%s %d len %u%s%s", stage_opcode_name(pkt.opcode),
			roce_psn_diff(pkt.psn, (uint32_t)s->options.psn), pkt.payload_len,
			pkt.ack_req ? " ack" : "", pkt.solicited ? " se" : "");
	if (pkt.op->flags & ROCE_OP_AETH)
		(void)snprintf(text + n, sizeof(text) - (size_t)n, " syndrome 0x%02x msn %u",
				roce_aeth_syndrome(roce_pkt_aeth(&pkt)),
				roce_aeth_msn(roce_pkt_aeth(&pkt)));
	else if (pkt.op->flags & ROCE_OP_PIGGYBACK)
		(void)snprintf(text + n, sizeof(text) - (size_t)n,
				" acked %d syndrome 0x%02x msn %u",
				roce_psn_diff(rte_be_to_cpu_32(roce_pkt_piggyback(&pkt)->psn),
						(uint32_t)s->options.psn),
				roce_aeth_syndrome(roce_pkt_aeth(&pkt)),
				roce_aeth_msn(roce_pkt_aeth(&pkt)));
	else if (pkt.op->flags & ROCE_OP_RETH)
		(void)snprintf(text + n, sizeof(text) - (size_t)n, " va %lld dma %u",
				(long long)(rte_be_to_cpu_64(roce_pkt_reth(&pkt)->va) -
						STAGE_REMOTE),
				rte_be_to_cpu_32(roce_pkt_reth(&pkt)->length));
	return text;
}

static const char *
answer_differs(const struct roce_pkt *pkt, const struct stage_frame *f)
{
	rte_be64_t original;

	if (roce_aeth_syndrome(roce_pkt_aeth(pkt)) != f->syndrome)
		return "another syndrome";
	if (f->msn_told && roce_aeth_msn(roce_pkt_aeth(pkt)) != f->msn)
		return "another MSN";
	if (!(pkt->op->flags & ROCE_OP_ATOMICACK))
		return NULL;
	memcpy(&original, pkt->bth + pkt->op->ext_off, sizeof(original));
	return rte_be_to_cpu_64(original) != f->original ? "another result of the atomic" : NULL;
}

static const char *
piggyback_differs(const struct stage *s, const struct roce_pkt *pkt, const struct stage_frame *f)
{
	if (rte_be_to_cpu_32(roce_pkt_piggyback(pkt)->psn) != wire_psn(s, f, f->acked))
		return "it acknowledges another PSN";
	return answer_differs(pkt, f);
}

static const char *
atomic_differs(const struct roce_pkt *pkt, const struct stage_frame *f)
{
	const struct roce_atomiceth *eth = roce_pkt_atomiceth(pkt);

	if (rte_be_to_cpu_64(eth->va) != STAGE_REMOTE + f->va ||
			rte_be_to_cpu_32(eth->rkey) != STAGE_RKEY)
		return "another address or key";
	if (rte_be_to_cpu_64(eth->swap_or_add) != f->add ||
			rte_be_to_cpu_64(eth->compare) != f->compare)
		return "other operands";
	return NULL;
}

static const char *
request_differs(const struct stage *s, const struct roce_pkt *pkt, const struct stage_frame *f)
{
	const char *differs = NULL;

	if (pkt->op->flags & ROCE_OP_PIGGYBACK)
		differs = piggyback_differs(s, pkt, f);
	else if (pkt->op->flags & ROCE_OP_ATOMIC)
		differs = atomic_differs(pkt, f);
	if (differs != NULL)
		return differs;
	if (pkt->op->flags & ROCE_OP_RETH) {
		if (rte_be_to_cpu_64(roce_pkt_reth(pkt)->va) != STAGE_REMOTE + f->va)
			return "another address";
		if (rte_be_to_cpu_32(roce_pkt_reth(pkt)->length) != f->dma)
			return "another length in the RETH";
		if (rte_be_to_cpu_32(roce_pkt_reth(pkt)->rkey) != STAGE_RKEY)
			return "another key";
	}
	if ((pkt->op->flags & ROCE_OP_SACK) &&
			rte_be_to_cpu_64(roce_pkt_sack(pkt)->held[0]) != f->add)
		return "other frames are held";
	if ((pkt->op->flags & ROCE_OP_IETH) && rte_be_to_cpu_32(roce_pkt_imm(pkt)) != f->key)
		return "another key to invalidate";
	if ((pkt->op->flags & ROCE_OP_IMM) && roce_pkt_imm(pkt) != FX_IMM)
		return "other immediate data";
	return NULL;
}

static const char *
payload_differs(struct stage *s, const struct roce_pkt *pkt, const struct stage_frame *f)
{
	const uint8_t *payload = rte_pktmbuf_mtod_offset(pkt->m, const uint8_t *, pkt->payload_off);

	if (pkt->payload_len != f->len)
		return "another length";
	if (f->from >= 0 && memcmp(payload, s->end.memory + f->from, f->len) != 0)
		return "another payload";
	return NULL;
}

static const char *
frame_differs(struct stage *s, const struct roce_pkt *pkt, const struct stage_frame *f, int32_t psn)
{
	const char *differs;

	if (pkt->opcode != f->opcode)
		return "another opcode";
	if (pkt->psn != wire_psn(s, f, psn))
		return "another PSN";
	if (pkt->dest_qp != 0x777)
		return "another queue pair";
	/* Of several alike only some ask for an acknowledgement. */
	if (f->psn == f->last && pkt->ack_req != f->ack)
		return "another AckReq";
	if (pkt->solicited != f->solicited)
		return "another solicited event";
	differs = payload_differs(s, pkt, f);
	if (differs != NULL)
		return differs;
	return pkt->op->flags & ROCE_OP_AETH ? answer_differs(pkt, f) : request_differs(s, pkt, f);
}

const char *
stage_differs(struct stage *s, const struct stage_frame *f, int32_t psn)
{
	const char *differs;
	struct roce_pkt pkt;

	if (s->looked == s->frames)
		return "silence";
	if (roce_frame_parse(s->frame[s->looked], &pkt) != ROCE_FRAME_OK || !roce_icrc_ok(&pkt))
		return "a malformed frame";
	differs = frame_differs(s, &pkt, f, psn);
	if (differs == NULL)
		rte_pktmbuf_free(s->frame[s->looked++]);
	return differs;
}
