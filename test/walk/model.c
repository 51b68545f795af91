/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "model.h"
#include "wire/psn.h"

#define SIZE_MAX_WR (1u << 20) /**< verbs.h: receives a shared queue may hold */

void
model_init(struct model *m)
{
	*m = (struct model){ .idles = MODEL_RECEIVES };
	for (uint16_t i = 0; i < MODEL_RECEIVES; i++) {
		m->idle[i] = (uint16_t)(MODEL_RECEIVES - 1 - i);
		m->receive[i].srq = MODEL_NONE;
	}
}

static void
tell(struct model *m, enum roce_engine_async kind, uint64_t owner, int status, uint16_t cq)
{
	m->async_event[m->async_events++] = (struct model_async_event){
		.owner = owner,
		.status = status,
		.waiting = cq != MODEL_NONE ? m->cq[cq].waiting : 0,
		.cq = cq,
		.kind = (uint8_t)kind,
	};
}

/* The receive is the consumer's again. */
static void
make_idle(struct model *m, uint16_t receive)
{
	m->receive[receive].place = MODEL_IDLE;
	m->receive[receive].srq = MODEL_NONE;
	m->idle[m->idles++] = receive;
}

/* ---- shared receive queues ---- */

void
model_srq_make(struct model *m, uint16_t srq, uint32_t max, uint32_t max_sge)
{
	struct model_srq *s = &m->srq[srq];

	memset(s, 0, offsetof(struct model_srq, line));
	s->name = ++m->names;
	s->max = max;
	s->max_sge = max_sge;
}

int
model_srq_end(struct model *m, uint16_t srq)
{
	for (unsigned int i = 0; i < MODEL_QPS; i++) {
		if (m->qp[i].name != 0 && m->qp[i].srq == srq)
			return -EBUSY;
	}
	/* Receives on the queue vanish; completed ones can still be reaped, and belong to no queue. */
	for (uint16_t i = 0; i < MODEL_RECEIVES; i++) {
		if (m->receive[i].srq != srq)
			continue;
		if (m->receive[i].place == MODEL_QUEUED)
			make_idle(m, i);
		m->receive[i].srq = MODEL_NONE;
	}
	m->srq[srq].name = 0;
	return 0;
}

uint16_t
model_next_idle(const struct model *m)
{
	return m->idles > 0 ? m->idle[m->idles - 1] : MODEL_NONE;
}

int
model_post(struct model *m, uint16_t srq, uint32_t length, uint32_t segments)
{
	struct model_srq *s = &m->srq[srq];
	uint16_t receive = m->idle[m->idles - 1];

	if (segments > s->max_sge)
		return -EINVAL;
	if (model_outstanding(s) == s->max)
		return -ENOSPC;
	m->idles--;
	m->receive[receive].place = MODEL_QUEUED;
	m->receive[receive].srq = srq;
	m->receive[receive].length = length;
	m->receive[receive].turn++;
	s->line[(s->first + s->queued) % MODEL_RECEIVES] = receive;
	s->queued++;
	return 0;
}

/* Told once for each setting, when fewer are queued than it says. */
static void
judge_low(struct model *m, struct model_srq *s, uint16_t cq)
{
	if (!s->armed || s->queued >= s->low)
		return;
	s->armed = false;
	s->told++;
	m->tally.low++;
	tell(m, ROCE_ENGINE_ASYNC_SRQ_LOW, s->name, 0, cq);
}

int
model_resize(struct model *m, uint16_t srq, uint32_t max)
{
	struct model_srq *s = &m->srq[srq];

	if (max == 0 || max > SIZE_MAX_WR)
		return -EINVAL;
	if (max < s->low || max < model_outstanding(s))
		return -EBUSY;
	s->max = max;
	return 0;
}

int
model_set_low(struct model *m, uint16_t srq, uint32_t low)
{
	struct model_srq *s = &m->srq[srq];

	if (low > s->max)
		return -EINVAL;
	s->low = low;
	s->armed = low > 0;
	judge_low(m, s, MODEL_NONE);
	return 0;
}

/* ---- completion queues ---- */

void
model_cq_make(struct model *m, uint16_t cq, uint32_t depth)
{
	m->cq[cq].name = ++m->names;
	m->cq[cq].depth = depth;
	m->cq[cq].first = 0;
	m->cq[cq].waiting = 0;
}

const struct model_event *
model_reap(struct model *m, uint16_t cq)
{
	struct model_cq *c = &m->cq[cq];
	const struct model_event *event = &c->event[c->first];
	uint16_t srq = m->receive[event->receive].srq;

	c->first = (c->first + 1) % MODEL_EVENTS;
	c->waiting--;
	if (srq != MODEL_NONE)
		m->srq[srq].done--;
	make_idle(m, event->receive);
	return event;
}

int
model_cq_end(struct model *m, uint16_t cq)
{
	for (unsigned int i = 0; i < MODEL_QPS; i++) {
		if (m->qp[i].name != 0 && m->qp[i].cq == cq)
			return -EBUSY;
	}
	/* Its events are dropped, and count as reaped. */
	while (m->cq[cq].waiting > 0)
		(void)model_reap(m, cq);
	m->cq[cq].name = 0;
	return 0;
}

