/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The library for DAT 2.0 as its registry sees it: this program is the registry. test/contract/test_calls.c has the
 * answers of the table's calls to good and to bad arguments.
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
		cmocka_unit_test(ia_query__takes_the_registrys_questions),
		cmocka_unit_test(ia_query__names_what_the_transport_does),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}
