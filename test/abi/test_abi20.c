/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the library for DAT 2.0 shows its registry: this program is the registry. Here are also the calls that libdat2
 * has no entry for, and those with bad handles, which libdat2 would follow.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <netinet/in.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_ib_extensions.h>

#define SLOTS ((sizeof(DAT_PROVIDER) - offsetof(DAT_PROVIDER, ia_open_func)) / sizeof(void *))

static const DAT_PROVIDER *table;
static DAT_PROVIDER_INFO registered;

/* Found before those of libdat2, because this is the program. */
DAT_RETURN
dat_registry_add_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *provider_info)
{
	table = provider;
	registered = *provider_info;
	return DAT_SUCCESS;
}

DAT_RETURN
dat_registry_remove_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *provider_info)
{
	(void)provider_info;
	assert_ptr_equal(provider, table);
	return DAT_SUCCESS;
}

static int
load(void **state)
{
	static const DAT_PROVIDER_INFO info = { "test", 2, 0, DAT_FALSE };
	void *library = dlopen(getenv("ROCE_PROVIDER"), RTLD_NOW | RTLD_GLOBAL);
	union {
		void *symbol;
		DAT_PROVIDER_INIT_FUNC call;
	} init;

	(void)state;
	if (library == NULL) {
		print_error("%s\n", dlerror());
		return -1;
	}
	init.symbol = dlsym(library, DAT_PROVIDER_INIT_FUNC_STR);
	if (init.symbol == NULL)
		return -1;
	init.call(&info, "port=net_null0 ip=192.0.2.1/24");
	return 0;
}

static void
want(DAT_RETURN is, DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype)
{
	assert_int_equal(is, DAT_CLASS_ERROR | (DAT_RETURN)type | (DAT_RETURN)subtype);
}

static void
table__has_no_empty_slot(void **state)
{
	(void)state;
	assert_int_equal(SLOTS, 79);
	for (size_t i = 0; i < SLOTS; i++) {
		void *slot;

		memcpy(&slot,
				(const char *)table + offsetof(DAT_PROVIDER, ia_open_func) +
						i * sizeof(slot),
				sizeof(slot));
		if (slot == NULL)
			fail_msg("slot %zu is empty", i);
	}
}

/* libdat2 looks an adapter that is closed up by the name in the table. */
static void
table__has_the_name_of_its_adapter(void **state)
{
	(void)state;
	assert_string_equal(table->device_name, "test");
	assert_string_equal(registered.ia_name, "test");
	assert_int_equal(registered.dapl_version_major, 2);
}

static DAT_RETURN
extended(DAT_HANDLE handle, DAT_EXTENDED_OP operation, ...)
{
	DAT_RETURN rc;
	va_list args;

	va_start(args, operation);
	rc = table->handle_extendedop_func(handle, operation, args);
	va_end(args);
	return rc;
}

