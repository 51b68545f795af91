/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "fixture_frames.h"
#include "wire/icrc.h"

struct rte_mbuf *
fx_request(struct fx_peer *peer, uint8_t opcode, uint32_t psn, uint32_t len, unsigned flags)
{
	const struct roce_frame_spec spec = {
		.psn = psn,
		.opcode = opcode,
		.ack_req = flags & FX_ACKREQ,
		.solicited = flags & FX_SOLICITED,
		.repeat = peer->repeat,
		.payload_len = len,
	};
	const struct roce_opcode_info *op = &roce_opcode[opcode];
	struct rte_mbuf *m = unit_mbuf(NULL, 0);
	const uint32_t imm = FX_IMM;
	uint8_t *ext = roce_frame_build(m, &peer->template, &spec);
	uint8_t *payload = ext + op->header_len - sizeof(struct roce_bth);

	memset(ext, 0, op->header_len - sizeof(struct roce_bth));
	if (op->flags & ROCE_OP_IMM)
		memcpy(ext - sizeof(struct roce_bth) + op->imm_off, &imm, sizeof(imm));
	for (uint32_t i = 0; i < len; i++)
		payload[i] = (uint8_t)(psn + i);
	roce_icrc_put(m, &peer->template);
	return m;
}

struct rte_mbuf *
fx_piggyback(struct fx_peer *peer, uint8_t opcode, uint32_t psn, uint32_t len, unsigned flags,
		uint8_t syndrome, uint32_t acked)
{
	struct rte_mbuf *m = fx_request(peer, opcode | ROCE_OPCODE_PIGGYBACK, psn, len, flags);
	const struct roce_piggyback ack = { { roce_aeth_pack(syndrome, 0) },
		rte_cpu_to_be_32(acked & ROCE_PSN_MASK) };

	memcpy(rte_pktmbuf_mtod_offset(
			       m, uint8_t *, peer->template.bth_off + sizeof(struct roce_bth)),
			&ack, sizeof(ack));
	roce_icrc_put(m, &peer->template);
	return m;
}

struct rte_mbuf *
fx_answer(struct fx_peer *peer, uint8_t syndrome, uint32_t psn, uint32_t msn)
{
	const struct roce_frame_spec spec = { .psn = psn, .opcode = IBV_OPCODE_RC_ACKNOWLEDGE };
	struct rte_mbuf *m = unit_mbuf(NULL, 0);
	const rte_be32_t word = roce_aeth_pack(syndrome, msn);

	memcpy(roce_frame_build(m, &peer->template, &spec), &word, sizeof(word));
	roce_icrc_put(m, &peer->template);
	return m;
}

static void
give(struct fx_end *end, struct rte_mbuf **pkts, uint16_t n)
{
	roce_engine_lock(end->engine);
	assert_int_equal(roce_engine_rx(end->engine, pkts, n, end->now), 0);
	roce_engine_unlock(end->engine);
}

void
fx_rx(struct fx_end *end, struct rte_mbuf *m)
{
	give(end, &m, 1);
}

void
fx_rx_request(struct fx_end *end, struct fx_peer *peer, uint8_t opcode, uint32_t psn, uint32_t len,
		unsigned flags)
{
	fx_rx(end, fx_request(peer, opcode, psn, len, flags));
}

void
fx_rx_answer(struct fx_end *end, struct fx_peer *peer, uint8_t syndrome, uint32_t psn)
{
	fx_rx(end, fx_answer(peer, syndrome, psn, 0));
}

uint16_t
fx_take(struct fx_end *end, struct rte_mbuf **pkts, uint16_t max)
{
	uint16_t n;

	roce_engine_lock(end->engine);
	n = roce_engine_tx(end->engine, pkts, max, end->now);
	roce_engine_unlock(end->engine);
	return n;
}

