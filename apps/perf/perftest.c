/* SPDX-License-Identifier: BSD-3-Clause */
#include "perftest.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/ia.h"

#define PREFIX        "dat_" /* of the names that select a test */
#define MODE          "--perftest"
#define SIZE_BW       65536
#define SIZE_LAT      2
#define SIZE_ATOMIC   8
#define ITERATIONS    1000
#define ITERATIONS_WB 5000

/* Sentences of more than one option. */
#define RELIABLE   "connections are reliable connections"
#define MULTICAST  "there is no multicast: a connection has one peer"
#define PORTS      "an adapter has one port: run a program for each"
#define CRYPTO     "nothing is encrypted: use a tunnel below"
#define RATES      "no rate is limited: let the network or tc(8) do it"
#define MEMORY     "buffers are this process's memory"
#define REGISTERED "memory is registered before it is used"
#define RAW        "it is for raw Ethernet, which testpmd of DPDK measures"
#define INLINE     "there is no inline data: no descriptor fetches it from afar"
#define EXCHANGE   "the connection manager always exchanges the parameters"
#define FAMILY     "the family of addresses is that of the adapter"
#define IN_ORDER   "messages are placed in order"
#define IMMEDIATE  "dat-perf has no WRITE with immediate data: use write_bw or send_bw"

#define SERVED    PERFTEST_SERVED
#define NO_EFFECT PERFTEST_NO_EFFECT
#define REFUSED   PERFTEST_REFUSED

