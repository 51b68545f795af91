/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the users of a device hear of its port, and what its turns do meanwhile, on two engines. The view of a consumer
 * of DAT is in test_dat_life.c.
 */

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rte_common.h>
#include <rte_dev.h>

#include "engine/verbs.h"
#include "port/device.h"
#include "port/user.h"
#include "port_events.h"

#define LOOP0  "port=loop0 ip=192.0.2.1/24 queues=2"
#define DRIVER "net_ring_loop0"
#define QPS    4 /**< on both engines */

/* A user, and what it was told, in order: a letter each. */
struct listener {
	struct roce_device_user user;
	char heard[16];
};

static void
write_down(void *arg, char letter)
{
	struct listener *listener = arg;
	size_t n = strlen(listener->heard);

	assert_true(n + 1 < sizeof(listener->heard));
	listener->heard[n] = letter;
	listener->heard[n + 1] = '\0';
}

static void
hear_port(void *arg, enum roce_port_event what)
{
	static const char letter[] = {
		[ROCE_PORT_ACTIVE] = 'u',
		[ROCE_PORT_ERR] = 'd',
		[ROCE_DEVICE_FATAL] = 'F',
	};

	write_down(arg, letter[what]);
}

static void
hear_engine(void *arg, enum roce_notice_kind kind, void *owner, int status)
{
	assert_int_equal(kind, ROCE_NOTICE_QP_BROKEN);
	assert_int_equal(status, IBV_WC_FATAL_ERR);
	assert_null(owner);
	write_down(arg, 'b');
}

static struct roce_device *
open_device(const char *params)
{
	struct roce_device *device = NULL;
	char why[256];
	int rc = roce_device_open(params, &device, why, sizeof(why));

	if (rc != 0)
		fail_msg("%s: %d %s", params, rc, why);
	return device;
}

static void
join(struct roce_device *device, struct listener *listener)
{
	*listener = (struct listener){
		.user = { .notify = hear_engine, .arg = listener, .port_notify = hear_port },
	};
	roce_device_join(device, &listener->user);
}

static void
turn_all(struct roce_device *device)
{
	for (unsigned int i = 0; i < 8; i++)
		roce_device_poll(device);
}

static void
link__is_told_to_each_user_when_it_changes(void **state)
{
	struct roce_device *device = open_device(LOOP0);
	struct listener first, second;

	join(device, &first);
	join(device, &second);
	port_say(DRIVER, RTE_ETH_EVENT_INTR_LSC);
	turn_all(device);
	assert_string_equal(first.heard, "");
	port_link(DRIVER, false);
	assert_string_equal(first.heard, "");
	turn_all(device);
	assert_string_equal(first.heard, "d");
	assert_string_equal(second.heard, "d");
	/* There and back before anybody looked. */
	port_link(DRIVER, true);
	port_link(DRIVER, false);
	turn_all(device);
	assert_string_equal(first.heard, "d");
	roce_device_leave(device, &second.user);
	port_link(DRIVER, true);
	turn_all(device);
	assert_string_equal(first.heard, "du");
	assert_string_equal(second.heard, "d");
	roce_device_leave(device, &first.user);
	roce_device_close(device);
	assert_int_equal(pools_left(), 0);
}

static struct roce_qp *
make_qp(struct roce_device *device, struct roce_pd *pd, bool connected)
{
	const struct roce_qp_attr attr = { .pd = pd, .max_send_wr = 4, .max_recv_wr = 1 };
	const struct roce_qp_connect connect = {
		.path = { .src_mac = device->port->mac,
				.src_ip = roce_ip_from_v4(RTE_BE32(0xc0000201)),
				.dst_ip = roce_ip_from_v4(RTE_BE32(0xc0000202)),
				.mtu_code = 5,
				.ttl = 64 },
		.dest_qp = 9,
	};
	struct roce_qp *qp;

	assert_int_equal(roce_qp_create(&attr, &qp), 0);
	if (connected) {
		assert_int_equal(roce_qp_to_rtr(qp, &connect), 0);
		assert_int_equal(roce_qp_to_rts(qp), 0);
	}
	return qp;
}

