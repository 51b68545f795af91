/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/liveness.h"

#define DEFAULT_PORT        18517
#define DEFAULT_DEPTH       512
#define DEFAULT_MAX_CLIENTS 256
#define DEFAULT_WINDOW      16
#define DEFAULT_MESSAGES    10000
#define SERVER_SIZE         4096
#define CLIENT_SIZE         64
/* Without a word about it, the watermark is a quarter of the queue, and growing ends at sixteen times its size. */
#define LOW_SHARE  4
#define GROW_TIMES 16

#define MAX_SIZE    (8u << 20)
#define MAX_DEPTH   (1u << 20)
#define MAX_CLIENTS 16384
#define MAX_WINDOW  4096
#define MAX_SECONDS 86400

enum {
	OPT_DEPTH = 256,
	OPT_LOW,
	OPT_GROW,
	OPT_MAX_DEPTH,
	OPT_MAX_CLIENTS,
	OPT_KEEPALIVE,
	OPT_STALL,
	OPT_IDLE,
	OPT_WINDOW,
	OPT_SINK,
	OPT_INTERVAL,
	OPT_CLIENTS_TABLE,
	OPT_JSON,
	OPT_SELF,
	OPT_CONNECT,
	OPT_CLIENTS,
	OPT_VERSION,
};

static const char usage[] =
		"usage: dat-srqd [-D <ia>] [options]                serve clients until interrupted\n"
		"       dat-srqd --self <n> [options]               a server and n clients in this process\n"
		"       dat-srqd -D <ia> --connect <host> [options] clients of the dat-srqd on that host\n"
		"\n"
		"  -D <ia>             interface adapter, a name of dat.conf(5) (roce0)\n"
		"  -p <port>           port of the server (18517)\n"
		"  -s, --size <bytes>  bytes of a message (64), and of a server's buffers (4096); also as 4k\n"
		"  --window <n>        messages of one client that may be unanswered (16)\n"
		"\n"
		"the server, alone or with --self:\n"
		"  --depth <n>         buffers on the shared receive queue (512)\n"
		"  --low <n>           its low watermark (a quarter of it); 0: repost each buffer at once\n"
		"  --grow              double the queue when its buffers are in use, up to\n"
		"  --max-depth <n>     so many (16 times the depth)\n"
		"  --max-clients <n>   clients at a time (256)\n"
		"  --keepalive <s>     seconds of silence until a client is asked for a sign of life (5); 0: never\n"
		"  --stall <s>         seconds that a client may let its answers wait (10)\n"
		"  --idle <s>          seconds without a message until a client's place is for others (60); 0: never\n"
		"  --sink              only receive: do not send each message back\n"
		"  --interval <s>      seconds from one line of counts to the next (1); 0: none\n"
		"  --clients-table     show each client with every line\n"
		"\n"
		"clients, with --self or --connect:\n"
		"  -n, --messages <n>  messages of each client (10000)\n"
		"  --clients <n>       clients of --connect (1)\n"
		"\n"
		"  --json[=<file>]     the totals as JSON, on standard output or in a file\n"
		"  -h, --help          this text; --version: the version\n"
		"\n"
		"See dat-srqd(1).\n";

/* Modes in which an option means something. */
#define IN_SERVER (1u << SRQD_SERVER)
#define IN_SELF   (1u << SRQD_SELF)
#define IN_CLIENT (1u << SRQD_CLIENT)
#define SERVES    (IN_SERVER | IN_SELF)
#define SENDS     (IN_SELF | IN_CLIENT)
#define ANY       (SERVES | SENDS)

enum kind {
	NUMBER,
	SIZE,
	SWITCH,
	TEXT,
};

#define AT(member) offsetof(struct srqd_options, member)

