/* SPDX-License-Identifier: BSD-3-Clause */

/* Devices whose frames a program injects: what is ours is taken, what is not comes back, and nothing is lost in between. */

#include <errno.h>

#include <rte_cycles.h>

#include "device/port_neigh.h"
#include "device/user.h"
#include "../limit.h"
#include "node.h"
#include "queue/stats.h"

#define MESSAGES 16u

/* A way between two devices: how it treats what it carries. */
struct way {
	uint16_t max;      /**< frames fetched at once */
	uint32_t loss;     /**< of a hundred */
	bool mixed;        /**< foreign frames in between */
	bool wrong_engine; /**< each frame reaches another engine than it was meant for */
	uint32_t foreign;  /**< so many came back */
};

static bool
is_arp(const struct rte_mbuf *m)
{
	const uint8_t *at = rte_pktmbuf_mtod(m, const uint8_t *);

	return at[12] == 0x08 && at[13] == 0x06;
}

/* The frames of a burst, among foreign ones. @return how many there are now. */
static uint16_t
mix(struct rte_mbuf **out, struct rte_mbuf **pkts, uint16_t n, struct embed_shadow *shadow,
		uint16_t *foreign)
{
	static uint32_t serial;
	uint16_t all = 0;

	*foreign = 0;
	for (uint16_t i = 0; i <= n; i++) {
		/* The other device answers a question: for the program it is as good as a foreign frame. */
		if (i < n && is_arp(pkts[i]))
			embed_remember(&shadow[(*foreign)++], pkts[i]);
		if (i < n)
			out[all++] = pkts[i];
		for (uint32_t more = embed_dice(3); more > 0; more--) {
			out[all] = embed_frame(embed_foreign, embed_dice(EMBED_KINDS), serial++);
			embed_remember(&shadow[(*foreign)++], out[all++]);
		}
	}
	return all;
}

/* Hand a burst over: what comes back is what was foreign, in order and untouched. */
static void
deliver(struct node *to, unsigned int engine, struct rte_mbuf **pkts, uint16_t n, struct way *way)
{
	struct embed_shadow shadow[3 * EMBED_BURST];
	struct rte_mbuf *burst[4 * EMBED_BURST];
	uint16_t foreign = 0, left;

	if (way->mixed)
		n = mix(burst, pkts, n, shadow, &foreign);
	for (uint16_t i = 0; i < n && !way->mixed; i++)
		burst[i] = pkts[i];
	left = roce_device_rx(to->device, engine, burst, n);
	if (!way->mixed) {
		/* Words among neighbours of the devices themselves. */
		rte_pktmbuf_free_bulk(burst, left);
		return;
	}
	assert_int_equal(left, foreign);
	for (uint16_t i = 0; i < left; i++)
		embed_compare(&shadow[i], burst[i]);
	rte_pktmbuf_free_bulk(burst, left);
	way->foreign += left;
}

/* Carry one burst of one engine. @return frames. */
static uint16_t
carry(struct node *from, struct node *to, unsigned int engine, struct way *way)
{
	struct rte_mbuf *pkts[EMBED_BURST];
	uint16_t n = roce_device_tx(from->device, engine, pkts, way->max), kept = 0;

	assert_true(n <= way->max);
	for (uint16_t i = 0; i < n; i++) {
		if (embed_dice(100) < way->loss)
			rte_pktmbuf_free(pkts[i]);
		else
			pkts[kept++] = pkts[i];
	}
	deliver(to, (engine + way->wrong_engine) % to->port->queues, pkts, kept, way);
	return n;
}

static unsigned int
shovel(struct node *a, struct node *b, struct way *way)
{
	unsigned int moved = 0;

	for (unsigned int e = 0; e < a->port->queues; e++)
		moved += carry(a, b, e, way) + carry(b, a, e, way);
	return moved;
}

