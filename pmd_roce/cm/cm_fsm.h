/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_CM_CM_FSM_H
#define ROCE_CM_CM_FSM_H

/**
 * @file
 * The life of a connection: its table of states.
 */

#include "cm/cm_pvt.h"

/** The first state of a new connection. */
void roce_cm_begin(struct roce_cm_conn *conn, enum roce_cm_state state, uint64_t now);

/** Move a connection. It may be gone afterwards. @return false: the input means nothing in its state. */
bool roce_cm_step(struct roce_cm_conn *conn, const struct roce_cm_input *in);

/** Shorthand for an input that is nothing but its kind. */
static inline bool
roce_cm_step_kind(struct roce_cm_conn *conn, enum roce_cm_input_kind kind, uint64_t now)
{
	return roce_cm_step(conn, &(struct roce_cm_input){ .kind = kind, .now = now });
}

/** For the test that prints the table: name of the action, NULL when there is none; next state, 0 for the same. */
const char *
roce_cm_fsm_cell(enum roce_cm_state state, enum roce_cm_input_kind input, unsigned int *next);

#endif
