/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_ep_create_with_srq: what is granted, what is refused, and that the queue is for life. */

#include "answers.h"
#include "rig.h"

/* A post to the endpoint itself is refused by what it is, and takes nothing from the queue. */
static void
want_no_own_queue(struct end *end)
{
	DAT_SRQ_PARAM before = srq_param(end->srq);

	want_bad_state(post_recv(end, 0, 64, 99), SRQ_IN_USE);
	want_bad_state(dat_ep_post_recv(end->ep, 0, NULL, cookie(99), DAT_COMPLETION_DEFAULT_FLAG),
			SRQ_IN_USE);
	want_unchanged(end->srq, &before);
}

/*
 * It begins UNCONNECTED, its dispatchers, zone and queue are those given, and every receive is the queue's: whatever
 * the state, there is nothing to post to on the endpoint (decision B17).
 * Proves: ep_create_with_srq.1
 */
static void
create_with_srq__receives_only_from_the_queue(void **state)
{
	DAT_EP_PARAM param;

	param = ep_param(b->ep);
	assert_int_equal(param.ep_state, DAT_EP_STATE_UNCONNECTED);
	assert_ptr_equal(param.ia_handle, b->ia);
	assert_ptr_equal(param.pz_handle, b->pz);
	assert_ptr_equal(param.recv_evd_handle, b->recv);
	assert_ptr_equal(param.request_evd_handle, b->request);
	assert_ptr_equal(param.connect_evd_handle, b->connect);
	assert_ptr_equal(param.srq_handle, b->srq);
	want_no_own_queue(b);
	pair_connect(&pair);
	want_no_own_queue(b);
	post_many(b, 2, 1);
	deliver_as(1, 64);
	part(&pair);
	want_no_own_queue(b);
	ok(dat_ep_reset(b->ep));
	want_no_own_queue(b);
	want_counts(b->srq, 4, 1, 1);
	want_none(b->recv);
}

static DAT_RETURN
create(const struct end *end, const DAT_EP_ATTR *attr)
{
	DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
	DAT_RETURN rc = dat_ep_create_with_srq(end->ia, end->pz, end->recv, end->request,
			end->connect, end->srq, attr, &ep);

	if (rc == DAT_SUCCESS)
		ok(dat_ep_free(ep));
	return rc;
}

/*
 * Attributes cannot be left out, as dat_ep_create() lets one do. A zero leaves the choice to the provider, and its
 * choice is good for creating the next one.
 * Proves: ep_create_with_srq.2 ep_create_with_srq.3
 */
static void
create_with_srq__attributes_by_default(void **state)
{
	const DAT_EP_ATTR zeros = { 0 };
	DAT_EP_ATTR out;

	want_bad_arg(create(b, NULL), 7);
	use_srq_ep(b, &zeros);
	out = ep_param(b->ep).ep_attr;
	assert_int_equal(out.service_type, DAT_SERVICE_TYPE_RC);
	assert_int_equal(out.qos, DAT_QOS_BEST_EFFORT);
	assert_true(out.max_message_size >= 8192);
	assert_true(out.max_request_dtos >= 8);
	assert_true(out.max_request_iov >= 1);
	assert_int_equal(out.srq_soft_hw, DAT_HW_DEFAULT);
	ok(create(b, &out));
}

/*
 * Requests: at least what was asked. Receives, message and RDMA sizes: exactly that. The number of pieces of a
 * receive is the queue's business, and whatever stands there is ignored.
 * Proves: ep_create_with_srq.3 bug.S25
 */
