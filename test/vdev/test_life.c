/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The news that the users of a device hear of its port, and what its polls do meanwhile, on two engines. The view of a
 * consumer of DAT is in test_dat_life.c.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rte_common.h>
#include <rte_dev.h>

#include "../open_device.h"
#include "device/device.h"
#include "device/user.h"
#include "engine/verbs.h"
#include "port_events.h"

#define LOOP0  "port=loop0 ip=192.0.2.1/24 queues=2"
#define DRIVER "net_ring_loop0"
#define QPS    4 /**< on both engines */

/* ---- ethdev, as the layer finds it ---- */

static struct {
	unsigned int busy;  /**< refusals to end an upcall that is running; atomic */
	unsigned int ended; /**< upcalls that were ended; atomic */
	bool no_start;      /**< ports do not start */
} ethdev;

/* The linker puts them in the place of ethdev's. */
int __real_rte_eth_dev_start(uint16_t port);
int __wrap_rte_eth_dev_start(uint16_t port);
int __real_rte_eth_dev_callback_unregister(
		uint16_t port, enum rte_eth_event_type event, rte_eth_dev_cb_fn fn, void *arg);
int __wrap_rte_eth_dev_callback_unregister(
		uint16_t port, enum rte_eth_event_type event, rte_eth_dev_cb_fn fn, void *arg);

int
__wrap_rte_eth_dev_start(uint16_t port)
{
	return ethdev.no_start ? -EIO : __real_rte_eth_dev_start(port);
}

int
__wrap_rte_eth_dev_callback_unregister(
		uint16_t port, enum rte_eth_event_type event, rte_eth_dev_cb_fn fn, void *arg)
{
	int rc = __real_rte_eth_dev_callback_unregister(port, event, fn, arg);

	__atomic_fetch_add(rc == 0 ? &ethdev.ended : &ethdev.busy, 1, __ATOMIC_RELEASE);
	return rc;
}

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
hear_engine(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	assert_int_equal(kind, ROCE_ENGINE_ASYNC_QP_BROKEN);
	assert_int_equal(status, IBV_WC_FATAL_ERR);
	assert_null(owner);
	write_down(arg, 'b');
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
poll_all(struct roce_device *device)
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
	poll_all(device);
	assert_string_equal(first.heard, "");
	port_link(DRIVER, false);
	assert_string_equal(first.heard, "");
	poll_all(device);
	assert_string_equal(first.heard, "d");
	assert_string_equal(second.heard, "d");
	/* There and back before anybody looked. */
	port_link(DRIVER, true);
	port_link(DRIVER, false);
	poll_all(device);
	assert_string_equal(first.heard, "d");
	roce_device_leave(device, &second.user);
	port_link(DRIVER, true);
	poll_all(device);
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
	poll_all(device);
	assert_string_equal(listener.heard, "bbbbF");
	for (int i = 0; i <= QPS; i++)
		assert_int_equal(roce_qp_state(qp[i]), i < QPS ? ROCE_QP_ERR : ROCE_QP_RESET);
	/* Once is enough, whatever else the driver says, and a port that is gone has no link. */
	port_say(DRIVER, RTE_ETH_EVENT_INTR_RMV);
	port_say(DRIVER, RTE_ETH_EVENT_INTR_LSC);
	port_say(DRIVER, RTE_ETH_EVENT_INTR_RESET);
	poll_all(device);
	assert_string_equal(listener.heard, "bbbbF");
	for (int i = 0; i <= QPS; i++)
		roce_qp_destroy(qp[i]);
	assert_int_equal(roce_pd_destroy(pd), 0);
	roce_device_leave(device, &listener.user);
	roce_device_close(device);
	assert_int_equal(pools_left(), 0);
}

/* A thread that polls a device until it is told to end. */
struct poller {
	struct roce_device *device;
	bool end; /**< atomic */
};

static void *
turn_on(void *arg)
{
	struct poller *poller = arg;

	while (!__atomic_load_n(&poller->end, __ATOMIC_ACQUIRE))
		roce_device_poll(poller->device);
	return NULL;
}

