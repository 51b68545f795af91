/* SPDX-License-Identifier: BSD-3-Clause */
/* The applications: receives, requests, and whether what completes is what was recorded. */

#include <stdio.h>
#include <string.h>

#include "replay.h"
#include "unit.h"

#define RECEIVES (RP_RECVS / RP_FLOWS) /* that an application keeps posted */
#define EVENTS   32u

static const struct rp_flow *
flow_of(const struct rp_end *end)
{
	return &end->world->capture->flow[end->index];
}

/* Is the recorded answer to this frame that there is no receive? */
static bool
finds_none(const struct rp_end *end, const struct rp_frame *heard)
{
	const struct rp_world *world = end->world;

	for (uint32_t i = end->answer; i < world->capture->frames; i++) {
		const struct rp_frame *frame = &world->capture->frame[i];

		if (frame->flow != end->index || frame->from != world->me || rp_is_request(frame))
			continue;
		/* A PSN that was not received for want of a receive may be named once more, as missing. */
		if (frame->pkt.psn == heard->pkt.psn && rp_says(frame, ROCE_AETH_NAK) &&
				frame < heard)
			continue;
		return frame->pkt.psn == heard->pkt.psn && rp_says(frame, ROCE_AETH_RNR);
	}
	return false;
}

static void
post_one(struct rp_end *end)
{
	struct rp_world *world = end->world;
	uint32_t slot = 0;
	struct roce_sge sge;
	struct roce_recv_wr wr = { .sg = &sge, .num_sge = 1 };

	while (world->recv_used >> slot & 1)
		slot++;
	assert_true(slot < RP_RECVS);
	world->recv_used |= UINT64_C(1) << slot;
	sge = (struct roce_sge){ (uintptr_t)world->recv + (size_t)slot * world->recv_len,
		world->recv_len, roce_mr_key(world->recv_mr) };
	wr.wr_id = slot;
	if (flow_of(end)->srq[world->me])
		assert_int_equal(roce_srq_post(world->srq, &wr), 0);
	else
		assert_int_equal(roce_qp_post_recv(end->qp, &wr), 0);
	end->posted++;
}

/* Does our side run out of receives at times? A shared queue is that of every flow that has it. */
static bool
is_scarce(const struct rp_end *end)
{
	const struct rp_world *world = end->world;
	bool scarce = flow_of(end)->rnr[world->me];

	for (int i = 0; i < world->capture->flows && flow_of(end)->srq[world->me]; i++)
		scarce |= world->capture->flow[i].srq[world->me] &&
				world->capture->flow[i].rnr[world->me];
	return scarce;
}

static bool
takes_receive(const struct roce_pkt *pkt)
{
	if (pkt->op->verb == ROCE_VERB_SEND)
		return pkt->op->flags & ROCE_OP_START;
	return pkt->op->verb == ROCE_VERB_WRITE && (pkt->op->flags & ROCE_OP_IMM);
}

/*
 * Right before a message that found a receive, when there is none. A message that follows one that found none is out of
 * sequence, and takes none.
 */
static void
post_in_time(struct rp_end *end, const struct rp_frame *heard)
{
	struct roce_srq_counts counts;
	uint32_t available = end->posted;

	if (heard == NULL || !takes_receive(&heard->pkt) ||
			(end->waits && heard->pkt.psn != end->waits_psn))
		return;
	end->waits = finds_none(end, heard);
	end->waits_psn = heard->pkt.psn;
	if (end->waits)
		return;
	if (flow_of(end)->srq[end->world->me]) {
		roce_srq_query(end->world->srq, &counts);
		available = counts.available;
	}
	if (available == 0)
		post_one(end);
}

/*
 * As many as an application would have; but when it had none at times, one for each message that found one, right
 * before it comes.
 */
void
rp_post_receives(struct rp_end *end, const struct rp_frame *heard)
{
	if (end->broken)
		return;
	if (is_scarce(end)) {
		post_in_time(end, heard);
		return;
	}
	while (end->posted < RECEIVES)
		post_one(end);
}

static uint8_t
opcode_of(const struct rp_message *message)
{
	bool imm = message->suffix == ROCE_SUFFIX_IMM;

	switch (message->verb) {
	case ROCE_VERB_SEND:
		if (message->suffix == ROCE_SUFFIX_INVALIDATE)
			return IBV_WR_SEND_WITH_INV;
		return imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
	case ROCE_VERB_WRITE:
		return imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
	case ROCE_VERB_READ:
		return IBV_WR_RDMA_READ;
	case ROCE_VERB_ATOMIC_CAS:
		return IBV_WR_ATOMIC_CMP_AND_SWP;
	default:
		return IBV_WR_ATOMIC_FETCH_AND_ADD;
	}
}

static bool
carries_data(const struct rp_message *message)
{
	return message->verb == ROCE_VERB_SEND || message->verb == ROCE_VERB_WRITE;
}

