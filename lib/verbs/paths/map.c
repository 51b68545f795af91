/* SPDX-License-Identifier: BSD-3-Clause */
#include "verbs/paths/map.h"

#include <string.h>

#define DEVICE "/dev/infiniband/uverbs0"

static const char *const mapped[] = { "/sys/class/infiniband", "/sys/class/infiniband_verbs",
	"/dev/infiniband" };

static char root[PATHS_ROOM];

bool
paths_set_root(const char *folder)
{
	size_t len = strlen(folder);

	if (len >= sizeof(root))
		return false;
	memcpy(root, folder, len + 1);
	return true;
}

/* Is it the folder @p place, or below it? */
static bool
is_below(const char *path, const char *place)
{
	size_t len = strlen(place);

	return strncmp(path, place, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* Without slashes that mean nothing. @return false: there is no room. */
static bool
append(char to[PATHS_ROOM], size_t len, const char *path)
{
	for (; *path != '\0'; path++) {
		if (path[0] == '/' && path[1] == '/')
			continue;
		if (len == PATHS_ROOM - 1)
			return false;
		to[len++] = *path;
	}
	to[len] = '\0';
	return true;
}

const char *
paths_map(const char *path, char room[PATHS_ROOM])
{
	size_t len = strlen(root);
	const char *first;

	/* Nearly all paths end here. */
	if (path == NULL || path[0] != '/' || len == 0)
		return path;
	first = path + strspn(path, "/");
	if (strncmp(first, "sys/", 4) != 0 && strncmp(first, "dev/", 4) != 0)
		return path;
	memcpy(room, root, len);
	if (!append(room, len, path))
		return path;
	if (strcmp(room + len, DEVICE) == 0)
		return "/dev/null";
	for (size_t i = 0; i < sizeof(mapped) / sizeof(mapped[0]); i++) {
		if (is_below(room + len, mapped[i]))
			return room;
	}
	return path;
}
