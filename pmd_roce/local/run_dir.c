/* SPDX-License-Identifier: BSD-3-Clause */
#include "local/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Ours alone: nobody else has put it there, or may look into it. */
static bool
is_own_folder(const char *path)
{
	struct stat st;

	if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST)
		return false;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
			(st.st_mode & (S_IRWXG | S_IRWXO)) == 0 &&
			faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0;
}

/* The last is the login manager's: no stranger can be there first, and it goes with the user's last session. */
bool
roce_run_dir_spare(unsigned int i, char *path, size_t len)
{
	static const char *const format[] = { "/tmp/udapl-roce-%u", "/dev/shm/udapl-roce-%u",
		"/run/user/%u/udapl-roce" };

	if (i >= sizeof(format) / sizeof(format[0]))
		return false;
	snprintf(path, len, format[i], (unsigned int)geteuid());
	return true;
}

/* Which of the spare folders belong to others, ", /tmp/udapl-roce-1 belongs to user 2"; "": none. */
static void
name_owners(char *text, size_t len)
{
	char path[ROCE_RUN_DIR_LEN];
	size_t used = 0;
	struct stat st;

	text[0] = '\0';
	for (unsigned int i = 0; used < len && roce_run_dir_spare(i, path, sizeof(path)); i++)
		if (lstat(path, &st) == 0 && st.st_uid != geteuid())
			used += (size_t)snprintf(text + used, len - used, ", %s belongs to user %u",
					path, (unsigned int)st.st_uid);
}

int
roce_run_dir(char *path, size_t len, struct roce_errmsg *errmsg)
{
	const char *base = secure_getenv("XDG_RUNTIME_DIR");
	unsigned int uid = (unsigned int)geteuid();
	char owners[192];

	if ((base == NULL || base[0] != '/') && uid == 0)
		base = "/run";
	if (base != NULL && (size_t)snprintf(path, len, "%s/udapl-roce", base) < len &&
			is_own_folder(path))
		return 0;
	for (unsigned int i = 0; roce_run_dir_spare(i, path, len); i++)
		if (is_own_folder(path))
			return 0;
	name_owners(owners, sizeof(owners));
	return roce_errmsg_set(errmsg, -EACCES,
			"no folder for sockets: neither /tmp/udapl-roce-%u nor /dev/shm/udapl-roce-%u "
			"can be a folder of mode 0700 of user %u%s; set XDG_RUNTIME_DIR to a folder of "
			"that user",
			uid, uid, uid, owners);
}
