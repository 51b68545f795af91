/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The life of a device as a consumer of DAT sees it: links that go and come, ports that somebody stops, resets or takes
 * away, queues and pools that are full or empty. After each, every frame is home.
 */

#include <stdbool.h>

#include <rte_ring.h>

#include "dat_pair.h"
#include "port_events.h"

/* The ports behind loop0 and loop1. */
#define PORT0 "net_ring_loop0"
#define PORT1 "net_ring_loop1"

#define MESSAGES 16
#define LENGTH   20000u /**< of a message: five frames */

/* An adapter stands still between the calls of its consumer: so a port is lost before what was posted is sent. */
#define ALWAYS "progress=manual"

/* A peer that is silent is given up within milliseconds. */
static void
be_impatient(void)
{
	setenv("UDAPL_ROCE_PARAMS", ALWAYS " retry=1 timeout=8", 1);
}

static void
watch_both(struct port_watch *a, struct port_watch *b)
{
	port_watch(PORT0, 1, a);
	port_watch(PORT1, 1, b);
}

/* Close, and prove that nothing is left. */
static void
pair_end(struct pair *pair)
{
	pair_close(pair);
	setenv("UDAPL_ROCE_PARAMS", ALWAYS, 1);
	assert_int_equal(pools_left(), 0);
}

/* MESSAGES from a to b are posted, each into a place of its own; b's memory is clean. */
static void
begin_traffic(struct pair *pair)
{
	memset(pair->b.buffer, 0, BUFFER_LEN);
	for (unsigned int i = 0; i < MESSAGES; i++) {
		memset(pair->a.buffer + i * LENGTH, (int)i + 1, LENGTH);
		ok(post_recv(&pair->b, i * LENGTH, LENGTH, 100 + i));
		ok(post_send(&pair->a, i * LENGTH, LENGTH, i));
	}
}

/* Everything arrived, once, in order, and nobody heard of anything. */
static void
end_traffic(struct pair *pair, unsigned int from)
{
	for (unsigned int i = from; i < MESSAGES; i++)
		want_dto(&pair->b, pair->b.recv, 100 + i, DAT_DTO_SUCCESS, LENGTH);
	for (unsigned int i = 0; i < MESSAGES; i++)
		want_dto(&pair->a, pair->a.request, i, DAT_DTO_SUCCESS, LENGTH);
	assert_memory_equal(pair->a.buffer, pair->b.buffer, MESSAGES * LENGTH);
	want_silence(pair->b.recv);
	want_silence(pair->a.request);
	want_silence(pair->a.connect);
	want_silence(pair->b.connect);
	want_silence(pair->a.async);
	want_silence(pair->b.async);
	assert_int_equal(end_state(&pair->a), DAT_EP_STATE_CONNECTED);
	assert_int_equal(end_state(&pair->b), DAT_EP_STATE_CONNECTED);
}

