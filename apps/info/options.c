/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

#define SECONDS_MIN 0.1
#define SECONDS_MAX 3600.0

enum {
	OPT_JSON = 256,
	OPT_METRICS,
	OPT_OPENMETRICS,
	OPT_QUEUE_PAIRS,
	OPT_LISTEN,
	OPT_WATCH,
	OPT_COUNT,
	OPT_PREFIX,
	OPT_SOCKET,
	OPT_PID,
	OPT_VERSION,
};

static const char usage[] =
		"usage: dat-info [--json]               list the interface adapters that can be opened\n"
		"       dat-info [--json] [-a] <ia>     show the attributes and counters of one\n"
		"       dat-info --metrics              what running processes count, for Prometheus\n"
		"       dat-info --metrics --listen [<address>:]<port>   the same over HTTP, for ever\n"
		"       dat-info --watch [<seconds>]    what running processes do, again and again\n"
		"\n"
		"  -a, --all        show counters that are 0, too\n"
		"  --json           print a JSON object; with --watch one a line\n"
		"  --openmetrics    metrics in the OpenMetrics format\n"
		"  --queue-pairs    metrics of each queue pair, too\n"
		"  --count <n>      end after so many looks\n"
		"  --pid <n>, --prefix <name>, --socket <path>\n"
		"                   one process: its number, its EAL's file prefix, its telemetry socket\n"
		"  -h, --help       this text; --version: the version\n"
		"\n"
		"See dat-info(1).\n";

static const struct option long_options[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "metrics", no_argument, NULL, OPT_METRICS },
	{ "openmetrics", no_argument, NULL, OPT_OPENMETRICS },
	{ "queue-pairs", no_argument, NULL, OPT_QUEUE_PAIRS },
	{ "listen", required_argument, NULL, OPT_LISTEN },
	{ "watch", no_argument, NULL, OPT_WATCH },
	{ "count", required_argument, NULL, OPT_COUNT },
	{ "prefix", required_argument, NULL, OPT_PREFIX },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "pid", required_argument, NULL, OPT_PID },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

/** The command line as it stands, before it is checked. */
struct words {
	bool metrics, watch;
	bool process; /**< one of those that choose a process */
};

/* @return false: no number in range; the error was printed. */
static bool
read_number(const char *option, const char *text, uint64_t max, uint64_t *number)
{
	if (cli_number(text, 1, max, number))
		return true;
	cli_say("%s takes a number from 1 to %llu, not '%s'; see dat-info --help", option,
			(unsigned long long)max, text);
	return false;
}

static bool
read_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	if (end != text && *end == '\0' && *seconds >= SECONDS_MIN && *seconds <= SECONDS_MAX)
		return true;
	cli_say("--watch takes seconds from 0.1 to 3600, not '%s'; see dat-info --help", text);
	return false;
}

/* Those that take a value. @return false: it is wrong; the error was printed. */
static bool
read_value(struct info_options *options, struct words *words, int option)
{
	switch (option) {
	case OPT_LISTEN:
		options->listen = optarg;
		return true;
	case OPT_COUNT:
		return read_number("--count", optarg, 1000000000, &options->count);
	case OPT_PREFIX:
		options->process.prefix = optarg;
		break;
	case OPT_SOCKET:
		options->process.socket = optarg;
		break;
	case OPT_PID:
		if (!read_number("--pid", optarg, INT32_MAX, &options->process.pid))
			return false;
		break;
	default:
		break;
	}
	words->process = true;
	return true;
}

/* @return -1: go on; else the exit status. */
static int
read_option(struct info_options *options, struct words *words, int option, char **argv)
{
	switch (option) {
	case 'a':
		options->all = true;
		break;
	case OPT_JSON:
		options->json = true;
		break;
	case OPT_METRICS:
		words->metrics = true;
		break;
	case OPT_OPENMETRICS:
		options->openmetrics = true;
		break;
	case OPT_QUEUE_PAIRS:
		options->queue_pairs = true;
		break;
	case OPT_WATCH:
		words->watch = true;
		break;
	case 'h':
		fputs(usage, stdout);
		return EXIT_SUCCESS;
	case OPT_VERSION:
		printf("dat-info %s\n", UDAPL_ROCE_VERSION);
		return EXIT_SUCCESS;
	case '?':
	case ':':
		return cli_complain(option, argv);
	default:
		return read_value(options, words, option) ? -1 : CLI_EXIT_USAGE;
	}
	return -1;
}

/* A word that means nothing here; NULL: they fit together. */
static const char *
find_misfit(const struct info_options *options, const struct words *words)
{
	if (words->metrics && words->watch)
		return "--metrics and --watch: give one of the two";
	if (options->json && words->metrics)
		return "--json means nothing with --metrics";
	if ((options->openmetrics || options->queue_pairs || options->listen != NULL) &&
			!words->metrics)
		return "--openmetrics, --queue-pairs and --listen mean nothing without --metrics";
	if (options->all && (words->metrics || words->watch))
		return "-a means nothing with --metrics and --watch";
	if (options->openmetrics && options->listen != NULL)
		return "--openmetrics means nothing with --listen: who asks says what it takes";
	if (options->count != 0 && !words->watch)
		return "--count means nothing without --watch";
	if (words->process && !words->metrics && !words->watch)
		return "--pid, --prefix and --socket mean nothing without --metrics or --watch";
	return NULL;
}

/* The words behind the options. */
static int
read_operand(struct info_options *options, const struct words *words, int argc, char **argv)
{
	int n = argc - optind;

	if (n > 1 || (n == 1 && words->metrics)) {
		cli_say("'%s' is one word too many; see dat-info --help", argv[argc - 1]);
		return CLI_EXIT_USAGE;
	}
	if (options->all && n == 0) {
		cli_say("-a wants the name of an adapter; see dat-info --help");
		return CLI_EXIT_USAGE;
	}
	options->seconds = 1;
	if (n == 0)
		return -1;
	if (!words->watch)
		options->ia = argv[optind];
	else if (!read_seconds(argv[optind], &options->seconds))
		return CLI_EXIT_USAGE;
	return -1;
}

int
info_options_read(struct info_options *options, int argc, char **argv)
{
	struct words words = { 0 };
	const char *misfit;
	int option, rc = -1;

	*options = (struct info_options){ 0 };
	opterr = 0;
	while (rc < 0 && (option = getopt_long(argc, argv, ":ah", long_options, NULL)) != -1)
		rc = read_option(options, &words, option, argv);
	if (rc >= 0)
		return rc;
	misfit = find_misfit(options, &words);
	if (misfit != NULL) {
		cli_say("%s; see dat-info --help", misfit);
		return CLI_EXIT_USAGE;
	}
	options->mode = INFO_ADAPTERS;
	if (words.metrics)
		options->mode = options->listen != NULL ? INFO_LISTEN : INFO_METRICS;
	else if (words.watch)
		options->mode = INFO_WATCH;
	return read_operand(options, &words, argc, argv);
}
