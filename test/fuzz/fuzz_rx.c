/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzer of an adapter's receive path: frames of peers that are lost, repeated, late and changed, frames that no peer
 * sent, and between them every action of a consumer.
 */

#include <string.h>

#include "rx_world.h"
#include "engine/verbs.h"

static struct rx_side *
side_of(const uint8_t *r)
{
	return &rx_world.side[r[1] >> 7];
}

/* An end with a queue pair; NULL. */
static struct rx_end *
end_of(const uint8_t *r)
{
	struct rx_end *end = &side_of(r)->end[r[1] & 7];

	return end->qp != NULL ? end : NULL;
}

/* ---- frames ---- */

static void
inject(const uint8_t *r)
{
	static struct rx_flat flat;

	rx_forge(r, &flat);
	if (flat.len == 0 && r[14] == 0)
		return;
	/* Only frames to the same adapter come in one burst. */
	if ((r[15] & 0x40) && flat.to == 0 && rx_world.burst_len < RX_BURST) {
		rx_world.burst[rx_world.burst_len++] = flat;
		return;
	}
	rx_give(&rx_world.side[flat.to], r[15] >> 5 & 1, &flat);
}

static void
give_burst(const uint8_t *r)
{
	if (rx_world.burst_len > 0)
		rx_give_burst(&rx_world.side[0], r[1]);
}

/* A frame on the wire is changed; nobody makes its ICRC right, or an enemy does. */
static void
tamper(const uint8_t *r)
{
	struct rx_flat *flat;

	if (rx_world.flights == 0)
		return;
	flat = &rx_world.flight[r[2] % rx_world.flights];
	flat->genuine = false;
	rx_patch(flat, r + 3);
	rx_patch(flat, r + 6);
	if (r[9] & 1)
		(void)oracle_seal(flat->bytes, flat->len);
	flat->cut = (struct base_cut){
		.first = r[10], .second = r[11] & 15, .offset = (uint8_t)(r[11] >> 6 << 1)
	};
}

static void
carry(const uint8_t *r)
{
	for (uint32_t n = 1 + (r[3] & 15); n > 0 && rx_world.flights > 0; n--) {
		struct rx_flat *flat = &rx_world.flight[r[2] % rx_world.flights];

		if ((r[3] & 0x80) && flat->genuine)
			rx_mark(flat);
		rx_deliver(r[2] % rx_world.flights, r[4], false);
	}
}

static void
disturb(const uint8_t *r)
{
	if (rx_world.flights == 0)
		return;
	if (r[3] & 1)
		rx_lose(r[2] % rx_world.flights);
	else
		rx_deliver(r[2] % rx_world.flights, r[4], true);
}

static void
poll_once(const uint8_t *r)
{
	for (uint32_t n = 1 + (r[2] & 3); n > 0; n--) {
		(void)rx_speak(&rx_world.side[0], 1u + (r[3] & 31));
		(void)rx_speak(&rx_world.side[1], 1u + (r[3] & 31));
		if (r[4] & 1)
			rx_deliver_all();
	}
}

/* ---- consumers ---- */

static void
post(const uint8_t *r)
{
	struct rx_end *end = end_of(r);

	if (end == NULL)
		return;
	for (uint32_t n = 1 + (r[14] & 3); n > 0; n--)
		rx_post_message(end, r);
}

static void
bind(const uint8_t *r)
{
	struct rx_end *end = end_of(r);

	if (end != NULL)
		rx_post_bind(end, r);
}

static void
receive(const uint8_t *r)
{
	rx_post_receives(side_of(r), r[2] & 1 ? end_of(r) : NULL, 1u + (r[3] & 15));
}

static void
poll(const uint8_t *r)
{
	(void)rx_poll(side_of(r), 1u + (r[2] & 31));
}

/* On to the next deadline, or by microseconds, or by much. */
static void
wait(const uint8_t *r)
{
	rx_world.now = base_script_wait(r, rx_world.now, rx_next_deadline());
}

/* ---- control ---- */