static void
create_with_srq__attributes_granted(void **state)
{
	static const DAT_EP_ATTR asked[] = {
		{ .max_request_dtos = 1, .max_request_iov = 1, .max_recv_dtos = 1 },
		{ .max_request_dtos = 7, .max_request_iov = 3, .max_recv_dtos = 5 },
		{ .max_request_dtos = 100, .max_request_iov = 32, .max_recv_dtos = 1 << 30 },
		{ .max_rdma_size = 12345, .max_rdma_read_in = 3, .max_rdma_read_out = 5 },
		{ .max_message_size = 1 },
		{ .max_message_size = 1000, .max_recv_iov = 1000 },
		{ .max_message_size = 65536, .max_recv_iov = -7 },
		{ .max_recv_dtos = INT32_MAX, .max_recv_iov = INT32_MAX },
		{ .max_recv_dtos = DAT_HW_DEFAULT },
		{ .srq_soft_hw = 3 },
		{ .request_completion_flags = DAT_COMPLETION_SUPPRESS_FLAG },
	};

	for (unsigned int i = 0; i < COUNT_OF(asked); i++) {
		const DAT_EP_ATTR *in = &asked[i];
		DAT_EP_ATTR out;

		use_srq_ep(b, in);
		out = ep_param(b->ep).ep_attr;
		assert_true(out.max_request_dtos >= in->max_request_dtos);
		assert_true(out.max_request_iov >= in->max_request_iov);
		if (in->max_recv_dtos != 0)
			assert_int_equal(out.max_recv_dtos, in->max_recv_dtos);
		if (in->max_message_size != 0)
			assert_int_equal(out.max_message_size, in->max_message_size);
		if (in->srq_soft_hw != 0)
			assert_int_equal(out.srq_soft_hw, in->srq_soft_hw);
		if (in->max_rdma_size != 0)
			assert_int_equal(out.max_rdma_size, in->max_rdma_size);
		assert_int_equal(out.max_rdma_read_in, in->max_rdma_read_in);
		assert_int_equal(out.max_rdma_read_out, in->max_rdma_read_out);
		assert_int_equal(out.request_completion_flags, in->request_completion_flags);
	}
}

/*
 * Granted limits hold: so many requests, a message so long and no longer. max_recv_iov and max_recv_dtos are no limits:
 * a buffer may have more segments, and the queue more receives (decision A10).
 * Proves: ep_create_with_srq.3 ep_create_with_srq.8 bug.S25
 */
static void
create_with_srq__attributes_in_force(void **state)
{
	const DAT_EP_ATTR attr = { .max_request_dtos = 3,
		.max_message_size = 100,
		.max_recv_dtos = 1,
		.max_recv_iov = 1 };
	DAT_LMR_TRIPLET iov[3];
	DAT_EP_PARAM param;

	use_srq_ep(b, &attr);
	pair_connect(&pair);
	param = ep_param(b->ep);
	want_bad_arg(post_send(b, 0, 101, 1), 3);
	/* The peer has no buffer: nothing completes. */
	for (DAT_COUNT i = 0; i < param.ep_attr.max_request_dtos; i++)
		ok(post_send(b, 0, 100, (uint64_t)i));
	want_type(post_send(b, 0, 1, 1), DAT_INSUFFICIENT_RESOURCES);
	for (unsigned int i = 0; i < 8; i++) {
		for (unsigned int j = 0; j < 3; j++)
			iov[j] = segment(b, 1000 * i + 100 * j, 25);
		ok(dat_srq_post_recv(b->srq, 3, iov, cookie(i)));
	}
	deliver_n(8, 75);
	want_received(0, 8, 75);
	want_none(b->async);
	want_none(b->connect);
}

/* An attribute that the adapter cannot grant exactly, as it reports less or none, is refused. No endpoint is made. */
/* Proves: ep_create_with_srq.3 ep_create_with_srq.6 ep_create_with_srq.8 */
static void
create_with_srq__attributes_refused(void **state)
{
	static const struct {
		DAT_EP_ATTR attr;
		DAT_RETURN_TYPE type;
	} rule[] = {
		{ { .max_request_dtos = -1 }, DAT_INVALID_PARAMETER },
		{ { .max_request_dtos = INT32_MAX }, DAT_INVALID_PARAMETER },
		{ { .max_request_iov = -1 }, DAT_INVALID_PARAMETER },
		{ { .max_request_iov = 1000 }, DAT_INVALID_PARAMETER },
		{ { .max_recv_dtos = -2 }, DAT_INVALID_PARAMETER },
		{ { .max_recv_dtos = INT32_MIN }, DAT_INVALID_PARAMETER },
		{ { .max_message_size = UINT64_C(1) << 31 }, DAT_INVALID_PARAMETER },
		{ { .max_message_size = SEGMENT_MAX }, DAT_INVALID_PARAMETER },
		{ { .max_rdma_size = UINT64_C(1) << 31 }, DAT_INVALID_PARAMETER },
		{ { .max_rdma_read_in = 1000 }, DAT_INVALID_PARAMETER },
		{ { .max_rdma_read_out = 1000 }, DAT_INVALID_PARAMETER },
		{ { .max_rdma_read_iov = 1000 }, DAT_INVALID_PARAMETER },
		{ { .max_rdma_write_iov = 1000 }, DAT_INVALID_PARAMETER },
		{ { .srq_soft_hw = -2 }, DAT_INVALID_PARAMETER },
		{ { .srq_soft_hw = INT32_MIN }, DAT_INVALID_PARAMETER },
		{ { .ep_transport_specific_count = 1 }, DAT_INVALID_PARAMETER },
		{ { .ep_provider_specific_count = 1 }, DAT_INVALID_PARAMETER },
		{ { .service_type = (DAT_SERVICE_TYPE)1 }, DAT_MODEL_NOT_SUPPORTED },
		{ { .qos = DAT_QOS_PREMIUM }, DAT_MODEL_NOT_SUPPORTED },
	};

	a->srq = make_srq(a, 4, 1);
	for (unsigned int i = 0; i < COUNT_OF(rule); i++) {
		print_message("row %u\n", i);
		want_error(create(a, &rule[i].attr), rule[i].type, DAT_INVALID_ARG7);
	}
	/* No endpoint holds the queue or the zone. */
	free_to_the_zone(a);
}