/* Messages both ways until all are there. */
static void
talk(struct node *a, struct node *b, struct way *way)
{
	const uint32_t all = 4 * NODE_QPS * MESSAGES;
	uint64_t end = rte_get_tsc_cycles() + test_limit_s() * rte_get_tsc_hz();
	uint32_t done = 0;

	nodes_post(a, b, MESSAGES);
	while (done < all / 2 && rte_get_tsc_cycles() < end) {
		shovel(a, b, way);
		done = nodes_reap(a, b, done);
	}
	nodes_judge(a, b, MESSAGES);
	nodes_post(b, a, MESSAGES);
	while (done < all && rte_get_tsc_cycles() < end) {
		shovel(a, b, way);
		done = nodes_reap(b, a, done);
	}
	assert_int_equal(done, all);
	nodes_judge(b, a, MESSAGES);
}

static void
pair_open(struct node *a, struct node *b, struct rte_mempool *pool, unsigned int engines,
		const char *more)
{
	char params[2][256];
	struct roce_attach_config one = embed_handover(1), two = embed_handover(2);

	one.engines = engines;
	two.engines = engines;
	snprintf(params[0], sizeof(params[0]), "%s %s", one.params, more);
	snprintf(params[1], sizeof(params[1]), "%s %s", two.params, more);
	one.params = params[0];
	two.params = params[1];
	for (unsigned int e = 0; e < engines; e++) {
		one.pool[e] = pool;
		two.pool[e] = pool;
	}
	nodes_open(a, b, &one, &two);
}

static void
pair_close(struct node *a, struct node *b, struct rte_mempool *pool)
{
	nodes_close(a, b);
	embed_pool_end(pool);
}

static void
query__tells_what_was_attached(void **state)
{
	const struct roce_attach_config config = embed_handover(1);
	struct roce_device *device = embed_attach(&config);
	struct roce_device_attr attr;

	roce_device_query(device, &attr);
	assert_string_equal(attr.port, "hands1");
	assert_string_equal(attr.driver, "handover");
	assert_memory_equal(attr.mac, config.mac, sizeof(attr.mac));
	assert_int_equal(attr.mtu, 1024);
	assert_int_equal(attr.engines, 1);
	/* The program polls it. */
	assert_true(attr.serviced);
	assert_int_equal(roce_device_poll_engine(device, 0), 0);
	assert_int_equal(roce_device_poll(device), 0);
	roce_device_close(device);
}

static void
rx__leaves_what_is_foreign_in_order_and_untouched(void **state)
{
	struct rte_mempool *pool = embed_pool("frames", 1023, 2048);
	struct way way = { .max = 32, .mixed = true };
	struct node a, b;

	pair_open(&a, &b, pool, 1, "");
	talk(&a, &b, &way);
	assert_true(way.foreign > 100);
	assert_int_equal(way.foreign,
			embed_counter(a.device, "port_rx_foreign") +
					embed_counter(a.device, "port_rx_neighbour") +
					embed_counter(b.device, "port_rx_foreign") +
					embed_counter(b.device, "port_rx_neighbour"));
	assert_true(embed_counter(b.device, "port_rx_neighbour") > 0);
	/* Of an engine that does not exist nothing is ours. */
	assert_int_equal(roce_device_rx(a.device, 1, NULL, 5), 5);
	assert_int_equal(roce_device_tx(a.device, 1, NULL, 5), 0);
	pair_close(&a, &b, pool);
}

static void
rx__answers_questions_that_stay_the_programs(void **state)
{
	const struct roce_attach_config config = embed_handover(2);
	struct rte_mbuf *question = embed_frame(embed_foreign, EMBED_ARP_OURS, 1), *answer = NULL;
	struct roce_device *device = embed_attach(&config);
	struct embed_shadow shadow;
	const uint8_t *at;

	embed_remember(&shadow, question);
	assert_int_equal(roce_device_rx(device, 0, &question, 1), 1);
	embed_compare(&shadow, question);
	rte_pktmbuf_free(question);
	assert_int_equal(roce_device_deadline(device), 0);
	assert_int_equal(roce_device_tx(device, 0, &answer, 1), 1);
	at = rte_pktmbuf_mtod(answer, const uint8_t *);
	assert_memory_equal(at, shadow.bytes + 6, 6);
	assert_memory_equal(at + 6, config.mac, sizeof(config.mac));
	assert_int_equal(at[12] << 8 | at[13], 0x0806);
	rte_pktmbuf_free(answer);
	roce_device_close(device);
}

