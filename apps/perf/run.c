/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "clock.h"
#include "connect.h"
#include "report.h"
#include "stop.h"
#include "tend.h"
#include "traffic.h"

#define ALL_MIN 2u
#define ALL_MAX (8u << 20)
/* An adapter for each end of a loop; only the first is used otherwise. */
#define NEAR 0
#define FAR  1

struct run {
	const struct perf_options *options;
	struct perf_json *json;
	struct perf_adapter adapter[2];
	unsigned int adapters;
	struct sockaddr_storage remote;
	cpu_set_t cpus; /**< those this process may use, before anybody pins anything */
	uint32_t session;
	bool quiet; /**< standard output belongs to the JSON */
	bool unserved; /**< of a server: its user ended it before a client came, and has no other way to end it */
};

/* Pin the calling thread to the n-th processor that the process may use. */
static void
pin(const cpu_set_t *cpus, int n)
{
	cpu_set_t one;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, cpus) || n-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
		return;
	}
}

static int
finish(struct perf_end *end, uint64_t sent, struct perf_result *result)
{
	if (perf_traffic_finish(end, sent) != 0)
		return -1;
	perf_violations_add(&result->bad, &end->bad);
	return perf_tend_end(end) != 0 ? -1 : perf_end_audit(end);
}

static double
us_since(uint64_t before)
{
	return (double)(perf_now() - before) * 1e6 / (double)perf_hz();
}

/* Both ends in this thread, up to the moment at which they can be destroyed. */
static int
measure_pair(const struct perf_options *options, struct perf_end *client, struct perf_end *server,
		struct perf_result *result)
{
	uint64_t before = perf_now();
	int rc;

	if (perf_connect_pair(client, server) != 0)
		return -1;
	result->connect_us = us_since(before);
	rc = perf_test_is_latency(options->test) ? perf_lat_pair(client, server, result)
						 : perf_bw_pair(client, server, result);
	if (rc != 0 || perf_disconnect_pair(client, server) != 0)
		return -1;
	rc = finish(server, client->goal, result);
	return finish(client, server->goal, result) != 0 ? -1 : rc;
}

static int
measure_alone(struct perf_end *end, struct perf_result *result)
{
	uint64_t before = perf_now();
	int rc;

	if (perf_connect_alone(end) != 0)
		return -1;
	/* A server may have waited for its client. */
	if (end->client)
		result->connect_us = us_since(before);
	rc = perf_test_is_latency(end->options->test) ? perf_lat_alone(end, result)
						      : perf_bw_alone(end, result);
	if (rc != 0 || perf_disconnect_alone(end) != 0)
		return -1;
	return finish(end, end->peer.sent, result);
}

/* The server's thread of --cores 2. */
struct server_thread {
	struct perf_end *end;
	struct perf_result result;
	const cpu_set_t *cpus;
	int rc;
};

static void *
serve(void *arg)
{
	struct server_thread *thread = arg;

	pin(thread->cpus, 1);
	thread->rc = measure_alone(thread->end, &thread->result);
	if (thread->rc != 0)
		perf_stop_fail();
	return NULL;
}

static int
measure_threads(struct run *run, struct perf_end *client, struct perf_end *server,
		struct perf_result *result)
{
	struct server_thread thread = { .end = server, .cpus = &run->cpus };
	pthread_t id;
	int rc;

	if (pthread_create(&id, NULL, serve, &thread) != 0) {
		cli_say("cannot start the server's thread");
		return -1;
	}
	pin(&run->cpus, 0);
	rc = measure_alone(client, result);
	if (rc != 0)
		perf_stop_fail();
	pthread_join(id, NULL);
	perf_violations_add(&result->bad, &thread.result.bad);
	return rc != 0 ? -1 : thread.rc;
}