/* A driver may free the port as soon as its report of the removal returns. */
static void
removal__returns_when_nobody_is_in_a_burst(void **state)
{
	static struct port_watch watch;
	struct poller poller = { .device = open_device(LOOP0) };
	unsigned int bursts;
	pthread_t thread;

	port_watch(DRIVER, 1, &watch);
	watch.linger = true;
	assert_int_equal(pthread_create(&thread, NULL, turn_on, &poller), 0);
	while (!__atomic_load_n(&watch.inside, __ATOMIC_ACQUIRE))
		continue;
	port_say(DRIVER, RTE_ETH_EVENT_INTR_RMV);
	assert_false(__atomic_load_n(&watch.inside, __ATOMIC_ACQUIRE));
	bursts = watch.bursts;
	assert_int_equal(rte_eth_dev_stop(port_number(DRIVER)), 0);
	assert_int_equal(rte_eth_dev_close(port_number(DRIVER)), 0);
	__atomic_store_n(&poller.end, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_int_equal(watch.bursts, bursts);
	roce_device_close(poller.device);
	assert_int_equal(pools_left(), 0);
}

/* Somebody else does what one call does. */
struct helper {
	struct roce_device *device;
	struct listener *listener;
	bool done; /**< atomic */
};

static void *
tell_of_removal(void *arg)
{
	port_say(DRIVER, RTE_ETH_EVENT_INTR_RMV);
	return NULL;
}

static void *
close_device(void *arg)
{
	struct helper *helper = arg;

	roce_device_close(helper->device);
	return NULL;
}

static void *
open_again(void *arg)
{
	struct helper *helper = arg;
	char errmsg[256];

	if (roce_device_open(LOOP0, &helper->device, errmsg, sizeof(errmsg)) != 0)
		helper->device = NULL;
	return NULL;
}

static pthread_t
begin(void *(*fn)(void *arg), void *arg)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, fn, arg), 0);
	return thread;
}

/*
 * The last user closes while ethdev tells of a removal, and somebody opens the name meanwhile. The close ends all
 * upcalls, and nothing goes before that; then the name is opened anew, and nobody gets what was just dying.
 */
static void
close__waits_for_an_upcall_and_who_opens_then_gets_a_live_one(void **state)
{
	struct helper old = { .device = open_device(LOOP0) }, new = { 0 };
	struct roce_engine *engine = old.device->port->queue[0].engine;
	struct roce_port_events *events = &old.device->port->events;
	struct listener listener;
	pthread_t teller, closer, opener;

	ethdev.busy = ethdev.ended = 0;
	/* The upcall waits for whoever polls. */
	roce_engine_lock(engine);
	teller = begin(tell_of_removal, NULL);
	while (!roce_port_events_is_gone(events) || !roce_port_events_is_pending(events))
		continue;
	/* Else the last polls of the close would wait as well. */
	__atomic_store_n(&events->pending, 0, __ATOMIC_RELEASE);
	closer = begin(close_device, &old);
	while (__atomic_load_n(&ethdev.busy, __ATOMIC_ACQUIRE) == 0)
		continue;
	opener = begin(open_again, &new);
	roce_engine_unlock(engine);
	pthread_join(teller, NULL);
	pthread_join(closer, NULL);
	/* Each event that was listened to. */
	assert_int_equal(__atomic_load_n(&ethdev.ended, __ATOMIC_ACQUIRE), 4);
	pthread_join(opener, NULL);
	assert_non_null(new.device);
	assert_int_equal(new.device->refs, 1);
	assert_false(roce_port_events_is_gone(&new.device->port->events));
	join(new.device, &listener);
	port_link(DRIVER, false);
	poll_all(new.device);
	assert_string_equal(listener.heard, "d");
	roce_device_leave(new.device, &listener.user);
	roce_device_close(new.device);
	assert_int_equal(pools_left(), 0);
}

/* A user that takes its time when it is told, and wants to be there until it is through. */
struct slow {
	struct roce_device_user user;
	unsigned int told;  /**< times; atomic */
	bool leaving, left; /**< atomic */
	bool seen_leave;
};

static void
hear_slowly(void *arg, enum roce_port_event what)
{
	struct slow *slow = arg;

	assert_int_equal(what, ROCE_PORT_ERR);
	__atomic_fetch_add(&slow->told, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&slow->leaving, __ATOMIC_ACQUIRE))
		sched_yield();
	for (unsigned int i = 0; i < 100; i++) {
		sched_yield();
		if (__atomic_load_n(&slow->left, __ATOMIC_ACQUIRE))
			slow->seen_leave = true;
	}
}

