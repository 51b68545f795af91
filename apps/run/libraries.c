/* SPDX-License-Identifier: BSD-3-Clause */
#include "libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "say.h"

#define LIBRARY  "libibverbs.so.1"
#define SHIM     "paths/libroce-paths.so"
#define MELLANOX "0x15b3"

/* The folder above that of this program, without a slash behind it. */
static bool
find_self(char folder[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	if (n <= 0)
		return false;
	folder[n] = '\0';
	for (unsigned int i = 0; i < 2; i++) {
		slash = strrchr(folder, '/');
		if (slash == NULL)
			return false;
		*slash = '\0';
	}
	return true;
}

static bool
find_folder(char folder[PATH_MAX])
{
	/* Of a build tree, and below a prefix, wherever that was moved. */
	static const char *const places[] = { "lib/verbs", ROCE_RUN_LIBDIR "/udapl-roce" };
	char self[PATH_MAX], file[PATH_MAX];

	if (!find_self(self))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (snprintf(file, PATH_MAX, "%s/%s/" LIBRARY, self, places[i]) >= PATH_MAX ||
				access(file, R_OK) != 0)
			continue;
		snprintf(folder, PATH_MAX, "%.*s", (int)(strlen(file) - strlen("/" LIBRARY)), file);
		return true;
	}
	say("our " LIBRARY " is missing: it was looked for in %s/%s", self, places[1]);
	return false;
}

/* @p first, and behind a colon what the variable had; the same twice says no more. */
static bool
put_before(char *to, size_t len, const char *first, const char *variable)
{
	const char *old = getenv(variable);
	size_t n = strlen(first);
	bool again = old != NULL && strncmp(old, first, n) == 0 &&
			(old[n] == '\0' || old[n] == ':');

	if (again)
		return (size_t)snprintf(to, len, "%s", old) < len;
	if (old == NULL || old[0] == '\0')
		return (size_t)snprintf(to, len, "%s", first) < len;
	return (size_t)snprintf(to, len, "%s:%s", first, old) < len;
}

bool
libraries_find(struct libraries *libraries)
{
	char folder[PATH_MAX], shim[PATH_MAX];

	if (!find_folder(folder))
		return false;
	if (strpbrk(folder, ": ;") != NULL) {
		say("%s: the loader cannot be led to a folder with a blank, a colon or a semicolon in its name",
				folder);
		return false;
	}
	if (snprintf(shim, sizeof(shim), "%s/" SHIM, folder) >= (int)sizeof(shim) ||
			!put_before(libraries->path, sizeof(libraries->path), folder,
					"LD_LIBRARY_PATH") ||
			!put_before(libraries->preload, sizeof(libraries->preload), shim,
					"LD_PRELOAD")) {
		say("LD_LIBRARY_PATH or LD_PRELOAD is too long already");
		return false;
	}
	return true;
}

bool
libraries_are_wanted_by_driver(void)
{
	const char *params = getenv("UDAPL_ROCE_PARAMS"), *port;
	char path[PATH_MAX], vendor[8] = "";
	FILE *file;

	port = params != NULL ? strstr(params, "port=") : NULL;
	if (port == NULL)
		return false;
	port += strlen("port=");
	/* An address may be given without its domain. */
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s%.*s/vendor",
			strcspn(port, ", ") < strlen("0000:00:00.0") ? "0000:" : "",
			(int)strcspn(port, ", "), port);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	(void)!fgets(vendor, sizeof(vendor), file);
	fclose(file);
	return strncmp(vendor, MELLANOX, strlen(MELLANOX)) == 0;
}
