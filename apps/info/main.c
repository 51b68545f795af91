/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * dat-info: which interface adapters there are, what one of them says about itself, and what running processes do
 * with theirs.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/output.h"
#include "adapter.h"
#include "listen.h"
#include "look.h"
#include "metrics.h"
#include "options.h"
#include "roced.h"
#include "snapshot.h"
#include "watch.h"

/* Text and JSON are made of the same object, so that they cannot differ. Of the text, counters that are 0 are left out. */
static unsigned int
print_text(struct json_object *object, int indent, bool all)
{
	unsigned int quiet = 0;

	json_object_object_foreach(object, key, value)
	{
		if (json_object_is_type(value, json_type_object)) {
			printf("%*s%s\n", indent, "", key);
			quiet += print_text(value, indent + 2, all);
		} else if (!all && json_object_is_type(value, json_type_int) &&
				json_object_get_int64(value) == 0) {
			quiet++;
		} else {
			printf("%*s%-*s %s\n", indent, "", 40 - indent, key,
					json_object_get_string(value));
		}
	}
	return quiet;
}

static const char *
word(struct json_object *object, const char *key)
{
	const char *text = info_words(object, key);

	return *text != '\0' ? text : "-";
}

static void
print_list(struct json_object *list)
{
	static const char format[] = "%-16s %-14s %-16s %-5s %-9s %-4s %s\n";
	char user[64];

	printf(format, "NAME", "DRIVER", "ADDRESS", "LINK", "HUGEPAGES", "DAT", "USED BY");
	json_object_object_foreach(list, name, one)
	{
		uint64_t pid = info_number(one, "pid"), others = info_number(one, "others");
		int len = snprintf(user, sizeof(user), "%" PRIu64 " %s", pid,
				info_words(one, "process"));

		if (others > 0 && len > 0 && (size_t)len < sizeof(user))
			snprintf(user + len, sizeof(user) - (size_t)len, ", %" PRIu64 " more",
					others);
		printf(format, name, word(one, "driver"), word(one, "address"), word(one, "link"),
				word(one, "hugepages"), word(one, "dapl_version"),
				pid != 0 ? user : "-");
	}
}

static void
print_adapter(struct json_object *object, bool all)
{
	unsigned int quiet = print_text(object, 0, all);

	if (quiet > 0)
		printf("numbers that are 0: %u, see them with -a\n", quiet);
}

static int
describe_adapter(const struct info_options *options, struct json_object *look)
{
	struct json_object *object = info_adapter_describe(options->ia, look);

	if (object == NULL)
		return -1;
	if (options->json)
		puts(cli_json_text(object));
	else
		print_adapter(object, options->all);
	json_object_put(object);
	return 0;
}

/* An adapter of the name of roced comes first: scripts know adapters by their names. */
static int
list_adapters(const struct info_options *options, struct json_object *look)
{
	struct json_object *list = info_adapter_list(look);
	struct json_object *roced = info_look_roced(look);

	if (list == NULL)
		return -1;
	if (!options->json)
		print_list(list);
	if (!options->json && roced != NULL)
		info_roced_print(roced);
	if (roced == NULL && info_member(look, INFO_ROCED) != NULL)
		cli_say("%s", info_words(info_member(look, INFO_ROCED), "error"));
	if (roced != NULL && !json_object_object_get_ex(list, INFO_ROCED, NULL))
		json_object_object_add(list, INFO_ROCED, json_object_get(roced));
	if (options->json)
		puts(cli_json_text(list));
	json_object_put(list);
	return 0;
}

/* The look comes before any adapter is opened here: roce0 would start a roced. */
static int
show_adapters(const struct info_options *options)
{
	struct info_errmsg errmsg;
	struct json_object *look = info_look(NULL, NULL, &errmsg);
	int rc = options->ia == NULL ? list_adapters(options, look)
				     : describe_adapter(options, look);

	json_object_put(look);
	return rc;
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
