/* SPDX-License-Identifier: BSD-3-Clause */
/* Invariants of an adapter: they hold at any time, whatever frames it was given. */

#include <string.h>

#include <isa-l/crc.h>

#include "rx_world.h"
#include "requester/dcqcn.h"

static uint32_t
ahead(uint32_t a, uint32_t b)
{
	return (a - b) & ROCE_PSN_MASK;
}

static void
check_requester(const struct roce_qp *qp)
{
	const struct roce_qp_tx *tx = &qp->tx;
	uint32_t posted = qp->post.head;
	uint32_t reads = 0;

	BASE_MUST(posted - tx->tail <= qp->post.max, "more requests than the queue holds");
	BASE_MUST(tx->begun - tx->tail <= posted - tx->tail, "begun lies between tail and head");
	BASE_MUST(tx->next - tx->tail <= tx->begun - tx->tail, "next lies between tail and begun");
	BASE_MUST(ahead(tx->psn, tx->una) <= ahead(tx->max, tx->una),
			"the next PSN lies between the oldest unacknowledged and the newest sent");
	for (uint32_t i = tx->tail; i != tx->begun; i++)
		reads += roce_wqe_is_read(roce_wq_slot(&qp->wq, i));
	BASE_MUST(reads == tx->reads, "READs under way are counted");
	BASE_MUST(reads <= qp->cold.connect.max_rd_atomic || reads == 0,
			"more READs under way than were agreed upon");
	BASE_MUST(qp->rx.state == ROCE_QP_RESET || qp->rx.state == ROCE_QP_ERR || tx->window >= 1,
			"the window is open");
	BASE_MUST(qp->rx.state != ROCE_QP_RTS || reads > 0 ||
					ahead(tx->max, tx->una) <= ROCE_WINDOW,
			"no more PSNs are in flight than the window allows");
	BASE_MUST(tx->window <= ROCE_WINDOW, "the window has an end");
	BASE_MUST(!tx->paced ||
					(qp->cold.dcqcn.current >= ROCE_DCQCN_RATE_MIN &&
							qp->cold.dcqcn.current <= ROCE_DCQCN_LINE),
			"who is slowed down still goes on");
}

uint32_t
rx_check_unanswered(const struct roce_qp *qp)
{
	uint32_t n = 0;

	for (uint8_t i = 0; i < qp->remote.allowed; i++) {
		const struct roce_rd_resource *res = &qp->remote.resource[i];

		n += res->pending && !res->again;
	}
	return n;
}

/* The bytes of an answer that are not sent yet take exactly its PSNs that are not sent yet. */
static void
check_resource(const struct roce_rd_resource *res, uint32_t mtu)
{
	if (!res->pending || res->verb != ROCE_VERB_READ)
		return;
	BASE_MUST(res->next == res->until ||
					ahead(res->until, res->next) ==
							roce_packets(res->left, mtu),
			"an answer ends with its last PSN");
	BASE_MUST(res->gap.map == 0 ||
					ahead(roce_psn_add(res->gap.psn, rte_fls_u64(res->gap.map)),
							res->psn) <= ahead(res->end, res->psn),
			"a gap is in its answer");
}

static void
check_responder(const struct rx_end *end)
{
	const struct roce_qp *qp = end->qp;
	const struct roce_qp_remote *remote = &qp->remote;
	uint32_t pending = 0;

	BASE_MUST(qp->rx.verb == ROCE_VERB_NONE || qp->rx.verb == ROCE_VERB_SEND ||
					qp->rx.verb == ROCE_VERB_WRITE,
			"a message in progress is a SEND or a WRITE");
	BASE_MUST(qp->rx.holding ? qp->rx.recv->num_sge <= 2 : true, "a receive is one");
	BASE_MUST(!qp->rx.holding || qp->rx.verb != ROCE_VERB_SEND ||
					qp->rx.got <= qp->rx.recv->length,
			"no more bytes arrived than fit");
	for (uint8_t i = 0; i < remote->allowed; i++) {
		pending += remote->resource[i].pending;
		if (qp->rx.owes & ROCE_OWES_READ)
			check_resource(&remote->resource[i], qp->rx.mtu);
	}
	if (qp->rx.owes & ROCE_OWES_READ) {
		BASE_MUST(pending > 0 && remote->resource[remote->oldest].pending,
				"an answer that is owed is known");
	}
	BASE_MUST(qp->cold.odd_answers <= rx_world.now +
							(ROCE_ODD_ANSWERS_BURST + 1) *
									(RX_HZ / ROCE_ODD_ANSWERS_HZ),
			"answers to what was not expected are rationed");
	BASE_MUST(remote->newest < RTE_MAX(remote->allowed, 1) &&
					remote->oldest < RTE_MAX(remote->allowed, 1),
			"resources are in their table");
}

