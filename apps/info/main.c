/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * dat-info: which interface adapters there are, what one of them says about itself, and what a running process does
 * with its own.
 */

#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/output.h"
#include "adapter.h"
#include "listen.h"
#include "metrics.h"
#include "options.h"
#include "watch.h"

/* Text and JSON are made of the same object, so that they cannot differ. */
static void
print_text(struct json_object *object, int indent)
{
	json_object_object_foreach(object, key, value)
	{
		if (json_object_is_type(value, json_type_object)) {
			printf("%*s%s\n", indent, "", key);
			print_text(value, indent + 2);
		} else {
			printf("%*s%-*s %s\n", indent, "", 40 - indent, key,
					json_object_get_string(value));
		}
	}
}

static int
show_adapters(const struct info_options *options)
{
	struct json_object *object = options->ia == NULL ? info_adapter_list()
							 : info_adapter_describe(options->ia);

	if (object == NULL)
		return -1;
	if (options->json)
		puts(cli_json_text(object));
	else
		print_text(object, 0);
	json_object_put(object);
	return 0;
}

static int
run(const struct info_options *options)
{
	switch (options->mode) {
	case INFO_METRICS:
		return info_metrics_print(options);
	case INFO_LISTEN:
		return info_listen(options);
	case INFO_WATCH:
		return info_watch(options);
	default:
		return show_adapters(options);
	}
}

int
main(int argc, char **argv)
{
	struct info_options options;
	int rc;

	cli_begin("dat-info");
	rc = info_options_read(&options, argc, argv);
	if (rc >= 0)
		return cli_exit(rc);
	rc = run(&options);
	return cli_exit(rc == 0 ? EXIT_SUCCESS : CLI_EXIT_FAILED);
}