/* Every frame that leaves is well formed and has a good ICRC, whatever the test is about. */
static struct fx_sent
dissect(const struct fx_end *end, struct rte_mbuf *m)
{
	struct roce_pkt pkt;
	struct fx_sent sent;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	assert_true(roce_icrc_ok(&pkt));
	sent = (struct fx_sent){
		.at = end->now,
		.dest_qp = pkt.dest_qp,
		.psn = pkt.psn,
		.payload_len = pkt.payload_len,
		.opcode = pkt.opcode,
		.ack_req = pkt.ack_req,
		.solicited = pkt.solicited,
		.repeat = pkt.repeat,
	};
	if (pkt.op->flags & ROCE_OP_IMM)
		sent.imm = roce_pkt_imm(&pkt);
	if (pkt.op->flags & ROCE_OP_PIGGYBACK)
		sent.acked = rte_be_to_cpu_32(roce_pkt_piggyback(&pkt)->psn);
	if (pkt.op->flags & (ROCE_OP_AETH | ROCE_OP_PIGGYBACK)) {
		sent.syndrome = roce_aeth_syndrome(roce_pkt_aeth(&pkt));
		sent.msn = roce_aeth_msn(roce_pkt_aeth(&pkt));
	}
	if (pkt.op->flags & ROCE_OP_RETH) {
		sent.va = rte_be_to_cpu_64(roce_pkt_reth(&pkt)->va);
		sent.length = rte_be_to_cpu_32(roce_pkt_reth(&pkt)->length);
	}
	if (pkt.payload_len > 0)
		sent.first = *rte_pktmbuf_mtod_offset(m, uint8_t *, pkt.payload_off);
	rte_pktmbuf_free(m);
	return sent;
}

unsigned int
fx_tx(struct fx_end *end, struct fx_sent *sent, unsigned int max)
{
	struct rte_mbuf *pkts[32];
	unsigned int total = 0;
	uint16_t n;

	while (total < max && (n = fx_take(end, pkts, (uint16_t)RTE_MIN(32u, max - total))) > 0) {
		for (uint16_t i = 0; i < n; i++)
			sent[total++] = dissect(end, pkts[i]);
	}
	return total;
}

static struct fx_sent log_of_sent[FX_SENT];

const struct fx_sent *
fx_tx_all(struct fx_end *end, unsigned int *n)
{
	*n = fx_tx(end, log_of_sent, FX_SENT);
	return log_of_sent;
}

const struct fx_sent *
fx_tx_exactly(struct fx_end *end, unsigned int n)
{
	assert_int_equal(fx_tx_drop(end), n);
	return log_of_sent;
}

unsigned int
fx_tx_drop(struct fx_end *end)
{
	return fx_tx(end, log_of_sent, FX_SENT);
}

struct fx_sent
fx_tx_one(struct fx_end *end)
{
	return fx_tx_exactly(end, 1)[0];
}

void
fx_tx_none(struct fx_end *end)
{
	assert_int_equal(fx_tx_drop(end), 0);
}

static unsigned int
carry(struct fx_end *from, struct fx_end *to)
{
	struct rte_mbuf *pkts[32];
	uint16_t n = fx_take(from, pkts, 32);

	give(to, pkts, n);
	return n;
}

void
fx_exchange(struct fx_end *a, struct fx_end *b)
{
	while (carry(a, b) + carry(b, a) > 0)
		;
}

const struct fx_sent *
fx_run(struct fx_end *end, uint64_t until, unsigned int *n)
{
	unsigned int total = 0;

	for (;;) {
		uint64_t deadline;

		total += fx_tx(end, log_of_sent + total, FX_SENT - total);
		assert_true(total < FX_SENT);
		roce_engine_lock(end->engine);
		deadline = roce_engine_deadline(end->engine);
		roce_engine_unlock(end->engine);
		if (deadline > until)
			break;
		end->now = RTE_MAX(deadline, end->now + 1);
	}
	end->now = until;
	*n = total;
	return log_of_sent;
}
