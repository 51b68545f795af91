/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/cli.h"

#define FLAGS (JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)

static void
add_string(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, value == NULL ? NULL : json_object_new_string(value));
}

static void
add_count(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static void
add_bool(struct json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key, json_object_new_boolean(value));
}

/* json-c would print seventeen digits; a nanosecond of a microsecond is three. */
static void
add_number(struct json_object *object, const char *key, double value)
{
	char text[64];

	snprintf(text, sizeof(text), "%.6f", value);
	json_object_object_add(object, key, json_object_new_double_s(value, text));
}

static void
add_faults(struct json_object *config, const struct perf_options *options)
{
	char key[32];

	for (unsigned int kind = 0; kind < PERF_FAULTS; kind++) {
		snprintf(key, sizeof(key), "%s_ppm", perf_fault_name(kind));
		add_count(config, key, options->faults[kind]);
	}
}

static void
add_cpu(struct json_object *config)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256], cpu[200] = "unknown";

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "model name : %199[^\n]", cpu) == 1)
			break;
	if (file != NULL)
		fclose(file);
	add_string(config, "CPU", cpu);
}

int
perf_json_begin(struct perf_json *json, const struct perf_options *options)
{
	static const char *const mode[] = { "loop", "server", "client" };
	struct json_object *c;

	*json = (struct perf_json){
		.root = json_object_new_object(),
		.config = json_object_new_object(),
		.results = json_object_new_array(),
	};
	if (json->root == NULL || json->config == NULL || json->results == NULL) {
		cli_say("no memory for the JSON object");
		return -1;
	}
	add_string(json->root, "tool", "dat-perf");
	add_string(json->root, "version", UDAPL_ROCE_VERSION);
	json_object_object_add(json->root, "config", json->config);
	json_object_object_add(json->root, "results", json->results);
	c = json->config;
	add_string(c, "mode", mode[options->mode]);
	add_string(c, "ia", options->mode == PERF_LOOP ? "loop0" : options->ia);
	add_string(c, "peer", options->mode == PERF_LOOP ? "loop1" : options->host);
	add_count(c, "port", options->port);
	add_string(c, "test", perf_test_name(options->test));
	add_bool(c, "all_sizes", options->all_sizes);
	if (!options->all_sizes)
		add_count(c, "size", options->size);
	add_count(c, "duration", options->seconds);
	add_count(c, "qps", options->endpoints);
	add_bool(c, "use_srq", options->use_srq);
	if (perf_test_fetches(options->test))
		add_count(c, "outs", options->outs);
	add_count(c, "mtu_asked", options->mtu);
	add_count(c, "cores", options->cores);
	add_bool(c, "bidirectional", options->both);
	add_bool(c, "events", options->events);
	add_bool(c, "verify", options->verify);
	add_bool(c, "report_gbits", true);
	add_bool(c, "histogram", options->histogram);
	add_faults(c, options);
	add_count(c, "srq_low_watermark", options->low);
	add_count(c, "srq_resizes_per_second", options->resizes);
	add_cpu(c);
	return 0;
}

void
perf_json_adapter(struct perf_json *json, const struct perf_adapter *adapter)
{
	add_string(json->config, "provider", adapter->provider);
	add_string(json->config, "DPDK", adapter->dpdk);
	add_string(json->config, "PMD", adapter->pmd);
	add_count(json->config, "MTU", adapter->mtu);
	add_string(json->config, "icrc", adapter->icrc);
}

void
perf_json_plan(struct perf_json *json, const struct perf_plan *plan)
{
	add_count(json->config, "iterations",
			plan->iterations == PERF_ENDLESS ? 0 : plan->iterations);
	add_count(json->config, "warmup", plan->warmup);
	add_count(json->config, "rx_depth", plan->recv_depth);
	add_count(json->config, "tx_depth", plan->window);
	add_count(json->config, "cq_moderation", plan->signal);
}

