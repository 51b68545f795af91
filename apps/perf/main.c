/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "json.h"
#include "options.h"
#include "perftest.h"
#include "run.h"

int
main(int argc, char **argv)
{
	struct perf_options options;
	struct perf_json json;
	int rc;

	cli_begin(perftest_program(argv[0]));
	rc = perf_options_read(&options, argc, argv);
	if (rc >= 0)
		return cli_exit(rc);
	cli_signals_catch();
	if (options.json && perf_json_begin(&json, &options) != 0)
		return CLI_EXIT_FAILED;
	rc = perf_run(&options, options.json ? &json : NULL);
	if (options.json && perf_json_end(&json, rc == 0 ? NULL : cli_said()) != 0)
		return CLI_EXIT_FAILED;
	return cli_exit(cli_signal_status(rc));
}
