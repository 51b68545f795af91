/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <ctype.h>
#include <stdio.h>

#include "cli/cli.h"

#define BAR 40

static void
rule(void)
{
	puts("---------------------------------------------------------------------------------------"
	     "----------------");
}

static const char *
on_off(bool on)
{
	return on ? "ON" : "OFF";
}

static const char *
title(const struct perf_options *options)
{
	static const char *const one_way[PERF_TESTS] = {
		[PERF_SEND_BW] = "Send BW Test",
		[PERF_SEND_LAT] = "Send Latency Test",
		[PERF_WRITE_BW] = "RDMA_Write BW Test",
		[PERF_WRITE_LAT] = "RDMA_Write Latency Test",
		[PERF_READ_BW] = "RDMA_Read BW Test",
		[PERF_READ_LAT] = "RDMA_Read Latency Test",
		[PERF_ATOMIC_BW] = "Atomic BW Test",
		[PERF_ATOMIC_LAT] = "Atomic Latency Test",
	};
	static const char *const both_ways[PERF_TESTS] = {
		[PERF_SEND_BW] = "Send Bidirectional BW Test",
		[PERF_WRITE_BW] = "RDMA_Write Bidirectional BW Test",
		[PERF_READ_BW] = "RDMA_Read Bidirectional BW Test",
		[PERF_ATOMIC_BW] = "Atomic Bidirectional BW Test",
	};

	return options->both ? both_ways[options->test] : one_way[options->test];
}

/* The unit of bandwidths. */
static const char *
unit(const struct perf_options *options)
{
	return options->gbits ? "Gb" : "MiB";
}

static void
columns(const struct perf_options *options)
{
	const char *end = options->cpu_util ? "    CPU_Util[%]" : "";

	if (perf_test_is_latency(options->test))
		printf(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    "
		       "t_avg[usec]    t_stdev[usec]   99%% percentile[usec]   "
		       "99.9%% percentile[usec]%s\n",
				end);
	else
		printf(" #bytes     #iterations    BW peak[%s/sec]    BW average[%s/sec]   "
		       "MsgRate[Mpps]%s\n",
				unit(options), unit(options), end);
}

void
perf_report_header(const struct perf_options *options, const struct perf_plan *plan,
		const struct perf_adapter *adapter)
{
	if (options->output != PERF_OUTPUT_ALL)
		return;
	rule();
	printf("                    %s\n", title(options));
	printf(" Dual-port       : OFF\t\tDevice         : %s%s\n", adapter->name,
			options->mode == PERF_LOOP ? " to loop1" : "");
	printf(" Number of qps   : %u\t\tTransport type : RoCEv2\n", options->endpoints);
	printf(" Connection type : RC\t\tUsing SRQ      : %s\n", on_off(options->use_srq));
	printf(" TX depth        : %u\n", plan->window);
	if (!perf_test_is_one_sided(options->test))
		printf(" RX depth        : %u\n", plan->recv_depth);
	printf(" CQ Moderation   : %u\n", plan->signal);
	if (perf_test_fetches(options->test) && !perf_test_is_latency(options->test))
		printf(" Outstand reads  : %u\n", perf_adapter_outs(adapter, options));
	if (options->low != 0)
		printf(" Low watermark   : %u\n", options->low);
	if (options->resizes != 0)
		printf(" SRQ resizes     : %u[1/s]\n", options->resizes);
	printf(" Mtu             : %u[B]\n", adapter->mtu);
	printf(" Link type       : Ethernet\n");
	printf(" Max inline data : 0[B]\n");
	printf(" rdma_cm QPs     : ON\n");
	printf(" Data ex. method : rdma_cm\n");
	printf(" PMD             : %s\t\tDPDK           : %s\n", adapter->pmd, adapter->dpdk);
	printf(" ICRC            : %s\n", adapter->icrc);
	printf(" Polling threads : %s%s\n",
			options->mode == PERF_LOOP && options->cores == 1 ? "1, both ends"
									  : "1 for each end",
			options->events ? ", waiting for events" : "");
	for (unsigned int kind = 0; kind < PERF_FAULTS; kind++) {
		const char *name = perf_fault_name(kind);

		if (options->faults[kind] != 0)
			printf(" %c%-15s: %u[ppm]\n", toupper((unsigned char)name[0]), name + 1,
					options->faults[kind]);
	}
	rule();
	columns(options);
}

static void
histogram(const struct perf_latency *latency)
{
	uint64_t all = 0, most = 0;

	for (unsigned int i = 0; i < PERF_BUCKETS; i++) {
		all += latency->bucket[i];
		most = latency->bucket[i] > most ? latency->bucket[i] : most;
	}
	puts(" from[usec]      count    share");
	for (unsigned int i = 0; i < PERF_BUCKETS; i++) {
		uint64_t count = latency->bucket[i];

		if (count == 0)
			continue;
		printf(" %10.3f %10llu %7.3f%% %.*s\n", perf_bucket_ns(i) / 1000,
				(unsigned long long)count, 100.0 * (double)count / (double)all,
				(int)(count * BAR / most),
				"****************************************");
	}
}

