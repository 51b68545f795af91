/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_rmr_query: what it tells of a region that is bound, was bound, or never was; and the life of a region. */

#include "rig.h"

#define ALL_BITS 0x1fu

static void
want_binding(DAT_RMR_HANDLE rmr, DAT_LMR_TRIPLET triplet, DAT_MEM_PRIV_FLAGS priv,
		DAT_RMR_CONTEXT context)
{
	DAT_RMR_PARAM param = rmr_param(rmr);

	assert_int_equal(param.lmr_triplet.lmr_context, triplet.lmr_context);
	assert_int_equal(param.lmr_triplet.virtual_address, triplet.virtual_address);
	assert_int_equal(param.lmr_triplet.segment_length, triplet.segment_length);
	assert_int_equal(param.mem_priv, priv);
	assert_int_equal(param.rmr_context, context);
}

static void
want_unbound(const struct end *end, DAT_RMR_HANDLE rmr)
{
	const DAT_LMR_TRIPLET nothing = { .segment_length = 0 };
	DAT_RMR_PARAM param = rmr_param(rmr);

	want_binding(rmr, nothing, DAT_MEM_PRIV_NONE_FLAG, 0);
	assert_ptr_equal(param.ia_handle, end->ia);
	assert_ptr_equal(param.pz_handle, end->pz);
}

/* Proves: rmr_query.1 rmr_query.4 rmr_query.5 */
static void
query__fields_of_a_bound_region(void **state)
{
	static const unsigned int privileges[] = {
		DAT_MEM_PRIV_NONE_FLAG,
		DAT_MEM_PRIV_REMOTE_READ_FLAG,
		DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
		DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
		DAT_MEM_PRIV_ALL_FLAG,
	};
	DAT_RMR_HANDLE rmr = make_rmr(a);

	for (unsigned int i = 0; i < COUNT_OF(privileges); i++) {
		DAT_LMR_TRIPLET triplet = segment(a, (size_t)100 * i, 50 + i);
		DAT_MEM_PRIV_FLAGS priv = (DAT_MEM_PRIV_FLAGS)privileges[i];
		DAT_RMR_CONTEXT context = post_bind(a, rmr, triplet, priv);
		DAT_RMR_PARAM param;

		assert_int_not_equal(context, 0);
		want_bound(a, rmr);
		want_binding(rmr, triplet, priv, context);
		param = rmr_param(rmr);
		assert_ptr_equal(param.ia_handle, a->ia);
		assert_ptr_equal(param.pz_handle, a->pz);
	}
}

/* Until the bind has completed the region is what it was: nothing polls the adapter before the wait. */
/* Proves: rmr_query.5 */
static void
query__changes_with_the_completion(void **state)
{
	DAT_RMR_CONTEXT second;
	DAT_RMR_HANDLE rmr = make_rmr(a);
	DAT_RMR_CONTEXT first = post_bind(a, rmr, segment(a, 0, 64), DAT_MEM_PRIV_REMOTE_READ_FLAG);

	want_unbound(a, rmr);
	want_bound(a, rmr);
	second = post_bind(a, rmr, segment(a, 64, 8), DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
	want_binding(rmr, segment(a, 0, 64), DAT_MEM_PRIV_REMOTE_READ_FLAG, first);
	want_bound(a, rmr);
	want_binding(rmr, segment(a, 64, 8), DAT_MEM_PRIV_REMOTE_WRITE_FLAG, second);
	assert_int_not_equal(first, second);
}

/*
 * Decided: the query succeeds, and what has no value is zero. Never bound, unbound by a bind of no length, and unbound
 * once more.
 * Proves: rmr_query.3 rmr_query.5
 */
static void
query__of_an_unbound_region_tells_zeros(void **state)
{
	DAT_RMR_HANDLE rmr = make_rmr(a);

	want_unbound(a, rmr);
	for (unsigned int bit = 1; bit <= ALL_BITS; bit <<= 1) {
		DAT_RMR_PARAM param;

		memset(&param, POISON, sizeof(param));
		ok(dat_rmr_query(rmr, (DAT_RMR_PARAM_MASK)bit, &param));
		if (bit == DAT_RMR_FIELD_LMR_TRIPLET)
			assert_int_equal(param.lmr_triplet.segment_length, 0);
	}
	bind_rmr(a, rmr, segment(a, 0, 64), DAT_MEM_PRIV_REMOTE_READ_FLAG);
	for (unsigned int i = 0; i < 2; i++) {
		bind_rmr(a, rmr, segment(a, 0, 0), DAT_MEM_PRIV_REMOTE_READ_FLAG);
		want_unbound(a, rmr);
	}
}

/* The fields that @p mask asks for are as in a query for all fields. */
static void
query_some(DAT_RMR_HANDLE rmr, unsigned int mask)
{
	DAT_RMR_PARAM all = rmr_param(rmr), some;

	memset(&some, POISON, sizeof(some));
	ok(dat_rmr_query(rmr, (DAT_RMR_PARAM_MASK)mask, &some));
#define ASKED(bit, member) want_asked(mask, DAT_RMR_FIELD_##bit, &some, &all, member)
	ASKED(IA_HANDLE, ia_handle);
	ASKED(PZ_HANDLE, pz_handle);
	ASKED(LMR_TRIPLET, lmr_triplet.lmr_context);
	ASKED(LMR_TRIPLET, lmr_triplet.virtual_address);
	ASKED(LMR_TRIPLET, lmr_triplet.segment_length);
	ASKED(MEM_PRIV, mem_priv);
	ASKED(RMR_CONTEXT, rmr_context);
}

/* Proves: rmr_query.2 */
static void
query__mask_selects(void **state)
{
	DAT_RMR_HANDLE rmr;

	assert_int_equal(DAT_RMR_FIELD_ALL, ALL_BITS);
	pair_up(&pair);
	rmr = make_rmr(a);
	bind_rmr(a, rmr, segment(a, 0, 64), DAT_MEM_PRIV_REMOTE_READ_FLAG);
	for (unsigned int mask = 0; mask <= ALL_BITS; mask++)
		query_some(rmr, mask);
}

/* One mistake after the other is mended; a refusal writes nothing. */
/* Proves: rmr_query.2 rmr_query.4 */
static void
query__judges_in_the_order_of_the_arguments(void **state)
{
	const DAT_RMR_PARAM_MASK unknown = (DAT_RMR_PARAM_MASK)0x20;
	DAT_RMR_PARAM param;
	DAT_RMR_HANDLE rmr = make_rmr(a);

	memset(&param, POISON, sizeof(param));
	want_bad_handle(dat_rmr_query(DAT_HANDLE_NULL, unknown, NULL), RMR);
	want_bad_handle(dat_rmr_query(a->lmr, unknown, &param), RMR);
	want_bad_arg(dat_rmr_query(rmr, unknown, NULL), 2);
	for (unsigned int bit = 5; bit < 32; bit++)
		want_bad_arg(dat_rmr_query(rmr, (DAT_RMR_PARAM_MASK)(1u << bit | 1u), &param), 2);
	want_bad_arg(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, NULL), 3);
	ok(dat_rmr_free(rmr));
	want_bad_handle(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param), RMR);
	want_bytes(&param, POISON, sizeof(param));
}

