/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_ia_*, consumer contexts and handle types, through the public API. */

#include <pthread.h>
#include <unistd.h>

#include "dat_pair.h"

static char loop0[] = "loop0";
static char loop1[] = "loop1";

/* Bytes of the environment, in order. To be freed. */
static char *
environment(void)
{
	size_t len = 1;
	char *text;

	for (char **variable = environ; *variable != NULL; variable++)
		len += strlen(*variable) + 1;
	text = calloc(1, len);
	assert_non_null(text);
	for (char **variable = environ; *variable != NULL; variable++)
		strcat(strcat(text, *variable), "\n");
	return text;
}

/*
 * Other threads may be reading the environment, and children inherit it. The drivers of Mellanox change it, so they are loaded only
 * for such a device. The first test: DPDK starts once.
 */
static void
dat_ia_open__leaves_the_environment_alone(void **state)
{
	char *before = environment(), *after;
	char **variables = environ;
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	ok(dat_ia_open(loop0, 8, &async, &ia));
	ok(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
	after = environment();
	if (system("grep -qsx 0x15b3 /sys/bus/pci/devices/*/vendor") == 0)
		skip();
	assert_string_equal(after, before);
	assert_ptr_equal(environ, variables);
	free(before);
	free(after);
}

static void
dat_ia_open__arguments(void **state)
{
	char nobody[] = "no-such-adapter";
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	want_type(dat_ia_open(nobody, 8, &async, &ia), DAT_PROVIDER_NOT_FOUND);
	want_type(dat_ia_open(NULL, 8, &async, &ia), DAT_INVALID_PARAMETER);
	want_type(dat_ia_open(loop0, 8, NULL, &ia), DAT_INVALID_PARAMETER);
	want_type(dat_ia_open(loop0, 8, &async, NULL), DAT_INVALID_PARAMETER);
	want_type(dat_ia_open(loop0, -1, &async, &ia), DAT_INVALID_PARAMETER);
	/* The first instance has nobody's dispatcher to share. */
	async = DAT_EVD_ASYNC_EXISTS;
	want_type(dat_ia_open(loop0, 8, &async, &ia), DAT_INVALID_PARAMETER);
}

/* A line of dat.conf names a device that is not there, or is wrong: each has its own answer, and no adapter opens. */
static void
dat_ia_open__judges_what_the_name_stands_for(void **state)
{
	static const struct {
		const char *instance;
		DAT_RETURN want;
	} rule[] = {
		{ "port=net_nosuch0 ip=192.0.2.9/24",
				DAT_INSUFFICIENT_RESOURCES | DAT_RESOURCE_DEVICE },
		{ "port=net_null9 ip=192.0.2.9/24 frob=1",
				DAT_INVALID_PARAMETER | DAT_INVALID_ARG1 },
		{ "port=net_null9", DAT_INVALID_PARAMETER | DAT_INVALID_ARG1 },
	};
	char path[] = "/tmp/dat_conf_XXXXXX";
	char name[] = "made0";
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(setenv("DAT_OVERRIDE", path, 1), 0);
	for (unsigned int i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		assert_true(dprintf(fd, "%s u1.2 threadsafe default libdaplroce.so.1 udapl-roce.1.2 \"%s\" \"\"\n",
					    name, rule[i].instance) > 0);
		want(dat_ia_open(name, 8, &async, &ia), DAT_CLASS_ERROR | rule[i].want);
	}
	assert_int_equal(setenv("DAT_OVERRIDE", "", 1), 0);
	assert_int_equal(unlink(path), 0);
	close(fd);
}

/* A host that is connected to and that never answers. */
static void
want_no_answer(struct end *end, unsigned int host, DAT_EVENT_NUMBER number)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xc0000200 + host),
	};
	DAT_EP_HANDLE ep;

	ok(dat_ep_create(end->ia, end->pz, end->recv, end->request, end->connect, NULL, &ep));
	ok(dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&address, 4711, 300000, 0, NULL,
			DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	want_event(end->connect, number);
	ok(dat_ep_free(ep));
}