static int
measure_loop(struct run *run, const struct perf_plan *plan, struct perf_result *result)
{
	const struct perf_options *o = run->options;
	unsigned int control = o->cores == 2 ? PERF_END_CONTROL : 0;
	struct perf_end client, server;
	int rc;

	if (perf_end_create(&server, &run->adapter[FAR], o, plan, run->session, control) != 0)
		return -1;
	if (perf_end_create(&client, &run->adapter[NEAR], o, plan, run->session,
			    control | PERF_END_CLIENT) != 0) {
		perf_end_destroy(&server);
		return -1;
	}
	client.remote = run->adapter[FAR].address;
	if (o->cores == 2)
		rc = measure_threads(run, &client, &server, result);
	else
		rc = measure_pair(o, &client, &server, result);
	if (perf_end_destroy(&client) != 0 || perf_end_destroy(&server) != 0)
		rc = -1;
	return rc;
}

/* @param lost  of a server: its client went before the measurement began. */
static int
measure_once(struct run *run, const struct perf_plan *plan, struct perf_result *result, bool *lost)
{
	unsigned int role = run->options->mode == PERF_CLIENT ? PERF_END_CLIENT : 0;
	struct perf_end end;
	int rc;

	if (perf_end_create(&end, &run->adapter[NEAR], run->options, plan, run->session,
			    PERF_END_CONTROL | role) != 0)
		return -1;
	end.remote = run->remote;
	rc = measure_alone(&end, result);
	*lost = rc != 0 && end.link.lost;
	run->unserved = rc != 0 && end.link.unserved && run->session == 0;
	if (perf_end_destroy(&end) == 0)
		return rc;
	*lost = run->unserved = false;
	return -1;
}

/* A server's endpoints are made anew for each client that comes, until one is there to be measured. */
static int
measure_apart(struct run *run, const struct perf_plan *plan, struct perf_result *result)
{
	bool lost = false;
	int rc;

	do {
		if (lost)
			cli_forget_said();
		rc = measure_once(run, plan, result, &lost);
	} while (lost && cli_signal() == 0);
	run->unserved |= lost && run->session == 0;
	if (run->unserved)
		cli_forget_said();
	return run->unserved ? 0 : rc;
}

static int
count(struct run *run, struct perf_counters *sum)
{
	struct perf_counters one;

	*sum = (struct perf_counters){ 0 };
	for (unsigned int i = 0; i < run->adapters; i++) {
		if (perf_adapter_count(&run->adapter[i], &one) != 0)
			return -1;
		sum->retransmits += one.retransmits;
		sum->rnr_nak_sent += one.rnr_nak_sent;
		sum->rnr_nak_received += one.rnr_nak_received;
		sum->low_watermarks += one.low_watermarks;
		sum->resizes += one.resizes;
		sum->resizes_refused += one.resizes_refused;
	}
	return 0;
}

static struct perf_counters
growth(const struct perf_counters *before, const struct perf_counters *after)
{
	return (struct perf_counters){
		.retransmits = after->retransmits - before->retransmits,
		.rnr_nak_sent = after->rnr_nak_sent - before->rnr_nak_sent,
		.rnr_nak_received = after->rnr_nak_received - before->rnr_nak_received,
		.low_watermarks = after->low_watermarks - before->low_watermarks,
		.resizes = after->resizes - before->resizes,
		.resizes_refused = after->resizes_refused - before->resizes_refused,
	};
}

static void
report(struct run *run, const struct perf_plan *plan, const struct perf_result *result)
{
	if (run->json != NULL) {
		perf_json_plan(run->json, plan);
		perf_json_result(run->json, run->options, result);
	}
	if (!run->quiet)
		perf_report_row(run->options, result);
	perf_report_violations(&result->bad);
}

static void
say_interrupted(const struct perf_result *result)
{
	const char *who = cli_signal() != 0 ? "" : "the other end was ";

	if (result->measured)
		cli_say("%sinterrupted after %llu messages", who,
				(unsigned long long)result->iterations);
	else
		cli_say("%sinterrupted, with nothing measured at this end", who);
}

