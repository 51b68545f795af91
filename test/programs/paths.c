/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * paths: every function that the path shim has, by its name in the process: it finds the device's files in the kernel's places,
 * and any other path as libc does.
 */

#undef _FORTIFY_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/sys/class/infiniband"
#define LAYER  FOLDER "/roce0/ports/1/link_layer"
#define DEVICE "/dev/infiniband/uverbs0"

static unsigned int failures;

static void
expect(bool holds, const char *function, const char *what)
{
	if (holds)
		return;
	printf("%s: %s\n", function, what);
	failures++;
}

/* The function of this name that a program of today would be bound to. */
static void *
bound(const char *name)
{
	void *function = dlsym(RTLD_DEFAULT, name);

	if (function == NULL) {
		printf("there is no %s\n", name);
		exit(EXIT_FAILURE);
	}
	return function;
}

static void
check_text(const char *name, int fd)
{
	char text[16] = "";

	expect(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && strcmp(text, "Ethernet\n") == 0,
			name, "the link layer is not to be read");
	close(fd);
}

static void
walk_open(void)
{
	static const char *const plain[] = { "open", "open64", "__open_2", "__open64_2" };
	static const char *const at[] = { "openat", "openat64", "__openat_2", "__openat64_2" };
	char name[] = "/tmp/roce-paths-XXXXXX";
	struct stat st;
	int fd = mkstemp(name);

	close(fd);
	for (size_t i = 0; i < 4; i++) {
		int (*f)(const char *, int, ...) = (int (*)(const char *, int, ...))bound(plain[i]);
		int (*g)(int, const char *, int, ...) =
				(int (*)(int, const char *, int, ...))bound(at[i]);

		check_text(plain[i], f(LAYER, O_RDONLY));
		check_text(at[i], g(AT_FDCWD, LAYER, O_RDONLY));
		fd = f(DEVICE, O_RDWR);
		expect(fd >= 0, plain[i], "the device does not open for both ways");
		close(fd);
		expect(f(FOLDER "x", O_RDONLY) == -1 && errno == ENOENT, plain[i],
				"a name that is longer is there");
		if (i >= 2)
			continue;
		/* The mode of a new file passes. */
		unlink(name);
		fd = f(name, O_CREAT | O_EXCL | O_WRONLY, 0640);
		expect(fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0640, plain[i],
				"a mode is lost");
		close(fd);
		unlink(name);
		fd = g(AT_FDCWD, name, O_CREAT | O_EXCL | O_WRONLY, 0600);
		expect(fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0600, at[i],
				"a mode is lost");
		close(fd);
	}
	unlink(name);
}

static void
walk_fopen(void)
{
	static const char *const names[] = { "fopen", "fopen64" };

	for (size_t i = 0; i < 2; i++) {
		FILE *(*f)(const char *, const char *) =
				(FILE * (*)(const char *, const char *)) bound(names[i]);
		FILE *file = f(LAYER, "r");

		expect(file != NULL, names[i], "no stream");
		if (file == NULL)
			continue;
		check_text(names[i], dup(fileno(file)));
		fclose(file);
	}
}

static void
walk_folders(void)
{
	static const char *const names[] = { "scandir", "scandir64" };
	struct dirent **list;
	DIR *dir = opendir(FOLDER);
	bool found = false;

	for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;)
		found |= strcmp(e->d_name, "roce0") == 0;
	expect(found, "opendir", "no roce0");
	if (dir != NULL)
		closedir(dir);
	for (size_t i = 0; i < 2; i++) {
		int (*f)(const char *, struct dirent ***, void *, void *) = (int (*)(
				const char *, struct dirent ***, void *, void *))bound(names[i]);
		int n = f(FOLDER, &list, NULL, NULL);

		expect(n == 3, names[i], "not three entries");
		for (int k = 0; k < n; k++)
			free(list[k]);
		if (n >= 0)
			free(list);
	}
}

