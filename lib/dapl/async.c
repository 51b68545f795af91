/* SPDX-License-Identifier: BSD-3-Clause */

/* Events of the asynchronous dispatcher of an adapter. */

#include "dapl/async.h"
#include "dapl/evd.h"
#include "dapl/event.h"
#include "dapl/ia.h"
#include "dapl/obj.h"
#include "engine/verbs.h"

void
dapl_evd_push_async(void *object, enum dapl_async_event what)
{
	struct dapl_obj *obj = object;
	struct dapl_evd *async = __atomic_load_n(&obj->ia->async_evd, __ATOMIC_ACQUIRE);
	const struct roce_event event = {
		.kind = DAPL_EVENT_ASYNC,
		.opcode = (uint8_t)what,
		.owner = obj,
	};

	/* A dispatcher that overflows cannot tell of it through itself. */
	if (async != NULL && async != object)
		roce_cq_push(async->cq, &event);
}

void
dapl_evd_overflow(struct dapl_evd *evd)
{
	/* Once is enough: the dispatcher has lost events and cannot be trusted any more. */
	if (!__atomic_exchange_n(&evd->overflowed, true, __ATOMIC_RELAXED))
		dapl_evd_push_async(evd, DAPL_ASYNC_EVD_OVERFLOW);
}
