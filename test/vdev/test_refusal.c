/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A driver that offers a feature and then refuses it costs that feature and nothing else, in whatever call it refuses.
 * fake_driver.c is the driver.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "../limit.h"
#include "../open_device.h"
#include "device/device.h"
#include "device/port_neigh.h"
#include "ethdev/port_plan.h"
#include "fake_driver.h"
#include "port_events.h"
#include "roce/device.h"

#define FAKE "port=loop0 ip=192.0.2.1/24 queues=2 zero_copy=1 vlan=7"
#define PEER "port=loop1 ip=192.0.2.2/24 queues=2 vlan=7"

#define BIT(feature) (1u << (feature))

static const struct roce_ip peer_ip = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000202) } };

static int
resolve(struct roce_device *device)
{
	struct roce_engine *engine = device->port->queue[0].engine;
	struct roce_path path;
	int rc;

	roce_engine_lock(engine);
	rc = roce_port_resolve(device->port, NULL, &peer_ip, &path, roce_device_now(device));
	roce_engine_unlock(engine);
	return rc;
}

/* Frames pass in both directions: the ends find each other. A poll that acts on an event of the port moves none. */
static void
want_traffic(struct roce_device *device)
{
	struct roce_device *peer = open_device(PEER);
	uint64_t end = rte_rdtsc() + (uint64_t)test_limit_s() * rte_get_tsc_hz();
	int rc;

	while ((rc = resolve(device)) == -EAGAIN && rte_rdtsc() < end) {
		roce_device_poll(device);
		roce_device_poll(peer);
	}
	assert_int_equal(rc, 0);
	roce_device_close(peer);
}

static void
close_device(struct roce_device *device)
{
	roce_device_close(device);
	assert_int_equal(pools_left(), 0);
}

/* A driver that refuses nothing. @return the features that it is asked for. */
static uint32_t
asked_of(bool hard)
{
	fake_driver = (struct fake_driver){ .hard = hard };
	close_device(open_device(FAKE));
	assert_int_equal(fake_driver.calls, 1);
	return fake_driver.asked;
}

/* It opens and works without the features that are refused. */
static void
want_refused(uint32_t refused, uint32_t kept)
{
	struct roce_device *device = open_device(FAKE);

	assert_int_equal(fake_driver.asked & refused, 0);
	assert_int_equal(fake_driver.asked & kept, kept);
	want_traffic(device);
	close_device(device);
}

static void
refusal__costs_the_feature_and_nothing_else(void **state)
{
	uint32_t seen = 0;

	for (int hard = 0; hard <= 1; hard++) {
		const uint32_t all = asked_of(hard);

		seen |= all;
		for (unsigned int f = 0; f < ROCE_PORT_FEATURES; f++) {
			const bool descriptors = f == ROCE_PORT_OUR_DESCRIPTORS ||
					f == ROCE_PORT_FEW_DESCRIPTORS;

			if ((all & BIT(f)) == 0)
				continue;
			/* The number of descriptors is not known before. */
			for (int call = descriptors ? FAKE_RX_QUEUE : FAKE_CONFIGURE;
					call < FAKE_CALLS; call++) {
				fake_driver = (struct fake_driver){ .hard = hard,
					.refusal = { { (enum fake_call)call, BIT(f), -EINVAL } } };
				want_refused(BIT(f), all & ~BIT(f));
			}
		}
	}
	/* Each was among them. */
	assert_int_equal(seen, ROCE_PORT_FEATURES_ALL);
}

static void
refusal__of_two_features_in_one_call_or_in_two(void **state)
{
	const uint32_t all = asked_of(true);

	for (unsigned int i = 0; i < ROCE_PORT_FEATURES * ROCE_PORT_FEATURES; i++) {
		const unsigned int f = i / ROCE_PORT_FEATURES, g = i % ROCE_PORT_FEATURES;

		if ((all & BIT(f)) == 0 || (all & BIT(g)) == 0 || f == g)
			continue;
		for (int call = FAKE_RX_QUEUE; call <= FAKE_START;
				call += FAKE_START - FAKE_RX_QUEUE) {
			fake_driver = (struct fake_driver){ .hard = true,
				.refusal = { { FAKE_START, BIT(f), -EIO },
						{ (enum fake_call)call, BIT(g), -ENOTSUP } } };
			want_refused(BIT(f) | BIT(g), 0);
		}
	}
}

/* Hardware is asked for link interrupts only where it has no receive interrupts: then they may be refused as well. */
static void
refusal__of_a_feature_that_takes_the_place_of_another(void **state)
{
	for (int call = FAKE_CONFIGURE; call < FAKE_CALLS; call++) {
		/* Without a raised MTU this one is not made. */
		if (call == FAKE_SET_MTU)
			continue;
		fake_driver = (struct fake_driver){ .hard = true,
			.refusal = { { (enum fake_call)call, BIT(ROCE_PORT_RX_INTERRUPTS), -EIO },
					{ (enum fake_call)call, BIT(ROCE_PORT_LINK_INTERRUPTS),
							-EIO } } };
		want_refused(BIT(ROCE_PORT_RX_INTERRUPTS) | BIT(ROCE_PORT_LINK_INTERRUPTS), 0);
	}
}

