/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_ep_modify: what of an endpoint can be changed, when, and that nothing else changes with it. */

#include "answers.h"
#include "rig.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define NEVER                                                                                 \
	(DAT_EP_FIELD_IA_HANDLE | DAT_EP_FIELD_EP_STATE | DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR | \
			DAT_EP_FIELD_LOCAL_PORT_QUAL | DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR |   \
			DAT_EP_FIELD_REMOTE_PORT_QUAL | DAT_EP_FIELD_SRQ_HANDLE |             \
			DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW | BY_ABI(0, DAT_EP_FIELD_COMM))
#define NEVER_ON_SRQ (DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS | DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV)

static DAT_EP_PARAM
param_of(DAT_EP_HANDLE ep)
{
	DAT_EP_PARAM param;

	memset(&param, 0, sizeof(param));
	ok(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
	return param;
}

static void
want_unmodified(DAT_EP_HANDLE ep, const DAT_EP_PARAM *before)
{
	DAT_EP_PARAM now = param_of(ep);

	want_same_answer(ANSWER_EP, &now, before);
}

static void
modify__arguments_in_their_order(void **state)
{
	DAT_EP_PARAM param, before;
	DAT_EP_HANDLE dead;
	struct end end;

	end_open(&end, "loop0", NULL);
	ok(dat_ep_create(end.ia, end.pz, end.recv, end.request, end.connect, NULL, &dead));
	ok(dat_ep_free(dead));
	before = param = param_of(end.ep);
	want_type(dat_ep_modify(DAT_HANDLE_NULL, UINT64_MAX, NULL), DAT_INVALID_HANDLE);
	want_error(dat_ep_modify(dead, UINT64_MAX, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EP);
	want_error(dat_ep_modify(end.pz, UINT64_MAX, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EP);
	for (unsigned int bit = 0; bit < 64; bit++) {
		DAT_EP_PARAM_MASK mask = UINT64_C(1) << bit;

		if ((mask & NEVER) != 0 || (mask & DAT_EP_FIELD_ALL) == 0) {
			want_error(dat_ep_modify(end.ep, mask, NULL), DAT_INVALID_PARAMETER,
					DAT_INVALID_ARG2);
			want_error(dat_ep_modify(end.ep, mask | DAT_EP_FIELD_PZ_HANDLE, &param),
					DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
		} else {
			want_error(dat_ep_modify(end.ep, mask, NULL), DAT_INVALID_PARAMETER,
					DAT_INVALID_ARG3);
		}
	}
	/* To change nothing takes nothing. */
	ok(dat_ep_modify(end.ep, 0, NULL));
	ok(dat_ep_modify(end.ep, 0, &param));
	want_unmodified(end.ep, &before);
	end_close(&end);
}

/* What an endpoint with a shared queue receives is the queue's business. */
static void
modify__what_a_shared_queue_decides(void **state)
{
	DAT_EP_PARAM param, before;
	struct pair pair;

	srq_pair_open(&pair, 4, 1);
	before = param = param_of(pair.b.ep);
	param.ep_attr.max_recv_dtos = 7;
	param.ep_attr.max_recv_iov = 2;
	param.ep_attr.max_request_dtos = 5;
	for (unsigned int bit = 0; bit < 64; bit++) {
		DAT_EP_PARAM_MASK mask = UINT64_C(1) << bit;

		if ((mask & NEVER_ON_SRQ) != 0)
			want_error(dat_ep_modify(pair.b.ep, mask, &param), DAT_INVALID_PARAMETER,
					DAT_INVALID_ARG2);
	}
	want_unmodified(pair.b.ep, &before);
	ok(dat_ep_modify(pair.b.ep, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, &param));
	before.ep_attr.max_request_dtos = 5;
	want_unmodified(pair.b.ep, &before);
	/* It still belongs to its queue. */
	want_error(dat_srq_free(pair.b.srq), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	pair_connect(&pair);
	post_many(&pair.b, 1, 0);
	deliver(&pair, 64);
	want_dto_now(&pair.b, pair.b.recv, 0, DAT_DTO_SUCCESS);
	want_counts(pair.b.srq, 4, 0, 0);
	pair_close(&pair);
}

/* Each field alone: it is what was asked for, and no other has changed. */
static void
modify__one_field_at_a_time(void **state)
{
	struct end end;
	DAT_EP_PARAM want_param, other;

	end_open(&end, "loop0", NULL);
	other = want_param = param_of(end.ep);
	ok(dat_pz_create(end.ia, &other.pz_handle));
	other.recv_evd_handle = make_dto_evd(&end, 8);
	other.request_evd_handle = make_dto_evd(&end, 8);
	other.connect_evd_handle = make_evd(&end, DAT_EVD_CONNECTION_FLAG);
	other.ep_attr.request_completion_flags = DAT_COMPLETION_BARRIER_FENCE_FLAG;
	other.ep_attr.max_recv_dtos = 11;
	other.ep_attr.max_request_dtos = 12;
	other.ep_attr.max_recv_iov = 13;
	other.ep_attr.max_request_iov = 14;
	other.ep_attr.max_rdma_read_in = 15;
	other.ep_attr.max_rdma_read_out = 16;
	other.ep_attr.max_rdma_read_iov = 17;
	other.ep_attr.max_rdma_write_iov = 18;
#define FIELD(bit, member)                              \
	do {                                            \
		ok(dat_ep_modify(end.ep, bit, &other)); \
		want_param.member = other.member;       \
		want_unmodified(end.ep, &want_param);   \
	} while (0)
	FIELD(DAT_EP_FIELD_PZ_HANDLE, pz_handle);
	FIELD(DAT_EP_FIELD_RECV_EVD_HANDLE, recv_evd_handle);
	FIELD(DAT_EP_FIELD_REQUEST_EVD_HANDLE, request_evd_handle);
	FIELD(DAT_EP_FIELD_CONNECT_EVD_HANDLE, connect_evd_handle);
	FIELD(DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, ep_attr.service_type);
	FIELD(DAT_EP_FIELD_EP_ATTR_QOS, ep_attr.qos);
	FIELD(DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, ep_attr.recv_completion_flags);
	FIELD(DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS, ep_attr.request_completion_flags);
	FIELD(DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, ep_attr.max_recv_dtos);
	FIELD(DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, ep_attr.max_request_dtos);
	FIELD(DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, ep_attr.max_recv_iov);
	FIELD(DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV, ep_attr.max_request_iov);
	FIELD(DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, ep_attr.max_rdma_read_in);
	FIELD(DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT, ep_attr.max_rdma_read_out);
	FIELD(DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV, ep_attr.max_rdma_read_iov);
	FIELD(DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV, ep_attr.max_rdma_write_iov);
	FIELD(DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR, ep_attr.ep_transport_specific_count);
	FIELD(DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR, ep_attr.ep_provider_specific_count);
	/* Nobody is interested in some events after all. */
	other.recv_evd_handle = DAT_HANDLE_NULL;
	FIELD(DAT_EP_FIELD_RECV_EVD_HANDLE, recv_evd_handle);
	/* What the endpoint let go of can be freed, what it has can not. */
	ok(dat_evd_free(end.recv));
	ok(dat_evd_free(end.request));
	ok(dat_evd_free(end.connect));
	want_error(dat_evd_free(other.request_evd_handle), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EVD_IN_USE);
	want_error(dat_pz_free(other.pz_handle), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE);
	ok(dat_lmr_free(end.lmr));
	ok(dat_pz_free(end.pz));
	end_close(&end);
}

/* A value that an endpoint cannot be made with it cannot be given either; and then none of the others is changed. */
static void
modify__bad_values_change_nothing(void **state)
{
	DAT_EP_PARAM good, before;
	struct pair pair;
	struct end *a = &pair.a;

	pair_open(&pair, NULL, NULL);
	good = before = param_of(a->ep);
	good.ep_attr.max_rdma_read_out = 17;
	{
		struct {
			DAT_EP_PARAM_MASK field;
			DAT_EP_PARAM param;
		} rule[16];
		unsigned int n = 0;

#define BAD(bit, member, value)                 \
	do {                                    \
		rule[n].field = bit;            \
		rule[n].param = good;           \
		rule[n++].param.member = value; \
	} while (0)
		BAD(DAT_EP_FIELD_PZ_HANDLE, pz_handle, DAT_HANDLE_NULL);
		BAD(DAT_EP_FIELD_PZ_HANDLE, pz_handle, pair.b.pz);
		BAD(DAT_EP_FIELD_RECV_EVD_HANDLE, recv_evd_handle, a->connect);
		BAD(DAT_EP_FIELD_REQUEST_EVD_HANDLE, request_evd_handle, pair.b.request);
		BAD(DAT_EP_FIELD_CONNECT_EVD_HANDLE, connect_evd_handle, a->recv);
		BAD(DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, ep_attr.service_type, (DAT_SERVICE_TYPE)1);
		BAD(DAT_EP_FIELD_EP_ATTR_QOS, ep_attr.qos, DAT_QOS_PREMIUM);
		BAD(DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, ep_attr.recv_completion_flags,
				DAT_COMPLETION_SUPPRESS_FLAG);
		BAD(DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE, ep_attr.max_rdma_size, SEGMENT_MAX);
		BAD(DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, ep_attr.max_recv_dtos, -1);
		BAD(DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, ep_attr.max_request_dtos, 1 << 24);
		BAD(DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, ep_attr.max_recv_iov, 33);
		BAD(DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, ep_attr.max_rdma_read_in, 65);
		BAD(DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV, ep_attr.max_rdma_write_iov, -1);
		BAD(DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR, ep_attr.ep_transport_specific_count,
				1);
		BAD(DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR, ep_attr.ep_provider_specific_count, 1);
		for (unsigned int i = 0; i < n; i++) {
			print_message("row %u\n", i);
			want_error(dat_ep_modify(a->ep,
						   rule[i].field | DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT,
						   &rule[i].param),
					DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
			want_unmodified(a->ep, &before);
			/* Without the bit the value does not matter. */
			ok(dat_ep_modify(a->ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT,
					&rule[i].param));
			ok(dat_ep_modify(a->ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT, &before));
		}
	}
	pair_close(&pair);
}

/* The new zone, dispatchers and sizes are those that count. */
static void
modify__takes_effect(void **state)
{
	DAT_LMR_TRIPLET iov[5];
	DAT_EP_PARAM param;
	DAT_LMR_CONTEXT key;
	DAT_LMR_HANDLE lmr;
	struct pair pair;
	struct end *a = &pair.a;

	pair_open(&pair, NULL, NULL);
	param = param_of(a->ep);
	ok(dat_pz_create(a->ia, &param.pz_handle));
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
	ok(post_recv(&pair.b, 0, 320, 1));
	ok(post_recv(&pair.b, 0, 320, 2));
	ok(dat_ep_post_send(a->ep, 5, iov, cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
	ok(post_send(a, 0, 320, 2));
	want_type(post_send(a, 0, 320, 3), DAT_INSUFFICIENT_RESOURCES);
	want_dto(a, a->request, 1, DAT_DTO_SUCCESS, 320);
	want_dto(a, a->request, 2, DAT_DTO_SUCCESS, 320);
	pair_close(&pair);
}

#define N 9 /**< segments, more than an endpoint has unless it is asked for */

/** A field that a queue pair is made for, and what shows that it was. */
struct effect {
	DAT_EP_PARAM_MASK field;
	void (*change)(struct end *a, DAT_EP_PARAM *param);
	void (*show)(struct pair *pair, DAT_LMR_TRIPLET *iov, const DAT_RMR_TRIPLET *there);
};

static void
change_zone(struct end *a, DAT_EP_PARAM *param)
{
	ok(dat_pz_create(a->ia, &param->pz_handle));
}

static void
show_zone(struct pair *pair, DAT_LMR_TRIPLET *iov, const DAT_RMR_TRIPLET *there)
{
	want_type(dat_ep_post_recv(pair->a.ep, 1, iov, cookie(1), 0), DAT_PROTECTION_VIOLATION);
}

static void
change_recv(struct end *a, DAT_EP_PARAM *param)
{
	a->recv = param->recv_evd_handle = make_dto_evd(a, 8);
}

static void
show_recv(struct pair *pair, DAT_LMR_TRIPLET *iov, const DAT_RMR_TRIPLET *there)
{
	ok(dat_ep_post_recv(pair->a.ep, 1, iov, cookie(1), 0));
	ok(post_send(&pair->b, 0, 8, 2));
	want_dto(&pair->a, pair->a.recv, 1, DAT_DTO_SUCCESS, 8);
}

static void
change_request(struct end *a, DAT_EP_PARAM *param)
{
	a->request = param->request_evd_handle = make_dto_evd(a, 8);
}

static void
show_request(struct pair *pair, DAT_LMR_TRIPLET *iov, const DAT_RMR_TRIPLET *there)
{
	ok(dat_ep_post_rdma_write(pair->a.ep, 1, iov, cookie(1), there, 0));
	want_dto(&pair->a, pair->a.request, 1, DAT_DTO_SUCCESS, 8);
}

static void
change_numbers(struct end *a, DAT_EP_PARAM *param)
{
	param->ep_attr.max_recv_dtos = 1;
	param->ep_attr.max_request_dtos = 1;
	param->ep_attr.max_recv_iov = N;
	param->ep_attr.max_request_iov = N;
	param->ep_attr.max_rdma_read_iov = N;
	param->ep_attr.max_rdma_write_iov = N;
}

static void
show_recv_dtos(struct pair *pair, DAT_LMR_TRIPLET *iov, const DAT_RMR_TRIPLET *there)
{
	ok(dat_ep_post_recv(pair->a.ep, 1, iov, cookie(1), 0));
	want_type(dat_ep_post_recv(pair->a.ep, 1, iov, cookie(1), 0), DAT_INSUFFICIENT_RESOURCES);
}

static void
show_request_dtos(struct pair *pair, DAT_LMR_TRIPLET *iov, const DAT_RMR_TRIPLET *there)
{
	ok(dat_ep_post_send(pair->a.ep, 1, iov, cookie(1), 0));
	want_type(dat_ep_post_send(pair->a.ep, 1, iov, cookie(1), 0), DAT_INSUFFICIENT_RESOURCES);
}

static void
show_recv_iov(struct pair *pair, DAT_LMR_TRIPLET *iov, const DAT_RMR_TRIPLET *there)
{
	ok(dat_ep_post_recv(pair->a.ep, N, iov, cookie(1), 0));
}

static void
show_request_iov(struct pair *pair, DAT_LMR_TRIPLET *iov, const DAT_RMR_TRIPLET *there)
{
	ok(dat_ep_post_send(pair->a.ep, N, iov, cookie(1), 0));
}

static void
show_read_iov(struct pair *pair, DAT_LMR_TRIPLET *iov, const DAT_RMR_TRIPLET *there)
{
	ok(dat_ep_post_rdma_read(pair->a.ep, N, iov, cookie(1), there, 0));
}

static void
show_write_iov(struct pair *pair, DAT_LMR_TRIPLET *iov, const DAT_RMR_TRIPLET *there)
{
	ok(dat_ep_post_rdma_write(pair->a.ep, N, iov, cookie(1), there, 0));
}

/* Each of what a queue pair is made for is changed alone, and counts from then on. */
static void
modify__alone_takes_effect(void **state)
{
	static const struct effect effects[] = {
		{ DAT_EP_FIELD_PZ_HANDLE, change_zone, show_zone },
		{ DAT_EP_FIELD_RECV_EVD_HANDLE, change_recv, show_recv },
		{ DAT_EP_FIELD_REQUEST_EVD_HANDLE, change_request, show_request },
		{ DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, change_numbers, show_recv_dtos },
		{ DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, change_numbers, show_request_dtos },
		{ DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, change_numbers, show_recv_iov },
		{ DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV, change_numbers, show_request_iov },
		{ DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV, change_numbers, show_read_iov },
		{ DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV, change_numbers, show_write_iov },
	};

	for (unsigned int i = 0; i < COUNT_OF(effects); i++) {
		DAT_LMR_TRIPLET iov[N];
		DAT_RMR_TRIPLET there;
		DAT_EP_PARAM param;
		struct pair pair;

		print_message("row %u\n", i);
		pair_open(&pair, NULL, NULL);
		for (unsigned int k = 0; k < N; k++)
			iov[k] = segment(&pair.a, (size_t)64 * k, 8);
		there = (DAT_RMR_TRIPLET){
			.rmr_context = pair.b.key,
			.target_address = (uintptr_t)pair.b.buffer,
			.segment_length = (DAT_VLEN)8 * N,
		};
		param = param_of(pair.a.ep);
		effects[i].change(&pair.a, &param);
		ok(dat_ep_modify(pair.a.ep, effects[i].field, &param));
		pair_connect(&pair);
		effects[i].show(&pair, iov, &there);
		pair_close(&pair);
	}
}

/* More reads from the peer at a time than it was made for: its limit moves with the attribute. */
static void
modify__reads_that_the_peer_may_have(void **state)
{
	DAT_EP_PARAM param;
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	param = param_of(pair.b.ep);
	param.ep_attr.max_rdma_read_in = 0;
	ok(dat_ep_modify(pair.b.ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, &param));
	param.ep_attr.max_rdma_read_in = 40;
	ok(dat_ep_modify(pair.b.ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, &param));
	param = param_of(pair.a.ep);
	param.ep_attr.max_rdma_read_out = 40;
	ok(dat_ep_modify(pair.a.ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT, &param));
	pair_connect(&pair);
	for (uint64_t i = 0; i < 40; i++) {
		DAT_LMR_TRIPLET iov = segment(&pair.a, 64 * i, 64);
		const DAT_RMR_TRIPLET there = {
			.rmr_context = pair.b.key,
			.target_address = (uintptr_t)pair.b.buffer,
			.segment_length = 64,
		};

		ok(dat_ep_post_rdma_read(pair.a.ep, 1, &iov, cookie(i), &there,
				DAT_COMPLETION_DEFAULT_FLAG));
	}
	for (uint64_t i = 0; i < 40; i++)
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, 64);
	pair_close(&pair);
}

/* Before it is connected, and again after a reset; else the state is what is told. */
static void
modify__by_the_state_of_the_endpoint(void **state)
{
	const DAT_EP_PARAM_MASK reads = DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT;
	const DAT_EP_PARAM_MASK zone =
			DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS;
	DAT_EP_PARAM param;
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	param = param_of(pair.a.ep);
	param.ep_attr.max_rdma_read_out = 5;
	param.ep_attr.max_request_dtos = 6;
#define REFUSED(which, subtype)                                                                \
	do {                                                                                   \
		DAT_EP_PARAM as_before = param_of(pair.which.ep);                              \
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
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	REFUSED(a, DAT_INVALID_STATE_EP_ACTCONNPENDING);
	ok(dat_cr_accept(end_request(&pair.b), pair.b.ep, 0, NULL));
	REFUSED(b, DAT_INVALID_STATE_EP_COMPLPENDING);
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	REFUSED(a, DAT_INVALID_STATE_EP_CONNECTED);
	REFUSED(b, DAT_INVALID_STATE_EP_CONNECTED);
	ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
	REFUSED(a, DAT_INVALID_STATE_EP_DISCPENDING);
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	REFUSED(a, DAT_INVALID_STATE_EP_DISCONNECTED);
	ok(dat_ep_reset(pair.a.ep));
	ok(dat_ep_reset(pair.b.ep));
	param.pz_handle = pair.a.pz;
	ok(dat_ep_modify(pair.a.ep, reads | zone, &param));
	pair_connect(&pair);
	ok(post_recv(&pair.b, 0, 64, 1));
	ok(post_send(&pair.a, 0, 5, 2));
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_SUCCESS, 5);
	pair_close(&pair);
}

/* Receives that are posted stay posted: what would take their queue from them is refused until they are gone. */
static void
modify__receives_that_are_posted(void **state)
{
	DAT_EP_PARAM param;
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	ok(post_recv(&pair.b, 0, 64, 7));
	param = param_of(pair.b.ep);
	param.ep_attr.max_message_size = 99;
	param.ep_attr.max_recv_dtos = 3;
	param.connect_evd_handle = make_evd(&pair.b, DAT_EVD_CONNECTION_FLAG);
	want_error(dat_ep_modify(pair.b.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param),
			DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY);
	ok(dat_ep_modify(pair.b.ep,
			DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE | DAT_EP_FIELD_CONNECT_EVD_HANDLE |
					DAT_EP_FIELD_PZ_HANDLE,
			&param));
	pair.b.connect = param.connect_evd_handle;
	pair_connect(&pair);
	ok(post_send(&pair.a, 0, 64, 1));
	want_dto(&pair.b, pair.b.recv, 7, DAT_DTO_SUCCESS, 64);
	pair_close(&pair);
}

/* High watermarks are set by a call of their own, and outlive this one. */
static void
modify__keeps_the_watermarks(void **state)
{
	DAT_EP_PARAM param;
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	for (int mark = 0; mark < 2; mark++) {
		ok(dat_ep_set_watermark(pair.b.ep, mark, DAT_WATERMARK_INFINITE));
		param = param_of(pair.b.ep);
		assert_int_equal(param.ep_attr.srq_soft_hw, mark);
		param.ep_attr.max_recv_dtos = 20 + mark;
		ok(dat_ep_modify(pair.b.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param));
		assert_int_equal(param_of(pair.b.ep).ep_attr.srq_soft_hw, mark);
		for (int i = 0; i < mark; i++)
			ok(post_recv(&pair.b, 0, 64, 1));
		want_none(pair.b.async);
		ok(post_recv(&pair.b, 0, 64, 1));
		want_soft(pair.b.async, pair.b.ep);
		ok(dat_ep_free(pair.b.ep));
		ok(dat_ep_create(pair.b.ia, pair.b.pz, pair.b.recv, pair.b.request, pair.b.connect,
				NULL, &pair.b.ep));
	}
	/* The hard one breaks at the first message, with more receives than it allows. */
	ok(dat_ep_set_watermark(pair.b.ep, DAT_WATERMARK_INFINITE, 1));
	param = param_of(pair.b.ep);
	param.ep_attr.max_recv_dtos = 20;
	ok(dat_ep_modify(pair.b.ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param));
	pair_connect(&pair);
	ok(post_recv(&pair.b, 0, 64, 1));
	ok(post_recv(&pair.b, 0, 64, 2));
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_BROKEN);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(modify__arguments_in_their_order),
		rig_test(modify__what_a_shared_queue_decides),
		rig_test(modify__one_field_at_a_time),
		rig_test(modify__bad_values_change_nothing),
		rig_test(modify__takes_effect),
		rig_test(modify__alone_takes_effect),
		rig_test(modify__reads_that_the_peer_may_have),
		rig_test(modify__by_the_state_of_the_endpoint),
		rig_test(modify__receives_that_are_posted),
		rig_test(modify__keeps_the_watermarks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