static void
tx__yields_as_many_as_are_wanted(void **state)
{
	static const uint16_t sizes[] = { 1, 2, 15, 16, 32, 64 };
	struct rte_mempool *pool = embed_pool("frames", 1023, 2048);

	for (size_t i = 0; i < RTE_DIM(sizes); i++) {
		struct way way = { .max = sizes[i] };
		struct node a, b;

		pair_open(&a, &b, pool, 1, "");
		talk(&a, &b, &way);
		assert_int_equal(embed_counter(a.device, "port_tx_frames"),
				embed_counter(b.device, "port_rx_frames"));
		nodes_close(&a, &b);
		assert_int_equal(rte_mempool_in_use_count(pool), 0);
	}
	embed_pool_end(pool);
}

static void
tx__may_be_dropped_by_the_program(void **state)
{
	struct rte_mempool *pool = embed_pool("frames", 1023, 2048);
	struct way way = { .max = 8, .loss = 10 };
	struct node a, b;

	pair_open(&a, &b, pool, 1, "");
	talk(&a, &b, &way);
	assert_true(embed_counter(a.device, "retransmits") > 0);
	pair_close(&a, &b, pool);
}

/* Made on purpose by the device itself: a burst of one frame has no room for a second copy. */
static void
tx__has_the_faults_that_were_asked_for(void **state)
{
	struct rte_mempool *pool = embed_pool("frames", 1023, 2048);
	struct way way = { .max = 1 };
	struct node a, b;

	pair_open(&a, &b, pool, 1, "duplicate=100000 reorder=100000 loss=50000 seed=1");
	talk(&a, &b, &way);
	assert_true(embed_counter(a.device, "port_injected_duplicates") > 0);
	assert_true(embed_counter(a.device, "port_injected_losses") > 0);
	pair_close(&a, &b, pool);
}

static void
tx__yields_each_frame_once_and_frees_what_nobody_fetched(void **state)
{
	struct rte_mempool *pool = embed_pool("frames", 1023, 2048);
	struct rte_mbuf *pkts[20];
	struct node a, b;

	pair_open(&a, &b, pool, 1, "");
	nodes_post(&a, &b, MESSAGES);
	for (size_t i = 0; i < RTE_DIM(pkts); i++) {
		assert_int_equal(roce_device_tx(a.device, 0, &pkts[i], 1), 1);
		for (size_t j = 0; j < i; j++)
			assert_ptr_not_equal(pkts[i], pkts[j]);
	}
	assert_true(a.port->queue[0].held_n > 0);
	assert_int_equal(roce_device_deadline(a.device), 0);
	rte_pktmbuf_free_bulk(pkts, RTE_DIM(pkts));
	pair_close(&a, &b, pool);
}

/* A pool with fewer frames than one message has packets. */
static void
pool__that_is_empty_delays_frames_and_loses_none(void **state)
{
	struct rte_mempool *pool = embed_pool("frames", 7, 2048);
	struct rte_mbuf *taken[7];
	struct way way = { .max = 32 };
	struct node a, b;

	pair_open(&a, &b, pool, 1, "");
	talk(&a, &b, &way);
	assert_true(embed_counter(a.device, "tx_no_mbuf") > 0);
	nodes_close(&a, &b);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);

	/* The program takes all of them: nothing goes, nothing breaks; it gives them back, and all goes. */
	pair_open(&a, &b, pool, 1, "");
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, taken, 7), 0);
	nodes_post(&a, &b, 1);
	for (int i = 0; i < 100; i++)
		assert_int_equal(shovel(&a, &b, &way), 0);
	assert_int_equal(roce_device_deadline(a.device), 0);
	rte_pktmbuf_free_bulk(taken, 7);
	for (uint32_t done = 0; done < 2 * NODE_QPS; done = nodes_reap(&a, &b, done))
		shovel(&a, &b, &way);
	nodes_judge(&a, &b, 1);
	pair_close(&a, &b, pool);
}

