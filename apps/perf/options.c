/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

/* perftest's port, so that its users need not learn another. */
#define DEFAULT_PORT   18515
#define MAX_SIZE       (1u << 30)
#define MAX_ENDPOINTS  16384
#define MAX_ITERATIONS (1ull << 40)
#define MAX_SECONDS    86400
#define MAX_RESIZES    1000000
#define DEFAULT_OUTS   16
#define ATOMIC_SIZE    8
/* The field of the connection request has eight bits. */
#define MAX_OUTS        255
#define ONE_MILLION_PPM 1000000

/* Long options without a letter. */
enum {
	OPT_USE_SRQ = 256,
	OPT_NO_SRQ,
	OPT_CORES,
	OPT_VERIFY,
	OPT_GBITS,
	OPT_JSON,
	OPT_FAULT, /* the first of as many as there are kinds */
	OPT_WARMUP = OPT_FAULT + PERF_FAULTS,
	OPT_SRQ_DEPTH,
	OPT_LOW,
	OPT_RESIZE,
	OPT_VERSION,
};

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

static const char usage[] =
		"usage: dat-perf [options]              both ends in this process, on loop0 and loop1\n"
		"       dat-perf -D <ia> [options]      wait for one client\n"
		"       dat-perf -D <ia> [options] host be the client of a dat-perf on that host\n"
		"\n"
		"  -D <ia>             interface adapter, a name of dat.conf(5)\n"
		"  -p <port>           port of the server (18515)\n"
		"  -t <test>           send_bw (default), write_bw, read_bw, atomic_bw, and send_lat,\n"
		"                      write_lat, read_lat, atomic_lat\n"
		"  -s <size>           bytes of a message (64)\n"
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
		"  --report_gbits      accepted for perftest's sake: rates are always Gb/sec\n"
		"  -H                  histogram of the latencies\n"
		"  --json[=<file>]     the results as JSON, on standard output or in a file\n"
		"  --loss <ppm>        drop this many frames of a million, on purpose\n"
		"  --duplicate, --reorder, --corrupt, --mark <ppm>  likewise: send them twice, late,\n"
		"                      with a wrong bit, with the mark of a congested network\n"
		"  --warmup <n>        messages before the measurement\n"
		"  -h, --help          this text; --version: the version\n"
		"\n"
		"Client and server take the same options. See dat-perf(1).\n";

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

/* Read a number within bounds or say which option is wrong, and how. */
static int
number(const char *option, uint64_t min, uint64_t max, uint64_t *value)
{
	if (cli_number(optarg, min, max, value))
		return -1;
	cli_say("%s takes a number from %llu to %llu, not '%s'", option, (unsigned long long)min,
			(unsigned long long)max, optarg);
	return CLI_EXIT_USAGE;
}

static int
number32(const char *option, uint32_t min, uint32_t max, uint32_t *value)
{
	uint64_t wide = 0;
	int rc = number(option, min, max, &wide);

	*value = (uint32_t)wide;
	return rc;
}

static int
read_test(struct perf_options *o)
{
	for (int i = 0; i < PERF_TESTS; i++) {
		if (strcmp(optarg, test_name[i]) != 0)
			continue;
		o->test = (enum perf_test)i;
		return -1;
	}
	cli_say("there is no test '%s'; -t takes send, write, read or atomic with _bw or _lat",
			optarg);
	return CLI_EXIT_USAGE;
}

static int
read_fault(struct perf_options *o, unsigned int kind)
{
	char option[32];

	snprintf(option, sizeof(option), "--%s", fault_name[kind]);
	o->faulty = true;
	return number32(option, 0, ONE_MILLION_PPM, &o->faults[kind]);
}

static int
read_mtu(struct perf_options *o)
{
	uint64_t mtu;

	/* The five path MTUs of InfiniBand are powers of two. */
	if (cli_number(optarg, 256, 4096, &mtu) && (mtu & (mtu - 1)) == 0) {
		o->mtu = (uint32_t)mtu;
		return -1;
	}
	cli_say("-m takes 256, 512, 1024, 2048 or 4096, not '%s'", optarg);
	return CLI_EXIT_USAGE;
}

