/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints: creation, query, life cycle; and the calls that are missing, through the public API. */

#include "dat_pair.h"

static DAT_RETURN
create(struct end *end, const DAT_EP_ATTR *attr)
{
	DAT_EP_HANDLE ep;
	DAT_RETURN rc = dat_ep_create(
			end->ia, end->pz, end->recv, end->request, end->connect, attr, &ep);

	if (rc == DAT_SUCCESS)
		ok(dat_ep_free(ep));
	return rc;
}

static void
dat_ep_create__handles(void **state)
{
	DAT_EP_HANDLE ep;
	struct end end;

	end_open(&end, "loop0", NULL);
	want_error(dat_ep_create(end.pz, end.pz, end.recv, end.request, end.connect, NULL, &ep),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	want_error(dat_ep_create(end.ia, end.ia, end.recv, end.request, end.connect, NULL, &ep),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	/* Dispatchers must take the stream they are given for. */
	want_error(dat_ep_create(end.ia, end.pz, end.connect, end.request, end.connect, NULL, &ep),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_RECV);
	want_error(dat_ep_create(end.ia, end.pz, end.recv, end.cr, end.connect, NULL, &ep),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST);
	want_error(dat_ep_create(end.ia, end.pz, end.recv, end.request, end.recv, NULL, &ep),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CONN);
	want_error(dat_ep_create(end.ia, end.pz, end.recv, end.request, end.connect, NULL, NULL),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
	/* Null dispatchers mean no interest; but connecting needs somebody to tell. */
	ok(dat_ep_create(end.ia, end.pz, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL, NULL,
			&ep));
	want_error(dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&end.address, 1, 1, 0, NULL,
				   DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
			DAT_INVALID_STATE, DAT_INVALID_STATE_EP_EVD_CONNECT);
	ok(dat_ep_free(ep));
	end_close(&end);
}

/* Null attributes and zero fields take usable defaults; query tells what was granted. */
static void
dat_ep_create__defaults(void **state)
{
	DAT_EP_ATTR attr = { .max_request_dtos = 7, .max_recv_iov = 3 };
	DAT_EP_PARAM param;
	DAT_EP_HANDLE ep;
	struct end end;

	end_open(&end, "loop0", NULL);
	ok(dat_ep_create(end.ia, end.pz, end.recv, end.request, end.connect, NULL, &ep));
	want_error(dat_ep_query(ep, DAT_EP_FIELD_ALL + 1, &param), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_ep_query(ep, DAT_EP_FIELD_ALL, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	ok(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
	assert_ptr_equal(param.ia_handle, end.ia);
	assert_int_equal(param.ep_state, DAT_EP_STATE_UNCONNECTED);
	assert_ptr_equal(param.pz_handle, end.pz);
	assert_ptr_equal(param.recv_evd_handle, end.recv);
	assert_ptr_equal(param.request_evd_handle, end.request);
	assert_ptr_equal(param.connect_evd_handle, end.connect);
	assert_null(param.srq_handle);
	assert_non_null(param.local_ia_address_ptr);
	assert_non_null(param.remote_ia_address_ptr);
	/* The limits that dapltest needs. */
	assert_true(param.ep_attr.max_message_size >= 8192);
	assert_true(param.ep_attr.max_recv_dtos >= 8 && param.ep_attr.max_request_dtos >= 8);
	assert_true(param.ep_attr.max_recv_iov >= 1 && param.ep_attr.max_request_iov >= 1);
	assert_int_equal(param.ep_attr.srq_soft_hw, DAT_HW_DEFAULT);
	/* The answer is good for creating another one. */
	ok(create(&end, &param.ep_attr));
	ok(dat_ep_free(ep));

	ok(dat_ep_create(end.ia, end.pz, end.recv, end.request, end.connect, &attr, &ep));
	ok(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
	assert_int_equal(param.ep_attr.max_request_dtos, 7);
	assert_int_equal(param.ep_attr.max_recv_iov, 3);
	ok(dat_ep_free(ep));
	end_close(&end);
}

/*
 * An endpoint without a shared queue is granted the adapter's own maximum, whatever it asked for, and query tells it:
 * OFED's dtest asks for RDMA of 65536 bytes and writes more.
 */
static void
dat_ep_create__grants_the_largest_sizes(void **state)
{
	DAT_EP_ATTR attr = { .max_message_size = 100, .max_rdma_size = 0x10000 };
	DAT_EP_PARAM param;
	DAT_IA_ATTR ia;
	DAT_EP_HANDLE ep;
	struct end end;

	end_open(&end, "loop0", NULL);
	ok(dat_ia_query(end.ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL));
	ok(dat_ep_create(end.ia, end.pz, end.recv, end.request, end.connect, &attr, &ep));
	ok(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
	assert_int_equal(param.ep_attr.max_message_size, ia.max_message_size);
	assert_int_equal(param.ep_attr.max_rdma_size, ia.max_rdma_size);
	param.ep_attr.max_message_size = 200;
	param.ep_attr.max_rdma_size = 200;
	ok(dat_ep_modify(ep,
			DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE | DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE,
			&param));
	ok(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
	assert_int_equal(param.ep_attr.max_message_size, ia.max_message_size);
	assert_int_equal(param.ep_attr.max_rdma_size, ia.max_rdma_size);
	ok(dat_ep_free(ep));
	end_close(&end);
}

static void
dat_ep_create__attributes(void **state)
{
	const struct {
		DAT_EP_ATTR attr;
		DAT_RETURN_TYPE type;
	} rule[] = {
		{ { .max_recv_dtos = 1, .max_request_dtos = 1 }, DAT_SUCCESS },
		{ { .max_recv_dtos = -1 }, DAT_INVALID_PARAMETER },
		{ { .max_recv_dtos = 1 << 24 }, DAT_INVALID_PARAMETER },
		{ { .max_request_dtos = -1 }, DAT_INVALID_PARAMETER },
		{ { .max_request_dtos = 1 << 24 }, DAT_INVALID_PARAMETER },
		{ { .max_recv_iov = 32, .max_request_iov = 32 }, DAT_SUCCESS },
		{ { .max_recv_iov = 33 }, DAT_INVALID_PARAMETER },
		{ { .max_request_iov = 33 }, DAT_INVALID_PARAMETER },
		{ { .max_request_iov = -1 }, DAT_INVALID_PARAMETER },
		{ { .max_message_size = UINT64_C(1) << 32 }, DAT_INVALID_PARAMETER },
		{ { .max_rdma_size = UINT64_C(1) << 31 }, DAT_INVALID_PARAMETER },
		{ { .max_rdma_read_in = 64, .max_rdma_read_out = 64 }, DAT_SUCCESS },
		{ { .max_rdma_read_in = 65 }, DAT_INVALID_PARAMETER },
		{ { .max_rdma_read_in = -1 }, DAT_INVALID_PARAMETER },
		{ { .max_rdma_read_out = 65 }, DAT_INVALID_PARAMETER },
		{ { .max_rdma_read_out = -1 }, DAT_INVALID_PARAMETER },
		{ { .max_rdma_read_iov = 33 }, DAT_INVALID_PARAMETER },
		{ { .max_rdma_write_iov = 33 }, DAT_INVALID_PARAMETER },
		{ { .max_rdma_read_iov = 32, .max_rdma_write_iov = 32 }, DAT_SUCCESS },
		{ { .ep_transport_specific_count = 1 }, DAT_INVALID_PARAMETER },
		{ { .ep_provider_specific_count = 1 }, DAT_INVALID_PARAMETER },
		{ { .service_type = (DAT_SERVICE_TYPE)1 }, DAT_MODEL_NOT_SUPPORTED },
		{ { .qos = DAT_QOS_PREMIUM }, DAT_MODEL_NOT_SUPPORTED },
		{ { .srq_soft_hw = DAT_HW_DEFAULT }, DAT_SUCCESS },
		{ { .srq_soft_hw = 1 }, DAT_SUCCESS },
		{ { .srq_soft_hw = -2 }, DAT_INVALID_PARAMETER },
		{ { .recv_completion_flags = DAT_COMPLETION_SUPPRESS_FLAG },
				DAT_INVALID_PARAMETER },
		{ { .recv_completion_flags = DAT_COMPLETION_BARRIER_FENCE_FLAG },
				DAT_INVALID_PARAMETER },
		{ { .request_completion_flags = DAT_COMPLETION_SUPPRESS_FLAG }, DAT_SUCCESS },
		{ { .request_completion_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG }, DAT_SUCCESS },
		{ { .request_completion_flags = (DAT_COMPLETION_FLAGS)0x100 },
				DAT_INVALID_PARAMETER },
	};
	struct end end;

	end_open(&end, "loop0", NULL);
	for (unsigned int i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		print_message("row %u\n", i);
		want_type(create(&end, &rule[i].attr), rule[i].type);
	}
	end_close(&end);
}

static void
dat_ep_create_with_srq__arguments(void **state)
{
	struct end_options with_srq = { .srq_depth = 4 };
	DAT_EP_ATTR attr = { .max_recv_dtos = DAT_HW_DEFAULT };
	DAT_EP_PARAM param;
	DAT_EP_HANDLE ep;
	struct end end;

	end_open(&end, "loop0", &with_srq);
	want_error(dat_ep_create_with_srq(end.ia, end.pz, end.recv, end.request, end.connect,
				   end.pz, &attr, &ep),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	want_error(dat_ep_create_with_srq(end.ia, end.pz, end.recv, end.request, end.connect,
				   end.srq, NULL, &ep),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
	want_error(dat_ep_create_with_srq(end.ia, end.pz, end.recv, end.request, end.connect,
				   end.srq, &attr, NULL),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG8);
	attr.max_recv_dtos = -2;
	want_error(dat_ep_create_with_srq(end.ia, end.pz, end.recv, end.request, end.connect,
				   end.srq, &attr, &ep),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
	/* Receive sizes are stored and reported, never a limit, however large. */
	attr.max_recv_dtos = INT32_MAX;
	ok(dat_ep_create_with_srq(
			end.ia, end.pz, end.recv, end.request, end.connect, end.srq, &attr, &ep));
	ok(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
	assert_ptr_equal(param.srq_handle, end.srq);
	assert_int_equal(param.ep_attr.max_recv_dtos, INT32_MAX);
	ok(dat_ep_free(ep));
	end_close(&end);
}

static void
dat_ep_create__until_full(void **state)
{
	const DAT_EP_ATTR attr = { .max_recv_dtos = 1, .max_request_dtos = 1 };
	DAT_RETURN rc = DAT_SUCCESS;
	DAT_EP_HANDLE ep;
	struct end end;
	int n = 0;

	end_open(&end, "loop0", NULL);
	for (; rc == DAT_SUCCESS && n < 20000; n++)
		rc = dat_ep_create(end.ia, end.pz, end.recv, end.request, end.connect, &attr, &ep);
	want_type(rc, DAT_INSUFFICIENT_RESOURCES);
	print_message("%d endpoints\n", n);
	assert_true(n >= 1000);
	end_close(&end);
}

static void
dat_ep_get_status__idle(void **state)
{
	DAT_BOOLEAN recv_idle, request_idle;
	DAT_EP_STATE ep_state;
	struct pair pair;

	pair_up(&pair);
	ok(dat_ep_get_status(pair.a.ep, &ep_state, &recv_idle, &request_idle));
	assert_int_equal(ep_state, DAT_EP_STATE_CONNECTED);
	assert_int_equal(recv_idle, DAT_TRUE);
	assert_int_equal(request_idle, DAT_TRUE);
	ok(post_recv(&pair.a, 0, 8, 1));
	ok(post_send(&pair.a, 0, 8, 1));
	ok(dat_ep_get_status(pair.a.ep, NULL, &recv_idle, &request_idle));
	assert_int_equal(recv_idle, DAT_FALSE);
	assert_int_equal(request_idle, DAT_FALSE);
	want_type(dat_ep_get_status(pair.a.pz, NULL, NULL, NULL), DAT_INVALID_HANDLE);
	pair_close(&pair);
}

/* Objects of one kind are no handles of another. */
static void
handles__of_another_kind(void **state)
{
	struct end e;

	end_open(&e, "loop0", NULL);
	want_error(dat_srq_set_lw(e.ep, 1), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	want_error(dat_rsp_free(e.pz), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RSP);
	want_error(dat_cno_free(e.pz), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
	end_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(dat_ep_create__handles),
		dat_test(dat_ep_create__defaults),
		dat_test(dat_ep_create__grants_the_largest_sizes),
		dat_test(dat_ep_create__attributes),
		dat_test(dat_ep_create_with_srq__arguments),
		dat_test(dat_ep_create__until_full),
		dat_test(dat_ep_get_status__idle),
		dat_test(handles__of_another_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
