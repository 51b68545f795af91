/* SPDX-License-Identifier: BSD-3-Clause */
/* Control: questions, sizes, marks, and the life cycles of connections and objects. */

#include <errno.h>

#include "steps.h"
#include "wire/psn.h"

#define RESIZE_MAX 100u /**< receives; enough that not all sizes are powers of two or nearly so */
#define TOO_MANY   ((1u << 20) + 1)
#define FAR        0x100000u /**< PSNs: no frame of the last connection fits the next one */

void
step_query(struct ground *g)
{
	uint16_t srq = step_pick_srq(g);

	trace_step(WALK_QUERY, srq, 0, 0, 0);
	ground_query(g, srq);
}

/* Which allocation fails: mostly none. */
static uint32_t
draw_failure(struct ground *g, uint32_t allocations)
{
	return ground_chance(g, 8) ? 1 + ground_draw(g, allocations) : 0;
}

/* Sizes around what decides: outstanding, the watermark, the present size; now and then nonsense. */
static uint32_t
draw_size(struct ground *g, const struct model_srq *s)
{
	switch (ground_draw(g, 8)) {
	case 0:
		return model_outstanding(s);
	case 1:
		return model_outstanding(s) - 1;
	case 2:
		return s->low;
	case 3:
		return s->low - 1;
	case 4:
		return ground_chance(g, 2) ? 0 : TOO_MANY;
	case 5:
		return s->max;
	default:
		return 1 + ground_draw(g, RESIZE_MAX);
	}
}

void
step_resize(struct ground *g)
{
	uint16_t srq = step_pick_srq(g);
	uint32_t max = draw_size(g, &g->model.srq[srq]);
	uint32_t failing = draw_failure(g, 1);
	int rc;

	/* The model does not grow without bound: not every size that is allowed is tried. */
	if (max > RESIZE_MAX && max < TOO_MANY)
		max = 0;
	trace_step(WALK_RESIZE, srq, max, failing, 0);
	ground_fail(failing);
	rc = roce_srq_resize(g->srq[srq], max);
	trace_answer(rc);
	if (ground_failed())
		TRACE_SAME("resize without memory", rc, -ENOMEM);
	else
		TRACE_SAME("resize", rc, model_resize(&g->model, srq, max));
	ground_query(g, srq);
}

void
step_set_low(struct ground *g)
{
	uint16_t srq = step_pick_srq(g);
	const struct model_srq *s = &g->model.srq[srq];
	const uint32_t around[] = { 0, s->queued, s->queued + 1, s->max, s->max + 1,
		ground_draw(g, s->max + 1), s->queued / 2, s->low };
	uint32_t low = around[ground_draw(g, RTE_DIM(around))];
	int want, rc;

	trace_step(WALK_SET_LOW, srq, low, 0, 0);
	want = model_set_low(&g->model, srq, low);
	rc = roce_srq_set_low(g->srq[srq], low);
	trace_answer(rc);
	TRACE_SAME("set_low", rc, want);
}

static void
apply_high(struct ground *g, uint16_t qp, uint32_t soft, uint32_t hard)
{
	struct roce_engine *e = roce_qp_engine(g->qp[qp]);

	model_set_high(&g->model, qp, soft, hard);
	roce_engine_lock(e);
	roce_qp_set_high(g->qp[qp], soft, hard);
	roce_engine_unlock(e);
}

void
step_set_high(struct ground *g)
{
	static const uint32_t soft[] = { 0, 0, 0, 1, 2, MODEL_INFINITE };
	static const uint32_t hard[] = { 0, 1, 2, 3, MODEL_INFINITE, MODEL_INFINITE, MODEL_INFINITE,
		MODEL_INFINITE };
	uint16_t qp = step_pick_qp(g);
	uint32_t s = soft[ground_draw(g, RTE_DIM(soft))];
	uint32_t h = hard[ground_draw(g, RTE_DIM(hard))];

	if (qp == MODEL_NONE) {
		step_free(g);
		return;
	}
	trace_step(WALK_SET_HIGH, qp, s, h, 0);
	apply_high(g, qp, s, h);
}

void
step_disconnect(struct ground *g)
{
	uint16_t qp = step_pick_qp(g);
	struct roce_engine *e;

	if (qp == MODEL_NONE) {
		step_free(g);
		return;
	}
	trace_step(WALK_DISCONNECT, qp, 0, 0, 0);
	model_to_error(&g->model, qp);
	e = roce_qp_engine(g->qp[qp]);
	roce_engine_lock(e);
	roce_qp_to_error(g->qp[qp]);
	roce_engine_unlock(e);
}

