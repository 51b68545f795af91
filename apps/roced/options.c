/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

#define LINGER_MAX 86400
#define MS_PER_S   1000

enum {
	OPT_DIR = 256,
	OPT_PORT,
	OPT_IP,
	OPT_GW,
	OPT_MTU,
	OPT_GROUP,
	OPT_ON_DEMAND,
	OPT_LINGER,
	OPT_STATUS,
	OPT_JSON,
	OPT_VERSION,
};

static const char usage[] =
		"usage: roced [options]                introduce the processes of this user to each other\n"
		"       roced --port <device> --ip <address>/<prefix>[,...] [options]    and to other hosts\n"
		"       roced --status [--json] [--dir <folder>]\n"
		"\n"
		"  --dir <folder>      the run-time folder, instead of that of the user\n"
		"  --group <name>      admit members of the group; no process attaches there yet\n"
		"  --on-demand         detach from the terminal; end when no process is left\n"
		"  --linger <seconds>  with --on-demand: how long to wait for another process (1)\n"
		"  -v, --verbose       say each event on standard error\n"
		"\n"
		"  --port <device>     the uplink: a port as in dat.conf(5), such as net_af_packet0,iface=eth1\n"
		"  --ip <addresses>    its addresses, as 192.0.2.1/24,2001:db8::1/64\n"
		"  --gw <address>      its router\n"
		"  --mtu <bytes>       its path MTU (the largest that fits the device)\n"
		"\n"
		"  --status            show processes, channels and counters of the running roced\n"
		"  --json              with --status: as one JSON object\n"
		"\n"
		"  -h, --help          this text; --version: the version\n"
		"\n"
		"See roced(1).\n";

static const struct option long_options[] = {
	{ "dir", required_argument, NULL, OPT_DIR },
	{ "group", required_argument, NULL, OPT_GROUP },
	{ "port", required_argument, NULL, OPT_PORT },
	{ "ip", required_argument, NULL, OPT_IP },
	{ "gw", required_argument, NULL, OPT_GW },
	{ "mtu", required_argument, NULL, OPT_MTU },
	{ "on-demand", no_argument, NULL, OPT_ON_DEMAND },
	{ "linger", required_argument, NULL, OPT_LINGER },
	{ "verbose", no_argument, NULL, 'v' },
	{ "status", no_argument, NULL, OPT_STATUS },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

/* Seconds, with a fraction if need be. */
static int
read_linger(struct options *options)
{
	char *end;
	double seconds = strtod(optarg, &end);

	if (end == optarg || *end != '\0' || !(seconds >= 0 && seconds <= LINGER_MAX)) {
		say("--linger takes seconds from 0 to %d, not '%s'", LINGER_MAX, optarg);
		return EXIT_USAGE;
	}
	options->has_linger = true;
	options->linger_ms = (uint32_t)(seconds * MS_PER_S);
	return -1;
}

/* The uplink finds out whether it means something; a blank would begin another parameter. */
static int
read_uplink_text(const char **text, const char *name)
{
	if (optarg[0] == '\0' || strpbrk(optarg, " \t\n\"") != NULL) {
		say("%s takes a value without blanks and quotes, not '%s'", name, optarg);
		return EXIT_USAGE;
	}
	*text = optarg;
	return -1;
}

static int
complain(int option, char **argv)
{
	if (option == ':')
		say("%s needs a value; see roced --help", argv[optind - 1]);
	else
		say("'%s' is none of the options; see roced --help", argv[optind - 1]);
	return EXIT_USAGE;
}

static int
read_option(struct options *options, int option, char **argv)
{
	switch (option) {
	case OPT_DIR:
		options->dir = optarg;
		return -1;
	case OPT_GROUP:
		options->group = optarg;
		return -1;
	case OPT_PORT:
		return read_uplink_text(&options->port, "--port");
	case OPT_IP:
		return read_uplink_text(&options->ip, "--ip");
	case OPT_GW:
		return read_uplink_text(&options->gw, "--gw");
	case OPT_MTU:
		return read_uplink_text(&options->mtu, "--mtu");
	case OPT_ON_DEMAND:
		options->on_demand = true;
		return -1;
	case OPT_LINGER:
		return read_linger(options);
	case 'v':
		options->verbose = true;
		return -1;
	case OPT_STATUS:
		options->status = true;
		return -1;
	case OPT_JSON:
		options->json = true;
		return -1;
	case 'h':
		fputs(usage, stdout);
		return EXIT_SUCCESS;
	case OPT_VERSION:
		printf("roced %s\n", UDAPL_ROCE_VERSION);
		return EXIT_SUCCESS;
	default:
		return complain(option, argv);
	}
}

/* Options that are right alone and wrong together. @return the sentence; NULL: none. */
static const char *
conflict(const struct options *options)
{
	if (options->has_linger && !options->on_demand)
		return "--linger belongs to --on-demand: without it, roced ends by a signal alone";
	if (options->json && !options->status)
		return "--json is the form of --status: give both";
	if (options->status && (options->on_demand || options->group != NULL))
		return "--status asks the roced that runs: neither --on-demand nor --group has a "
		       "meaning";
	if ((options->port == NULL) != (options->ip == NULL))
		return "an uplink needs --port and --ip: give both";
	if (options->port == NULL && (options->gw != NULL || options->mtu != NULL))
		return "--gw and --mtu are of an uplink: give --port and --ip, too";
	if (options->port != NULL && (options->on_demand || options->status))
		return "--port goes with neither --on-demand nor --status: a roced with an uplink "
		       "runs until a signal ends it";
	if (options->on_demand && options->group != NULL)
		return "--on-demand is for one user: a roced with --group is started by an "
		       "administrator";
	return NULL;
}

int
options_read(struct options *options, int argc, char **argv)
{
	const char *sentence;
	int option, rc;

	*options = (struct options){ .linger_ms = MS_PER_S };
	while ((option = getopt_long(argc, argv, ":hv", long_options, NULL)) != -1) {
		rc = read_option(options, option, argv);
		if (rc >= 0)
			return rc;
	}
	if (optind < argc) {
		say("'%s' is one word too many; see roced --help", argv[optind]);
		return EXIT_USAGE;
	}
	sentence = conflict(options);
	if (sentence == NULL)
		return -1;
	say("%s", sentence);
	return EXIT_USAGE;
}
