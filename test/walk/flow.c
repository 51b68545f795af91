/* SPDX-License-Identifier: BSD-3-Clause */
/* The traffic on the ground: frames in, events out; and the queries about it. */

#include <string.h>

#include "engine/snapshot.h"
#include "ground.h"
#include "wire/icrc.h"

/* ---- frames ---- */

static struct rte_mbuf *
build(struct ground *g, const struct model_packet *packet, bool ack_req)
{
	const struct roce_frame_spec spec = {
		.psn = packet->psn,
		.opcode = roce_opcode_request(ROCE_VERB_SEND,
				packet->with_imm ? ROCE_SUFFIX_IMM : ROCE_SUFFIX_NONE,
				packet->first, packet->last),
		.ack_req = ack_req,
		.payload_len = packet->length,
	};
	struct roce_template *template = &g->sender[packet->qp].template;
	struct rte_mbuf *m = ground_frame();
	uint8_t *at = roce_frame_build(m, template, &spec);

	if (packet->with_imm) {
		memcpy(at, &packet->imm, sizeof(packet->imm));
		at += sizeof(packet->imm);
	}
	if (packet->stamp != 0)
		memcpy(at, &packet->stamp, sizeof(packet->stamp));
	roce_icrc_put(m, template);
	return m;
}

/* Every call takes in last what lies in the inbox. */
static void
take_in(struct ground *g, unsigned int engine)
{
	struct ground_inbox *inbox = &g->inbox[engine];

	for (uint32_t i = 0; i < inbox->packets; i++) {
		const struct model_packet *packet = &inbox->packet[i];
		struct ground_sender *sender = &g->sender[packet->qp];

		model_arrive(&g->model, packet);
		if (g->model.qp[packet->qp].name == packet->qp_name && sender->link == packet->link)
			sender->in_flight--;
	}
	inbox->packets = 0;
}

void
ground_deliver(struct ground *g, unsigned int engine, const struct model_packet *packet,
		bool ack_req)
{
	struct roce_engine *e = g->engine[engine];
	struct roce_engine *home = roce_qp_engine(g->qp[packet->qp]);
	struct rte_mbuf *m = build(g, packet, ack_req);

	if (e == home) {
		model_arrive(&g->model, packet);
	} else {
		struct ground_inbox *inbox = &g->inbox[home->index];

		inbox->packet[inbox->packets++] = *packet;
	}
	take_in(g, engine);
	roce_engine_lock(e);
	TRACE_SAME("foreign frames", roce_engine_rx(e, &m, 1, g->now), 0);
	roce_engine_unlock(e);
}

void
ground_poll(struct ground *g, unsigned int engine)
{
	struct roce_engine *e = g->engine[engine];
	struct rte_mbuf *m[32];
	uint16_t n;

	g->now += 1000;
	take_in(g, engine);
	roce_engine_lock(e);
	TRACE_SAME("foreign frames", roce_engine_rx(e, NULL, 0, g->now), 0);
	while ((n = roce_engine_tx(e, m, RTE_DIM(m), g->now)) > 0)
		rte_pktmbuf_free_bulk(m, n);
	roce_engine_unlock(e);
}

/* ---- events ---- */

static void
check_stamp(const struct ground *g, const struct model_event *want, uint64_t stamp, uint32_t offset)
{
	uint64_t there;

	if (stamp == 0)
		return;
	memcpy(&there, g->memory + (size_t)want->receive * GROUND_RECEIVE + offset, sizeof(there));
	TRACE_SAME("stamp in the payload", there, stamp);
}

