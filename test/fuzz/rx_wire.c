/* SPDX-License-Identifier: BSD-3-Clause */
/* The wire: frames that the engines send, frames that they are given, and the fate of each. */

#include <string.h>

#include "rx_world.h"

/* The end whose frames carry these addresses and this number; NULL: they lead nowhere. */
static struct rx_end *
sender_of(struct rx_side *side, const struct oracle_frame *frame)
{
	for (uint8_t talk = 0; talk < RX_TALKS; talk++) {
		struct rx_end *end = &side->end[talk];

		if (end->connect.dest_qp == frame->dest_qp &&
				roce_ip_equal(&end->connect.path.dst_ip, &frame->dst) &&
				roce_ip_equal(&end->connect.path.src_ip, &frame->src))
			return end;
	}
	return NULL;
}

static void
fly(const struct rx_end *from, const uint8_t *bytes, uint32_t len)
{
	struct rx_flat *flat;

	if (from->peer == NULL || rx_world.flights == RX_FLIGHTS)
		return;
	flat = &rx_world.flight[rx_world.flights++];
	flat->len = len;
	flat->epoch = from->epoch;
	flat->to = from->peer->side->index;
	flat->talk = from->talk;
	flat->genuine = true;
	flat->stripped = false;
	flat->cut = (struct base_cut){ 0 };
	memcpy(flat->bytes, bytes, len);
}

/* An answer to a READ is made of memory that the peer may read at this moment. */
static void
judge_answer(const struct rx_end *from, const struct oracle_frame *frame)
{
	const struct roce_qp_remote *remote = &from->qp->remote;

	for (uint8_t i = 0; i < remote->allowed; i++) {
		const struct roce_rd_resource *res = &remote->resource[i];

		if (res->verb == ROCE_VERB_READ && roce_psn_diff(frame->psn, res->psn) >= 0 &&
				roce_psn_diff(frame->psn, res->end) < 0 &&
				rx_key_reads(from->side, res->rkey))
			return;
	}
	BASE_VIOLATED("memory was read that the peer may not read");
}

/* An engine sends only frames that are well-formed, whatever frames it was given. */
static void
judge_spoken(struct rx_side *side, struct rte_mbuf *m)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);
	struct oracle_frame frame;
	struct rx_end *from;

	BASE_MUST(m->nb_segs == 1 && m->pkt_len == m->data_len, "a frame is one segment");
	oracle_look(bytes, m->data_len, m->data_len, false, &frame);
	BASE_MUST(frame.faults == 0 && frame.end == m->data_len,
			"a frame that was sent is malformed");
	BASE_MUST(frame.icrc_ok, "a frame was sent with a wrong ICRC");
	BASE_MUST(!frame.datagram && frame.payload_len <= rx_world.mtu,
			"a frame was sent that no queue pair sends");
	from = sender_of(side, &frame);
	BASE_MUST(from != NULL, "a frame was sent to nobody");
	if (frame.opcode >= IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST &&
			frame.opcode <= IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY &&
			frame.payload_len > 0)
		judge_answer(from, &frame);
	if (!frame.cnp)
		from->said = frame.opcode;
	if (frame.opcode == IBV_OPCODE_RC_ACKNOWLEDGE)
		from->syndrome = bytes[frame.payload_off - 4];
	fly(from, bytes, m->data_len);
}

uint32_t
rx_speak(struct rx_side *side, uint16_t room)
{
	struct rte_mbuf *pkts[32];
	uint32_t total = 0;

	for (unsigned int i = 0; i < side->engines; i++) {
		struct roce_engine *e = roce_domain_engine(side->domain, i);
		uint16_t n;

		roce_engine_lock(e);
		n = roce_engine_tx(e, pkts, RTE_MIN(room, (uint16_t)RTE_DIM(pkts)), rx_world.now);
		roce_engine_unlock(e);
		BASE_MUST(n <= room, "more frames than there was room for");
		for (uint16_t k = 0; k < n; k++)
			judge_spoken(side, pkts[k]);
		rte_pktmbuf_free_bulk(pkts, n);
		total += n;
	}
	return total;
}

static uint16_t
feed(struct rx_side *side, unsigned int queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct roce_engine *e = roce_domain_engine(side->domain, queue % side->engines);
	uint16_t foreign;

	roce_engine_lock(e);
	foreign = roce_engine_rx(e, pkts, n, rx_world.now);
	roce_engine_unlock(e);
	side->given += n;
	return foreign;
}

/* Frames that one engine forwarded to the other. */
static void
empty_inboxes(struct rx_side *side)
{
	for (unsigned int i = 0; i < side->engines && side->engines > 1; i++)
		(void)feed(side, i, NULL, 0);
}

static struct rte_mbuf *
mbuf_of(const struct rx_flat *flat)
{
	struct rte_mbuf *m = base_frame(flat->bytes, flat->len, &flat->cut);

	if (flat->stripped) {
		m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
		m->vlan_tci = 5 << 13;
	}
	return m;
}

