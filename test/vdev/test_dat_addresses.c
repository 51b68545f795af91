/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Several adapters on one port, each with the addresses of its line of dat.conf. The port hears what it says, so they talk
 * to each other, and each is found at its own address alone.
 */

#include <netinet/in.h>
#include <unistd.h>

#include "dat_pair.h"

/* The adapters of a pair, a third with both their addresses, and one of another network. */
#define PORT "port=net_ring0"
static const char *const lines[][2] = {
	{ "loop0", PORT " ip=192.0.2.1/24" },
	{ "loop1", PORT " ip=192.0.2.2/24" },
	{ "both", PORT " ip=192.0.2.2/24 ip=192.0.2.1/24" },
	{ "far", PORT " ip=198.51.100.1/24" },
	{ "prefix", PORT " ip=192.0.2.1/25" },
	{ "other", PORT " ip=192.0.2.3/24 mtu=1024" },
};

static char conf[] = "/tmp/dat_conf_XXXXXX";

static uint32_t
ipv4(const void *address)
{
	struct sockaddr_in in;

	memcpy(&in, address, sizeof(in));
	assert_int_equal(in.sin_family, AF_INET);
	return ntohl(in.sin_addr.s_addr);
}

/* One message from end to end. */
static void
send_one(struct end *from, struct end *to)
{
	memset(from->buffer, 0x5a, 5000);
	memset(to->buffer + 8192, 0, 5000);
	ok(post_recv(to, 8192, 8192, 1));
	ok(post_send(from, 0, 5000, 2));
	want_dto(to, to->recv, 1, DAT_DTO_SUCCESS, 5000);
	want_dto(from, from->request, 2, DAT_DTO_SUCCESS, 5000);
	assert_memory_equal(to->buffer + 8192, from->buffer, 5000);
}

static void
adapter__has_the_address_of_its_line(void **state)
{
	struct end one, two, both;

	end_open(&one, "loop0", NULL);
	end_open(&two, "loop1", NULL);
	end_open(&both, "both", NULL);
	assert_int_equal(ipv4(&one.address), 0xc0000201);
	assert_int_equal(ipv4(&two.address), 0xc0000202);
	assert_int_equal(ipv4(&both.address), 0xc0000202);
	/* The order of their going does not matter. */
	end_close(&one);
	end_close(&two);
	end_close(&both);
}

