/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * roced-uplink: carries frames between the processes of a host and the wire. roced starts it, and starts it again.
 */

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include "observe/log.h"
#include "uplink.h"

#define EXIT_USAGE 2

/* A nap is as long as it was asked for, nanoseconds. */
#define TIMER_SLACK_NS 1000

struct options {
	const char *dir;
	const char *params;
};

static struct uplink uplink = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = -1 };

static int
say(const char *sentence)
{
	fprintf(stderr, "roced-uplink: %s\n", sentence);
	return EXIT_FAILURE;
}

/* @return -1: go on; else the exit status. */
static int
read_options(struct options *options, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "params", required_argument, NULL, 'p' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	*options = (struct options){ .dir = NULL };
	opterr = 0;
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 'd')
			options->dir = optarg;
		else if (option == 'p')
			options->params = optarg;
		else
			break;
	}
	if (option == -1 && optind == argc && options->dir != NULL && options->params != NULL)
		return -1;
	say("this program is started by roced; see roced(1)");
	return EXIT_USAGE;
}

static void
end_by_signal(int signal)
{
	uplink_end(&uplink);
}

static void
catch_signals(void)
{
	const struct sigaction action = { .sa_handler = end_by_signal };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* @return 0; -EINVAL the parameters are wrong, and will be; -errno. */
static int
begin(const struct options *options, struct roce_errmsg *errmsg)
{
	int rc = roce_log_check(errmsg);

	if (rc == 0)
		rc = roce_devargs_parse(options->params, NULL, &uplink.args, errmsg);
	if (rc != 0)
		return rc;
	uplink.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (uplink.wake < 0)
		return roce_errmsg_set(errmsg, -errno, "no descriptor: %s", strerror(errno));
	catch_signals();
	rc = uplink_open_port(&uplink, errmsg);
	return rc == 0 ? uplink_attach(&uplink, options->dir, errmsg) : rc;
}

int
main(int argc, char **argv)
{
	char text[512] = "";
	struct roce_errmsg errmsg = { .text = text, .len = sizeof(text) };
	struct options options;
	int rc = read_options(&options, argc, argv);

	if (rc >= 0)
		return rc;
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
	rc = begin(&options, &errmsg);
	if (rc == 0)
		uplink_run(&uplink);
	else
		say(text[0] != '\0' ? text : strerror(-rc));
	uplink_close(&uplink);
	if (uplink.lost)
		return say("the device was taken away, or wants a reset");
	if (rc != 0)
		return rc == -EINVAL ? EXIT_USAGE : EXIT_FAILURE;
	return EXIT_SUCCESS;
}
