/* SPDX-License-Identifier: BSD-3-Clause */

#include "dapl/cno.h"
#include "dapl/ia_limits.h"
#include "dapl/wait.h"
#include "front/event.h"

static const struct {
	DAT_EVD_FLAGS flag;
	uint32_t stream;
} streams[] = {
	{ DAT_EVD_SOFTWARE_FLAG, DAPL_STREAM_SOFTWARE },
	{ DAT_EVD_CR_FLAG, DAPL_STREAM_CR },
	{ DAT_EVD_DTO_FLAG, DAPL_STREAM_DTO },
	{ DAT_EVD_CONNECTION_FLAG, DAPL_STREAM_CONNECTION },
	{ DAT_EVD_RMR_BIND_FLAG, DAPL_STREAM_BIND },
	{ DAT_EVD_ASYNC_FLAG, DAPL_STREAM_ASYNC },
	{ EVD_EXTENSION_FLAG, DAPL_STREAM_EXTENSION },
};

/* All streams may share a dispatcher. Zero: an unknown flag, or none at all. */
static uint32_t
streams_in(unsigned int flags)
{
	uint32_t set = 0;

	for (unsigned int i = 0; i < RTE_DIM(streams); i++) {
		if ((flags & streams[i].flag) != 0)
			set |= streams[i].stream;
		flags &= ~(unsigned int)streams[i].flag;
	}
	return flags == 0 ? set : 0;
}

static DAT_EVD_FLAGS
streams_out(uint32_t set)
{
	unsigned int flags = 0;

	for (unsigned int i = 0; i < RTE_DIM(streams); i++)
		if ((set & streams[i].stream) != 0)
			flags |= streams[i].flag;
	return (DAT_EVD_FLAGS)flags;
}

/* The notification object behind an optional handle, of the same instance: true and NULL for a null handle. */
static bool
cno_or_null(const struct dapl_ia *ia, DAT_CNO_HANDLE handle, struct dapl_cno **cno)
{
	*cno = handle != DAT_HANDLE_NULL ? dapl_obj_of(ia, handle, DAPL_CNO) : NULL;
	return handle == DAT_HANDLE_NULL || *cno != NULL;
}

DAT_RETURN
front_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT evd_min_qlen, DAT_CNO_HANDLE cno_handle,
		DAT_EVD_FLAGS evd_flags, DAT_EVD_HANDLE *evd_handle)
{
	struct dapl_ia *ia = dapl_obj_check(ia_handle, DAPL_IA);
	uint32_t set = streams_in((unsigned int)evd_flags);
	enum dapl_status status;
	struct dapl_cno *cno;
	struct dapl_evd *evd;

	if (ia == NULL)
		return bad_handle(DAT_INVALID_HANDLE_IA);
	if (evd_min_qlen < 1)
		return bad_arg(DAT_INVALID_ARG2);
	if (evd_min_qlen > DAPL_MAX_EVD_LEN)
		return front_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD);
	if (!cno_or_null(ia, cno_handle, &cno))
		return bad_handle(DAT_INVALID_HANDLE_CNO);
	if (set == 0)
		return bad_arg(DAT_INVALID_ARG4);
	if (evd_handle == NULL)
		return bad_arg(DAT_INVALID_ARG5);
	status = dapl_evd_create(ia, (uint32_t)evd_min_qlen, set, cno, &evd);
	if (status == DAPL_OK)
		*evd_handle = evd;
	return front_return(status);
}

static DAT_EVD_STATE
state_out(const struct dapl_evd *evd)
{
	unsigned int state;

	state = __atomic_load_n(&evd->disabled, __ATOMIC_ACQUIRE) ? DAT_EVD_STATE_DISABLED
								  : DAT_EVD_STATE_ENABLED;
	state |= __atomic_load_n(&evd->unwaitable, __ATOMIC_ACQUIRE) ? DAT_EVD_STATE_UNWAITABLE
								     : DAT_EVD_STATE_WAITABLE;
	return (DAT_EVD_STATE)state;
}

DAT_RETURN
front_evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK evd_param_mask,
		DAT_EVD_PARAM *evd_param)
{
	struct dapl_evd *evd = dapl_obj_check(evd_handle, DAPL_EVD);

	if (evd == NULL)
		return bad_handle(DAT_INVALID_HANDLE1);
	if (((unsigned int)evd_param_mask & ~(unsigned int)DAT_EVD_FIELD_ALL) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (evd_param == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	*evd_param = (DAT_EVD_PARAM){
		.ia_handle = consumer_handle(evd->head.ia),
		.evd_qlen = (DAT_COUNT)roce_cq_depth(evd->cq),
		.evd_state = state_out(evd),
		.cno_handle = dapl_evd_cno(evd),
		.evd_flags = streams_out(evd->streams),
	};
	return DAT_SUCCESS;
}

DAT_RETURN
front_evd_take(DAT_EVD_HANDLE evd_handle, DAT_EVENT *event, struct roce_event *in)
{
	struct dapl_evd *evd = dapl_obj_check(evd_handle, DAPL_EVD);
	enum dapl_status status;

	if (unlikely(evd == NULL))
		return bad_handle(DAT_INVALID_HANDLE1);
	if (unlikely(event == NULL))
		return bad_arg(DAT_INVALID_ARG2);
	if (unlikely(in == NULL))
		return bad_arg(DAT_INVALID_ARG3);
	status = dapl_evd_dequeue(evd, in);
	if (status != DAPL_OK)
		return front_status(status);
	front_event(evd, in, event);
	return DAT_SUCCESS;
}

/* There is nothing yet, or something rare; or the call is refused. */
static __rte_noinline DAT_RETURN
dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT *event)
{
	struct roce_event in;

	return front_evd_take(evd_handle, event, &in);
}

FRONT_FLAT DAT_RETURN
front_evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT *event)
{
	struct dapl_evd *evd = dapl_obj_check(evd_handle, DAPL_EVD);
	struct roce_event in;

	if (unlikely(evd == NULL || event == NULL || !dapl_evd_try_dequeue(evd, &in)))
		return dequeue(evd_handle, event);
	completion_event(evd, &in, event);
	return DAT_SUCCESS;
}

