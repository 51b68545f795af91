/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls that only DAT 2.0 has, through libdat2: two adapters in one process, joined back to back. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <netinet/in.h>

#include <dat2/udat.h>
#include <dat2/dat_ib_extensions.h>

#include "../limit.h"

#define QUAL  4711
#define BYTES 64

/** One side: an adapter and one endpoint with all that belongs to it. */
struct side {
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;
	DAT_EVD_HANDLE async, conn, dto, cr;
	DAT_EP_HANDLE ep;
	DAT_SRQ_HANDLE srq;
	DAT_PSP_HANDLE psp;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT lkey;
	DAT_RMR_CONTEXT rkey;
	uint64_t memory[BYTES / sizeof(uint64_t)];
	struct sockaddr_in address;
};

static struct side a, b;

static void
ok(DAT_RETURN rc)
{
	assert_int_equal(rc, DAT_SUCCESS);
}

static void
want(DAT_RETURN is, DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype)
{
	assert_int_equal(is, DAT_CLASS_ERROR | (DAT_RETURN)type | (DAT_RETURN)subtype);
}

static DAT_EVENT
next_event(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;
	DAT_COUNT more;

	memset(&event, 0xa5, sizeof(event));
	ok(dat_evd_wait(evd, test_limit_us(), 1, &event, &more));
	return event;
}

static DAT_REGION_DESCRIPTION
region_of(struct side *s)
{
	return (DAT_REGION_DESCRIPTION){ .for_va = s->memory };
}

static DAT_RETURN
create_lmr(struct side *s, DAT_VA_TYPE va_type, DAT_MEM_PRIV_FLAGS priv)
{
	return dat_lmr_create(s->ia, DAT_MEM_TYPE_VIRTUAL, region_of(s), BYTES, s->pz, priv,
			va_type, &s->lmr, &s->lkey, &s->rkey, NULL, NULL);
}

static void
open_side(struct side *s, char *name)
{
	DAT_MEM_PRIV_FLAGS all =
			(DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_ALL_FLAG | DAT_IB_MEM_PRIV_REMOTE_ATOMIC);
	DAT_EVD_FLAGS dto = (DAT_EVD_FLAGS)(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG |
			DAT_IB_EVD_EXTENSION_FLAG);
	DAT_IA_ATTR attr;

	memset(s, 0, sizeof(*s));
	ok(dat_ia_open(name, 8, &s->async, &s->ia));
	ok(dat_ia_query(s->ia, NULL, DAT_IA_ALL, &attr, 0, NULL));
	memcpy(&s->address, attr.ia_address_ptr, sizeof(s->address));
	ok(dat_pz_create(s->ia, &s->pz));
	ok(dat_evd_create(s->ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &s->conn));
	ok(dat_evd_create(s->ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &s->cr));
	ok(dat_evd_create(s->ia, 64, DAT_HANDLE_NULL, dto, &s->dto));
	ok(create_lmr(s, DAT_VA_TYPE_VA, all));
}

static int
open_both(void **state)
{
	static char near[] = "near", far[] = "far";

	(void)state;
	open_side(&a, near);
	open_side(&b, far);
	return 0;
}

static int
close_both(void **state)
{
	(void)state;
	ok(dat_ia_close(a.ia, DAT_CLOSE_ABRUPT_FLAG));
	ok(dat_ia_close(b.ia, DAT_CLOSE_ABRUPT_FLAG));
	return 0;
}

static const DAT_EP_ATTR ep_attr = {
	.max_recv_dtos = 8,
	.max_request_dtos = 8,
	.max_recv_iov = 2,
	.max_request_iov = 2,
	.max_rdma_read_in = 4,
	.max_rdma_read_out = 4,
};

static void
make_ep(struct side *s)
{
	ok(dat_ep_create(s->ia, s->pz, s->dto, s->dto, s->conn, &ep_attr, &s->ep));
}

static void
make_ep_on_srq(struct side *s)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = 8, .max_recv_iov = 1 };

	ok(dat_srq_create(s->ia, s->pz, &attr, &s->srq));
	ok(dat_ep_create_with_srq(s->ia, s->pz, s->dto, s->dto, s->conn, s->srq, &ep_attr, &s->ep));
}

