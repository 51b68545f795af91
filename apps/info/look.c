/* SPDX-License-Identifier: BSD-3-Clause */
#include "look.h"

#include <json-c/json.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "roced.h"
#include "snapshot.h"

/* The texts are those of the first process that has them; all processes of one build have the same. */
static void
ask_help(struct info_processes *processes, struct json_object **help)
{
	struct info_errmsg errmsg;

	*help = NULL;
	for (size_t i = 0; i < processes->n && *help == NULL; i++)
		info_link_ask(&processes->link[i], "/roce/help", help, &errmsg);
}

/* Roced as one of the processes. @param status taken over; NULL: it does not answer, for the reason @p why. */
static struct json_object *
make_process(struct json_object *status, const char *why)
{
	struct json_object *process = json_object_new_object();

	cli_json_count(process, "pid", info_number(status, "pid"));
	cli_json_string(process, "process", INFO_ROCED);
	json_object_object_add(process, "devices", json_object_new_object());
	if (status != NULL)
		json_object_object_add(process, "roced", status);
	else
		cli_json_string(process, "error", why);
	return process;
}

/* @return @p look with roced; a new object when @p look is NULL and there is a roced. */
static struct json_object *
add_roced(struct json_object *look, const struct info_choice *choice, struct info_errmsg *errmsg)
{
	char why[sizeof(errmsg->text)];
	struct json_object *roced;

	if (choice->socket != NULL || choice->prefix != NULL)
		return look;
	roced = info_roced_ask(why, sizeof(why));
	if (roced == NULL && why[0] != '\0' && look == NULL)
		info_errmsg_set(errmsg, "%s", why);
	if ((roced == NULL && (why[0] == '\0' || look == NULL)) ||
			(choice->pid != 0 && info_number(roced, "pid") != choice->pid)) {
		json_object_put(roced);
		return look;
	}
	if (look == NULL)
		look = json_object_new_object();
	json_object_object_add(look, INFO_ROCED, make_process(roced, why));
	return look;
}

struct json_object *
info_look(const struct info_choice *choice, struct json_object **help, struct info_errmsg *errmsg)
{
	static const struct info_choice any = { 0 };
	struct info_processes processes;
	struct json_object *look = NULL;

	if (choice == NULL)
		choice = &any;
	if (help != NULL)
		*help = NULL;
	if (info_processes_find(choice, &processes, errmsg) == 0) {
		look = info_snapshot_all(&processes, errmsg);
		if (help != NULL)
			ask_help(&processes, help);
	}
	info_processes_close(&processes);
	return add_roced(look, choice, errmsg);
}

int
info_look_processes(struct json_object *look)
{
	return json_object_object_length(look) - (info_member(look, INFO_ROCED) != NULL);
}

struct json_object *
info_look_roced(struct json_object *look)
{
	return info_member(info_member(look, INFO_ROCED), "roced");
}
