/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "end.h"
#include "json.h"
#include "options.h"
#include "run.h"

static void
interrupt(int signal_number)
{
	/* The second one finds the default action, for a process that does not come back. */
	perf_stop = PERF_STOP_SIGNAL;
}

int
main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND };
	struct perf_options options;
	struct perf_json json;
	int rc;

	cli_begin("dat-perf");
	rc = perf_options_read(&options, argc, argv);
	if (rc >= 0)
		return rc;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (options.json && perf_json_begin(&json, &options) != 0)
		return CLI_EXIT_FAILED;
	rc = perf_run(&options, options.json ? &json : NULL);
	if (options.json && perf_json_end(&json, &options, rc == 0 ? NULL : cli_said()) != 0)
		rc = -1;
	return rc == 0 ? EXIT_SUCCESS : CLI_EXIT_FAILED;
}