/* A foreign frame comes back unchanged. */
static void
judge_foreign(struct rte_mbuf *m, const struct rx_flat *flat)
{
	uint8_t copy[sizeof(flat->bytes)];
	const uint8_t *bytes;

	BASE_MUST(rte_pktmbuf_pkt_len(m) == flat->len, "a foreign frame has another length");
	bytes = flat->len == 0 ? copy : rte_pktmbuf_read(m, 0, flat->len, copy);
	BASE_MUST(bytes != NULL && memcmp(bytes, flat->bytes, flat->len) == 0,
			"a foreign frame was changed");
}

/* A frame that a peer might have sent, but did not, was believed. A notification slows, and costs no message. */
static void
believe(const struct rx_flat *flat, const struct rx_expect *expect)
{
	struct rx_end *end;

	if (expect->end == NULL || expect->frame.cnp)
		return;
	end = &rx_world.side[flat->to].end[expect->end->talk];
	if (!flat->genuine || flat->talk != end->talk || end->peer == NULL ||
			flat->epoch != end->peer->epoch)
		end->tainted = end->side->misled = true;
}

/* No counter moved: a request was executed, and might be. */
static void
judge_executed(const struct roce_qp *qp, const struct oracle_frame *frame, uint32_t epsn,
		uint32_t unanswered)
{
	BASE_MUST(qp->rx.epsn != epsn && frame->psn == epsn, "a frame was counted nowhere");
	if (roce_opcode[frame->opcode].verb >= ROCE_VERB_READ)
		BASE_MUST(unanswered < qp->remote.allowed,
				"more READs and atomics were taken than were agreed upon");
}

void
rx_give(struct rx_side *side, unsigned int queue, const struct rx_flat *flat)
{
	static struct rx_shadow shadow;
	struct rx_fates before, after;
	struct rx_expect expect;
	struct rte_mbuf *m;
	uint32_t epsn = 0, unanswered = 0;
	uint16_t foreign;
	bool executed;

	empty_inboxes(side);
	rx_expect(side, flat, &expect);
	believe(flat, &expect);
	if (!expect.hears) {
		rx_shadow_take(side, &shadow);
	} else {
		epsn = expect.end->qp->rx.epsn;
		unanswered = rx_check_unanswered(expect.end->qp);
	}
	rx_fates_read(side, &before);
	m = mbuf_of(flat);
	foreign = feed(side, queue, &m, 1);
	empty_inboxes(side);
	rx_fates_read(side, &after);
	BASE_MUST(foreign == expect.foreign, "a frame was taken for foreign, or for ours");
	if (foreign > 0) {
		judge_foreign(m, flat);
		rte_pktmbuf_free(m);
	}
	executed = rx_fates_judge(&before, &after, &expect);
	if (!expect.hears)
		rx_shadow_judge(side, &shadow);
	else if (executed)
		judge_executed(expect.end->qp, &expect.frame, epsn, unanswered);
}

void
rx_give_burst(struct rx_side *side, unsigned int queue)
{
	struct rx_fates before, after;
	struct rte_mbuf *pkts[RX_BURST];
	uint32_t n = rx_world.burst_len;
	uint32_t left = 0, heard = 0;
	uint64_t moved;
	uint16_t foreign;

	rx_world.burst_len = 0;
	empty_inboxes(side);
	rx_fates_read(side, &before);
	for (uint32_t i = 0; i < n; i++)
		pkts[i] = mbuf_of(&rx_world.burst[i]);
	for (uint32_t i = 0; i < n; i++) {
		struct rx_expect expect;

		rx_expect(side, &rx_world.burst[i], &expect);
		believe(&rx_world.burst[i], &expect);
		heard += expect.end != NULL; /* another frame may change its state */
	}
	foreign = feed(side, queue, pkts, (uint16_t)n);
	empty_inboxes(side);
	for (uint32_t i = 0; i < n; i++) {
		struct rx_expect expect;

		rx_expect(side, &rx_world.burst[i], &expect);
		if (!expect.foreign)
			continue;
		BASE_MUST(left < foreign, "a foreign frame is missing");
		judge_foreign(pkts[left], &rx_world.burst[i]);
		rte_pktmbuf_free(pkts[left++]);
	}
	BASE_MUST(left == foreign, "a frame of ours came back");
	rx_fates_read(side, &after);
	moved = rx_fates_sum(&before, &after);
	BASE_MUST(moved <= n && n - moved <= heard,
			"frames of a burst are counted twice, or nowhere");
}

void
rx_lose(uint32_t index)
{
	rx_world.flights--;
	memmove(&rx_world.flight[index], &rx_world.flight[index + 1],
			(rx_world.flights - index) * sizeof(rx_world.flight[0]));
}

void
rx_deliver(uint32_t index, unsigned int queue, bool keep)
{
	static struct rx_flat copy;

	copy = rx_world.flight[index];
	if (!keep)
		rx_lose(index);
	rx_give(&rx_world.side[copy.to], queue, &copy);
}

void
rx_deliver_all(void)
{
	while (rx_world.flights > 0)
		rx_deliver(0, rx_world.flight[0].talk, false);
}
