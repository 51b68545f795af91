/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between two endpoints, through the public API. */

#include "dat_pair.h"

#define HALF (BUFFER_LEN / 2)

static void
fill(struct end *end, size_t offset, size_t length, uint8_t first)
{
	for (size_t i = 0; i < length; i++)
		end->buffer[offset + i] = (uint8_t)(first + i * 7 + (i >> 8));
}

/* Every size around the path MTU and far beyond: bytes, length, cookie, endpoint. */
static void
message__of_every_size(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 4, 5, 63, 64, 65, 255, 256, 257, 1023, 1024,
		1025, 4095, 4096, 4097, 8191, 8192, 12289, 65536, 65537, HALF };
	struct pair pair;

	pair_up(&pair);
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t n = sizes[i];

		fill(&pair.a, 0, n, (uint8_t)i);
		memset(pair.b.buffer, 0xee, BUFFER_LEN);
		ok(post_recv(&pair.b, 16, HALF, 1000 + i));
		ok(post_send(&pair.a, 0, n, 2000 + i));
		want_dto(&pair.b, pair.b.recv, 1000 + i, DAT_DTO_SUCCESS, n);
		want_dto(&pair.a, pair.a.request, 2000 + i, DAT_DTO_SUCCESS, n);
		assert_memory_equal(pair.b.buffer + 16, pair.a.buffer, n);
		assert_int_equal(pair.b.buffer[15], 0xee);
		assert_int_equal(pair.b.buffer[16 + n], 0xee);
	}
	pair_close(&pair);
}

/* Segments are gathered and scattered in order, and only one is filled in part. */
static void
message__gather_and_scatter(void **state)
{
	DAT_LMR_TRIPLET from[4], to[4];
	uint8_t want_bytes[10000];
	struct pair pair;
	size_t n = 0;

	pair_up(&pair);
	fill(&pair.a, 0, 40000, 1);
	from[0] = segment(&pair.a, 20000, 1);
	from[1] = segment(&pair.a, 5, 4999);
	from[2] = segment(&pair.a, 30000, 0);
	from[3] = segment(&pair.a, 10001, 5000);
	for (int i = 0; i < 4; i++) {
		memcpy(want_bytes + n,
				pair.a.buffer +
						(from[i].virtual_address -
								(uintptr_t)pair.a.buffer),
				from[i].segment_length);
		n += from[i].segment_length;
	}
	to[0] = segment(&pair.b, 50000, 3);
	to[1] = segment(&pair.b, 0, 7000);
	to[2] = segment(&pair.b, 60000, 5000);
	to[3] = segment(&pair.b, 70000, 100);
	memset(pair.b.buffer, 0xee, BUFFER_LEN);
	ok(dat_ep_post_recv(pair.b.ep, 4, to, cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
	ok(dat_ep_post_send(pair.a.ep, 4, from, cookie(2), DAT_COMPLETION_DEFAULT_FLAG));
	/* The arrays are the caller's again at once. */
	memset(from, 0xff, sizeof(from));
	memset(to, 0xff, sizeof(to));
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, n);
	assert_memory_equal(pair.b.buffer + 50000, want_bytes, 3);
	assert_memory_equal(pair.b.buffer, want_bytes + 3, 7000);
	assert_memory_equal(pair.b.buffer + 60000, want_bytes + 7003, n - 7003);
	assert_int_equal(pair.b.buffer[60000 + n - 7003], 0xee);
	assert_int_equal(pair.b.buffer[70000], 0xee);
	pair_close(&pair);
}

static void
message__without_segments(void **state)
{
	struct pair pair;

	pair_up(&pair);
	ok(dat_ep_post_recv(pair.b.ep, 0, NULL, cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
	ok(dat_ep_post_send(pair.a.ep, 0, NULL, cookie(2), DAT_COMPLETION_DEFAULT_FLAG));
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, 0);
	want_dto(&pair.a, pair.a.request, 2, DAT_DTO_SUCCESS, 0);
	pair_close(&pair);
}

/* Many in flight, both directions: order is kept. */
static void
messages__keep_their_order(void **state)
{
	struct end_options deep = { .depth = 64, .evd_len = 256 };
	struct pair pair;

	pair_open(&pair, &deep, &deep);
	pair_connect(&pair);
	for (uint64_t round = 0; round < 20; round++) {
		for (uint64_t i = 0; i < 64; i++) {
			ok(post_recv(&pair.a, HALF, 8192, i));
			ok(post_recv(&pair.b, HALF, 8192, i));
		}
		for (uint64_t i = 0; i < 64; i++) {
			ok(post_send(&pair.a, 0, 100 * i, i));
			ok(post_send(&pair.b, 0, 50 * i, i));
		}
		for (uint64_t i = 0; i < 64; i++) {
			want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 100 * i);
			want_dto(&pair.a, pair.a.recv, i, DAT_DTO_SUCCESS, 50 * i);
		}
		for (uint64_t i = 0; i < 64; i++) {
			want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, 100 * i);
			want_dto(&pair.b, pair.b.request, i, DAT_DTO_SUCCESS, 50 * i);
		}
	}
	pair_close(&pair);
}

