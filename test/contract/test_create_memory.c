/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No memory: every allocation inside every call that makes something fails once. The call says
 * DAT_INSUFFICIENT_RESOURCES, stores nothing, changes nothing, leaks nothing, and succeeds when there is memory again.
 */

#include "answers.h"
#include "failing.h"
#include "rig.h"

/* The objects that a provider keeps are of other kinds before than after: they may differ by a cache line. */
#define SLACK   40
#define QUAL    5300
#define ANOTHER 5301 /**< where requests are handed on to */
#define MAPPED  4096

/** Objects that the calls work on. */
struct place {
	DAT_EP_HANDLE spare; /**< of b */
	DAT_CR_HANDLE cr;    /**< of b, not answered */
	DAT_EP_PARAM param;  /**< of b's endpoint */
	DAT_COUNT requests;  /**< what it was modified to last */
};

static struct place place;

static DAT_RETURN
make_lmr_of(DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region, DAT_HANDLE *out)
{
	DAT_LMR_CONTEXT context;

	return dat_lmr_create(b->ia, type, region, MAPPED, b->pz,
			DAT_MEM_PRIV_ALL_FLAG NEW_ARGS(, DAT_VA_TYPE_VA), out, &context, NULL, NULL,
			NULL);
}

static DAT_RETURN
call_psp_any(DAT_HANDLE *out)
{
	DAT_CONN_QUAL qual = 1;
	DAT_RETURN rc = dat_psp_create_any(b->ia, &qual, b->cr, DAT_PSP_CONSUMER_FLAG, out);

	assert_true(rc == DAT_SUCCESS || qual == 1);
	return rc;
}

static DAT_SRQ_ATTR four = { .max_recv_dtos = 4, .max_recv_iov = 1 };

/* Calls that make something of b's. */
#define CALL(title, what)                               \
	static DAT_RETURN call_##title(DAT_HANDLE *out) \
	{                                               \
		return what;                            \
	}

CALL(pz, dat_pz_create(b->ia, out))
CALL(lmr, make_lmr_of(DAT_MEM_TYPE_VIRTUAL, (DAT_REGION_DESCRIPTION){ .for_va = b->buffer }, out))
CALL(lmr_of_lmr,
		make_lmr_of(DAT_MEM_TYPE_LMR, (DAT_REGION_DESCRIPTION){ .for_lmr_handle = b->lmr },
				out))
CALL(rmr, dat_rmr_create(b->pz, out))
CALL(srq, dat_srq_create(b->ia, b->pz, &four, out))
CALL(evd, dat_evd_create(b->ia, 100, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, out))
CALL(ep, dat_ep_create(b->ia, b->pz, b->recv, b->request, b->connect, NULL, out))
CALL(psp, dat_psp_create(b->ia, QUAL, b->cr, DAT_PSP_CONSUMER_FLAG, out))
CALL(rsp, dat_rsp_create(b->ia, QUAL, place.spare, b->cr, out))

/* Another queue pair for an endpoint; each time another size, so that it needs one. */
static DAT_RETURN
call_modify(DAT_HANDLE *out)
{
	DAT_EP_PARAM param = place.param;
	DAT_RETURN rc;

	param.ep_attr.max_request_dtos = place.requests % 7 + 20;
	rc = dat_ep_modify(b->ep, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, &param);
	if (rc == DAT_SUCCESS) {
		place.requests++;
		*out = b->ep;
	}
	return rc;
}

static DAT_RETURN
call_connect(DAT_HANDLE *out)
{
	DAT_RETURN rc = dat_ep_connect(place.spare, (DAT_IA_ADDRESS_PTR)&a->address, QUAL,
			PATIENCE_US, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);

	if (rc == DAT_SUCCESS)
		*out = place.spare;
	return rc;
}

static DAT_RETURN
disconnect_ep(DAT_HANDLE ep)
{
	DAT_EVENT event;

	ok(dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG));
	ok(dat_evd_dequeue(b->connect, &event));
	return dat_ep_reset(ep);
}

