/* SPDX-License-Identifier: BSD-3-Clause */
/* Features that the attributes of provider and adapter announce, and completion flags that an endpoint may have. */

#include "flags.h"
#include "waiting.h"

/* Everything there is, and each attribute also when it alone is asked for. */
static void
provider_attributes__announce_everything(void **state)
{
	static const DAT_PROVIDER_ATTR_MASK masks[] = { DAT_PROVIDER_FIELD_ALL,
		DAT_PROVIDER_FIELD_SRQ_SUPPORTED | DAT_PROVIDER_FIELD_SRQ_WATERMARKS_SUPPORTED |
				DAT_PROVIDER_FIELD_SRQ_EP_PZ_DIFFERENCE_SUPPORTED |
				DAT_PROVIDER_FIELD_SRQ_INFO_SUPPORTED |
				DAT_PROVIDER_FIELD_EP_RECV_INFO_SUPPORTED };

	for (unsigned int i = 0; i < 2; i++) {
		DAT_PROVIDER_ATTR attr = provider_attr(a, masks[i]);

		assert_int_equal(attr.srq_supported, DAT_TRUE);
		assert_int_equal(attr.srq_watermarks_supported, 0x111);
		assert_int_equal(attr.srq_ep_pz_difference_supported, DAT_TRUE);
		assert_int_equal(attr.srq_info_supported, 0x11);
		assert_int_equal(attr.ep_recv_info_supported, 0x11);
	}
}

/* Announced features exist: no count is DAT_VALUE_UNKNOWN, no call answers DAT_MODEL_NOT_SUPPORTED. */
/* Proves: ep_recv_query.3 srq_query.5 ep_set_watermark.7 srq_set_lw.4 ep_create_with_srq.4 */
static void
provider_attributes__keep_their_word(void **state)
{
	/* A queue is below 1 as long as it is empty. */
	ok(dat_srq_set_lw(b->srq, 1));
	want_low(b->async, b->srq);
	post_many(b, 2, 0);
	ok(dat_ep_set_watermark(b->ep, 0, DAT_WATERMARK_INFINITE));
	deliver(&pair, 64);
	want_soft(b->async, b->ep);
	want_counts(b->srq, 4, 1, 2);
	want_held(b->ep, 0);
	end_by(BY_HARD_MARK);
	ok(post_send(a, 0, 64, 1));
	want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
	b->pz = make_pz(b);
	(void)srq_ep(b, NULL);
}

/* The limits of the adapter are such as one can live with, agree with each other, and are what creation enforces. */
static void
ia_attributes__limits(void **state)
{
	static const DAT_IA_ATTR_MASK masks[] = { DAT_IA_FIELD_ALL,
		DAT_IA_FIELD_IA_MAX_SRQS | DAT_IA_FIELD_IA_MAX_EP_PER_SRQ |
				DAT_IA_FIELD_IA_MAX_RECV_PER_SRQ | DAT_IA_FIELD_IA_MAX_EPS };
	DAT_SRQ_ATTR srq = { .max_recv_iov = 1 };
	DAT_SRQ_HANDLE handle, many[300];
	DAT_IA_ATTR attr;

	for (unsigned int i = 0; i < 2; i++) {
		attr = ia_attr(a, masks[i]);
		assert_true(attr.max_srqs >= 1024);
		assert_true(attr.max_ep_per_srq >= 1024);
		assert_true(attr.max_ep_per_srq <= attr.max_eps);
		assert_true(attr.max_recv_per_srq >= 65536);
	}
	srq.max_recv_dtos = attr.max_recv_per_srq + 1;
	want_bad_arg(dat_srq_create(a->ia, a->pz, &srq, &handle), 3);
	srq.max_recv_dtos = attr.max_recv_per_srq;
	ok(dat_srq_create(a->ia, a->pz, &srq, &handle));
	want_counts(handle, attr.max_recv_per_srq, 0, 0);
	ok(dat_srq_free(handle));
	for (unsigned int i = 0; i < 300; i++)
		many[i] = make_srq(a, 4, 1);
	for (unsigned int i = 0; i < 300; i++)
		ok(dat_srq_free(many[i]));
}

/* A query writes no field that its mask does not ask for: with an empty mask, none at all. */
static void
attributes__only_where_asked(void **state)
{
	DAT_PROVIDER_ATTR provider;
	DAT_EVD_HANDLE async;
	DAT_IA_ATTR ia;

	memset((void *)&ia, POISON, sizeof(ia));
	memset((void *)&provider, POISON, sizeof(provider));
	ok(dat_ia_query(a->ia, &async, 0, &ia, 0, &provider));
	assert_ptr_equal(async, a->async);
	want_bytes(&ia, POISON, sizeof(ia));
	want_bytes(&provider, POISON, sizeof(provider));
}

