/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every call that libdat passes on: it reaches the slot of its own name with all its arguments in
 * order, returns what the Provider returns, and refuses a null handle with the right subtype.
 * Files api.c and api_ep.c.
 */

#include <string.h>

#include "api_slots.h"

/* The value of an argument says which argument it is, whatever its type. */
#define PTR(n)    ((void *)(uintptr_t)(n))
#define COOKIE(n) ((DAT_CONTEXT){ .as_64 = (n) })
#define REGION(n) ((DAT_REGION_DESCRIPTION){ .for_va = PTR(n) })
#define AGENT(n)  ((DAT_OS_WAIT_PROXY_AGENT){ .instance_data = PTR(n) })

/* An object as libdat sees it: the first word points to the table. */
static DAT_PROVIDER table;
static const DAT_PROVIDER *object = &table;

static void
check_forwarded(DAT_RETURN ret, const char *call)
{
	assert_int_equal(ret, RETURNED);
	assert_string_equal(seen.slot, call);
	assert_ptr_equal(PTR(seen.argument[0]), &object);
	for (int i = 1; i < seen.count; i++)
		assert_int_equal(seen.argument[i], i + 1);
	memset(&seen, 0, sizeof(seen));
}

static void
check_refused(DAT_RETURN ret, DAT_RETURN_SUBTYPE subtype)
{
	assert_int_equal(ret, DAT_CLASS_ERROR | DAT_INVALID_HANDLE | (DAT_RETURN)subtype);
	assert_null(seen.slot);
}

