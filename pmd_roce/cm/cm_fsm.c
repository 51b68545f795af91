/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The life of a connection as one table (IBTA Vol 1, 12.9). A row is a state, a column what happens; a cell says what is
 * done (cm_action.c) and which state follows. The state is changed first, then the action runs. An action may yield an
 * input, which is taken next.
 *
 * Beyond the chapter: a DREQ in REP_SENT proves that our REP arrived, so the
 * owner hears ESTABLISHED before DISCONNECTED. A peer that has received data may
 * be established and leave while our owner still prepares its queue pair (REP_RCVD).
 */

#include <rte_common.h>

#include "cm/cm_action.h"
#include "cm/cm_conn.h"
#include "cm/cm_fsm.h"

struct cell {
	uint8_t action;
	uint8_t next; /* 0: stay */
};

#define S(state) ROCE_CM_STATE_##state
#define I(input) [ROCE_CM_IN_##input]
#define A(name)  ROCE_CM_ACT_##name

/* Printed and compared in test_cm_fsm.c. */
static const struct cell table[ROCE_CM_STATES][ROCE_CM_INPUTS] = {
	/* clang-format off */
	[S(RESOLVING)] = {
		I(TIMER)    = { A(resolve),       0 },
		I(RESOLVED) = { A(request),       S(REQ_SENT) },
		I(FOUND)    = { A(found),         S(CLOSED) },
		I(GIVE_UP)  = { A(unreachable),   S(CLOSED) },
		I(END)      = { A(drop),          S(CLOSED) },
	},
	[S(REQ_SENT)] = {
		I(MRA)      = { A(prolong),       0 },
		I(REJ)      = { A(refused),       S(TIMEWAIT) },
		I(REP)      = { A(reply),         S(REP_RCVD) },
		I(SMALLER)  = { A(request),       S(REQ_SENT) },
		I(TIMER)    = { A(repeat),        0 },
		I(GIVE_UP)  = { A(timed_out),     S(TIMEWAIT) },
		I(END)      = { A(reject),        S(TIMEWAIT) },
	},
	[S(REP_RCVD)] = {
		I(REJ)      = { A(refused),       S(TIMEWAIT) },
		I(REP)      = { A(patience),      0 },
		I(DREQ)     = { A(left),          S(TIMEWAIT) },
		I(READY)    = { A(confirm),       S(ESTABLISHED) },
		I(END)      = { A(reject),        S(TIMEWAIT) },
	},
	[S(REQ_RCVD)] = {
		I(REQ)      = { A(patience),      0 },
		I(REJ)      = { A(refused),       S(TIMEWAIT) },
		I(ACCEPT)   = { A(answer),        S(REP_SENT) },
		I(END)      = { A(reject),        S(TIMEWAIT) },
	},
	[S(REP_SENT)] = {
		I(REQ)      = { A(again),         0 },
		I(MRA)      = { A(prolong),       0 },
		I(REJ)      = { A(refused),       S(TIMEWAIT) },
		I(RTU)      = { A(establish),     S(ESTABLISHED) },
		I(DREQ)     = { A(establish),     S(ESTABLISHED) },
		I(TIMER)    = { A(repeat),        0 },
		I(GIVE_UP)  = { A(timed_out),     S(TIMEWAIT) },
		I(READY)    = { A(establish),     S(ESTABLISHED) },
		I(QP_UP)    = { A(establish),     S(ESTABLISHED) },
		I(QP_DOWN)  = { A(reject),        S(TIMEWAIT) },
		I(END)      = { A(reject),        S(TIMEWAIT) },
	},
	[S(ESTABLISHED)] = {
		I(REJ)      = { A(left),          S(TIMEWAIT) },
		I(REP)      = { A(confirm),       0 },
		I(DREQ)     = { A(left),          S(TIMEWAIT) },
		I(QP_DOWN)  = { A(disconnect),    S(DREQ_SENT) },
		I(STALE)    = { A(left),          S(TIMEWAIT) },
		I(END)      = { A(disconnect),    S(DREQ_SENT) },
	},
	[S(DREQ_SENT)] = {
		I(REJ)      = { A(left),          S(TIMEWAIT) },
		I(DREQ)     = { A(left),          S(TIMEWAIT) },
		I(DREP)     = { A(left),          S(TIMEWAIT) },
		I(TIMER)    = { A(repeat),        0 },
		I(GIVE_UP)  = { A(left),          S(TIMEWAIT) },
	},
	[S(TIMEWAIT)] = {
		I(REQ)      = { A(again),         0 },
		I(REP)      = { A(refuse_reply),  0 },
		I(DREQ)     = { A(answer_dreq),   0 },
		I(TIMER)    = { A(forget),        S(CLOSED) },
	},
	[S(CLOSED)] = {
		I(REP)      = { A(refuse_reply),  0 },
		I(DREQ)     = { A(answer_dreq),   0 },
	},
	/* clang-format on */
};

#undef S
#undef I
#undef A

/* @param then  what happens next: the action's. @return false: the input means nothing in this state. */
static bool
take(struct roce_cm_conn *conn, const struct roce_cm_input *in, struct roce_cm_input *then)
{
	struct roce_cm_transition step = {
		.in = in,
		.from = conn->state,
		.then = { .kind = ROCE_CM_INPUTS },
	};
	struct cell cell = table[step.from][in->kind];

	if (cell.action == ROCE_CM_ACT_none)
		return false;
	if (cell.next != 0)
		roce_cm_conn_move(conn, cell.next, in->now);
	roce_cm_action[cell.action].act(conn, &step);
	*then = step.then;
	return true;
}

bool
roce_cm_step(struct roce_cm_conn *conn, const struct roce_cm_input *in)
{
	struct roce_cm_input current, then;

	if (!take(conn, in, &then))
		return false;
	while (then.kind != ROCE_CM_INPUTS) {
		current = then;
		if (!take(conn, &current, &then))
			break;
	}
	return true;
}

static void
timer_fired(struct roce_timer *timer, uint64_t now)
{
	struct roce_cm_conn *conn = container_of(timer, struct roce_cm_conn, timer);

	roce_cm_step_kind(conn, ROCE_CM_IN_TIMER, now);
}

void
roce_cm_begin(struct roce_cm_conn *conn, enum roce_cm_state state, uint64_t now)
{
	roce_timer_init(&conn->timer, timer_fired);
	roce_cm_conn_move(conn, state, now);
}

const char *
roce_cm_fsm_cell(enum roce_cm_state state, enum roce_cm_input_kind input, unsigned int *next)
{
	struct cell cell = table[state][input];

	*next = cell.next;
	return cell.action == ROCE_CM_ACT_none ? NULL : roce_cm_action[cell.action].name;
}
