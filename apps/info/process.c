/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

/** The search so far. */
struct search {
	const struct info_choice *choice;
	struct info_processes *found;
};

/* Is it one of ours? Another program on DPDK does not know the question. */
static bool
fits(const struct info_choice *choice, struct info_link *link)
{
	struct json_object *ports = NULL;
	struct info_errmsg errmsg;

	if (choice->pid != 0 && choice->pid != link->pid)
		return false;
	if (info_link_ask(link, "/roce/ports", &ports, &errmsg) != 0 || ports == NULL)
		return false;
	json_object_put(ports);
	return true;
}

static bool
is_known(const struct info_processes *processes, uint32_t pid)
{
	for (size_t i = 0; i < processes->n; i++)
		if (processes->link[i].pid == pid)
			return true;
	return false;
}

/* @return false: no memory; the link is the caller's still. */
static bool
keep(struct info_processes *processes, const struct info_link *link)
{
	struct info_link *grown = reallocarray(processes->link, processes->n + 1, sizeof(*grown));

	if (grown == NULL)
		return false;
	processes->link = grown;
	grown[processes->n++] = *link;
	return true;
}

static void
look_at(struct search *search, const char *path)
{
	struct info_link link;
	struct info_errmsg errmsg;

	/* The socket that a killed process left behind refuses. */
	if (info_link_open(&link, path, &errmsg) != 0)
		return;
	if (is_known(search->found, link.pid) || !fits(search->choice, &link) ||
			!keep(search->found, &link))
		info_link_close(&link);
}

static void
look_into(struct search *search, const char *folder)
{
	const char *prefix = search->choice->prefix;
	char pattern[256];
	glob_t paths;

	snprintf(pattern, sizeof(pattern), "%s/dpdk/%s/dpdk_telemetry.v2*", folder,
			prefix != NULL ? prefix : "*");
	if (glob(pattern, 0, NULL, &paths) != 0)
		return;
	for (size_t i = 0; i < paths.gl_pathc; i++)
		look_at(search, paths.gl_pathv[i]);
	globfree(&paths);
}

/* Where the EAL puts its sockets; an ordinary user's program that started the EAL by our provider has one more. */
static void
look_everywhere(struct search *search)
{
	const char *folder = getenv("RUNTIME_DIRECTORY");
	char ours[64];

	if (folder == NULL || *folder == '\0')
		folder = getuid() == 0 ? "/var/run" : getenv("XDG_RUNTIME_DIR");
	look_into(search, folder != NULL ? folder : "/tmp");
	snprintf(ours, sizeof(ours), "/tmp/udapl-roce-%u", (unsigned int)getuid());
	if (folder == NULL || strcmp(folder, ours) != 0)
		look_into(search, ours);
}

static int
compare(const void *a, const void *b)
{
	const struct info_link *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* The one at the socket that the user named. */
static int
find_named(const struct info_choice *choice, struct info_processes *processes,
		struct info_errmsg *errmsg)
{
	struct info_link link;

	if (info_link_open(&link, choice->socket, errmsg) != 0)
		return -1;
	if (!fits(choice, &link))
		info_errmsg_set(errmsg,
				"the process at %.200s is not the one, or has no RoCE device",
				choice->socket);
	else if (!keep(processes, &link))
		info_errmsg_set(errmsg, "no memory");
	else
		return 0;
	info_link_close(&link);
	return -1;
}

int
info_processes_find(const struct info_choice *choice, struct info_processes *processes,
		struct info_errmsg *errmsg)
{
	struct search search = { .choice = choice, .found = processes };

	*processes = (struct info_processes){ 0 };
	if (choice->prefix != NULL && strpbrk(choice->prefix, "/*?[\\") != NULL)
		return info_errmsg_set(errmsg, "'%.64s' is no file prefix", choice->prefix);
	if (choice->socket != NULL)
		return find_named(choice, processes, errmsg);
	look_everywhere(&search);
	if (processes->n == 0)
		return info_errmsg_set(errmsg,
				"there is no running process with a RoCE device here%s",
				choice->prefix != NULL || choice->pid != 0 ? " that fits" : "");
	qsort(processes->link, processes->n, sizeof(*processes->link), compare);
	return 0;
}

void
info_processes_close(struct info_processes *processes)
{
	for (size_t i = 0; i < processes->n; i++)
		info_link_close(&processes->link[i]);
	free(processes->link);
	*processes = (struct info_processes){ 0 };
}
