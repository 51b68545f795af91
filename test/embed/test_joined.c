/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One process: a program that attaches two devices and carries frames between them on a thread of its own, and DAT
 * through its registry and the provider that it loads, which joins them by name. Public calls only.
 */

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <rte_mbuf.h>

#include "dat_pair.h"
#include "embed.h"
#include "port_events.h"
#include "rings.h"

#define MESSAGES  200u
#define FRAMES    2047u
#define IMPATIENT " retry=1 timeout=8" /**< a silent peer is given up within milliseconds */

static struct roce_device *device[2];
static struct rte_mempool *pool;
static pthread_t carrier;
static atomic_bool stop;
static atomic_uint dropped; /**< of the frames carried, every so manieth is dropped; 0: none */
static char conf[] = "/tmp/roce-embed-XXXXXX";

static unsigned int
carry(struct roce_device *from, struct roce_device *to)
{
	static unsigned int count;
	struct rte_mbuf *pkts[32];
	uint16_t n = roce_device_tx(from, 0, pkts, 32), kept = 0;
	unsigned int nth = atomic_load(&dropped);

	for (uint16_t i = 0; i < n; i++) {
		if (nth != 0 && ++count % nth == 0)
			rte_pktmbuf_free(pkts[i]);
		else
			pkts[kept++] = pkts[i];
	}
	rte_pktmbuf_free_bulk(pkts, roce_device_rx(to, 0, pkts, kept));
	return n;
}

/* No thread of the EAL's. */
static void *
carry_frames(void *arg)
{
	while (!atomic_load(&stop)) {
		if (carry(device[0], device[1]) + carry(device[1], device[0]) == 0)
			usleep(20);
	}
	return NULL;
}

/* The devices have queues of their own. */
static void *
poll_queues(void *arg)
{
	while (!atomic_load(&stop)) {
		if (roce_device_work(device[0], 0, 32) + roce_device_work(device[1], 0, 32) == 0)
			usleep(20);
	}
	return NULL;
}

static void
attach_both(struct roce_attach_config one, struct roce_attach_config two)
{
	pool = embed_pool("frames", FRAMES, 2048);
	one.pool[0] = pool;
	two.pool[0] = pool;
	device[0] = embed_attach(&one);
	device[1] = embed_attach(&two);
	atomic_store(&stop, false);
	assert_int_equal(
			pthread_create(&carrier, NULL,
					one.mode == ROCE_ATTACH_QUEUES ? poll_queues : carry_frames,
					NULL),
			0);
}

static void
detach_both(struct rings *rings)
{
	atomic_store(&stop, true);
	assert_int_equal(pthread_join(carrier, NULL), 0);
	for (int i = 0; i < 2; i++)
		roce_device_close(device[i]);
	if (rings != NULL) {
		rings_stop(rings);
		rings_close(rings);
	}
	embed_pool_end(pool);
}

/* Write a dat.conf that gives the names of dat_pair.h these parameters. */
static void
write_conf(const char *first, const char *second)
{
	static const char *const rest = "u1.2 threadsafe default libdaplroce.so.1 udapl-roce.1.2";
	FILE *file = fopen(conf, "w");

	assert_non_null(file);
	fprintf(file, "loop0 %s \"%s\" \"\"\nloop1 %s \"%s\" \"\"\n", rest, first, rest, second);
	assert_int_equal(fclose(file), 0);
}

static void
exchange(struct pair *pair)
{
	for (uint64_t i = 0; i < MESSAGES; i++) {
		DAT_VLEN length = i * 37 % 4000;

		memset(pair->a.buffer, (int)i, length);
		ok(post_recv(&pair->b, 8192, 4096, i));
		ok(post_send(&pair->a, 0, length, i));
		want_dto(&pair->b, pair->b.recv, i, DAT_DTO_SUCCESS, length);
		want_dto(&pair->a, pair->a.request, i, DAT_DTO_SUCCESS, length);
		assert_memory_equal(pair->b.buffer + 8192, pair->a.buffer, length);
	}
}

