/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of roced: what it counts, and its processes, also those that no telemetry shows. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "roced.h"
#include "snapshot.h"
#include "text.h"

/** The counters of a roced of this version. */
static const struct {
	const char *list;
	const char *name;
	const char *meaning;
} known[] = {
#define COUNTER(name, meaning) { "counters", #name, meaning },
#include "roced/counters.def"
#undef COUNTER
#define COUNTER(name, meaning) { "uplink_counters", #name, meaning },
#include "local/uplink_counters.def"
#undef COUNTER
};

static const char *
meaning_of(const char *list, const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].list, list) == 0 && strcmp(known[i].name, name) == 0)
			return known[i].meaning;
	return "of another version of roced";
}

/* Begin a sample of roced; more labels may follow. */
static void
begin(struct info_text *text, struct json_object *roced)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%" PRIu64, info_number(roced, "pid"));
	info_text_sample(text);
	info_text_label(text, "pid", pid);
	info_text_label(text, "process", INFO_ROCED);
}

static void
write_gauge(struct info_text *text, struct json_object *roced, const char *name, uint64_t value,
		const char *help)
{
	info_text_family(text, INFO_GAUGE, name, help);
	begin(text, roced);
	info_text_value(text, value);
}

static void
write_sums(struct info_text *text, struct json_object *roced)
{
	const struct info_roced_sums sums = info_roced_sum(roced);

	info_text_family(text, INFO_GAUGE, "roced_info", "which roced runs; always 1");
	begin(text, roced);
	info_text_label(text, "version", info_words(roced, "version"));
	info_text_label(text, "mac", info_words(roced, "mac"));
	info_text_value(text, 1);
	write_gauge(text, roced, "roced_uptime_seconds", info_number(roced, "uptime_seconds"),
			"seconds since roced was started");
	write_gauge(text, roced, "roced_uplink", info_number(roced, "uplink"),
			"1: there is an uplink");
	write_gauge(text, roced, "roced_processes", sums.processes, "processes that are attached");
	write_gauge(text, roced, "roced_channels_open", sums.channels,
			"channels between two processes");
	write_gauge(text, roced, "roced_listeners", sums.listeners,
			"service ids at which processes listen");
}

/* One sample a process: the length of a list that it has. */
static void
write_processes(struct info_text *text, struct json_object *roced, const char *list,
		const char *name, const char *help)
{
	struct json_object *processes = info_roced_list(roced, "processes");

	info_text_family(text, INFO_GAUGE, name, help);
	for (size_t i = 0; i < info_roced_length(roced, "processes"); i++) {
		struct json_object *process = json_object_array_get_idx(processes, i);
		char pid[24], number[24];

		if (!json_object_is_type(process, json_type_object))
			continue;
		snprintf(pid, sizeof(pid), "%" PRIu64, info_number(process, "pid"));
		snprintf(number, sizeof(number), "%" PRIu64, info_number(process, "number"));
		info_text_sample(text);
		info_text_label(text, "pid", pid);
		info_text_label(text, "process", info_words(process, "name"));
		info_text_label(text, "number", number);
		info_text_value(text, info_roced_length(process, list));
	}
}

/* An object of the status, one family for each member of it. */
static void
write_counters(struct info_text *text, struct json_object *roced, const char *list,
		const char *prefix)
{
	struct json_object *counters = info_member(roced, list);
	char family[96];

	if (counters == NULL)
		return;
	json_object_object_foreach(counters, name, value)
	{
		if (!json_object_is_type(value, json_type_int))
			continue;
		snprintf(family, sizeof(family), "%s%.72s", prefix, name);
		info_text_family(text, INFO_COUNTER, family, meaning_of(list, name));
		begin(text, roced);
		info_text_value(text, json_object_get_uint64(value));
	}
}

void
info_roced_metrics(struct info_text *text, struct json_object *roced)
{
	write_sums(text, roced);
	write_processes(text, roced, "channels", "roced_process_channels", "channels of a process");
	write_processes(text, roced, "listeners", "roced_process_listeners",
			"service ids at which a process listens");
	write_counters(text, roced, "counters", "roced_");
	write_counters(text, roced, "uplink_counters", "roced_uplink_");
}
