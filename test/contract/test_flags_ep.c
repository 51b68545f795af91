/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion flags of endpoints: which there are, which may share a dispatcher, and what that means for a wait. */

#include "flags.h"

/** An endpoint to make: null dispatchers mean that nobody is interested. */
struct wish {
	DAT_EVD_HANDLE recv, request;
	unsigned int recv_flags, request_flags;
	bool on_srq;
};

static DAT_RETURN
make(const struct end *end, const struct wish *wish, DAT_EP_HANDLE *ep)
{
	const DAT_EP_ATTR attr = {
		.recv_completion_flags = (DAT_COMPLETION_FLAGS)wish->recv_flags,
		.request_completion_flags = (DAT_COMPLETION_FLAGS)wish->request_flags,
	};

	if (wish->on_srq)
		return dat_ep_create_with_srq(end->ia, end->pz, wish->recv, wish->request,
				end->connect, end->srq, &attr, ep);
	return dat_ep_create(end->ia, end->pz, wish->recv, wish->request, end->connect, &attr, ep);
}

static void
open_with_srq(struct end *end)
{
	end_open(end, "loop0", NULL);
	end->srq = make_srq(end, 4, 1);
}

/* One of the modes or none; for requests the flags of single posts may be named, too. */
static void
flags__of_an_endpoint(void **state)
{
	static const unsigned int modes[] = { DEFAULT, SOLICITED, UNSIGNAL, THRESHOLD };
	DAT_EP_PARAM param;
	DAT_EP_HANDLE ep;

	open_with_srq(a);
	for (unsigned int i = 0; i < 2 * 0x80; i++) {
		unsigned int flags = i / 2,
			     request = flags & ~(unsigned int)(SUPPRESS | SOLICITED | FENCE);
		DAT_RETURN_SUBTYPE arg = i % 2 != 0 ? DAT_INVALID_ARG7 : DAT_INVALID_ARG6;
		struct wish wish = { .recv = make_dto_evd(a, 1), .on_srq = i % 2 != 0 };
		bool recv_ok = false;

		print_message("flags 0x%x\n", flags);
		for (unsigned int m = 0; m < COUNT_OF(modes); m++)
			recv_ok |= flags == modes[m];
		wish.recv_flags = flags;
		if (recv_ok) {
			ok(make(a, &wish, &ep));
			param = ep_param(ep);
			assert_int_equal(param.ep_attr.recv_completion_flags, flags);
			ok(dat_ep_free(ep));
		} else {
			want_error(make(a, &wish, &ep), DAT_INVALID_PARAMETER, arg);
		}
		wish = (struct wish){
			.request = wish.recv, .request_flags = flags, .on_srq = i % 2 != 0
		};
		if (request == 0 || request == UNSIGNAL || request == THRESHOLD) {
			ok(make(a, &wish, &ep));
			param = ep_param(ep);
			assert_int_equal(param.ep_attr.request_completion_flags, flags);
			ok(dat_ep_free(ep));
		} else {
			want_error(make(a, &wish, &ep), DAT_INVALID_PARAMETER, arg);
		}
		ok(dat_evd_free(wish.request));
	}
}

static void
flags__announced(void **state)
{
	DAT_PROVIDER_ATTR attr = provider_attr(a, DAT_PROVIDER_FIELD_ALL);

	assert_int_equal(attr.completion_flags_supported,
			SUPPRESS | SOLICITED | UNSIGNAL | FENCE | THRESHOLD);
}

/* Two streams of completions on one dispatcher, by their flags. */
static const struct {
	struct wish first, second; /**< which of them feed it: those with a flag or marked ALSO */
	bool good;
} pairs[] = {
#define ALSO 0x100u /**< default flags, but it does feed the dispatcher */
#define RECV(f)                          \
	{                                \
		.recv_flags = (f) | ALSO \
	}
#define REQUEST(f)                          \
	{                                   \
		.request_flags = (f) | ALSO \
	}
#define SHARED(f)                                        \
	{                                                \
		.recv_flags = (f) | ALSO, .on_srq = true \
	}
	{ RECV(DEFAULT), REQUEST(DEFAULT), true },
	{ RECV(DEFAULT), REQUEST(THRESHOLD), true },
	{ RECV(THRESHOLD), REQUEST(THRESHOLD), true },
	/* Unsignalled: all or none. */
	{ RECV(UNSIGNAL), RECV(UNSIGNAL), true },
	{ RECV(UNSIGNAL), REQUEST(UNSIGNAL), true },
	{ RECV(UNSIGNAL), SHARED(UNSIGNAL), true },
	{ REQUEST(UNSIGNAL), REQUEST(UNSIGNAL), true },
	{ RECV(UNSIGNAL), RECV(DEFAULT), false },
	{ RECV(UNSIGNAL), REQUEST(DEFAULT), false },
	{ RECV(UNSIGNAL), RECV(SOLICITED), false },
	{ RECV(UNSIGNAL), REQUEST(THRESHOLD), false },
	{ REQUEST(UNSIGNAL), REQUEST(DEFAULT), false },
	{ REQUEST(UNSIGNAL), RECV(SOLICITED), false },
	{ REQUEST(UNSIGNAL), SHARED(DEFAULT), false },
	/* Solicited: receives alike, and nothing else. */
	{ RECV(SOLICITED), RECV(SOLICITED), true },
	{ RECV(SOLICITED), SHARED(SOLICITED), true },
	{ RECV(SOLICITED), RECV(DEFAULT), false },
	{ RECV(SOLICITED), RECV(THRESHOLD), false },
	{ RECV(SOLICITED), REQUEST(DEFAULT), false },
	{ RECV(SOLICITED), REQUEST(THRESHOLD), false },
	/* The threshold of a shared queue is that of all completions. */
	{ SHARED(THRESHOLD), SHARED(THRESHOLD), true },
	{ SHARED(THRESHOLD), RECV(THRESHOLD), true },
	{ SHARED(THRESHOLD), REQUEST(THRESHOLD), true },
	{ SHARED(THRESHOLD), SHARED(DEFAULT), false },
	{ SHARED(THRESHOLD), RECV(DEFAULT), false },
	{ SHARED(THRESHOLD), REQUEST(DEFAULT), false },
	{ SHARED(DEFAULT), RECV(THRESHOLD), true },
};

