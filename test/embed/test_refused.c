/* SPDX-License-Identifier: BSD-3-Clause */

/* Attachments that are refused, each with a word of its error message. The order is that of a process's life. */

#include <errno.h>

#include <rte_common.h>
#include <rte_lcore.h>

#include "embed.h"
#include "rings.h"

static struct rings wire;

static struct roce_attach_config
queues(void)
{
	struct roce_attach_config config = embed_handover(1);

	config.mode = ROCE_ATTACH_QUEUES;
	config.port_id = wire.port[0];
	config.rx_queue[0] = 1;
	config.tx_queue[0] = 1;
	return config;
}

static void
attach__never_starts_the_eal(void **state)
{
	const struct roce_attach_config config = embed_handover(1);

	embed_refused(&config, -ENODEV, "EAL");
	assert_int_equal(rte_lcore_count(), 0);
	embed_start(state);
	rings_open(&wire, false);
}

static void
name__is_needed_and_nobody_elses(void **state)
{
	static const char *const wrong[] = { NULL, "", "two words", "one,two=3",
		"a-name-that-is-longer-than-the-field-that-it-has-to-fit-into-so-it-does-not" };
	static const char *const taken[] = { "loop0", "loop1", RINGS_NAME "0", "hands2" };
	const struct roce_attach_config other = embed_handover(2);
	struct roce_attach_config config = embed_handover(1);
	struct roce_device *device = embed_attach(&other);

	for (size_t i = 0; i < RTE_DIM(wrong); i++) {
		config.name = wrong[i];
		embed_refused(&config, -EINVAL, "name");
	}
	for (size_t i = 0; i < RTE_DIM(taken); i++) {
		config.name = taken[i];
		embed_refused(&config, -EBUSY, taken[i]);
	}
	roce_device_close(device);
}

static void
params__say_what_is_the_devices_alone(void **state)
{
	static const struct {
		const char *params, *word;
	} rule[] = {
		{ NULL, "ip= is missing" },
		{ "", "ip= is missing" },
		{ "mtu=1024", "ip= is missing" },
		{ "ip=192.0.2.1/24 port=loop0", "port=" },
		{ "ip=192.0.2.1/24 queues=2", "queues=" },
		{ "ip=192.0.2.1/24 lcores=1", "lcores=" },
		{ "ip=192.0.2.1/24 color=red", "color" },
		{ "ip=192.0.2.1/24 mtu=4096", "mtu=4096" },
		{ "ip=192.0.2.1/24 gw=198.51.100.1", "gw=" },
	};
	struct roce_attach_config config = embed_handover(1);

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		config.params = rule[i].params;
		embed_refused(&config, -EINVAL, rule[i].word);
	}
}

static void
environment__overrides_nothing_that_a_program_said(void **state)
{
	const struct roce_attach_config config = embed_handover(1);
	struct roce_device_attr attr;
	struct roce_device *device;

	setenv("UDAPL_ROCE_PARAMS", "mtu=256", 1);
	device = embed_attach(&config);
	unsetenv("UDAPL_ROCE_PARAMS");
	roce_device_query(device, &attr);
	assert_int_equal(attr.mtu, 1024);
	roce_device_close(device);
}

/* Unlike parameters, faults of the environment reach what a program attaches. */
static void
environment__has_faults_for_all_devices(void **state)
{
	const struct roce_attach_config config = embed_handover(1);

	setenv("ROCE_FAULTS", "loss=many", 1);
	embed_refused(&config, -EINVAL, "ROCE_FAULTS: loss=many");
	unsetenv("ROCE_FAULTS");
}

static int
never(void *arg, const uint8_t ip[16], uint8_t mac[6])
{
	return -EHOSTUNREACH;
}

static void
nothing(void *arg, unsigned int engine, struct rte_mbuf **pkts, uint16_t n)
{
}