void
rp_post_message(struct rp_end *end, const struct rp_message *message)
{
	struct rp_world *world = end->world;
	const struct roce_sge sge = { (uintptr_t)world->own + message->offset, message->length,
		roce_mr_key(world->own_mr) };
	bool cas = message->verb == ROCE_VERB_ATOMIC_CAS;
	const struct roce_wr wr = {
		.wr_id = (uint64_t)(message - flow_of(end)->message[world->me]),
		.sg = &sge,
		.num_sge = message->length > 0,
		.imm = message->imm,
		.opcode = opcode_of(message),
		.flags = (uint8_t)(ROCE_WR_SIGNALED | (message->solicited ? ROCE_WR_SOLICITED : 0)),
		.rkey = message->rkey,
		.remote_addr = message->va,
		.compare_add = cas ? message->compare : message->swap_or_add,
		.swap = message->swap_or_add,
	};

	if (carries_data(message) && message->length > 0)
		memcpy(world->own + message->offset, message->data, message->length);
	assert_int_equal(roce_qp_post_send(end->qp, &wr), 0);
	end->said++;
}

/* A request ended: in order, well, and with what Linux was answered. */
static void
sent(struct rp_end *end, const struct roce_event *event)
{
	struct rp_world *world = end->world;
	const struct rp_message *message = &flow_of(end)->message[world->me][event->wr_id];
	char name[32];

	assert_int_equal(event->wr_id, end->done);
	end->done++;
	if (event->status != IBV_WC_SUCCESS) {
		(void)snprintf(name, sizeof(name), "request.status.%u", event->status);
		rp_differ_message(end, name, world->me, message, event->status);
		return;
	}
	if (carries_data(message) || message->data_known == 0)
		return;
	if (message->data_known != message->length ||
			memcmp(world->own + message->offset, message->data, message->length) != 0)
		rp_differ(world, "request.answer", 0, message->psn, message->psn);
}

/* The next message of the peer that takes a receive. */
static const struct rp_message *
next_heard(struct rp_end *end)
{
	uint8_t peer = end->world->peer;

	while (end->heard < flow_of(end)->messages[peer]) {
		const struct rp_message *message = &flow_of(end)->message[peer][end->heard++];

		if (message->verb == ROCE_VERB_SEND ||
				(message->verb == ROCE_VERB_WRITE &&
						message->suffix == ROCE_SUFFIX_IMM))
			return message;
	}
	return NULL;
}

static void
received(struct rp_end *end, const struct roce_event *event)
{
	struct rp_world *world = end->world;
	const uint8_t *buffer = world->recv + (size_t)event->wr_id * world->recv_len;
	const struct rp_message *message;
	char name[32];

	world->recv_used &= ~(UINT64_C(1) << event->wr_id);
	end->posted--;
	if (event->status == IBV_WC_WR_FLUSH_ERR)
		return;
	message = next_heard(end);
	if (event->status != IBV_WC_SUCCESS) {
		(void)snprintf(name, sizeof(name), "receive.status.%u", event->status);
		rp_differ(world, name, 0, event->status, IBV_WC_SUCCESS);
		return;
	}
	if (message == NULL) {
		rp_differ(world, "receive.more", 0, event->byte_len, 0);
		return;
	}
	if (event->byte_len != message->length)
		rp_differ(world, "receive.length", 0, event->byte_len, message->length);
	else if (message->verb == ROCE_VERB_SEND && message->length > 0 &&
			memcmp(buffer, message->data, message->length) != 0)
		rp_differ(world, "receive.data", 0, message->psn, message->psn);
	if (!!(event->flags & ROCE_EVENT_IMM) != (message->suffix == ROCE_SUFFIX_IMM) ||
			event->imm != message->imm)
		rp_differ(world, "receive.imm", 0, event->imm, message->imm);
	if (!!(event->flags & ROCE_EVENT_SOLICITED) != message->solicited)
		rp_differ(world, "receive.solicited", 0, event->flags, message->solicited);
	rp_post_receives(end, NULL);
}

void
rp_post_reap(struct rp_world *world)
{
	struct roce_event event[EVENTS];
	unsigned int n;

	while ((n = roce_cq_poll(world->send_cq, event, EVENTS)) != 0) {
		for (unsigned int i = 0; i < n; i++)
			sent(event[i].owner, &event[i]);
	}
	while ((n = roce_cq_poll(world->recv_cq, event, EVENTS)) != 0) {
		for (unsigned int i = 0; i < n; i++)
			received(event[i].owner, &event[i]);
	}
}

/* Everything that was said is done, and everything that was heard was delivered. */
void
rp_post_finish(struct rp_world *world)
{
	for (int i = 0; i < world->capture->flows; i++) {
		struct rp_end *end = &world->end[i];
		const struct rp_message *message;

		for (; end->done < end->said; end->done++)
			rp_differ_message(end, "request.open", world->me,
					&flow_of(end)->message[world->me][end->done], end->said);
		while ((message = next_heard(end)) != NULL)
			rp_differ_message(end, "receive.fewer", world->peer, message, end->heard);
	}
}
