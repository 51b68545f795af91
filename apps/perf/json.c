/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "cli/json.h"

static void
add_faults(struct json_object *config, const struct perf_options *options)
{
	char key[32];

	for (unsigned int kind = 0; kind < PERF_FAULTS; kind++) {
		snprintf(key, sizeof(key), "%s_ppm", perf_fault_name(kind));
		cli_json_count(config, key, options->faults[kind]);
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
	cli_json_string(config, "CPU", cpu);
}

int
perf_json_begin(struct perf_json *json, const struct perf_options *options)
{
	static const char *const mode[] = { "loop", "server", "client" };
	struct json_object *c;

	json->root = cli_json_begin("dat-perf", options->json_file, &json->output);
	if (json->root == NULL)
		return -1;
	json->config = json_object_new_object();
	json->results = json_object_new_array();
	json_object_object_add(json->root, "config", json->config);
	json_object_object_add(json->root, "results", json->results);
	c = json->config;
	cli_json_string(c, "mode", mode[options->mode]);
	cli_json_string(c, "ia", options->mode == PERF_LOOP ? "loop0" : options->ia);
	cli_json_string(c, "peer", options->mode == PERF_LOOP ? "loop1" : options->host);
	cli_json_count(c, "port", options->port);
	cli_json_string(c, "test", perf_test_name(options->test));
	cli_json_bool(c, "all_sizes", options->all_sizes);
	if (!options->all_sizes)
		cli_json_count(c, "size", options->size);
	cli_json_count(c, "duration", options->seconds);
	cli_json_count(c, "qps", options->endpoints);
	cli_json_bool(c, "use_srq", options->use_srq);
	if (perf_test_fetches(options->test))
		cli_json_count(c, "outs", options->outs);
	cli_json_bool(c, "perftest", options->perftest);
	cli_json_bool(c, "run_infinitely", options->endless);
	cli_json_count(c, "mtu_asked", options->mtu);
	cli_json_count(c, "cores", options->cores);
	cli_json_bool(c, "bidirectional", options->both);
	cli_json_bool(c, "events", options->events);
	cli_json_bool(c, "verify", options->verify);
	cli_json_bool(c, "report_gbits", true);
	cli_json_bool(c, "histogram", options->histogram);
	add_faults(c, options);
	cli_json_count(c, "srq_low_watermark", options->low);
	cli_json_count(c, "srq_resizes_per_second", options->resizes);
	add_cpu(c);
	return 0;
}

void
perf_json_adapter(struct perf_json *json, const struct perf_options *options,
		const struct perf_adapter *adapter)
{
	if (perf_test_fetches(options->test))
		cli_json_count(json->config, "outs", perf_adapter_outs(adapter, options));
	cli_json_string(json->config, "provider", adapter->provider);
	cli_json_string(json->config, "DPDK", adapter->dpdk);
	cli_json_string(json->config, "PMD", adapter->pmd);
	cli_json_count(json->config, "MTU", adapter->mtu);
	cli_json_string(json->config, "icrc", adapter->icrc);
}

void
perf_json_plan(struct perf_json *json, const struct perf_plan *plan)
{
	cli_json_count(json->config, "iterations",
			plan->iterations == PERF_ENDLESS ? 0 : plan->iterations);
	cli_json_count(json->config, "warmup", plan->warmup);
	cli_json_count(json->config, "rx_depth", plan->recv_depth);
	cli_json_count(json->config, "tx_depth", plan->window);
	cli_json_count(json->config, "cq_moderation", plan->signal);
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
		cli_json_number(bucket, "from", perf_bucket_ns(i) / 1000);
		cli_json_count(bucket, "count", latency->bucket[i]);
		json_object_array_add(list, bucket);
	}
	json_object_object_add(object, "histogram", list);
}

static void
add_latency(struct json_object *object, const struct perf_options *options,
		const struct perf_latency *latency)
{
	cli_json_number(object, "t_min", latency->min);
	cli_json_number(object, "t_max", latency->max);
	cli_json_number(object, "t_typical", latency->typical);
	cli_json_number(object, "t_avg", latency->average);
	cli_json_number(object, "t_stdev", latency->deviation);
	cli_json_number(object, "p99", latency->p99);
	cli_json_number(object, "p99_9", latency->p99_9);
	cli_json_string(object, "unit", "usec");
	if (options->histogram)
		add_histogram(object, latency);
}

static void
add_way(struct json_object *object, const char *key, uint32_t size, const struct perf_rate *rate)
{
	struct json_object *way = json_object_new_object();

	cli_json_number(way, "BW_peak", perf_gbits(rate->peak, size));
	cli_json_number(way, "BW_average", perf_gbits(rate->average, size));
	cli_json_number(way, "MsgRate", rate->average / 1e6);
	json_object_object_add(object, key, way);
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
		cli_json_count(kinds, key[i], bad->kind[i].count);
	json_object_object_add(object, "violations", kinds);
}

void
perf_json_result(struct perf_json *json, const struct perf_options *options,
		const struct perf_result *result)
{
	struct json_object *object = json_object_new_object();

	cli_json_string(object, "test", perf_test_name(result->test));
	cli_json_count(object, "MsgSize", result->size);
	cli_json_count(object, "n_iterations", result->iterations);
	cli_json_bool(object, "interrupted", result->interrupted);
	if (perf_test_is_latency(result->test)) {
		if (result->measured)
			add_latency(object, options, &result->latency);
	} else {
		cli_json_number(object, "BW_peak", perf_gbits(result->peak_per_s, result->size));
		cli_json_number(object, "BW_average",
				perf_gbits(result->messages_per_s, result->size));
		cli_json_number(object, "MsgRate", result->messages_per_s / 1e6);
		cli_json_number(object, "cpu_nsec", result->cpu_ns);
		cli_json_string(object, "unit", "Gb/sec");
	}
	if (result->ways) {
		add_way(object, "local", result->size, &result->local);
		add_way(object, "remote", result->size, &result->remote);
	}
	if (options->cpu_util)
		cli_json_number(object, "CPU_util", result->cpu_util);
	if (result->connect_us > 0)
		cli_json_number(object, "connect_usec", result->connect_us);
	cli_json_count(object, "retransmits", result->counters.retransmits);
	cli_json_count(object, "rnr_naks", result->counters.rnr_nak_sent);
	cli_json_count(object, "rnr_nak_sent", result->counters.rnr_nak_sent);
	cli_json_count(object, "rnr_nak_received", result->counters.rnr_nak_received);
	cli_json_count(object, "srq_low_watermark_events", result->counters.low_watermarks);
	cli_json_count(object, "srq_resizes", result->counters.resizes);
	cli_json_count(object, "srq_resizes_refused", result->counters.resizes_refused);
	if (options->verify)
		add_violations(object, &result->bad);
	json_object_array_add(json->results, object);
}

int
perf_json_end(struct perf_json *json, const char *error)
{
	return cli_json_end(json->root, &json->output, error);
}
