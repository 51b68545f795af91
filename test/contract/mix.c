/* SPDX-License-Identifier: BSD-3-Clause */

#include "mix.h"

struct mix mix;

void
mix_begin(void)
{
	mix.rmr = make_rmr(a);
	mix.target = b->key;
}

void
mix_up(DAT_COUNT depth)
{
	const struct end_options options = { .depth = depth, .evd_len = 2 * depth + 8 };

	pair_open(&pair, &options, &options);
	pair_connect(&pair);
	mix_begin();
}

DAT_RETURN
mix_post_with(enum verb verb, DAT_VLEN length, uint64_t value, unsigned int flags)
{
	const DAT_COMPLETION_FLAGS f = (DAT_COMPLETION_FLAGS)flags;
	DAT_LMR_TRIPLET iov = segment(a, 0, length);
	DAT_RMR_TRIPLET there = target(b, 0, length);
	DAT_RMR_CONTEXT context;

	there.rmr_context = mix.target;
	switch (verb) {
	case SEND:
		return dat_ep_post_send(a->ep, 1, &iov, cookie(value), f);
	case WRITE:
		return dat_ep_post_rdma_write(a->ep, 1, &iov, cookie(value), &there, f);
	case READ:
		return dat_ep_post_rdma_read(a->ep, 1, &iov, cookie(value), &there, f);
	default:
		return dat_rmr_bind(mix.rmr, &iov, DAT_MEM_PRIV_REMOTE_READ_FLAG, a->ep,
				cookie(value), f, &context);
	}
}

DAT_RETURN
mix_post(enum verb verb, DAT_VLEN length, uint64_t value)
{
	return mix_post_with(verb, length, value, DAT_COMPLETION_DEFAULT_FLAG);
}

void
mix_result(const DAT_EVENT *event, uint64_t *value, DAT_DTO_COMPLETION_STATUS *status)
{
	const DAT_RMR_BIND_COMPLETION_EVENT_DATA *bind =
			&event->event_data.rmr_completion_event_data;
	const DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;

	if (event->event_number == DAT_RMR_BIND_COMPLETION_EVENT) {
		*value = bind->user_cookie.as_64;
		*status = bind->status;
	} else {
		assert_int_equal(event->event_number, DAT_DTO_COMPLETION_EVENT);
		*value = dto->user_cookie.as_64;
		*status = dto->status;
	}
}

void
mix_want(uint64_t value, DAT_DTO_COMPLETION_STATUS status)
{
	DAT_DTO_COMPLETION_STATUS got_status;
	uint64_t got_value;
	DAT_EVENT event = next_event(a->request);

	mix_result(&event, &got_value, &got_status);
	assert_int_equal(got_value, value);
	assert_int_equal(got_status, status);
}

void
mix_want_verbs(DAT_DTO_COMPLETION_STATUS status)
{
	for (enum verb verb = SEND; verb < VERBS; verb++)
		mix_want(verb, status);
}
