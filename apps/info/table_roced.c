/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of the table that are of roced, and of the channels that processes have by it. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "rate.h"
#include "roced.h"
#include "snapshot.h"
#include "table_pvt.h"

static const char *
plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static uint64_t
moved(struct json_object *before, struct json_object *now, const char *const *keys, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += info_table_moved(before, now, keys[i], INFO_BITS_STATS);
	return sum;
}

/* Frames that its uplink moves, if it has one. */
static void
add_uplink(struct info_maker *maker, struct json_object *before, struct json_object *now)
{
	static const char *const dropped[] = { "rx_missed", "rx_errors", "rx_wrong_address",
		"rx_unroutable", "rx_slow", "rx_roced_lost", "tx_forged", "tx_no_memory",
		"tx_refused" };
	static const char *const in[] = { "rx_frames" }, *const out[] = { "tx_frames" };
	struct json_object *old = info_member(before, "uplink_counters");
	struct json_object *counters = info_member(now, "uplink_counters");
	char received[16], sent[16], lost[16];

	if (counters == NULL)
		return;
	info_table_line(maker, INFO_STYLE_PLAIN, "  uplink: frames/s: %s in, %s out, %s dropped",
			info_table_rate(maker, moved(old, counters, in, 1), received),
			info_table_rate(maker, moved(old, counters, out, 1), sent),
			info_table_rate(maker,
					moved(old, counters, dropped,
							sizeof(dropped) / sizeof(dropped[0])),
					lost));
}

void
info_table_roced(struct info_maker *maker, struct json_object *before, struct json_object *now)
{
	static const char *const dropped[] = { "frames_malformed", "frames_forged",
		"frames_unroutable", "frames_slow" };
	static const char *const ended[] = { "refused", "violations", "slow" };
	struct json_object *old = info_member(before, "counters");
	struct json_object *counters = info_member(now, "counters");
	const struct info_roced_sums sums = info_roced_sum(now);
	char passed[16], returned[16], lost[16], clients[16];
	char age[16], processes[16], channels[16], listeners[16];

	info_table_line(maker, INFO_STYLE_PLAIN,
			"  %s, up %s s: %s process%s, %s channel%s, %s listener%s",
			info_number(now, "uplink") != 0 ? "with an uplink" : "no uplink",
			info_table_count(info_number(now, "uptime_seconds"), age),
			info_table_count(sums.processes, processes),
			sums.processes == 1 ? "" : "es", info_table_count(sums.channels, channels),
			plural(sums.channels), info_table_count(sums.listeners, listeners),
			plural(sums.listeners));
	info_table_line(maker, INFO_STYLE_PLAIN,
			"  messages/s: %s passed, %s returned, %s dropped; %s clients/s refused or ended",
			info_table_rate(maker,
					info_table_moved(old, counters, "frames_forwarded",
							INFO_BITS_STATS),
					passed),
			info_table_rate(maker,
					info_table_moved(old, counters, "frames_returned",
							INFO_BITS_STATS),
					returned),
			info_table_rate(maker,
					moved(old, counters, dropped,
							sizeof(dropped) / sizeof(dropped[0])),
					lost),
			info_table_rate(maker,
					moved(old, counters, ended,
							sizeof(ended) / sizeof(ended[0])),
					clients));
	add_uplink(maker, before, now);
}

static enum info_style
style_of(const char *state)
{
	if (strcmp(state, "broken") == 0)
		return INFO_STYLE_TROUBLE;
	return strcmp(state, "stalled") == 0 ? INFO_STYLE_NOTICE : INFO_STYLE_PLAIN;
}

static void
add_channel(struct info_maker *maker, const char *number, struct json_object *before,
		struct json_object *now)
{
	struct json_object *peer = info_roced_process(maker->roced, strtoull(number, NULL, 10));
	const char *state = info_words(now, "state");
	char in[16], out[16], received[16], sent[16], pid[24] = "-";

	if (peer != NULL)
		snprintf(pid, sizeof(pid), "%" PRIu64, info_number(peer, "pid"));
	info_table_line(maker, style_of(state), "  %4.4s %8.8s %-16.16s %-7.7s %8s %8s %8s %8s",
			number, pid, peer != NULL ? info_words(peer, "name") : "-", state,
			info_table_rate(maker,
					info_table_moved(before, now, "rx_frames", INFO_BITS_STATS),
					in),
			info_table_rate(maker,
					info_table_moved(before, now, "tx_frames", INFO_BITS_STATS),
					out),
			info_table_count(info_number(now, "rx_frames"), received),
			info_table_count(info_number(now, "tx_frames"), sent));
}

void
info_table_channels(struct info_maker *maker, struct json_object *before, struct json_object *now)
{
	static const char *const dropped[] = { "local_tx_stalled", "local_tx_no_channel",
		"local_rx_wrong_source", "local_rx_no_memory", "local_inbox_dropped",
		"local_tx_roced_lost" };
	static const char *const full[] = { "local_tx_full" };
	struct json_object *old = info_member(before, "stats"), *stats = info_member(now, "stats");
	struct json_object *channels = info_member(now, "channels");
	struct json_object *port = info_member(now, "port");
	uint64_t n = info_number(port, "channels");
	char lost[16], waits[16];

	if (channels == NULL)
		return;
	info_table_line(maker, INFO_STYLE_PLAIN,
			"  process %" PRIu64 " of roced: %" PRIu64 " channel%s, %" PRIu64
			" polled; per second %s full, %s dropped",
			info_number(port, "process"), n, plural(n),
			info_number(port, "channels_polled"),
			info_table_rate(maker, moved(old, stats, full, 1), waits),
			info_table_rate(maker,
					moved(old, stats, dropped,
							sizeof(dropped) / sizeof(dropped[0])),
					lost));
	if (json_object_object_length(channels) == 0)
		return;
	info_table_line(maker, INFO_STYLE_HEADING, "  %4s %8s %-16s %-7s %8s %8s %8s %8s", "PEER",
			"PID", "PROGRAM", "state", "in/s", "out/s", "in", "out");
	json_object_object_foreach(channels, number, channel) add_channel(maker, number,
			info_member(info_member(before, "channels"), number), channel);
}