/* One number of a service, two listeners: each hears of what is for its address, and of whom it comes from. */
static void
psp__is_at_the_address_of_its_adapter(void **state)
{
	struct pair pair;
	DAT_PSP_HANDLE psp;
	DAT_CR_PARAM cr;
	DAT_CR_HANDLE request;

	pair_open(&pair, NULL, NULL);
	ok(dat_psp_create(pair.a.ia, CONN_QUAL, pair.a.cr, DAT_PSP_CONSUMER_FLAG, &psp));
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	request = end_request(&pair.b);
	ok(dat_cr_query(request, DAT_CR_FIELD_ALL, &cr));
	assert_int_equal(ipv4(cr.remote_ia_address_ptr), 0xc0000201);
	ok(dat_cr_accept(request, pair.b.ep, 0, NULL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_silence(pair.a.cr);
	send_one(&pair.a, &pair.b);
	send_one(&pair.b, &pair.a);
	pair_close(&pair);

	/* The other way round. */
	pair_open(&pair, NULL, NULL);
	ok(dat_psp_create(pair.a.ia, CONN_QUAL, pair.a.cr, DAT_PSP_CONSUMER_FLAG, &psp));
	ok(end_connect(&pair.b, &pair.a, CONN_QUAL));
	request = end_request(&pair.a);
	ok(dat_cr_query(request, DAT_CR_FIELD_ALL, &cr));
	assert_int_equal(ipv4(cr.remote_ia_address_ptr), 0xc0000202);
	ok(dat_cr_reject(request));
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
	want_silence(pair.b.cr);
	pair_close(&pair);
}

static void
psp__is_not_found_at_another_address(void **state)
{
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	/* Only b listens: nobody does at the address of a, and b finds itself at its own. */
	ok(end_connect(&pair.b, &pair.a, CONN_QUAL));
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
	want_silence(pair.b.cr);
	pair_close(&pair);

	pair_open(&pair, NULL, NULL);
	ok(end_connect(&pair.b, &pair.b, CONN_QUAL));
	ok(dat_cr_reject(end_request(&pair.b)));
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
	want_silence(pair.b.cr);
	pair_close(&pair);
}

static void
psp__is_in_the_way_of_another_at_the_same_address(void **state)
{
	struct pair pair;
	struct end both, again;
	DAT_PSP_HANDLE psp;

	pair_open(&pair, NULL, NULL);
	end_open(&both, "both", NULL);
	end_open(&again, "loop1", NULL);
	want_type(dat_psp_create(both.ia, CONN_QUAL, both.cr, DAT_PSP_CONSUMER_FLAG, &psp),
			DAT_CONN_QUAL_IN_USE);
	want_type(dat_psp_create(again.ia, CONN_QUAL, again.cr, DAT_PSP_CONSUMER_FLAG, &psp),
			DAT_CONN_QUAL_IN_USE);
	ok(dat_psp_free(pair.psp));
	ok(dat_psp_create(both.ia, CONN_QUAL, both.cr, DAT_PSP_CONSUMER_FLAG, &psp));
	want_type(dat_psp_create(pair.a.ia, CONN_QUAL, pair.a.cr, DAT_PSP_CONSUMER_FLAG, &psp),
			DAT_CONN_QUAL_IN_USE);
	end_close(&both);
	end_close(&again);
	pair_close(&pair);
}

/* An address is reached from its own subnet: from other subnets there is no route to it. */
static void
connect__begins_at_an_address_of_its_adapter(void **state)
{
	struct pair pair;
	struct end far;
	DAT_PSP_HANDLE psp;

	pair_open(&pair, NULL, NULL);
	end_open(&far, "far", NULL);
	ok(dat_psp_create(far.ia, CONN_QUAL, far.cr, DAT_PSP_CONSUMER_FLAG, &psp));
	ok(end_connect(&pair.a, &far, CONN_QUAL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_UNREACHABLE);
	ok(end_connect(&far, &pair.b, CONN_QUAL));
	want_event(far.connect, DAT_CONNECTION_EVENT_UNREACHABLE);
	want_silence(far.cr);
	want_silence(pair.b.cr);
	end_close(&far);
	pair_close(&pair);
}

/* Events of both go to the dispatcher of one: it is the same device for them. */
static void
async__dispatcher_may_be_that_of_a_neighbour(void **state)
{
	char name[] = "loop1";
	struct end one;
	DAT_IA_HANDLE two;

	end_open(&one, "loop0", NULL);
	ok(dat_ia_open(name, 0, &one.async, &two));
	ok(dat_ia_close(two, DAT_CLOSE_GRACEFUL_FLAG));
	end_close(&one);
}

/* Adapters of one port have all parameters but their addresses in common, and an address has one prefix. */
static void
open__wants_all_else_the_same(void **state)
{
	char prefix[] = "prefix", other[] = "other";
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;
	struct end one;

	end_open(&one, "loop0", NULL);
	want_error(dat_ia_open(prefix, 8, &async, &ia), DAT_INSUFFICIENT_RESOURCES,
			DAT_RESOURCE_DEVICE);
	want_error(dat_ia_open(other, 8, &async, &ia), DAT_INSUFFICIENT_RESOURCES,
			DAT_RESOURCE_DEVICE);
	end_close(&one);
	async = DAT_HANDLE_NULL;
	ok(dat_ia_open(other, 8, &async, &ia));
	ok(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
}

/* An adapter comes and goes many times beside another, whose connection does not notice. */
static void
adapter__comes_and_goes_beside_a_connection(void **state)
{
	struct pair pair;

	pair_up(&pair);
	for (int i = 0; i < 50; i++) {
		struct end far;

		end_open(&far, i % 2 == 0 ? "far" : "both", NULL);
		send_one(&pair.a, &pair.b);
		end_close(&far);
		send_one(&pair.b, &pair.a);
	}
	pair_close(&pair);
}

static int
start(void **state)
{
	FILE *file = fdopen(mkstemp(conf), "w");

	assert_non_null(file);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		fprintf(file, "%s u1.2 threadsafe default libdaplroce.so.1 udapl-roce.1.2 \"%s\" \"\"\n",
				lines[i][0], lines[i][1]);
	assert_int_equal(fclose(file), 0);
	return setenv("DAT_OVERRIDE", conf, 1);
}

static int
end(void **state)
{
	return unlink(conf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(adapter__has_the_address_of_its_line),
		dat_test(psp__is_at_the_address_of_its_adapter),
		dat_test(psp__is_not_found_at_another_address),
		dat_test(psp__is_in_the_way_of_another_at_the_same_address),
		dat_test(connect__begins_at_an_address_of_its_adapter),
		dat_test(async__dispatcher_may_be_that_of_a_neighbour),
		dat_test(open__wants_all_else_the_same),
		dat_test(adapter__comes_and_goes_beside_a_connection),
	};

	return cmocka_run_group_tests(tests, start, end);
}
