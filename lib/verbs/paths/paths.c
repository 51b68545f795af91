/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A library to preload: programs that look into /sys/class/infiniband and /dev/infiniband by themselves find the device roce0
 * there. Each function has the name and the meaning of that of libc, and differs in nothing but such a path.
 *
 * The functions may be called before any constructor has run, by any thread and in a child of fork(2).
 */

/* Both names of a function are defined here, so none may stand for the other. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs/paths/map.h"

static void *
find(const char *name)
{
	int error = errno;
	void *found = dlsym(RTLD_NEXT, name);

	errno = error;
	return found;
}

/* libc's own of this name, which is asked for once. */
#define LIBC(name)                                                                           \
	({                                                                                   \
		static __typeof__(&(name)) libc_##name;                                      \
		__typeof__(&(name)) found = __atomic_load_n(&libc_##name, __ATOMIC_ACQUIRE); \
		if (found == NULL) {                                                         \
			found = (__typeof__(&(name)))find(#name);                            \
			__atomic_store_n(&libc_##name, found, __ATOMIC_RELEASE);             \
		}                                                                            \
		found;                                                                       \
	})

/* The tree of files lies beside this library. */
__attribute__((constructor)) static void
find_tree(void)
{
	char folder[PATHS_ROOM];
	const char *slash;
	Dl_info info;

	if (dladdr((const void *)&paths_map, &info) == 0 || info.dli_fname == NULL)
		return;
	slash = strrchr(info.dli_fname, '/');
	if (slash == NULL)
		return;
	if (snprintf(folder, sizeof(folder), "%.*s/tree", (int)(slash - info.dli_fname),
			    info.dli_fname) < (int)sizeof(folder))
		(void)paths_set_root(folder);
}

/*
 * Most functions have a twin for large files, which differs in names alone. Each definition below is one function; its path is
 * mapped, and the rest is passed on.
 */

/* ---- open ---- */

static bool
has_mode(int flags)
{
	return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

/* The mode of a call that makes a file; else it has none. */
#define MODE(flags)                                  \
	({                                           \
		mode_t mode = 0;                     \
		if (has_mode(flags)) {               \
			va_list args;                \
			va_start(args, flags);       \
			mode = va_arg(args, mode_t); \
			va_end(args);                \
		}                                    \
		mode;                                \
	})

#define OPEN(name)                                                            \
	int name(const char *file, int oflag, ...)                            \
	{                                                                     \
		char room[PATHS_ROOM];                                        \
                                                                              \
		return LIBC(name)(paths_map(file, room), oflag, MODE(oflag)); \
	}

#define OPENAT(name)                                                              \
	int name(int fd, const char *file, int oflag, ...)                        \
	{                                                                         \
		char room[PATHS_ROOM];                                            \
                                                                                  \
		return LIBC(name)(fd, paths_map(file, room), oflag, MODE(oflag)); \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

/* Programs that were compiled with _FORTIFY_SOURCE and give no mode call these for open(). */
#define OPEN_2(name)                                             \
	int name(const char *file, int oflag);                   \
	int name(const char *file, int oflag)                    \
	{                                                        \
		char room[PATHS_ROOM];                           \
                                                                 \
		return LIBC(name)(paths_map(file, room), oflag); \
	}

#define OPENAT_2(name)                                               \
	int name(int fd, const char *file, int oflag);               \
	int name(int fd, const char *file, int oflag)                \
	{                                                            \
		char room[PATHS_ROOM];                               \
                                                                     \
		return LIBC(name)(fd, paths_map(file, room), oflag); \
	}

OPEN_2(__open_2)
OPEN_2(__open64_2)
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)

#define FOPEN(name)                                                  \
	FILE *name(const char *filename, const char *modes)          \
	{                                                            \
		char room[PATHS_ROOM];                               \
                                                                     \
		return LIBC(name)(paths_map(filename, room), modes); \
	}

FOPEN(fopen)
FOPEN(fopen64)

/* ---- folders ---- */

DIR *
opendir(const char *name)
{
	char room[PATHS_ROOM];

	return LIBC(opendir)(paths_map(name, room));
}

#define SCANDIR(name, entry)                                                                       \
	int name(const char *dir, struct entry ***namelist, int (*selector)(const struct entry *), \
			int (*cmp)(const struct entry **, const struct entry **))                  \
	{                                                                                          \
		char room[PATHS_ROOM];                                                             \
                                                                                                   \
		return LIBC(name)(paths_map(dir, room), namelist, selector, cmp);                  \
	}

SCANDIR(scandir, dirent)
SCANDIR(scandir64, dirent64)

/* ---- what a path is ---- */

int
access(const char *name, int type)
{
	char room[PATHS_ROOM];

	return LIBC(access)(paths_map(name, room), type);
}

int
faccessat(int fd, const char *file, int type, int flag)
{
	char room[PATHS_ROOM];

	return LIBC(faccessat)(fd, paths_map(file, room), type, flag);
}

#define STAT(name, kind)                                       \
	int name(const char *file, struct kind *buf)           \
	{                                                      \
		char room[PATHS_ROOM];                         \
                                                               \
		return LIBC(name)(paths_map(file, room), buf); \
	}

#define STATAT(name, kind)                                               \
	int name(int fd, const char *file, struct kind *buf, int flag)   \
	{                                                                \
		char room[PATHS_ROOM];                                   \
                                                                         \
		return LIBC(name)(fd, paths_map(file, room), buf, flag); \
	}

STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)
STATAT(fstatat, stat)
STATAT(fstatat64, stat64)

int
statx(int dirfd, const char *path, int flags, unsigned int mask, struct statx *buf)
{
	char room[PATHS_ROOM];

	return LIBC(statx)(dirfd, paths_map(path, room), flags, mask, buf);
}

/* Programs that were linked with a libc before 2.33 call these for stat(), lstat() and fstatat(). */
#define XSTAT(name, kind)                                               \
	int name(int version, const char *file, struct kind *buf);      \
	int name(int version, const char *file, struct kind *buf)       \
	{                                                               \
		char room[PATHS_ROOM];                                  \
                                                                        \
		return LIBC(name)(version, paths_map(file, room), buf); \
	}

#define XSTATAT(name, kind)                                                          \
	int name(int version, int fd, const char *file, struct kind *buf, int flag); \
	int name(int version, int fd, const char *file, struct kind *buf, int flag)  \
	{                                                                            \
		char room[PATHS_ROOM];                                               \
                                                                                     \
		return LIBC(name)(version, fd, paths_map(file, room), buf, flag);    \
	}

XSTAT(__xstat, stat)
XSTAT(__xstat64, stat64)
XSTAT(__lxstat, stat)
XSTAT(__lxstat64, stat64)
XSTATAT(__fxstatat, stat)
XSTATAT(__fxstatat64, stat64)

/* ---- links ---- */

ssize_t
readlink(const char *path, char *buf, size_t len)
{
	char room[PATHS_ROOM];

	return LIBC(readlink)(paths_map(path, room), buf, len);
}

ssize_t
readlinkat(int fd, const char *path, char *buf, size_t len)
{
	char room[PATHS_ROOM];

	return LIBC(readlinkat)(fd, paths_map(path, room), buf, len);
}

char *
realpath(const char *name, char *resolved)
{
	char room[PATHS_ROOM];

	return LIBC(realpath)(paths_map(name, room), resolved);
}

/* And these with _FORTIFY_SOURCE, for a buffer whose length is known. */
ssize_t __readlink_chk(const char *path, char *buf, size_t len, size_t room_of);
ssize_t __readlinkat_chk(int fd, const char *path, char *buf, size_t len, size_t room_of);
char *__realpath_chk(const char *path, char *resolved, size_t len);

ssize_t
__readlink_chk(const char *path, char *buf, size_t len, size_t room_of)
{
	char room[PATHS_ROOM];

	return LIBC(__readlink_chk)(paths_map(path, room), buf, len, room_of);
}

ssize_t
__readlinkat_chk(int fd, const char *path, char *buf, size_t len, size_t room_of)
{
	char room[PATHS_ROOM];

	return LIBC(__readlinkat_chk)(fd, paths_map(path, room), buf, len, room_of);
}

char *
__realpath_chk(const char *path, char *resolved, size_t len)
{
	char room[PATHS_ROOM];

	return LIBC(__realpath_chk)(paths_map(path, room), resolved, len);
}