/* Options that carry a number or a name. @return as perf_options_read(). */
static int
read_valued(struct perf_options *o, int option)
{
	uint64_t port = 0;
	int rc;

	switch (option) {
	case 'p':
		rc = number("-p", 1, UINT16_MAX, &port);
		o->port = (uint16_t)port;
		return rc;
	case 't':
		return read_test(o);
	case 's':
		return number32("-s", 0, MAX_SIZE, &o->size);
	case 'n':
		return number("-n", 1, MAX_ITERATIONS, &o->iterations);
	case 'd':
		return number32("-d", 1, MAX_SECONDS, &o->seconds);
	case 'q':
		return number32("-q", 1, MAX_ENDPOINTS, &o->endpoints);
	case 'r':
		return number32("-r", 1, PERF_MAX_DEPTH, &o->recv_depth);
	case 'x':
		return number32("-x", 1, PERF_MAX_DEPTH, &o->send_depth);
	case 'Q':
		return number32("-Q", 1, PERF_MAX_DEPTH, &o->cq_moderation);
	case 'o':
		o->outs_given = true;
		return number32("-o", 1, MAX_OUTS, &o->outs);
	case 'm':
		return read_mtu(o);
	case OPT_CORES:
		return number32("--cores", 1, 2, &o->cores);
	case OPT_FAULT ... OPT_FAULT + PERF_FAULTS - 1:
		return read_fault(o, (unsigned int)option - OPT_FAULT);
	case OPT_SRQ_DEPTH:
		return number32("--srq-depth", 1, PERF_MAX_DEPTH, &o->srq_depth);
	case OPT_LOW:
		return number32("--low", 1, PERF_MAX_DEPTH, &o->low);
	case OPT_RESIZE:
		return number32("--resize", 1, MAX_RESIZES, &o->resizes);
	default: /* OPT_WARMUP */
		o->warmup_given = true;
		return number("--warmup", 0, MAX_ITERATIONS, &o->warmup);
	}
}

/* Options that are switches. @return false: it is none of them. */
static bool
read_switch(struct perf_options *o, int option)
{
	switch (option) {
	case 'a':
		o->all_sizes = true;
		return true;
	case 'b':
		o->both = true;
		return true;
	case 'e':
		o->events = true;
		return true;
	case 'H':
		o->histogram = true;
		return true;
	case OPT_USE_SRQ:
	case OPT_NO_SRQ:
		o->srq_given = true;
		o->use_srq = option == OPT_USE_SRQ;
		return true;
	case OPT_VERIFY:
		o->verify = true;
		return true;
	case OPT_GBITS:
		o->gbits = true;
		return true;
	case OPT_JSON:
		o->json = true;
		o->json_file = optarg;
		return true;
	default:
		return false;
	}
}

static int
read_option(struct perf_options *o, int option, char **argv)
{
	switch (option) {
	case 'h':
		fputs(usage, stdout);
		return 0;
	case OPT_VERSION:
		printf("dat-perf %s\n", UDAPL_ROCE_VERSION);
		return 0;
	case 'D':
		o->ia = optarg;
		return -1;
	case ':':
	case '?':
		return cli_complain(option, argv);
	default:
		return read_switch(o, option) ? -1 : read_valued(o, option);
	}
}

/* The fault of options of tests that need no receive, or of options that only they take; NULL: none. */
static const char *
one_sided_conflict(const struct perf_options *o, bool size_given)
{
	if (o->outs_given && o->test != PERF_READ_BW && o->test != PERF_ATOMIC_BW)
		return "-o is for read_bw and atomic_bw";
	if (!perf_test_is_one_sided(o->test))
		return NULL;
	if ((o->srq_given && o->use_srq) || o->recv_depth != 0 || o->srq_depth != 0 ||
			o->low != 0 || o->resizes != 0)
		return "-r, --use-srq, --srq-depth, --low and --resize are for send tests: WRITE, "
		       "READ and atomics take no receive buffer";
	if (perf_test_is_atomic(o->test) &&
			(o->all_sizes || (size_given && o->size != ATOMIC_SIZE)))
		return "an atomic is of 8 bytes: -s and -a are for the other tests";
	if (o->size == 0)
		return "-s 0 is for send tests: WRITE and READ of no bytes leave nothing to look at";
	if (o->test == PERF_WRITE_LAT && o->events)
		return "-e is not for write_lat: no event tells that memory was written";
	if (o->test == PERF_WRITE_BW && o->verify && o->seconds != 0)
		return "--verify of write_bw must know what is in memory at the end: -n, not -d";
	return NULL;
}

/* The fault of the places of the ends; NULL: none. */
static const char *
ends_conflict(const struct perf_options *o)
{
	if (o->mode == PERF_LOOP && o->events && o->cores == 1)
		return "-e with both ends on one core would wait for itself: use --cores 2";
	if (o->mode != PERF_LOOP && o->cores != 0)
		return "--cores is for both ends in one process: a client or a server is one thread";
	if (o->endpoints == MAX_ENDPOINTS && (o->mode != PERF_LOOP || o->cores == 2 || o->events))
		return "two threads or processes talk over an endpoint of their own: at most -q "
		       "16383";
	return NULL;
}