/* Each row is judged in both orders. */
static void
flags__that_may_share_a_dispatcher(void **state)
{
	open_with_srq(a);
	for (unsigned int i = 0; i < 2 * COUNT_OF(pairs); i++) {
		struct wish wish[2] = { pairs[i / 2].first, pairs[i / 2].second };
		DAT_EVD_HANDLE evd = make_dto_evd(a, 4);
		DAT_EP_HANDLE first, second;
		struct wish swap = wish[0];

		print_message("row %u, order %u\n", i / 2, i % 2);
		if (i % 2 != 0) {
			wish[0] = wish[1];
			wish[1] = swap;
		}
		for (unsigned int k = 0; k < 2; k++) {
			wish[k].recv = (wish[k].recv_flags & ALSO) != 0 ? evd : DAT_HANDLE_NULL;
			wish[k].request =
					(wish[k].request_flags & ALSO) != 0 ? evd : DAT_HANDLE_NULL;
			wish[k].recv_flags &= ~ALSO;
			wish[k].request_flags &= ~ALSO;
		}
		ok(make(a, &wish[0], &first));
		if (pairs[i / 2].good) {
			ok(make(a, &wish[1], &second));
			ok(dat_ep_free(second));
		} else {
			want_error(make(a, &wish[1], &second), DAT_INVALID_PARAMETER,
					wish[1].on_srq ? DAT_INVALID_ARG7 : DAT_INVALID_ARG6);
		}
		/* Whoever is gone, and whoever was refused, does not count. */
		ok(dat_ep_free(first));
		ok(make(a, &wish[1], &second));
		ok(dat_ep_free(second));
		ok(dat_evd_free(evd));
	}
}

/* Both streams of one endpoint count like those of two. */
static void
flags__of_both_streams_of_an_endpoint(void **state)
{
	DAT_EVD_HANDLE evd, other;
	DAT_EP_HANDLE ep;

	open_with_srq(a);
	evd = make_dto_evd(a, 4);
	other = make_dto_evd(a, 4);
	{
		const struct wish bad[] = {
			{ evd, evd, UNSIGNAL, DEFAULT, false },
			{ evd, evd, DEFAULT, UNSIGNAL, false },
			{ evd, evd, SOLICITED, DEFAULT, false },
			{ evd, evd, SOLICITED, UNSIGNAL, false },
			{ evd, evd, THRESHOLD, DEFAULT, true },
		};
		const struct wish good[] = {
			{ evd, evd, UNSIGNAL, UNSIGNAL, false },
			{ evd, evd, THRESHOLD, THRESHOLD, true },
			{ evd, DAT_HANDLE_NULL, SOLICITED, UNSIGNAL, false },
			{ evd, other, SOLICITED, UNSIGNAL, true },
		};

		for (unsigned int i = 0; i < COUNT_OF(bad); i++)
			want_type(make(a, &bad[i], &ep), DAT_INVALID_PARAMETER);
		for (unsigned int i = 0; i < COUNT_OF(good); i++) {
			ok(make(a, &good[i], &ep));
			ok(dat_ep_free(ep));
		}
	}
}

/* A dispatcher that takes other events as well: the threshold alone says when a waiter wakes. */
static void
flags__beside_other_streams(void **state)
{
	static const struct {
		unsigned int streams;
		bool unsignalled, solicited;
	} rule[] = {
		{ DAT_EVD_DTO_FLAG, true, true },
		{ DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, true, false },
		{ DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, false, false },
		{ DAT_EVD_DTO_FLAG | DAT_EVD_CR_FLAG, false, false },
		{ DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, false, false },
		{ DAT_EVD_DTO_FLAG | DAT_EVD_ASYNC_FLAG, false, false },
	};

	open_with_srq(a);
	for (unsigned int i = 0; i < COUNT_OF(rule); i++) {
		DAT_EVD_HANDLE evd = make_evd(a, rule[i].streams);
		DAT_EP_HANDLE ep;

		for (unsigned int flags = DEFAULT; flags <= THRESHOLD;
				flags = flags != 0 ? 2 * flags : 2) {
			const struct wish wish = { evd, DAT_HANDLE_NULL, flags, 0, i % 2 != 0 };
			bool good = flags == SOLICITED      ? rule[i].solicited
					: flags == UNSIGNAL ? rule[i].unsignalled
							    : true;

			if (flags == FENCE)
				continue;
			if (good) {
				ok(make(a, &wish, &ep));
				ok(dat_ep_free(ep));
			} else {
				want_type(make(a, &wish, &ep), DAT_INVALID_PARAMETER);
			}
		}
	}
}

