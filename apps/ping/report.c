/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <math.h>
#include <stdio.h>

#include <json-c/json.h>

#include "cli/json.h"
#include "cli/signals.h"

static void
add_config(struct json_object *config, const struct ping_options *options)
{
	static const char *const mode[] = {
		[PING_LOOP] = "loop",
		[PING_SERVER] = "server",
		[PING_CLIENT] = "client",
	};
	bool loop = options->mode == PING_LOOP;

	cli_json_string(config, "mode", mode[options->mode]);
	cli_json_string(config, "ia", loop ? "loop0" : options->ia);
	cli_json_string(config, "peer", loop ? "loop1" : options->host);
	cli_json_count(config, "port", options->port);
	cli_json_count(config, "count", options->count);
	if (options->mode == PING_SERVER)
		return;
	cli_json_count(config, "size", options->size);
	cli_json_count(config, "interval_msec", options->interval_ms);
}

int
ping_report_begin(struct ping_report *report, const struct ping_options *options)
{
	struct json_object *config;

	*report = (struct ping_report){
		.options = options,
		.quiet = options->json && options->json_file == NULL,
	};
	if (!options->json)
		return 0;
	report->root = cli_json_begin("dat-ping", options->json_file, &report->output);
	if (report->root == NULL)
		return -1;
	config = json_object_new_object();
	json_object_object_add(report->root, "config", config);
	json_object_object_add(report->root, "results", json_object_new_array());
	add_config(config, options);
	return 0;
}

int
ping_report_listens(const struct ping_report *report)
{
	if (report->quiet)
		return 0;
	printf("dat-ping answers on port %u of %s\n", report->options->port, report->options->ia);
	return cli_output_flush();
}

void
ping_report_connected(const struct ping_report *report, const char *whom)
{
	if (!report->quiet)
		printf("dat-ping %s: %u bytes\n", whom, report->options->size);
}

int
ping_report_round(const struct ping_report *report, uint64_t number, double us)
{
	if (report->quiet)
		return 0;
	printf("%u bytes: seq=%llu time=%.1f us\n", report->options->size,
			(unsigned long long)number, us);
	return cli_output_flush();
}

static double
lost_percent(const struct ping_times *times)
{
	if (times->sent == 0)
		return 0;
	return 100.0 * (double)(times->sent - times->back) / (double)times->sent;
}

static double
average(const struct ping_times *times)
{
	return times->sum / (double)times->back;
}

static double
deviation(const struct ping_times *times)
{
	double mean = average(times);
	double variance = times->squares / (double)times->back - mean * mean;

	return variance > 0 ? sqrt(variance) : 0;
}

static void
add_result(const struct ping_report *report, struct json_object *result)
{
	struct json_object *results = json_object_object_get(report->root, "results");

	cli_json_bool(result, "interrupted", cli_signal() != 0);
	json_object_array_add(results, result);
}

static void
add_times(const struct ping_report *report, const struct ping_times *times, const char *whom)
{
	struct json_object *result = json_object_new_object();

	cli_json_string(result, "peer", whom);
	cli_json_count(result, "MsgSize", report->options->size);
	cli_json_count(result, "sent", times->sent);
	cli_json_count(result, "answered", times->back);
	cli_json_number(result, "lost_percent", lost_percent(times));
	if (times->back > 0) {
		cli_json_number(result, "t_min", times->min);
		cli_json_number(result, "t_avg", average(times));
		cli_json_number(result, "t_max", times->max);
		cli_json_number(result, "t_mdev", deviation(times));
		cli_json_string(result, "unit", "usec");
	}
	add_result(report, result);
}

void
ping_report_times(
		const struct ping_report *report, const struct ping_times *times, const char *whom)
{
	if (report->root != NULL)
		add_times(report, times, whom);
	if (report->quiet)
		return;
	printf("--- %s dat-ping statistics ---\n", whom);
	printf("%llu sent, %llu answered, %.0f%% lost\n", (unsigned long long)times->sent,
			(unsigned long long)times->back, lost_percent(times));
	if (times->back > 0)
		printf("round trip min/avg/max/mdev = %.1f/%.1f/%.1f/%.1f us\n", times->min,
				average(times), times->max, deviation(times));
}

void
ping_report_clients(const struct ping_report *report, uint64_t clients)
{
	struct json_object *result;

	if (report->root == NULL)
		return;
	result = json_object_new_object();
	cli_json_count(result, "clients", clients);
	add_result(report, result);
}

int
ping_report_end(struct ping_report *report, const char *error)
{
	return report->root == NULL ? 0 : cli_json_end(report->root, &report->output, error);
}