/* ---- free, and make again ---- */

/* Only a live shared queue and completion queue can be attached to. */
static void
remake_qp(struct ground *g, uint16_t qp)
{
	uint16_t srq = step_pick_srq(g);
	uint16_t cq = ground_chance(g, 16) ? MODEL_NONE : step_pick_cq(g);
	uint32_t failing = draw_failure(g, 5);

	trace_step(WALK_FREE, 0, qp, 0, failing);
	if (g->model.qp[qp].name != 0)
		ground_qp_end(g, qp);
	if (ground_qp_make(g, qp, srq, cq, failing) && !ground_chance(g, 8))
		ground_connect(g, qp, ground_draw(g, 1u << 24), !ground_chance(g, 3));
}

/* A completion queue with queue pairs is refused; when they are ended first it goes, events and all. */
static void
remake_cq(struct ground *g, uint16_t cq)
{
	static const uint32_t depth[] = { 1, 4, 16, 100, 256, MODEL_EVENTS };
	bool alone = ground_chance(g, 2);
	uint32_t failing = draw_failure(g, 2);

	trace_step(WALK_FREE, 1, cq, alone, failing);
	for (uint16_t i = 0; alone && i < g->qps; i++) {
		if (g->model.qp[i].name != 0 && g->model.qp[i].cq == cq)
			ground_qp_end(g, i);
	}
	ground_cq_end(g, cq);
	/* One there always is. */
	if (g->model.cq[cq].name == 0 && !ground_cq_make(g, cq, depth[ground_draw(g, 6)], failing))
		(void)ground_cq_make(g, cq, MODEL_EVENTS, 0);
}

static void
remake_srq(struct ground *g, uint16_t srq)
{
	bool alone = ground_chance(g, 2);
	uint32_t failing = draw_failure(g, 2);
	uint32_t max = 1 + ground_draw(g, ground_chance(g, 2) ? 4 : 64);

	trace_step(WALK_FREE, 2, srq, alone, failing);
	for (uint16_t i = 0; alone && i < g->qps; i++) {
		if (g->model.qp[i].name != 0 && g->model.qp[i].srq == srq)
			ground_qp_end(g, i);
	}
	ground_srq_end(g, srq);
	if (g->model.srq[srq].name == 0 && !ground_srq_make(g, srq, max, failing))
		(void)ground_srq_make(g, srq, max, 0);
}

void
step_free(struct ground *g)
{
	switch (ground_draw(g, 8)) {
	case 0:
		remake_cq(g, step_pick_cq(g));
		break;
	case 1:
		remake_srq(g, step_pick_srq(g));
		break;
	default:
		remake_qp(g, (uint16_t)ground_draw(g, g->qps));
	}
}

/* ---- reconnect ---- */

/* The next place, from this one on, where no queue pair is or one that is down; this one when there is none. */
static uint16_t
next_down(const struct ground *g, uint16_t qp)
{
	for (unsigned int n = 0; n < g->qps; n++) {
		uint16_t i = (uint16_t)((qp + n) % g->qps);
		const struct model_qp *q = &g->model.qp[i];

		if (q->name == 0 || q->state == ROCE_QP_ERR || q->state == ROCE_QP_RESET)
			return i;
	}
	return qp;
}

/* One that is down, or has to be made first; now and then one that is up and is simply reset. */
void
step_reconnect(struct ground *g)
{
	uint16_t qp = (uint16_t)ground_draw(g, g->qps);
	bool ready = !ground_chance(g, 3);
	struct roce_engine *e;
	uint32_t psn;

	if (!ground_chance(g, 8))
		qp = next_down(g, qp);
	if (g->model.qp[qp].name == 0) {
		remake_qp(g, qp);
		return;
	}
	psn = (g->model.qp[qp].psn + FAR + ground_draw(g, 1u << 12)) & ROCE_PSN_MASK;
	trace_step(WALK_RECONNECT, qp, psn, ready, 0);
	model_to_reset(&g->model, qp);
	e = roce_qp_engine(g->qp[qp]);
	roce_engine_lock(e);
	roce_qp_to_reset(g->qp[qp]);
	roce_engine_unlock(e);
	/* The marks outlive it: with a hard one of 0 it would break at its first message, again and again. */
	if (g->model.qp[qp].hard == 0 && ground_chance(g, 2))
		apply_high(g, qp, 0, MODEL_INFINITE);
	/* Some stay in RESET for a while. */
	if (!ground_chance(g, 16))
		ground_connect(g, qp, psn, ready);
}