/* Of two that do not go together, the one that matters less is given up. */
static void
refusal__of_a_pair_keeps_what_matters_more(void **state)
{
	const uint32_t pair = BIT(ROCE_PORT_RX_INTERRUPTS) | BIT(ROCE_PORT_RSS);
	const uint32_t all = asked_of(true);

	fake_driver = (struct fake_driver){ .hard = true,
		.refusal = { { FAKE_START, pair, -EINVAL } } };
	want_refused(BIT(ROCE_PORT_RX_INTERRUPTS), all & ~BIT(ROCE_PORT_RX_INTERRUPTS));
}

/* First 256, then (0) as many as the driver likes. */
static void
descriptors__become_fewer(void **state)
{
	struct roce_device *device;

	asked_of(true);
	assert_int_equal(fake_driver.rx_desc, 1024);
	fake_driver = (struct fake_driver){ .hard = true,
		.refusal = { { FAKE_RX_QUEUE, BIT(ROCE_PORT_OUR_DESCRIPTORS), -ENOMEM } } };
	device = open_device(FAKE);
	assert_int_equal(fake_driver.rx_desc, 256);
	close_device(device);
	fake_driver.refusal[1] = (struct fake_refusal){ FAKE_RX_QUEUE,
		BIT(ROCE_PORT_FEW_DESCRIPTORS), -EINVAL };
	device = open_device(FAKE);
	assert_int_equal(fake_driver.rx_desc, 0);
	close_device(device);
}

/* Some drivers take nothing but a power of two, and do not say so. */
static void
descriptors__are_a_power_of_two(void **state)
{
	fake_driver = (struct fake_driver){ .hard = true, .desc_most = 1000 };
	close_device(open_device(FAKE));
	assert_int_equal(fake_driver.rx_desc, 512);
}

/* Some drivers read only this call, others have none. Where the MTU stays what it is there is nothing to say. */
static void
mtu__is_told_to_the_driver_when_it_is_raised(void **state)
{
	fake_driver = (struct fake_driver){ .hard = true };
	close_device(open_device(FAKE " mtu=2048"));
	assert_in_range(fake_driver.mtu, 2048 + 96, 4096);
	fake_driver = (struct fake_driver){ .hard = true,
		.refusal = { { FAKE_CONFIGURE, BIT(ROCE_PORT_RAISED_MTU), -EINVAL } } };
	close_device(open_device(FAKE));
	assert_int_equal(fake_driver.mtu, 0);
}

/* The device may have forgotten it. */
static void
mtu__is_told_again_behind_a_reset(void **state)
{
	struct roce_device *device;

	fake_driver = (struct fake_driver){ .hard = true };
	device = open_device(FAKE " mtu=2048");
	fake_driver.mtu = 0;
	port_say("net_ring_loop0", RTE_ETH_EVENT_INTR_RESET);
	while (fake_driver.calls < 2)
		roce_device_poll(device);
	assert_in_range(fake_driver.mtu, 2048 + 96, 4096);
	want_traffic(device);
	close_device(device);
}

/* A driver that begins with a larger MTU than its device has would refuse it. */
static void
mtu__is_no_larger_than_the_device_says(void **state)
{
	struct roce_device_attr attr;
	struct roce_device *device;

	fake_driver = (struct fake_driver){ .hard = true, .mtu_most = 1460 };
	device = open_device(FAKE);
	roce_device_query(device, &attr);
	assert_int_equal(attr.mtu, 1024);
	assert_true(fake_driver.frame <= 1460 + 18);
	close_device(device);
}

/* The device's word about received frames is not read, and drivers have faster ways to send where nothing is asked of them. */
static void
offloads__are_asked_for_only_where_they_are_needed(void **state)
{
	fake_driver = (struct fake_driver){ .hard = true };
	close_device(open_device("port=loop0 ip=192.0.2.1/24"));
	assert_int_equal(fake_driver.rx_asked, 0);
	assert_int_equal(fake_driver.tx_asked, 0);
	close_device(open_device("port=loop0 ip=192.0.2.1/24 zero_copy=1 vlan=7"));
	assert_int_equal(fake_driver.rx_asked, RTE_ETH_RX_OFFLOAD_VLAN_FILTER);
	assert_int_equal(fake_driver.tx_asked, RTE_ETH_TX_OFFLOAD_MULTI_SEGS);
}