static void
change_state(const uint8_t *r)
{
	struct rx_end *end = end_of(r);
	struct roce_engine *e;

	if (end == NULL)
		return;
	e = roce_qp_engine(end->qp);
	rx_end_harm(end);
	roce_engine_lock(e);
	switch (r[2] & 3) {
	case 0:
		roce_qp_to_error(end->qp);
		break;
	case 1:
		roce_qp_to_reset(end->qp);
		break;
	case 2:
		roce_qp_drain(end->qp);
		break;
	default:
		(void)roce_qp_to_rts(end->qp);
		break;
	}
	roce_engine_unlock(e);
	if ((r[2] & 4) && roce_qp_state(end->qp) == ROCE_QP_RESET &&
			(end->peer == NULL || end->peer->qp != NULL))
		rx_end_connect(end, r[2] & 8);
}

static void
remake(const uint8_t *r)
{
	struct rx_end *end = &side_of(r)->end[r[1] & 7];

	if (end->template.bth_off == 0)
		return;
	rx_end_harm(end);
	if (end->qp != NULL)
		rx_end_close(end);
	else if (end->peer == NULL || end->peer->qp != NULL)
		rx_end_open(end);
}

static void
control_queue(const uint8_t *r)
{
	struct rx_side *side = side_of(r);
	struct rx_end *end = end_of(r);

	switch (r[2] & 3) {
	case 0:
		(void)roce_srq_resize(side->srq, base_u16(r + 3) % 64);
		break;
	case 1:
		(void)roce_srq_set_low(side->srq, base_u16(r + 3) % 64);
		break;
	default:
		if (end == NULL)
			break;
		rx_end_harm(end);
		roce_engine_lock(roce_qp_engine(end->qp));
		roce_qp_set_high(end->qp, r[3] & 0x80 ? ROCE_HIGH_NONE : r[3] & 3,
				r[4] & 0x80 ? ROCE_HIGH_NONE : r[4] & 3);
		roce_engine_unlock(roce_qp_engine(end->qp));
		break;
	}
}

/* A region ends, with whatever uses it; or is made again. */
static void
control_memory(const uint8_t *r)
{
	struct rx_side *side = side_of(r);
	enum rx_region region = r[2] % RX_REGIONS;

	if (region == RX_DEAD || region == RX_OTHER)
		return;
	for (unsigned int talk = 0; talk < RX_TALKS; talk++)
		rx_end_harm(&side->end[talk]);
	if (side->mr[region] != NULL)
		rx_region_end(side, region);
	else
		rx_region_make(side, region);
}

static const base_step steps[BASE_STEPS] = { inject, inject, inject, inject, inject, inject, inject,
	inject, inject, inject, inject, inject, give_burst, tamper, tamper, carry, carry, carry,
	disturb, poll_once, poll_once, poll_once, post, post, bind, receive, poll, wait,
	change_state, remake, control_queue, control_memory };

static void
step(const uint8_t *r)
{
	base_script_do(steps, r);
	rx_check(&rx_world.side[0]);
	rx_check(&rx_world.side[1]);
}

/* ---- the beginning and the end ---- */

/* The world is not asleep when the script begins. */
static void
warm_up(const uint8_t *config)
{
	uint8_t r[BASE_RECORD] = { 0 };

	for (unsigned int s = 0; s < 2; s++)
		rx_post_receives(&rx_world.side[s], NULL, config[12] & 15);
	for (uint8_t i = 0; i < (config[12] >> 4); i++) {
		r[1] = (uint8_t)(i & 7);
		r[2] = (uint8_t)(config[13] + i);
		r[3] = ROCE_WR_SIGNALED;
		r[4] = config[14];
		r[5] = (uint8_t)(i & 3);
		rx_post_receives(&rx_world.side[i & 1], &rx_world.side[i & 1].end[2 + (i & 1)], 2);
		post(r);
	}
	for (uint8_t n = config[15] & 3; n > 0; n--) {
		(void)rx_speak(&rx_world.side[0], 32);
		(void)rx_speak(&rx_world.side[1], 32);
		if (config[15] & 4)
			rx_deliver_all();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct base_script script;

	if (!base_script_open(&script, data, size))
		return 0;
	rx_open(base_script_record(&script, 0));
	warm_up(rx_world.config);
	for (uint32_t i = 1; i < script.records; i++)
		step(base_script_record(&script, i));
	if (rx_world.burst_len > 0)
		rx_give_burst(&rx_world.side[0], 0);
	(void)rx_poll(&rx_world.side[0], UINT32_MAX);
	(void)rx_poll(&rx_world.side[1], UINT32_MAX);
	rx_dismiss();
	rx_settle();
	rx_close();
	return 0;
}
