/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sleeping until the device has a frame: the port is net_ring's, the interrupts are made here, in the place of ethdev's
 * calls. With a real driver: interrupt.sh.
 */

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_common.h>
#include <rte_epoll.h>
#include <rte_interrupts.h>

#include "../open_device.h"
#include "device/device.h"
#include "device/user.h"
#include "port_events.h"

#define QUEUES 2
#define LOOP0  "port=loop0 ip=192.0.2.1/24 queues=2"
#define DRIVER "net_ring_loop0"

/** A driver with receive interrupts, or without. */
static struct {
	int ctl;    /**< what it says to being asked for them */
	int enable; /**< to their being enabled */
	bool asked; /**< when it was configured last */
	int refuse; /**< configuring with them */
	struct {
		int fd;
		bool on;
		struct rte_epoll_event told;
	} queue[QUEUES];
} driver;

/* The linker puts them in the place of ethdev's. */
int __real_rte_eth_dev_configure(
		uint16_t port, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf);
int __wrap_rte_eth_dev_configure(
		uint16_t port, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf);
int __wrap_rte_eth_dev_rx_intr_ctl_q(uint16_t port, uint16_t q, int epfd, int op, void *data);
int __wrap_rte_eth_dev_rx_intr_enable(uint16_t port, uint16_t q);
int __wrap_rte_eth_dev_rx_intr_disable(uint16_t port, uint16_t q);

int
__wrap_rte_eth_dev_configure(
		uint16_t port, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf)
{
	driver.asked = conf->intr_conf.rxq;
	if (driver.asked && driver.refuse != 0)
		return driver.refuse;
	/* A port that is configured anew has new descriptors. */
	for (unsigned int q = 0; q < QUEUES; q++) {
		close(driver.queue[q].fd);
		driver.queue[q].fd = eventfd(0, EFD_NONBLOCK);
	}
	return __real_rte_eth_dev_configure(port, rx, tx, conf);
}

int
__wrap_rte_eth_dev_rx_intr_ctl_q(uint16_t port, uint16_t q, int epfd, int op, void *data)
{
	struct rte_epoll_event *told = &driver.queue[q].told;

	if (driver.ctl != 0)
		return driver.ctl;
	if (op == RTE_INTR_EVENT_ADD && told->status != RTE_EPOLL_INVALID)
		return -EEXIST;
	if (op == RTE_INTR_EVENT_ADD)
		*told = (struct rte_epoll_event){
			.epdata = { .event = EPOLLIN | EPOLLET, .data = data },
		};
	return rte_epoll_ctl(epfd, op == RTE_INTR_EVENT_ADD ? EPOLL_CTL_ADD : EPOLL_CTL_DEL,
			driver.queue[q].fd, told);
}

int
__wrap_rte_eth_dev_rx_intr_enable(uint16_t port, uint16_t q)
{
	driver.queue[q].on = driver.enable == 0;
	return driver.enable;
}

int
__wrap_rte_eth_dev_rx_intr_disable(uint16_t port, uint16_t q)
{
	driver.queue[q].on = false;
	return driver.enable;
}

static int
make_driver(void **state)
{
	driver.ctl = driver.enable = driver.refuse = 0;
	for (unsigned int q = 0; q < QUEUES; q++) {
		driver.queue[q].on = false;
		driver.queue[q].told.status = RTE_EPOLL_INVALID;
		driver.queue[q].fd = eventfd(0, EFD_NONBLOCK);
		assert_true(driver.queue[q].fd >= 0);
	}
	return 0;
}

static int
drop_driver(void **state)
{
	for (unsigned int q = 0; q < QUEUES; q++)
		close(driver.queue[q].fd);
	assert_int_equal(pools_left(), 0);
	return 0;
}

/* A frame came, and the driver says so. */
static void
interrupt(unsigned int q)
{
	assert_int_equal(eventfd_write(driver.queue[q].fd, 1), 0);
}

static bool
readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static uint64_t
counted(const struct roce_device *device)
{
	const char *name;
	uint64_t value;

	for (unsigned int i = 0; roce_device_counter(device, i, &name, &value); i++)
		if (strcmp(name, "port_rx_interrupts") == 0)
			return value;
	fail_msg("there is no such counter");
	return 0;
}

static void
want_enabled(bool on)
{
	for (unsigned int q = 0; q < QUEUES; q++)
		assert_int_equal(driver.queue[q].on, on);
}