/* The adapter says of itself that it is of no use any more. */
static void
want_catastrophe(const struct end *end)
{
	DAT_EVENT event = want_event(end->async, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
	const DAT_ASYNCH_ERROR_EVENT_DATA *data = &event.event_data.asynch_error_event_data;

	assert_ptr_equal(data->dat_handle, end->ia);
	assert_int_equal(data->reason, DAT_IA_CATASTROPHIC_ERROR);
	want_silence(end->async);
}

static void
link__lost_in_mid_traffic_and_back_loses_nothing(void **state)
{
	static struct port_watch a, b; /* read until the ports are closed, also when this fails */
	struct pair pair;

	(void)state;
	pair_up(&pair);
	watch_both(&a, &b);
	begin_traffic(&pair);
	want_dto(&pair.b, pair.b.recv, 100, DAT_DTO_SUCCESS, LENGTH);
	a.cut = b.cut = true;
	port_link(PORT0, false);
	port_link(PORT1, false);
	for (unsigned int i = 0; i < 3; i++)
		want_silence(pair.a.async);
	assert_true(a.lost + b.lost > 0);
	a.cut = b.cut = false;
	port_link(PORT0, true);
	port_link(PORT1, true);
	end_traffic(&pair, 1);
	pair_end(&pair);
}

static void
link__down_beyond_the_retries_breaks_the_endpoint_which_connects_again(void **state)
{
	static struct port_watch a, b; /* read until the ports are closed, also when this fails */
	struct pair pair;

	(void)state;
	be_impatient();
	pair_up(&pair);
	watch_both(&a, &b);
	a.cut = b.cut = true;
	port_link(PORT0, false);
	ok(post_recv(&pair.a, 0, 8, 1));
	ok(post_recv(&pair.b, 0, 8, 2));
	ok(post_send(&pair.a, 0, 8, 3));
	ok(post_send(&pair.a, 0, 8, 4));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_dto(&pair.a, pair.a.request, 3, DAT_DTO_ERR_TRANSPORT, 0);
	want_dto(&pair.a, pair.a.request, 4, DAT_DTO_ERR_FLUSHED, 0);
	want_dto(&pair.a, pair.a.recv, 1, DAT_DTO_ERR_FLUSHED, 0);
	want_silence(pair.b.connect);
	a.cut = b.cut = false;
	port_link(PORT0, true);
	/* The DREQ is repeated until it arrives. */
	want_event(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	want_dto(&pair.b, pair.b.recv, 2, DAT_DTO_ERR_FLUSHED, 0);
	ok(dat_ep_reset(pair.a.ep));
	ok(dat_ep_reset(pair.b.ep));
	pair_connect(&pair);
	begin_traffic(&pair);
	end_traffic(&pair, 0);
	pair_end(&pair);
}

static void
port__stopped_by_somebody_goes_on_when_it_is_started(void **state)
{
	struct pair pair;

	(void)state;
	pair_up(&pair);
	begin_traffic(&pair);
	ok(rte_eth_dev_stop(port_number(PORT0)));
	want_silence(pair.a.request);
	ok(rte_eth_dev_start(port_number(PORT0)));
	end_traffic(&pair, 0);
	ok(rte_eth_dev_stop(port_number(PORT1)));
	begin_traffic(&pair);
	want_silence(pair.b.recv);
	ok(rte_eth_dev_start(port_number(PORT1)));
	end_traffic(&pair, 0);
	pair_end(&pair);
}

/* The adapter of a, whose port is gone: posts are flushed, and no connection or second open succeeds. */
static void
want_orderly_ruin(struct pair *pair)
{
	DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	char name[] = "loop0";

	assert_int_equal(end_state(&pair->a), DAT_EP_STATE_DISCONNECTED);
	ok(post_send(&pair->a, 0, 8, 50));
	want_dto(&pair->a, pair->a.request, 50, DAT_DTO_ERR_FLUSHED, 0);
	ok(post_recv(&pair->a, 0, 8, 51));
	want_dto(&pair->a, pair->a.recv, 51, DAT_DTO_ERR_FLUSHED, 0);
	ok(dat_ep_reset(pair->a.ep));
	ok(end_connect(&pair->a, &pair->b, CONN_QUAL));
	want_event(pair->a.connect, DAT_CONNECTION_EVENT_UNREACHABLE);
	want_error(dat_ia_open(name, 8, &async, &ia), DAT_INSUFFICIENT_RESOURCES,
			DAT_RESOURCE_DEVICE);
	assert_null(ia);
	want_silence(pair->a.async);
}

/* The adapter of a is another; the peer, which knows nothing, breaks in time, and connects to that. */
static void
begin_anew_at_b(struct pair *pair)
{
	ok(post_send(&pair->b, 0, 8, 60));
	want_event(pair->b.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_dto(&pair->b, pair->b.request, 60, DAT_DTO_ERR_TRANSPORT, 0);
	for (unsigned int i = 0; i < MESSAGES; i++)
		want_dto(&pair->b, pair->b.recv, 100 + i, DAT_DTO_ERR_FLUSHED, 0);
	want_silence(pair->b.async);
	ok(dat_ep_reset(pair->b.ep));
	pair_connect(pair);
	begin_traffic(pair);
	end_traffic(pair, 0);
}

static void
lose_port(void (*lose)(const char *name))
{
	static struct port_watch watch;
	unsigned int bursts;
	struct pair pair;

	be_impatient();
	pair_up(&pair);
	port_watch(PORT0, 1, &watch);
	begin_traffic(&pair);
	ok(post_recv(&pair.a, 0, 8, 70));
	assert_true(watch.bursts == 0);
	lose(PORT0);
	bursts = watch.bursts;
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_catastrophe(&pair.a);
	for (unsigned int i = 0; i < MESSAGES; i++)
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_ERR_FLUSHED, 0);
	want_dto(&pair.a, pair.a.recv, 70, DAT_DTO_ERR_FLUSHED, 0);
	want_orderly_ruin(&pair);
	assert_int_equal(watch.bursts, bursts);
	/* The adapter is closed and opened afresh, its port with it. */
	end_close(&pair.a);
	end_open(&pair.a, "loop0", NULL);
	begin_anew_at_b(&pair);
	pair_end(&pair);
}

static void
say_removal(const char *name)
{
	port_say(name, RTE_ETH_EVENT_INTR_RMV);
}

static void
close_port(const char *name)
{
	uint16_t number = port_number(name);

	ok(rte_eth_dev_stop(number));
	ok(rte_eth_dev_close(number));
}

static void
removal__breaks_connections_and_the_adapter_says_it_is_lost(void **state)
{
	(void)state;
	lose_port(say_removal);
}

static void
port__closed_by_somebody_is_a_removal(void **state)
{
	(void)state;
	lose_port(close_port);
}

/* No thread has polled since the port went: the close itself finds the news, with everything still under way. */
static void
removal__before_a_close_is_no_news_to_anybody(void **state)
{
	struct pair pair;

	(void)state;
	be_impatient();
	pair_up(&pair);
	begin_traffic(&pair);
	say_removal(PORT0);
	say_removal(PORT1);
	pair_end(&pair);
}

/*
 * Two adapters on one port, the second with the asynchronous dispatcher of the first, which is closed when the port is
 * gone and nobody has said so yet. The second has nobody to tell, and lives on until it is closed.
 */
static void
removal__is_nothing_to_a_dispatcher_that_is_closed(void **state)
{
	DAT_EVD_HANDLE async, other = DAT_HANDLE_NULL;
	DAT_IA_HANDLE second, third = DAT_HANDLE_NULL;
	char name[] = "loop0";
	struct pair pair;

	(void)state;
	be_impatient();
	pair_up(&pair);
	async = pair.a.async;
	ok(dat_ia_open(name, 8, &async, &second));
	assert_ptr_equal(async, pair.a.async);
	begin_traffic(&pair);
	say_removal(PORT0);
	end_close(&pair.a);
	/* The name is free when the last is closed. */
	want_error(dat_ia_open(name, 8, &other, &third), DAT_INSUFFICIENT_RESOURCES,
			DAT_RESOURCE_DEVICE);
	ok(dat_ia_close(second, DAT_CLOSE_GRACEFUL_FLAG));
	end_open(&pair.a, name, NULL);
	begin_anew_at_b(&pair);
	pair_end(&pair);
}

/* A port that somebody stopped runs again behind it, so a reset does start it. */
static void
reset__is_survived_in_mid_traffic(void **state)
{
	struct pair pair;

	(void)state;
	pair_up(&pair);
	begin_traffic(&pair);
	want_dto(&pair.b, pair.b.recv, 100, DAT_DTO_SUCCESS, LENGTH);
	ok(rte_eth_dev_stop(port_number(PORT0)));
	port_say(PORT0, RTE_ETH_EVENT_INTR_RESET);
	end_traffic(&pair, 1);
	pair_end(&pair);
}

static void
fill_wire(struct rte_mempool *pool)
{
	struct rte_ring *ring = rte_ring_lookup("roce_loop1_0");
	struct rte_mbuf *m;

	assert_non_null(ring);
	while (rte_ring_free_count(ring) > 0) {
		m = rte_pktmbuf_alloc(pool);
		assert_non_null(m);
		assert_int_equal(rte_ring_enqueue(ring, m), 0);
	}
}

/* The ring is never emptied, so not one of our frames leaves. */
static void
queue__full_for_ever_breaks_the_endpoint(void **state)
{
	struct rte_mempool *pool;
	struct pair pair;

	(void)state;
	be_impatient();
	pair_up(&pair);
	pool = rte_pktmbuf_pool_create("filler", 511, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	assert_non_null(pool);
	ok(rte_eth_dev_stop(port_number(PORT1)));
	fill_wire(pool);
	begin_traffic(&pair);
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_dto(&pair.a, pair.a.request, 0, DAT_DTO_ERR_TRANSPORT, 0);
	for (unsigned int i = 1; i < MESSAGES; i++)
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_ERR_FLUSHED, 0);
	want_silence(pair.b.recv);
	pair_close(&pair);
	assert_true(rte_mempool_full(pool));
	rte_mempool_free(pool);
	pair_end(&pair);
}

/* A moment is outlived: what waited goes when there is room. */
static void
queue__full_for_a_while_delays(void **state)
{
	struct pair pair;

	(void)state;
	pair_up(&pair);
	ok(rte_eth_dev_stop(port_number(PORT1)));
	begin_traffic(&pair);
	want_silence(pair.a.request);
	assert_int_equal(rte_ring_count(rte_ring_lookup("roce_loop1_0")) > 0, 1);
	ok(rte_eth_dev_start(port_number(PORT1)));
	end_traffic(&pair, 0);
	pair_end(&pair);
}

/* The engine keeps some empty frames, and what comes home is taken from it again: it stands still in the end. */
static void
pool__exhausted_delays_until_frames_come_back(void **state)
{
	unsigned int arrived = 0;
	static struct port_watch watch;
	DAT_COUNT more;
	DAT_EVENT event;
	struct pair pair;

	(void)state;
	pair_up(&pair);
	port_watch(PORT0, 1, &watch);
	assert_true(hog_frames() > 0);
	watch.hog = true;
	begin_traffic(&pair);
	while (dat_evd_wait(pair.b.recv, QUIET_US, 1, &event, &more) == DAT_SUCCESS)
		arrived++;
	assert_true(arrived < MESSAGES);
	watch.hog = false;
	free_hogged();
	end_traffic(&pair, arrived);
	pair_end(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(link__lost_in_mid_traffic_and_back_loses_nothing),
		dat_test(link__down_beyond_the_retries_breaks_the_endpoint_which_connects_again),
		dat_test(port__stopped_by_somebody_goes_on_when_it_is_started),
		dat_test(removal__breaks_connections_and_the_adapter_says_it_is_lost),
		dat_test(port__closed_by_somebody_is_a_removal),
		dat_test(removal__before_a_close_is_no_news_to_anybody),
		dat_test(removal__is_nothing_to_a_dispatcher_that_is_closed),
		dat_test(reset__is_survived_in_mid_traffic),
		dat_test(queue__full_for_ever_breaks_the_endpoint),
		dat_test(queue__full_for_a_while_delays),
		dat_test(pool__exhausted_delays_until_frames_come_back),
	};

	setenv("UDAPL_ROCE_PARAMS", ALWAYS, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
