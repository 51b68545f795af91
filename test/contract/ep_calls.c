/* SPDX-License-Identifier: BSD-3-Clause */

#include "ep_calls.h"

#if DAT_ABI == 12
#include <dat/dat_ib_extensions.h>
#endif

#define MESSAGE  64
#define NEW_QUAL 5000

DAT_EP_PARAM
ep_param(DAT_EP_HANDLE ep)
{
	DAT_EP_PARAM param;

	memset(&param, 0, sizeof(param));
	ok(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
	return param;
}

DAT_RETURN
call_query(struct stage *s)
{
	DAT_EP_PARAM param;

	return dat_ep_query(s->pair.b.ep, DAT_EP_FIELD_ALL, &param);
}

DAT_RETURN
call_query_bad_mask(struct stage *s)
{
	DAT_EP_PARAM param;

	return dat_ep_query(s->pair.b.ep, DAT_EP_FIELD_ALL + 1, &param);
}

DAT_RETURN
call_get_status(struct stage *s)
{
	DAT_BOOLEAN recv_idle, request_idle;
	DAT_EP_STATE state;

	return dat_ep_get_status(s->pair.b.ep, &state, &recv_idle, &request_idle);
}

DAT_RETURN
call_recv_query(struct stage *s)
{
	DAT_COUNT number, span;

	return dat_ep_recv_query(s->pair.b.ep, &number, &span);
}

DAT_RETURN
call_set_watermark(struct stage *s)
{
	return dat_ep_set_watermark(s->pair.b.ep, 4, 5);
}

DAT_RETURN
call_set_bad_watermark(struct stage *s)
{
	return dat_ep_set_watermark(s->pair.b.ep, 4, -2);
}

/* What it is, but for one value. */
#define MODIFY(name, field, member, value)                         \
	DAT_RETURN call_modify_##name(struct stage *s)             \
	{                                                          \
		DAT_EP_PARAM param = ep_param(s->pair.b.ep);       \
                                                                   \
		param.member = value;                              \
		return dat_ep_modify(s->pair.b.ep, field, &param); \
	}

MODIFY(nothing, 0, ep_attr.max_message_size, 100000)
MODIFY(zone, DAT_EP_FIELD_PZ_HANDLE, pz_handle, s->other_zone)
MODIFY(recv_evd, DAT_EP_FIELD_RECV_EVD_HANDLE, recv_evd_handle, s->other_evd)
MODIFY(connect_evd, DAT_EP_FIELD_CONNECT_EVD_HANDLE, connect_evd_handle,
		make_evd(&s->pair.b, DAT_EVD_CONNECTION_FLAG))
MODIFY(message_size, DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, ep_attr.max_message_size, 100000)
MODIFY(request_dtos, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, ep_attr.max_request_dtos, 5)
MODIFY(recv_dtos, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, ep_attr.max_recv_dtos, 6)
MODIFY(state, DAT_EP_FIELD_EP_STATE, ep_state, DAT_EP_STATE_CONNECTED)
MODIFY(bad_value, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV, ep_attr.max_request_iov, -1)

DAT_RETURN
call_connect(struct stage *s)
{
	return end_connect(&s->pair.b, &s->pair.a, NEW_QUAL);
}

DAT_RETURN
call_connect_no_time(struct stage *s)
{
	return dat_ep_connect(s->pair.b.ep, (DAT_IA_ADDRESS_PTR)&s->pair.a.address, NEW_QUAL, 0, 0,
			NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

DAT_RETURN
call_dup_connect(struct stage *s)
{
	return dat_ep_dup_connect(
			s->pair.b.ep, s->connected, PATIENCE_US, 0, NULL, DAT_QOS_BEST_EFFORT);
}

DAT_RETURN
call_dup_connect_like_it(struct stage *s)
{
	return dat_ep_dup_connect(
			s->unused, s->pair.b.ep, PATIENCE_US, 0, NULL, DAT_QOS_BEST_EFFORT);
}

DAT_RETURN
call_disconnect_gracefully(struct stage *s)
{
	return dat_ep_disconnect(s->pair.b.ep, DAT_CLOSE_GRACEFUL_FLAG);
}

DAT_RETURN
call_disconnect_abruptly(struct stage *s)
{
	return dat_ep_disconnect(s->pair.b.ep, DAT_CLOSE_ABRUPT_FLAG);
}

DAT_RETURN
call_disconnect_somehow(struct stage *s)
{
	return dat_ep_disconnect(s->pair.b.ep, (DAT_CLOSE_FLAGS)2);
}

DAT_RETURN
call_reset(struct stage *s)
{
	return dat_ep_reset(s->pair.b.ep);
}

DAT_RETURN
call_free(struct stage *s)
{
	return dat_ep_free(s->pair.b.ep);
}

DAT_RETURN
call_post_send(struct stage *s)
{
	return post_send(&s->pair.b, 0, MESSAGE, COOKIE);
}

DAT_RETURN
call_post_send_empty(struct stage *s)
{
	return dat_ep_post_send(s->pair.b.ep, 0, NULL, cookie(COOKIE), DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
call_post_send_bad_count(struct stage *s)
{
	return dat_ep_post_send(
			s->pair.b.ep, -1, NULL, cookie(COOKIE), DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RMR_TRIPLET
there(const struct stage *s)
{
	return (DAT_RMR_TRIPLET){
		.rmr_context = s->pair.a.key,
		.target_address = (uintptr_t)s->pair.a.buffer,
		.segment_length = MESSAGE,
	};
}

DAT_RETURN
call_post_rdma_write(struct stage *s)
{
	DAT_LMR_TRIPLET here = segment(&s->pair.b, 0, MESSAGE);
	DAT_RMR_TRIPLET remote = there(s);

	return dat_ep_post_rdma_write(s->pair.b.ep, 1, &here, cookie(COOKIE), &remote,
			DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
call_post_rdma_read(struct stage *s)
{
	DAT_LMR_TRIPLET here = segment(&s->pair.b, 0, MESSAGE);
	DAT_RMR_TRIPLET remote = there(s);

	return dat_ep_post_rdma_read(s->pair.b.ep, 1, &here, cookie(COOKIE), &remote,
			DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
call_post_rdma_nowhere(struct stage *s)
{
	return dat_ep_post_rdma_write(
			s->pair.b.ep, 0, NULL, cookie(COOKIE), NULL, DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN
bind_window(struct stage *s, DAT_VLEN length, DAT_COMPLETION_FLAGS flags)
{
	DAT_LMR_TRIPLET here = segment(&s->pair.b, 0, length);
	DAT_RMR_CONTEXT context;

	return dat_rmr_bind(s->rmr NEW_ARGS(, s->pair.b.lmr), &here,
			DAT_MEM_PRIV_REMOTE_READ_FLAG NEW_ARGS(, DAT_VA_TYPE_VA), s->pair.b.ep,
			cookie(COOKIE), flags, &context);
}

DAT_RETURN
call_rmr_bind(struct stage *s)
{
	return bind_window(s, MESSAGE, DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
call_rmr_bind_to_nothing(struct stage *s)
{
	return bind_window(s, 0, DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
call_rmr_bind_bad_flags(struct stage *s)
{
	return bind_window(s, MESSAGE, DAT_COMPLETION_SOLICITED_WAIT_FLAG);
}

DAT_RETURN
call_post_recv(struct stage *s)
{
	return post_recv(&s->pair.b, 0, MESSAGE, COOKIE);
}

DAT_RETURN
call_post_recv_bad_count(struct stage *s)
{
	return dat_ep_post_recv(
			s->pair.b.ep, -1, NULL, cookie(COOKIE), DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
call_srq_post_recv(struct stage *s)
{
	return post_srq(&s->pair.b, 0, MESSAGE, COOKIE);
}

DAT_RETURN
call_accept_with_it(struct stage *s)
{
	return dat_cr_accept(s->request, s->pair.b.ep, 0, NULL);
}

DAT_RETURN
call_accept_its_request(struct stage *s)
{
	return dat_cr_accept(s->own, DAT_HANDLE_NULL, 0, NULL);
}

DAT_RETURN
call_reject_its_request(struct stage *s)
{
	return dat_cr_reject(s->own NEW_ARGS(, 0, NULL));
}

DAT_RETURN
call_rsp_create_with_it(struct stage *s)
{
	DAT_RSP_HANDLE rsp;

	return dat_rsp_create(s->pair.b.ia, NEW_QUAL, s->pair.b.ep, s->pair.b.cr, &rsp);
}

DAT_RETURN
call_rsp_free(struct stage *s)
{
	return dat_rsp_free(s->rsp);
}

DAT_RETURN
call_free_its_queue(struct stage *s)
{
	return dat_srq_free(s->pair.b.srq);
}

DAT_RETURN
call_free_its_evd(struct stage *s)
{
	return dat_evd_free(s->pair.b.connect);
}

DAT_RETURN
call_free_its_zone(struct stage *s)
{
	return dat_pz_free(s->pair.b.pz);
}

DAT_RETURN
call_close_its_adapter(struct stage *s)
{
	return dat_ia_close(s->pair.b.ia, DAT_CLOSE_GRACEFUL_FLAG);
}

/* A number in memory, and one at the peer. */
static DAT_LMR_TRIPLET
number_here(const struct stage *s)
{
	return segment(&s->pair.b, 0, sizeof(uint64_t));
}

static DAT_RMR_TRIPLET
number_there(const struct stage *s)
{
	DAT_RMR_TRIPLET remote = there(s);

	remote.segment_length = sizeof(uint64_t);
	return remote;
}

DAT_RETURN
call_write_immed(struct stage *s)
{
	DAT_LMR_TRIPLET here = segment(&s->pair.b, 0, MESSAGE);
	DAT_RMR_TRIPLET remote = there(s);

	return dat_ib_post_rdma_write_immed(s->pair.b.ep, 1, &here, cookie(COOKIE), &remote, 1,
			DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
call_write_immed_nowhere(struct stage *s)
{
	return dat_ib_post_rdma_write_immed(s->pair.b.ep, 0, NULL, cookie(COOKIE), NULL, 1,
			DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
call_cmp_and_swap(struct stage *s)
{
	DAT_LMR_TRIPLET here = number_here(s);
	DAT_RMR_TRIPLET remote = number_there(s);

	return dat_ib_post_cmp_and_swap(s->pair.b.ep, 0, 1, &here, cookie(COOKIE), &remote,
			DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
call_fetch_and_add(struct stage *s)
{
	DAT_LMR_TRIPLET here = number_here(s);
	DAT_RMR_TRIPLET remote = number_there(s);

	return dat_ib_post_fetch_and_add(s->pair.b.ep, 1, &here, cookie(COOKIE), &remote,
			DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
call_fetch_and_add_nowhere(struct stage *s)
{
	DAT_LMR_TRIPLET here = number_here(s);

	return dat_ib_post_fetch_and_add(
			s->pair.b.ep, 1, &here, cookie(COOKIE), NULL, DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN
send_and_invalidate(struct stage *s, DAT_COUNT segments)
{
	DAT_LMR_TRIPLET here = segment(&s->pair.b, 0, MESSAGE);

	return dat_ib_post_send_with_invalidate(s->pair.b.ep, segments, &here, cookie(COOKIE),
			DAT_COMPLETION_DEFAULT_FLAG, DAT_TRUE, 1);
}

DAT_RETURN
call_send_with_invalidate(struct stage *s)
{
	return send_and_invalidate(s, 1);
}

DAT_RETURN
call_send_invalidate_badly(struct stage *s)
{
	return send_and_invalidate(s, -1);
}

#if DAT_ABI == 12

DAT_RETURN
call_send_immed(struct stage *s)
{
	DAT_LMR_TRIPLET here = segment(&s->pair.b, 0, MESSAGE);

	return dat_ib_post_send_immed(
			s->pair.b.ep, 1, &here, cookie(COOKIE), 1, DAT_COMPLETION_DEFAULT_FLAG);
}

#else

DAT_RETURN
call_connect_on_all_paths(struct stage *s)
{
	return dat_ep_connect(s->pair.b.ep, (DAT_IA_ADDRESS_PTR)&s->pair.a.address, NEW_QUAL,
			PATIENCE_US, 0, NULL, DAT_QOS_BEST_EFFORT,
			DAT_CONNECT_MULTIPATH_REQUIRED_FLAG);
}

DAT_RETURN
call_common_connect(struct stage *s)
{
	return provider_table(s->pair.b.ep)
			->ep_common_connect_func(s->pair.b.ep,
					(DAT_IA_ADDRESS_PTR)&s->pair.a.address, PATIENCE_US, 0,
					NULL);
}

DAT_RETURN
call_rdma_read_to_rmr(struct stage *s)
{
	DAT_RMR_TRIPLET local = { .rmr_context = 1, .segment_length = MESSAGE };
	DAT_RMR_TRIPLET remote = there(s);

	return provider_table(s->pair.b.ep)
			->ep_post_rdma_read_to_rmr_func(s->pair.b.ep, &local, cookie(COOKIE),
					&remote, DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
call_send_datagram(struct stage *s)
{
	DAT_LMR_TRIPLET here = segment(&s->pair.b, 0, MESSAGE);
	DAT_IB_ADDR_HANDLE whom = { .qpn = 1 };

	return dat_ib_post_send_ud(
			s->pair.b.ep, 1, &here, &whom, cookie(COOKIE), DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
call_query_counters(struct stage *s)
{
	DAT_UINT64 counters[DCNT_EP_ALL_COUNTERS];

	return dat_ib_query_counters(s->pair.b.ep, DCNT_EP_ALL_COUNTERS, counters, 0);
}

static DAT_RETURN
bind_as(struct stage *s, DAT_LMR_HANDLE lmr, DAT_VA_TYPE va_type)
{
	DAT_LMR_TRIPLET here = segment(&s->pair.b, 0, MESSAGE);
	DAT_RMR_CONTEXT context;

	return dat_rmr_bind(s->rmr, lmr, &here, DAT_MEM_PRIV_REMOTE_READ_FLAG, va_type,
			s->pair.b.ep, cookie(COOKIE), DAT_COMPLETION_DEFAULT_FLAG, &context);
}

DAT_RETURN
call_rmr_bind_zero_based(struct stage *s)
{
	return bind_as(s, s->pair.b.lmr, DAT_VA_TYPE_ZB);
}

DAT_RETURN
call_rmr_bind_of_no_lmr(struct stage *s)
{
	return bind_as(s, DAT_HANDLE_NULL, DAT_VA_TYPE_VA);
}

DAT_RETURN
call_reject_its_request_why(struct stage *s)
{
	char why[] = "not today";

	return dat_cr_reject(s->own, sizeof(why), why);
}

#endif