static void
handover__needs_a_mac_and_room(void **state)
{
	struct roce_attach_config config = embed_handover(1);

	config.mode = 0;
	embed_refused(&config, -EINVAL, "mode 0");
	config = embed_handover(1);
	config.engines = ROCE_ENGINES_LIMIT + 1;
	embed_refused(&config, -EINVAL, "9 engines");
	config = embed_handover(1);
	memset(config.mac, 0, sizeof(config.mac));
	embed_refused(&config, -EINVAL, "mac");
	config.mac[0] = 1;
	embed_refused(&config, -EINVAL, "mac");
	config = embed_handover(1);
	config.frame_room = 300;
	embed_refused(&config, -EINVAL, "300 bytes");
	config = embed_handover(1);
	config.foreign = nothing;
	embed_refused(&config, -EINVAL, "foreign");
	config = embed_handover(1);
	config.resolve = never;
	config.params = "ip=192.0.2.1/24 neigh=192.0.2.9@02:00:00:00:00:09";
	embed_refused(&config, -EINVAL, "neigh=");
	config.params = "ip=192.0.2.1/24 gw=198.51.100.1";
	embed_refused(&config, -EINVAL, "gw=");
}

static void
pool__has_room_for_the_largest_frame(void **state)
{
	struct rte_mempool *small = embed_pool("small", 63, 1024);
	struct rte_mempool *plain = rte_mempool_create(
			"plain", 63, 4096, 0, 0, NULL, NULL, NULL, NULL, SOCKET_ID_ANY, 0);
	struct roce_attach_config config = embed_handover(1);

	assert_non_null(plain);
	config.engines = 2;
	config.pool[1] = small;
	embed_refused(&config, -EINVAL, "pool 1 has room");
	config.pool[1] = plain;
	embed_refused(&config, -EINVAL, "pool 1 is none");
	/* A smaller path MTU fits. */
	config.pool[1] = small;
	config.params = "ip=192.0.2.1/24 mtu=512";
	roce_device_close(embed_attach(&config));
	embed_pool_end(small);
	rte_mempool_free(plain);
}

static void
queues__are_those_of_a_started_port(void **state)
{
	struct roce_attach_config config = queues();
	struct roce_device *device;

	config.port_id = RTE_MAX_ETHPORTS - 1;
	embed_refused(&config, -ENODEV, "no port");
	config.port_id = UINT16_MAX;
	embed_refused(&config, -ENODEV, "no port");
	config = queues();
	embed_refused(&config, -ENODEV, "not started");
	rings_start(&wire);

	config.rx_queue[0] = RINGS_QUEUES;
	embed_refused(&config, -ENODEV, "no receive queue 2");
	config = queues();
	config.tx_queue[0] = RINGS_QUEUES;
	embed_refused(&config, -ENODEV, "no transmit queue 2");
	config = queues();
	config.engines = 2;
	config.rx_queue[1] = 1;
	embed_refused(&config, -EINVAL, "same queue");
	config = queues();
	memset(config.mac, 0, sizeof(config.mac));
	embed_refused(&config, -EINVAL, "mac is needed");
	config = queues();
	config.tx_ip_cksum = true;
	embed_refused(&config, -EINVAL, "tx_ip_cksum");

	/* A queue has one engine. */
	config = queues();
	device = embed_attach(&config);
	config.name = "another";
	embed_refused(&config, -EBUSY, "hands1");
	config.tx_queue[0] = 0;
	embed_refused(&config, -EBUSY, "hands1");
	config.rx_queue[0] = 0;
	roce_device_close(embed_attach(&config));
	roce_device_close(device);
}

/* The other way round: a port that is opened as a device is no port of the program's. */
static void
queues__are_not_those_of_a_device_of_our_own(void **state)
{
	struct roce_attach_config config = queues();
	struct roce_device *device;
	char errmsg[256];

	rings_stop(&wire);
	assert_int_equal(roce_device_open("port=" RINGS_NAME "0 queues=2 ip=192.0.2.7/24", &device,
					 errmsg, sizeof(errmsg)),
			0);
	embed_refused(&config, -EBUSY, "device of its own");
	roce_device_close(device);
	rings_close(&wire);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attach__never_starts_the_eal),
		cmocka_unit_test(name__is_needed_and_nobody_elses),
		cmocka_unit_test(params__say_what_is_the_devices_alone),
		cmocka_unit_test(environment__overrides_nothing_that_a_program_said),
		cmocka_unit_test(environment__has_faults_for_all_devices),
		cmocka_unit_test(handover__needs_a_mac_and_room),
		cmocka_unit_test(pool__has_room_for_the_largest_frame),
		cmocka_unit_test(queues__are_those_of_a_started_port),
		cmocka_unit_test(queues__are_not_those_of_a_device_of_our_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
