/* SPDX-License-Identifier: BSD-3-Clause */
/* What the attributes of provider and adapter announce, and what the completion flags of an endpoint may be. */

#include <pthread.h>

#include "rig.h"

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

/*
 * What is announced is there: neither a count is DAT_VALUE_UNKNOWN, nor a call DAT_MODEL_NOT_SUPPORTED.
 *
 * Proves: ep_recv_query.3 srq_query.5 ep_set_watermark.7 srq_set_lw.4 ep_create_with_srq.4
 */
static void
provider_attributes__keep_their_word(void **state)
{
	const DAT_EP_ATTR attr = { 0 };
	DAT_COUNT number, span;
	DAT_SRQ_PARAM param;
	DAT_PZ_HANDLE pz;
	DAT_EP_HANDLE ep;

	/* A queue is below 1 as long as it is empty. */
	ok(dat_srq_set_lw(b->srq, 1));
	want_low(b->async, b->srq);
	post_many(b, 2, 0);
	ok(dat_ep_set_watermark(b->ep, 0, DAT_WATERMARK_INFINITE));
	deliver(&pair, 64);
	want_soft(b->async, b->ep);
	param = srq_param(b->srq);
	assert_int_equal(param.available_dto_count, 1);
	assert_int_equal(param.outstanding_dto_count, 2);
	ok(dat_ep_recv_query(b->ep, &number, &span));
	assert_int_equal(number, 0);
	assert_int_equal(span, 0);
	ok(dat_ep_set_watermark(b->ep, DAT_WATERMARK_INFINITE, 0));
	ok(post_send(a, 0, 64, 1));
	want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
	pz = make_pz(b);
	ok(dat_ep_create_with_srq(b->ia, pz, b->recv, b->request, b->connect, b->srq, &attr, &ep));
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

/* Nothing that was not asked for with a mask is written: a mask of nothing, nothing at all. */
static void
attributes__only_where_asked(void **state)
{
	DAT_PROVIDER_ATTR provider, poison_provider;
	DAT_IA_ATTR ia, poison_ia;
	DAT_EVD_HANDLE async;

	memset(&ia, POISON, sizeof(ia));
	memset(&poison_ia, POISON, sizeof(ia));
	memset(&provider, POISON, sizeof(provider));
	memset(&poison_provider, POISON, sizeof(provider));
	ok(dat_ia_query(a->ia, &async, 0, &ia, 0, &provider));
	assert_ptr_equal(async, a->async);
	assert_memory_equal(&ia, &poison_ia, sizeof(ia));
	assert_memory_equal(&provider, &poison_provider, sizeof(provider));
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

#define SUPPRESS  DAT_COMPLETION_SUPPRESS_FLAG
#define SOLICITED DAT_COMPLETION_SOLICITED_WAIT_FLAG
#define UNSIGNAL  DAT_COMPLETION_UNSIGNALLED_FLAG
#define FENCE     DAT_COMPLETION_BARRIER_FENCE_FLAG
#define THRESHOLD DAT_COMPLETION_EVD_THRESHOLD_FLAG
#define NO_FLAG   DAT_COMPLETION_DEFAULT_FLAG

/*
 * Flags of an endpoint: one mode for each direction, where solicited is one of receives. The three that belong to a
 * single request are always available, named here or not. The provider's attribute tells all of them.
 *
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
		DAT_RETURN recv = create(a, flags, NO_FLAG);
		DAT_RETURN request = create(a, NO_FLAG, flags);

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
 *
 * Proves: ep_create_with_srq.6
 */
static void
completion_flags__of_a_request(void **state)
{
	const struct end_options deep = { .depth = 64, .evd_len = 256 };
	DAT_LMR_TRIPLET iov;

	pair_open(&pair, &deep, NULL);
	ok(dat_ep_free(b->ep));
	b->srq = make_srq(b, 4, 1);
	b->ep = make_srq_ep(b, b->srq, b->recv);
	pair_connect(&pair);
	iov = segment(b, 0, 8);
	for (unsigned int flags = 0; flags < 0x40; flags++) {
		DAT_RETURN rc;

		ok(post_recv(a, 0, 8, flags));
		rc = dat_ep_post_send(b->ep, 1, &iov, cookie(flags), (DAT_COMPLETION_FLAGS)flags);
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

struct waiter {
	DAT_EVD_HANDLE evd;
	DAT_RETURN rc;
	DAT_EVENT event;
};

static void *
wait_long(void *arg)
{
	struct waiter *w = arg;
	DAT_COUNT more;

	w->rc = dat_evd_wait(w->evd, PATIENCE_US, 1, &w->event, &more);
	return NULL;
}

/*
 * A receive from the queue wakes who waits for it, whatever the sender thinks of that: SOLICITED_WAIT of a request
 * matters only to endpoints that were made for it. Endpoints of several connections may feed one dispatcher.
 *
 * Proves: srq_post_recv.10 ep_create_with_srq.6
 */
static void
completion_flags__every_receive_wakes(void **state)
{
	static const DAT_COMPLETION_FLAGS flags[] = { NO_FLAG, SOLICITED, SUPPRESS, FENCE };
	DAT_LMR_TRIPLET iov;

	add_connection(&pair);
	post_many(b, 4, 0);
	iov = segment(a, 0, 64);
	for (uint64_t i = 0; i < 4; i++) {
		struct waiter w = { .evd = b->recv };
		pthread_t thread;

		thread = start(wait_long, &w);
		ok(dat_ep_post_send(a->ep, 1, &iov, cookie(i), flags[i]));
		join(thread);
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
