/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "local/run_dir.h"
#include "parallel.h"
#include "snapshot.h"

/** Sockets where a process may be, and the one at each that fits. */
struct search {
	const struct info_choice *choice;
	bool wants_help;
	glob_t paths;
	struct info_process *at; /**< of each path; of one that does not fit the link has fd -1 */
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

/* A folder of this user's or of root's: in another one a stranger could have anything, and any number of it. */
static bool
is_ours(const char *folder)
{
	struct stat st;

	if (lstat(folder, &st) != 0 || !S_ISDIR(st.st_mode))
		return false;
	return (st.st_uid == geteuid() || st.st_uid == 0) &&
			((st.st_mode & S_IWOTH) == 0 || (st.st_mode & S_ISVTX) != 0);
}

static void
add_sockets(struct search *search, const char *folder)
{
	char pattern[PATH_MAX];

	if (!is_ours(folder))
		return;
	snprintf(pattern, sizeof(pattern), "%s/dpdk_telemetry.v2*", folder);
	glob(pattern, search->paths.gl_pathc > 0 ? GLOB_APPEND : 0, NULL, &search->paths);
}

/* The EAL has a folder for all processes, and in it one for each file prefix. */
static void
look_into(struct search *search, const char *folder)
{
	const char *prefix = search->choice->prefix;
	char path[PATH_MAX];
	glob_t folders;

	snprintf(path, sizeof(path), "%s/dpdk", folder);
	if (!is_ours(path))
		return;
	snprintf(path, sizeof(path), "%s/dpdk/%s", folder, prefix != NULL ? prefix : "*");
	if (glob(path, 0, NULL, &folders) != 0)
		return;
	for (size_t i = 0; i < folders.gl_pathc; i++)
		add_sockets(search, folders.gl_pathv[i]);
	globfree(&folders);
}

/* As the provider reads it. NULL: it is not set. */
static const char *
folder_of(const char *variable)
{
	const char *folder = secure_getenv(variable);

	return folder != NULL && folder[0] == '/' ? folder : NULL;
}

/* Where the EAL puts its sockets; an ordinary user's program that started the EAL by our provider has others. */
static void
look_everywhere(struct search *search)
{
	const char *folder = folder_of("RUNTIME_DIRECTORY");
	char spare[ROCE_RUN_DIR_LEN];

	if (folder == NULL)
		folder = geteuid() == 0 ? "/var/run" : folder_of("XDG_RUNTIME_DIR");
	if (folder == NULL)
		folder = "/tmp";
	look_into(search, folder);
	for (unsigned int i = 0; roce_run_dir_spare(i, spare, sizeof(spare)); i++)
		if (strcmp(folder, spare) != 0 && is_ours(spare))
			look_into(search, spare);
}

static void
ask(struct info_process *process, bool wants_help)
{
	struct info_errmsg errmsg;

	process->snapshot = info_snapshot(&process->link, &process->errmsg);
	if (wants_help && process->snapshot != NULL)
		info_link_ask(&process->link, "/roce/help", &process->help, &errmsg);
}

/* One path of a search. The socket that a killed process left behind refuses. */
static void
try_path(void *arg, size_t i)
{
	struct search *search = arg;
	struct info_process *process = &search->at[i];
	struct info_errmsg errmsg;

	if (info_link_open(&process->link, search->paths.gl_pathv[i], false, &errmsg) != 0) {
		process->link.fd = -1;
	} else if (fits(search->choice, &process->link)) {
		ask(process, search->wants_help);
	} else {
		info_link_close(&process->link);
		process->link.fd = -1;
	}
}

static int
compare(const void *a, const void *b)
{
	const struct info_process *x = a, *y = b;

	return x->link.pid < y->link.pid ? -1 : x->link.pid > y->link.pid;
}

static void
forget(struct info_process *process)
{
	info_link_close(&process->link);
	json_object_put(process->snapshot);
	json_object_put(process->help);
}

/* Those that fit, by their numbers, each once. */
static void
take_fitting(struct search *search, size_t n, struct info_processes *processes)
{
	struct info_process *at = search->at;
	size_t there = 0, kept = 0;

	for (size_t i = 0; i < n; i++)
		if (at[i].link.fd >= 0)
			at[there++] = at[i];
	qsort(at, there, sizeof(*at), compare);
	for (size_t i = 0; i < there; i++) {
		if (kept > 0 && at[kept - 1].link.pid == at[i].link.pid)
			forget(&at[i]);
		else
			at[kept++] = at[i];
	}
	*processes = (struct info_processes){ .at = at, .n = kept };
}

static int
ask_all(struct search *search, struct info_processes *processes, struct info_errmsg *errmsg)
{
	const struct info_choice *choice = search->choice;
	size_t n;

	look_everywhere(search);
	n = search->paths.gl_pathc;
	if (n > INFO_PARALLEL_MAX)
		n = INFO_PARALLEL_MAX;
	search->at = calloc(n + 1, sizeof(*search->at));
	if (search->at != NULL) {
		info_parallel(n, try_path, search);
		take_fitting(search, n, processes);
	}
	globfree(&search->paths);
	if (search->at == NULL)
		return info_errmsg_set(errmsg, "no memory");
	if (processes->n > 0)
		return 0;
	return info_errmsg_set(errmsg, "there is no running process with a RoCE device here%s",
			choice->prefix != NULL || choice->pid != 0 ? " that fits" : "");
}

/* The one at the socket that the user named. */
static int
ask_named(const struct search *search, struct info_processes *processes, struct info_errmsg *errmsg)
{
	const char *path = search->choice->socket;
	struct info_process *process = calloc(1, sizeof(*process));

	if (process == NULL)
		return info_errmsg_set(errmsg, "no memory");
	if (info_link_open(&process->link, path, true, errmsg) != 0) {
		free(process);
		return -1;
	}
	*processes = (struct info_processes){ .at = process, .n = 1 };
	if (!fits(search->choice, &process->link))
		return info_errmsg_set(errmsg,
				"the process at %.200s is not the one, or has no RoCE device",
				path);
	ask(process, search->wants_help);
	return 0;
}

int
info_processes_ask(const struct info_choice *choice, bool wants_help,
		struct info_processes *processes, struct info_errmsg *errmsg)
{
	struct search search = { .choice = choice, .wants_help = wants_help };

	*processes = (struct info_processes){ 0 };
	if (choice->prefix != NULL && strpbrk(choice->prefix, "/*?[\\") != NULL)
		return info_errmsg_set(errmsg, "'%.64s' is no file prefix", choice->prefix);
	if (choice->socket != NULL)
		return ask_named(&search, processes, errmsg);
	return ask_all(&search, processes, errmsg);
}

void
info_processes_free(struct info_processes *processes)
{
	for (size_t i = 0; i < processes->n; i++)
		forget(&processes->at[i]);
	free(processes->at);
	*processes = (struct info_processes){ 0 };
}
