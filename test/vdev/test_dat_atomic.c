/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations, as a program uses them: by dat_ib_extensions.h, once the adapter says that it has them. */

#include "dat_pair.h"

#include <dat/dat_ib_extensions.h>

#define WORD   ((DAT_VLEN)sizeof(uint64_t))
#define RESULT 64 /* where results go in the near buffer */
#define TARGET 4096

static struct pair pair;

static uint64_t *
word(const struct end *end, size_t offset)
{
	return (uint64_t *)(void *)(end->buffer + offset);
}

static DAT_RMR_TRIPLET
remote(size_t offset, DAT_VLEN length)
{
	return (DAT_RMR_TRIPLET){
		.rmr_context = pair.b.key,
		.target_address = (DAT_VADDR)(uintptr_t)(pair.b.buffer + offset),
		.segment_length = length,
	};
}

static void
adapter__says_that_it_has_them(void **state)
{
	DAT_PROVIDER_ATTR attr;
	const char *value = NULL;

	pair_open(&pair, NULL, NULL);
	ok(dat_ia_query(pair.a.ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr));
	for (int i = 0; i < attr.num_provider_specific_attr; i++)
		if (strcmp(attr.provider_specific_attr[i].name, DAT_IB_EXTENSION_ATTR) == 0)
			value = attr.provider_specific_attr[i].value;
	assert_non_null(value);
	assert_string_equal(value, "2");
	pair_close(&pair);
}

static void
fetch_and_add__adds_and_tells_what_was_there(void **state)
{
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET there;

	pair_up(&pair);
	*word(&pair.b, TARGET) = UINT64_MAX - 1;
	local = segment(&pair.a, RESULT, WORD);
	there = remote(TARGET, WORD);
	for (uint64_t i = 0; i < 4; i++) {
		ok(dat_ib_post_fetch_and_add(pair.a.ep, 1, &local, cookie(i), &there,
				DAT_COMPLETION_DEFAULT_FLAG));
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, WORD);
		/* Modulo 2^64. */
		assert_true(*word(&pair.a, RESULT) == UINT64_MAX - 1 + i);
	}
	assert_true(*word(&pair.b, TARGET) == 2);
	pair_close(&pair);
}

static void
cmp_and_swap__swaps_when_equal(void **state)
{
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET there;

	pair_up(&pair);
	*word(&pair.b, TARGET) = 0x1122334455667788;
	local = segment(&pair.a, RESULT, WORD);
	there = remote(TARGET, WORD);
	ok(dat_ib_post_cmp_and_swap(
			pair.a.ep, 1, 2, &local, cookie(1), &there, DAT_COMPLETION_DEFAULT_FLAG));
	want_dto(&pair.a, pair.a.request, 1, DAT_DTO_SUCCESS, WORD);
	assert_true(*word(&pair.a, RESULT) == 0x1122334455667788);
	assert_true(*word(&pair.b, TARGET) == 0x1122334455667788);
	ok(dat_ib_post_cmp_and_swap(pair.a.ep, 0x1122334455667788, 99, &local, cookie(2), &there,
			DAT_COMPLETION_DEFAULT_FLAG));
	want_dto(&pair.a, pair.a.request, 2, DAT_DTO_SUCCESS, WORD);
	assert_true(*word(&pair.a, RESULT) == 0x1122334455667788);
	assert_true(*word(&pair.b, TARGET) == 99);
	pair_close(&pair);
}

