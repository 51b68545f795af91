/* SPDX-License-Identifier: BSD-3-Clause */

/* The devices as telemetry shows them: its commands lie below, and know no device. */

#include "device/device.h"
#include "local/local.h"

/** Channels that are looked at under one lock. */
#define CHANNELS 64

/* Steering is left out for an attached port, whose frames the program steers, and for one queue, which receives all of them. */
static void
describe(const struct roce_device *device, struct roce_telemetry_device *shown)
{
	const struct roce_port *port = device->port;
	const struct roce_subnet *first = &device->args.ip.at[0];
	bool steers = port->queues > 1 && port->attached.mode == 0;

	*shown = (struct roce_telemetry_device){
		.device = device,
		.port = port->probe.name,
		.driver = port->driver,
		.domain = device->domain,
		.cm = device->cm,
		.engines = port->queues,
		.mtu = roce_mtu_bytes(port->mtu_code),
		.ip = first->addr,
		.prefix = first->prefix,
		.mac = port->mac,
		.serviced = port->serviced || roce_port_is_programs(port),
		.link = roce_device_has_link(device),
		.steering_ipv4 = steers ? roce_steer_name(port->steer.v4) : NULL,
		.steering_ipv6 = steers ? roce_steer_name(port->steer.v6) : NULL,
	};
	if (port->local == NULL)
		return;
	shown->process = roce_local_number(port->local);
	roce_local_count_channels(port->local, &shown->channels, &shown->channels_polled);
}

/* A callback and its argument, on the way through roce_device_each(). */
struct show {
	void (*fn)(const struct roce_telemetry_device *device, void *arg);
	void *arg;
};

static void
show(const struct roce_device *device, void *arg)
{
	const struct show *to = arg;
	struct roce_telemetry_device shown;

	describe(device, &shown);
	to->fn(&shown, to->arg);
}

static void
each(void (*fn)(const struct roce_telemetry_device *device, void *arg), void *arg)
{
	struct show to = { .fn = fn, .arg = arg };

	roce_device_each(show, &to);
}

static void
each_user(const struct roce_device *device,
		void (*fn)(void *arg, const char *name, const struct roce_ip *ip), void *arg)
{
	/* Only the devices are const for telemetry. */
	rte_spinlock_t *lock = (rte_spinlock_t *)(uintptr_t)&device->users_lock;
	const struct roce_device_user *user;

	rte_spinlock_lock(lock);
	LIST_FOREACH(user, &device->users, link)
		if (user->name != NULL)
			fn(arg, user->name, &user->device->args.ip.at[0].addr);
	rte_spinlock_unlock(lock);
}

static const char *
state_of(const struct roce_local_channel *channel)
{
	if (channel->broken)
		return "broken";
	if (channel->stalled)
		return "stalled";
	return channel->polled ? "polled" : "armed";
}

static unsigned int
channels(const struct roce_device *device, uint32_t first, struct roce_telemetry_channel *channel,
		unsigned int n)
{
	struct roce_engine *engine = roce_domain_engine(device->domain, 0);
	const struct roce_local *local = device->port->local;
	struct roce_local_channel found[CHANNELS];
	unsigned int count;

	if (local == NULL)
		return 0;
	roce_engine_lock(engine);
	count = roce_local_channels(local, first, found, RTE_MIN(n, (unsigned int)CHANNELS));
	roce_engine_unlock(engine);
	for (unsigned int i = 0; i < count; i++)
		channel[i] = (struct roce_telemetry_channel){
			.process = found[i].number,
			.state = state_of(&found[i]),
			.rx_frames = found[i].rx_frames,
			.tx_frames = found[i].tx_frames,
		};
	return count;
}

const struct roce_telemetry_source roce_device_telemetry = {
	.each = each,
	.each_user = each_user,
	.channels = channels,
	.counter = roce_device_counter,
	.meaning = roce_counter_meaning,
};