static void
check_event(const struct ground *g, const struct roce_event *event, const struct model_event *want)
{
	TRACE_SAME("cookie of the event", event->wr_id, want->cookie);
	TRACE_SAME("owner of the event", (uintptr_t)event->owner, want->qp);
	TRACE_SAME("kind of the event", event->kind, ROCE_EVENT_RECV);
	TRACE_SAME("status of the event", event->status, want->status);
	TRACE_SAME("flags of the event", event->flags, want->flags);
	if (want->status != IBV_WC_SUCCESS)
		return;
	TRACE_SAME("length of the message", event->byte_len, want->length);
	TRACE_SAME("immediate data", event->imm, want->imm);
	check_stamp(g, want, want->first_stamp, 0);
	check_stamp(g, want, want->last_stamp, want->last_at);
}

/* A poll may give fewer than there are, but not none. */
static uint32_t
poll(struct ground *g, uint16_t cq, uint32_t n)
{
	struct roce_event event[32];
	uint32_t most = RTE_MIN(n, (uint32_t)RTE_DIM(event));
	uint32_t waiting = g->model.cq[cq].waiting;
	uint32_t got = roce_cq_poll(g->cq[cq], event, most);

	if (got > RTE_MIN(most, waiting) || (got == 0 && waiting > 0))
		trace_violated("asked for %u, the engine gives %u events of %u", most, got,
				waiting);
	for (uint32_t i = 0; i < got; i++)
		check_event(g, &event[i], model_reap(&g->model, cq));
	return got;
}

void
ground_reap(struct ground *g, uint16_t cq, uint32_t n)
{
	uint32_t got;

	for (; n > 0 && (got = poll(g, cq, n)) > 0; n -= got)
		;
}

/* ---- questions ---- */

void
ground_query(struct ground *g, uint16_t srq)
{
	const struct model_srq *want = &g->model.srq[srq];
	struct roce_srq_counts counts;

	memset(&counts, 0xa5, sizeof(counts));
	roce_srq_query(g->srq[srq], &counts);
	if (counts.available > counts.outstanding || counts.outstanding > counts.max)
		trace_violated("0 <= available %u <= outstanding %u <= max %u does not hold",
				counts.available, counts.outstanding, counts.max);
	TRACE_SAME("max", counts.max, want->max);
	TRACE_SAME("available", counts.available, want->queued);
	TRACE_SAME("outstanding", counts.outstanding, model_outstanding(want));
	TRACE_SAME("low watermark", counts.low, want->low);
	TRACE_SAME("armed", counts.armed, want->armed);
}

static void
audit_qp(const struct ground *g, uint16_t qp)
{
	const struct model_qp *want = &g->model.qp[qp];
	uint32_t requests, receives;

	roce_qp_depth(g->qp[qp], &requests, &receives);
	TRACE_SAME("requests", requests, 0);
	TRACE_SAME("receives held", receives, want->holding != MODEL_NONE);
	TRACE_SAME("state of a queue pair", roce_qp_state(g->qp[qp]), want->state);
}

static void
audit_stats(const struct ground *g)
{
	const struct model_tally *want = &g->model.tally;
	struct roce_stats sum = { 0 };

	for (unsigned int i = 0; i < g->engines; i++) {
		const struct roce_stats *stats = roce_engine_stats(g->engine[i]);

		sum.rnr_nak_sent += stats->rnr_nak_sent;
		sum.out_of_buffer += stats->out_of_buffer;
		sum.rx_send_requests += stats->rx_send_requests;
		sum.cq_overflow += stats->cq_overflow;
		sum.resp_local_length_error += stats->resp_local_length_error;
		sum.resp_invalid_request += stats->resp_invalid_request;
		sum.resp_over_high_watermark += stats->resp_over_high_watermark;
		sum.rx_icrc_encapsulated += stats->rx_icrc_encapsulated;
		sum.rx_inbox_full += stats->rx_inbox_full;
	}
	TRACE_SAME("RNR NAKs", sum.rnr_nak_sent, want->empty);
	TRACE_SAME("messages that found no receive", sum.out_of_buffer, want->empty);
	TRACE_SAME("messages completed", sum.rx_send_requests, want->completed);
	TRACE_SAME("events lost", sum.cq_overflow, want->overflow);
	TRACE_SAME("messages too long", sum.resp_local_length_error, want->too_long);
	TRACE_SAME("messages against the protocol", sum.resp_invalid_request, want->breach);
	TRACE_SAME("broken by a hard high watermark", sum.resp_over_high_watermark, want->hard);
	TRACE_SAME("frames with a wrong ICRC", sum.rx_icrc_encapsulated, 0);
	TRACE_SAME("frames lost between engines", sum.rx_inbox_full, 0);
}