static void
atomics__judge_their_arguments(void **state)
{
	const DAT_COMPLETION_FLAGS bad_flags = (DAT_COMPLETION_FLAGS)0x40000000;
	const DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
	DAT_LMR_TRIPLET local, short_local;
	DAT_RMR_TRIPLET there, crooked, short_there;
	DAT_EP_ATTR attr = { .max_request_iov = 1,
		.max_rdma_read_iov = 1,
		.max_rdma_write_iov = 1,
		.max_rdma_read_out = 1 };
	DAT_EP_HANDLE small;

	pair_up(&pair);
	local = segment(&pair.a, RESULT, WORD);
	short_local = segment(&pair.a, RESULT, WORD - 1);
	there = remote(TARGET, WORD);
	crooked = remote(TARGET + 4, WORD);
	short_there = remote(TARGET, WORD - 1);
#define ADD(ep, l, t, f)  dat_ib_post_fetch_and_add(ep, 1, l, cookie(1), t, f)
#define SWAP(ep, l, t, f) dat_ib_post_cmp_and_swap(ep, 1, 2, l, cookie(1), t, f)
	want_error(ADD(pair.a.lmr, &local, &there, flags), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EP);
	want_error(ADD(pair.a.ep, NULL, &there, flags), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	want_error(SWAP(pair.a.ep, NULL, &there, flags), DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	want_error(ADD(pair.a.ep, &local, NULL, flags), DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	want_error(SWAP(pair.a.ep, &local, NULL, flags), DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	want_error(ADD(pair.a.ep, &local, &crooked, flags), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG5);
	want_error(ADD(pair.a.ep, &local, &there, bad_flags), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG6);
	want_error(SWAP(pair.a.ep, &local, &there, bad_flags), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG7);
	want_type(ADD(pair.a.ep, &short_local, &there, flags), DAT_LENGTH_ERROR);
	want_type(ADD(pair.a.ep, &local, &short_there, flags), DAT_LENGTH_ERROR);
	/* An endpoint without room for the operands, and an unconnected one. */
	ok(dat_ep_create(pair.a.ia, pair.a.pz, pair.a.recv, pair.a.request, pair.a.connect, &attr,
			&small));
	want_type(ADD(small, &local, &there, flags), DAT_MODEL_NOT_SUPPORTED);
	ok(dat_ep_free(small));
	attr.max_rdma_read_iov = 2;
	ok(dat_ep_create(pair.a.ia, pair.a.pz, pair.a.recv, pair.a.request, pair.a.connect, &attr,
			&small));
	want_type(ADD(small, &local, &there, flags), DAT_INVALID_STATE);
	ok(dat_ep_free(small));
	/* Refused, so nothing was posted. */
	want_silence(pair.a.request);
	pair_close(&pair);
}

/* A peer that may only write, or only read, may not do both at once. */
static void
atomics__need_both_rights(void **state)
{
	static const DAT_MEM_PRIV_FLAGS half[] = {
		DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG |
				DAT_MEM_PRIV_REMOTE_READ_FLAG,
		DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG |
				DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
	};

	for (size_t i = 0; i < sizeof(half) / sizeof(half[0]); i++) {
		DAT_REGION_DESCRIPTION region;
		DAT_LMR_CONTEXT context;
		DAT_LMR_TRIPLET local;
		DAT_RMR_TRIPLET there;
		DAT_LMR_HANDLE lmr;
		DAT_VADDR address;
		DAT_VLEN length;

		pair_up(&pair);
		*word(&pair.b, TARGET) = 5;
		region.for_va = pair.b.buffer;
		there = remote(TARGET, WORD);
		ok(dat_lmr_create(pair.b.ia, DAT_MEM_TYPE_VIRTUAL, region, BUFFER_LEN, pair.b.pz,
				half[i], &lmr, &context, &there.rmr_context, &length, &address));
		local = segment(&pair.a, RESULT, WORD);
		ok(dat_ib_post_fetch_and_add(pair.a.ep, 1, &local, cookie(1), &there,
				DAT_COMPLETION_DEFAULT_FLAG));
		want_dto(&pair.a, pair.a.request, 1, DAT_DTO_ERR_REMOTE_ACCESS, 0);
		assert_true(*word(&pair.b, TARGET) == 5);
		pair_close(&pair);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(adapter__says_that_it_has_them),
		dat_test(fetch_and_add__adds_and_tells_what_was_there),
		dat_test(cmp_and_swap__swaps_when_equal),
		dat_test(atomics__judge_their_arguments),
		dat_test(atomics__need_both_rights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
