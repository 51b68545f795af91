/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_telemetry.h>

#include "cm/cm_stats.h"
#include "observe/telemetry_pvt.h"
#include "queue/stats.h"
#include "wire/icrc.h"

const struct roce_telemetry_source *roce_telemetry_source;

/* More states than any connection has. */
#define CM_STATES_MAX 32

/* The answer of a command: one dictionary a device, or only that of the device asked for. */
struct answer {
	const char *port; /* NULL: all */
	struct rte_tel_data *data;
	void (*fill)(const struct roce_telemetry_device *device, struct rte_tel_data *dict);
	bool found;
};

static void
fill_stats(const struct roce_telemetry_device *device, struct rte_tel_data *dict)
{
	const char *name;
	uint64_t value;

	for (unsigned int i = 0; roce_telemetry_source->counter(device->device, i, &name, &value);
			i++)
		rte_tel_data_add_dict_uint(dict, name, value);
}

static void
fill_steering(const struct roce_telemetry_device *device, struct rte_tel_data *dict)
{
	if (device->steering_ipv4 == NULL)
		return;
	rte_tel_data_add_dict_string(dict, "steering_ipv4", device->steering_ipv4);
	rte_tel_data_add_dict_string(dict, "steering_ipv6", device->steering_ipv6);
}

static const char *
write_ip(const struct roce_ip *ip, char text[INET6_ADDRSTRLEN])
{
	bool v4 = roce_ip_is_v4(ip);

	text[0] = '\0';
	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? ip->b + 12 : ip->b, text, INET6_ADDRSTRLEN);
	return text;
}

/** The adapters of a device, and the address of each. */
struct adapters {
	struct rte_tel_data *names;
	struct rte_tel_data *ips;
};

/* An answer has no room for a name that is too long, nor for more than a few hundred. */
static void
add_adapter(void *arg, const char *name, const struct roce_ip *ip)
{
	struct adapters *adapters = arg;
	char text[INET6_ADDRSTRLEN];

	if (rte_tel_data_add_array_string(adapters->names, name) == 0)
		rte_tel_data_add_array_string(adapters->ips, write_ip(ip, text));
}

static void
fill_adapters(const struct roce_telemetry_device *device, struct rte_tel_data *dict)
{
	struct adapters adapters = { rte_tel_data_alloc(), rte_tel_data_alloc() };

	if (adapters.names != NULL && adapters.ips != NULL) {
		rte_tel_data_start_array(adapters.names, RTE_TEL_STRING_VAL);
		rte_tel_data_start_array(adapters.ips, RTE_TEL_STRING_VAL);
		roce_telemetry_source->each_user(device->device, add_adapter, &adapters);
	}
	roce_telemetry_put(dict, "adapters", adapters.names);
	roce_telemetry_put(dict, "adapter_ips", adapters.ips);
}

static void
fill_port(const struct roce_telemetry_device *device, struct rte_tel_data *dict)
{
	char text[INET6_ADDRSTRLEN];

	rte_tel_data_add_dict_string(dict, "driver", device->driver);
	rte_tel_data_add_dict_string(dict, "ip", write_ip(&device->ip, text));
	rte_tel_data_add_dict_uint(dict, "prefix", device->prefix);
	snprintf(text, sizeof(text), RTE_ETHER_ADDR_PRT_FMT, RTE_ETHER_ADDR_BYTES(&device->mac));
	rte_tel_data_add_dict_string(dict, "mac", text);
	rte_tel_data_add_dict_uint(dict, "mtu", device->mtu);
	rte_tel_data_add_dict_uint(dict, "engines", device->engines);
	rte_tel_data_add_dict_uint(dict, "serviced", device->serviced);
	rte_tel_data_add_dict_uint(dict, "link", device->link);
	rte_tel_data_add_dict_uint(dict, "hugepages", rte_eal_has_hugepages() != 0);
	rte_tel_data_add_dict_string(dict, "icrc", roce_icrc_path());
	fill_steering(device, dict);
	if (device->process != 0) {
		rte_tel_data_add_dict_uint(dict, "process", device->process);
		rte_tel_data_add_dict_uint(dict, "channels", device->channels);
		rte_tel_data_add_dict_uint(dict, "channels_polled", device->channels_polled);
	}
	fill_adapters(device, dict);
}

void
roce_telemetry_key(char *key, size_t len, const char *name)
{
	size_t i;

	for (i = 0; name[i] != '\0' && i < len - 1; i++)
		key[i] = isalnum((unsigned char)name[i]) ? name[i] : '_';
	key[i] = '\0';
}

static void
add_state(struct rte_tel_data *dict, unsigned int state, uint32_t count)
{
	const char *name = roce_cm_state_name(state);
	char key[32];

	if (name == NULL)
		return;
	roce_telemetry_key(key, sizeof(key), name);
	rte_tel_data_add_dict_uint(dict, key, count);
}

struct rte_tel_data *
roce_telemetry_dict(void)
{
	struct rte_tel_data *dict = rte_tel_data_alloc();

	if (dict != NULL)
		rte_tel_data_start_dict(dict);
	return dict;
}

void
roce_telemetry_put(struct rte_tel_data *outer, const char *key, struct rte_tel_data *dict)
{
	if (dict != NULL && rte_tel_data_add_dict_container(outer, key, dict, 0) != 0)
		rte_tel_data_free(dict);
}

