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
	struct info_link link; /**< to the first that fits */
	unsigned int found;
	char others[256]; /**< all that fit, in words */
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

static void
look_at(struct search *search, const char *path)
{
	size_t used = strlen(search->others);
	struct info_link link;
	struct info_errmsg errmsg;

	/* The socket that a killed process left behind refuses. */
	if (info_link_open(&link, path, &errmsg) != 0)
		return;
	if (!fits(search->choice, &link)) {
		info_link_close(&link);
		return;
	}
	snprintf(search->others + used, sizeof(search->others) - used, "%s%u",
			search->found > 0 ? ", " : "", link.pid);
	if (search->found++ == 0)
		search->link = link;
	else
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

int
info_process_find(const struct info_choice *choice, struct info_link *link,
		struct info_errmsg *errmsg)
{
	struct search search = { .choice = choice };

	if (choice->prefix != NULL && strpbrk(choice->prefix, "/*?[\\") != NULL)
		return info_errmsg_set(errmsg, "'%.64s' is no file prefix", choice->prefix);
	if (choice->socket != NULL) {
		if (info_link_open(link, choice->socket, errmsg) != 0)
			return -1;
		if (fits(choice, link))
			return 0;
		info_link_close(link);
		return info_errmsg_set(errmsg,
				"the process at %.200s is not the one, or has no RoCE device",
				choice->socket);
	}
	look_everywhere(&search);
	if (search.found == 1) {
		*link = search.link;
		return 0;
	}
	if (search.found == 0)
		return info_errmsg_set(errmsg,
				"there is no running process with a RoCE device here%s",
				choice->prefix != NULL || choice->pid != 0 ? " that fits" : "");
	info_link_close(&search.link);
	return info_errmsg_set(errmsg, "%u processes fit; name one with --pid: %s", search.found,
			search.others);
}
