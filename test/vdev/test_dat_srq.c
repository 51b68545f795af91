/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues, through the public API. */

#include "dat_pair.h"

static void
want_counts(const struct end *end, DAT_COUNT max, DAT_COUNT available, DAT_COUNT outstanding)
{
	DAT_SRQ_PARAM param;

	memset(&param, 0xa5, sizeof(param));
	ok(dat_srq_query(end->srq, DAT_SRQ_FIELD_ALL, &param));
	assert_int_equal(param.max_recv_dtos, max);
	assert_int_equal(param.available_dto_count, available);
	assert_int_equal(param.outstanding_dto_count, outstanding);
}

static DAT_RETURN
create(struct end *end, DAT_COUNT dtos, DAT_COUNT iov, DAT_COUNT low)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = dtos, .max_recv_iov = iov, .low_watermark = low };
	DAT_SRQ_HANDLE srq;
	DAT_RETURN rc = dat_srq_create(end->ia, end->pz, &attr, &srq);

	if (rc == DAT_SUCCESS)
		ok(dat_srq_free(srq));
	return rc;
}

static void
dat_srq_create__arguments(void **state)
{
	const DAT_RETURN bad = DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG3;
	DAT_SRQ_ATTR attr = { .max_recv_dtos = 1, .max_recv_iov = 1 };
	DAT_SRQ_HANDLE srq;
	DAT_IA_ATTR ia;
	struct end end;

	end_open(&end, "loop0", NULL);
	ok(dat_ia_query(end.ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL));
	want_error(dat_srq_create(end.pz, end.pz, &attr, &srq), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_IA);
	want_error(dat_srq_create(end.ia, end.ia, &attr, &srq), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_PZ);
	want(dat_srq_create(end.ia, end.pz, NULL, &srq), bad);
	want_error(dat_srq_create(end.ia, end.pz, &attr, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG4);
	want(create(&end, 0, 1, 0), bad);
	want(create(&end, -1, 1, 0), bad);
	want(create(&end, INT32_MAX, 1, 0), bad);
	want(create(&end, ia.max_recv_per_srq + 1, 1, 0), bad);
	want(create(&end, 1, 0, 0), bad);
	want(create(&end, 1, -1, 0), bad);
	want(create(&end, 1, ia.max_iov_segments_per_dto + 1, 0), bad);
	/* An empty queue would be below any mark at once. */
	want(create(&end, 8, 1, 1), bad);
	want(create(&end, 8, 1, -1), bad);
	ok(create(&end, 1, 1, 0));
	ok(create(&end, 65536, ia.max_iov_segments_per_dto, 0));
	end_close(&end);
}

static void
dat_srq_query__fields(void **state)
{
	struct end_options with_srq = { .srq_depth = 10 };
	DAT_SRQ_PARAM param;
	struct end end;

	end_open(&end, "loop0", &with_srq);
	want_error(dat_srq_query(end.ep, DAT_SRQ_FIELD_ALL, &param), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_SRQ);
	want_error(dat_srq_query(end.srq, (DAT_SRQ_PARAM_MASK)0x100, &param), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_srq_query(end.srq, DAT_SRQ_FIELD_ALL, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	ok(dat_srq_query(end.srq, DAT_SRQ_FIELD_ALL, &param));
	assert_ptr_equal(param.ia_handle, end.ia);
	assert_ptr_equal(param.pz_handle, end.pz);
	assert_int_equal(param.srq_state, DAT_SRQ_STATE_OPERATIONAL);
	assert_int_equal(param.max_recv_iov, 2);
	assert_int_equal(param.low_watermark, DAT_SRQ_LW_DEFAULT);
	want_counts(&end, 10, 0, 0);
	end_close(&end);
}

/* The worked example of the manual page of dat_srq_query. */
static void
dat_srq_query__example_of_the_manual(void **state)
{
	struct end_options with_srq = { .srq_depth = 10 };
	struct pair pair;

	pair_open(&pair, NULL, &with_srq);
	pair_connect(&pair);
	for (unsigned int i = 0; i < 3; i++)
		ok(post_srq(&pair.b, i * 64, 64, i));
	want_counts(&pair.b, 10, 3, 3);
	ok(post_send(&pair.a, 0, 64, 1));
	/* The completion of the send proves that the message has arrived. */
	want_dto(&pair.a, pair.a.request, 1, DAT_DTO_SUCCESS, 64);
	want_counts(&pair.b, 10, 2, 3);
	want_dto(&pair.b, pair.b.recv, 0, DAT_DTO_SUCCESS, 64);
	want_counts(&pair.b, 10, 2, 2);
	pair_close(&pair);
}

/* Exactly what was asked for fits, for every size; what counts is what was reaped. */
static void
dat_srq_post_recv__until_full(void **state)
{
	struct pair pair;

	for (DAT_COUNT depth = 1; depth <= 65; depth++) {
		struct end_options with_srq = { .srq_depth = depth };

		pair_open(&pair, NULL, &with_srq);
		pair_connect(&pair);
		for (DAT_COUNT i = 0; i < depth; i++)
			ok(post_srq(&pair.b, 0, 64, (uint64_t)i));
		want_type(post_srq(&pair.b, 0, 64, 99), DAT_INSUFFICIENT_RESOURCES);
		want_counts(&pair.b, depth, depth, depth);
		ok(post_send(&pair.a, 0, 8, 1));
		want_dto(&pair.a, pair.a.request, 1, DAT_DTO_SUCCESS, 8);
		/* Arrived, not reaped: the place is not free yet. */
		want_type(post_srq(&pair.b, 0, 64, 99), DAT_INSUFFICIENT_RESOURCES);
		want_dto(&pair.b, pair.b.recv, 0, DAT_DTO_SUCCESS, 8);
		ok(post_srq(&pair.b, 0, 64, 99));
		want_type(post_srq(&pair.b, 0, 64, 99), DAT_INSUFFICIENT_RESOURCES);
		pair_close(&pair);
	}
}

static void
dat_srq_post_recv__arguments(void **state)
{
	struct end_options with_srq = { .srq_depth = 4 };
	DAT_LMR_TRIPLET iov[3] = { 0 };
	DAT_REGION_DESCRIPTION region;
	DAT_LMR_CONTEXT key;
	DAT_LMR_HANDLE lmr;
	DAT_PZ_HANDLE pz;
	struct end end;

	end_open(&end, "loop0", &with_srq);
	iov[0] = segment(&end, 0, 8);
	want_error(dat_srq_post_recv(end.ep, 1, iov, cookie(1)), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_SRQ);
	want_error(dat_srq_post_recv(end.srq, 3, iov, cookie(1)), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_srq_post_recv(end.srq, -1, iov, cookie(1)), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_srq_post_recv(end.srq, 1, NULL, cookie(1)), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	iov[0] = segment(&end, BUFFER_LEN, 1);
	want_error(dat_srq_post_recv(end.srq, 1, iov, cookie(1)), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	iov[0] = segment(&end, 0, UINT64_MAX);
	want_error(dat_srq_post_recv(end.srq, 1, iov, cookie(1)), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);

	region.for_va = end.buffer;
	ok(dat_pz_create(end.ia, &pz));
	ok(dat_lmr_create(end.ia, DAT_MEM_TYPE_VIRTUAL, region, 64, pz, DAT_MEM_PRIV_ALL_FLAG, &lmr,
			&key, NULL, NULL, NULL));
	iov[0] = segment(&end, 0, 8);
	iov[0].lmr_context = key;
	want_type(dat_srq_post_recv(end.srq, 1, iov, cookie(1)), DAT_PROTECTION_VIOLATION);
	ok(dat_lmr_free(lmr));
	ok(dat_lmr_create(end.ia, DAT_MEM_TYPE_VIRTUAL, region, 64, end.pz,
			DAT_MEM_PRIV_REMOTE_READ_FLAG, &lmr, &key, NULL, NULL, NULL));
	iov[0].lmr_context = key;
	want_type(dat_srq_post_recv(end.srq, 1, iov, cookie(1)), DAT_PRIVILEGES_VIOLATION);
	want_counts(&end, 4, 0, 0);

	/* Zero segments: a buffer for an empty message. Receives of its own, such an endpoint has none. */
	ok(dat_srq_post_recv(end.srq, 0, NULL, cookie(1)));
	want_counts(&end, 4, 1, 1);
	want_error(post_recv(&end, 0, 8, 1), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	end_close(&end);
}

static void
dat_srq_free__in_use(void **state)
{
	struct end_options with_srq = { .srq_depth = 4 };
	struct pair pair;

	pair_open(&pair, NULL, &with_srq);
	pair_connect(&pair);
	ok(post_srq(&pair.b, 0, 64, 1));
	want_error(dat_srq_free(pair.b.srq), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	/* Neither disconnect nor reset detaches. */
	ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	ok(dat_ep_reset(pair.b.ep));
	want_error(dat_srq_free(pair.b.srq), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	want_counts(&pair.b, 4, 1, 1);
	ok(dat_ep_free(pair.b.ep));
	/* Buffers left on it make no completion. */
	ok(dat_srq_free(pair.b.srq));
	want_error(dat_srq_free(pair.b.srq), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	want_silence(pair.b.recv);
	pair_close(&pair);
}

/* The zone of the queue judges receives, that of the endpoint sends. */
/* Receives are the queue's: a post to the endpoint is refused by its state, and however many pieces it has. */
static void
dat_ep_post_recv__on_a_shared_queue(void **state)
{
	const struct end_options options = { .srq_depth = 4 };
	DAT_EP_ATTR attr = { .max_recv_iov = 200 };
	DAT_LMR_TRIPLET iov[200];
	struct end end;
	DAT_EP_HANDLE ep;

	end_open(&end, "loop0", &options);
	for (int i = 0; i < 200; i++)
		iov[i] = segment(&end, 0, 8);
	ok(dat_ep_create_with_srq(
			end.ia, end.pz, end.recv, end.request, end.connect, end.srq, &attr, &ep));
	want_error(dat_ep_post_recv(ep, 1, iov, cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
			DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	want_error(dat_ep_post_recv(ep, 200, iov, cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	ok(dat_ep_free(ep));
	end_close(&end);
}

static void
dat_ep_create_with_srq__zones_may_differ(void **state)
{
	struct end_options with_srq = { .srq_depth = 4 };
	const DAT_EP_ATTR attr = { 0 };
	struct pair pair;
	DAT_PZ_HANDLE pz;
	DAT_EP_HANDLE ep;

	pair_open(&pair, NULL, &with_srq);
	ok(dat_pz_create(pair.b.ia, &pz));
	ok(dat_ep_create_with_srq(pair.b.ia, pz, pair.b.recv, pair.b.request, pair.b.connect,
			pair.b.srq, &attr, &ep));
	ok(dat_ep_free(pair.b.ep));
	pair.b.ep = ep;
	pair_connect(&pair);
	ok(post_srq(&pair.b, 0, 64, 1));
	ok(post_send(&pair.a, 0, 64, 2));
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, 64);
	want_type(post_send(&pair.b, 0, 64, 3), DAT_PROTECTION_VIOLATION);
	pair_close(&pair);
}

/* An empty queue makes the sender wait; a buffer lets it go on. */
static void
dat_srq__empty_makes_the_sender_wait(void **state)
{
	struct end_options with_srq = { .srq_depth = 4 };
	struct pair pair;

	pair_open(&pair, NULL, &with_srq);
	pair_connect(&pair);
	ok(post_send(&pair.a, 0, 64, 1));
	want_silence(pair.a.request);
	ok(post_srq(&pair.b, 0, 64, 2));
	want_dto(&pair.b, pair.b.recv, 2, DAT_DTO_SUCCESS, 64);
	want_dto(&pair.a, pair.a.request, 1, DAT_DTO_SUCCESS, 64);
	pair_close(&pair);
}

/* The region of a posted buffer goes: the message finds no memory, and the connection breaks. */
static void
dat_srq__region_freed_under_a_buffer(void **state)
{
	struct end_options with_srq = { .srq_depth = 4 };
	struct pair pair;

	pair_open(&pair, NULL, &with_srq);
	pair_connect(&pair);
	ok(post_srq(&pair.b, 0, 64, 2));
	ok(dat_lmr_free(pair.b.lmr));
	ok(post_send(&pair.a, 0, 64, 1));
	want_dto(&pair.b, pair.b.recv, 2, DAT_DTO_ERR_LOCAL_PROTECTION, 0);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_counts(&pair.b, 4, 0, 0);
	pair_close(&pair);
}

/* Buffers that nobody took stay when a connection ends; completions not reaped still count, until they go. */
static void
dat_srq__counts_at_the_end_of_a_connection(void **state)
{
	struct end_options with_srq = { .srq_depth = 8 };
	struct pair pair;

	pair_open(&pair, NULL, &with_srq);
	for (int round = 0; round < 10; round++) {
		pair_connect(&pair);
		for (unsigned int i = 0; i < 8; i++)
			ok(post_srq(&pair.b, i * 64, 64, i));
		for (unsigned int i = 0; i < 3; i++) {
			ok(post_send(&pair.a, 0, 64, i));
			want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, 64);
		}
		want_counts(&pair.b, 8, 5, 8);
		ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
		want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		want_event(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		want_counts(&pair.b, 8, 5, 8);
		for (unsigned int i = 0; i < 3; i++)
			want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 64);
		want_counts(&pair.b, 8, 5, 5);
		ok(dat_ep_reset(pair.a.ep));
		ok(dat_ep_reset(pair.b.ep));
		pair_connect(&pair);
		for (unsigned int i = 3; i < 8; i++) {
			ok(post_send(&pair.a, 0, 64, i));
			want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 64);
		}
		want_counts(&pair.b, 8, 0, 0);
		ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
		for (unsigned int i = 3; i < 8; i++)
			want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, 64);
		want_event(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		ok(dat_ep_reset(pair.a.ep));
		ok(dat_ep_reset(pair.b.ep));
	}
	pair_close(&pair);
}

/* A dispatcher that goes with completions inside counts as their reaping: capacity does not leak. */
static void
dat_srq__counts_when_a_dispatcher_goes(void **state)
{
	struct end_options with_srq = { .srq_depth = 4 };
	struct pair pair;

	pair_open(&pair, NULL, &with_srq);
	pair_connect(&pair);
	for (unsigned int i = 0; i < 4; i++)
		ok(post_srq(&pair.b, 0, 64, i));
	for (unsigned int i = 0; i < 2; i++) {
		ok(post_send(&pair.a, 0, 64, i));
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, 64);
	}
	ok(dat_ep_free(pair.b.ep));
	ok(dat_evd_free(pair.b.recv));
	want_counts(&pair.b, 4, 2, 2);
	pair_close(&pair);
}

#define CLIENTS 8

/* Several endpoints, one queue, one dispatcher: each message names its endpoint, each connection keeps its order. */
static void
dat_srq__serves_several_endpoints(void **state)
{
	struct end_options with_srq = { .srq_depth = 16, .evd_len = 256 };
	struct end_options many = { .evd_len = 256 };
	const DAT_EP_ATTR attr = { 0 };
	DAT_EP_HANDLE server[CLIENTS], client[CLIENTS];
	uint32_t next[CLIENTS] = { 0 };
	struct pair pair;

	pair_open(&pair, &many, &with_srq);
	ok(dat_ep_free(pair.a.ep));
	ok(dat_ep_free(pair.b.ep));
	for (unsigned int i = 0; i < CLIENTS; i++) {
		ok(dat_ep_create(pair.a.ia, pair.a.pz, pair.a.recv, pair.a.request, pair.a.connect,
				NULL, &client[i]));
		ok(dat_ep_create_with_srq(pair.b.ia, pair.b.pz, pair.b.recv, pair.b.request,
				pair.b.connect, pair.b.srq, &attr, &server[i]));
		pair.a.ep = client[i];
		pair.b.ep = server[i];
		pair_connect(&pair);
	}
	for (unsigned int i = 0; i < 16; i++)
		ok(post_srq(&pair.b, i * 64, 64, i));
	for (uint32_t round = 0; round < 20; round++) {
		for (unsigned int i = 0; i < CLIENTS; i++) {
			uint32_t word[2] = { i, round };

			memcpy(pair.a.buffer + i * 8, word, sizeof(word));
			pair.a.ep = client[i];
			ok(post_send(&pair.a, i * 8, 8, i));
		}
		for (unsigned int i = 0; i < CLIENTS; i++) {
			DAT_EVENT event = want_event(pair.b.recv, DAT_DTO_COMPLETION_EVENT);
			const DAT_DTO_COMPLETION_EVENT_DATA *data =
					&event.event_data.dto_completion_event_data;
			uint64_t slot = data->user_cookie.as_64;
			uint32_t word[2];

			assert_int_equal(data->status, DAT_DTO_SUCCESS);
			memcpy(word, pair.b.buffer + slot * 64, sizeof(word));
			assert_true(word[0] < CLIENTS);
			assert_ptr_equal(data->ep_handle, server[word[0]]);
			assert_int_equal(word[1], next[word[0]]++);
			ok(post_srq(&pair.b, slot * 64, 64, slot));
		}
		for (unsigned int i = 0; i < CLIENTS; i++)
			want_event(pair.a.request, DAT_DTO_COMPLETION_EVENT);
	}
	want_counts(&pair.b, 16, 16, 16);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(dat_srq_create__arguments),
		dat_test(dat_srq_query__fields),
		dat_test(dat_srq_query__example_of_the_manual),
		dat_test(dat_srq_post_recv__until_full),
		dat_test(dat_srq_post_recv__arguments),
		dat_test(dat_srq_free__in_use),
		dat_test(dat_ep_post_recv__on_a_shared_queue),
		dat_test(dat_ep_create_with_srq__zones_may_differ),
		dat_test(dat_srq__empty_makes_the_sender_wait),
		dat_test(dat_srq__region_freed_under_a_buffer),
		dat_test(dat_srq__counts_at_the_end_of_a_connection),
		dat_test(dat_srq__counts_when_a_dispatcher_goes),
		dat_test(dat_srq__serves_several_endpoints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
