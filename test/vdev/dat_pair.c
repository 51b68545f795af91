/* SPDX-License-Identifier: BSD-3-Clause */

#include <netinet/in.h>

#include "dat_pair.h"

#define ENDS_MAX 16

/* Adapters that end_open() opened and end_close() has not closed. */
static DAT_IA_HANDLE left_open[ENDS_MAX];

static void
replace_open(DAT_IA_HANDLE from, DAT_IA_HANDLE to)
{
	unsigned int i;

	for (i = 0; i < ENDS_MAX && left_open[i] != from; i++)
		;
	assert_true(i < ENDS_MAX);
	left_open[i] = to;
}

int
ends_sweep(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ENDS_MAX; i++) {
		if (left_open[i] != DAT_HANDLE_NULL)
			dat_ia_close(left_open[i], DAT_CLOSE_ABRUPT_FLAG);
		left_open[i] = DAT_HANDLE_NULL;
	}
	return 0;
}

static DAT_EVD_HANDLE
make_evd(struct end *end, DAT_COUNT len, DAT_EVD_FLAGS flags)
{
	DAT_EVD_HANDLE evd;

	ok(dat_evd_create(end->ia, len, DAT_HANDLE_NULL, flags, &evd));
	return evd;
}

static void
make_ep(struct end *end, const struct end_options *options)
{
	DAT_EP_ATTR attr = {
		.max_recv_dtos = options->depth,
		.max_request_dtos = options->depth,
		.max_rdma_read_in = 4,
		.max_rdma_read_out = 4,
	};
	DAT_SRQ_ATTR srq = { .max_recv_dtos = options->srq_depth, .max_recv_iov = 2 };

	if (options->srq_depth == 0) {
		ok(dat_ep_create(end->ia, end->pz, end->recv, end->request, end->connect, &attr,
				&end->ep));
		return;
	}
	ok(dat_srq_create(end->ia, end->pz, &srq, &end->srq));
	ok(dat_ep_create_with_srq(end->ia, end->pz, end->recv, end->request, end->connect, end->srq,
			&attr, &end->ep));
}

static void
copy_address(struct end *end)
{
	DAT_IA_ATTR attr;

	ok(dat_ia_query(end->ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL));
	memcpy(&end->address, attr.ia_address_ptr,
			attr.ia_address_ptr->sa_family == AF_INET ? sizeof(struct sockaddr_in)
								  : sizeof(struct sockaddr_in6));
}

void
end_open(struct end *end, const char *name, const struct end_options *options)
{
	static const struct end_options standard;
	DAT_REGION_DESCRIPTION region;
	char copy[32];
	DAT_COUNT len;

	if (options == NULL)
		options = &standard;
	len = options->evd_len != 0 ? options->evd_len : EVD_LEN;
	*end = (struct end){ .buffer = calloc(1, BUFFER_LEN) };
	assert_non_null(end->buffer);
	snprintf(copy, sizeof(copy), "%s", name);
	ok(dat_ia_open(copy, 8, &end->async, &end->ia));
	replace_open(DAT_HANDLE_NULL, end->ia);
	hold_progress();
	copy_address(end);
	end->recv = make_evd(end, len, DAT_EVD_DTO_FLAG);
	end->request = make_evd(end, len, DAT_EVD_DTO_FLAG);
	end->connect = make_evd(end, len, DAT_EVD_CONNECTION_FLAG);
	end->cr = make_evd(end, len, DAT_EVD_CR_FLAG);
	ok(dat_pz_create(end->ia, &end->pz));
	region.for_va = end->buffer;
	ok(dat_lmr_create(end->ia, DAT_MEM_TYPE_VIRTUAL, region, BUFFER_LEN, end->pz,
			DAT_MEM_PRIV_ALL_FLAG NEW_ARGS(, DAT_VA_TYPE_VA), &end->lmr, &end->key,
			NULL, NULL, NULL));
	make_ep(end, options);
}

void
end_close(struct end *end)
{
	if (end->ia != DAT_HANDLE_NULL) {
		replace_open(end->ia, DAT_HANDLE_NULL);
		ok(dat_ia_close(end->ia, DAT_CLOSE_ABRUPT_FLAG));
	}
	free(end->buffer);
	*end = (struct end){ .ia = DAT_HANDLE_NULL };
}