static DAT_RETURN
create(const struct end *end, unsigned int recv_flags, unsigned int request_flags)
{
	const DAT_EP_ATTR attr = {
		.recv_completion_flags = (DAT_COMPLETION_FLAGS)recv_flags,
		.request_completion_flags = (DAT_COMPLETION_FLAGS)request_flags,
	};
	DAT_EP_HANDLE ep;
	DAT_RETURN rc = dat_ep_create_with_srq(end->ia, end->pz, end->recv, end->request,
			end->connect, end->srq, &attr, &ep);

	if (rc == DAT_SUCCESS)
		ok(dat_ep_free(ep));
	return rc;
}

/*
 * Flags of an endpoint: one mode for each direction, where solicited is one of receives. The three that belong to a
 * single request are always available, named here or not. The provider's attribute tells all of them.
 * Proves: ep_create_with_srq.6
 */
static void
completion_flags__of_an_endpoint(void **state)
{
	const unsigned int per_post = SUPPRESS | SOLICITED | FENCE;
	unsigned int mode;

	ok(dat_ep_free(a->ep));
	a->srq = make_srq(a, 4, 1);
	for (unsigned int flags = 0; flags < 0x40; flags++) {
		DAT_RETURN recv = create(a, flags, DEFAULT);
		DAT_RETURN request = create(a, DEFAULT, flags);

		print_message("flags 0x%x\n", flags);
		if (flags == 0 || flags == SOLICITED || flags == UNSIGNAL || flags == THRESHOLD)
			ok(recv);
		else
			want_bad_arg(recv, 7);
		mode = flags & ~per_post;
		if (mode == 0 || mode == UNSIGNAL || mode == THRESHOLD)
			ok(request);
		else
			want_bad_arg(request, 7);
	}
	assert_int_equal(provider_attr(a, DAT_PROVIDER_FIELD_ALL).completion_flags_supported,
			per_post | UNSIGNAL | THRESHOLD);
}

/*
 * Flags of a request of an endpoint on a queue: those of single requests in any combination; what would want a mode
 * of the endpoint is refused.
 * Proves: ep_create_with_srq.6
 */
static void
completion_flags__of_a_request(void **state)
{
	pair_open(&pair, &(struct end_options){ .depth = 64, .evd_len = 256 }, NULL);
	b->srq = make_srq(b, 4, 1);
	use_srq_ep(b, NULL);
	pair_connect(&pair);
	for (unsigned int flags = 0; flags < 0x40; flags++) {
		DAT_RETURN rc;

		ok(post_recv(a, 0, 8, flags));
		rc = post_send_with(b, 8, flags, flags);
		print_message("flags 0x%x\n", flags);
		if ((flags & ~(unsigned int)(SUPPRESS | SOLICITED | FENCE)) != 0) {
			want_bad_arg(rc, 5);
			continue;
		}
		ok(rc);
		want_event(a->recv, DAT_DTO_COMPLETION_EVENT);
		if ((flags & SUPPRESS) == 0)
			want_dto(b, b->request, flags, DAT_DTO_SUCCESS, 8);
	}
	want_silence(b->request);
}

/*
 * A receive from the queue wakes who waits for it, whatever the sender thinks of that: SOLICITED_WAIT of a request
 * matters only to endpoints that were made for it. Endpoints of several connections may feed one dispatcher.
 * Proves: srq_post_recv.10 ep_create_with_srq.6
 */
static void
completion_flags__every_receive_wakes(void **state)
{
	static const DAT_COMPLETION_FLAGS flags[] = { DEFAULT, SOLICITED, SUPPRESS, FENCE };

	add_connection(&pair);
	post_many(b, 4, 0);
	for (uint64_t i = 0; i < 4; i++) {
		struct waiter w = { .evd = b->recv };

		begin_to_wait(&w);
		ok(post_send_with(a, 64, i, flags[i]));
		join_waiter(&w);
		ok(w.rc);
		assert_int_equal(w.event.event_data.dto_completion_event_data.user_cookie.as_64, i);
	}
}

const struct CMUnitTest tests[] = {
	end_test(provider_attributes__announce_everything),
	srq_up_test(provider_attributes__keep_their_word, 4, 1),
	end_test(ia_attributes__limits),
	end_test(attributes__only_where_asked),
	end_test(completion_flags__of_an_endpoint),
	rig_test(completion_flags__of_a_request),
	srq_up_test(completion_flags__every_receive_wakes, 8, 1),
	tests_end,
};
