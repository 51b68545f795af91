/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_CM_CM_ACTION_H
#define ROCE_CM_CM_ACTION_H

/**
 * @file
 * The actions that the table of states names: what is sent, armed and told. Each is done in the state that follows.
 */

#include "cm/cm_pvt.h"

#define ROCE_CM_ACTIONS(X)                                                               \
	X(none)         /* means nothing here */                                         \
	X(resolve)      /* resolve the path */                                           \
	X(found)        /* path resolved: tell */                                        \
	X(request)      /* send the REQ */                                               \
	X(repeat)       /* send the stored message again, or give up */                  \
	X(prolong)      /* the peer asks for patience */                                 \
	X(reply)        /* the REP came: tell the owner, who brings the queue pair up */ \
	X(confirm)      /* send the RTU */                                               \
	X(patience)     /* send an MRA */                                                \
	X(answer)       /* accepted: send the REP */                                     \
	X(again)        /* the peer did not hear us: the stored message once more */     \
	X(establish)    /* tell that it is up */                                         \
	X(reject)       /* the owner does not want it: send a REJ */                     \
	X(refused)      /* the peer does not want it: tell */                            \
	X(timed_out)    /* nobody answers: send a REJ, tell */                           \
	X(unreachable)  /* there is no route: tell */                                    \
	X(disconnect)   /* send the DREQ */                                              \
	X(left)         /* it is over: answer a DREQ, tell */                            \
	X(answer_dreq)  /* over already: send the DREP */                                \
	X(refuse_reply) /* over already: refuse the REP */                               \
	X(drop)         /* nothing was sent, nothing is to do */                         \
	X(forget)       /* the ids may be used again */

enum roce_cm_action_id {
#define ROCE_CM_ENUMERATE(name) ROCE_CM_ACT_##name,
	ROCE_CM_ACTIONS(ROCE_CM_ENUMERATE)
#undef ROCE_CM_ENUMERATE
};

/** One step of a connection. */
struct roce_cm_transition {
	const struct roce_cm_input *in; /**< what happened */
	uint8_t from;                   /**< the state it happened in */
	struct roce_cm_input then;      /**< yielded by the action; kind ROCE_CM_INPUTS: none */
};

struct roce_cm_action {
	void (*act)(struct roce_cm_conn *conn, struct roce_cm_transition *step);
	const char *name;
};

/** By enum roce_cm_action_id. The connection may be gone behind one that yields no input. */
extern const struct roce_cm_action roce_cm_action[];

/** How long to wait for an answer after @p tries repeats, microseconds. */
uint64_t roce_cm_repeat_us(unsigned int tries);

#endif