/* With one handle replaced. */
static void
want_bad(const struct end *end, unsigned int which, DAT_HANDLE handle, DAT_RETURN_SUBTYPE subtype)
{
	DAT_HANDLE h[6] = { end->ia, end->pz, end->recv, end->request, end->connect, end->srq };
	const DAT_EP_ATTR attr = { 0 };
	DAT_EP_HANDLE ep = DAT_HANDLE_NULL;

	h[which] = handle;
	want_error(dat_ep_create_with_srq(h[0], h[1], h[2], h[3], h[4], h[5], &attr, &ep),
			DAT_INVALID_HANDLE, subtype);
	assert_null(ep);
}

/*
 * Each handle has a subtype of its own. Bad is: none at all, of another kind, freed, of another instance, or a
 * dispatcher that does not take the stream.
 * Proves: ep_create_with_srq.7
 */
static void
create_with_srq__handles(void **state)
{
	static const DAT_RETURN_SUBTYPE subtype[6] = { DAT_INVALID_HANDLE_IA, DAT_INVALID_HANDLE_PZ,
		DAT_INVALID_HANDLE_EVD_RECV, DAT_INVALID_HANDLE_EVD_REQUEST,
		DAT_INVALID_HANDLE_EVD_CONN, DAT_INVALID_HANDLE_SRQ };
	const DAT_EP_ATTR attr = { 0 };
	struct end twin;

	end_open(&twin, "loop0", NULL);
	a->srq = make_srq(a, 4, 1);
	twin.srq = make_srq(&twin, 4, 1);
	DAT_EVD_HANDLE evd = make_evd(a, DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
	const DAT_HANDLE gone[6] = { NULL, make_pz(a), evd, evd, evd, make_srq(a, 4, 1) };
	const DAT_HANDLE wrong[6] = { a->pz, a->ia, a->connect, a->cr, a->recv, a->ep };
	const DAT_HANDLE other[6] = { NULL, twin.pz, twin.recv, twin.request, twin.connect,
		twin.srq };

	ok(dat_pz_free(gone[1]));
	ok(dat_evd_free(evd));
	ok(dat_srq_free(gone[5]));
	for (unsigned int i = 0; i < 6; i++) {
		print_message("handle %u\n", i);
		want_bad(a, i, wrong[i], subtype[i]);
		if (gone[i] != NULL)
			want_bad(a, i, gone[i], subtype[i]);
		if (other[i] != NULL)
			want_bad(a, i, other[i], subtype[i]);
		/* A null dispatcher is no interest, no error. */
		if (i < 2 || i == 5)
			want_bad(a, i, DAT_HANDLE_NULL, subtype[i]);
	}
	want_bad_arg(dat_ep_create_with_srq(a->ia, a->pz, a->recv, a->request, a->connect, a->srq,
				     &attr, NULL),
			8);
	ok(dat_srq_free(a->srq));
	end_close(&twin);
}

/*
 * The association is for life: neither the end of a connection nor a reset ends it, nor can it be changed. Only
 * dat_ep_free() lets the queue go.
 * Proves: ep_create_with_srq.5 srq_free.2 srq_free.5
 */
static void
create_with_srq__is_for_life(void **state)
{
	DAT_EP_PARAM param, change;
	DAT_SRQ_HANDLE other = make_srq(b, 8, 1);

	post_many(b, 8, 0);
	for (uint64_t round = 0; round < 4; round++) {
		pair_connect(&pair);
		deliver_as(round, 64);
		part(&pair);
		reset_both();
		want_bad_state(dat_srq_free(b->srq), SRQ_IN_USE);
		param = ep_param(b->ep);
		assert_ptr_equal(param.srq_handle, b->srq);
		change = param;
		change.srq_handle = other;
		change.ep_attr.srq_soft_hw = 5;
		want_type(dat_ep_modify(b->ep, DAT_EP_FIELD_SRQ_HANDLE, &change),
				DAT_INVALID_PARAMETER);
		want_type(dat_ep_modify(b->ep, DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW, &change),
				DAT_INVALID_PARAMETER);
		change = ep_param(b->ep);
		want_same_answer(ANSWER_EP, &change, &param);
	}
	ok(dat_srq_free(other));
	free_srq_ep(b);
}

/*
 * A connection is there for the consumer before its first receive is (C5), on dispatchers of their own as on one: who
 * sees the completion finds ESTABLISHED told.
 * Proves: ep_create_with_srq.1
 */
static void
create_with_srq__established_comes_first(void **state)
{
	for (int one = 0; one < 2; one++) {
		srq_pair_open(&pair, 4, 1);
		if (one)
			use_one_evd(b);
		for (unsigned int round = 0; round < 20; round++) {
			post_many(b, 1, round);
			begin_connection();
			(void)poll_until(a->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
			ok(post_send(a, 0, 64, 1));
			if (one)
				want_event(b->recv, DAT_CONNECTION_EVENT_ESTABLISHED);
			(void)poll_until(b->recv, DAT_DTO_COMPLETION_EVENT);
			if (!one)
				want_now(b->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
			want_dto(a, a->request, 1, DAT_DTO_SUCCESS, 64);
			part(&pair);
			reset_both();
		}
		pair_close(&pair);
	}
}

/*
 * As many endpoints as the adapter says can share a queue do, unless resources end before; one more is refused, and
 * nobody suffers.
 * Proves: ep_create_with_srq.9
 */
static void
create_with_srq__as_many_as_announced(void **state)
{
	const DAT_EP_ATTR attr = { .max_request_dtos = 1, .max_request_iov = 1 };
	DAT_EP_HANDLE ep;
	DAT_RETURN rc = DAT_SUCCESS;
	DAT_COUNT n = 0;
	DAT_IA_ATTR ia = ia_attr(b, DAT_IA_FIELD_ALL);
	DAT_EP_HANDLE first = srq_ep(b, &attr);

	while (rc == DAT_SUCCESS && n <= ia.max_ep_per_srq) {
		rc = dat_ep_create_with_srq(
				b->ia, b->pz, b->recv, b->request, b->connect, b->srq, &attr, &ep);
		n += rc == DAT_SUCCESS;
	}
	print_message("%d of %d\n", n + 2, ia.max_ep_per_srq);
	want_type(rc, DAT_INSUFFICIENT_RESOURCES);
	assert_in_range(n + 2, 1000, ia.max_ep_per_srq);
	/* One goes, one comes, and the oldest works. */
	ok(dat_ep_free(first));
	(void)srq_ep(b, &attr);
	pass(1);
}

const struct CMUnitTest tests[] = {
	srq_test(create_with_srq__receives_only_from_the_queue, 4, 2),
	srq_test(create_with_srq__attributes_by_default, 4, 2),
	srq_test(create_with_srq__attributes_granted, 4, 2),
	srq_test(create_with_srq__attributes_in_force, 8, 3),
	end_test(create_with_srq__attributes_refused),
	end_test(create_with_srq__handles),
	srq_test(create_with_srq__is_for_life, 8, 1),
	rig_test(create_with_srq__established_comes_first),
	srq_up_test(create_with_srq__as_many_as_announced, 4, 1),
	tests_end,
};
