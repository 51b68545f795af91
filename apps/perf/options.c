/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "perftest.h"
#include "values.h"

/* perftest's port, so that its users need not learn another. */
#define DEFAULT_PORT 18515
#define DEFAULT_OUTS 16

static const char *const test_name[PERF_TESTS] = {
	[PERF_SEND_BW] = "send_bw",
	[PERF_SEND_LAT] = "send_lat",
	[PERF_WRITE_BW] = "write_bw",
	[PERF_WRITE_LAT] = "write_lat",
	[PERF_READ_BW] = "read_bw",
	[PERF_READ_LAT] = "read_lat",
	[PERF_ATOMIC_BW] = "atomic_bw",
	[PERF_ATOMIC_LAT] = "atomic_lat",
};

static const char *const fault_name[PERF_FAULTS] = { "loss", "duplicate", "reorder", "corrupt",
	"mark" };

static const char *const key_name[PERF_KEYS] = { "timeout", "retry", "dscp", "pcp" };

static const char usage[] =
		"usage: dat-perf [options]              both ends in this process, on loop0 and loop1\n"
		"       dat-perf -D <ia> [options]      wait for one client\n"
		"       dat-perf -D <ia> [options] host be the client of a dat-perf on that host\n"
		"\n"
		"  -D <ia>             interface adapter, a name of dat.conf(5)\n"
		"  -p <port>           port of the server (18515)\n"
		"  -t <test>           send_bw (default), write_bw, read_bw, atomic_bw, and send_lat,\n"
		"                      write_lat, read_lat, atomic_lat\n"
		"  -s <size>           bytes of a message (64), also as 4k or 0x40\n"
		"  -a                  all sizes from 2 bytes to 8 MiB\n"
		"  -n <iterations>     messages of a measurement; -d <seconds> runs by time instead\n"
		"  -q <endpoints>      connections that share the work (1)\n"
		"  --use-srq           receive through one shared receive queue (default of send tests)\n"
		"  --no-srq            give every endpoint a receive queue of its own\n"
		"  -r <depth>          receive buffers; -x <depth> unacknowledged sends per endpoint\n"
		"  --srq-depth <n>     buffers on the shared queue, also fewer than messages on the way\n"
		"  --low <n>           arm the shared queue's low watermark, again after each event\n"
		"  --resize <n>        change the shared queue's size n times a second\n"
		"  -Q <n>              ask for one completion every n sends\n"
		"  -o, --outs <n>      READs or atomics of one endpoint under way at a time (16)\n"
		"  -m <mtu>            path MTU: 256, 512, 1024, 2048 or 4096\n"
		"  --cores <1|2>       threads when both ends run in this process (1)\n"
		"  -b                  both directions at once\n"
		"  -e                  wait for events instead of polling\n"
		"  --verify            check the content, the order and the number of all messages\n"
		"  --report_gbits      accepted for perftest's sake: rates are Gb/sec anyhow\n"
		"  -H                  histogram of the latencies\n"
		"  --json[=<file>]     the results as JSON, on standard output or in a file\n"
		"  --loss <ppm>        drop this many frames of a million, on purpose\n"
		"  --duplicate, --reorder, --corrupt, --mark <ppm>  likewise: send them twice, late,\n"
		"                      with a wrong bit, with the mark of a congested network\n"
		"  --warmup <n>        messages before the measurement\n"
		"  --run_infinitely    a row every --duration <seconds> (5), until interrupted\n"
		"  --cpu_util          with -d: how busy the processors were\n"
		"  --report-both       with -b: each direction, too\n"
		"  --output <what>     one number alone: bandwidth, message_rate or latency\n"
		"  --limit_bw <n>, --limit_msgrate <n>   fail below this average\n"
		"  -h, --help          this text; --version: the version\n"
		"\n"
		"perftest's other long options are taken, too. --perftest[=<test>], as the first option, makes\n"
		"its letters and its defaults hold: see dat-perf --perftest --help.\n"
		"\n"
		"Client and server take the same options. See dat-perf(1).\n";

const char *
perf_key_name(enum perf_key key)
{
	return key_name[key];
}

const char *
perf_fault_name(unsigned int kind)
{
	return fault_name[kind];
}

const char *
perf_test_name(enum perf_test test)
{
	return test_name[test];
}

bool
perf_test_find(const char *name, enum perf_test *test)
{
	for (int i = 0; i < PERF_TESTS; i++) {
		if (strcmp(name, test_name[i]) != 0)
			continue;
		*test = (enum perf_test)i;
		return true;
	}
	return false;
}

bool
perf_test_is_latency(enum perf_test test)
{
	return strstr(test_name[test], "_lat") != NULL;
}

bool
perf_test_fetches(enum perf_test test)
{
	return test >= PERF_READ_BW;
}

bool
perf_test_is_atomic(enum perf_test test)
{
	return test == PERF_ATOMIC_BW || test == PERF_ATOMIC_LAT;
}

bool
perf_test_is_one_sided(enum perf_test test)
{
	return test != PERF_SEND_BW && test != PERF_SEND_LAT;
}

/* An option of dat-perf, whatever its name. */
static int
read_own(struct perf_reading *r, int option)
{
	switch (option) {
	case 'h':
		if (r->o->perftest)
			perftest_help(r->o->test);
		else
			fputs(usage, stdout);
		return 0;
	case PERF_OPT_VERSION:
		printf("dat-perf %s\n", UDAPL_ROCE_VERSION);
		return 0;
	case PERF_OPT_PERFTEST:
		cli_say("--perftest must be the first option: it gives the others their meaning");
		return CLI_EXIT_USAGE;
	case 'D':
		r->o->ia = optarg;
		return -1;
	default:
		return perf_read_switch(r->o, option) ? -1 : perf_read_valued(r, option);
	}
}