/* ---- queue pairs ---- */

void
model_qp_make(struct model *m, uint16_t qp, uint16_t srq, uint16_t cq)
{
	m->qp[qp] = (struct model_qp){
		.name = ++m->names,
		.srq = srq,
		.cq = cq,
		.holding = MODEL_NONE,
		.state = ROCE_QP_RESET,
		.soft = MODEL_INFINITE,
		.hard = MODEL_INFINITE,
	};
}

/* Packets that came too early are gone. */
static void
forget_early(struct model_qp *q)
{
	for (uint32_t i = 0; q->early_packets > 0; i++) {
		q->early_packets -= q->early[i].qp_name != 0;
		q->early[i].qp_name = 0;
	}
}

/* The receive that the queue pair holds goes back to the consumer without an event. */
static void
drop_held(struct model *m, struct model_qp *q)
{
	if (q->holding == MODEL_NONE)
		return;
	m->srq[q->srq].held--;
	m->tally.returned++;
	make_idle(m, q->holding);
	q->holding = MODEL_NONE;
}

void
model_qp_end(struct model *m, uint16_t qp)
{
	drop_held(m, &m->qp[qp]);
	m->qp[qp].name = 0;
}

/* The message in progress ends: an event, unless nobody wants it or there is no room for it. */
static void
complete(struct model *m, struct model_qp *q, enum ibv_wc_status status,
		const struct model_packet *packet)
{
	struct model_srq *s = &m->srq[q->srq];
	struct model_cq *c = q->cq != MODEL_NONE ? &m->cq[q->cq] : NULL;
	uint16_t receive = q->holding;
	bool good = status == IBV_WC_SUCCESS;

	q->holding = MODEL_NONE;
	q->packets = 0;
	s->held--;
	if (c == NULL || c->waiting == c->depth) {
		make_idle(m, receive);
		if (c == NULL)
			return;
		m->tally.overflow++;
		tell(m, ROCE_ENGINE_ASYNC_CQ_OVERFLOW, c->name, 0, MODEL_NONE);
		return;
	}
	c->event[(c->first + c->waiting) % MODEL_EVENTS] = (struct model_event){
		.qp = q->name,
		.cookie = model_cookie(m, receive),
		.receive = receive,
		.status = (uint8_t)status,
		.flags = good && packet->with_imm ? ROCE_EVENT_IMM : 0,
		.imm = good && packet->with_imm ? packet->imm : 0,
		.length = q->got,
		.first_stamp = q->first_stamp,
		.last_stamp = good ? packet->stamp : 0,
		.last_at = good ? q->got - packet->length : 0,
	};
	c->waiting++;
	s->done++;
	m->receive[receive].place = MODEL_DONE;
}

static void
flush(struct model *m, struct model_qp *q)
{
	if (q->holding != MODEL_NONE) {
		m->tally.flushed++;
		complete(m, q, IBV_WC_WR_FLUSH_ERR, NULL);
	}
	q->state = ROCE_QP_ERR;
	q->packets = 0;
	forget_early(q);
}

static void
break_up(struct model *m, struct model_qp *q, enum ibv_wc_status status)
{
	flush(m, q);
	tell(m, ROCE_ENGINE_ASYNC_QP_BROKEN, q->name, (int)status, MODEL_NONE);
}

/* A queue pair on a shared queue has the one receive it holds, or none. @return it has too many. */
static bool
judge_high(struct model *m, struct model_qp *q)
{
	uint32_t has = q->holding != MODEL_NONE ? 1 : 0;

	if (has > q->soft) {
		q->soft = MODEL_INFINITE;
		m->tally.soft++;
		tell(m, ROCE_ENGINE_ASYNC_QP_SOFT_HIGH, q->name, 0, q->cq);
	}
	return has > q->hard;
}

void
model_set_high(struct model *m, uint16_t qp, uint32_t soft, uint32_t hard)
{
	struct model_qp *q = &m->qp[qp];

	q->soft = soft;
	q->hard = hard;
	if (judge_high(m, q) && q->state == ROCE_QP_RTS) {
		m->tally.hard++;
		break_up(m, q, IBV_WC_WR_FLUSH_ERR);
	}
}

void
model_to_error(struct model *m, uint16_t qp)
{
	flush(m, &m->qp[qp]);
}

void
model_to_reset(struct model *m, uint16_t qp)
{
	struct model_qp *q = &m->qp[qp];

	drop_held(m, q);
	q->state = ROCE_QP_RESET;
	q->packets = 0;
	q->heard = false;
	q->refused = false;
	forget_early(q);
}

void
model_connect(struct model *m, uint16_t qp, uint32_t psn, bool ready)
{
	struct model_qp *q = &m->qp[qp];

	q->state = ready ? ROCE_QP_RTS : ROCE_QP_RTR;
	q->psn = psn;
	q->link++;
}

/* ---- packets ---- */

