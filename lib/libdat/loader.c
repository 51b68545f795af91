/* SPDX-License-Identifier: BSD-3-Clause */

#include "loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

/* The name that the built-in entries use, and that a statically linked Provider answers to. */
#define OWN_PROVIDER "libdaplroce.so.1"

/*
 * Local: the symbols of one Provider are no business of the next. A Provider is linked with this
 * library if it needs symbols of it.
 */
#define LOAD_FLAGS (RTLD_NOW | RTLD_LOCAL)

/* @p name beside the file this function is in; false if there is no such file. */
static bool
find_beside_us(const char *name, char *path, size_t room)
{
	static const char here;
	const char *slash;
	Dl_info us;
	int len;

	if (strchr(name, '/') != NULL || dladdr(&here, &us) == 0 || us.dli_fname == NULL)
		return false;
	slash = strrchr(us.dli_fname, '/');
	if (slash == NULL)
		return false;
	len = snprintf(path, room, "%.*s/%s", (int)(slash - us.dli_fname), us.dli_fname, name);
	return len > 0 && (size_t)len < room && access(path, R_OK) == 0;
}

/* Advice for a reason of the dynamic loader that does not explain itself. */
static const char *
advice(const char *errmsg)
{
	return strstr(errmsg, "CPU ISA level") == NULL
			? ""
			: "; it is made for x86-64-v2 (SSE4.2 and POPCNT), which this processor lacks";
}

static void *
open_library(const char *name)
{
	void *library = dlopen(name, LOAD_FLAGS);
	char path[PATH_MAX];
	const char *errmsg;

	if (library != NULL)
		return library;
	errmsg = dlerror();
	if (find_beside_us(name, path, sizeof(path))) {
		library = dlopen(path, LOAD_FLAGS);
		if (library != NULL)
			return library;
		errmsg = dlerror();
	}
	libdat_say_news("The library %s does not load: %s%s.", name, errmsg, advice(errmsg));
	return NULL;
}

int
libdat_library_load(const char *name, struct libdat_library *out)
{
	struct libdat_library found = { roce_dat_provider_init, roce_dat_provider_fini };
	void *library;

	if (found.init == NULL || found.fini == NULL || strcmp(name, OWN_PROVIDER) != 0) {
		library = open_library(name);
		if (library == NULL)
			return -ENOENT;
		found.init = (DAT_PROVIDER_INIT_FUNC)dlsym(library, DAT_PROVIDER_INIT_FUNC_STR);
		found.fini = (DAT_PROVIDER_FINI_FUNC)dlsym(library, DAT_PROVIDER_FINI_FUNC_STR);
		if (found.init == NULL || found.fini == NULL) {
			libdat_say_news("The library %s is no DAT provider: it lacks %s.", name,
					found.init == NULL ? DAT_PROVIDER_INIT_FUNC_STR
							   : DAT_PROVIDER_FINI_FUNC_STR);
			dlclose(library);
			return -ENOENT;
		}
	}
	*out = found;
	return 0;
}
