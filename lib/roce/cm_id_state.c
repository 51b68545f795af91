/* SPDX-License-Identifier: BSD-3-Clause */

/* The life of an id as a table. */

#include "user.h"

#define S(state) [ROCE_CM_ID_##state]
#define I(input) [ROCE_CM_ID_IN_##input]

/* A hole means that it is not allowed. An id that a request brought begins in REQUESTED. */
static const uint8_t table[ROCE_CM_ID_STATES][ROCE_CM_ID_INPUTS] = {
	/* clang-format off */
	S(IDLE)       = { I(LISTEN) = ROCE_CM_ID_LISTENING, I(CONNECT) = ROCE_CM_ID_CONNECTING },
	S(CONNECTING) = { I(ANSWER) = ROCE_CM_ID_ANSWERED, I(UP) = ROCE_CM_ID_CONNECTED,
			  I(FAIL) = ROCE_CM_ID_OVER },
	S(ANSWERED)   = { I(UP) = ROCE_CM_ID_CONNECTED, I(FAIL) = ROCE_CM_ID_OVER,
			  I(END) = ROCE_CM_ID_OVER },
	S(REQUESTED)  = { I(ACCEPT) = ROCE_CM_ID_ACCEPTING, I(FAIL) = ROCE_CM_ID_OVER },
	S(ACCEPTING)  = { I(UP) = ROCE_CM_ID_CONNECTED, I(FAIL) = ROCE_CM_ID_OVER },
	S(CONNECTED)  = { I(DISCONNECT) = ROCE_CM_ID_LEAVING, I(END) = ROCE_CM_ID_OVER },
	S(LEAVING)    = { I(END) = ROCE_CM_ID_OVER },
	/* clang-format on */
};

#undef S
#undef I

bool
roce_cm_id_advance(struct roce_cm_id *id, enum roce_cm_id_input in)
{
	uint8_t next = table[id->state][in];

	if (next == 0)
		return false;
	id->state = next;
	return true;
}

bool
roce_cm_id_may(const struct roce_cm_id *id, enum roce_cm_id_input in)
{
	return table[id->state][in] != 0;
}

struct roce_cm_id *
roce_cm_id_new(struct roce_user *user, void *owner)
{
	struct roce_cm_id *id = roce_user_alloc(sizeof(*id));

	if (id == NULL)
		return NULL;
	id->user = user;
	id->owner = owner;
	id->state = ROCE_CM_ID_IDLE;
	__atomic_fetch_add(&user->joined.context.users, 1, __ATOMIC_RELAXED);
	return id;
}
