/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * dat-srqd: a server of many clients on one shared receive queue, which its low watermark refills.
 */

#include <signal.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "json.h"
#include "options.h"
#include "run.h"

static void
interrupt(int signal_number)
{
	/* The second one finds the default action, for a process that does not come back. */
	srqd_stop = 1;
}

int
main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND };
	struct srqd_options options;
	struct srqd_json json;
	int rc;

	cli_begin("dat-srqd");
	rc = srqd_options_read(&options, argc, argv);
	if (rc >= 0)
		return rc;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (options.json && srqd_json_begin(&json, &options) != 0)
		return CLI_EXIT_FAILED;
	rc = srqd_run(&options, options.json ? &json : NULL);
	if (options.json && srqd_json_end(&json, &options, rc == 0 ? NULL : cli_said()) != 0)
		rc = -1;
	return rc == 0 ? EXIT_SUCCESS : CLI_EXIT_FAILED;
}