#define FORWARDS(call, subtype, ...)                                              \
	do {                                                                      \
		check_forwarded(dat_##call(&object, __VA_ARGS__), #call);         \
		check_refused(dat_##call(DAT_HANDLE_NULL, __VA_ARGS__), subtype); \
	} while (0)

#define FORWARDS1(call, subtype)                                     \
	do {                                                         \
		check_forwarded(dat_##call(&object), #call);         \
		check_refused(dat_##call(DAT_HANDLE_NULL), subtype); \
	} while (0)

UNIT_RULE_IN(api__context_and_adapter, NULL, NULL)
{
	FORWARDS(set_consumer_context, DAT_INVALID_HANDLE1, COOKIE(2));
	FORWARDS(get_consumer_context, DAT_INVALID_HANDLE1, PTR(2));
	FORWARDS(get_handle_type, DAT_INVALID_HANDLE1, PTR(2));
	FORWARDS(ia_query, DAT_INVALID_HANDLE_IA, PTR(2), 3, PTR(4), 5, PTR(6));
}

UNIT_RULE_IN(api__notification_and_dispatcher, NULL, NULL)
{
	FORWARDS(cno_create, DAT_INVALID_HANDLE_IA, AGENT(2), PTR(3));
	FORWARDS(cno_modify_agent, DAT_INVALID_HANDLE_CNO, AGENT(2));
	FORWARDS(cno_query, DAT_INVALID_HANDLE_CNO, 2, PTR(3));
	FORWARDS1(cno_free, DAT_INVALID_HANDLE_CNO);
	FORWARDS(cno_wait, DAT_INVALID_HANDLE_CNO, 2, PTR(3));
	FORWARDS(evd_resize, DAT_INVALID_HANDLE1, 2);
	FORWARDS(evd_post_se, DAT_INVALID_HANDLE1, PTR(2));
	FORWARDS(evd_dequeue, DAT_INVALID_HANDLE1, PTR(2));
	FORWARDS1(evd_free, DAT_INVALID_HANDLE1);
	FORWARDS(evd_create, DAT_INVALID_HANDLE_IA, 2, PTR(3), 4, PTR(5));
	FORWARDS(evd_query, DAT_INVALID_HANDLE1, 2, PTR(3));
	FORWARDS(evd_modify_cno, DAT_INVALID_HANDLE1, PTR(2));
	FORWARDS1(evd_enable, DAT_INVALID_HANDLE1);
	FORWARDS1(evd_disable, DAT_INVALID_HANDLE1);
	FORWARDS(evd_wait, DAT_INVALID_HANDLE1, 2, 3, PTR(4), PTR(5));
	FORWARDS1(evd_set_unwaitable, DAT_INVALID_HANDLE1);
	FORWARDS1(evd_clear_unwaitable, DAT_INVALID_HANDLE1);
}

UNIT_RULE_IN(api__service_points_and_requests, NULL, NULL)
{
	FORWARDS(cr_query, DAT_INVALID_HANDLE_CR, 2, PTR(3));
	FORWARDS(cr_accept, DAT_INVALID_HANDLE_CR, PTR(2), 3, PTR(4));
	FORWARDS1(cr_reject, DAT_INVALID_HANDLE_CR);
	FORWARDS(cr_handoff, DAT_INVALID_HANDLE_CR, 2);
	FORWARDS(psp_create, DAT_INVALID_HANDLE_IA, 2, PTR(3), 4, PTR(5));
	FORWARDS(psp_create_any, DAT_INVALID_HANDLE_IA, PTR(2), PTR(3), 4, PTR(5));
	FORWARDS(psp_query, DAT_INVALID_HANDLE_PSP, 2, PTR(3));
	FORWARDS1(psp_free, DAT_INVALID_HANDLE_PSP);
	FORWARDS(rsp_create, DAT_INVALID_HANDLE_IA, 2, PTR(3), PTR(4), PTR(5));
	FORWARDS(rsp_query, DAT_INVALID_HANDLE_RSP, 2, PTR(3));
	FORWARDS1(rsp_free, DAT_INVALID_HANDLE_RSP);
}

UNIT_RULE_IN(api__memory, NULL, NULL)
{
	FORWARDS1(lmr_free, DAT_INVALID_HANDLE_LMR);
	FORWARDS(lmr_sync_rdma_read, DAT_INVALID_HANDLE_IA, PTR(2), 3);
	FORWARDS(lmr_sync_rdma_write, DAT_INVALID_HANDLE_IA, PTR(2), 3);
	FORWARDS(lmr_create, DAT_INVALID_HANDLE_IA, 2, REGION(3), 4, PTR(5), 6, PTR(7), PTR(8),
			PTR(9), PTR(10), PTR(11));
	FORWARDS(lmr_query, DAT_INVALID_HANDLE_LMR, 2, PTR(3));
	FORWARDS(rmr_create, DAT_INVALID_HANDLE_PZ, PTR(2));
	FORWARDS(rmr_query, DAT_INVALID_HANDLE_RMR, 2, PTR(3));
	FORWARDS(rmr_bind, DAT_INVALID_HANDLE_RMR, PTR(2), 3, PTR(4), COOKIE(5), 6, PTR(7));
	FORWARDS1(rmr_free, DAT_INVALID_HANDLE_RMR);
	FORWARDS(pz_create, DAT_INVALID_HANDLE_IA, PTR(2));
	FORWARDS(pz_query, DAT_INVALID_HANDLE_PZ, 2, PTR(3));
	FORWARDS1(pz_free, DAT_INVALID_HANDLE_PZ);
}

UNIT_RULE_IN(api__endpoint, NULL, NULL)
{
	FORWARDS(ep_create, DAT_INVALID_HANDLE_IA, PTR(2), PTR(3), PTR(4), PTR(5), PTR(6), PTR(7));
	FORWARDS(ep_create_with_srq, DAT_INVALID_HANDLE_IA, PTR(2), PTR(3), PTR(4), PTR(5), PTR(6),
			PTR(7), PTR(8));
	FORWARDS(ep_query, DAT_INVALID_HANDLE_EP, 2, PTR(3));
	FORWARDS(ep_recv_query, DAT_INVALID_HANDLE_EP, PTR(2), PTR(3));
	FORWARDS(ep_set_watermark, DAT_INVALID_HANDLE_EP, 2, 3);
	FORWARDS(ep_modify, DAT_INVALID_HANDLE_EP, 2, PTR(3));
	FORWARDS(ep_connect, DAT_INVALID_HANDLE_EP, PTR(2), 3, 4, 5, PTR(6), 7, 8);
	FORWARDS(ep_dup_connect, DAT_INVALID_HANDLE_EP, PTR(2), 3, 4, PTR(5), 6);
	FORWARDS(ep_disconnect, DAT_INVALID_HANDLE_EP, 2);
	FORWARDS(ep_post_send, DAT_INVALID_HANDLE_EP, 2, PTR(3), COOKIE(4), 5);
	FORWARDS(ep_post_recv, DAT_INVALID_HANDLE_EP, 2, PTR(3), COOKIE(4), 5);
	FORWARDS(ep_post_rdma_read, DAT_INVALID_HANDLE_EP, 2, PTR(3), COOKIE(4), PTR(5), 6);
	FORWARDS(ep_post_rdma_write, DAT_INVALID_HANDLE_EP, 2, PTR(3), COOKIE(4), PTR(5), 6);
	FORWARDS(ep_get_status, DAT_INVALID_HANDLE_EP, PTR(2), PTR(3), PTR(4));
	FORWARDS1(ep_free, DAT_INVALID_HANDLE_EP);
	FORWARDS1(ep_reset, DAT_INVALID_HANDLE_EP);
}

UNIT_RULE_IN(api__shared_receive_queue, NULL, NULL)
{
	FORWARDS(srq_create, DAT_INVALID_HANDLE_IA, PTR(2), PTR(3), PTR(4));
	FORWARDS1(srq_free, DAT_INVALID_HANDLE_SRQ);
	FORWARDS(srq_post_recv, DAT_INVALID_HANDLE_SRQ, 2, PTR(3), COOKIE(4));
	FORWARDS(srq_query, DAT_INVALID_HANDLE_SRQ, 2, PTR(3));
	FORWARDS(srq_resize, DAT_INVALID_HANDLE_SRQ, 2);
	FORWARDS(srq_set_lw, DAT_INVALID_HANDLE_SRQ, 2);
}

UNIT_RULE_IN(get_ia_handle__is_identity, NULL, NULL)
{
	DAT_IA_HANDLE out = NULL;

	assert_int_equal(dats_get_ia_handle(&object, &out), DAT_SUCCESS);
	assert_ptr_equal(out, &object);
	assert_int_equal(dats_get_ia_handle(DAT_HANDLE_NULL, &out),
			DAT_CLASS_ERROR | DAT_INVALID_HANDLE | DAT_INVALID_HANDLE_IA);
	assert_int_equal(dats_get_ia_handle(&object, NULL),
			DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG2);
}

int
unit_begin(void **state)
{
	fill_slots(&table);
	return 0;
}
