/* SPDX-License-Identifier: BSD-3-Clause */
#include "look.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "parallel.h"
#include "roced.h"
#include "snapshot.h"

/* The texts are those of the first process that has them; all processes of one build have the same. */
static struct json_object *
take_help(const struct info_processes *processes)
{
	for (size_t i = 0; i < processes->n; i++)
		if (processes->at[i].help != NULL)
			return json_object_get(processes->at[i].help);
	return NULL;
}

/* One that has not answered is left out. @return NULL: none has, and @p errmsg says why the last one did not. */
static struct json_object *
gather(const struct info_processes *processes, struct info_errmsg *errmsg)
{
	struct json_object *all = json_object_new_object();
	char pid[16];

	for (size_t i = 0; i < processes->n; i++) {
		const struct info_process *process = &processes->at[i];

		if (process->snapshot == NULL) {
			*errmsg = process->errmsg;
			continue;
		}
		snprintf(pid, sizeof(pid), "%" PRIu32, process->link.pid);
		json_object_object_add(all, pid, json_object_get(process->snapshot));
	}
	if (json_object_object_length(all) > 0)
		return all;
	json_object_put(all);
	return NULL;
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

/** Both ask at the same time: the processes, and roced. */
struct looking {
	const struct info_choice *choice;
	bool wants_help;
	struct json_object *look, *help, *roced;
	struct info_errmsg errmsg, why; /**< of the processes, and of roced; "": there is none */
};

static void
ask_processes(struct looking *looking)
{
	struct info_processes processes;

	if (info_processes_ask(looking->choice, looking->wants_help, &processes,
			    &looking->errmsg) == 0) {
		looking->look = gather(&processes, &looking->errmsg);
		looking->help = take_help(&processes);
	}
	info_processes_free(&processes);
}

static void
ask_either(void *arg, size_t i)
{
	struct looking *looking = arg;

	if (i == 0)
		ask_processes(looking);
	else
		looking->roced = info_roced_ask(looking->why.text, sizeof(looking->why.text));
}

/* @return the look with roced; a new object when there is none and a roced. */
static struct json_object *
add_roced(struct looking *looking, struct info_errmsg *errmsg)
{
	const struct info_choice *choice = looking->choice;
	struct json_object *roced = looking->roced, *look = looking->look;
	const char *why = looking->why.text;

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
	struct looking looking = { .choice = choice != NULL ? choice : &any,
		.wants_help = help != NULL };
	bool has_roced = looking.choice->socket == NULL && looking.choice->prefix == NULL;

	info_parallel(has_roced ? 2 : 1, ask_either, &looking);
	if (looking.look == NULL)
		*errmsg = looking.errmsg;
	if (help != NULL)
		*help = looking.help;
	return add_roced(&looking, errmsg);
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