/* Both adapters are open on the devices of a program that carries their frames, and connected. */
static void
up_on_hands(struct pair *pair)
{
	write_conf("port=hands1", "port=hands2");
	attach_both(embed_handover(1), embed_handover(2));
	pair_up(pair);
}

static void
down(struct pair *pair)
{
	pair_close(pair);
	detach_both(NULL);
}

/* b says yes: the connection works until it is closed. */
static void
accept_and_end(struct pair *pair, DAT_CR_HANDLE request)
{
	ok(dat_cr_accept(request, pair->b.ep, 0, NULL));
	want_event(pair->a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(pair->b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	exchange(pair);
	down(pair);
}

static void
dat__talks_over_frames_that_the_program_carries(void **state)
{
	struct pair pair;

	up_on_hands(&pair);
	exchange(&pair);
	down(&pair);
}

/* An adapter that names one of the program's addresses is there, and comes from there. */
static void
dat__has_the_address_that_its_line_names(void **state)
{
	struct roce_attach_config one = embed_handover(1), two = embed_handover(2);
	struct sockaddr_in from;
	struct pair pair;
	DAT_CR_PARAM cr;
	DAT_CR_HANDLE request;

	one.params = "ip=192.0.2.1/24 ip=192.0.2.3/24";
	write_conf("port=hands1 ip=192.0.2.3/24", "port=hands2");
	attach_both(one, two);
	pair_open(&pair, NULL, NULL);
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	request = end_request(&pair.b);
	ok(dat_cr_query(request, DAT_CR_FIELD_ALL, &cr));
	memcpy(&from, cr.remote_ia_address_ptr, sizeof(from));
	assert_int_equal(ntohl(from.sin_addr.s_addr), 0xc0000203);
	accept_and_end(&pair, request);
}

static void
dat__survives_what_the_program_drops(void **state)
{
	struct pair pair;

	up_on_hands(&pair);
	atomic_store(&dropped, 10);
	exchange(&pair);
	atomic_store(&dropped, 0);
	down(&pair);
}

static void
open__joins_by_name_with_as_many_keys_as_it_likes(void **state)
{
	static const char *const same[] = { "port=hands1",
		"port=hands1 ip=192.0.2.1/24 ip=2001:db8::1/64", "port=hands1 mtu=1024 queues=2",
		"port=hands1 dscp=3" };
	static const struct {
		const char *params, *word;
	} other[] = {
		{ "port=hands1 mtu=512", "another mtu=" },
		{ "port=hands1 ip=192.0.2.3/24", "another ip=" },
		{ "port=hands1 ip=192.0.2.1/25", "another ip=" },
		{ "port=hands1 ip=192.0.2.1/24 ip=192.0.2.3/24", "another ip=" },
		{ "port=hands1 ip=192.0.2.1/24 mtu=512", "another mtu=" },
		{ "port=hands1 queues=1", "another queues=" },
		{ "port=hands1 lcores=1", "another lcores=" },
		{ "port=hands1 loss=5", "another loss=" },
	};
	struct roce_attach_config config = embed_handover(1);
	struct roce_device *joined = NULL, *first;
	struct roce_device_attr attr;
	char errmsg[256];

	config.params = "ip=192.0.2.1/24 ip=2001:db8::1/64 mtu=1024 dscp=3";
	config.engines = 2;
	first = embed_attach(&config);
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		assert_int_equal(roce_device_open(same[i], &joined, errmsg, sizeof(errmsg)), 0);
		assert_ptr_equal(joined, first);
		roce_device_close(joined);
	}
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		int rc = roce_device_open(other[i].params, &joined, errmsg, sizeof(errmsg));

		if (rc != -EBUSY || strstr(errmsg, other[i].word) == NULL)
			fail_msg("%s: %d %s", other[i].params, rc, errmsg);
	}
	/* Some of its addresses make a device of their own, on the same port. */
	assert_int_equal(roce_device_open("port=hands1 ip=2001:db8::1/64", &joined, errmsg,
					 sizeof(errmsg)),
			0);
	assert_ptr_not_equal(joined, first);
	roce_device_query(joined, &attr);
	assert_string_equal(attr.port, "hands1");
	assert_int_equal(attr.ip[0], 0x20);
	assert_int_equal(attr.engines, 2);
	roce_device_close(joined);
	/* Attaching is no way to join. */
	embed_refused(&config, -EBUSY, "hands1");
	/* The device lives until its last user closes it. */
	assert_int_equal(roce_device_open("port=hands1", &joined, errmsg, sizeof(errmsg)), 0);
	roce_device_close(first);
	roce_device_query(joined, &attr);
	assert_string_equal(attr.port, "hands1");
	roce_device_close(joined);
	assert_int_equal(roce_device_open("port=hands1", &joined, errmsg, sizeof(errmsg)), -EINVAL);
	assert_non_null(strstr(errmsg, "ip= is missing"));
}

