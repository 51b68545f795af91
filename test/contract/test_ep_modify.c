/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_ep_modify: what of an endpoint can be changed, when, and that nothing else changes with it. */

#include "answers.h"
#include "rig.h"

#define NEVER                                                                                 \
	(DAT_EP_FIELD_IA_HANDLE | DAT_EP_FIELD_EP_STATE | DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR | \
			DAT_EP_FIELD_LOCAL_PORT_QUAL | DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR |   \
			DAT_EP_FIELD_REMOTE_PORT_QUAL | DAT_EP_FIELD_SRQ_HANDLE |             \
			DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW | BY_ABI(0, DAT_EP_FIELD_COMM))
#define NEVER_ON_SRQ (DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS | DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV)

static void
want_unmodified(DAT_EP_HANDLE ep, const DAT_EP_PARAM *before)
{
	DAT_EP_PARAM now = ep_param(ep);

	want_same_answer(ANSWER_EP, &now, before);
}

static void
modify__arguments_in_their_order(void **state)
{
	DAT_EP_PARAM param, before;
	DAT_EP_HANDLE dead = another_ep(a);

	ok(dat_ep_free(dead));
	before = param = ep_param(a->ep);
	want_type(dat_ep_modify(DAT_HANDLE_NULL, UINT64_MAX, NULL), DAT_INVALID_HANDLE);
	want_bad_handle(dat_ep_modify(dead, UINT64_MAX, NULL), EP);
	want_bad_handle(dat_ep_modify(a->pz, UINT64_MAX, NULL), EP);
	for (unsigned int bit = 0; bit < 64; bit++) {
		DAT_EP_PARAM_MASK mask = UINT64_C(1) << bit;

		if ((mask & NEVER) != 0 || (mask & DAT_EP_FIELD_ALL) == 0) {
			want_bad_arg(dat_ep_modify(a->ep, mask, NULL), 2);
			want_bad_arg(dat_ep_modify(a->ep, mask | DAT_EP_FIELD_PZ_HANDLE, &param),
					2);
		} else {
			want_bad_arg(dat_ep_modify(a->ep, mask, NULL), 3);
		}
	}
	/* To change nothing takes nothing. */
	ok(dat_ep_modify(a->ep, 0, NULL));
	ok(dat_ep_modify(a->ep, 0, &param));
	want_unmodified(a->ep, &before);
}

/* The shared queue of an endpoint decides its receive attributes, which cannot be modified. */
static void
modify__what_a_shared_queue_decides(void **state)
{
	DAT_EP_PARAM param;
	DAT_EP_PARAM before = param = ep_param(b->ep);

	param.ep_attr.max_recv_dtos = 7;
	param.ep_attr.max_recv_iov = 2;
	param.ep_attr.max_request_dtos = 5;
	for (unsigned int bit = 0; bit < 64; bit++) {
		DAT_EP_PARAM_MASK mask = UINT64_C(1) << bit;

		if ((mask & NEVER_ON_SRQ) != 0)
			want_bad_arg(dat_ep_modify(b->ep, mask, &param), 2);
	}
	want_unmodified(b->ep, &before);
	ok(dat_ep_modify(b->ep, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, &param));
	before.ep_attr.max_request_dtos = 5;
	want_unmodified(b->ep, &before);
	/* It still belongs to its queue. */
	want_bad_state(dat_srq_free(b->srq), SRQ_IN_USE);
	pair_connect(&pair);
	pass(0);
	want_counts(b->srq, 4, 0, 0);
}

