/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection zones and local memory regions, through the public API. */

#include "dat_pair.h"

static void
dat_pz__life(void **state)
{
	DAT_PZ_PARAM param;
	DAT_PZ_HANDLE pz;
	struct end end;

	end_open(&end, "loop0", NULL);
	want_error(dat_pz_create(end.recv, &pz), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	want_error(dat_pz_create(end.ia, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	ok(dat_pz_create(end.ia, &pz));
	want_error(dat_pz_query(pz, (DAT_PZ_PARAM_MASK)2, &param), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_pz_query(pz, DAT_PZ_FIELD_ALL, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	ok(dat_pz_query(pz, DAT_PZ_FIELD_ALL, &param));
	assert_ptr_equal(param.ia_handle, end.ia);
	ok(dat_pz_free(pz));
	want_error(dat_pz_free(pz), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	want_error(dat_pz_query(pz, DAT_PZ_FIELD_ALL, &param), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_PZ);
	end_close(&end);
}

/* A zone lives as long as a region, an endpoint or a shared receive queue is in it. */
static void
dat_pz_free__in_use(void **state)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = 1, .max_recv_iov = 1 };
	DAT_REGION_DESCRIPTION region;
	DAT_LMR_CONTEXT key;
	DAT_LMR_HANDLE lmr;
	DAT_SRQ_HANDLE srq;
	DAT_PZ_HANDLE pz;
	DAT_EP_HANDLE ep;
	struct end end;

	end_open(&end, "loop0", NULL);
	ok(dat_pz_create(end.ia, &pz));
	region.for_va = end.buffer;
	ok(dat_lmr_create(end.ia, DAT_MEM_TYPE_VIRTUAL, region, 8, pz, DAT_MEM_PRIV_NONE_FLAG, &lmr,
			&key, NULL, NULL, NULL));
	want_error(dat_pz_free(pz), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE);
	ok(dat_lmr_free(lmr));
	ok(dat_srq_create(end.ia, pz, &attr, &srq));
	want_error(dat_pz_free(pz), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE);
	ok(dat_srq_free(srq));
	ok(dat_ep_create(end.ia, pz, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL, NULL, &ep));
	want_error(dat_pz_free(pz), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE);
	ok(dat_ep_free(ep));
	ok(dat_pz_free(pz));
	end_close(&end);
}

static DAT_RETURN
create(struct end *end, DAT_MEM_TYPE type, void *va, DAT_VLEN length, DAT_MEM_PRIV_FLAGS priv)
{
	DAT_REGION_DESCRIPTION region = { .for_va = va };
	DAT_LMR_CONTEXT key;
	DAT_LMR_HANDLE lmr;

	return dat_lmr_create(
			end->ia, type, region, length, end->pz, priv, &lmr, &key, NULL, NULL, NULL);
}

static void
dat_lmr_create__arguments(void **state)
{
	const DAT_MEM_TYPE va = DAT_MEM_TYPE_VIRTUAL;
	DAT_REGION_DESCRIPTION region;
	DAT_LMR_CONTEXT key;
	DAT_LMR_HANDLE lmr;
	struct end end;

	end_open(&end, "loop0", NULL);
	region.for_va = end.buffer;
	want_error(dat_lmr_create(end.pz, va, region, 8, end.pz, 0, &lmr, &key, NULL, NULL, NULL),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	want_error(create(&end, DAT_MEM_TYPE_LMR, end.buffer, 8, 0), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_LMR);
	want_error(create(&end, (DAT_MEM_TYPE)9, end.buffer, 8, 0), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(create(&end, va, NULL, 8, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	/* No bytes are no region, wherever they are (decision E8; dapltest -T F -f mem case2). */
	want_error(create(&end, va, end.buffer, 0, 0), DAT_LENGTH_ERROR, 0);
	want_error(create(&end, va, NULL, 0, 0), DAT_LENGTH_ERROR, 0);
	want_error(create(&end, va, end.buffer, UINT64_MAX, 0), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG4);
	want_error(create(&end, va, end.buffer, 8, (DAT_MEM_PRIV_FLAGS)0x100),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	want_error(dat_lmr_create(end.ia, va, region, 8, end.ia, 0, &lmr, &key, NULL, NULL, NULL),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	want_error(dat_lmr_create(end.ia, va, region, 8, end.pz, 0, NULL, &key, NULL, NULL, NULL),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
	want_error(dat_lmr_create(end.ia, va, region, 8, end.pz, 0, &lmr, NULL, NULL, NULL, NULL),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG8);
	end_close(&end);
}

static void
dat_lmr__what_was_asked_is_what_is_told(void **state)
{
	DAT_REGION_DESCRIPTION region;
	DAT_RMR_CONTEXT peer_key = 1;
	DAT_LMR_CONTEXT key;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_PARAM param;
	DAT_VADDR address;
	DAT_VLEN length;
	struct end end;

	end_open(&end, "loop0", NULL);
	region.for_va = end.buffer + 3;
	/* Without remote privileges there is no context for the peer. */
	ok(dat_lmr_create(end.ia, DAT_MEM_TYPE_VIRTUAL, region, 100, end.pz,
			DAT_MEM_PRIV_LOCAL_WRITE_FLAG, &lmr, &key, &peer_key, &length, &address));
	assert_int_equal(peer_key, 0);
	assert_true(length >= 100);
	assert_true(address <= (uintptr_t)end.buffer + 3);
	want_error(dat_lmr_query(lmr, (DAT_LMR_PARAM_MASK)0x400, &param), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_lmr_query(lmr, DAT_LMR_FIELD_ALL, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	ok(dat_lmr_query(lmr, DAT_LMR_FIELD_ALL, &param));
	assert_ptr_equal(param.ia_handle, end.ia);
	assert_ptr_equal(param.pz_handle, end.pz);
	assert_ptr_equal(param.region_desc.for_va, end.buffer + 3);
	assert_int_equal(param.mem_type, DAT_MEM_TYPE_VIRTUAL);
	assert_int_equal(param.length, 100);
	assert_int_equal(param.mem_priv, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
	assert_int_equal(param.lmr_context, key);
	assert_int_equal(param.registered_size, length);
	assert_int_equal(param.registered_address, address);
	ok(dat_lmr_free(lmr));
	want_error(dat_lmr_free(lmr), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);

	ok(dat_lmr_create(end.ia, DAT_MEM_TYPE_VIRTUAL, region, 100, end.pz, DAT_MEM_PRIV_ALL_FLAG,
			&lmr, &key, &peer_key, NULL, NULL));
	assert_int_not_equal(peer_key, 0);
	ok(dat_lmr_free(lmr));
	end_close(&end);
}

/* A program that registers until it cannot gets an error and can go on. */
static void
dat_lmr_create__until_full(void **state)
{
	DAT_REGION_DESCRIPTION region;
	DAT_LMR_HANDLE *lmr;
	DAT_LMR_CONTEXT key;
	DAT_RETURN rc = 0;
	struct end end;
	int n = 0;

	end_open(&end, "loop0", NULL);
	region.for_va = end.buffer;
	lmr = calloc(70000, sizeof(*lmr));
	assert_non_null(lmr);
	while (n < 70000 && rc == DAT_SUCCESS) {
		rc = dat_lmr_create(end.ia, DAT_MEM_TYPE_VIRTUAL, region, 8, end.pz, 0, &lmr[n],
				&key, NULL, NULL, NULL);
		n += rc == DAT_SUCCESS;
	}
	want_type(rc, DAT_INSUFFICIENT_RESOURCES);
	ok(dat_lmr_free(lmr[0]));
	ok(dat_lmr_create(end.ia, DAT_MEM_TYPE_VIRTUAL, region, 8, end.pz, 0, &lmr[0], &key, NULL,
			NULL, NULL));
	free(lmr);
	end_close(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(dat_pz__life),
		dat_test(dat_pz_free__in_use),
		dat_test(dat_lmr_create__arguments),
		dat_test(dat_lmr__what_was_asked_is_what_is_told),
		dat_test(dat_lmr_create__until_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
