/* SPDX-License-Identifier: BSD-3-Clause */
/* One function a call: b's endpoint is the subject, and what is posted has MESSAGE bytes, or is a number. */

#include "ep_calls.h"

#if DAT_ABI == 12
#include <dat/dat_ib_extensions.h>
#endif

#define MESSAGE   64
#define NEW_QUAL  5000
#define FLAGS     DAT_COMPLETION_DEFAULT_FLAG
#define VALUE     cookie(COOKIE)
#define A_ADDRESS ((DAT_IA_ADDRESS_PTR)&a->address)
#define QUALITY   DAT_QOS_BEST_EFFORT
#define AT_A      A_ADDRESS, NEW_QUAL

/* Results of calls that no test looks at. */
static struct {
	DAT_EP_PARAM param;
	DAT_EP_STATE state;
	DAT_BOOLEAN idle[2];
	DAT_COUNT count[2];
	DAT_RSP_HANDLE rsp;
	DAT_RMR_CONTEXT context;
} out;

/* Sources of READs: memory of b's, and of a's. */
static struct {
	DAT_LMR_TRIPLET message, number;
	DAT_RMR_TRIPLET there, number_there;
} in;

static void
prepare(void)
{
	in.message = segment(b, 0, MESSAGE);
	in.number = segment(b, 0, sizeof(uint64_t));
	in.there = target(a, 0, MESSAGE);
	in.number_there = target(a, 0, sizeof(uint64_t));
}

/* Its attributes, but for one value. */
#define MODIFY(title, field, member, value)                     \
	DAT_RETURN call_modify_##title(void)                    \
	{                                                       \
		out.param = ep_param(b->ep);                    \
		out.param.member = value;                       \
		return dat_ep_modify(b->ep, field, &out.param); \
	}

#define CALL(title, what)             \
	DAT_RETURN call_##title(void) \
	{                             \
		prepare();            \
		return what;          \
	}

static DAT_RETURN
bind_window(DAT_LMR_HANDLE lmr, DAT_VLEN length, BY_ABI(int, DAT_VA_TYPE) va_type,
		DAT_COMPLETION_FLAGS flags)
{
	DAT_LMR_TRIPLET here = segment(b, 0, length);

	return dat_rmr_bind(stage.rmr NEW_ARGS(, lmr), &here,
			DAT_MEM_PRIV_REMOTE_READ_FLAG NEW_ARGS(, va_type), b->ep, VALUE, flags,
			&out.context);
}

#define HERE b->lmr
#define VA   BY_ABI(0, DAT_VA_TYPE_VA)

/* clang-format off */
CALL(query, dat_ep_query(b->ep, DAT_EP_FIELD_ALL, &out.param))
CALL(query_bad_mask, dat_ep_query(b->ep, DAT_EP_FIELD_ALL + 1, &out.param))
CALL(get_status, dat_ep_get_status(b->ep, &out.state, &out.idle[0], &out.idle[1]))
CALL(recv_query, dat_ep_recv_query(b->ep, &out.count[0], &out.count[1]))
CALL(set_watermark, dat_ep_set_watermark(b->ep, 4, 5))
CALL(set_bad_watermark, dat_ep_set_watermark(b->ep, 4, -2))

MODIFY(nothing, 0, ep_attr.max_message_size, 100000)
MODIFY(zone, DAT_EP_FIELD_PZ_HANDLE, pz_handle, stage.other_zone)
MODIFY(recv_evd, DAT_EP_FIELD_RECV_EVD_HANDLE, recv_evd_handle, stage.other_evd)
MODIFY(connect_evd, DAT_EP_FIELD_CONNECT_EVD_HANDLE, connect_evd_handle, make_evd(b, DAT_EVD_CONNECTION_FLAG))
MODIFY(message_size, DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, ep_attr.max_message_size, 100000)
MODIFY(request_dtos, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, ep_attr.max_request_dtos, 5)
MODIFY(recv_dtos, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, ep_attr.max_recv_dtos, 6)
MODIFY(state, DAT_EP_FIELD_EP_STATE, ep_state, DAT_EP_STATE_CONNECTED)
MODIFY(bad_value, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV, ep_attr.max_request_iov, -1)

CALL(connect, end_connect(b, a, NEW_QUAL))
CALL(connect_no_time, dat_ep_connect(b->ep, AT_A, 0, 0, NULL, QUALITY, DAT_CONNECT_DEFAULT_FLAG))
CALL(dup_connect, dat_ep_dup_connect(b->ep, stage.connected, PATIENCE_US, 0, NULL, QUALITY))
CALL(dup_connect_like_it, dat_ep_dup_connect(stage.unused, b->ep, PATIENCE_US, 0, NULL, QUALITY))
CALL(disconnect_gracefully, dat_ep_disconnect(b->ep, DAT_CLOSE_GRACEFUL_FLAG))
CALL(disconnect_abruptly, dat_ep_disconnect(b->ep, DAT_CLOSE_ABRUPT_FLAG))
CALL(disconnect_somehow, dat_ep_disconnect(b->ep, (DAT_CLOSE_FLAGS)2))
CALL(reset, dat_ep_reset(b->ep))
CALL(free, dat_ep_free(b->ep))

