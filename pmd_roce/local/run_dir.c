/* SPDX-License-Identifier: BSD-3-Clause */
#include "local/run_dir.h"

#include <errno.h>
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
			(st.st_mode & (S_IRWXG | S_IRWXO)) == 0 && access(path, W_OK | X_OK) == 0;
}

int
roce_run_dir(char *path, size_t len, struct roce_errmsg *errmsg)
{
	static const char *const shared[] = { "/tmp", "/dev/shm" };
	const char *base = secure_getenv("XDG_RUNTIME_DIR");
	unsigned int uid = (unsigned int)geteuid();

	if ((base == NULL || base[0] != '/') && uid == 0)
		base = "/run";
	if (base != NULL && (size_t)snprintf(path, len, "%s/udapl-roce", base) < len &&
			is_own_folder(path))
		return 0;
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		snprintf(path, len, "%s/udapl-roce-%u", shared[i], uid);
		if (is_own_folder(path))
			return 0;
	}
	return roce_errmsg_set(errmsg, -EACCES,
			"no folder for sockets: neither /tmp/udapl-roce-%u nor /dev/shm/udapl-roce-%u "
			"can be a folder of mode 0700 of user %u; set XDG_RUNTIME_DIR to a folder of "
			"that user",
			uid, uid, uid);
}
