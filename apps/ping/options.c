/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/cli.h"

#define DEFAULT_PORT  18516
#define DEFAULT_SIZE  64
#define DEFAULT_COUNT 5
#define MAX_SIZE      (8u << 20)
#define MAX_INTERVAL  3600000

enum {
	OPT_JSON = 256,
	OPT_VERSION,
};

static const char usage[] =
		"usage: dat-ping [options]              both ends in this process, on loop0 and loop1\n"
		"       dat-ping -D <ia> -l [options]   answer clients\n"
		"       dat-ping -D <ia> [options] host ping the dat-ping -l on that host\n"
		"\n"
		"  -D <ia>        interface adapter, a name of dat.conf(5)\n"
		"  -l             listen: answer clients, one after the other\n"
		"  -p <port>      port (18516)\n"
		"  -c <count>     rounds (5), or clients of a server (no end); 0: until interrupted\n"
		"  -s <size>      bytes of a message (64), also as 4k or 0x40\n"
		"  -i <ms>        milliseconds from one round to the next (1000; 100 in one process)\n"
		"  --json[=<file>] the times as JSON, on standard output or in a file\n"
		"  -h, --help     this text; --version: the version\n"
		"\n"
		"See dat-ping(1).\n";

struct given {
	bool listen, count, interval;
};

static int
read_option(struct ping_options *o, struct given *given, int option)
{
	uint64_t value = 0;
	int rc;

	switch (option) {
	case 'D':
		o->ia = optarg;
		return -1;
	case 'l':
		given->listen = true;
		return -1;
	case 'p':
		rc = cli_option_number("-p", 1, UINT16_MAX, &value);
		o->port = (uint16_t)value;
		return rc;
	case 'c':
		given->count = true;
		return cli_option_number("-c", 0, UINT32_MAX, &o->count);
	case 's':
		rc = cli_option_size("-s", 0, MAX_SIZE, &value);
		o->size = (uint32_t)value;
		return rc;
	case 'i':
		given->interval = true;
		rc = cli_option_number("-i", 0, MAX_INTERVAL, &value);
		o->interval_ms = (uint32_t)value;
		return rc;
	case OPT_JSON:
		o->json = true;
		o->json_file = optarg;
		return -1;
	case 'h':
		fputs(usage, stdout);
		return 0;
	case OPT_VERSION:
		printf("dat-ping %s\n", UDAPL_ROCE_VERSION);
		return 0;
	default:
		return CLI_EXIT_USAGE;
	}
}

/* Options that are right alone and wrong together. @return the sentence; NULL: none. */
static const char *
conflict(const struct ping_options *o, const struct given *given)
{
	if (o->ia == NULL && (given->listen || o->host != NULL))
		return "a client or a server needs -D <ia>, the adapter to use";
	if (given->listen && o->host != NULL)
		return "-l listens and a host is pinged: give one of the two";
	if (o->ia != NULL && !given->listen && o->host == NULL)
		return "-D needs a host to ping, or -l to listen";
	if (o->json_file != NULL && o->json_file[0] == '\0')
		return "--json= needs the name of a file";
	return NULL;
}

int
ping_options_read(struct ping_options *options, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "json", optional_argument, NULL, OPT_JSON },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ NULL, 0, NULL, 0 },
	};
	struct given given = { 0 };
	const char *sentence;
	int option, rc;

	*options = (struct ping_options){
		.port = DEFAULT_PORT,
		.size = DEFAULT_SIZE,
		.count = DEFAULT_COUNT,
		.interval_ms = 1000,
	};
	optind = 0;
	while ((option = getopt_long(argc, argv, ":D:lp:c:s:i:h", long_options, NULL)) != -1) {
		rc = option == ':' || option == '?' ? cli_complain(option, argv)
						    : read_option(options, &given, option);
		if (rc >= 0)
			return rc;
	}
	if (argc - optind > 1) {
		cli_say("'%s' is one host too many; see dat-ping --help", argv[optind + 1]);
		return CLI_EXIT_USAGE;
	}
	options->host = optind < argc ? argv[optind] : NULL;
	sentence = conflict(options, &given);
	if (sentence != NULL) {
		cli_say("%s", sentence);
		return CLI_EXIT_USAGE;
	}
	options->mode = options->ia == NULL ? PING_LOOP : given.listen ? PING_SERVER : PING_CLIENT;
	if (options->mode == PING_SERVER && !given.count)
		options->count = 0;
	if (options->mode == PING_LOOP && !given.interval)
		options->interval_ms = 100;
	return -1;
}