CALL(post_send, post_send(b, 0, MESSAGE, COOKIE))
CALL(post_send_empty, dat_ep_post_send(b->ep, 0, NULL, VALUE, FLAGS))
CALL(post_send_bad_count, dat_ep_post_send(b->ep, -1, NULL, VALUE, FLAGS))
CALL(post_rdma_write, dat_ep_post_rdma_write(b->ep, 1, &in.message, VALUE, &in.there, FLAGS))
CALL(post_rdma_read, dat_ep_post_rdma_read(b->ep, 1, &in.message, VALUE, &in.there, FLAGS))
CALL(post_rdma_nowhere, dat_ep_post_rdma_write(b->ep, 0, NULL, VALUE, NULL, FLAGS))
CALL(rmr_bind, bind_window(HERE, MESSAGE, VA, FLAGS))
CALL(rmr_bind_to_nothing, bind_window(HERE, 0, VA, FLAGS))
CALL(rmr_bind_bad_flags, bind_window(HERE, MESSAGE, VA, DAT_COMPLETION_SOLICITED_WAIT_FLAG))
CALL(post_recv, post_recv(b, 0, MESSAGE, COOKIE))
CALL(post_recv_bad_count, dat_ep_post_recv(b->ep, -1, NULL, VALUE, FLAGS))
CALL(srq_post_recv, post_srq(b, 0, MESSAGE, COOKIE))

CALL(accept_with_it, dat_cr_accept(stage.request, b->ep, 0, NULL))
CALL(accept_its_request, dat_cr_accept(stage.own, DAT_HANDLE_NULL, 0, NULL))
CALL(reject_its_request, dat_cr_reject(stage.own NEW_ARGS(, 0, NULL)))
CALL(rsp_create_with_it, dat_rsp_create(b->ia, NEW_QUAL, b->ep, b->cr, &out.rsp))
CALL(rsp_free, dat_rsp_free(stage.rsp))
CALL(free_its_queue, dat_srq_free(b->srq))
CALL(free_its_evd, dat_evd_free(b->connect))
CALL(free_its_zone, dat_pz_free(b->pz))
CALL(close_its_adapter, dat_ia_close(b->ia, DAT_CLOSE_GRACEFUL_FLAG))

CALL(write_immed, dat_ib_post_rdma_write_immed(b->ep, 1, &in.message, VALUE, &in.there, 1, FLAGS))
CALL(write_immed_nowhere, dat_ib_post_rdma_write_immed(b->ep, 0, NULL, VALUE, NULL, 1, FLAGS))
CALL(cmp_and_swap, dat_ib_post_cmp_and_swap(b->ep, 0, 1, &in.number, VALUE, &in.number_there, FLAGS))
CALL(fetch_and_add, dat_ib_post_fetch_and_add(b->ep, 1, &in.number, VALUE, &in.number_there, FLAGS))
CALL(fetch_and_add_nowhere, dat_ib_post_fetch_and_add(b->ep, 1, &in.number, VALUE, NULL, FLAGS))
CALL(send_with_invalidate, dat_ib_post_send_with_invalidate(b->ep, 1, &in.message, VALUE, FLAGS, DAT_TRUE, 1))
CALL(send_invalidate_badly, dat_ib_post_send_with_invalidate(b->ep, -1, &in.message, VALUE, FLAGS, DAT_TRUE, 1))
#if DAT_ABI == 12
CALL(send_immed, dat_ib_post_send_immed(b->ep, 1, &in.message, VALUE, 1, FLAGS))
#else
static DAT_UINT64 counters[DCNT_EP_ALL_COUNTERS];
static DAT_IB_ADDR_HANDLE whom = { .qpn = 1 };
static const DAT_RMR_TRIPLET window = { .rmr_context = 1, .segment_length = MESSAGE };
static char why[] = "not today";

CALL(connect_on_all_paths, dat_ep_connect(b->ep, AT_A, PATIENCE_US, 0, NULL, QUALITY,
	DAT_CONNECT_MULTIPATH_REQUIRED_FLAG))
CALL(common_connect, provider_table(b->ep)->ep_common_connect_func(b->ep, A_ADDRESS, PATIENCE_US, 0, NULL))
CALL(rdma_read_to_rmr, provider_table(b->ep)->ep_post_rdma_read_to_rmr_func(b->ep, &window, VALUE, &in.there, FLAGS))
CALL(send_datagram, dat_ib_post_send_ud(b->ep, 1, &in.message, &whom, VALUE, FLAGS))
CALL(query_counters, dat_ib_query_counters(b->ep, DCNT_EP_ALL_COUNTERS, counters, 0))
CALL(rmr_bind_zero_based, bind_window(b->lmr, MESSAGE, DAT_VA_TYPE_ZB, FLAGS))
CALL(rmr_bind_of_no_lmr, bind_window(DAT_HANDLE_NULL, MESSAGE, DAT_VA_TYPE_VA, FLAGS))
CALL(reject_its_request_why, dat_cr_reject(stage.own, sizeof(why), why))
#endif
/* clang-format on */