/*
 * An instance of more than a thousand bytes: each of 40 neighbours has its fixed address, so the request to the last of them
 * leaves, and its answer is waited for in vain. The host behind it would have to be found first.
 */
static void
dat_ia_open__takes_each_of_40_neighbours(void **state)
{
	char path[] = "/tmp/dat_conf_XXXXXX";
	int fd = mkstemp(path);
	struct end end;

	assert_true(fd >= 0);
	assert_true(dprintf(fd, "made0 u1.2 threadsafe default libdaplroce.so.1 udapl-roce.1.2 \"port=net_null9 ip=192.0.2.9/24") >
			0);
	for (unsigned int i = 0; i < 40; i++)
		assert_true(dprintf(fd, " neigh=192.0.2.%u@02:00:00:00:01:%02x", 100 + i, i) > 0);
	assert_true(dprintf(fd, "\" \"\"\n") > 0);
	assert_true(lseek(fd, 0, SEEK_END) > 40 * 37);
	assert_int_equal(setenv("DAT_OVERRIDE", path, 1), 0);
	end_open(&end, "made0", NULL);
	want_no_answer(&end, 100, DAT_CONNECTION_EVENT_TIMED_OUT);
	want_no_answer(&end, 139, DAT_CONNECTION_EVENT_TIMED_OUT);
	want_no_answer(&end, 140, DAT_CONNECTION_EVENT_UNREACHABLE);
	end_close(&end);
	assert_int_equal(setenv("DAT_OVERRIDE", "", 1), 0);
	assert_int_equal(unlink(path), 0);
	close(fd);
}

/* Every field has a truthful value; strings and addresses can be used. */
static void
dat_ia_query__attributes(void **state)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL, again;
	DAT_PROVIDER_ATTR provider;
	DAT_IA_HANDLE ia;
	DAT_IA_ATTR attr;

	ok(dat_ia_open(loop0, 8, &async, &ia));
	assert_non_null(async);
	memset(&attr, 0xa5, sizeof(attr));
	memset((void *)&provider, 0xa5, sizeof(provider));
	ok(dat_ia_query(ia, &again, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL, &provider));
	assert_ptr_equal(again, async);
	assert_string_equal(attr.adapter_name, "loop0");
	assert_int_equal(attr.ia_address_ptr->sa_family, AF_INET);
	/* Real programs write a port into it. */
	((struct sockaddr_in *)attr.ia_address_ptr)->sin_port = 0x1234;
	assert_true(attr.max_eps >= 1024);
	assert_true(attr.max_dto_per_ep >= 1024);
	assert_true(attr.max_evd_qlen >= 65536);
	assert_true(attr.max_iov_segments_per_dto >= 4);
	assert_true(attr.max_message_size >= 1u << 30);
	assert_true(attr.max_recv_per_srq >= 65536);
	assert_true(attr.max_rmrs >= 1024);
	assert_int_equal(attr.max_rmr_target_address, UINT64_MAX);
	assert_int_equal(provider.dapl_version_major, 1);
	assert_int_equal(provider.dapl_version_minor, 2);
	assert_int_equal(provider.max_private_data_size, 56);
	assert_int_equal(provider.srq_supported, DAT_TRUE);
	assert_int_equal(provider.srq_info_supported, 0x11);
	assert_int_equal(provider.srq_watermarks_supported, 0x111);
	assert_int_equal(provider.ep_recv_info_supported, 0x11);
	assert_int_equal(provider.srq_ep_pz_difference_supported, DAT_TRUE);
	for (int i = 0; i < 36; i++)
		assert_int_equal(provider.evd_stream_merging_supported[i / 6][i % 6], DAT_TRUE);
	for (DAT_COUNT i = 0; i < attr.num_vendor_attr; i++)
		print_message("%s=%s\n", attr.vendor_attr[i].name, attr.vendor_attr[i].value);
	assert_string_equal(provider.provider_specific_attr[0].name, "DAT_IB_TRANSPORT_MTU");
	assert_true(strtoul(provider.provider_specific_attr[0].value, NULL, 10) >= 256);
	ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}