/* Judge a measurement that ended with @p rc. @return 0; -1: it failed, was cut short or found violations. */
static int
judge(const struct perf_options *options, int rc, const struct perf_result *result)
{
	/* An interrupt is how a run without end ends. */
	bool ended = rc == 0 && options->endless;

	if (!ended && (result->interrupted || (rc != 0 && cli_signal() != 0)))
		say_interrupted(result);
	if (rc != 0 || perf_report_limits(options, result) != 0)
		return -1;
	return (result->interrupted && !ended) || perf_violations_total(&result->bad) != 0 ? -1 : 0;
}

static int
measure(struct run *run, uint32_t size)
{
	struct perf_result result = { .test = run->options->test, .size = size };
	struct perf_counters before, after;
	struct perf_plan plan;
	int rc;

	if (perf_plan_make(run->options, size, &plan) != 0 || count(run, &before) != 0)
		return -1;
	if (run->session == 0 && !run->quiet) {
		perf_report_header(run->options, &plan, &run->adapter[NEAR]);
		if (cli_output_flush() != 0)
			return -1;
	}
	rc = run->options->mode == PERF_LOOP ? measure_loop(run, &plan, &result)
					     : measure_apart(run, &plan, &result);
	if (run->unserved)
		return 0;
	if (count(run, &after) != 0)
		return -1;
	result.counters = growth(&before, &after);
	/* A failed measurement has no number worth printing, but its violations are; an interrupted one may have both. */
	if (result.interrupted ? result.measured : rc == 0)
		report(run, &plan, &result);
	else
		perf_report_violations(&result.bad);
	run->session++;
	return judge(run->options, rc, &result);
}

static int
open_adapters(struct run *run)
{
	const struct perf_options *o = run->options;
	bool loop = o->mode == PERF_LOOP;

	if (perf_adapter_open(&run->adapter[NEAR], loop ? "loop0" : o->ia) != 0)
		return -1;
	run->adapters = 1;
	if (loop) {
		if (perf_adapter_open(&run->adapter[FAR], "loop1") != 0)
			return -1;
		run->adapters = 2;
	}
	if (o->mode == PERF_CLIENT)
		return 0;
	return perf_adapter_listen(&run->adapter[loop ? FAR : NEAR], o->port, o->endpoints + 1);
}

static int
measure_all(struct run *run)
{
	const struct perf_options *o = run->options;
	int rc = 0;

	if (o->mode == PERF_SERVER && !run->quiet && o->output == PERF_OUTPUT_ALL) {
		printf("Waiting for a client on port %u of %s\n", o->port, o->ia);
		if (cli_output_flush() != 0)
			return -1;
	}
	if (!o->all_sizes)
		return measure(run, o->size);
	for (uint32_t size = ALL_MIN; size <= ALL_MAX && rc == 0 && !run->unserved; size *= 2)
		rc = measure(run, size);
	return rc;
}

int
perf_run(const struct perf_options *options, struct perf_json *json)
{
	struct run run = {
		.options = options,
		.json = json,
		.quiet = options->json && options->json_file == NULL,
	};
	int rc;

	/* The EAL, started by the first open, leaves this thread on one processor. */
	sched_getaffinity(0, sizeof(run.cpus), &run.cpus);
	if (options->cores == 2 && CPU_COUNT(&run.cpus) < 2) {
		cli_say("--cores 2 needs two processors, and this process may use one");
		return -1;
	}
	if (options->mode == PERF_CLIENT && !cli_host(options->host, &run.remote))
		return -1;
	if (perf_adapter_tune(options) != 0)
		return -1;
	perf_hz();
	rc = open_adapters(&run);
	if (rc == 0) {
		if (json != NULL)
			perf_json_adapter(json, options, &run.adapter[NEAR]);
		rc = measure_all(&run);
		if (!run.quiet)
			perf_report_footer(options);
	}
	while (run.adapters > 0)
		if (perf_adapter_close(&run.adapter[--run.adapters]) != 0)
			rc = -1;
	return rc;
}
