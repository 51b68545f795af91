/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * roce-run: runs a program of verbs, unmodified, over RoCEv2 in user space.
 */

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "libraries.h"
#include "say.h"

#define EXIT_USAGE 2
/* As env(1): roce-run itself cannot. */
#define EXIT_ITSELF 125

enum {
	OPT_ENV = 256,
	OPT_VERSION,
};

static const char usage[] =
		"usage: roce-run COMMAND [ARGUMENT...]    run a program of libibverbs and librdmacm over RoCEv2 in user space\n"
		"       roce-run --env                    say what it sets, for a shell: eval \"$(roce-run --env)\"\n"
		"\n"
		"  -h, --help          this text; --version: the version\n"
		"\n"
		"See roce-run(1).\n";

static const struct option long_options[] = {
	{ "env", no_argument, NULL, OPT_ENV },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

void
say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("roce-run: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

/* In quotes that a shell takes for nothing else. */
static void
print_variable(const char *name, const char *value)
{
	printf("export %s='", name);
	for (; *value != '\0'; value++) {
		if (*value == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*value);
	}
	puts("'");
}

static int
print_environment(const struct libraries *libraries)
{
	print_variable("LD_LIBRARY_PATH", libraries->path);
	print_variable("LD_PRELOAD", libraries->preload);
	if (fflush(stdout) == 0)
		return EXIT_SUCCESS;
	say("the output cannot be written: %s", strerror(errno));
	return EXIT_ITSELF;
}

static int
run(const struct libraries *libraries, char **argv)
{
	char path[PATH_MAX];
	int rc = command_find(argv[0], path);

	if (rc == 0)
		rc = command_check(path);
	if (rc != 0)
		return rc;
	if (libraries_are_wanted_by_driver()) {
		say("UDAPL_ROCE_PARAMS names an adapter of NVIDIA, whose driver in DPDK wants the kernel's libibverbs.so.1 and not ours");
		return EXIT_CANNOT_RUN;
	}
	if (setenv("LD_LIBRARY_PATH", libraries->path, 1) != 0 ||
			setenv("LD_PRELOAD", libraries->preload, 1) != 0) {
		say("no memory for the environment");
		return EXIT_ITSELF;
	}
	execv(path, argv);
	rc = errno;
	say("'%s' cannot be executed: %s", argv[0], strerror(rc));
	return rc == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* @return -1: go on; else the exit status. */
static int
read_options(int argc, char **argv, bool *env)
{
	int option;

	opterr = 0;
	/* Options behind the command are the command's. */
	while ((option = getopt_long(argc, argv, "+h", long_options, NULL)) != -1) {
		switch (option) {
		case OPT_ENV:
			*env = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		case OPT_VERSION:
			puts("roce-run " UDAPL_ROCE_VERSION);
			return EXIT_SUCCESS;
		default:
			say("'%s' is no option; see roce-run --help", argv[optind - 1]);
			return EXIT_USAGE;
		}
	}
	if (*env ? optind < argc : optind == argc) {
		say(*env ? "--env takes no command" : "a command is missing; see roce-run --help");
		return EXIT_USAGE;
	}
	return -1;
}

int
main(int argc, char **argv)
{
	static struct libraries libraries;
	bool env = false;
	int rc = read_options(argc, argv, &env);

	if (rc >= 0)
		return rc;
	if (!libraries_find(&libraries))
		return EXIT_ITSELF;
	return env ? print_environment(&libraries) : run(&libraries, argv + optind);
}