static void
pool__is_made_where_none_is_given(void **state)
{
	struct rte_mempool *pool = embed_pool("frames", 1023, 2048);
	struct roce_attach_config one = embed_handover(1), two = embed_handover(2);
	struct way way = { .max = 32 };
	struct node a, b;

	one.engines = 2;
	one.pool[1] = pool;
	two.engines = 2;
	node_open(&a, &one);
	node_open(&b, &two);
	assert_ptr_not_equal(a.port->tx_pool[0], pool);
	assert_ptr_equal(a.port->tx_pool[1], pool);
	nodes_connect(&a, &b);
	talk(&a, &b, &way);
	pair_close(&a, &b, pool);
}

static void
rx__forwards_what_is_another_engines(void **state)
{
	struct rte_mempool *pool = embed_pool("frames", 2047, 2048);
	struct way way = { .max = 32, .wrong_engine = true, .mixed = true };
	struct node a, b;

	/* Both give their queue pairs to the same engines. */
	pair_open(&a, &b, pool, 2, "qpn=16");
	talk(&a, &b, &way);
	assert_true(embed_counter(b.device, "rx_handed_over") >= (uint64_t)NODE_QPS * MESSAGES);
	pair_close(&a, &b, pool);
}

/* ---- the program knows who has an address ---- */

struct book {
	unsigned int asked;
	int answer;
	uint8_t ip[16];
};

static int
look_up(void *arg, const uint8_t ip[16], uint8_t mac[6])
{
	struct book *book = arg;

	book->asked++;
	memcpy(book->ip, ip, sizeof(book->ip));
	embed_mac(mac, 42);
	return book->answer;
}

static int
resolve(struct roce_device *device, const struct roce_ip *dst, struct roce_path *path)
{
	struct roce_engine *engine = device->port->queue[0].engine;
	int rc;

	roce_engine_lock(engine);
	rc = roce_port_resolve(device->port, NULL, dst, path, roce_device_now(device));
	roce_engine_unlock(engine);
	return rc;
}

static void
resolve__asks_the_program_for_the_first_hop(void **state)
{
	static const struct {
		const char *rule;
		struct roce_ip dst, via, src;
		int answer, want;
	} rule[] = {
		{ "near", { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000207) } },
				{ .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000207) } },
				{ .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000201) } }, 0, 0 },
		{ "near the second address", { .w = { RTE_BE32(0x20010db8), 0, 0, RTE_BE32(7) } },
				{ .w = { RTE_BE32(0x20010db8), 0, 0, RTE_BE32(7) } },
				{ .w = { RTE_BE32(0x20010db8), 0, 0, RTE_BE32(1) } }, 0, 0 },
		{ "far", { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc6336401) } },
				{ .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000209) } },
				{ .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000201) } }, 0, 0 },
		{ "not known yet", { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000207) } },
				{ .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000207) } },
				{ .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000201) } }, -EAGAIN,
				-EAGAIN },
		{ "nobody", { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000207) } },
				{ .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000207) } },
				{ .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000201) } }, -EPERM,
				-EHOSTUNREACH },
	};
	static const struct roce_ip own = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000201) } };
	static const struct roce_ip other = { .w = { RTE_BE32(0x20010db9), 0, 0, RTE_BE32(7) } };
	struct roce_attach_config config = embed_handover(1);
	struct book book = { 0 };
	struct roce_device *device;
	struct roce_path path;

	config.params = "ip=192.0.2.1/24 ip=2001:db8::1/64 gw=192.0.2.9 vlan=7";
	config.resolve = look_up;
	config.arg = &book;
	device = embed_attach(&config);
	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		book.answer = rule[i].answer;
		assert_int_equal(resolve(device, &rule[i].dst, &path), rule[i].want);
		assert_memory_equal(book.ip, rule[i].via.b, sizeof(book.ip));
		assert_memory_equal(&path.src_ip, &rule[i].src, sizeof(path.src_ip));
		assert_memory_equal(&path.dst_ip, &rule[i].dst, sizeof(path.dst_ip));
		assert_int_equal(path.vlan_tci, 7);
		if (rule[i].want == 0)
			assert_int_equal(path.dst_mac.addr_bytes[5], 42);
	}
	assert_int_equal(book.asked, RTE_DIM(rule));
	/* No switch of the program's has to send a frame back: both ends are the device. */
	assert_int_equal(resolve(device, &own, &path), 0);
	assert_memory_equal(&path.src_ip, &own, sizeof(path.src_ip));
	assert_int_equal(resolve(device, &other, &path), -ENETUNREACH);
	assert_int_equal(book.asked, RTE_DIM(rule));
	roce_device_close(device);
}