/* Every option but --help and --version: where its value goes, and in which modes it has a meaning. */
static const struct rule {
	int option;
	const char *name;
	unsigned int modes;
	enum kind kind;
	size_t at;
	uint32_t min, max; /* of a NUMBER or SIZE */
} rules[] = {
	/* clang-format off */
	{ 'D',               "-D",              IN_SERVER | IN_CLIENT, TEXT, AT(ia), 0, 0 },
	{ 'p',               "-p",              ANY,       NUMBER, AT(port),          1, UINT16_MAX },
	{ 's',               "--size",          ANY,       SIZE,   AT(size),          0, MAX_SIZE },
	{ 'n',               "--messages",      SENDS,     NUMBER, AT(messages),      1, UINT32_MAX },
	{ OPT_WINDOW,        "--window",        ANY,       NUMBER, AT(window),        1, MAX_WINDOW },
	{ OPT_DEPTH,         "--depth",         SERVES,    NUMBER, AT(depth),         1, MAX_DEPTH },
	{ OPT_LOW,           "--low",           SERVES,    NUMBER, AT(low),           0, MAX_DEPTH },
	{ OPT_GROW,          "--grow",          SERVES,    SWITCH, AT(grow),          0, 0 },
	{ OPT_MAX_DEPTH,     "--max-depth",     SERVES,    NUMBER, AT(max_depth),     1, MAX_DEPTH },
	{ OPT_MAX_CLIENTS,   "--max-clients",   SERVES,    NUMBER, AT(max_clients),   1, MAX_CLIENTS },
	{ OPT_KEEPALIVE,     "--keepalive",     SERVES,    NUMBER, AT(keepalive_s),   0, MAX_SECONDS },
	{ OPT_STALL,         "--stall",         SERVES,    NUMBER, AT(stall_s),       1, MAX_SECONDS },
	{ OPT_IDLE,          "--idle",          SERVES,    NUMBER, AT(idle_s),        0, MAX_SECONDS },
	{ OPT_SINK,          "--sink",          SERVES,    SWITCH, AT(sink),          0, 0 },
	{ OPT_INTERVAL,      "--interval",      SERVES,    NUMBER, AT(interval_s),    0, MAX_SECONDS },
	{ OPT_CLIENTS_TABLE, "--clients-table", SERVES,    SWITCH, AT(clients_table), 0, 0 },
	{ OPT_SELF,          "--self",          IN_SELF,   NUMBER, AT(clients),       1, MAX_CLIENTS },
	{ OPT_CONNECT,       "--connect",       IN_CLIENT, TEXT,   AT(host),          0, 0 },
	{ OPT_CLIENTS,       "--clients",       IN_CLIENT, NUMBER, AT(clients),       1, MAX_CLIENTS },
	{ OPT_JSON,          "--json",          ANY,       TEXT,   AT(json_file),     0, 0 },
	/* clang-format on */
};

#define RULES ((int)(sizeof(rules) / sizeof(rules[0])))

static int
rule_of(int option)
{
	int i;

	for (i = 0; i < RULES && rules[i].option != option; i++)
		;
	return i;
}

static bool
is_given(uint32_t given, int option)
{
	return (given >> rule_of(option) & 1) != 0;
}

static int
read_rule(struct srqd_options *options, const struct rule *rule)
{
	void *at = (char *)options + rule->at;
	uint64_t value = 0;
	int rc;

	switch (rule->kind) {
	case SWITCH:
		*(bool *)at = true;
		return -1;
	case TEXT:
		*(const char **)at = optarg;
		return -1;
	case SIZE:
		rc = cli_option_size(rule->name, rule->min, rule->max, &value);
		break;
	default:
		rc = cli_option_number(rule->name, rule->min, rule->max, &value);
		break;
	}
	*(uint32_t *)at = (uint32_t)value;
	return rc;
}

static int
read_option(struct srqd_options *options, uint32_t *given, int option, char **argv)
{
	int rule = rule_of(option);

	if (rule < RULES) {
		*given |= 1u << rule;
		return read_rule(options, &rules[rule]);
	}
	switch (option) {
	case 'h':
		fputs(usage, stdout);
		return 0;
	case OPT_VERSION:
		printf("dat-srqd %s\n", UDAPL_ROCE_VERSION);
		return 0;
	default:
		return cli_complain(option, argv);
	}
}

/* @return false: an option was given that has no meaning in this mode; the error was printed. */
static bool
all_apply(const struct srqd_options *o, uint32_t given)
{
	static const char *const with[] = { "without --self or --connect", "with --self",
		"with --connect" };

	for (int i = 0; i < RULES; i++) {
		if ((given >> i & 1) == 0 || (rules[i].modes >> o->mode & 1) != 0)
			continue;
		cli_say("%s means nothing %s", rules[i].name, with[o->mode]);
		return false;
	}
	return true;
}