/* The events of the shared queue: words first, so that nobody takes it for a row. */
static void
events(const struct perf_options *options, const struct perf_counters *counters)
{
	if (counters->rnr_nak_sent + counters->rnr_nak_received > 0)
		printf(" RNR NAKs        : %llu sent, %llu received\n",
				(unsigned long long)counters->rnr_nak_sent,
				(unsigned long long)counters->rnr_nak_received);
	if (options->low != 0)
		printf(" Low watermark   : %llu events\n",
				(unsigned long long)counters->low_watermarks);
	if (options->resizes != 0)
		printf(" SRQ resizes     : %llu, and %llu refused\n",
				(unsigned long long)counters->resizes,
				(unsigned long long)counters->resizes_refused);
	fflush(stdout);
}

/* The processors' column, and the end of the line. */
static void
end_row(const struct perf_options *options, const struct perf_result *result)
{
	if (options->cpu_util)
		printf("%*s%-.2f", perf_test_is_latency(result->test) ? 20 : 8, "",
				result->cpu_util);
	putchar('\n');
}

static void
bandwidth_row(const struct perf_options *options, const struct perf_result *result,
		const struct perf_rate *rate)
{
	printf(" %-10u %-14llu %-18.2f %-20.2f %-.6f", result->size,
			(unsigned long long)result->iterations,
			perf_bandwidth(options, rate->peak, result->size),
			perf_bandwidth(options, rate->average, result->size), rate->average / 1e6);
	end_row(options, result);
}

static void
bandwidth(const struct perf_options *options, const struct perf_result *result)
{
	const struct perf_rate rate = { result->messages_per_s, result->peak_per_s };

	bandwidth_row(options, result, &rate);
	if (!result->ways)
		return;
	puts(" Local results:");
	bandwidth_row(options, result, &result->local);
	puts(" Remote results:");
	bandwidth_row(options, result, &result->remote);
}

static void
row(const struct perf_options *options, const struct perf_result *result)
{
	const struct perf_latency *latency = &result->latency;

	if (!perf_test_is_latency(result->test)) {
		bandwidth(options, result);
		return;
	}
	printf(" %-6u %-14llu %-14.2f %-14.2f %-16.2f %-14.2f %-15.2f %-22.2f %-.2f", result->size,
			(unsigned long long)result->iterations, latency->min, latency->max,
			latency->typical, latency->average, latency->deviation, latency->p99,
			latency->p99_9);
	end_row(options, result);
	if (options->histogram)
		histogram(latency);
}

/* The number that --output asks for. */
static void
one_number(const struct perf_options *options, const struct perf_result *result)
{
	double number = result->latency.average;

	if (!result->measured)
		return;
	if (options->output == PERF_OUTPUT_BANDWIDTH)
		number = perf_bandwidth(options, result->messages_per_s, result->size);
	else if (options->output == PERF_OUTPUT_MESSAGE_RATE)
		number = result->messages_per_s / 1e6;
	printf("%f\n", number);
	fflush(stdout);
}

void
perf_report_row(const struct perf_options *options, const struct perf_result *result)
{
	if (options->output != PERF_OUTPUT_ALL) {
		one_number(options, result);
		return;
	}
	if (result->measured)
		row(options, result);
	if (result->interrupted)
		printf(" Interrupted     : after %llu messages\n",
				(unsigned long long)result->iterations);
	events(options, &result->counters);
}

void
perf_report_interval(const struct perf_options *options, const struct perf_result *result)
{
	if (options->json && options->json_file == NULL)
		return;
	if (options->output != PERF_OUTPUT_ALL)
		one_number(options, result);
	else
		row(options, result);
	fflush(stdout);
}

void
perf_report_footer(const struct perf_options *options)
{
	if (options->output == PERF_OUTPUT_ALL)
		rule();
}

int
perf_report_limits(const struct perf_options *options, const struct perf_result *result)
{
	double bandwidth = perf_bandwidth(options, result->messages_per_s, result->size);
	double rate = result->messages_per_s / 1e6;

	if (!result->measured)
		return 0;
	if (bandwidth < options->limit_bw)
		cli_say("the average of %.2f %s/sec is below the limit of %.2f", bandwidth,
				unit(options), options->limit_bw);
	if (rate < options->limit_msgrate)
		cli_say("the rate of %.6f million messages a second is below the limit of %.6f",
				rate, options->limit_msgrate);
	return bandwidth < options->limit_bw || rate < options->limit_msgrate ? -1 : 0;
}

void
perf_report_violations(const struct perf_violations *bad)
{
	for (int i = 0; i < PERF_VIOLATIONS; i++) {
		if (bad->kind[i].count == 0)
			continue;
		cli_say("%llu messages %s, the first on endpoint %u at message %llu, byte %llu",
				(unsigned long long)bad->kind[i].count,
				perf_violation_name((enum perf_violation)i), bad->kind[i].endpoint,
				(unsigned long long)bad->kind[i].message,
				(unsigned long long)bad->kind[i].byte);
	}
}