/* ---- what telemetry sees ---- */

struct look {
	const struct ground *g;
	uint32_t seen;
};

static void
look_at_srq(void *arg, const struct roce_srq_snapshot *snapshot)
{
	struct look *look = arg;
	const struct ground *g = look->g;
	uint16_t i = 0;

	while (i < g->srqs && (g->model.srq[i].name == 0 || g->srq_id[i] != snapshot->id))
		i++;
	if (i == g->srqs)
		trace_violated("a dead shared queue, number %u, is on the list", snapshot->id);
	TRACE_SAME("available on the list", snapshot->counts.available, g->model.srq[i].queued);
	TRACE_SAME("outstanding on the list", snapshot->counts.outstanding,
			model_outstanding(&g->model.srq[i]));
	TRACE_SAME("low watermark events", snapshot->low_watermark_events, g->model.srq[i].told);
	TRACE_SAME("messages that found it empty", snapshot->empty, g->model.srq[i].empty);
	look->seen++;
}

static void
look_at_qp(void *arg, const struct roce_qp_snapshot *snapshot)
{
	struct look *look = arg;
	const struct ground *g = look->g;
	const struct model_qp *want;
	uint16_t i = 0;

	while (i < g->qps &&
			(g->model.qp[i].name == 0 || roce_qp_number(g->qp[i]) != snapshot->number))
		i++;
	if (i == g->qps)
		trace_violated("a dead queue pair, number %u, is on the list", snapshot->number);
	want = &g->model.qp[i];
	TRACE_SAME("held on the list", snapshot->held, want->holding != MODEL_NONE);
	TRACE_SAME("taken, ever", snapshot->taken, want->taken);
	TRACE_SAME("shared queue on the list", snapshot->srq, g->srq_id[want->srq]);
	TRACE_SAME("soft high watermark", snapshot->soft_high, want->soft);
	TRACE_SAME("hard high watermark", snapshot->hard_high, want->hard);
	look->seen++;
}

static void
audit_snapshot(const struct ground *g)
{
	struct look srqs = { .g = g }, qps = { .g = g };
	uint32_t want_srqs = 0, want_qps = 0;

	for (uint16_t i = 0; i < g->srqs; i++)
		want_srqs += g->model.srq[i].name != 0;
	for (uint16_t i = 0; i < g->qps; i++)
		want_qps += g->model.qp[i].name != 0;
	roce_domain_each_srq(g->domain, look_at_srq, &srqs);
	roce_domain_each_qp(g->domain, look_at_qp, &qps);
	TRACE_SAME("shared queues on the list", srqs.seen, want_srqs);
	TRACE_SAME("queue pairs on the list", qps.seen, want_qps);
}

void
ground_audit(struct ground *g, bool snapshot)
{
	const char *wrong = model_audit(&g->model);

	if (wrong != NULL)
		trace_violated("%s", wrong);
	for (uint16_t i = 0; i < g->srqs; i++) {
		if (g->model.srq[i].name != 0)
			ground_query(g, i);
	}
	for (uint16_t i = 0; i < g->cqs; i++) {
		if (g->model.cq[i].name != 0)
			TRACE_SAME("events waiting", roce_cq_count(g->cq[i]),
					g->model.cq[i].waiting);
	}
	for (uint16_t i = 0; i < g->qps; i++) {
		if (g->model.qp[i].name != 0)
			audit_qp(g, i);
	}
	audit_stats(g);
	if (snapshot)
		audit_snapshot(g);
}