/* To another service point; the request that arrives there is the one to be handed on next. */
static DAT_RETURN
call_handoff(DAT_HANDLE *out)
{
	static DAT_CONN_QUAL to = ANOTHER;
	DAT_RETURN rc = dat_cr_handoff(place.cr, to);

	if (rc == DAT_SUCCESS) {
		to = to == ANOTHER ? CONN_QUAL : ANOTHER;
		*out = place.cr = end_request(b);
	}
	return rc;
}

static DAT_RETURN
keep(DAT_HANDLE handle)
{
	return DAT_SUCCESS;
}

/** A call that makes something. */
struct maker {
	const char *name;
	DAT_RETURN (*call)(DAT_HANDLE *out);
	DAT_RETURN (*unmake)(DAT_HANDLE handle);
	unsigned int least; /**< allocations that it takes at least, or the allocator is not in place */
};

static const struct maker makers[] = {
	{ "dat_pz_create", call_pz, dat_pz_free, 1 },
	{ "dat_lmr_create", call_lmr, dat_lmr_free, 1 },
	{ "dat_lmr_create, of a region", call_lmr_of_lmr, dat_lmr_free, 1 },
	{ "dat_rmr_create", call_rmr, dat_rmr_free, 1 },
	{ "dat_srq_create", call_srq, dat_srq_free, 3 },
	{ "dat_evd_create", call_evd, dat_evd_free, 2 },
	{ "dat_ep_create", call_ep, dat_ep_free, 3 },
	{ "dat_ep_modify", call_modify, keep, 2 },
	{ "dat_psp_create", call_psp, dat_psp_free, 1 },
	{ "dat_psp_create_any", call_psp_any, dat_psp_free, 1 },
	{ "dat_rsp_create", call_rsp, dat_rsp_free, 1 },
	{ "dat_cr_handoff", call_handoff, keep, 1 },
	{ "dat_ep_connect", call_connect, disconnect_ep, 1 },
};

static void
open_place(void)
{
	memset(&place, 0, sizeof(place));
	pair_open(&pair, NULL, NULL);
	place.spare = another_ep(b);
	make_psp(b, ANOTHER, b->cr);
	ok(end_connect(a, b, CONN_QUAL));
	place.cr = end_request(b);
	place.param = ep_param(b->ep);
}