static int
hear_path(void *arg, const struct roce_cm_event *event)
{
	*(int *)arg = event->kind;
	return 0;
}

static void
neighbour_changed__has_the_program_asked_again(void **state)
{
	static const struct roce_ip dst = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000207) } };
	struct roce_attach_config config = embed_handover(1);
	struct book book = { .answer = -EAGAIN };
	int heard = 0, owner;
	struct roce_device_user user = { .cm_notify = hear_path, .arg = &heard };
	struct roce_cm_conn *conn;
	struct roce_device *device;
	struct roce_engine *engine;
	struct rte_mbuf *none[16];

	config.resolve = look_up;
	config.arg = &book;
	device = embed_attach(&config);
	engine = device->port->queue[0].engine;
	roce_device_join(device, &user);
	roce_engine_lock(engine);
	assert_int_equal(roce_cm_find_path(roce_device_cm(device), &user.context, &dst, &owner,
					 roce_device_now(device), &conn),
			0);
	roce_engine_unlock(engine);
	while (book.asked == 0)
		assert_int_equal(roce_device_tx(device, 0, none, 16), 0);
	assert_int_equal(heard, 0);
	assert_true(roce_device_deadline(device) > 0);

	book.answer = 0;
	roce_device_neighbour_changed(device);
	assert_int_equal(roce_device_deadline(device), 0);
	assert_int_equal(roce_device_tx(device, 0, none, 16), 0);
	assert_int_equal(heard, ROCE_CM_PATH);
	assert_true(roce_device_deadline(device) > 0);
	roce_engine_lock(engine);
	roce_cm_release(conn, roce_device_now(device));
	roce_engine_unlock(engine);
	roce_device_leave(device, &user);
	roce_device_close(device);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(query__tells_what_was_attached),
		cmocka_unit_test(rx__leaves_what_is_foreign_in_order_and_untouched),
		cmocka_unit_test(rx__answers_questions_that_stay_the_programs),
		cmocka_unit_test(rx__forwards_what_is_another_engines),
		cmocka_unit_test(tx__yields_as_many_as_are_wanted),
		cmocka_unit_test(tx__may_be_dropped_by_the_program),
		cmocka_unit_test(tx__has_the_faults_that_were_asked_for),
		cmocka_unit_test(tx__yields_each_frame_once_and_frees_what_nobody_fetched),
		cmocka_unit_test(pool__that_is_empty_delays_frames_and_loses_none),
		cmocka_unit_test(pool__is_made_where_none_is_given),
		cmocka_unit_test(resolve__asks_the_program_for_the_first_hop),
		cmocka_unit_test(neighbour_changed__has_the_program_asked_again),
	};

	return cmocka_run_group_tests(tests, embed_start_foreign, embed_end_foreign);
}
