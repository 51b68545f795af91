/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_CM_CM_CONN_H
#define ROCE_CM_CM_CONN_H

/**
 * @file
 * One connection: what follows from its state.
 */

#include "cm/cm_pvt.h"

/** The only assignment to conn->state: bookkeeping that follows from being in a state or leaving it. */
void roce_cm_conn_move(struct roce_cm_conn *conn, enum roce_cm_state state, uint64_t now);

/** Owe the wire @p what (ROCE_CM_OWE_*). */
void roce_cm_conn_owe(struct roce_cm_conn *conn, uint8_t what);

/** Arm the timer @p us from now, but not behind the consumer's patience. */
void roce_cm_conn_arm(struct roce_cm_conn *conn, uint64_t us, uint64_t now);

/**
 * Tell the owner. The connection may have moved on, or be gone, when it returns.
 * @return of the owner; -ENOTCONN: nobody wants to know.
 */
int roce_cm_conn_tell(struct roce_cm_conn *conn, enum roce_cm_event_kind kind,
		const struct roce_cm_msg *msg);

#endif