/* States have the names of counters: so these are by themselves. */
static void
add_cm_counters(struct rte_tel_data *dict, const struct roce_cm *cm)
{
	const struct roce_cm_stats *stats = roce_cm_stats(cm);
	struct rte_tel_data *counters = roce_telemetry_dict();

	if (counters == NULL)
		return;
#define STAT(name, unit, meaning)   \
	rte_tel_data_add_dict_uint( \
			counters, #name, __atomic_load_n(&stats->name, __ATOMIC_RELAXED));
#include "cm/cm_stats.def"
#undef STAT
	roce_telemetry_put(dict, "counters", counters);
}

static void
fill_cm(const struct roce_telemetry_device *device, struct rte_tel_data *dict)
{
	struct roce_engine *engine = roce_domain_engine(device->domain, 0);
	uint32_t counts[CM_STATES_MAX] = { 0 };
	unsigned int states;

	roce_engine_lock(engine);
	states = roce_cm_count_by_state(device->cm, counts, RTE_DIM(counts));
	roce_engine_unlock(engine);
	for (unsigned int i = 0; i < RTE_MIN(states, (unsigned int)RTE_DIM(counts)); i++)
		add_state(dict, i, counts[i]);
	add_cm_counters(dict, device->cm);
}

/* Written by the poller of the engine alone: a word is never torn. */
static uint64_t
look(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* A few of the counters, which tell whether frames come on the right queues: with all there would be no room. */
static void
fill_engines(const struct roce_telemetry_device *device, struct rte_tel_data *dict)
{
	for (unsigned int q = 0; q < device->engines; q++) {
		const struct roce_stats *stats =
				roce_engine_stats(roce_domain_engine(device->domain, q));
		/* First: a poller counts on, and no more frames are forwarded than were received. */
		uint64_t handed_over = look(&stats->rx_handed_over);
		struct rte_tel_data *one = roce_telemetry_dict();
		char key[16];

		if (one == NULL)
			return;
		rte_smp_rmb();
		rte_tel_data_add_dict_uint(one, "rx_frames", look(&stats->rx_frames));
		rte_tel_data_add_dict_uint(one, "rx_handed_over", handed_over);
		rte_tel_data_add_dict_uint(one, "rx_inbox_full", look(&stats->rx_inbox_full));
		rte_tel_data_add_dict_uint(one, "tx_frames", look(&stats->tx_frames));
		rte_tel_data_add_dict_uint(one, "retransmits", look(&stats->retransmits));
		snprintf(key, sizeof(key), "%u", q);
		roce_telemetry_put(dict, key, one);
	}
}

static void
add_device(const struct roce_telemetry_device *device, void *arg)
{
	const char *name = device->port;
	struct answer *answer = arg;
	struct rte_tel_data *dict = answer->data;
	char key[RTE_TEL_MAX_STRING_LEN];

	if (answer->port != NULL && strcmp(answer->port, name) != 0)
		return;
	answer->found = true;
	if (answer->port == NULL) {
		dict = rte_tel_data_alloc();
		if (dict == NULL)
			return;
	}
	rte_tel_data_start_dict(dict);
	rte_tel_data_add_dict_string(dict, "port", name);
	answer->fill(device, dict);
	roce_telemetry_key(key, sizeof(key), name);
	if (answer->port == NULL &&
			rte_tel_data_add_dict_container(answer->data, key, dict, 0) != 0)
		rte_tel_data_free(dict);
}

static int
collect(const char *params, struct rte_tel_data *data,
		void (*fill)(const struct roce_telemetry_device *device, struct rte_tel_data *dict))
{
	struct answer answer = { .data = data, .fill = fill };

	if (params != NULL && *params != '\0')
		answer.port = params;
	else
		rte_tel_data_start_dict(data);
	roce_telemetry_source->each(add_device, &answer);
	return answer.port != NULL && !answer.found ? -EINVAL : 0;
}

static int
answer_ports(const char *cmd, const char *params, struct rte_tel_data *data)
{
	return collect(params, data, fill_port);
}

static int
answer_stats(const char *cmd, const char *params, struct rte_tel_data *data)
{
	return collect(params, data, fill_stats);
}

static int
answer_engines(const char *cmd, const char *params, struct rte_tel_data *data)
{
	return collect(params, data, fill_engines);
}

static int
answer_cm(const char *cmd, const char *params, struct rte_tel_data *data)
{
	return collect(params, data, fill_cm);
}

void
roce_telemetry_setup(const struct roce_telemetry_source *source)
{
	static bool done;

	if (done)
		return;
	done = true;
	roce_telemetry_source = source;
	rte_telemetry_register_cmd("/roce/ports", answer_ports,
			"The RoCE devices that are open. Optional parameter: port");
	rte_telemetry_register_cmd("/roce/stats", answer_stats,
			"Counters of each device. Optional parameter: port");
	rte_telemetry_register_cmd("/roce/engines", answer_engines,
			"Frames of each engine of a device, and how many came on another's queue. Optional parameter: port");
	rte_telemetry_register_cmd("/roce/cm", answer_cm,
			"How many connections are in which state, and counters. Optional parameter: port");
	roce_telemetry_queues_setup();
	roce_telemetry_pages_setup();
	roce_telemetry_help_setup();
}