static void
check_state(const struct rx_end *end)
{
	uint8_t state = end->qp->rx.state;

	BASE_MUST((state >= ROCE_QP_RESET && state <= ROCE_QP_ERR) || state == ROCE_QP_ENDING,
			"a queue pair is in a state");
	if (state == ROCE_QP_ERR || state == ROCE_QP_RESET) {
		BASE_MUST(!end->qp->rx.holding, "a dead queue pair holds no receive");
		BASE_MUST(!(end->qp->rx.owes & ROCE_OWES_READ), "a dead queue pair owes no data");
	}
}

static void
check_counts(const struct rx_side *side)
{
	struct roce_srq_counts c;

	roce_srq_query(side->srq, &c);
	BASE_MUST(c.available <= c.outstanding && c.outstanding <= c.max,
			"available <= outstanding <= max");
}

static void
check_given(const struct rx_side *side)
{
	uint64_t frames = 0;

	for (unsigned int i = 0; i < side->engines; i++) {
		const struct roce_stats *s = roce_engine_stats(roce_domain_engine(side->domain, i));

		frames += s->rx_frames;
		BASE_MUST(s->np_cnp_sent <= s->np_ecn_marked_roce_packets,
				"no more notifications than marks");
	}
	BASE_MUST(frames == side->given, "every frame that is given is counted");
}

/* Where a region was nobody writes, whatever was under way. */
static void
check_dead_regions(const struct rx_side *side)
{
	for (unsigned int i = 0; i < RX_BIG; i++) {
		if (side->mr[i] == NULL && side->dead_sum[i] != rx_region_sum(side, i))
			BASE_VIOLATED("region %u of side %u was written after its end", i,
					side->index);
	}
}

void
rx_check(const struct rx_side *side)
{
	check_given(side);
	check_dead_regions(side);
	check_counts(side);
	for (uint8_t talk = 0; talk < RX_TALKS; talk++) {
		const struct rx_end *end = &side->end[talk];

		if (end->qp == NULL)
			continue;
		check_state(end);
		check_requester(end->qp);
		check_responder(end);
	}
}

/* ---- what an ignored frame leaves alone ---- */

static uint32_t
events_of(const struct rx_side *side)
{
	return roce_cq_count(side->send_cq) + roce_cq_count(side->recv_cq);
}

static uint32_t
memory_of(const struct rx_side *side)
{
	const uint8_t *first = rx_region_at(side, RX_RECV);
	const uint8_t *last = rx_region_at(side, RX_DEAD) + rx_region_len(RX_DEAD);

	return crc32_gzip_refl(0, first, (uint64_t)(last - first));
}

static struct roce_mw_binding
binding_of(const struct rx_side *side)
{
	struct roce_mw_binding binding = { 0 };

	if (side->window != NULL)
		(void)roce_mw_query(side->window, &binding);
	return binding;
}

void
rx_shadow_take(const struct rx_side *side, struct rx_shadow *shadow)
{
	for (uint8_t talk = 0; talk < RX_TALKS; talk++) {
		if (side->end[talk].qp != NULL)
			memcpy(&shadow->qp[talk], side->end[talk].qp, sizeof(shadow->qp[0]));
	}
	shadow->memory = memory_of(side);
	shadow->events = events_of(side);
	shadow->binding = binding_of(side);
}

void
rx_shadow_judge(const struct rx_side *side, const struct rx_shadow *shadow)
{
	for (uint8_t talk = 0; talk < RX_TALKS; talk++) {
		if (side->end[talk].qp == NULL)
			continue;
		if (!base_same_bytes(&shadow->qp[talk], side->end[talk].qp, sizeof(shadow->qp[0])))
			BASE_VIOLATED("queue pair %u was changed by a frame that is to be ignored",
					talk);
	}
	BASE_MUST(shadow->memory == memory_of(side),
			"memory was written by a frame that is to be ignored");
	BASE_MUST(shadow->events == events_of(side),
			"an event was made by a frame that is to be ignored");
	BASE_MUST(shadow->binding.key == binding_of(side).key,
			"a window was bound otherwise by a frame that is to be ignored");
}