/* Each connection first, then the device; what is not connected may still be thrown away in peace. */
static void
removal__breaks_what_is_connected_on_every_engine(void **state)
{
	struct roce_device *device = open_device(LOOP0);
	struct roce_qp *qp[QPS + 1];
	struct listener listener;
	struct roce_pd *pd;

	join(device, &listener);
	assert_int_equal(roce_pd_create(&listener.user.context, &pd), 0);
	for (int i = 0; i <= QPS; i++)
		qp[i] = make_qp(device, pd, i < QPS);
	port_say(DRIVER, RTE_ETH_EVENT_INTR_RMV);
	assert_string_equal(listener.heard, "");
	turn_all(device);
	assert_string_equal(listener.heard, "bbbbF");
	for (int i = 0; i <= QPS; i++)
		assert_int_equal(roce_qp_state(qp[i]), i < QPS ? ROCE_QP_ERR : ROCE_QP_RESET);
	/* Once is enough, whatever else the driver says, and a port that is gone has no link. */
	port_say(DRIVER, RTE_ETH_EVENT_INTR_RMV);
	port_say(DRIVER, RTE_ETH_EVENT_INTR_LSC);
	port_say(DRIVER, RTE_ETH_EVENT_INTR_RESET);
	turn_all(device);
	assert_string_equal(listener.heard, "bbbbF");
	for (int i = 0; i <= QPS; i++)
		roce_qp_destroy(qp[i]);
	assert_int_equal(roce_pd_destroy(pd), 0);
	roce_device_leave(device, &listener.user);
	roce_device_close(device);
	assert_int_equal(pools_left(), 0);
}

/* A thread that turns a device until it is told to end. */
struct turner {
	struct roce_device *device;
	bool end; /**< atomic */
};

static void *
turn_on(void *arg)
{
	struct turner *turner = arg;

	while (!__atomic_load_n(&turner->end, __ATOMIC_ACQUIRE))
		roce_device_poll(turner->device);
	return NULL;
}

/* Whoever tells of a removal may free the port when that returns. */
static void
removal__returns_when_nobody_is_in_a_burst(void **state)
{
	static struct port_watch watch;
	struct turner turner = { .device = open_device(LOOP0) };
	unsigned int bursts;
	pthread_t thread;

	port_watch(DRIVER, &watch);
	watch.linger = true;
	assert_int_equal(pthread_create(&thread, NULL, turn_on, &turner), 0);
	while (!__atomic_load_n(&watch.inside, __ATOMIC_ACQUIRE))
		continue;
	port_say(DRIVER, RTE_ETH_EVENT_INTR_RMV);
	assert_false(__atomic_load_n(&watch.inside, __ATOMIC_ACQUIRE));
	bursts = watch.bursts;
	assert_int_equal(rte_eth_dev_stop(port_number(DRIVER)), 0);
	assert_int_equal(rte_eth_dev_close(port_number(DRIVER)), 0);
	__atomic_store_n(&turner.end, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_int_equal(watch.bursts, bursts);
	roce_device_close(turner.device);
	assert_int_equal(pools_left(), 0);
}

/* The number of a port that was closed under us may be another's. */
static void
close__leaves_alone_who_has_the_number_now(void **state)
{
	struct roce_device *device = open_device(LOOP0);
	uint16_t number = port_number(DRIVER);

	assert_int_equal(rte_eth_dev_stop(number), 0);
	assert_int_equal(rte_eth_dev_close(number), 0);
	assert_int_equal(rte_eal_hotplug_add("vdev", "net_null_heir", ""), 0);
	assert_int_equal(port_number("net_null_heir"), number);
	turn_all(device);
	roce_device_close(device);
	assert_int_equal(port_number("net_null_heir"), number);
	assert_int_equal(rte_eal_hotplug_remove("vdev", "net_null_heir"), 0);
	assert_int_equal(pools_left(), 0);
}

/* net_ring takes no frames for what it receives, net_null does. */
static void
receive_pool__exhausted_recovers(void **state)
{
	struct roce_device *device = open_device("port=net_null0,size=62 ip=192.0.2.1/24");

	assert_int_equal(roce_device_turn(device, 0), ROCE_PORT_RX_BURST);
	assert_true(hog_frames() > 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(roce_device_turn(device, 0), 0);
	free_hogged();
	assert_int_equal(roce_device_turn(device, 0), ROCE_PORT_RX_BURST);
	roce_device_close(device);
	assert_int_equal(pools_left(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link__is_told_to_each_user_when_it_changes),
		cmocka_unit_test(removal__breaks_what_is_connected_on_every_engine),
		cmocka_unit_test(removal__returns_when_nobody_is_in_a_burst),
		cmocka_unit_test(close__leaves_alone_who_has_the_number_now),
		cmocka_unit_test(receive_pool__exhausted_recovers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