static void
calls__without_a_handle_say_which(void **state)
{
	DAT_RMR_TRIPLET remote = { .segment_length = 8 };
	DAT_LMR_TRIPLET local = { .segment_length = 8 };
	const DAT_DTO_COOKIE cookie = { .as_64 = 0 };

	(void)state;
	want(table->ia_query_func(NULL, NULL, 0, NULL, 0, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_IA);
	want(table->cr_reject_func(NULL, 0, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR);
	want(table->csp_create_func(NULL, NULL, NULL, NULL, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_IA);
	want(table->csp_query_func(NULL, DAT_CSP_FIELD_ALL, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_CSP);
	want(table->csp_free_func(NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CSP);
	want(table->ep_common_connect_func(NULL, NULL, 0, 0, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EP);
	want(table->rmr_create_for_ep_func(NULL, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	want(table->ep_post_send_with_invalidate_func(
			     NULL, 0, NULL, cookie, DAT_COMPLETION_DEFAULT_FLAG, DAT_TRUE, 0),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	want(table->ep_post_rdma_read_to_rmr_func(
			     NULL, &remote, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	want(table->ia_ha_related_func(NULL, NULL, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_IA);
	want(extended(NULL, DAT_IB_RDMA_WRITE_IMMED_OP, 1, &local, cookie, &remote, 7, 0),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	want(extended(NULL, DAT_IB_FETCH_AND_ADD_OP, UINT64_C(1), &local, cookie, &remote, 0),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	want(extended(NULL, DAT_IB_CMP_AND_SWAP_OP, UINT64_C(1), UINT64_C(2), &local, cookie,
			     &remote, 0),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
}

static void
calls__that_are_missing_say_so(void **state)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_BOOLEAN related = DAT_TRUE;
	char name[] = "test";
	DAT_IA_HANDLE ia;
	DAT_FD fd;
	DAT_CNO_HANDLE cno;

	(void)state;
	assert_int_equal(table->ia_open_func(name, 8, &async, &ia), DAT_SUCCESS);
	want(table->csp_create_func(ia, NULL, NULL, NULL, NULL), DAT_NOT_IMPLEMENTED,
			DAT_NO_SUBTYPE);
	want(table->cno_fd_create_func(ia, &fd, &cno), DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
	want(extended(ia, DAT_IB_UD_SEND_OP), DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
	want(extended(NULL, DAT_IB_OPEN_QUERY_OP), DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
	/* Nothing stands in for anything else, and that is an answer. */
	assert_int_equal(table->ia_ha_related_func(ia, name, &related), DAT_SUCCESS);
	assert_int_equal(related, DAT_FALSE);
	want(table->ia_ha_related_func(ia, NULL, &related), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want(table->ia_ha_related_func(ia, name, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	assert_int_equal(table->ia_close_func(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
}

/* As libdat2 asks right after opening, and before closing. */
static void
ia_query__takes_the_registrys_questions(void **state)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_PROVIDER_ATTR provider;
	char name[] = "test";
	DAT_IA_ATTR attr;
	DAT_IA_HANDLE ia;

	(void)state;
	assert_int_equal(table->ia_open_func(name, 8, &async, &ia), DAT_SUCCESS);
	assert_int_equal(table->ia_query_func(ia, NULL, DAT_IA_ALL, &attr, 0, NULL), DAT_SUCCESS);
	assert_int_equal(attr.extension_supported, DAT_EXTENSION_IB);
	assert_int_equal(attr.extension_version, DAT_IB_EXTENSION_VERSION);
	assert_int_equal(table->ia_query_func(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &provider),
			DAT_SUCCESS);
	assert_int_equal(provider.dapl_version_major, 2);
	assert_int_equal(provider.dapl_version_minor, 0);
	assert_int_equal(provider.is_thread_safe, DAT_FALSE);
	assert_int_equal(table->ia_close_func(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
}

static void
ia_query__names_what_the_transport_does(void **state)
{
	static const char *const name[] = { DAT_IB_ATTR_IMMED_DATA, DAT_IB_ATTR_CMP_AND_SWAP,
		DAT_IB_ATTR_FETCH_AND_ADD, "DAT_IB_RDMA_READ" };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_PROVIDER_ATTR attr;
	char adapter[] = "test";
	DAT_IA_HANDLE ia;
	long mtu = 0;

	(void)state;
	assert_int_equal(table->ia_open_func(adapter, 8, &async, &ia), DAT_SUCCESS);
	assert_int_equal(table->ia_query_func(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr),
			DAT_SUCCESS);
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		const char *value = NULL;

		for (DAT_COUNT k = 0; k < attr.num_provider_specific_attr; k++)
			if (strcmp(attr.provider_specific_attr[k].name, name[i]) == 0)
				value = attr.provider_specific_attr[k].value;
		assert_non_null(value);
		assert_string_equal(value, "TRUE");
	}
	for (DAT_COUNT k = 0; k < attr.num_provider_specific_attr; k++)
		if (strcmp(attr.provider_specific_attr[k].name, "DAT_IB_TRANSPORT_MTU") == 0)
			mtu = strtol(attr.provider_specific_attr[k].value, NULL, 10);
	assert_in_range(mtu, 256, 4096);
	assert_int_equal(table->ia_close_func(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table__has_no_empty_slot),
		cmocka_unit_test(table__has_the_name_of_its_adapter),
		cmocka_unit_test(calls__without_a_handle_say_which),
		cmocka_unit_test(calls__that_are_missing_say_so),
		cmocka_unit_test(ia_query__takes_the_registrys_questions),
		cmocka_unit_test(ia_query__names_what_the_transport_does),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}