/* An option of perftest. */
static int
read_row(struct perf_reading *r, const struct perftest_row *row)
{
	if (row->kind == PERFTEST_SERVED)
		return read_own(r, row->option);
	if (row->kind == PERFTEST_NO_EFFECT &&
			(row->only == NULL || strcasecmp(optarg, row->only) == 0))
		return -1;
	if (row->only != NULL)
		cli_say("%s takes %s alone, not '%s': %s", r->shown, row->only, optarg, row->words);
	else
		cli_say("%s is not served; %s", r->shown, row->words);
	return CLI_EXIT_USAGE;
}

/* The letters that mean what they mean to dat-perf. */
static const char own_letters[] = ":D:p:t:s:an:d:q:r:x:Q:o:m:beHh";

/* The long options that dat-perf has by itself. */
static const struct option own_options[] = {
	{ "use-srq", no_argument, NULL, PERF_OPT_USE_SRQ },
	{ "no-srq", no_argument, NULL, PERF_OPT_NO_SRQ },
	{ "outs", required_argument, NULL, 'o' },
	{ "cores", required_argument, NULL, PERF_OPT_CORES },
	{ "verify", no_argument, NULL, PERF_OPT_VERIFY },
	{ "report_gbits", no_argument, NULL, PERF_OPT_GBITS },
	{ "json", optional_argument, NULL, PERF_OPT_JSON },
	{ "loss", required_argument, NULL, PERF_OPT_FAULT },
	{ "duplicate", required_argument, NULL, PERF_OPT_FAULT + 1 },
	{ "reorder", required_argument, NULL, PERF_OPT_FAULT + 2 },
	{ "corrupt", required_argument, NULL, PERF_OPT_FAULT + 3 },
	{ "mark", required_argument, NULL, PERF_OPT_FAULT + 4 },
	{ "warmup", required_argument, NULL, PERF_OPT_WARMUP },
	{ "srq-depth", required_argument, NULL, PERF_OPT_SRQ_DEPTH },
	{ "low", required_argument, NULL, PERF_OPT_LOW },
	{ "resize", required_argument, NULL, PERF_OPT_RESIZE },
	{ "perftest", optional_argument, NULL, PERF_OPT_PERFTEST },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, PERF_OPT_VERSION },
};

#define OWN     (sizeof(own_options) / sizeof(own_options[0]))
#define MAX_ALL 256

static bool
is_own(const char *name)
{
	for (size_t i = 0; i < OWN; i++)
		if (strcmp(own_options[i].name, name) == 0)
			return true;
	return false;
}

/* Make what getopt_long() is to know: the long options of both, and perftest's letters. */
static void
list_options(struct option all[MAX_ALL], char letters[MAX_ALL])
{
	const struct perftest_row *row;
	size_t n = OWN, at = 0;

	memcpy(all, own_options, sizeof(own_options));
	letters[at++] = ':';
	for (unsigned int i = 0; (row = perftest_row(i)) != NULL; i++) {
		int argument = row->value != NULL ? required_argument : no_argument;

		if (n < MAX_ALL - 1 && !is_own(row->name))
			all[n++] = (struct option){ row->name, argument, NULL,
				PERF_OPT_ROW + (int)i };
		if (row->letter == 0 || at + 3 > MAX_ALL)
			continue;
		letters[at++] = row->letter;
		if (row->value != NULL)
			letters[at++] = ':';
	}
	all[n] = (struct option){ 0 };
	letters[at] = '\0';
}

/* @param name  of a long option; NULL: it was a letter. */
static int
read_option(struct perf_options *o, int option, const char *name, char **argv)
{
	struct perf_reading r = { .o = o };

	if (option == ':' || option == '?')
		return cli_complain(option, argv);
	if (name != NULL)
		snprintf(r.shown, sizeof(r.shown), "--%s", name);
	else
		snprintf(r.shown, sizeof(r.shown), "-%c", option);
	if (option >= PERF_OPT_ROW)
		return read_row(&r, perftest_row((unsigned int)(option - PERF_OPT_ROW)));
	if (name == NULL && o->perftest)
		return read_row(&r, perftest_find((char)option));
	return read_own(&r, option);
}

int
perf_options_read(struct perf_options *options, int argc, char **argv)
{
	struct option all[MAX_ALL];
	int option, rc, words, index;
	char letters[MAX_ALL];

	*options = (struct perf_options){
		.mode = PERF_LOOP,
		.test = PERF_SEND_BW,
		.port = DEFAULT_PORT,
		.size = 64,
		.endpoints = 1,
		.use_srq = true,
		.outs = DEFAULT_OUTS,
		.gbits = true,
	};
	rc = perftest_begin(options, argc, argv, &words);
	if (rc >= 0)
		return rc;
	if (options->perftest)
		perftest_defaults(options);
	argc -= words;
	argv += words;
	list_options(all, letters);
	optind = 0;
	for (index = -1;
			(option = getopt_long(argc, argv, options->perftest ? letters : own_letters,
					 all, &index)) != -1;
			index = -1) {
		rc = read_option(options, option, index < 0 ? NULL : all[index].name, argv);
		if (rc >= 0)
			return rc;
	}
	if (argc - optind > 1) {
		cli_say("'%s' is one host too many; see dat-perf --help", argv[optind + 1]);
		return CLI_EXIT_USAGE;
	}
	options->host = optind < argc ? argv[optind] : NULL;
	if (options->perftest)
		perftest_settle(options);
	return perf_options_check(options);
}