/* Sentences about options that are right alone and wrong together; NULL: none applies. */
static const char *
conflict(const struct perf_options *o, bool size_given)
{
	bool latency = perf_test_is_latency(o->test);
	const char *ends = ends_conflict(o);

	if (o->all_sizes && size_given)
		return "-a runs all sizes and -s one: give one of the two";
	if (o->iterations != 0 && o->seconds != 0)
		return "-n runs by count and -d by time: give one of the two";
	if (latency && o->both)
		return "-b is for bandwidth tests: a latency test always goes both ways";
	if (!latency && o->histogram)
		return "-H is for latency tests";
	if (ends != NULL)
		return ends;
	if (!o->use_srq && (o->srq_depth != 0 || o->low != 0 || o->resizes != 0))
		return "--srq-depth, --low and --resize are about the shared receive queue: not with "
		       "--no-srq";
	if (o->srq_depth != 0 && o->recv_depth != 0)
		return "-r and --srq-depth both give the depth of the shared queue: give one of the two";
	if (o->json_file != NULL && o->json_file[0] == '\0')
		return "--json= needs the name of a file";
	return one_sided_conflict(o, size_given);
}

/* Fill in what follows from other options, and check the whole. @return as perf_options_read(). */
static int
finish(struct perf_options *o, bool size_given)
{
	uint32_t depth = o->srq_depth != 0 ? o->srq_depth : o->recv_depth;
	const char *sentence;

	if (o->ia == NULL && o->host != NULL) {
		cli_say("a client of '%s' needs -D <ia>, the adapter to leave by", o->host);
		return CLI_EXIT_USAGE;
	}
	if (o->ia != NULL)
		o->mode = o->host == NULL ? PERF_SERVER : PERF_CLIENT;
	sentence = conflict(o, size_given);
	if (sentence != NULL) {
		cli_say("%s", sentence);
		return CLI_EXIT_USAGE;
	}
	if (o->use_srq && o->recv_depth != 0 && o->recv_depth < o->endpoints) {
		cli_say("a receive depth of %u cannot serve %u endpoints: -r must be at least -q",
				o->recv_depth, o->endpoints);
		return CLI_EXIT_USAGE;
	}
	if (depth != 0 && o->low > depth) {
		cli_say("a low watermark of %u is above the %u buffers of the shared receive queue",
				o->low, depth);
		return CLI_EXIT_USAGE;
	}
	if (o->send_depth != 0 && o->cq_moderation > o->send_depth) {
		cli_say("-Q %u would never complete with a send depth of %u: -Q must be at most -x",
				o->cq_moderation, o->send_depth);
		return CLI_EXIT_USAGE;
	}
	if (perf_test_is_one_sided(o->test))
		o->use_srq = false;
	if (perf_test_is_atomic(o->test))
		o->size = ATOMIC_SIZE;
	if (o->cores == 0)
		o->cores = o->mode == PERF_LOOP && o->events ? 2 : 1;
	return -1;
}

int
perf_options_read(struct perf_options *options, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "use-srq", no_argument, NULL, OPT_USE_SRQ },
		{ "no-srq", no_argument, NULL, OPT_NO_SRQ },
		{ "outs", required_argument, NULL, 'o' },
		{ "cores", required_argument, NULL, OPT_CORES },
		{ "verify", no_argument, NULL, OPT_VERIFY },
		{ "report_gbits", no_argument, NULL, OPT_GBITS },
		{ "json", optional_argument, NULL, OPT_JSON },
		{ "loss", required_argument, NULL, OPT_FAULT },
		{ "duplicate", required_argument, NULL, OPT_FAULT + 1 },
		{ "reorder", required_argument, NULL, OPT_FAULT + 2 },
		{ "corrupt", required_argument, NULL, OPT_FAULT + 3 },
		{ "mark", required_argument, NULL, OPT_FAULT + 4 },
		{ "warmup", required_argument, NULL, OPT_WARMUP },
		{ "srq-depth", required_argument, NULL, OPT_SRQ_DEPTH },
		{ "low", required_argument, NULL, OPT_LOW },
		{ "resize", required_argument, NULL, OPT_RESIZE },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ NULL, 0, NULL, 0 },
	};
	bool size_given = false;
	int option, rc;

	*options = (struct perf_options){
		.mode = PERF_LOOP,
		.test = PERF_SEND_BW,
		.port = DEFAULT_PORT,
		.size = 64,
		.endpoints = 1,
		.use_srq = true,
		.outs = DEFAULT_OUTS,
	};
	optind = 0;
	while ((option = getopt_long(argc, argv, ":D:p:t:s:an:d:q:r:x:Q:o:m:beHh", long_options,
				NULL)) != -1) {
		rc = read_option(options, option, argv);
		if (rc >= 0)
			return rc;
		size_given |= option == 's';
	}
	if (argc - optind > 1) {
		cli_say("'%s' is one host too many; see dat-perf --help", argv[optind + 1]);
		return CLI_EXIT_USAGE;
	}
	options->host = optind < argc ? argv[optind] : NULL;
	return finish(options, size_given);
}