/* Each kind of `stat` knows the device, a file of the tree and another one. */
static void
walk_stat(void)
{
	static const char *const plain[] = { "stat", "stat64", "lstat", "lstat64" };
	static const char *const versions[] = { "__xstat", "__xstat64", "__lxstat", "__lxstat64" };
	static const char *const at[] = { "fstatat", "fstatat64" };
	static const char *const versions_at[] = { "__fxstatat", "__fxstatat64" };
	struct statx x;
	struct stat st;

	for (size_t i = 0; i < 4; i++) {
		int (*f)(const char *, struct stat *) =
				(int (*)(const char *, struct stat *))bound(plain[i]);
		int (*g)(int, const char *, struct stat *) =
				(int (*)(int, const char *, struct stat *))bound(versions[i]);

		expect(f(DEVICE, &st) == 0 && S_ISCHR(st.st_mode), plain[i], "no character device");
		expect(f(LAYER, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 9, plain[i],
				"no file");
		expect(f("/", &st) == 0 && S_ISDIR(st.st_mode), plain[i], "no root");
		expect(g(1, DEVICE, &st) == 0 && S_ISCHR(st.st_mode), versions[i],
				"no character device");
	}
	for (size_t i = 0; i < 2; i++) {
		int (*f)(int, const char *, struct stat *, int) =
				(int (*)(int, const char *, struct stat *, int))bound(at[i]);
		int (*g)(int, int, const char *, struct stat *, int) = (int (*)(
				int, int, const char *, struct stat *, int))bound(versions_at[i]);

		expect(g(1, AT_FDCWD, DEVICE, &st, 0) == 0 && S_ISCHR(st.st_mode), versions_at[i],
				"no character device");
		expect(f(AT_FDCWD, DEVICE, &st, 0) == 0 && S_ISCHR(st.st_mode), at[i],
				"no character device");
	}
	expect(statx(AT_FDCWD, DEVICE, 0, STATX_TYPE, &x) == 0 && S_ISCHR(x.stx_mode), "statx",
			"no character device");
	expect(access(DEVICE, R_OK | W_OK) == 0, "access", "the device may not be used");
	expect(faccessat(AT_FDCWD, DEVICE, R_OK | W_OK, 0) == 0, "faccessat",
			"the device may not be used");
	expect(access("//sys//class/infiniband/roce0", F_OK) == 0, "access",
			"doubled slashes lead elsewhere");
	expect(access("/dev//infiniband//uverbs0", R_OK | W_OK) == 0 &&
					stat("/dev/infiniband//uverbs0", &st) == 0 &&
					S_ISCHR(st.st_mode),
			"access", "doubled slashes lead to no device");
	expect(access(FOLDER "/mlx5_0", F_OK) == -1 && errno == ENOENT, "access",
			"a device that is not there");
}

static void
walk_links(void)
{
	char *(*checked)(const char *, char *, size_t) =
			(char *(*)(const char *, char *, size_t))bound("__realpath_chk");
	ssize_t (*linked)(const char *, char *, size_t, size_t) =
			(ssize_t(*)(const char *, char *, size_t, size_t))bound("__readlink_chk");
	ssize_t (*linked_at)(int, const char *, char *, size_t, size_t) = (ssize_t(*)(
			int, const char *, char *, size_t, size_t))bound("__readlinkat_chk");
	char path[PATH_MAX] = "";

	expect(readlink(LAYER, path, sizeof(path)) == -1 && errno == EINVAL, "readlink",
			"a file is a link");
	expect(readlinkat(AT_FDCWD, LAYER, path, sizeof(path)) == -1 && errno == EINVAL,
			"readlinkat", "a file is a link");
	expect(linked(LAYER, path, 1, 1) == -1 && errno == EINVAL, "__readlink_chk",
			"a file is a link");
	expect(linked_at(AT_FDCWD, LAYER, path, 1, 1) == -1 && errno == EINVAL, "__readlinkat_chk",
			"a file is a link");
	expect(readlink("/proc/self/exe", path, sizeof(path)) > 0, "readlink",
			"another link is not read");
	expect(realpath(LAYER, path) != NULL && access(path, R_OK) == 0, "realpath", "nowhere");
	expect(checked(LAYER, path, sizeof(path)) != NULL && access(path, R_OK) == 0,
			"__realpath_chk", "nowhere");
}

int
main(void)
{
	walk_open();
	walk_fopen();
	walk_folders();
	walk_stat();
	walk_links();
	return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