/* Values that follow from other options. */
static void
derive(struct srqd_options *o, uint32_t given)
{
	if (!is_given(given, 's'))
		o->size = o->mode == SRQD_SERVER ? SERVER_SIZE : CLIENT_SIZE;
	if (!is_given(given, OPT_LOW))
		o->low = o->depth < LOW_SHARE ? 1 : o->depth / LOW_SHARE;
	if (!o->grow)
		o->max_depth = o->depth;
	else if (!is_given(given, OPT_MAX_DEPTH))
		o->max_depth = o->depth > MAX_DEPTH / GROW_TIMES ? MAX_DEPTH
								 : o->depth * GROW_TIMES;
	if (o->mode == SRQD_SELF && !is_given(given, OPT_MAX_CLIENTS) &&
			o->clients > o->max_clients)
		o->max_clients = o->clients;
	o->json = is_given(given, OPT_JSON);
}

/* Options that are right alone and wrong together. @return the sentence; NULL: none. */
static const char *
conflict(const struct srqd_options *o, uint32_t given)
{
	if (o->low > o->depth)
		return "--low must be at most --depth: a queue is always below a higher watermark";
	if (is_given(given, OPT_MAX_DEPTH) && !o->grow)
		return "--max-depth is where --grow ends: give both";
	if (o->max_depth < o->depth)
		return "--max-depth must be at least --depth";
	if (o->grow && o->low == 0)
		return "--grow waits for the event of a low watermark: --low must not be 0";
	if (o->mode == SRQD_SELF && o->clients > o->max_clients)
		return "--self brings more clients than --max-clients admits";
	if (o->json_file != NULL && o->json_file[0] == '\0')
		return "--json= needs the name of a file";
	return NULL;
}

static int
finish(struct srqd_options *o, uint32_t given)
{
	bool self = is_given(given, OPT_SELF);
	const char *sentence;

	if (self && o->host != NULL) {
		cli_say("--self has its own server and --connect goes to another: give one of the "
			"two");
		return CLI_EXIT_USAGE;
	}
	if (o->host != NULL && o->ia == NULL) {
		cli_say("clients of '%s' need -D <ia>, the adapter to leave by", o->host);
		return CLI_EXIT_USAGE;
	}
	o->mode = self ? SRQD_SELF : o->host != NULL ? SRQD_CLIENT : SRQD_SERVER;
	if (!all_apply(o, given))
		return CLI_EXIT_USAGE;
	derive(o, given);
	sentence = conflict(o, given);
	if (sentence != NULL) {
		cli_say("%s", sentence);
		return CLI_EXIT_USAGE;
	}
	/* No other process reaches loop0. */
	if (o->ia == NULL)
		o->ia = self ? "loop0" : "roce0";
	return -1;
}

/* The long options for getopt: those of the table that have such a name, and the two that are none of them. */
static void
list_long(struct option *list)
{
	for (int i = 0; i < RULES; i++) {
		if (strncmp(rules[i].name, "--", 2) != 0)
			continue;
		*list++ = (struct option){
			.name = rules[i].name + 2,
			.has_arg = rules[i].option == OPT_JSON    ? optional_argument
					: rules[i].kind == SWITCH ? no_argument
								  : required_argument,
			.val = rules[i].option,
		};
	}
	*list++ = (struct option){ .name = "help", .has_arg = no_argument, .val = 'h' };
	*list++ = (struct option){ .name = "version", .has_arg = no_argument, .val = OPT_VERSION };
	*list = (struct option){ .name = NULL };
}

int
srqd_options_read(struct srqd_options *options, int argc, char **argv)
{
	struct option long_options[RULES + 3] = { { NULL, 0, NULL, 0 } };
	uint32_t given = 0;
	int option, rc;

	list_long(long_options);
	*options = (struct srqd_options){
		.port = DEFAULT_PORT,
		.window = DEFAULT_WINDOW,
		.depth = DEFAULT_DEPTH,
		.max_clients = DEFAULT_MAX_CLIENTS,
		.keepalive_s = CLI_KEEPALIVE_S,
		.stall_s = CLI_STALL_S,
		.idle_s = CLI_IDLE_S,
		.interval_s = 1,
		.clients = 1,
		.messages = DEFAULT_MESSAGES,
	};
	optind = 0;
	while ((option = getopt_long(argc, argv, ":D:p:s:n:h", long_options, NULL)) != -1) {
		rc = read_option(options, &given, option, argv);
		if (rc >= 0)
			return rc;
	}
	if (optind < argc) {
		cli_say("'%s' is one word too many: a client's server is named with --connect",
				argv[optind]);
		return CLI_EXIT_USAGE;
	}
	return finish(options, given);
}
