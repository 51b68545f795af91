/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Devices on the PCI bus, with one that the test makes up: who probes them and when, whose they are, and what their
 * drivers and their bus tell. Whether the first adapter of the process is one is the argument: "first" or "later".
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* For events of devices on a bus. */
#define ALLOW_EXPERIMENTAL_API

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include "../limit.h"
#include "../open_device.h"
#include "device/device.h"
#include "device/user.h"
#include "fake_pci.h"

#define SOFT "port=net_null0,no-rx=1 ip=192.0.2.1/24"
#define HARD "port=" FAKE_PCI " ip=192.0.2.2/24"

/* Far longer than the link's poll takes on a busy machine. */

static struct {
	struct roce_device_user user;
	unsigned int ups, downs, ends;
} listener;

static void
hear_port(void *arg, enum roce_port_event what)
{
	(void)arg;
	listener.ups += what == ROCE_PORT_ACTIVE;
	listener.downs += what == ROCE_PORT_ERR;
	listener.ends += what == ROCE_DEVICE_FATAL;
}

static void
hear_engine(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	(void)arg;
	(void)kind;
	(void)owner;
	(void)status;
}

/* Poll until a counter moves. */
static void
want(struct roce_device *device, const unsigned int *counter, unsigned int value)
{
	uint64_t end = rte_rdtsc() + (uint64_t)test_limit_s() * rte_get_tsc_hz();

	while (*counter != value && rte_rdtsc() < end)
		roce_device_poll(device);
	assert_int_equal(*counter, value);
}

static void
listen_to(struct roce_device *device)
{
	memset(&listener, 0, sizeof(listener));
	listener.user = (struct roce_device_user){ .notify = hear_engine,
		.port_notify = hear_port };
	roce_device_join(device, &listener.user);
}

/* A device that the EAL probed for us, or that we probe later, is ours: it is closed, and leaves the bus. */
static void
device__is_closed_by_who_probed_it(void **state)
{
	uint16_t port;

	(void)state;
	for (unsigned int turn = 1; turn <= 3; turn++) {
		struct roce_device *device = open_device(HARD);

		assert_int_equal(fake_pci.probes, turn);
		assert_int_equal(fake_pci.removals, turn - 1);
		roce_device_close(device);
		assert_int_equal(fake_pci.removals, turn);
		assert_int_not_equal(rte_eth_dev_get_port_by_name(FAKE_PCI, &port), 0);
	}
}

/* A device that the program probed is the program's. */
static void
device__of_the_program_stays(void **state)
{
	unsigned int removals = fake_pci.removals;
	uint16_t port;

	(void)state;
	assert_int_equal(rte_dev_probe(FAKE_PCI), 0);
	roce_device_close(open_device(HARD));
	assert_int_equal(fake_pci.removals, removals);
	assert_int_equal(rte_eth_dev_get_port_by_name(FAKE_PCI, &port), 0);
	assert_int_equal(rte_eth_dev_close(port), 0);
	assert_int_equal(rte_eal_hotplug_remove("pci", FAKE_PCI), 0);
}

/* The EAL probes no device that nobody asked for: another process may have it. */
static void
eal__leaves_other_devices_alone(void **state)
{
	(void)state;
	assert_false(fake_pci.no_pci);
	assert_false(fake_pci.allows_all);
}

/* Other threads of the program may write there meanwhile. */
static void
eal__leaves_the_standard_output_alone(void **state)
{
	struct stat now;

	(void)state;
	assert_int_equal(fstat(STDOUT_FILENO, &now), 0);
	assert_int_equal(fake_pci.output.st_dev, now.st_dev);
	assert_int_equal(fake_pci.output.st_ino, now.st_ino);
}

/* Asked for both kinds of interrupts, the device would never tell. */
static void
link__is_heard_of_beside_receive_interrupts(void **state)
{
	struct roce_device *device = open_device(HARD);

	(void)state;
	listen_to(device);
	fake_pci.down = true;
	want(device, &listener.downs, 1);
	fake_pci.down = false;
	want(device, &listener.ups, 1);
	assert_int_equal(listener.ends, 0);
	roce_device_leave(device, &listener.user);
	roce_device_close(device);
}

/* vfio tells that the kernel wants the device back: the port is gone, and all can be closed. */
static void
removal__is_told_by_the_bus(void **state)
{
	(void)state;
	for (unsigned int turn = 0; turn < 3; turn++) {
		unsigned int removals = fake_pci.removals;
		struct roce_device *device = open_device(HARD);

		listen_to(device);
		/* Of another device, or another event: no news. */
		rte_dev_event_callback_process("0000:bb:00.0", RTE_DEV_EVENT_REMOVE);
		rte_dev_event_callback_process(FAKE_PCI_DEVICE, RTE_DEV_EVENT_ADD);
		for (unsigned int i = 0; i < 1000; i++)
			roce_device_poll(device);
		assert_int_equal(listener.ends, 0);
		rte_dev_event_callback_process(FAKE_PCI_DEVICE, RTE_DEV_EVENT_REMOVE);
		want(device, &listener.ends, 1);
		/* Said again, as vfio does until the device is closed. */
		rte_dev_event_callback_process(FAKE_PCI_DEVICE, RTE_DEV_EVENT_REMOVE);
		for (unsigned int i = 0; i < 1000; i++)
			roce_device_poll(device);
		assert_int_equal(listener.ends, 1);
		roce_device_leave(device, &listener.user);
		roce_device_close(device);
		assert_int_equal(fake_pci.removals, removals + 1);
		/* No listener is left. */
		rte_dev_event_callback_process(FAKE_PCI_DEVICE, RTE_DEV_EVENT_REMOVE);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device__is_closed_by_who_probed_it),
		cmocka_unit_test(device__of_the_program_stays),
		cmocka_unit_test(eal__leaves_other_devices_alone),
		cmocka_unit_test(eal__leaves_the_standard_output_alone),
		cmocka_unit_test(link__is_heard_of_beside_receive_interrupts),
		cmocka_unit_test(removal__is_told_by_the_bus),
	};

	if (argc != 2)
		return 2;
	if (strcmp(argv[1], "later") == 0) {
		struct roce_device *device = NULL;
		char errmsg[256];

		if (roce_device_open(SOFT, &device, errmsg, sizeof(errmsg)) != 0)
			return 1;
		roce_device_close(device);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
