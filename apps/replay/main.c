/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of roce-replay: a responder hears a recording. */
#include <getopt.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "replay.h"

#define PORT_DEFAULT 18516u

enum {
	OPT_VERSION = 256,
};

struct replay_options {
	const char *params;
	uint16_t port;
};

static const char usage[] =
		"usage: roce-replay [-p port] <params>\n"
		"\n"
		"Prints what a responder makes of each frame of a recording.\n"
		"\n"
		"  <params>       of the adapter, as in dat.conf(5), with the numbers of the recorded one:\n"
		"                 \"port=net_pcap0,rx_pcap=IN,tx_pcap=OUT ip=192.0.2.1/24 qpn= psn= seed=\"\n"
		"  -p <port>      port that clients of the recording connect to (18516, that of dat-ping)\n"
		"  -h, --help     this text\n"
		"  --version      the version\n"
		"\n"
		"See roce-replay(1).\n";

static int
read_option(struct replay_options *options, int option)
{
	uint64_t value = 0;
	int rc;

	switch (option) {
	case 'p':
		rc = cli_option_number("-p", 1, UINT16_MAX, &value);
		options->port = (uint16_t)value;
		return rc;
	case 'h':
		fputs(usage, stdout);
		return 0;
	case OPT_VERSION:
		printf("roce-replay %s\n", UDAPL_ROCE_VERSION);
		return 0;
	default:
		return CLI_EXIT_USAGE;
	}
}

/* @return -1: go on; else the exit status. */
static int
read_options(struct replay_options *options, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ NULL, 0, NULL, 0 },
	};
	int option, rc;

	*options = (struct replay_options){ .port = PORT_DEFAULT };
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":hp:", long_options, NULL)) != -1) {
		rc = option == '?' || option == ':' ? cli_complain(option, argv)
						    : read_option(options, option);
		if (rc >= 0)
			return rc;
	}
	if (argc - optind != 1) {
		cli_say("the parameters of one adapter are needed; see roce-replay --help");
		return CLI_EXIT_USAGE;
	}
	options->params = argv[optind];
	return -1;
}

int
main(int argc, char **argv)
{
	struct replay_options options;
	int rc;

	cli_begin("roce-replay");
	rc = read_options(&options, argc, argv);
	if (rc >= 0)
		return cli_exit(rc);
	replay_run(options.params, options.port);
	return cli_exit(0);
}