/* A suppressed success makes no event, but its successors do, and it frees its place. */
static void
post_send__suppressed(void **state)
{
	struct end_options shallow = { .depth = 4 };
	DAT_LMR_TRIPLET iov;
	struct pair pair;

	pair_open(&pair, &shallow, NULL);
	pair_connect(&pair);
	iov = segment(&pair.a, 0, 16);
	for (uint64_t round = 0; round < 10; round++) {
		for (uint64_t i = 0; i < 4; i++)
			ok(post_recv(&pair.b, 0, 16, i));
		for (uint64_t i = 0; i < 3; i++)
			ok(dat_ep_post_send(pair.a.ep, 1, &iov, cookie(i),
					DAT_COMPLETION_SUPPRESS_FLAG));
		ok(dat_ep_post_send(pair.a.ep, 1, &iov, cookie(77), DAT_COMPLETION_DEFAULT_FLAG));
		want_dto(&pair.a, pair.a.request, 77, DAT_DTO_SUCCESS, 16);
		for (uint64_t i = 0; i < 4; i++)
			want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 16);
	}
	want_silence(pair.a.request);
	pair_close(&pair);
}

static DAT_RETURN
send_iov(struct pair *pair, DAT_COUNT n, DAT_LMR_TRIPLET *iov, DAT_COMPLETION_FLAGS flags)
{
	return dat_ep_post_send(pair->a.ep, n, iov, cookie(1), flags);
}

/* A region over the first 64 bytes of the buffer, and a segment of 8 bytes of it. */
static DAT_LMR_HANDLE
small_region(struct end *end, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS priv, DAT_LMR_TRIPLET *iov)
{
	DAT_REGION_DESCRIPTION region = { .for_va = end->buffer };
	DAT_LMR_HANDLE lmr;

	*iov = segment(end, 0, 8);
	ok(dat_lmr_create(end->ia, DAT_MEM_TYPE_VIRTUAL, region, 64, pz, priv, &lmr,
			&iov->lmr_context, NULL, NULL, NULL));
	return lmr;
}