void
pair_open(struct pair *pair, const struct end_options *a, const struct end_options *b)
{
	end_open(&pair->a, "loop0", a);
	end_open(&pair->b, "loop1", b);
	ok(dat_psp_create(pair->b.ia, CONN_QUAL, pair->b.cr, DAT_PSP_CONSUMER_FLAG, &pair->psp));
}

void
pair_close(struct pair *pair)
{
	end_close(&pair->a);
	end_close(&pair->b);
}

DAT_RETURN
end_connect(struct end *from, const struct end *to, DAT_CONN_QUAL qual)
{
	struct sockaddr_storage address = to->address;

	return dat_ep_connect(from->ep, (DAT_IA_ADDRESS_PTR)&address, qual, PATIENCE_US, 0, NULL,
			DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

DAT_CR_HANDLE
end_request(struct end *end)
{
	DAT_EVENT event = want_event(end->cr, DAT_CONNECTION_REQUEST_EVENT);

	return event.event_data.cr_arrival_event_data.cr_handle;
}

void
pair_connect(struct pair *pair)
{
	ok(end_connect(&pair->a, &pair->b, CONN_QUAL));
	ok(dat_cr_accept(end_request(&pair->b), pair->b.ep, 0, NULL));
	want_event(pair->a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(pair->b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
}

void
pair_up(struct pair *pair)
{
	pair_open(pair, NULL, NULL);
	pair_connect(pair);
}

DAT_EP_STATE
end_state(const struct end *end)
{
	DAT_EP_STATE state;

	ok(dat_ep_get_status(end->ep, &state, NULL, NULL));
	return state;
}

DAT_EVENT
want_event(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_RETURN rc;

	memset(&event, 0xa5, sizeof(event));
	/* A signal ends a wait, and takes no event away. */
	do
		rc = dat_evd_wait(evd, PATIENCE_US, 1, &event, &more);
	while (DAT_GET_TYPE(rc) == DAT_INTERRUPTED_CALL);
	ok(rc);
	assert_int_equal(event.event_number, number);
	assert_ptr_equal(event.evd_handle, evd);
	return event;
}

void
want_silence(DAT_EVD_HANDLE evd)
{
	DAT_COUNT more = -1;
	DAT_EVENT event;

	want_type(dat_evd_wait(evd, QUIET_US, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	assert_int_equal(more, 0);
}

void
want_dto(const struct end *end, DAT_EVD_HANDLE evd, uint64_t value,
		DAT_DTO_COMPLETION_STATUS status, DAT_VLEN length)
{
	DAT_EVENT event = want_event(evd, DAT_DTO_COMPLETION_EVENT);
	const DAT_DTO_COMPLETION_EVENT_DATA *data = &event.event_data.dto_completion_event_data;

	assert_int_equal(data->status, status);
	assert_int_equal(data->user_cookie.as_64, value);
	assert_ptr_equal(data->ep_handle, end->ep);
	if (status == DAT_DTO_SUCCESS)
		assert_int_equal(data->transfered_length, length);
}

DAT_LMR_TRIPLET
segment(const struct end *end, size_t offset, DAT_VLEN length)
{
	return (DAT_LMR_TRIPLET){
		.lmr_context = end->key,
		.virtual_address = (uintptr_t)end->buffer + offset,
		.segment_length = BY_ABI(length, (DAT_SEG_LENGTH)length),
	};
}

DAT_DTO_COOKIE
cookie(uint64_t value)
{
	return (DAT_DTO_COOKIE){ .as_64 = value };
}

DAT_RETURN
post_send(struct end *end, size_t offset, DAT_VLEN length, uint64_t value)
{
	DAT_LMR_TRIPLET iov = segment(end, offset, length);

	return dat_ep_post_send(end->ep, 1, &iov, cookie(value), DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
post_recv(struct end *end, size_t offset, DAT_VLEN length, uint64_t value)
{
	DAT_LMR_TRIPLET iov = segment(end, offset, length);

	return dat_ep_post_recv(end->ep, 1, &iov, cookie(value), DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
post_srq(struct end *end, size_t offset, DAT_VLEN length, uint64_t value)
{
	DAT_LMR_TRIPLET iov = segment(end, offset, length);

	return dat_srq_post_recv(end->srq, 1, &iov, cookie(value));
}