DAT_RETURN
front_evd_await(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold,
		DAT_EVENT *event, DAT_COUNT *n_more_events, struct roce_event *in)
{
	struct dapl_evd *evd = dapl_obj_check(evd_handle, DAPL_EVD);
	enum dapl_status status;
	uint32_t more = 0;

	if (evd == NULL)
		return bad_handle(DAT_INVALID_HANDLE1);
	if (threshold < 1 || (uint32_t)threshold > roce_cq_depth(evd->cq))
		return bad_arg(DAT_INVALID_ARG3);
	if (event == NULL)
		return bad_arg(DAT_INVALID_ARG4);
	if (n_more_events == NULL)
		return bad_arg(DAT_INVALID_ARG5);
	if (in == NULL)
		return bad_arg(DAT_INVALID_ARG6);
	status = dapl_evd_wait(evd, timeout, (uint32_t)threshold, in, &more);
	if (status == DAPL_OK)
		front_event(evd, in, event);
	if (status == DAPL_OK || status == DAPL_TIMEOUT)
		*n_more_events = (DAT_COUNT)more;
	return front_return(status);
}

DAT_RETURN
front_evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold,
		DAT_EVENT *event, DAT_COUNT *n_more_events)
{
	struct roce_event in;

	return front_evd_await(evd_handle, timeout, threshold, event, n_more_events, &in);
}

DAT_RETURN
front_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT evd_min_qlen)
{
	struct dapl_evd *evd = dapl_obj_check(evd_handle, DAPL_EVD);

	if (evd == NULL)
		return bad_handle(DAT_INVALID_HANDLE1);
	if (evd_min_qlen < 1)
		return bad_arg(DAT_INVALID_ARG2);
	if (evd_min_qlen > DAPL_MAX_EVD_LEN)
		return front_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD);
	return front_return(dapl_evd_resize(evd, (uint32_t)evd_min_qlen));
}

DAT_RETURN
front_evd_modify_cno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle)
{
	struct dapl_evd *evd = dapl_obj_check(evd_handle, DAPL_EVD);
	struct dapl_cno *cno;

	if (evd == NULL)
		return bad_handle(DAT_INVALID_HANDLE1);
	if (!cno_or_null(evd->head.ia, cno_handle, &cno))
		return bad_handle(DAT_INVALID_HANDLE_CNO);
	dapl_evd_set_cno(evd, cno);
	return DAT_SUCCESS;
}

DAT_RETURN
front_evd_free(DAT_EVD_HANDLE evd_handle)
{
	struct dapl_evd *evd = dapl_obj_check(evd_handle, DAPL_EVD);

	if (evd == NULL)
		return bad_handle(DAT_INVALID_HANDLE1);
	return front_return(dapl_evd_free(evd));
}

/* Switch one side of a dispatcher. */
static DAT_RETURN
set(DAT_EVD_HANDLE evd_handle, void (*side)(struct dapl_evd *evd, bool on), bool on)
{
	struct dapl_evd *evd = dapl_obj_check(evd_handle, DAPL_EVD);

	if (evd == NULL)
		return bad_handle(DAT_INVALID_HANDLE1);
	side(evd, on);
	return DAT_SUCCESS;
}

DAT_RETURN
front_evd_enable(DAT_EVD_HANDLE evd_handle)
{
	return set(evd_handle, dapl_evd_set_enabled, true);
}

DAT_RETURN
front_evd_disable(DAT_EVD_HANDLE evd_handle)
{
	return set(evd_handle, dapl_evd_set_enabled, false);
}

DAT_RETURN
front_evd_set_unwaitable(DAT_EVD_HANDLE evd_handle)
{
	return set(evd_handle, dapl_evd_set_waitable, false);
}

DAT_RETURN
front_evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle)
{
	return set(evd_handle, dapl_evd_set_waitable, true);
}

DAT_RETURN
front_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT *event)
{
	struct dapl_evd *evd = dapl_obj_check(evd_handle, DAPL_EVD);

	if (evd == NULL || (evd->streams & DAPL_STREAM_SOFTWARE) == 0)
		return bad_handle(DAT_INVALID_HANDLE1);
	if (event == NULL || event->event_number != DAT_SOFTWARE_EVENT)
		return bad_arg(DAT_INVALID_ARG2);
	return front_return(dapl_evd_post_software(
			evd, (uintptr_t)event->event_data.software_event_data.pointer));
}