static void
post__arguments(void **state)
{
	DAT_LMR_TRIPLET iov[5] = { 0 };
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	want_error(post_send(&pair.a, 0, 8, 1), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EP_UNCONNECTED);
	ok(post_recv(&pair.a, 0, 8, 1));
	pair_connect(&pair);
	iov[0] = segment(&pair.a, 0, 8);
	want_error(dat_ep_post_send(pair.a.pz, 1, iov, cookie(1), 0), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EP);
	want_error(send_iov(&pair, -1, iov, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	want_error(send_iov(&pair, 5, iov, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	want_error(send_iov(&pair, 1, NULL, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	want_error(send_iov(&pair, 1, iov, DAT_COMPLETION_UNSIGNALLED_FLAG), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG5);
	want_error(send_iov(&pair, 1, iov, (DAT_COMPLETION_FLAGS)0x20), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG5);
	want_error(dat_ep_post_recv(pair.a.ep, 1, iov, cookie(1), DAT_COMPLETION_SUPPRESS_FLAG),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	want_error(dat_ep_post_recv(pair.a.ep, 5, iov, cookie(1), 0), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);

	/* Outside its region; longer than anything; a context nobody has. */
	iov[0] = segment(&pair.a, BUFFER_LEN - 4, 5);
	want_error(send_iov(&pair, 1, iov, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	want_error(dat_ep_post_recv(pair.a.ep, 1, iov, cookie(1), 0), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	iov[0] = segment(&pair.a, 0, UINT64_C(1) << 32);
	want_error(send_iov(&pair, 1, iov, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	iov[0] = segment(&pair.a, 0, 8);
	iov[0].lmr_context ^= 0x00ffff00;
	want_type(send_iov(&pair, 1, iov, 0), DAT_PRIVILEGES_VIOLATION);
	pair_close(&pair);
}

static void
post__zones_and_privileges(void **state)
{
	const DAT_MEM_PRIV_FLAGS write_only = DAT_MEM_PRIV_LOCAL_WRITE_FLAG;
	DAT_LMR_TRIPLET iov;
	DAT_LMR_HANDLE lmr;
	struct pair pair;
	DAT_PZ_HANDLE pz;

	pair_up(&pair);
	ok(post_recv(&pair.b, 0, 8, 4));
	ok(post_recv(&pair.b, 0, 8, 5));
	ok(dat_pz_create(pair.a.ia, &pz));
	lmr = small_region(&pair.a, pz, DAT_MEM_PRIV_ALL_FLAG, &iov);
	want_type(send_iov(&pair, 1, &iov, 0), DAT_PROTECTION_VIOLATION);
	want_type(dat_ep_post_recv(pair.a.ep, 1, &iov, cookie(1), 0), DAT_PROTECTION_VIOLATION);
	ok(dat_lmr_free(lmr));

	/* Reading is enough to send, not to receive. */
	lmr = small_region(&pair.a, pair.a.pz, DAT_MEM_PRIV_LOCAL_READ_FLAG, &iov);
	want_type(dat_ep_post_recv(pair.a.ep, 1, &iov, cookie(1), 0), DAT_PRIVILEGES_VIOLATION);
	ok(send_iov(&pair, 1, &iov, 0));
	want_dto(&pair.a, pair.a.request, 1, DAT_DTO_SUCCESS, 8);
	ok(dat_lmr_free(lmr));

	/* Sending from memory registered for writing only is what real programs do. */
	lmr = small_region(&pair.a, pair.a.pz, write_only, &iov);
	ok(send_iov(&pair, 1, &iov, 0));
	want_dto(&pair.a, pair.a.request, 1, DAT_DTO_SUCCESS, 8);
	ok(dat_lmr_free(lmr));
	want_type(send_iov(&pair, 1, &iov, 0), DAT_PRIVILEGES_VIOLATION);
	pair_close(&pair);
}

/* Exactly as many as were granted can be outstanding, in both queues. */
static void
post__until_full(void **state)
{
	struct pair pair;

	for (DAT_COUNT depth = 1; depth <= 65; depth++) {
		struct end_options options = { .depth = depth, .evd_len = 2 * depth };

		pair_open(&pair, &options, NULL);
		pair_connect(&pair);
		for (DAT_COUNT i = 0; i < depth; i++) {
			ok(post_recv(&pair.a, 0, 8, (uint64_t)i));
			ok(post_send(&pair.a, 0, 8, (uint64_t)i));
		}
		want_type(post_recv(&pair.a, 0, 8, 1), DAT_INSUFFICIENT_RESOURCES);
		want_type(post_send(&pair.a, 0, 8, 1), DAT_INSUFFICIENT_RESOURCES);
		pair_close(&pair);
	}
}

/* A message that does not fit breaks the connection; the receive says why. */
static void
message__too_long_for_the_buffer(void **state)
{
	DAT_DTO_COMPLETION_EVENT_DATA *data;
	struct pair pair;
	DAT_EVENT event;

	pair_up(&pair);
	ok(post_recv(&pair.b, 0, 100, 1));
	ok(post_recv(&pair.b, 0, 100, 2));
	ok(post_send(&pair.a, 0, 101, 3));
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_ERR_LOCAL_LENGTH, 0);
	want_dto(&pair.b, pair.b.recv, 2, DAT_DTO_ERR_FLUSHED, 0);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_BROKEN);
	event = want_event(pair.a.request, DAT_DTO_COMPLETION_EVENT);
	data = &event.event_data.dto_completion_event_data;
	assert_int_equal(data->user_cookie.as_64, 3);
	assert_int_equal(data->status, DAT_DTO_ERR_REMOTE_RESPONDER);
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_DISCONNECTED);
	assert_int_equal(end_state(&pair.b), DAT_EP_STATE_DISCONNECTED);
	/* Both can begin anew. */
	ok(dat_ep_reset(pair.a.ep));
	ok(dat_ep_reset(pair.b.ep));
	pair_connect(&pair);
	ok(post_recv(&pair.b, 0, 100, 4));
	ok(post_send(&pair.a, 0, 100, 5));
	want_dto(&pair.b, pair.b.recv, 4, DAT_DTO_SUCCESS, 100);
	pair_close(&pair);
}

static void
message__longer_than_the_endpoint_allows(void **state)
{
	DAT_EP_ATTR attr = { .max_message_size = 100 };
	struct pair pair;
	DAT_EP_HANDLE ep;

	pair_open(&pair, NULL, NULL);
	ok(dat_ep_create(pair.a.ia, pair.a.pz, pair.a.recv, pair.a.request, pair.a.connect, &attr,
			&ep));
	ok(dat_ep_free(pair.a.ep));
	pair.a.ep = ep;
	pair_connect(&pair);
	want_error(post_send(&pair.a, 0, UINT64_C(1) << 31, 1), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	/* More was granted than was asked for. */
	ok(post_recv(&pair.b, 0, 101, 2));
	ok(post_send(&pair.a, 0, 101, 3));
	want_dto(&pair.b, pair.b.recv, 2, DAT_DTO_SUCCESS, 101);
	pair_close(&pair);
}

/* Receives posted before the peer is up are used; ESTABLISHED comes before the first completion. */
static void
message__behind_established(void **state)
{
	DAT_EVD_HANDLE all;
	struct pair pair;
	DAT_EP_HANDLE ep;

	pair_open(&pair, NULL, NULL);
	ok(dat_evd_create(pair.b.ia, 64, DAT_HANDLE_NULL,
			(DAT_EVD_FLAGS)(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG), &all));
	ok(dat_ep_create(pair.b.ia, pair.b.pz, all, all, all, NULL, &ep));
	ok(dat_ep_free(pair.b.ep));
	pair.b.ep = ep;
	ok(post_recv(&pair.b, 0, 64, 9));
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	ok(dat_cr_accept(end_request(&pair.b), pair.b.ep, 0, NULL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(post_send(&pair.a, 0, 64, 1));
	want_event(all, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_dto(&pair.b, all, 9, DAT_DTO_SUCCESS, 64);
	want_silence(all);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(message__of_every_size),
		dat_test(message__gather_and_scatter),
		dat_test(message__without_segments),
		dat_test(messages__keep_their_order),
		dat_test(post_send__suppressed),
		dat_test(post__arguments),
		dat_test(post__zones_and_privileges),
		dat_test(post__until_full),
		dat_test(message__too_long_for_the_buffer),
		dat_test(message__longer_than_the_endpoint_allows),
		dat_test(message__behind_established),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