static void
create__arguments(void **state)
{
	DAT_CONTEXT context = { .as_64 = 4711 };
	DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;

	want_bad_handle(dat_rmr_create(DAT_HANDLE_NULL, &rmr), PZ);
	want_bad_handle(dat_rmr_create(a->ia, &rmr), PZ);
	want_bad_arg(dat_rmr_create(a->pz, NULL), 2);
	assert_ptr_equal(rmr, DAT_HANDLE_NULL);
	rmr = make_rmr(a);
	want_type_of(rmr, DAT_HANDLE_TYPE_RMR);
	ok(dat_set_consumer_context(rmr, context));
	context.as_64 = 0;
	ok(dat_get_consumer_context(rmr, &context));
	assert_int_equal(context.as_64, 4711);
}

/* As many as there are keys, local regions included; one freed is one to be had. */
static void
create__until_full(void **state)
{
#define MORE 70000
	DAT_RMR_HANDLE *rmr = calloc(MORE, sizeof(*rmr));
	DAT_RETURN rc = DAT_SUCCESS;
	DAT_IA_ATTR attr;
	int n = 0;

	assert_non_null(rmr);
	end_open(a, "loop0", NULL);
	attr = ia_attr(a, DAT_IA_FIELD_ALL);
	while (n < MORE && rc == DAT_SUCCESS) {
		rc = dat_rmr_create(a->pz, &rmr[n]);
		n += rc == DAT_SUCCESS;
	}
	want_type(rc, DAT_INSUFFICIENT_RESOURCES);
	/* The end has one local region. */
	assert_int_equal(n, attr.max_rmrs - 1);
	ok(dat_rmr_free(rmr[0]));
	ok(dat_rmr_create(a->pz, &rmr[0]));
	end_close(a);
	free(rmr);
}

static void
free__arguments(void **state)
{
	DAT_RMR_HANDLE rmr;

	want_bad_handle(dat_rmr_free(DAT_HANDLE_NULL), RMR);
	want_bad_handle(dat_rmr_free(a->pz), RMR);
	rmr = make_rmr(a);
	ok(dat_rmr_free(rmr));
	want_bad_handle(dat_rmr_free(rmr), RMR);
}

/* The zone waits for its windows, and so does a graceful close; an abrupt one takes bound ones, too. */
static void
free__lets_go_of_the_zone(void **state)
{
	DAT_RMR_HANDLE rmr, bound;
	DAT_PZ_HANDLE pz = make_pz(a);

	ok(dat_rmr_create(pz, &rmr));
	want_bad_state(dat_pz_free(pz), PZ_IN_USE);
	want_bad_state(dat_ia_close(a->ia, DAT_CLOSE_GRACEFUL_FLAG), IA_IN_USE);
	ok(dat_rmr_free(rmr));
	ok(dat_pz_free(pz));
	bound = make_rmr(a);
	bind_rmr(a, bound, segment(a, 0, 64), DAT_MEM_PRIV_REMOTE_READ_FLAG);
}

/* Bound or not, it may be freed; what it lay over is free then, too. */
static void
free__unbinds(void **state)
{
	DAT_RMR_HANDLE rmr = make_rmr(a);

	bind_rmr(a, rmr, segment(a, 0, 64), DAT_MEM_PRIV_REMOTE_READ_FLAG);
	want_bad_state(dat_lmr_free(a->lmr), LMR_IN_USE);
	ok(dat_rmr_free(rmr));
	ok(dat_lmr_free(a->lmr));
}

const struct CMUnitTest tests[] = {
	end_test(create__arguments),
	rig_test(create__until_full),
	up_test(query__fields_of_a_bound_region),
	up_test(query__changes_with_the_completion),
	up_test(query__of_an_unbound_region_tells_zeros),
	rig_test(query__mask_selects),
	end_test(query__judges_in_the_order_of_the_arguments),
	end_test(free__arguments),
	up_test(free__lets_go_of_the_zone),
	up_test(free__unbinds),
	tests_end,
};