static void
add_histogram(struct json_object *object, const struct perf_latency *latency)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < PERF_BUCKETS; i++) {
		struct json_object *bucket;

		if (latency->bucket[i] == 0)
			continue;
		bucket = json_object_new_object();
		add_number(bucket, "from", perf_bucket_ns(i) / 1000);
		add_count(bucket, "count", latency->bucket[i]);
		json_object_array_add(list, bucket);
	}
	json_object_object_add(object, "histogram", list);
}

static void
add_latency(struct json_object *object, const struct perf_options *options,
		const struct perf_latency *latency)
{
	add_number(object, "t_min", latency->min);
	add_number(object, "t_max", latency->max);
	add_number(object, "t_typical", latency->typical);
	add_number(object, "t_avg", latency->average);
	add_number(object, "t_stdev", latency->deviation);
	add_number(object, "p99", latency->p99);
	add_number(object, "p99_9", latency->p99_9);
	add_string(object, "unit", "usec");
	if (options->histogram)
		add_histogram(object, latency);
}

static void
add_violations(struct json_object *object, const struct perf_violations *bad)
{
	static const char *const key[PERF_VIOLATIONS] = {
		[PERF_LOST] = "lost",
		[PERF_DUPLICATED] = "duplicated",
		[PERF_REORDERED] = "reordered",
		[PERF_CORRUPTED] = "corrupted",
		[PERF_MISDELIVERED] = "misdelivered",
		[PERF_WRONG_LENGTH] = "wrong_length",
	};
	struct json_object *kinds = json_object_new_object();

	for (int i = 0; i < PERF_VIOLATIONS; i++)
		add_count(kinds, key[i], bad->kind[i].count);
	json_object_object_add(object, "violations", kinds);
}

void
perf_json_result(struct perf_json *json, const struct perf_options *options,
		const struct perf_result *result)
{
	struct json_object *object = json_object_new_object();

	add_string(object, "test", perf_test_name(result->test));
	add_count(object, "MsgSize", result->size);
	add_count(object, "n_iterations", result->iterations);
	if (perf_test_is_latency(result->test)) {
		if (result->measured)
			add_latency(object, options, &result->latency);
	} else {
		add_number(object, "BW_peak", perf_gbits(result->peak_per_s, result->size));
		add_number(object, "BW_average", perf_gbits(result->messages_per_s, result->size));
		add_number(object, "MsgRate", result->messages_per_s / 1e6);
		add_string(object, "unit", "Gb/sec");
	}
	add_count(object, "retransmits", result->counters.retransmits);
	add_count(object, "rnr_naks", result->counters.rnr_nak_sent);
	add_count(object, "rnr_nak_sent", result->counters.rnr_nak_sent);
	add_count(object, "rnr_nak_received", result->counters.rnr_nak_received);
	add_count(object, "srq_low_watermark_events", result->counters.low_watermarks);
	add_count(object, "srq_resizes", result->counters.resizes);
	add_count(object, "srq_resizes_refused", result->counters.resizes_refused);
	if (options->verify)
		add_violations(object, &result->bad);
	json_object_array_add(json->results, object);
}

int
perf_json_end(struct perf_json *json, const struct perf_options *options, const char *error)
{
	const char *text;
	FILE *file = stdout;
	int rc = 0;

	if (error != NULL)
		add_string(json->root, "error", error);
	text = json_object_to_json_string_ext(json->root, FLAGS);
	if (options->json_file != NULL)
		file = fopen(options->json_file, "we");
	if (file == NULL || fprintf(file, "%s\n", text) < 0 || fflush(file) != 0)
		rc = -1;
	if (file != NULL && file != stdout && fclose(file) != 0)
		rc = -1;
	if (rc != 0)
		cli_say("cannot write the JSON to %s: %s",
				options->json_file == NULL ? "standard output" : options->json_file,
				strerror(errno));
	json_object_put(json->root);
	return rc;
}