static DAT_CR_HANDLE
request(void)
{
	DAT_EVENT event;

	ok(dat_psp_create(b.ia, QUAL, b.cr, DAT_PSP_CONSUMER_FLAG, &b.psp));
	ok(dat_ep_connect(a.ep, (DAT_IA_ADDRESS_PTR)&b.address, QUAL, test_limit_us(), 0, NULL,
			DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	event = next_event(b.cr);
	assert_int_equal(event.event_number, DAT_CONNECTION_REQUEST_EVENT);
	assert_int_equal(event.event_data.cr_arrival_event_data.truncate_flag, DAT_FALSE);
	ok(dat_psp_free(b.psp));
	return event.event_data.cr_arrival_event_data.cr_handle;
}

static void
connect_both(void)
{
	ok(dat_cr_accept(request(), b.ep, 0, NULL));
	assert_int_equal(next_event(a.conn).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	assert_int_equal(next_event(b.conn).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
}

static DAT_LMR_TRIPLET
local_of(const struct side *s, DAT_SEG_LENGTH length)
{
	return (DAT_LMR_TRIPLET){ (uintptr_t)s->memory, length, s->lkey };
}

static DAT_RMR_TRIPLET
remote_of(const struct side *s, DAT_SEG_LENGTH length)
{
	return (DAT_RMR_TRIPLET){ (uintptr_t)s->memory, length, s->rkey };
}

/* The consumer's handle of an adapter is a small number, and every query gives that one. */
static void
query__gives_the_adapters_handle_back(void **state)
{
	DAT_EVD_PARAM evd;
	DAT_LMR_PARAM lmr;
	DAT_CNO_PARAM cno;
	DAT_CNO_HANDLE handle;
	DAT_EP_PARAM ep;
	DAT_PZ_PARAM pz;

	(void)state;
	make_ep(&a);
	ok(dat_cno_create(a.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &handle));
	ok(dat_evd_query(a.dto, DAT_EVD_FIELD_ALL, &evd));
	ok(dat_lmr_query(a.lmr, DAT_LMR_FIELD_ALL, &lmr));
	ok(dat_ep_query(a.ep, DAT_EP_FIELD_ALL, &ep));
	ok(dat_pz_query(a.pz, DAT_PZ_FIELD_ALL, &pz));
	ok(dat_cno_query(handle, DAT_CNO_FIELD_ALL, &cno));
	assert_ptr_equal(evd.ia_handle, a.ia);
	assert_ptr_equal(lmr.ia_handle, a.ia);
	assert_ptr_equal(ep.ia_handle, a.ia);
	assert_ptr_equal(pz.ia_handle, a.ia);
	assert_ptr_equal(cno.ia_handle, a.ia);
	assert_int_equal(lmr.va_type, DAT_VA_TYPE_VA);
	assert_true((evd.evd_flags & (DAT_EVD_FLAGS)DAT_IB_EVD_EXTENSION_FLAG) != 0);
}

static void
hear(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
	/* On whatever thread. */
	__atomic_store_n((DAT_EVD_HANDLE *)data, evd, __ATOMIC_RELEASE);
}

/* The parameters say what stands behind an object: nobody, or a function. */
static void
cno_query__names_the_proxy(void **state)
{
	DAT_EVD_HANDLE heard = NULL;
	const DAT_OS_WAIT_PROXY_AGENT agent = { &heard, hear };
	const DAT_CNO_PARAM_MASK masks[] = { 0, DAT_CNO_FIELD_IA_HANDLE, DAT_CNO_FIELD_PROXY_TYPE,
		DAT_CNO_FIELD_PROXY, DAT_CNO_FIELD_ALL };
	DAT_CNO_HANDLE cno;
	DAT_CNO_PARAM param;

	(void)state;
	ok(dat_cno_create(a.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
	for (unsigned int i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		memset(&param, 0xa5, sizeof(param));
		ok(dat_cno_query(cno, masks[i], &param));
		assert_int_equal(param.proxy_type, DAT_PROXY_TYPE_NONE);
		assert_null(param.proxy.none);
	}
	want(dat_cno_query(cno, (DAT_CNO_PARAM_MASK)8, &param), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	ok(dat_cno_modify_agent(cno, agent));
	ok(dat_cno_query(cno, DAT_CNO_FIELD_ALL, &param));
	assert_int_equal(param.proxy_type, DAT_PROXY_TYPE_AGENT);
	assert_ptr_equal(param.proxy.agent.instance_data, &heard);
	assert_true(param.proxy.agent.proxy_agent_func == hear);
	ok(dat_cno_free(cno));
}

/* dtest -c does not check which dispatcher a wait names, that it names it once, and that an agent hears of it. */
static void
cno_wait__names_the_dispatcher(void **state)
{
	DAT_EVD_HANDLE evd, named, heard = NULL;
	const DAT_OS_WAIT_PROXY_AGENT agent = { &heard, hear };
	const DAT_EVENT software = { .event_number = DAT_SOFTWARE_EVENT };
	DAT_CNO_HANDLE cno;
	DAT_EVENT event;

	(void)state;
	ok(dat_cno_create(a.ia, agent, &cno));
	ok(dat_evd_create(a.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &evd));
	assert_int_equal(DAT_GET_TYPE(dat_cno_wait(cno, 0, &named)), DAT_QUEUE_EMPTY);
	assert_null(named);
	ok(dat_evd_post_se(evd, &software));
	ok(dat_cno_wait(cno, test_limit_us(), &named));
	assert_ptr_equal(named, evd);
	ok(dat_evd_dequeue(evd, &event));
	assert_int_equal(DAT_GET_TYPE(dat_cno_wait(cno, 0, &named)), DAT_QUEUE_EMPTY);
	want(dat_cno_free(cno), DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE);
	/* The test's own time ends it where nobody calls. */
	while (__atomic_load_n(&heard, __ATOMIC_ACQUIRE) != evd)
		usleep(100);
	/* From then on no call can come that would outlive this function. */
	ok(dat_cno_modify_agent(cno, DAT_OS_WAIT_PROXY_AGENT_NULL));
	ok(dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
	ok(dat_cno_free(cno));
}

static void
lmr_create__has_addresses_of_one_kind(void **state)
{
	(void)state;
	want(create_lmr(&a, DAT_VA_TYPE_ZB, DAT_MEM_PRIV_ALL_FLAG), DAT_MODEL_NOT_SUPPORTED,
			DAT_NO_SUBTYPE);
	want(create_lmr(&a, (DAT_VA_TYPE)7, DAT_MEM_PRIV_ALL_FLAG), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG7);
	want(create_lmr(&a, DAT_VA_TYPE_VA, (DAT_MEM_PRIV_FLAGS)0x80), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG6);
}

static void
lmr_create__of_nothing_is_too_short(void **state)
{
	const DAT_REGION_DESCRIPTION nothing = { .for_va = NULL };

	(void)state;
	want(dat_lmr_create(a.ia, DAT_MEM_TYPE_VIRTUAL, nothing, 0, a.pz, DAT_MEM_PRIV_ALL_FLAG,
			     DAT_VA_TYPE_VA, &a.lmr, &a.lkey, &a.rkey, NULL, NULL),
			DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	want(dat_lmr_create(a.ia, DAT_MEM_TYPE_VIRTUAL, nothing, 8, a.pz, DAT_MEM_PRIV_ALL_FLAG,
			     DAT_VA_TYPE_VA, &a.lmr, &a.lkey, &a.rkey, NULL, NULL),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
}

static void
cr_reject__says_why(void **state)
{
	char why[] = "not today", long_why[300] = "";
	DAT_CR_HANDLE cr;
	DAT_EVENT event;

	(void)state;
	make_ep(&a);
	cr = request();
	want(dat_cr_reject(cr, sizeof(long_why), long_why), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want(dat_cr_reject(cr, 1, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	ok(dat_cr_reject(cr, sizeof(why), why));
	event = next_event(a.conn);
	assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_PEER_REJECTED);
	assert_in_range(event.event_data.connect_event_data.private_data_size, sizeof(why), 256);
	assert_string_equal(event.event_data.connect_event_data.private_data, why);
}

static DAT_RETURN
bind_window(DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, DAT_LMR_TRIPLET *triplet, DAT_VA_TYPE va_type)
{
	const DAT_RMR_COOKIE cookie = { .as_64 = 9 };
	DAT_RMR_CONTEXT context;

	return dat_rmr_bind(rmr, lmr, triplet, DAT_MEM_PRIV_REMOTE_READ_FLAG, va_type, a.ep, cookie,
			DAT_COMPLETION_DEFAULT_FLAG, &context);
}

/* The region has two names, and they are one. */
static void
rmr_bind__wants_the_region_it_names(void **state)
{
	DAT_LMR_TRIPLET triplet, other = local_of(&a, BYTES);
	DAT_RMR_PARAM param;
	DAT_RMR_HANDLE rmr;

	(void)state;
	make_ep(&a);
	make_ep(&b);
	connect_both();
	ok(dat_rmr_create(a.pz, &rmr));
	/* A second region of the same memory: both are good, but not for each other. */
	ok(create_lmr(&a, DAT_VA_TYPE_VA, DAT_MEM_PRIV_ALL_FLAG));
	triplet = local_of(&a, BYTES);
	want(bind_window(rmr, DAT_HANDLE_NULL, &triplet, DAT_VA_TYPE_VA), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_LMR);
	want(bind_window(rmr, DAT_HANDLE_NULL, NULL, DAT_VA_TYPE_VA), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_LMR);
	want(bind_window(rmr, a.lmr, NULL, DAT_VA_TYPE_VA), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	want(bind_window(rmr, a.lmr, &other, DAT_VA_TYPE_VA), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	want(bind_window(rmr, a.lmr, &triplet, DAT_VA_TYPE_ZB), DAT_MODEL_NOT_SUPPORTED,
			DAT_NO_SUBTYPE);
	ok(bind_window(rmr, a.lmr, &triplet, DAT_VA_TYPE_VA));
	assert_int_equal(next_event(a.dto).event_number, DAT_RMR_BIND_COMPLETION_EVENT);
	ok(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
	assert_int_equal(param.rmr_scope, DAT_RMR_SCOPE_PZ);
	assert_int_equal(param.lmr_triplet.segment_length, BYTES);
	ok(dat_rmr_free(rmr));
}

/* One async event for an endpoint, on either side, and none for one with a queue of its own. */
static void
disconnect__ends_what_comes_from_a_shared_queue(void **state)
{
	DAT_EVENT event;

	(void)state;
	make_ep(&a);
	make_ep_on_srq(&b);
	connect_both();
	ok(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG));
	assert_int_equal(next_event(a.conn).event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
	assert_int_equal(next_event(b.conn).event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
	event = next_event(b.async);
	assert_int_equal(event.event_number, DAT_ASYNC_ERROR_EP_BROKEN);
	assert_ptr_equal(event.event_data.asynch_error_event_data.dat_handle, b.ep);
	assert_int_equal(dat_evd_dequeue(b.async, &event), DAT_QUEUE_EMPTY);
	assert_int_equal(dat_evd_dequeue(a.async, &event), DAT_QUEUE_EMPTY);
}

static DAT_IB_EXTENSION_EVENT_DATA
told(const DAT_EVENT *event)
{
	DAT_IB_EXTENSION_EVENT_DATA data;

	assert_int_equal(event->event_number, DAT_IB_DTO_EVENT);
	memcpy(&data, event->event_extension_data, sizeof(data));
	return data;
}

static void
write_immed__tells_both_sides(void **state)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 5 }, taken = { .as_64 = 6 };
	DAT_LMR_TRIPLET local, none = { 0 };
	DAT_RMR_TRIPLET remote;
	DAT_EVENT event;

	(void)state;
	make_ep(&a);
	make_ep(&b);
	local = local_of(&a, 16);
	remote = remote_of(&b, 16);
	ok(dat_ep_post_recv(b.ep, 0, &none, taken, DAT_COMPLETION_DEFAULT_FLAG));
	connect_both();
	a.memory[0] = 77;
	want(dat_ib_post_rdma_write_immed(a.ep, -1, &local, cookie, &remote, 1, 0),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	want(dat_ib_post_rdma_write_immed(a.ep, 1, NULL, cookie, &remote, 1, 0),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	want(dat_ib_post_rdma_write_immed(a.ep, 1, &local, cookie, NULL, 1, 0),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	want(dat_ib_post_rdma_write_immed(a.ep, 1, &local, cookie, &remote, 1, 0x80),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
	ok(dat_ib_post_rdma_write_immed(a.ep, 1, &local, cookie, &remote, 0x01020304, 0));
	event = next_event(b.dto);
	assert_int_equal(told(&event).type, DAT_IB_RDMA_WRITE_IMMED_DATA);
	assert_int_equal(told(&event).val.immed.data, 0x01020304);
	assert_int_equal(event.event_data.dto_completion_event_data.user_cookie.as_64, 6);
	assert_int_equal(event.event_data.dto_completion_event_data.transfered_length, 16);
	assert_int_equal(b.memory[0], 77);
	event = next_event(a.dto);
	assert_int_equal(told(&event).type, DAT_IB_RDMA_WRITE_IMMED);
	assert_int_equal(event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
	assert_int_equal(event.event_data.dto_completion_event_data.user_cookie.as_64, 5);
}

static void
atomics__take_the_head_of_a_segment(void **state)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 5 };
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	DAT_EVENT event;

	(void)state;
	make_ep(&a);
	make_ep(&b);
	connect_both();
	local = local_of(&a, 8);
	remote = remote_of(&b, BYTES);
	b.memory[0] = 40;
	ok(dat_ib_post_fetch_and_add(a.ep, 2, &local, cookie, &remote, 0));
	event = next_event(a.dto);
	assert_int_equal(told(&event).type, DAT_IB_FETCH_AND_ADD);
	assert_int_equal(a.memory[0], 40);
	ok(dat_ib_post_cmp_and_swap(a.ep, 42, 1, &local, cookie, &remote, 0));
	event = next_event(a.dto);
	assert_int_equal(told(&event).type, DAT_IB_CMP_AND_SWAP);
	assert_int_equal(a.memory[0], 42);
	assert_int_equal(b.memory[0], 1);
	/* Seven bytes are no number. */
	remote.segment_length = 7;
	want(dat_ib_post_fetch_and_add(a.ep, 2, &local, cookie, &remote, 0), DAT_LENGTH_ERROR,
			DAT_NO_SUBTYPE);
}

/* In 1.2 whoever may read and write may; in 2.0 there is a privilege for it. */
static void
atomics__want_their_privilege(void **state)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 5 };
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	DAT_EVENT event;

	(void)state;
	make_ep(&a);
	make_ep(&b);
	connect_both();
	ok(create_lmr(&b, DAT_VA_TYPE_VA, DAT_MEM_PRIV_ALL_FLAG));
	local = local_of(&a, 8);
	remote = remote_of(&b, 8);
	ok(dat_ib_post_fetch_and_add(a.ep, 2, &local, cookie, &remote, 0));
	event = next_event(a.dto);
	assert_int_equal(told(&event).status, DAT_IB_OP_ERR);
	assert_int_equal(event.event_data.dto_completion_event_data.status,
			DAT_DTO_ERR_REMOTE_ACCESS);
}

static void
completions__name_their_operation(void **state)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 5 };
	DAT_LMR_TRIPLET local, none = { 0 };
	DAT_RMR_TRIPLET remote;

	(void)state;
	make_ep(&a);
	make_ep(&b);
	local = local_of(&a, 8);
	remote = remote_of(&b, 8);
	ok(dat_ep_post_recv(b.ep, 0, &none, cookie, DAT_COMPLETION_DEFAULT_FLAG));
	connect_both();
	ok(dat_ep_post_rdma_write(a.ep, 1, &local, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
	assert_int_equal(next_event(a.dto).event_data.dto_completion_event_data.operation,
			DAT_DTO_RDMA_WRITE);
	ok(dat_ep_post_rdma_read(a.ep, 1, &local, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
	assert_int_equal(next_event(a.dto).event_data.dto_completion_event_data.operation,
			DAT_DTO_RDMA_READ);
	ok(dat_ep_post_send(a.ep, 0, &none, cookie, DAT_COMPLETION_DEFAULT_FLAG));
	assert_int_equal(next_event(a.dto).event_data.dto_completion_event_data.operation,
			DAT_DTO_SEND);
	assert_int_equal(next_event(b.dto).event_data.dto_completion_event_data.operation,
			DAT_DTO_RECEIVE);
}

/* A consumer that looks at its memory calls nothing, and what it waits for arrives. */
static void
adapters__work_while_nobody_calls(void **state)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 5 };
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;

	(void)state;
	make_ep(&a);
	make_ep(&b);
	connect_both();
	local = local_of(&a, 8);
	remote = remote_of(&b, 8);
	a.memory[0] = 12;
	ok(dat_ep_post_rdma_write(a.ep, 1, &local, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
	/* The test's own time ends it where nothing arrives. */
	while (__atomic_load_n(&b.memory[0], __ATOMIC_ACQUIRE) != 12)
		usleep(100);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_both, close_both)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(query__gives_the_adapters_handle_back),
		TEST(cno_query__names_the_proxy),
		TEST(cno_wait__names_the_dispatcher),
		TEST(lmr_create__has_addresses_of_one_kind),
		TEST(lmr_create__of_nothing_is_too_short),
		TEST(cr_reject__says_why),
		TEST(rmr_bind__wants_the_region_it_names),
		TEST(disconnect__ends_what_comes_from_a_shared_queue),
		TEST(write_immed__tells_both_sides),
		TEST(atomics__take_the_head_of_a_segment),
		TEST(atomics__want_their_privilege),
		TEST(completions__name_their_operation),
		TEST(adapters__work_while_nobody_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
