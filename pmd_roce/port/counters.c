/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include <rte_common.h>

#include "engine/stats.h"
#include "port/device.h"

/** Where a counter lies: in the statistics of an engine, or in those of its port queue. */
struct counter {
	const char *name;
	size_t offset;
};

static const struct counter engine_counters[] = {
#define STAT(name, unit, meaning) { #name, offsetof(struct roce_stats, name) },
#include "engine/stats.def"
#undef STAT
};

#define FAULTS(kind) offsetof(struct roce_port_queue, fault.count[kind])

static const struct counter port_counters[] = {
	{ "port_rx_frames", offsetof(struct roce_port_queue, stats.rx_frames) },
	{ "port_tx_frames", offsetof(struct roce_port_queue, stats.tx_frames) },
	{ "port_rx_neighbour", offsetof(struct roce_port_queue, stats.neighbour) },
	{ "port_rx_foreign", offsetof(struct roce_port_queue, stats.foreign) },
	{ "port_tx_refused", offsetof(struct roce_port_queue, stats.tx_refused) },
	{ "port_injected_losses", FAULTS(ROCE_FAULT_LOSS) },
	{ "port_injected_duplicates", FAULTS(ROCE_FAULT_DUPLICATE) },
	{ "port_injected_reorders", FAULTS(ROCE_FAULT_REORDER) },
	{ "port_injected_corruptions", FAULTS(ROCE_FAULT_CORRUPT) },
	{ "port_injected_marks", FAULTS(ROCE_FAULT_MARK) },
};

/* Written by the turner of the queue alone: a word is never torn. */
static uint64_t
read_word(const void *base, size_t offset)
{
	return __atomic_load_n((const uint64_t *)((const char *)base + offset), __ATOMIC_RELAXED);
}

bool
roce_device_counter(const struct roce_device *device, unsigned int index, const char **name,
		uint64_t *value)
{
	const struct roce_port *port = device->port;
	bool of_engine = index < RTE_DIM(engine_counters);
	const struct counter *counter;
	uint64_t sum = 0;

	if (index >= RTE_DIM(engine_counters) + RTE_DIM(port_counters))
		return false;
	counter = of_engine ? &engine_counters[index]
			    : &port_counters[index - RTE_DIM(engine_counters)];
	for (unsigned int q = 0; q < port->queues; q++) {
		const void *base = of_engine
				? (const void *)roce_engine_stats(port->queue[q].engine)
				: (const void *)&port->queue[q];

		sum += read_word(base, counter->offset);
	}
	*name = counter->name;
	*value = sum;
	return true;
}