/* The oldest receive, for whoever comes. @return false: there is none. */
static bool
take(struct model *m, struct model_qp *q)
{
	struct model_srq *s = &m->srq[q->srq];

	if (s->queued == 0) {
		m->tally.empty++;
		s->empty++;
		return false;
	}
	q->holding = s->line[s->first % MODEL_RECEIVES];
	m->receive[q->holding].place = MODEL_HELD;
	s->first++;
	s->queued--;
	s->held++;
	q->taken++;
	q->got = 0;
	m->tally.taken++;
	judge_low(m, s, q->cq);
	return true;
}

/* The packet that was due, and that has a receive. */
static void
place(struct model *m, struct model_qp *q, const struct model_packet *packet)
{
	if (packet->first)
		q->first_stamp = packet->stamp;
	if (q->got + packet->length > m->receive[q->holding].length) {
		m->tally.too_long++;
		complete(m, q, IBV_WC_LOC_LEN_ERR, packet);
		break_up(m, q, IBV_WC_LOC_LEN_ERR);
		return;
	}
	q->psn = roce_psn_add(q->psn, 1);
	q->got += packet->length;
	q->packets++;
	if (packet->last) {
		m->tally.completed++;
		complete(m, q, IBV_WC_SUCCESS, packet);
	}
}

/* The packet that is due. */
static void
execute(struct model *m, struct model_qp *q, const struct model_packet *packet)
{
	q->refused = false;
	if (packet->first != (q->packets == 0)) {
		m->tally.breach++;
		break_up(m, q, IBV_WC_REM_INV_REQ_ERR);
		return;
	}
	if (packet->first) {
		if (!take(m, q)) {
			q->refused = true;
			forget_early(q);
			return;
		}
		if (judge_high(m, q)) {
			m->tally.hard++;
			break_up(m, q, IBV_WC_WR_FLUSH_ERR);
			return;
		}
	}
	place(m, q, packet);
}

/* A packet ahead of the one that is due waits for it, unless that found no receive. */
static void
keep_early(struct model_qp *q, const struct model_packet *packet)
{
	struct model_packet *place = &q->early[packet->psn % MODEL_EARLY];

	if (q->refused || roce_psn_diff(packet->psn, q->psn) < 0 || place->qp_name != 0)
		return;
	*place = *packet;
	q->early_packets++;
}

/* Those that were early and are due now. */
static void
execute_early(struct model *m, struct model_qp *q)
{
	struct model_packet *early = &q->early[q->psn % MODEL_EARLY];

	for (; early->qp_name != 0; early = &q->early[q->psn % MODEL_EARLY]) {
		const struct model_packet packet = *early;

		early->qp_name = 0;
		q->early_packets--;
		m->tally.early++;
		execute(m, q, &packet);
	}
}

void
model_arrive(struct model *m, const struct model_packet *packet)
{
	struct model_qp *q = &m->qp[packet->qp];

	if (q->name != packet->qp_name || (q->state != ROCE_QP_RTR && q->state != ROCE_QP_RTS))
		return;
	/* A frame of any kind proves that the peer is ready; the owner then says that this end is, too. */
	if (q->state == ROCE_QP_RTR) {
		m->tally.established++;
		tell(m, ROCE_ENGINE_ASYNC_QP_ESTABLISHED, q->name, 0, q->cq);
		q->state = ROCE_QP_RTS;
	}
	if (packet->psn != q->psn) {
		keep_early(q, packet);
		return;
	}
	execute(m, q, packet);
	execute_early(m, q);
}

/* ---- the books ---- */

static const char *
audit_srq(const struct model *m, uint16_t srq)
{
	const struct model_srq *s = &m->srq[srq];
	uint32_t places[MODEL_DONE + 1] = { 0 };

	for (uint16_t i = 0; i < MODEL_RECEIVES; i++) {
		if (m->receive[i].srq == srq)
			places[m->receive[i].place]++;
	}
	if (places[MODEL_QUEUED] != s->queued || places[MODEL_HELD] != s->held ||
			places[MODEL_DONE] != s->done || places[MODEL_IDLE] != 0)
		return "the model's counts are not those of its places";
	for (uint32_t i = 0; i < s->queued; i++) {
		uint16_t receive = s->line[(s->first + i) % MODEL_RECEIVES];

		if (m->receive[receive].srq != srq || m->receive[receive].place != MODEL_QUEUED)
			return "something in the model's line is not queued";
	}
	return NULL;
}

const char *
model_audit(const struct model *m)
{
	uint32_t busy = 0, waiting = 0, idle = 0;

	for (uint16_t i = 0; i < MODEL_SRQS; i++) {
		const char *wrong = m->srq[i].name != 0 ? audit_srq(m, i) : NULL;

		if (wrong != NULL)
			return wrong;
		if (m->srq[i].name != 0)
			busy += m->srq[i].queued + m->srq[i].held;
	}
	for (unsigned int i = 0; i < MODEL_CQS; i++)
		waiting += m->cq[i].name != 0 ? m->cq[i].waiting : 0;
	for (unsigned int i = 0; i < MODEL_RECEIVES; i++)
		idle += m->receive[i].place == MODEL_IDLE;
	if (idle != m->idles || busy + waiting + idle != MODEL_RECEIVES)
		return "the model lost a receive";
	return NULL;
}
