/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdio.h>

#include "cli/cli.h"
#include "service.h"

#define LISTEN_DEFAULT 18516u
#define FRAME_MIN      60u
#define FRAME_MAX      1514u

enum {
	OPT_VERSION = 256,
	OPT_PORT_A,
	OPT_PORT_B,
	OPT_GAUGE,
	OPT_FRAME,
};

static const char usage[] =
		"usage: roce-embed [EAL options] -- [options]\n"
		"\n"
		"Forwards frames between two DPDK ports, and answers RDMA clients on the first.\n"
		"\n"
		"  --port-a <name>  DPDK port with the RDMA service (the first)\n"
		"  --port-b <name>  the other port (the second)\n"
		"  --ip <params>    address of the service, and more as in dat.conf(5): \"192.0.2.10/24 vlan=5\"\n"
		"  -p <port>        port of the service (18516, that of dat-ping)\n"
		"  -d <seconds>     end after so long (0: until interrupted; 1 for each line of --gauge)\n"
		"  --gauge          measure what RDMA costs, on rings in memory, instead\n"
		"  -s <size>        bytes of a message of --gauge (4096), also as 4k or 0x40\n"
		"  --frame <bytes>  of a frame that --gauge forwards (64)\n"
		"  -h, --help       this text; --version: the version\n"
		"\n"
		"See roce-embed(1).\n";

static int
read_number(struct embed_options *o, int option)
{
	uint64_t value = 0;
	int rc;

	switch (option) {
	case 'p':
		rc = cli_option_number("-p", 1, UINT16_MAX, &value);
		o->listen = (uint16_t)value;
		return rc;
	case 'd':
		rc = cli_option_number("-d", 0, 86400, &value);
		o->seconds = (uint32_t)value;
		return rc;
	case 's':
		rc = cli_option_size("-s", 8, SERVICE_BUFFER_SIZE, &value);
		o->size = (uint32_t)value;
		return rc;
	default:
		rc = cli_option_size("--frame", FRAME_MIN, FRAME_MAX, &value);
		o->frame = (uint32_t)value;
		return rc;
	}
}

static int
read_option(struct embed_options *o, int option)
{
	switch (option) {
	case OPT_PORT_A:
		o->port[0] = optarg;
		return -1;
	case OPT_PORT_B:
		o->port[1] = optarg;
		return -1;
	case OPT_GAUGE:
		o->gauge = true;
		return -1;
	case 'i':
		snprintf(o->params, sizeof(o->params), "ip=%s", optarg);
		return -1;
	case 'p':
	case 'd':
	case 's':
	case OPT_FRAME:
		return read_number(o, option);
	case 'h':
		fputs(usage, stdout);
		return 0;
	case OPT_VERSION:
		printf("roce-embed %s\n", UDAPL_ROCE_VERSION);
		return 0;
	default:
		return CLI_EXIT_USAGE;
	}
}

int
embed_options_read(struct embed_options *options, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "port-a", required_argument, NULL, OPT_PORT_A },
		{ "port-b", required_argument, NULL, OPT_PORT_B },
		{ "ip", required_argument, NULL, 'i' },
		{ "gauge", no_argument, NULL, OPT_GAUGE },
		{ "frame", required_argument, NULL, OPT_FRAME },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ NULL, 0, NULL, 0 },
	};
	int option, rc;

	*options = (struct embed_options){ .listen = LISTEN_DEFAULT, .size = 4096, .frame = 64 };
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":hp:d:s:", long_options, NULL)) != -1) {
		if (option == '?' || option == ':')
			return cli_complain(option, argv);
		rc = read_option(options, option);
		if (rc >= 0)
			return rc;
	}
	if (optind < argc) {
		cli_say("'%s' is no option; see roce-embed -- --help", argv[optind]);
		return CLI_EXIT_USAGE;
	}
	if (!options->gauge && options->params[0] == '\0') {
		cli_say("the service needs an address: --ip 192.0.2.10/24");
		return CLI_EXIT_USAGE;
	}
	return -1;
}