/* @return true when it came to allocation number @p fail. Then the call failed for it and did nothing. */
static bool
fails(const void *of, unsigned int fail)
{
	const struct maker *maker = of;
	DAT_HANDLE handle = &place;
	DAT_EP_PARAM before = ep_param(b->ep), after;
	bool failed;
	DAT_RETURN rc;

	begin_failing(fail);
	rc = maker->call(&handle);
	failed = end_failing();
	if (!failed) {
		ok(rc);
		ok(maker->unmake(handle));
		return false;
	}
	want_error(rc, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	assert_ptr_equal(handle, &place);
	after = ep_param(b->ep);
	want_same_answer(ANSWER_EP, &after, &before);
	return true;
}

static void
memory__each_allocation_of_each_call_fails(void **state)
{
	open_place();
	for (unsigned int m = 0; m < COUNT_OF(makers); m++) {
		unsigned int fail = 0;

		while (fails(&makers[m], fail))
			fail++;
		print_message("%s: %u allocations\n", makers[m].name, fail);
		assert_true(fail >= makers[m].least);
		/* And with memory it goes on working, as often as one likes. */
		for (int i = 0; i < 10; i++)
			assert_false(fails(&makers[m], NEVER));
	}
}

/* Objects that no failed call holds can be freed; one that it left behind would be in the way. */
static void
memory__a_failure_holds_nothing(void **state)
{
	open_place();
	for (unsigned int m = 0; m < COUNT_OF(makers); m++)
		for (unsigned int fail = 0; fails(&makers[m], fail); fail++)
			;
	ok(dat_cr_reject(place.cr NEW_ARGS(, 0, NULL)));
	ok(dat_ep_free(b->ep));
	ok(dat_ep_free(place.spare));
	ok(dat_lmr_free(b->lmr));
	ok(dat_evd_free(b->recv));
	ok(dat_evd_free(b->request));
	ok(dat_evd_free(b->connect));
	ok(dat_pz_free(b->pz));
}

static void
memory__a_failure_leaks_nothing(void **state)
{
	open_place();
	for (unsigned int m = 0; m < COUNT_OF(makers); m++)
		want_no_leak(fails, &makers[m], SLACK);
}

static DAT_RETURN
send_pieces(struct end *end, DAT_COUNT n, uint64_t value)
{
	DAT_LMR_TRIPLET iov[4];

	for (DAT_COUNT i = 0; i < n; i++)
		iov[i] = segment(end, (size_t)i * 100, 10);
	return dat_ep_post_send(end->ep, n, iov, cookie(value), DAT_COMPLETION_DEFAULT_FLAG);
}

/* A request for which room is made can fail; nothing happens then. */
static void
fail_once(DAT_COUNT pieces)
{
	begin_failing(0);
	want_error(send_pieces(a, pieces, 1), DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	assert_true(end_failing());
}

/* That is the first one, and the first of more than two segments. */
static void
memory__a_request_fails_at_the_most_once_for_its_size(void **state)
{
	post_recvs(1, 5, 100);
	fail_once(2);
	ok(send_pieces(a, 2, 5));
	want_dto(a, a->request, 5, DAT_DTO_SUCCESS, 20);
	fail_once(4);
	begin_failing(0);
	ok(send_pieces(a, 2, 2));
	assert_false(end_failing());
	ok(send_pieces(a, 4, 3));
	begin_failing(0);
	ok(send_pieces(a, 3, 4));
	assert_false(end_failing());
	want_dto(a, a->request, 2, DAT_DTO_SUCCESS, 20);
	want_dto(a, a->request, 3, DAT_DTO_SUCCESS, 40);
	want_dto(a, a->request, 4, DAT_DTO_SUCCESS, 30);
}

/* An adapter that cannot be opened for want of memory; another instance, or none, has it open already. */
static void
open_fails(void)
{
	char name[] = "loop0";
	unsigned int fail;
	DAT_IA_HANDLE ia;

	for (fail = 0;; fail++) {
		DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
		unsigned int before = entries("/proc/self/fd");
		DAT_RETURN rc;

		ia = &place;
		begin_failing(fail);
		rc = dat_ia_open(name, 8, &async, &ia);
		if (!end_failing()) {
			ok(rc);
			break;
		}
		want_error(rc, DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
		assert_ptr_equal(ia, &place);
		assert_ptr_equal(async, DAT_HANDLE_NULL);
		assert_int_equal(entries("/proc/self/fd"), before);
	}
	print_message("dat_ia_open: %u allocations\n", fail);
	assert_true(fail >= 2);
	ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}

static void
memory__each_allocation_of_an_open_fails(void **state)
{
	/* The EAL stays once it has started: what it opens is no leak. */
	end_close(a);
	open_fails();
	end_open(a, "loop0", NULL);
	open_fails();
}

#if DAT_ABI == 20

/* Nor can one without the thread that works for its consumer; there is one for all that are open. */
static void
memory__an_open_without_a_thread_fails(void **state)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia = &place;
	char name[] = "loop0";
	unsigned int before;

	end_open(a, name, NULL);
	end_close(a);
	before = entries("/proc/self/fd");
	refuse_progress(true);
	want_error(dat_ia_open(name, 8, &async, &ia), DAT_INSUFFICIENT_RESOURCES,
			DAT_RESOURCE_MEMORY);
	refuse_progress(false);
	assert_ptr_equal(ia, &place);
	assert_ptr_equal(async, DAT_HANDLE_NULL);
	assert_int_equal(entries("/proc/self/fd"), before);
	end_open(a, name, NULL);
	refuse_progress(true);
	ok(dat_ia_open(name, 8, &async, &ia));
	refuse_progress(false);
	ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}

#endif

const struct CMUnitTest tests[] = {
	memory_test(memory__each_allocation_of_each_call_fails, rig_begin),
	memory_test(memory__a_failure_holds_nothing, rig_begin),
	memory_test(memory__a_failure_leaks_nothing, rig_begin),
	memory_test(memory__a_request_fails_at_the_most_once_for_its_size, rig_begin_up),
	memory_test(memory__each_allocation_of_an_open_fails, rig_begin_end),
#if DAT_ABI == 20
	memory_test(memory__an_open_without_a_thread_fails, rig_begin),
#endif
	tests_end,
};

int
main(void)
{
	use_no_hugepages();
	return rig_run();
}