/* Where notifications decide, the threshold of a wait must be 1. */
static void
flags__and_the_threshold_of_a_wait(void **state)
{
	static const struct {
		struct wish wish;
		unsigned int subtype; /**< 0: any threshold is good */
	} rule[] = {
		{ RECV(DEFAULT), 0 },
		{ RECV(THRESHOLD), 0 },
		{ RECV(SOLICITED), DAT_INVALID_STATE_EVD_CONFIG_SOLICITED },
		{ SHARED(SOLICITED), DAT_INVALID_STATE_EVD_CONFIG_SOLICITED },
		{ RECV(UNSIGNAL), DAT_INVALID_STATE_EVD_CONFIG_NOTIFY },
		{ REQUEST(UNSIGNAL), DAT_INVALID_STATE_EVD_CONFIG_NOTIFY },
		{ REQUEST(SOLICITED), 0 },
	};

	open_with_srq(a);
	for (unsigned int i = 0; i < COUNT_OF(rule); i++) {
		DAT_EVD_HANDLE evd = make_dto_evd(a, 4);
		struct wish wish = rule[i].wish;
		DAT_EP_HANDLE ep;

		print_message("row %u\n", i);
		wish.recv = (wish.recv_flags & ALSO) != 0 ? evd : DAT_HANDLE_NULL;
		wish.request = (wish.request_flags & ALSO) != 0 ? evd : DAT_HANDLE_NULL;
		wish.recv_flags &= ~ALSO;
		wish.request_flags &= ~ALSO;
		ok(make(a, &wish, &ep));
		want_type(wait_for(evd, 0, 1), DAT_TIMEOUT_EXPIRED);
		if (rule[i].subtype == 0)
			want_type(wait_for(evd, 0, 2), DAT_TIMEOUT_EXPIRED);
		else
			want_error(wait_for(evd, 0, 2), DAT_INVALID_STATE, rule[i].subtype);
		/* The arguments are judged before. */
		want_bad_arg(wait_for(evd, 0, 5), 3);
		ok(dat_ep_free(ep));
		want_type(wait_for(evd, 0, 2), DAT_TIMEOUT_EXPIRED);
		ok(dat_evd_free(evd));
	}
}

/* An endpoint that changes its flags must go with the others, too. */
static void
flags__when_an_endpoint_is_modified(void **state)
{
	const DAT_EP_PARAM_MASK recv = DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS;
	const DAT_EP_PARAM_MASK evd = DAT_EP_FIELD_RECV_EVD_HANDLE;
	DAT_EP_HANDLE first, second;
	DAT_EP_PARAM param;

	open_with_srq(a);
	{
		const struct wish wish = { make_dto_evd(a, 4), DAT_HANDLE_NULL, 0, 0, false };

		ok(make(a, &wish, &first));
		ok(make(a, &wish, &second));
		param = ep_param(first);
		param.ep_attr.recv_completion_flags = UNSIGNAL;
		want_bad_arg(dat_ep_modify(first, recv, &param), 3);
		/* Alone on another dispatcher it may, and what it left is as it was. */
		param.recv_evd_handle = make_dto_evd(a, 4);
		ok(dat_ep_modify(first, recv | evd, &param));
		want_bad_state(wait_for(param.recv_evd_handle, 0, 2), EVD_CONFIG_NOTIFY);
		want_type(wait_for(wish.recv, 0, 2), DAT_TIMEOUT_EXPIRED);
		/* It cannot go back as it is; as it was it can. */
		param.recv_evd_handle = wish.recv;
		want_bad_arg(dat_ep_modify(first, evd, &param), 3);
		param.ep_attr.recv_completion_flags = DEFAULT;
		ok(dat_ep_modify(first, recv | evd, &param));
		/* The last one can be what it likes. */
		ok(dat_ep_free(second));
		param.ep_attr.recv_completion_flags = SOLICITED;
		ok(dat_ep_modify(first, recv, &param));
		want_bad_state(wait_for(wish.recv, 0, 2), EVD_CONFIG_SOLICITED);
	}
}

const struct CMUnitTest tests[] = {
	rig_test(flags__of_an_endpoint),
	end_test(flags__announced),
	rig_test(flags__that_may_share_a_dispatcher),
	rig_test(flags__of_both_streams_of_an_endpoint),
	rig_test(flags__beside_other_streams),
	rig_test(flags__and_the_threshold_of_a_wait),
	rig_test(flags__when_an_endpoint_is_modified),
	tests_end,
};