static void
dat_ia_query__arguments(void **state)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_PROVIDER_ATTR provider;
	DAT_IA_HANDLE ia;
	DAT_IA_ATTR attr;

	ok(dat_ia_open(loop0, 8, &async, &ia));
	ok(dat_ia_query(ia, NULL, 0, NULL, 0, NULL));
	want_error(dat_ia_query(async, NULL, 0, NULL, 0, NULL), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_IA);
	want_error(dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL + 1, &attr, 0, NULL),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	want_error(dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, NULL, 0, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG4);
	want_error(dat_ia_query(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL + 1, &provider),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	want_error(dat_ia_query(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, NULL),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	ok(dat_ia_close(ia, DAT_CLOSE_DEFAULT));
}

static void
dat_ia_close__graceful_wants_nothing_left(void **state)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;

	ok(dat_ia_open(loop0, 8, &async, &ia));
	want_error(dat_ia_close(ia, (DAT_CLOSE_FLAGS)7), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	ok(dat_pz_create(ia, &pz));
	want_error(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE,
			DAT_INVALID_STATE_IA_IN_USE);
	ok(dat_pz_free(pz));
	ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
	want_error(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_IA);
}

/* Connections up, buffers posted, completions not reaped, a request not answered: all of it goes. */
static void
dat_ia_close__abrupt_takes_everything(void **state)
{
	struct pair pair;

	for (int round = 0; round < 3; round++) {
		struct end_options with_srq = { .srq_depth = 8 };

		pair_open(&pair, NULL, &with_srq);
		pair_connect(&pair);
		for (unsigned int i = 0; i < 8; i++)
			ok(post_srq(&pair.b, i * 64, 64, i));
		ok(post_recv(&pair.a, 0, 64, 1));
		for (unsigned int i = 0; i < 4; i++)
			ok(post_send(&pair.a, 0, 64, i));
		want_dto(&pair.b, pair.b.recv, 0, DAT_DTO_SUCCESS, 64);
		end_close(&pair.a);
		/* The other end learns of it. */
		want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
		pair_close(&pair);
	}
}

static void *
wait_for_ever(void *evd)
{
	DAT_RETURN result;
	DAT_EVENT event;
	DAT_COUNT more;

	/* The other thread looks in now and then: while it does, it is the one waiter. */
	do {
		result = dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &more);
	} while (DAT_GET_TYPE(result) == DAT_INVALID_STATE);
	return (void *)(uintptr_t)result;
}

static void
dat_ia_close__wakes_waiters_with_abort(void **state)
{
	struct end end;
	DAT_COUNT more;
	DAT_EVENT event;
	pthread_t waiter;
	void *result;

	end_open(&end, "loop0", NULL);
	assert_int_equal(pthread_create(&waiter, NULL, wait_for_ever, end.recv), 0);
	/* One waiter at a time, so this answer means that it is in there. */
	while (DAT_GET_TYPE(dat_evd_wait(end.recv, 0, 1, &event, &more)) != DAT_INVALID_STATE)
		;
	want_error(dat_evd_dequeue(end.recv, &event), DAT_INVALID_STATE,
			DAT_INVALID_STATE_EVD_WAITER);
	want_error(dat_evd_free(end.recv), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE);
	end_close(&end);
	assert_int_equal(pthread_join(waiter, &result), 0);
	assert_int_equal(DAT_GET_TYPE((uintptr_t)result), DAT_ABORT);
}