static void *
leave_when_told(void *arg)
{
	struct slow *slow = arg;

	while (__atomic_load_n(&slow->told, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	__atomic_store_n(&slow->leaving, true, __ATOMIC_RELEASE);
	roce_device_leave(slow->user.device, &slow->user);
	__atomic_store_n(&slow->left, true, __ATOMIC_RELEASE);
	return NULL;
}

/* A context that is destroyed on another thread is told nothing behind that, and is there while it is told. */
static void
leave__waits_until_the_user_was_told(void **state)
{
	struct slow slow = { .user = { .arg = &slow, .port_notify = hear_slowly } };
	struct roce_device *device = open_device(LOOP0);
	pthread_t leaver;

	roce_device_join(device, &slow.user);
	leaver = begin(leave_when_told, &slow);
	port_link(DRIVER, false);
	poll_all(device);
	pthread_join(leaver, NULL);
	assert_false(slow.seen_leave);
	port_link(DRIVER, true);
	poll_all(device);
	assert_int_equal(slow.told, 1);
	roce_device_close(device);
	assert_int_equal(pools_left(), 0);
}

/* A user that joins in time is told with the others, one that joins too late at once. No user is told twice. */
static void
join__behind_a_removal_is_told_of_it(void **state)
{
	struct roce_device *device = open_device(LOOP0);
	struct listener early, waiting, late;

	join(device, &early);
	port_say(DRIVER, RTE_ETH_EVENT_INTR_RMV);
	join(device, &waiting);
	assert_string_equal(waiting.heard, "");
	poll_all(device);
	join(device, &late);
	poll_all(device);
	assert_string_equal(early.heard, "F");
	assert_string_equal(waiting.heard, "F");
	assert_string_equal(late.heard, "F");
	roce_device_leave(device, &waiting.user);
	roce_device_leave(device, &late.user);
	roce_device_leave(device, &early.user);
	roce_device_close(device);
	assert_int_equal(pools_left(), 0);
}

/* An event that ethdev has told wants a poll now, and so does an engine that somebody works on: nothing is known of that. */
static void
deadline__is_now_while_news_wait(void **state)
{
	struct roce_device *device = open_device(LOOP0);
	struct roce_engine *engine = device->port->queue[1].engine;

	poll_all(device);
	assert_true(roce_device_deadline(device) > roce_device_now(device));
	port_say(DRIVER, RTE_ETH_EVENT_INTR_LSC);
	assert_int_equal(roce_device_deadline(device), 0);
	poll_all(device);
	assert_true(roce_device_deadline(device) > roce_device_now(device));
	roce_engine_lock(engine);
	assert_int_equal(roce_device_deadline(device), 0);
	roce_engine_unlock(engine);
	assert_true(roce_device_deadline(device) > roce_device_now(device));
	roce_device_close(device);
	assert_int_equal(pools_left(), 0);
}

/* A link that was down comes up with the reset, and that is all that a user hears of it. */
static void
reset__keeps_what_is_connected(void **state)
{
	struct roce_device *device = open_device(LOOP0);
	struct listener listener;
	struct roce_pd *pd;
	struct roce_qp *qp;

	join(device, &listener);
	assert_int_equal(roce_pd_create(&listener.user.context, &pd), 0);
	qp = make_qp(device, pd, true);
	port_say(DRIVER, RTE_ETH_EVENT_INTR_RESET);
	poll_all(device);
	assert_string_equal(listener.heard, "");
	port_link(DRIVER, false);
	poll_all(device);
	port_say(DRIVER, RTE_ETH_EVENT_INTR_RESET);
	poll_all(device);
	assert_string_equal(listener.heard, "du");
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTS);
	roce_qp_destroy(qp);
	assert_int_equal(roce_pd_destroy(pd), 0);
	roce_device_leave(device, &listener.user);
	roce_device_close(device);
	assert_int_equal(pools_left(), 0);
}

static void
reset__in_vain_is_a_removal(void **state)
{
	struct roce_device *device = open_device(LOOP0), *again;
	struct listener listener;
	struct roce_pd *pd;
	struct roce_qp *qp;
	char errmsg[256];

	join(device, &listener);
	assert_int_equal(roce_pd_create(&listener.user.context, &pd), 0);
	qp = make_qp(device, pd, true);
	ethdev.no_start = true;
	port_say(DRIVER, RTE_ETH_EVENT_INTR_RESET);
	poll_all(device);
	ethdev.no_start = false;
	assert_string_equal(listener.heard, "bF");
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
	assert_int_equal(roce_device_open(LOOP0, &again, errmsg, sizeof(errmsg)), -ENODEV);
	assert_non_null(strstr(errmsg, "is gone"));
	roce_qp_destroy(qp);
	assert_int_equal(roce_pd_destroy(pd), 0);
	roce_device_leave(device, &listener.user);
	roce_device_close(device);
	roce_device_close(open_device(LOOP0));
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
	poll_all(device);
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

	assert_int_equal(roce_device_poll_engine(device, 0), ROCE_PORT_RX_BURST);
	assert_true(hog_frames() > 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(roce_device_poll_engine(device, 0), 0);
	free_hogged();
	assert_int_equal(roce_device_poll_engine(device, 0), ROCE_PORT_RX_BURST);
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
		cmocka_unit_test(close__waits_for_an_upcall_and_who_opens_then_gets_a_live_one),
		cmocka_unit_test(leave__waits_until_the_user_was_told),
		cmocka_unit_test(join__behind_a_removal_is_told_of_it),
		cmocka_unit_test(deadline__is_now_while_news_wait),
		cmocka_unit_test(reset__keeps_what_is_connected),
		cmocka_unit_test(reset__in_vain_is_a_removal),
		cmocka_unit_test(close__leaves_alone_who_has_the_number_now),
		cmocka_unit_test(receive_pool__exhausted_recovers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
