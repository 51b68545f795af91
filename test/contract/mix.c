/* SPDX-License-Identifier: BSD-3-Clause */

#include "mix.h"

void
mix_up(struct mix *m, DAT_COUNT depth)
{
	const struct end_options options = { .depth = depth, .evd_len = 2 * depth + 8 };
	struct end *b = &m->pair.b;

	*m = (struct mix){ .rmr = DAT_HANDLE_NULL };
	pair_open(&m->pair, &options, &options);
	pair_connect(&m->pair);
	ok(dat_rmr_create(m->pair.a.pz, &m->rmr));
	m->target = b->key;
}

void
mix_close(struct mix *m)
{
	pair_close(&m->pair);
}

DAT_RETURN
mix_post(struct mix *m, enum verb verb, DAT_VLEN length, uint64_t value)
{
	const DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
	struct end *a = &m->pair.a;
	DAT_LMR_TRIPLET iov = segment(a, 0, length);
	const DAT_RMR_TRIPLET there = {
		.rmr_context = m->target,
		.target_address = (uintptr_t)m->pair.b.buffer,
		.segment_length = length,
	};
	DAT_RMR_CONTEXT context;

	switch (verb) {
	case SEND:
		return dat_ep_post_send(a->ep, 1, &iov, cookie(value), flags);
	case WRITE:
		return dat_ep_post_rdma_write(a->ep, 1, &iov, cookie(value), &there, flags);
	case READ:
		return dat_ep_post_rdma_read(a->ep, 1, &iov, cookie(value), &there, flags);
	default:
		return dat_rmr_bind(m->rmr, &iov, DAT_MEM_PRIV_REMOTE_READ_FLAG, a->ep,
				cookie(value), flags, &context);
	}
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
mix_want(struct mix *m, uint64_t value, DAT_DTO_COMPLETION_STATUS status)
{
	DAT_DTO_COMPLETION_STATUS got_status;
	uint64_t got_value;
	DAT_EVENT event;
	DAT_COUNT more;

	ok(dat_evd_wait(m->pair.a.request, PATIENCE_US, 1, &event, &more));
	mix_result(&event, &got_value, &got_status);
	assert_int_equal(got_value, value);
	assert_int_equal(got_status, status);
}

DAT_LMR_HANDLE
mix_region(const struct end *end, DAT_LMR_CONTEXT *key, DAT_RMR_CONTEXT *peer_key)
{
	DAT_REGION_DESCRIPTION region = { .for_va = end->buffer };
	DAT_RMR_CONTEXT remote;
	DAT_LMR_CONTEXT local;
	DAT_LMR_HANDLE lmr;

	ok(dat_lmr_create(end->ia, DAT_MEM_TYPE_VIRTUAL, region, BUFFER_LEN, end->pz,
			DAT_MEM_PRIV_ALL_FLAG, &lmr, &local, &remote, NULL, NULL));
	if (key != NULL)
		*key = local;
	if (peer_key != NULL)
		*peer_key = remote;
	return lmr;
}

void
mix_want_all(const struct end *end, uint8_t byte)
{
	for (size_t i = 0; i < BUFFER_LEN; i++)
		if (end->buffer[i] != byte)
			fail_msg("byte %zu is 0x%x", i, end->buffer[i]);
}