/* In each kind those with a letter come first. dat-perf(1) has the same table. */
static const struct perftest_row rows[] = {
	/* clang-format off */
	{ SERVED, 'a', "all", NULL, 'a', NULL, "all sizes from 2 bytes to 8 MiB" },
	{ SERVED, 'b', "bidirectional", NULL, 'b', NULL, "both directions at once" },
	{ SERVED, 'd', "ib-dev", "ia", 'D', NULL, "the adapter, a name of dat.conf(5)" },
	{ SERVED, 'D', "duration", "seconds", 'd', NULL, "run by time" },
	{ SERVED, 'e', "events", NULL, 'e', NULL, "wait for events instead of polling" },
	{ SERVED, 'h', "help", NULL, 'h', NULL, "this text" },
	{ SERVED, 'H', "report-histogram", NULL, 'H', NULL,
	  "print the distribution of the latencies" },
	{ SERVED, 0, "report-histogrm", NULL, 'H', NULL, "the same, as perftest spells it" },
	{ SERVED, 'm', "mtu", "mtu", 'm', NULL, "path MTU: 256, 512, 1024, 2048 or 4096" },
	{ SERVED, 'n', "iters", "iterations", 'n', NULL, "messages of a measurement" },
	{ SERVED, 'o', "outs", "n", 'o', NULL,
	  "READs or atomics under way (as many as the adapter has)" },
	{ SERVED, 'p', "port", "port", 'p', NULL, "port of the server (18515)" },
	{ SERVED, 'q', "qp", "endpoints", 'q', NULL, "connections that share the work (1)" },
	{ SERVED, 'Q', "cq-mod", "n", 'Q', NULL,
	  "one completion every n sends (100; 1 beyond 8192 bytes)" },
	{ SERVED, 'r', "rx-depth", "depth", 'r', NULL, "receive buffers (512)" },
	{ SERVED, 's', "size", "bytes", 's', NULL, "bytes of a message, also as 64K or 1M" },
	{ SERVED, 'S', "sl", "priority", PERF_OPT_KEY + PERF_KEY_PCP, NULL,
	  "priority in the VLAN tag, 0 to 7" },
	{ SERVED, 't', "tx-depth", "depth", 'x', NULL,
	  "unacknowledged sends of an endpoint (128)" },
	{ SERVED, 'T', "tos", "value", PERF_OPT_KEY + PERF_KEY_DSCP, NULL,
	  "traffic class of the frames; its upper six bits are the DSCP" },
	{ SERVED, 0, "tclass", "value", PERF_OPT_TCLASS, NULL, "the same" },
	{ SERVED, 'u', "qp-timeout", "code", PERF_OPT_KEY + PERF_KEY_TIMEOUT, NULL,
	  "local acknowledge timeout (17)" },
	{ SERVED, 0, "retry_count", "n", PERF_OPT_KEY + PERF_KEY_RETRY, NULL,
	  "timeouts in a row before a connection breaks (7)" },
	{ SERVED, 'V', "version", NULL, PERF_OPT_VERSION, NULL, "the version" },
	{ SERVED, 'w', "limit_bw", "value", PERF_OPT_LIMIT_BW, NULL,
	  "fail if the average bandwidth is lower" },
	{ SERVED, 'y', "limit_msgrate", "value", PERF_OPT_LIMIT_MSGRATE, NULL,
	  "fail if the message rate is lower" },
	{ SERVED, 0, "use-srq", NULL, PERF_OPT_USE_SRQ, NULL,
	  "receive through one shared receive queue" },
	{ SERVED, 0, "out_json", NULL, PERF_OPT_OUT_JSON, NULL,
	  "the results in a file, too: perftest_out.json" },
	{ SERVED, 0, "out_json_file", "file", PERF_OPT_OUT_JSON_FILE, NULL,
	  "the results in this file, too" },
	{ SERVED, 0, "output", "what", PERF_OPT_OUTPUT, NULL,
	  "print one number alone: bandwidth, message_rate or latency" },
	{ SERVED, 0, "perform_warm_up", NULL, PERF_OPT_WARM_UP, NULL,
	  "messages before the measurement" },
	{ SERVED, 0, "cpu_util", NULL, PERF_OPT_CPU_UTIL, NULL,
	  "tell how busy the processors were, in a run by time" },
	{ SERVED, 0, "report-both", NULL, PERF_OPT_REPORT_BOTH, NULL,
	  "tell of each direction, too, where both are measured" },
	{ SERVED, 0, "report_both", NULL, PERF_OPT_REPORT_BOTH, NULL, "the same" },
	{ SERVED, 0, "run_infinitely", NULL, PERF_OPT_RUN_INFINITELY, NULL,
	  "a row every duration (5 seconds), until interrupted" },
	{ SERVED, 0, "report_gbits", NULL, PERF_OPT_GBITS, NULL,
	  "rates in Gb/sec instead of MiB/sec" },
	{ NO_EFFECT, 'A', "atomic_type", "type", 0, "FETCH_AND_ADD",
	  "an atomic is a fetch and add here" },
	{ NO_EFFECT, 'c', "connection", "type", 0, "RC", RELIABLE },
	{ NO_EFFECT, 'f', "margin", "seconds", 0, NULL, "all of a duration is counted" },
	{ NO_EFFECT, 'F', "CPU-freq", NULL, 0, NULL,
	  "the frequency of the processor is not asked for" },
	{ NO_EFFECT, 'i', "ib-port", "port", 0, "1", "an adapter has one port" },
	{ NO_EFFECT, 'I', "inline_size", "bytes", 0, NULL, INLINE },
	{ NO_EFFECT, 'l', "post_list", "n", 0, NULL,
	  "an endpoint posts as many in a row as its window allows, up to 16" },
	{ NO_EFFECT, 0, "recv_post_list", "n", 0, NULL, "receives are posted as they come back" },
	{ NO_EFFECT, 'L', "hop_limit", "n", 0, "64", "the hop limit of frames is 64" },
	{ NO_EFFECT, 'N', "noPeak", NULL, 0, NULL,
	  "the peak costs nothing: it comes from intervals" },
	{ NO_EFFECT, 'R', "rdma_cm", NULL, 0, NULL, "the connection manager always connects" },
	{ NO_EFFECT, 'x', "gid-index", "index", 0, NULL, "the address is that of the adapter" },
	{ NO_EFFECT, 'X', "vector", "n", 0, NULL, "events come from one place" },
	{ NO_EFFECT, 'z', "comm_rdma_cm", NULL, 0, NULL, EXCHANGE },
	{ NO_EFFECT, 0, "com_rdma_cm", NULL, 0, NULL, EXCHANGE },
	{ NO_EFFECT, 0, "disable_pcie_relaxed", NULL, 0, NULL,
	  "no device of ours orders writes on PCI Express" },
	{ NO_EFFECT, 0, "dont_xchg_versions", NULL, 0, NULL,
	  "both ends compare their options in any case" },
	{ NO_EFFECT, 0, "force-link", "type", 0, "Ethernet", "the link is Ethernet" },
	{ NO_EFFECT, 0, "inline_recv", "bytes", 0, NULL, INLINE },
	{ NO_EFFECT, 0, "ipv6", NULL, 0, NULL, FAMILY },
	{ NO_EFFECT, 0, "ipv6-addr", NULL, 0, NULL, FAMILY },
	{ NO_EFFECT, 0, "mr_per_qp", NULL, 0, NULL, "one region and many are looked up alike" },
	{ NO_EFFECT, 0, "no_ddp", NULL, 0, NULL, IN_ORDER },
	{ NO_EFFECT, 0, "no_lock", NULL, 0, NULL, "an end is one thread" },
	{ NO_EFFECT, 0, "pkey_index", "index", 0, "0", "there is the default P_Key alone" },
	{ NO_EFFECT, 0, "use_hugepages", NULL, 0, NULL,
	  "UDAPL_ROCE_EAL says where memory comes from; see udapl-roce(7)" },
	{ NO_EFFECT, 0, "use_old_post_send", NULL, 0, NULL, "there is one way to post" },
	{ REFUSED, 'C', "report-cycles", NULL, 0, NULL, "times are told in microseconds" },
	{ REFUSED, 'g', "mcg", NULL, 0, NULL, MULTICAST },
	{ REFUSED, 'M', "MGID", "gid", 0, NULL, MULTICAST },
	{ REFUSED, 0, "connectionless", NULL, 0, NULL, MULTICAST },
	{ REFUSED, 'O', "dualport", NULL, 0, NULL, PORTS },
	{ REFUSED, 0, "report-per-port", NULL, 0, NULL, PORTS },
	{ REFUSED, 'U', "report-unsorted", NULL, 0, NULL,
	  "single times are not kept: -H prints their distribution" },
	{ REFUSED, 'W', "report-counters", "list", 0, NULL,
	  "use --json, or dat-info --metrics, for counters" },
	{ REFUSED, 0, "bind_source_ip", "address", 0, NULL,
	  "-d names the adapter, which has an address" },
	{ REFUSED, 0, "aes_xts", NULL, 0, NULL, CRYPTO },
	{ REFUSED, 0, "encrypt_on_tx", NULL, 0, NULL, CRYPTO },
	{ REFUSED, 0, "sig_before", NULL, 0, NULL, CRYPTO },
	{ REFUSED, 0, "aes_block_size", "value", 0, NULL, CRYPTO },
	{ REFUSED, 0, "data_enc_keys_number", "value", 0, NULL, CRYPTO },
	{ REFUSED, 0, "data_enc_key_app_path", "value", 0, NULL, CRYPTO },
	{ REFUSED, 0, "kek_path", "value", 0, NULL, CRYPTO },
	{ REFUSED, 0, "credentials_path", "value", 0, NULL, CRYPTO },
	{ REFUSED, 0, "rate_limit", "value", 0, NULL, RATES },
	{ REFUSED, 0, "rate_limit_type", "value", 0, NULL, RATES },
	{ REFUSED, 0, "rate_units", "value", 0, NULL, RATES },
	{ REFUSED, 0, "burst_size", "value", 0, NULL, RATES },
	{ REFUSED, 0, "typical_pkt_size", "value", 0, NULL, RATES },
	{ REFUSED, 0, "congest_type", "type", 0, NULL,
	  "congestion control is DCQCN; ecn= of udapl-roce(7) is its switch" },
	{ REFUSED, 0, "dlid", "lid", 0, NULL, "Ethernet has no LIDs: name the host" },
	{ REFUSED, 0, "flow_label", "value", 0, NULL,
	  "the flow of a connection follows from its queue pairs" },
	{ REFUSED, 0, "latency_gap", "usec", 0, NULL,
	  "round trips follow each other at once: use dat-ping -i" },
	{ REFUSED, 0, "log_dci_streams", "n", 0, NULL, RELIABLE },
	{ REFUSED, 0, "log_active_dci_streams", "n", 0, NULL, RELIABLE },
	{ REFUSED, 0, "mmap", "file", 0, NULL, MEMORY },
	{ REFUSED, 0, "mmap-offset", "offset", 0, NULL, MEMORY },
	{ REFUSED, 0, "use_cuda", "device", 0, NULL, MEMORY },
	{ REFUSED, 0, "use_cuda_bus_id", "device", 0, NULL, MEMORY },
	{ REFUSED, 0, "use_rocm", "device", 0, NULL, MEMORY },
	{ REFUSED, 0, "use_neuron", "device", 0, NULL, MEMORY },
	{ REFUSED, 0, "use_hl", "device", 0, NULL, MEMORY },
	{ REFUSED, 0, "use_mlu", "device", 0, NULL, MEMORY },
	{ REFUSED, 0, "use_cuda_dmabuf", NULL, 0, NULL, MEMORY },
	{ REFUSED, 0, "use_neuron_dmabuf", NULL, 0, NULL, MEMORY },
	{ REFUSED, 0, "odp", NULL, 0, NULL, REGISTERED },
	{ REFUSED, 0, "use-null-mr", NULL, 0, NULL, REGISTERED },
	{ REFUSED, 0, "payload_file_path", "file", 0, NULL,
	  "--verify gives every message a content of its own" },
	{ REFUSED, 0, "reversed", NULL, 0, NULL, "exchange client and server, or use -b" },
	{ REFUSED, 0, "unsolicited_write", NULL, 0, NULL, IMMEDIATE },
	{ REFUSED, 0, "write_with_imm", NULL, 0, NULL, IMMEDIATE },
	{ REFUSED, 0, "use_ooo", NULL, 0, NULL, IN_ORDER },
	{ REFUSED, 0, "wait_destroy", "seconds", 0, NULL,
	  "use --duration for a run that can be looked at" },
	{ REFUSED, 'B', "source_mac", "mac", 0, NULL, RAW },
	{ REFUSED, 'E', "dest_mac", "mac", 0, NULL, RAW },
	{ REFUSED, 'G', "use_rss", NULL, 0, NULL, RAW },
	{ REFUSED, 'j', "source_ip", "address", 0, NULL, RAW },
	{ REFUSED, 'J', "dest_ip", "address", 0, NULL, RAW },
	{ REFUSED, 'k', "source_port", "port", 0, NULL, RAW },
	{ REFUSED, 'K', "dest_port", "port", 0, NULL, RAW },
	{ REFUSED, 'P', "client", NULL, 0, NULL, RAW },
	{ REFUSED, 'v', "mac_fwd", NULL, 0, NULL, RAW },
	{ REFUSED, 'Y', "ethertype", "type", 0, NULL, RAW },
	{ REFUSED, 'Z', "server", NULL, 0, NULL, RAW },
	{ REFUSED, 0, "flows", "n", 0, NULL, RAW },
	{ REFUSED, 0, "flows_burst", "n", 0, NULL, RAW },
	{ REFUSED, 0, "local_ip", "address", 0, NULL, RAW },
	{ REFUSED, 0, "local_mac", "mac", 0, NULL, RAW },
	{ REFUSED, 0, "local_port", "port", 0, NULL, RAW },
	{ REFUSED, 0, "promiscuous", NULL, 0, NULL, RAW },
	{ REFUSED, 0, "raw_ipv6", NULL, 0, NULL, RAW },
	{ REFUSED, 0, "raw_mcast", NULL, 0, NULL, RAW },
	{ REFUSED, 0, "remote_ip", "address", 0, NULL, RAW },
	{ REFUSED, 0, "remote_mac", "mac", 0, NULL, RAW },
	{ REFUSED, 0, "remote_port", "port", 0, NULL, RAW },
	{ REFUSED, 0, "reply_every", "n", 0, NULL, RAW },
	{ REFUSED, 0, "sniffer", NULL, 0, NULL, RAW },
	{ REFUSED, 0, "tcp", NULL, 0, NULL, RAW },
	{ REFUSED, 0, "vlan_en", NULL, 0, NULL, RAW },
	{ REFUSED, 0, "vlan_pcp", "priority", 0, NULL, RAW },
	/* clang-format on */
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

const struct perftest_row *
perftest_row(unsigned int n)
{
	return n < ROWS ? &rows[n] : NULL;
}

const struct perftest_row *
perftest_find(char letter)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].letter == letter)
			return &rows[i];
	return NULL;
}

