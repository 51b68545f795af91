/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "fixture_rdma.h"
#include "wire/icrc.h"

/* A frame that is not sent yet may still be written to. */
static void
put(const void *header, const void *value, size_t n)
{
	memcpy((void *)(uintptr_t)header, value, n);
}

struct rte_mbuf *
fx_name(struct fx_peer *peer, struct rte_mbuf *m, const struct fx_target *target)
{
	const struct roce_reth reth = { rte_cpu_to_be_64(target->va),
		rte_cpu_to_be_32(target->rkey), rte_cpu_to_be_32(target->length) };
	const struct roce_atomiceth eth = { rte_cpu_to_be_64(target->va),
		rte_cpu_to_be_32(target->rkey), rte_cpu_to_be_64(target->length), 0 };
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	if (pkt.op->flags & ROCE_OP_RETH)
		put(roce_pkt_reth(&pkt), &reth, sizeof(reth));
	if (pkt.op->flags & ROCE_OP_ATOMIC)
		put(roce_pkt_atomiceth(&pkt), &eth, sizeof(eth));
	roce_icrc_put(m, &peer->template);
	return m;
}

struct rte_mbuf *
fx_about(struct fx_peer *peer, uint8_t opcode, uint32_t psn, uint32_t len,
		const struct fx_target *target, unsigned int flags)
{
	return fx_name(peer, fx_request(peer, opcode, psn, len, flags), target);
}

struct rte_mbuf *
fx_response(struct fx_peer *peer, uint8_t opcode, uint32_t psn, uint32_t len, uint32_t msn)
{
	const rte_be32_t aeth = roce_aeth_pack(FX_ACK, msn);
	const rte_be64_t original = rte_cpu_to_be_64(FX_ORIGINAL);
	struct rte_mbuf *m = fx_request(peer, opcode, psn, len, 0);
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	if (pkt.op->flags & ROCE_OP_AETH)
		put(roce_pkt_aeth(&pkt), &aeth, sizeof(aeth));
	if (opcode == IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE)
		put(pkt.bth + pkt.op->ext_off, &original, sizeof(original));
	roce_icrc_put(m, &peer->template);
	return m;
}

void
fx_rx_response(struct fx_end *end, struct fx_peer *peer, uint8_t opcode, uint32_t psn, uint32_t len)
{
	fx_rx(end, fx_response(peer, opcode, psn, len, 1));
}
