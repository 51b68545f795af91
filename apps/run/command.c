/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "say.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/** A program, and scripts of scripts before it, as Linux follows them. */
#define FILES_MAX 6
/** Bytes of a first line that Linux reads. */
#define LINE_MAX_BYTES 256

/* ---- where it is ---- */

static bool
is_file(const char *path, bool *runs)
{
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	*runs = access(path, X_OK) == 0;
	return true;
}

/* In the folders of PATH. @return as command_find(). */
static int
search(const char *name, char path[PATH_MAX])
{
	const char *folder = getenv("PATH");
	bool found = false, runs = false;

	if (folder == NULL)
		folder = DEFAULT_PATH;
	for (;;) {
		size_t len = strcspn(folder, ":");
		int n = len == 0 ? snprintf(path, PATH_MAX, "./%s", name)
				 : snprintf(path, PATH_MAX, "%.*s/%s", (int)len, folder, name);

		if (n < PATH_MAX && is_file(path, &runs)) {
			if (runs)
				return 0;
			found = true;
		}
		if (folder[len] == '\0')
			break;
		folder += len + 1;
	}
	return found ? EXIT_CANNOT_RUN : EXIT_NOT_FOUND;
}

int
command_find(const char *name, char path[PATH_MAX])
{
	bool runs = false;
	int rc;

	if (strchr(name, '/') == NULL) {
		rc = name[0] != '\0' ? search(name, path) : EXIT_NOT_FOUND;
	} else if (snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_file(path, &runs)) {
		rc = runs ? 0 : EXIT_CANNOT_RUN;
	} else {
		rc = EXIT_NOT_FOUND;
	}
	if (rc == EXIT_NOT_FOUND)
		say("there is no command '%s'", name);
	else if (rc != 0)
		say("'%s' may not be executed", name);
	return rc;
}

/* ---- what it is ---- */

static int
refuse(const char *path, const char *why)
{
	say("%s %s", path, why);
	return EXIT_CANNOT_RUN;
}

/* The interpreter of a script. @return false: it is no script. */
static bool
read_script(const char *head, size_t n, char path[PATH_MAX])
{
	size_t begin, len;

	if (n < 2 || memcmp(head, "#!", 2) != 0)
		return false;
	begin = 2 + strspn(head + 2, " \t");
	len = strcspn(head + begin, " \t\r\n");
	snprintf(path, PATH_MAX, "%.*s", (int)len, head + begin);
	return len > 0;
}

static bool
is_dynamic(int fd, const Elf64_Ehdr *ehdr)
{
	for (unsigned int i = 0; i < ehdr->e_phnum; i++) {
		Elf64_Phdr phdr;
		off_t at = (off_t)(ehdr->e_phoff + (uint64_t)i * ehdr->e_phentsize);

		if (pread(fd, &phdr, sizeof(phdr), at) != (ssize_t)sizeof(phdr))
			return false;
		if (phdr.p_type == PT_INTERP)
			return true;
	}
	return false;
}

/* The loader then ignores what the environment says of libraries. */
static bool
has_rights_of_its_own(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
		return true;
	if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getgid())
		return true;
	return getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

static int
check_elf(const char *path, int fd, const char *head, size_t n)
{
	Elf64_Ehdr ehdr;

	if (n < sizeof(ehdr) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return refuse(path, "is neither a program nor a script");
	memcpy(&ehdr, head, sizeof(ehdr));
	if (ehdr.e_ident[EI_CLASS] != ELFCLASS64 || ehdr.e_machine != EM_X86_64)
		return refuse(path, "is a program of another architecture than our libraries");
	if (!is_dynamic(fd, &ehdr))
		return refuse(path,
				"is linked statically: no library of ours can take the place of its own");
	return 0;
}

/* @return as command_check(), or EXIT_NOT_FOUND; -1: it is a script, of @p next. */
static int
check_one(const char *path, char next[PATH_MAX])
{
	char head[LINE_MAX_BYTES + 1] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, head, LINE_MAX_BYTES) : 0;
	int error = errno, rc = 0;

	if (n > 0 && read_script(head, (size_t)n, next))
		rc = -1;
	else if (has_rights_of_its_own(path))
		rc = refuse(path,
				"has rights of its own (setuid, setgid or capabilities): the loader gives it no library of ours");
	else if (fd >= 0)
		rc = check_elf(path, fd, head, n > 0 ? (size_t)n : 0);
	/* One may run what one may not read; then its own errors have to do. */
	else if (error != EACCES)
		rc = refuse(path, error == ENOENT ? "is not there" : "cannot be read");
	if (fd >= 0)
		close(fd);
	return rc < 0 || fd >= 0 || error != ENOENT ? rc : EXIT_NOT_FOUND;
}

int
command_check(const char *path)
{
	char now[PATH_MAX], next[PATH_MAX];

	snprintf(now, sizeof(now), "%s", path);
	for (unsigned int i = 0; i < FILES_MAX; i++) {
		int rc = check_one(now, next);

		if (rc >= 0)
			return rc;
		memcpy(now, next, sizeof(now));
	}
	return refuse(path, "is a script of scripts of scripts");
}
