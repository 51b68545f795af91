/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that were received and dropped, by counter. Each is a difference: a well-behaved peer sends none in vain. */

#include <stdio.h>
#include <string.h>

#include "cm/cm_stats.h"
#include "queue/stats.h"
#include "replay.h"

struct counter {
	const char *name;
	const char *meaning;
	size_t off;
};

static const struct counter engine_counters[] = {
#define STAT(name, unit, meaning) { #name, meaning, offsetof(struct roce_stats, name) },
#include "queue/stats.def"
#undef STAT
};

static const struct counter cm_counters[] = {
#define STAT(name, unit, meaning) { #name, meaning, offsetof(struct roce_cm_stats, name) },
#include "cm/cm_stats.def"
#undef STAT
};

static bool
is_drop(const struct counter *counter)
{
	return strncmp(counter->meaning, "dropped:", strlen("dropped:")) == 0 ||
			strcmp(counter->name, "rx_unknown") == 0;
}

static void
judge(struct rp_world *world, const struct counter *counter, const void *stats)
{
	uint64_t times;
	char name[64];

	if (!is_drop(counter))
		return;
	memcpy(&times, (const char *)stats + counter->off, sizeof(times));
	(void)snprintf(name, sizeof(name), "dropped.%s", counter->name);
	for (uint64_t i = 0; i < times; i++)
		rp_differ(world, name, 0, times, 0);
}

void
rp_drops_finish(struct rp_world *world)
{
	for (size_t i = 0; i < RTE_DIM(engine_counters); i++)
		judge(world, &engine_counters[i], roce_engine_stats(world->engine));
	for (size_t i = 0; i < RTE_DIM(cm_counters) && world->cm != NULL; i++)
		judge(world, &cm_counters[i], roce_cm_stats(world->cm));
}
