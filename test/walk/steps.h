/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WALK_STEPS_H
#define ROCE_WALK_STEPS_H

/**
 * @file
 * The steps of a walk: each draws what it needs, and is traced and compared.
 */

#include "ground.h"

typedef void (*step_fn)(struct ground *g);

/* Traffic (step_traffic.c). */
void step_post(struct ground *g);
void step_arrive(struct ground *g);
void step_stray(struct ground *g);
void step_reap(struct ground *g);
void step_poll(struct ground *g);

/* Control (step_control.c). */
void step_query(struct ground *g);
void step_resize(struct ground *g);
void step_set_low(struct ground *g);
void step_set_high(struct ground *g);
void step_disconnect(struct ground *g);
void step_reconnect(struct ground *g);
void step_free(struct ground *g);

/** A live shared queue, completion queue, queue pair, drawn; the last one MODEL_NONE when there is none. */
uint16_t step_pick_srq(struct ground *g);
uint16_t step_pick_cq(struct ground *g);
uint16_t step_pick_qp(struct ground *g);

#endif
