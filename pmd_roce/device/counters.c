/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include <rte_common.h>

#include "device/device.h"
#include "local/local.h"
#include "queue/stats.h"

/** Where a counter lies: in the statistics of an engine, of its port queue, or of the shared adapter. */
struct counter {
	const char *name;
	const char *unit;
	const char *meaning;
	size_t offset;
};

static const struct counter engine_counters[] = {
#define STAT(name, unit, meaning) { #name, unit, meaning, offsetof(struct roce_stats, name) },
#include "queue/stats.def"
#undef STAT
};

#define QUEUE(member) offsetof(struct roce_port_queue, member)
#define FAULTS(kind)  QUEUE(fault_injection.count[kind])

static const struct counter port_counters[] = {
	/* clang-format off */
	{ "port_rx_frames", "frames", "received from the device", QUEUE(stats.rx_frames) },
	{ "port_tx_frames", "frames", "taken by the device", QUEUE(stats.tx_frames) },
	{ "port_rx_neighbour", "frames", "received: ARP and neighbour discovery for us", QUEUE(stats.neighbour) },
	{ "port_rx_foreign", "frames", "received: none of our business", QUEUE(stats.foreign) },
	{ "port_tx_refused", "times", "the device did not take all frames", QUEUE(stats.tx_refused) },
	{ "port_rx_interrupts", "times", "the device ended a sleep: a frame came", QUEUE(stats.rx_interrupts) },
	{ "port_injected_losses", "frames", "lost on purpose", FAULTS(ROCE_FAULT_LOSS) },
	{ "port_injected_duplicates", "frames", "sent twice on purpose", FAULTS(ROCE_FAULT_DUPLICATE) },
	{ "port_injected_reorders", "frames", "held back on purpose", FAULTS(ROCE_FAULT_REORDER) },
	{ "port_injected_corruptions", "frames", "damaged on purpose", FAULTS(ROCE_FAULT_CORRUPT) },
	{ "port_injected_marks", "frames", "marked as congested on purpose", FAULTS(ROCE_FAULT_MARK) },
	/* clang-format on */
};

/* Of the adapter that processes share (local/local.h); 0 of any other. */
static const struct counter local_counters[] = {
#define STAT(name, unit, meaning) \
	{ "local_" #name, unit, meaning, offsetof(struct roce_local_stats, name) },
#include "local/local_stats.def"
#undef STAT
};

enum kind {
	OF_ENGINE,
	OF_PORT,
	OF_LOCAL,
};

/* NULL: there is none of that index. */
static const struct counter *
counter_at(unsigned int index, enum kind *kind)
{
	*kind = OF_ENGINE;
	if (index < RTE_DIM(engine_counters))
		return &engine_counters[index];
	index -= RTE_DIM(engine_counters);
	*kind = OF_PORT;
	if (index < RTE_DIM(port_counters))
		return &port_counters[index];
	index -= RTE_DIM(port_counters);
	*kind = OF_LOCAL;
	return index < RTE_DIM(local_counters) ? &local_counters[index] : NULL;
}

/* Written by the poller of the queue alone: a word is never torn. */
static uint64_t
read_word(const void *base, size_t offset)
{
	return __atomic_load_n((const uint64_t *)((const char *)base + offset), __ATOMIC_RELAXED);
}

static uint64_t
sum_queues(const struct roce_port *port, const struct counter *counter, enum kind kind)
{
	uint64_t sum = 0;

	for (unsigned int q = 0; q < port->queues; q++) {
		const void *base = kind == OF_ENGINE
				? (const void *)roce_engine_stats(port->queue[q].engine)
				: (const void *)&port->queue[q];

		sum += read_word(base, counter->offset);
	}
	return sum;
}

static uint64_t
read_local(const struct roce_port *port, const struct counter *counter)
{
	return port->local == NULL ? 0 : read_word(roce_local_stats(port->local), counter->offset);
}

bool
roce_device_counter(const struct roce_device *device, unsigned int index, const char **name,
		uint64_t *value)
{
	enum kind kind;
	const struct counter *counter = counter_at(index, &kind);

	if (counter == NULL)
		return false;
	*name = counter->name;
	if (kind == OF_LOCAL)
		*value = read_local(device->port, counter);
	else
		*value = sum_queues(device->port, counter, kind);
	return true;
}

bool
roce_counter_meaning(unsigned int index, const char **name, const char **unit, const char **meaning)
{
	enum kind kind;
	const struct counter *counter = counter_at(index, &kind);

	if (counter == NULL)
		return false;
	*name = counter->name;
	*unit = counter->unit;
	*meaning = counter->meaning;
	return true;
}