static void
dat__joins_only_what_it_agrees_with(void **state)
{
	const struct roce_attach_config config = embed_handover(1);
	struct roce_device *first = embed_attach(&config);
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	char loop0[] = "loop0", loop1[] = "loop1";
	DAT_IA_HANDLE ia;

	write_conf("port=hands1 mtu=256", "port=hands2 ip=192.0.2.2/24");
	want_error(dat_ia_open(loop0, 8, &async, &ia), DAT_INSUFFICIENT_RESOURCES,
			DAT_RESOURCE_DEVICE);
	/* The other port is not attached: all keys are there, but no such port. */
	want_error(dat_ia_open(loop1, 8, &async, &ia), DAT_INSUFFICIENT_RESOURCES,
			DAT_RESOURCE_DEVICE);
	write_conf("port=hands1 ip=192.0.2.1/24 ip=2001:db8::1/64", "port=hands2");
	ok(dat_ia_open(loop0, 8, &async, &ia));
	ok(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
	/* Nor are there all keys. */
	async = DAT_HANDLE_NULL;
	want_error(dat_ia_open(loop1, 8, &async, &ia), DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
	roce_device_close(first);
}

/* ---- the program resolves ---- */

static atomic_uint asked;
static atomic_bool known;

static int
look_up(void *arg, const uint8_t ip[16], uint8_t mac[6])
{
	atomic_fetch_add(&asked, 1);
	embed_mac(mac, ip[15]);
	return atomic_load(&known) ? 0 : -EAGAIN;
}

static void
dat__connects_when_the_program_knows_its_neighbour(void **state)
{
	struct roce_attach_config one = embed_handover(1), two = embed_handover(2);
	struct pair pair;

	one.resolve = look_up;
	two.resolve = look_up;
	atomic_store(&known, false);
	write_conf("port=hands1", "port=hands2");
	attach_both(one, two);
	pair_open(&pair, NULL, NULL);
	ok(end_connect(&pair.a, &pair.b, CONN_QUAL));
	while (atomic_load(&asked) == 0)
		usleep(100);
	want_silence(pair.b.cr);
	atomic_store(&known, true);
	roce_device_neighbour_changed(device[0]);
	roce_device_neighbour_changed(device[1]);
	accept_and_end(&pair, end_request(&pair.b));
}

/* ---- what befalls the program's port ---- */

/* A link is nothing to DAT; that the port is gone is. */
static void
dat__hears_that_the_programs_port_is_gone(void **state)
{
	struct roce_attach_config one = embed_handover(1), two = embed_handover(2);
	struct rings rings;
	struct pair pair;
	DAT_EVENT event;

	one.params = "ip=192.0.2.1/24" IMPATIENT;
	two.params = "ip=192.0.2.2/24" IMPATIENT;
	one.mode = two.mode = ROCE_ATTACH_QUEUES;
	rings_open(&rings, true);
	one.port_id = rings.port[0];
	two.port_id = rings.port[1];
	write_conf("port=hands1", "port=hands2");
	attach_both(one, two);
	pair_up(&pair);
	exchange(&pair);
	port_link(RINGS_NAME "0", false);
	want_silence(pair.a.async);
	port_link(RINGS_NAME "0", true);
	ok(post_recv(&pair.a, 0, 64, 1));
	port_say(RINGS_NAME "0", RTE_ETH_EVENT_INTR_RMV);
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	event = want_event(pair.a.async, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
	assert_ptr_equal(event.event_data.asynch_error_event_data.dat_handle, pair.a.ia);
	want_dto(&pair.a, pair.a.recv, 1, DAT_DTO_ERR_FLUSHED, 0);
	assert_int_equal(end_state(&pair.a), DAT_EP_STATE_DISCONNECTED);
	/* The peer finds out. */
	ok(post_send(&pair.b, 0, 64, 2));
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_dto(&pair.b, pair.b.request, 2, DAT_DTO_ERR_TRANSPORT, 0);
	want_silence(pair.b.async);
	pair_close(&pair);
	detach_both(&rings);
}

static void
dat__breaks_when_nothing_is_carried_for_long_and_connects_again(void **state)
{
	struct roce_attach_config one = embed_handover(1), two = embed_handover(2);
	struct pair pair;

	one.params = "ip=192.0.2.1/24" IMPATIENT;
	two.params = "ip=192.0.2.2/24" IMPATIENT;
	write_conf("port=hands1", "port=hands2");
	attach_both(one, two);
	pair_up(&pair);
	ok(post_recv(&pair.b, 0, 64, 1));
	atomic_store(&dropped, 1);
	ok(post_send(&pair.a, 0, 64, 2));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_dto(&pair.a, pair.a.request, 2, DAT_DTO_ERR_TRANSPORT, 0);
	want_silence(pair.a.async);
	atomic_store(&dropped, 0);
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_dto(&pair.b, pair.b.recv, 1, DAT_DTO_ERR_FLUSHED, 0);
	ok(dat_ep_reset(pair.a.ep));
	ok(dat_ep_reset(pair.b.ep));
	pair_connect(&pair);
	exchange(&pair);
	down(&pair);
}

/* The program has all frames of its pool itself: what cannot be built is built later. */
static void
dat__waits_for_frames_that_the_program_has(void **state)
{
	static struct rte_mbuf *had[FRAMES + 1];
	unsigned int n = 0, arrived = 0;
	struct pair pair;
	DAT_EVENT event;
	DAT_COUNT more;

	up_on_hands(&pair);
	while ((had[n] = rte_pktmbuf_alloc(pool)) != NULL)
		n++;
	for (uint64_t i = 0; i < EVD_LEN / 2; i++) {
		ok(post_recv(&pair.b, i * 8192, 8192, i));
		ok(post_send(&pair.a, i * 8192, 8192, i));
	}
	while (dat_evd_wait(pair.b.recv, QUIET_US, 1, &event, &more) == DAT_SUCCESS)
		arrived++;
	assert_true(arrived < EVD_LEN / 2);
	want_silence(pair.a.connect);
	rte_pktmbuf_free_bulk(had, n);
	for (uint64_t i = 0; i < EVD_LEN / 2; i++)
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, 8192);
	for (uint64_t i = arrived; i < EVD_LEN / 2; i++)
		want_dto(&pair.b, pair.b.recv, i, DAT_DTO_SUCCESS, 8192);
	down(&pair);
}

static int
start(void **state)
{
	int fd = mkstemp(conf);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(setenv("DAT_OVERRIDE", conf, 1), 0);
	embed_start(state);
	return 0;
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
		cmocka_unit_test(dat__talks_over_frames_that_the_program_carries),
		cmocka_unit_test(dat__has_the_address_that_its_line_names),
		cmocka_unit_test(dat__survives_what_the_program_drops),
		cmocka_unit_test(open__joins_by_name_with_as_many_keys_as_it_likes),
		cmocka_unit_test(dat__joins_only_what_it_agrees_with),
		cmocka_unit_test(dat__connects_when_the_program_knows_its_neighbour),
		cmocka_unit_test(dat__hears_that_the_programs_port_is_gone),
		cmocka_unit_test(dat__breaks_when_nothing_is_carried_for_long_and_connects_again),
		cmocka_unit_test(dat__waits_for_frames_that_the_program_has),
	};

	return cmocka_run_group_tests(tests, start, end);
}