static void
sleeper__is_told_of_frames_of_every_queue(void **state)
{
	struct roce_device *device = open_device(LOOP0);
	int fd;

	assert_true(driver.asked);
	want_enabled(false);
	for (unsigned int q = 0; q < QUEUES; q++) {
		fd = roce_device_rx_arm(device);
		assert_true(fd >= 0);
		want_enabled(true);
		assert_false(readable(fd));
		interrupt(q);
		assert_true(readable(fd));
		assert_int_equal(counted(device), q);
		roce_device_rx_disarm(device);
		assert_int_equal(counted(device), q + 1);
		want_enabled(false);
	}
	/* In vain is not counted. */
	assert_true(roce_device_rx_arm(device) >= 0);
	roce_device_rx_disarm(device);
	assert_int_equal(counted(device), QUEUES);
	roce_device_close(device);
}

/* A frame that came while no thread slept ends no sleep: the thread that arms looks for it. */
static void
sleeper__is_not_told_of_what_was_before(void **state)
{
	struct roce_device *device = open_device(LOOP0);
	int fd;

	interrupt(0);
	interrupt(1);
	fd = roce_device_rx_arm(device);
	assert_false(readable(fd));
	roce_device_rx_disarm(device);
	assert_int_equal(counted(device), 0);
	roce_device_close(device);
}

/* Each is told, and the last one switches off the light. */
static void
sleepers__share_the_device(void **state)
{
	struct roce_device *device = open_device(LOOP0);
	int first = roce_device_rx_arm(device), second = roce_device_rx_arm(device);

	interrupt(1);
	assert_true(readable(first) && readable(second));
	roce_device_rx_disarm(device);
	want_enabled(true);
	interrupt(1);
	assert_true(readable(second));
	roce_device_rx_disarm(device);
	want_enabled(false);
	assert_int_equal(counted(device), 2);
	roce_device_close(device);
}

/* As net_tap: its descriptor tells, and there is nothing to switch on. */
static void
driver__without_a_switch_is_believed(void **state)
{
	struct roce_device *device;
	int fd;

	driver.enable = -ENOTSUP;
	device = open_device(LOOP0);
	fd = roce_device_rx_arm(device);
	assert_true(fd >= 0);
	interrupt(0);
	assert_true(readable(fd));
	roce_device_rx_disarm(device);
	assert_int_equal(counted(device), 1);
	roce_device_close(device);
}

static void
driver__that_breaks_its_word_is_asked_no_more(void **state)
{
	struct roce_device *device = open_device(LOOP0);

	driver.enable = -EIO;
	assert_int_equal(roce_device_rx_arm(device), -1);
	driver.enable = 0;
	assert_int_equal(roce_device_rx_arm(device), -1);
	want_enabled(false);
	roce_device_close(device);
}

static void
driver__without_interrupts_is_left_in_peace(void **state)
{
	struct roce_device *device;

	driver.ctl = -ENOTSUP;
	device = open_device(LOOP0);
	assert_int_equal(roce_device_rx_arm(device), -1);
	roce_device_close(device);
}

static void
driver__that_refuses_them_is_configured_without(void **state)
{
	struct roce_device *device;

	driver.refuse = -EINVAL;
	device = open_device(LOOP0);
	assert_false(driver.asked);
	assert_int_equal(roce_device_rx_arm(device), -1);
	roce_device_close(device);
}

static void
reset__keeps_the_descriptor_that_somebody_sleeps_on(void **state)
{
	struct roce_device *device = open_device(LOOP0);
	int fd = roce_device_rx_arm(device);

	port_say(DRIVER, RTE_ETH_EVENT_INTR_RESET);
	while (roce_device_deadline(device) == 0)
		roce_device_poll(device);
	assert_false(readable(fd));
	roce_device_rx_disarm(device);
	assert_int_equal(roce_device_rx_arm(device), fd);
	interrupt(1);
	assert_true(readable(fd));
	roce_device_rx_disarm(device);
	assert_int_equal(counted(device), 1);
	roce_device_close(device);
}

static void
removal__ends_it(void **state)
{
	struct roce_device *device = open_device(LOOP0);
	int fd = roce_device_rx_arm(device);

	assert_true(fd >= 0);
	port_say(DRIVER, RTE_ETH_EVENT_INTR_RMV);
	roce_device_rx_disarm(device);
	assert_int_equal(roce_device_rx_arm(device), -1);
	roce_device_close(device);
}

int
main(void)
{
#define rule(name) cmocka_unit_test_setup_teardown(name, make_driver, drop_driver)
	const struct CMUnitTest tests[] = {
		rule(sleeper__is_told_of_frames_of_every_queue),
		rule(sleeper__is_not_told_of_what_was_before),
		rule(sleepers__share_the_device),
		rule(driver__without_a_switch_is_believed),
		rule(driver__that_breaks_its_word_is_asked_no_more),
		rule(driver__without_interrupts_is_left_in_peace),
		rule(driver__that_refuses_them_is_configured_without),
		rule(reset__keeps_the_descriptor_that_somebody_sleeps_on),
		rule(removal__ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
