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

/* Made, it is freed again. */
static DAT_RETURN
try_to_make(const struct wish *wish)
{
	DAT_EP_HANDLE ep;
	DAT_RETURN rc = make(a, wish, &ep);

	if (rc == DAT_SUCCESS)
		ok(dat_ep_free(ep));
	return rc;
}

/* Made, an endpoint has the flags that it was asked for. */
static void
want_made(const struct wish *wish, bool good)
{
	DAT_EP_ATTR attr;
	DAT_EP_HANDLE ep;

	if (!good) {
		want_error(make(a, wish, &ep), DAT_INVALID_PARAMETER,
				wish->on_srq ? DAT_INVALID_ARG7 : DAT_INVALID_ARG6);
		return;
	}
	ok(make(a, wish, &ep));
	attr = ep_param(ep).ep_attr;
	assert_int_equal(attr.recv_completion_flags, wish->recv_flags);
	assert_int_equal(attr.request_completion_flags, wish->request_flags);
	ok(dat_ep_free(ep));
}

/* One of the modes or none; for requests the flags of single posts may be named, too. */
static void
flags__of_an_endpoint(void **state)
{
	static const unsigned int modes[] = { DEFAULT, SOLICITED, UNSIGNAL, THRESHOLD };

	a->srq = make_srq(a, 4, 1);
	for (unsigned int i = 0; i < 2 * 0x80; i++) {
		unsigned int flags = i / 2,
			     request = flags & ~(unsigned int)(SUPPRESS | SOLICITED | FENCE);
		struct wish wish = { .recv = make_dto_evd(a, 1), .on_srq = i % 2 != 0 };
		bool recv_ok = false;

		print_message("flags 0x%x\n", flags);
		for (unsigned int m = 0; m < COUNT_OF(modes); m++)
			recv_ok |= flags == modes[m];
		wish.recv_flags = flags;
		want_made(&wish, recv_ok);
		wish = (struct wish){
			.request = wish.recv, .request_flags = flags, .on_srq = i % 2 != 0
		};
		want_made(&wish, request == 0 || request == UNSIGNAL || request == THRESHOLD);
		ok(dat_evd_free(wish.request));
	}
}

static void
flags__announced(void **state)
{
	assert_int_equal(provider_attr(a, DAT_PROVIDER_FIELD_ALL).completion_flags_supported,
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

/* A wish of a table, with the dispatcher that it feeds. */
static struct wish
on_evd(struct wish wish, DAT_EVD_HANDLE evd)
{
	wish.recv = (wish.recv_flags & ALSO) != 0 ? evd : DAT_HANDLE_NULL;
	wish.request = (wish.request_flags & ALSO) != 0 ? evd : DAT_HANDLE_NULL;
	wish.recv_flags &= ~ALSO;
	wish.request_flags &= ~ALSO;
	return wish;
}

/* Each row is judged in both orders. */
static void
flags__that_may_share_a_dispatcher(void **state)
{
	a->srq = make_srq(a, 4, 1);
	for (unsigned int i = 0; i < 2 * COUNT_OF(pairs); i++) {
		DAT_EVD_HANDLE evd = make_dto_evd(a, 4);
		const struct wish wish[2] = { on_evd(pairs[i / 2].first, evd),
			on_evd(pairs[i / 2].second, evd) };
		const struct wish *one = &wish[i % 2], *other = &wish[1 - i % 2];
		DAT_EP_HANDLE first;

		print_message("row %u, order %u\n", i / 2, i % 2);
		ok(make(a, one, &first));
		want_made(other, pairs[i / 2].good);
		/* An endpoint that is freed, and one that was refused, does not count. */
		ok(dat_ep_free(first));
		want_made(other, true);
		ok(dat_evd_free(evd));
	}
}

/* Both streams of one endpoint count like those of two. */
static void
flags__of_both_streams_of_an_endpoint(void **state)
{
	DAT_EVD_HANDLE evd, other;

	a->srq = make_srq(a, 4, 1);
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
			want_type(try_to_make(&bad[i]), DAT_INVALID_PARAMETER);
		for (unsigned int i = 0; i < COUNT_OF(good); i++)
			ok(try_to_make(&good[i]));
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

	a->srq = make_srq(a, 4, 1);
	for (unsigned int i = 0; i < COUNT_OF(rule); i++) {
		DAT_EVD_HANDLE evd = make_evd(a, rule[i].streams);

		for (unsigned int flags = DEFAULT; flags <= THRESHOLD;
				flags = flags != 0 ? 2 * flags : 2) {
			const struct wish wish = { evd, DAT_HANDLE_NULL, flags, 0, i % 2 != 0 };
			bool good = flags == SOLICITED      ? rule[i].solicited
					: flags == UNSIGNAL ? rule[i].unsignalled
							    : true;

			if (flags != FENCE)
				want_type(try_to_make(&wish),
						good ? DAT_SUCCESS : DAT_INVALID_PARAMETER);
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

	a->srq = make_srq(a, 4, 1);
	for (unsigned int i = 0; i < COUNT_OF(rule); i++) {
		DAT_EVD_HANDLE evd = make_dto_evd(a, 4);
		struct wish wish = on_evd(rule[i].wish, evd);
		DAT_EP_HANDLE ep;

		print_message("row %u\n", i);
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
	const struct wish wish = { make_dto_evd(a, 4), DAT_HANDLE_NULL, 0, 0, false };
	DAT_EP_HANDLE first, second;
	DAT_EP_PARAM param;

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

const struct CMUnitTest tests[] = {
	end_test(flags__of_an_endpoint),
	end_test(flags__announced),
	end_test(flags__that_may_share_a_dispatcher),
	end_test(flags__of_both_streams_of_an_endpoint),
	end_test(flags__beside_other_streams),
	end_test(flags__and_the_threshold_of_a_wait),
	end_test(flags__when_an_endpoint_is_modified),
	tests_end,
};