/* Each field alone: it is what was asked for, and no other has changed. */
static void
modify__one_field_at_a_time(void **state)
{
	DAT_EP_PARAM want_param;
	DAT_EP_PARAM other = want_param = ep_param(a->ep);

	other.pz_handle = make_pz(a);
	other.recv_evd_handle = make_dto_evd(a, 8);
	other.request_evd_handle = make_dto_evd(a, 8);
	other.connect_evd_handle = make_evd(a, DAT_EVD_CONNECTION_FLAG);
	other.ep_attr.request_completion_flags = DAT_COMPLETION_BARRIER_FENCE_FLAG;
	other.ep_attr.max_recv_dtos = 11;
	other.ep_attr.max_request_dtos = 12;
	other.ep_attr.max_recv_iov = 13;
	other.ep_attr.max_request_iov = 14;
	other.ep_attr.max_rdma_read_in = 15;
	other.ep_attr.max_rdma_read_out = 16;
	other.ep_attr.max_rdma_read_iov = 17;
	other.ep_attr.max_rdma_write_iov = 18;
#define FIELD(bit, member)                                            \
	do {                                                          \
		ok(dat_ep_modify(a->ep, DAT_EP_FIELD_##bit, &other)); \
		want_param.member = other.member;                     \
		want_unmodified(a->ep, &want_param);                  \
	} while (0)
	FIELD(PZ_HANDLE, pz_handle);
	FIELD(RECV_EVD_HANDLE, recv_evd_handle);
	FIELD(REQUEST_EVD_HANDLE, request_evd_handle);
	FIELD(CONNECT_EVD_HANDLE, connect_evd_handle);
	FIELD(EP_ATTR_SERVICE_TYPE, ep_attr.service_type);
	FIELD(EP_ATTR_QOS, ep_attr.qos);
	FIELD(EP_ATTR_RECV_COMPLETION_FLAGS, ep_attr.recv_completion_flags);
	FIELD(EP_ATTR_REQUEST_COMPLETION_FLAGS, ep_attr.request_completion_flags);
	FIELD(EP_ATTR_MAX_RECV_DTOS, ep_attr.max_recv_dtos);
	FIELD(EP_ATTR_MAX_REQUEST_DTOS, ep_attr.max_request_dtos);
	FIELD(EP_ATTR_MAX_RECV_IOV, ep_attr.max_recv_iov);
	FIELD(EP_ATTR_MAX_REQUEST_IOV, ep_attr.max_request_iov);
	FIELD(EP_ATTR_MAX_RDMA_READ_IN, ep_attr.max_rdma_read_in);
	FIELD(EP_ATTR_MAX_RDMA_READ_OUT, ep_attr.max_rdma_read_out);
	FIELD(EP_ATTR_MAX_RDMA_READ_IOV, ep_attr.max_rdma_read_iov);
	FIELD(EP_ATTR_MAX_RDMA_WRITE_IOV, ep_attr.max_rdma_write_iov);
	FIELD(EP_ATTR_NUM_TRANSPORT_ATTR, ep_attr.ep_transport_specific_count);
	FIELD(EP_ATTR_NUM_PROVIDER_ATTR, ep_attr.ep_provider_specific_count);
	/* The endpoint can do without a dispatcher for receives. */
	other.recv_evd_handle = DAT_HANDLE_NULL;
	FIELD(RECV_EVD_HANDLE, recv_evd_handle);
	/* Objects that the endpoint let go of can be freed, those that it has cannot. */
	ok(dat_evd_free(a->recv));
	ok(dat_evd_free(a->request));
	ok(dat_evd_free(a->connect));
	want_bad_state(dat_evd_free(other.request_evd_handle), EVD_IN_USE);
	want_bad_state(dat_pz_free(other.pz_handle), PZ_IN_USE);
	ok(dat_lmr_free(a->lmr));
	ok(dat_pz_free(a->pz));
}

/* A value that an endpoint cannot be made with it cannot be given either; and then none of the others is changed. */
static void
modify__bad_values_change_nothing(void **state)
{
	DAT_EP_PARAM before;
	DAT_EP_PARAM good = before = ep_param(a->ep);

	good.ep_attr.max_rdma_read_out = 17;
	{
		struct {
			DAT_EP_PARAM_MASK field;
			DAT_EP_PARAM param;
		} rule[16];
		unsigned int n = 0;

#define BAD(bit, member, value)                     \
	do {                                        \
		rule[n].field = DAT_EP_FIELD_##bit; \
		rule[n].param = good;               \
		rule[n++].param.member = value;     \
	} while (0)
		BAD(PZ_HANDLE, pz_handle, DAT_HANDLE_NULL);
		BAD(PZ_HANDLE, pz_handle, b->pz);
		BAD(RECV_EVD_HANDLE, recv_evd_handle, a->connect);
		BAD(REQUEST_EVD_HANDLE, request_evd_handle, b->request);
		BAD(CONNECT_EVD_HANDLE, connect_evd_handle, a->recv);
		BAD(EP_ATTR_SERVICE_TYPE, ep_attr.service_type, (DAT_SERVICE_TYPE)1);
		BAD(EP_ATTR_QOS, ep_attr.qos, DAT_QOS_PREMIUM);
		BAD(EP_ATTR_RECV_COMPLETION_FLAGS, ep_attr.recv_completion_flags,
				DAT_COMPLETION_SUPPRESS_FLAG);
		BAD(EP_ATTR_MAX_RDMA_SIZE, ep_attr.max_rdma_size, SEGMENT_MAX);
		BAD(EP_ATTR_MAX_RECV_DTOS, ep_attr.max_recv_dtos, -1);
		BAD(EP_ATTR_MAX_REQUEST_DTOS, ep_attr.max_request_dtos, 1 << 24);
		BAD(EP_ATTR_MAX_RECV_IOV, ep_attr.max_recv_iov, 33);
		BAD(EP_ATTR_MAX_RDMA_READ_IN, ep_attr.max_rdma_read_in, 65);
		BAD(EP_ATTR_MAX_RDMA_WRITE_IOV, ep_attr.max_rdma_write_iov, -1);
		BAD(EP_ATTR_NUM_TRANSPORT_ATTR, ep_attr.ep_transport_specific_count, 1);
		BAD(EP_ATTR_NUM_PROVIDER_ATTR, ep_attr.ep_provider_specific_count, 1);
		for (unsigned int i = 0; i < n; i++) {
			print_message("row %u\n", i);
			want_bad_arg(dat_ep_modify(a->ep,
						     rule[i].field | DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT,
						     &rule[i].param),
					3);
			want_unmodified(a->ep, &before);
			/* Without the bit the value does not matter. */
			ok(dat_ep_modify(a->ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT,
					&rule[i].param));
			ok(dat_ep_modify(a->ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT, &before));
		}
	}
}

/* The new zone, dispatchers and sizes are those that count. */
static void
modify__takes_effect(void **state)
{
	DAT_LMR_TRIPLET iov[5];
	DAT_LMR_CONTEXT key;
	DAT_LMR_HANDLE lmr;
	DAT_EP_PARAM param = ep_param(a->ep);

	param.pz_handle = make_pz(a);
	key = register_as(a, param.pz_handle, DAT_MEM_PRIV_ALL_FLAG, &lmr);
	param.request_evd_handle = make_dto_evd(a, 16);
	param.connect_evd_handle = make_evd(a, DAT_EVD_CONNECTION_FLAG);
	param.ep_attr.max_request_dtos = 2;
	param.ep_attr.max_request_iov = 5;
	ok(dat_ep_modify(a->ep,
			DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE |
					DAT_EP_FIELD_CONNECT_EVD_HANDLE |
					DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS |
					DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV,
			&param));
	want_type(post_recv(a, 0, 64, 1), DAT_PROTECTION_VIOLATION);
	a->connect = param.connect_evd_handle;
	a->request = param.request_evd_handle;
	pair_connect(&pair);
	want_type(post_send(a, 0, 64, 1), DAT_PROTECTION_VIOLATION);
	a->key = key;
	for (unsigned int i = 0; i < COUNT_OF(iov); i++)
		iov[i] = segment(a, (size_t)64 * i, 64);
	post_recvs(1, 3, 320);
	ok(dat_ep_post_send(a->ep, 5, iov, cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
	ok(post_send(a, 0, 320, 2));
	want_type(post_send(a, 0, 320, 3), DAT_INSUFFICIENT_RESOURCES);
	want_sent(1, 3, 320);
}

#define N 9 /**< segments, more than an endpoint has unless it is asked for */

/** Calls that an endpoint gets. */
enum verb {
	RECV,
	SEND,
	WRITE,
	READ,
};

/** A field that a queue pair is made for, and what shows that it was. */
struct effect {
	const char *name;
	DAT_EP_PARAM_MASK field;
	enum verb verb;
	DAT_COUNT segments;     /**< of the post */
	DAT_RETURN_TYPE answer; /**< to it */
	DAT_RETURN_TYPE second; /**< and to another one */
};

#define FULL DAT_INSUFFICIENT_RESOURCES

static const struct effect effects[] = {
/* clang-format off */
#define EFFECT(field, ...) { #field, DAT_EP_FIELD_##field, __VA_ARGS__ }
	EFFECT(PZ_HANDLE,                  RECV,  1, DAT_PROTECTION_VIOLATION, DAT_PROTECTION_VIOLATION),
	EFFECT(RECV_EVD_HANDLE,            RECV,  1, DAT_SUCCESS, DAT_SUCCESS),
	EFFECT(REQUEST_EVD_HANDLE,         WRITE, 1, DAT_SUCCESS, DAT_SUCCESS),
	EFFECT(EP_ATTR_MAX_RECV_DTOS,      RECV,  1, DAT_SUCCESS, FULL),
	EFFECT(EP_ATTR_MAX_REQUEST_DTOS,   SEND,  1, DAT_SUCCESS, FULL),
	EFFECT(EP_ATTR_MAX_RECV_IOV,       RECV,  N, DAT_SUCCESS, DAT_SUCCESS),
	EFFECT(EP_ATTR_MAX_REQUEST_IOV,    SEND,  N, DAT_SUCCESS, DAT_SUCCESS),
	EFFECT(EP_ATTR_MAX_RDMA_READ_IOV,  READ,  N, DAT_SUCCESS, DAT_SUCCESS),
	EFFECT(EP_ATTR_MAX_RDMA_WRITE_IOV, WRITE, N, DAT_SUCCESS, DAT_SUCCESS),
	/* clang-format on */
};

/* Everything that an effect can be of; the field of a row says which of it is asked for. */
static DAT_EP_PARAM
changed(void)
{
	DAT_EP_PARAM param = ep_param(a->ep);

	param.pz_handle = make_pz(a);
	param.recv_evd_handle = make_dto_evd(a, 8);
	param.request_evd_handle = make_dto_evd(a, 8);
	param.ep_attr.max_recv_dtos = 1;
	param.ep_attr.max_request_dtos = 1;
	param.ep_attr.max_recv_iov = N;
	param.ep_attr.max_request_iov = N;
	param.ep_attr.max_rdma_read_iov = N;
	param.ep_attr.max_rdma_write_iov = N;
	return param;
}

static DAT_RETURN
post_segments(enum verb verb, DAT_COUNT n)
{
	const DAT_RMR_TRIPLET there = target(b, 0, (DAT_VLEN)8 * N);
	DAT_LMR_TRIPLET iov[N];

	for (unsigned int k = 0; k < N; k++)
		iov[k] = segment(a, (size_t)64 * k, 8);
	switch (verb) {
	case SEND:
		return dat_ep_post_send(a->ep, n, iov, cookie(1), 0);
	case WRITE:
		return dat_ep_post_rdma_write(a->ep, n, iov, cookie(1), &there, 0);
	case READ:
		return dat_ep_post_rdma_read(a->ep, n, iov, cookie(1), &there, 0);
	default:
		return dat_ep_post_recv(a->ep, n, iov, cookie(1), 0);
	}
}

/* Each of what a queue pair is made for is changed alone, and counts from then on. */
static void
modify__alone_takes_effect(void **state)
{
	for (const struct effect *e = effects; e < effects + COUNT_OF(effects); e++) {
		DAT_EP_PARAM param;

		print_message("%s\n", e->name);
		pair_open(&pair, NULL, NULL);
		param = changed();
		ok(dat_ep_modify(a->ep, e->field, &param));
		pair_connect(&pair);
		want_type(post_segments(e->verb, e->segments), e->answer);
		want_type(post_segments(e->verb, e->segments), e->second);
		/* Completions are on the dispatcher that is the endpoint's now. */
		if (e->field == DAT_EP_FIELD_RECV_EVD_HANDLE) {
			ok(post_send(b, 0, 8, 2));
			want_dto(a, param.recv_evd_handle, 1, DAT_DTO_SUCCESS, 8);
		}
		if (e->field == DAT_EP_FIELD_REQUEST_EVD_HANDLE)
			want_dto(a, param.request_evd_handle, 1, DAT_DTO_SUCCESS, 8);
		pair_close(&pair);
	}
}

/* More reads from the peer at a time than it was made for: its limit moves with the attribute. */
static void
modify__reads_that_the_peer_may_have(void **state)
{
	DAT_EP_PARAM param = ep_param(b->ep);

	param.ep_attr.max_rdma_read_in = 0;
	ok(dat_ep_modify(b->ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, &param));
	param.ep_attr.max_rdma_read_in = 40;
	ok(dat_ep_modify(b->ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, &param));
	param = ep_param(a->ep);
	param.ep_attr.max_rdma_read_out = 40;
	ok(dat_ep_modify(a->ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT, &param));
	pair_connect(&pair);
	for (uint64_t i = 0; i < 40; i++) {
		const DAT_LMR_TRIPLET iov = segment(a, 64 * i, 64);

		ok(post_read(&iov, target(b, 0, 64), i));
	}
	want_sent(0, 40, 64);
}

/* Before it is connected, and again after a reset; else the state is what is told. */
static void
modify__by_the_state_of_the_endpoint(void **state)
{
	const DAT_EP_PARAM_MASK reads = DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT;
	const DAT_EP_PARAM_MASK zone =
			DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS;
	DAT_EP_PARAM param = ep_param(a->ep);

	param.ep_attr.max_rdma_read_out = 5;
	param.ep_attr.max_request_dtos = 6;
#define REFUSED(which, subtype)                                                                \
	do {                                                                                   \
		DAT_EP_PARAM as_before = ep_param(pair.which.ep);                              \
		param.pz_handle = pair.which.pz;                                               \
		want_error(dat_ep_modify(pair.which.ep, reads, &param), DAT_INVALID_STATE,     \
				subtype);                                                      \
		want_error(dat_ep_modify(pair.which.ep, zone, &param), DAT_INVALID_STATE,      \
				subtype);                                                      \
		want_error(dat_ep_modify(pair.which.ep, 0, NULL), DAT_INVALID_STATE, subtype); \
		/* The arguments are judged before. */                                         \
		want_error(dat_ep_modify(pair.which.ep, NEVER, &param), DAT_INVALID_PARAMETER, \
				DAT_INVALID_ARG2);                                             \
		want_unmodified(pair.which.ep, &as_before);                                    \
	} while (0)
	ok(end_connect(a, b, CONN_QUAL));
	REFUSED(a, DAT_INVALID_STATE_EP_ACTCONNPENDING);
	ok(dat_cr_accept(end_request(b), b->ep, 0, NULL));
	REFUSED(b, DAT_INVALID_STATE_EP_COMPLPENDING);
	want_both(DAT_CONNECTION_EVENT_ESTABLISHED);
	REFUSED(a, DAT_INVALID_STATE_EP_CONNECTED);
	REFUSED(b, DAT_INVALID_STATE_EP_CONNECTED);
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_GRACEFUL_FLAG));
	REFUSED(a, DAT_INVALID_STATE_EP_DISCPENDING);
	want_both(DAT_CONNECTION_EVENT_DISCONNECTED);
	REFUSED(a, DAT_INVALID_STATE_EP_DISCONNECTED);
	reset_both();
	param.pz_handle = a->pz;
	ok(dat_ep_modify(a->ep, reads | zone, &param));
	pair_connect(&pair);
	ok(post_recv(b, 0, 64, 1));
	ok(post_send(a, 0, 5, 2));
	want_dto(b, b->recv, 1, DAT_DTO_SUCCESS, 5);
}

/* Receives that are posted stay posted: what would take their queue from them is refused until they are gone. */
static void
modify__receives_that_are_posted(void **state)
{
	DAT_EP_PARAM param;

	ok(post_recv(b, 0, 64, 7));
	param = ep_param(b->ep);
	param.ep_attr.max_message_size = 99;
	param.ep_attr.max_recv_dtos = 3;
	param.connect_evd_handle = make_evd(b, DAT_EVD_CONNECTION_FLAG);
	want_bad_state(dat_ep_modify(b->ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param),
			EP_NOTREADY);
	ok(dat_ep_modify(b->ep,
			DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE | DAT_EP_FIELD_CONNECT_EVD_HANDLE |
					DAT_EP_FIELD_PZ_HANDLE,
			&param));
	b->connect = param.connect_evd_handle;
	pair_connect(&pair);
	ok(post_send(a, 0, 64, 1));
	want_dto(b, b->recv, 7, DAT_DTO_SUCCESS, 64);
}

/* High watermarks are set by a call of their own, and outlive this one. */
static void
modify__keeps_the_watermarks(void **state)
{
	DAT_EP_PARAM param;

	for (int mark = 0; mark < 2; mark++) {
		ok(dat_ep_set_watermark(b->ep, mark, DAT_WATERMARK_INFINITE));
		param = ep_param(b->ep);
		assert_int_equal(param.ep_attr.srq_soft_hw, mark);
		param.ep_attr.max_recv_dtos = 20 + mark;
		ok(dat_ep_modify(b->ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param));
		assert_int_equal(ep_param(b->ep).ep_attr.srq_soft_hw, mark);
		for (int i = 0; i < mark; i++)
			ok(post_recv(b, 0, 64, 1));
		want_none(b->async);
		ok(post_recv(b, 0, 64, 1));
		want_soft(b->async, b->ep);
		use_ep(b, NULL);
	}
	/* The hard one breaks at the first message, with more receives than it allows. */
	ok(dat_ep_set_watermark(b->ep, DAT_WATERMARK_INFINITE, 1));
	param = ep_param(b->ep);
	param.ep_attr.max_recv_dtos = 20;
	ok(dat_ep_modify(b->ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param));
	pair_connect(&pair);
	post_recvs(1, 3, 64);
	want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
}

const struct CMUnitTest tests[] = {
	end_test(modify__arguments_in_their_order),
	srq_test(modify__what_a_shared_queue_decides, 4, 1),
	end_test(modify__one_field_at_a_time),
	pair_test(modify__bad_values_change_nothing),
	pair_test(modify__takes_effect),
	rig_test(modify__alone_takes_effect),
	pair_test(modify__reads_that_the_peer_may_have),
	pair_test(modify__by_the_state_of_the_endpoint),
	pair_test(modify__receives_that_are_posted),
	pair_test(modify__keeps_the_watermarks),
	tests_end,
};