/* Instances of one adapter share the device and nothing else; the asynchronous dispatcher may be shared. */
static void
dat_ia_open__several_instances(void **state)
{
	DAT_EVD_HANDLE first_async = DAT_HANDLE_NULL, async;
	DAT_IA_HANDLE first, second, third, other;
	DAT_EVD_HANDLE evd;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT key;
	DAT_PZ_HANDLE pz;
	char byte;

	ok(dat_ia_open(loop0, 8, &first_async, &first));
	async = DAT_EVD_ASYNC_EXISTS;
	ok(dat_ia_open(loop0, 8, &async, &second));
	assert_ptr_equal(async, DAT_EVD_OUT_OF_SCOPE);
	async = first_async;
	ok(dat_ia_open(loop0, 8, &async, &third));
	assert_ptr_equal(async, first_async);
	assert_ptr_not_equal(first, second);

	/* A dispatcher that is none of the kind, or of another device. */
	ok(dat_evd_create(first, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd));
	async = evd;
	want_error(dat_ia_open(loop0, 8, &async, &other), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EVD_ASYNC);
	async = first_async;
	want_error(dat_ia_open(loop1, 8, &async, &other), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_EVD_ASYNC);
	ok(dat_evd_free(evd));

	/* Objects of different instances do not mix. */
	ok(dat_pz_create(first, &pz));
	want_error(dat_lmr_create(second, DAT_MEM_TYPE_VIRTUAL,
				   (DAT_REGION_DESCRIPTION){ .for_va = &byte }, 1, pz,
				   DAT_MEM_PRIV_ALL_FLAG, &lmr, &key, NULL, NULL, NULL),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	ok(dat_pz_free(pz));

	/* While the third uses it, the first cannot go in peace. */
	want_type(dat_evd_free(first_async), DAT_INVALID_STATE);
	want_error(dat_ia_close(first, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE,
			DAT_INVALID_STATE_IA_IN_USE);
	ok(dat_ia_close(first, DAT_CLOSE_ABRUPT_FLAG));
	ok(dat_ia_query(third, &async, 0, NULL, 0, NULL));
	assert_ptr_equal(async, DAT_EVD_OUT_OF_SCOPE);
	ok(dat_ia_close(second, DAT_CLOSE_GRACEFUL_FLAG));
	ok(dat_ia_close(third, DAT_CLOSE_GRACEFUL_FLAG));
}

static void
dat_context__of_every_kind_of_handle(void **state)
{
	struct end_options with_srq = { .srq_depth = 4 };
	struct pair pair;

	pair_open(&pair, NULL, &with_srq);
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	{
		const struct {
			DAT_HANDLE handle;
			DAT_HANDLE_TYPE type;
		} rule[] = {
			{ pair.b.ia, DAT_HANDLE_TYPE_IA },
			{ pair.b.recv, DAT_HANDLE_TYPE_EVD },
			{ pair.b.pz, DAT_HANDLE_TYPE_PZ },
			{ pair.b.lmr, DAT_HANDLE_TYPE_LMR },
			{ pair.b.srq, DAT_HANDLE_TYPE_SRQ },
			{ pair.b.ep, DAT_HANDLE_TYPE_EP },
			{ pair.psp, DAT_HANDLE_TYPE_PSP },
			{ end_request(&pair.b), DAT_HANDLE_TYPE_CR },
		};
		DAT_HANDLE_TYPE type;
		DAT_CONTEXT context;

		for (unsigned int i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
			ok(dat_get_handle_type(rule[i].handle, &type));
			assert_int_equal(type, rule[i].type);
			ok(dat_get_consumer_context(rule[i].handle, &context));
			assert_int_equal(context.as_64, 0);
			context.as_64 = 0x1234567890abcdefull + i;
			ok(dat_set_consumer_context(rule[i].handle, context));
			context.as_64 = 0;
			ok(dat_get_consumer_context(rule[i].handle, &context));
			assert_int_equal(context.as_64, 0x1234567890abcdefull + i);
		}
		want_type(dat_get_handle_type(pair.b.ia, NULL), DAT_INVALID_PARAMETER);
		want_type(dat_get_consumer_context(pair.b.ia, NULL), DAT_INVALID_PARAMETER);
		want_type(dat_get_handle_type(NULL, &type), DAT_INVALID_HANDLE);
	}
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(dat_ia_open__leaves_the_environment_alone),
		dat_test(dat_ia_open__arguments),
		dat_test(dat_ia_open__judges_what_the_name_stands_for),
		dat_test(dat_ia_open__takes_each_of_40_neighbours),
		dat_test(dat_ia_query__attributes),
		dat_test(dat_ia_query__arguments),
		dat_test(dat_ia_close__graceful_wants_nothing_left),
		dat_test(dat_ia_close__abrupt_takes_everything),
		dat_test(dat_ia_close__wakes_waiters_with_abort),
		dat_test(dat_ia_open__several_instances),
		dat_test(dat_context__of_every_kind_of_handle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