/* Some devices drop tagged frames of every VLAN that they were not told. */
static void
vlan__passes_the_filter_of_the_device(void **state)
{
	static const struct {
		const char *params;
		int vlan;
	} wanted[] = { { "vlan=7", 7 }, { "vlan=4094 pcp=3", 4094 }, { "pcp=3", 0 }, { "", -1 } };

	for (size_t i = 0; i < RTE_DIM(wanted); i++) {
		char params[64];

		snprintf(params, sizeof(params), "port=loop0 ip=192.0.2.1/24 %s", wanted[i].params);
		fake_driver = (struct fake_driver){ .hard = true };
		close_device(open_device(params));
		assert_int_equal(fake_driver.vlan, wanted[i].vlan);
		assert_int_equal((fake_driver.asked & BIT(ROCE_PORT_VLAN_FILTER)) != 0,
				wanted[i].vlan >= 0);
	}
}

/* Also when the buffers were made before, and are made anew. */
static void
buffers__hold_the_largest_frame_where_it_is_not_scattered(void **state)
{
	for (int call = FAKE_CONFIGURE; call < FAKE_CALLS; call++) {
		fake_driver = (struct fake_driver){
			.refusal = { { (enum fake_call)call, BIT(ROCE_PORT_RX_SCATTER), -EINVAL } }
		};
		close_device(open_device(FAKE));
		assert_true(fake_driver.rx_room >= fake_driver.frame);
	}
}

static void
want_failure(const char *params, int rc, const char *word)
{
	struct roce_device *device = NULL;
	char errmsg[256];

	assert_int_equal(roce_device_open(params, &device, errmsg, sizeof(errmsg)), rc);
	assert_null(device);
	if (strstr(errmsg, word) == NULL)
		fail_msg("%s", errmsg);
	assert_int_equal(pools_left(), 0);
}

static void
refusal__of_everything_fails_with_the_drivers_reason(void **state)
{
	static const struct {
		enum fake_call call;
		int rc;
		const char *says;
	} wanted[] = {
		{ FAKE_CONFIGURE, -EINVAL,
				"loop0 cannot be configured with queues=2: Input/output" },
		{ FAKE_RX_QUEUE, -EINVAL,
				"the queues of port loop0 cannot be set up: Input/output" },
		{ FAKE_TX_QUEUE, -EINVAL,
				"the queues of port loop0 cannot be set up: Input/output" },
		{ FAKE_START, -ENODEV, "loop0 does not start: Input/output" },
	};

	for (size_t i = 0; i < RTE_DIM(wanted); i++) {
		/* Something that was given up before is not the reason. */
		fake_driver = (struct fake_driver){ .hard = true,
			.refusal = { { wanted[i].call, 0, -EIO },
					{ FAKE_CONFIGURE, BIT(ROCE_PORT_RSS), -EPERM } } };
		if (wanted[i].call == FAKE_CONFIGURE)
			fake_driver.refusal[1].rc = 0;
		want_failure(FAKE, wanted[i].rc, wanted[i].says);
	}
	asked_of(true);
}

/* With a smaller MTU than `mtu=` says the device would not be what was asked for. */
static void
refusal__of_the_wanted_mtu_fails(void **state)
{
	for (int call = FAKE_CONFIGURE; call < FAKE_CALLS; call++) {
		fake_driver = (struct fake_driver){
			.hard = true,
			.refusal = { { (enum fake_call)call, BIT(ROCE_PORT_RAISED_MTU), -EPERM } }
		};
		want_failure(FAKE " mtu=4096", call < FAKE_START ? -EINVAL : -ENODEV, "loop0");
	}
}

/* A device that somebody else has is not to be had with less. */
static void
refusal__of_a_busy_device_is_final(void **state)
{
	for (int call = FAKE_CONFIGURE; call <= FAKE_TX_QUEUE; call++) {
		fake_driver = (struct fake_driver){ .hard = true,
			.refusal = { { (enum fake_call)call, 0, -EBUSY } } };
		want_failure(FAKE, -EBUSY, "loop0");
		assert_int_equal(fake_driver.calls, 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusal__costs_the_feature_and_nothing_else),
		cmocka_unit_test(refusal__of_two_features_in_one_call_or_in_two),
		cmocka_unit_test(refusal__of_a_feature_that_takes_the_place_of_another),
		cmocka_unit_test(refusal__of_a_pair_keeps_what_matters_more),
		cmocka_unit_test(descriptors__become_fewer),
		cmocka_unit_test(descriptors__are_a_power_of_two),
		cmocka_unit_test(mtu__is_told_to_the_driver_when_it_is_raised),
		cmocka_unit_test(mtu__is_told_again_behind_a_reset),
		cmocka_unit_test(mtu__is_no_larger_than_the_device_says),
		cmocka_unit_test(offloads__are_asked_for_only_where_they_are_needed),
		cmocka_unit_test(vlan__passes_the_filter_of_the_device),
		cmocka_unit_test(buffers__hold_the_largest_frame_where_it_is_not_scattered),
		cmocka_unit_test(refusal__of_everything_fails_with_the_drivers_reason),
		cmocka_unit_test(refusal__of_the_wanted_mtu_fails),
		cmocka_unit_test(refusal__of_a_busy_device_is_final),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