char
perftest_letter(const struct perf_options *options, char own)
{
	for (size_t i = 0; options->perftest && i < ROWS; i++)
		if (rows[i].kind == PERFTEST_SERVED && rows[i].letter != 0 && rows[i].option == own)
			return rows[i].letter;
	return own;
}

static const char *
last_part(const char *path)
{
	const char *slash = path == NULL ? NULL : strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static bool
is_test_program(const char *argv0, enum perf_test *test)
{
	const char *name = last_part(argv0);

	return name != NULL && strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
			perf_test_find(name + strlen(PREFIX), test);
}

const char *
perftest_program(const char *argv0)
{
	enum perf_test test;

	return is_test_program(argv0, &test) ? last_part(argv0) : "dat-perf";
}

int
perftest_begin(struct perf_options *options, int argc, char **argv, int *words)
{
	const char *rest;

	*words = 0;
	options->perftest = is_test_program(argv[0], &options->test);
	if (options->perftest || argc < 2 || strncmp(argv[1], MODE, strlen(MODE)) != 0)
		return -1;
	rest = argv[1] + strlen(MODE);
	if (rest[0] != '\0' && rest[0] != '=')
		return -1;
	options->perftest = true;
	*words = 1;
	if (rest[0] == '\0' || perf_test_find(rest + 1, &options->test))
		return -1;
	cli_say("there is no test '%s'; " MODE "= takes send, write, read or atomic with _bw or "
		"_lat",
			rest + 1);
	return CLI_EXIT_USAGE;
}

void
perftest_defaults(struct perf_options *options)
{
	if (perf_test_is_atomic(options->test))
		options->size = SIZE_ATOMIC;
	else
		options->size = perf_test_is_latency(options->test) ? SIZE_LAT : SIZE_BW;
	options->iterations = options->test == PERF_WRITE_BW ? ITERATIONS_WB : ITERATIONS;
	options->use_srq = false;
	options->outs = 0;
	options->gbits = false;
	options->warmup_given = true;
}

/** The built-in adapter that all processes of the host share. */
#define SHARED "roce0"

static bool
is_built_in(const char *ia)
{
	return strcmp(ia, "loop0") == 0 || strcmp(ia, "loop1") == 0;
}

/* The first adapter of dat.conf. Where there is none, a host is on the one that all processes share, and NULL is both ends here. */
static const char *
first_adapter(const char *host)
{
	static DAT_PROVIDER_INFO list[CLI_IA_MAX];
	int n = cli_ia_list(list);

	for (int i = 0; i < n; i++)
		if (!is_built_in(list[i].ia_name) && strcmp(list[i].ia_name, SHARED) != 0)
			return list[i].ia_name;
	return host != NULL ? SHARED : NULL;
}

void
perftest_settle(struct perf_options *options)
{
	if (options->seconds != 0 || options->endless)
		options->iterations = 0;
	if (options->all_sizes)
		options->size_given = false;
	/* A depth that perftest takes for the sake of WRITEs with immediate data. */
	if (options->test == PERF_WRITE_BW || options->test == PERF_WRITE_LAT)
		options->recv_depth = 0;
	if (options->ia == NULL)
		options->ia = first_adapter(options->host);
	else if (options->host == NULL && is_built_in(options->ia))
		options->ia = NULL;
}

static void
print_name(const struct perftest_row *row, char *text, size_t size)
{
	char letter[8] = "    ";

	if (row->letter != 0)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	snprintf(text, size, "%s--%s%s%s%s", letter, row->name, row->value != NULL ? "=<" : "",
			row->value != NULL ? row->value : "", row->value != NULL ? ">" : "");
}

static void
print_rows(enum perftest_kind kind)
{
	char name[64];

	for (size_t i = 0; i < ROWS; i++) {
		if (rows[i].kind != kind)
			continue;
		print_name(&rows[i], name, sizeof(name));
		printf("  %-31s %s", name, rows[i].words);
		if (rows[i].only != NULL)
			printf(" (%s alone)", rows[i].only);
		putchar('\n');
	}
}

void
perftest_help(enum perf_test test)
{
	printf("usage: dat_%s [options]         wait for one client on the first adapter of "
	       "dat.conf(5);\n"
	       "%*s without one, both ends in this process\n"
	       "       dat_%s [options] host    be the client of a program of this name on that "
	       "host\n\n"
	       "The same: dat-perf --perftest=%s. Long options of dat-perf are taken, too.\n\n",
			perf_test_name(test), (int)strlen(perf_test_name(test)) + 32, "",
			perf_test_name(test), perf_test_name(test));
	puts("Served:");
	print_rows(PERFTEST_SERVED);
	puts("\nWithout effect:");
	print_rows(PERFTEST_NO_EFFECT);
	puts("\nRefused:");
	print_rows(PERFTEST_REFUSED);
	puts("\nClient and server take the same options. See dat-perf(1).");
}
