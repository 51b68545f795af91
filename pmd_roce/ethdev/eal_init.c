/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/eal_init.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>

/* The begin of the page. */
#define USAGE "\nUsage: "

/** The standard output, and a file that has its place. */
struct aside {
	int output;
	int file;
};

/* While the EAL starts; NULL: nothing is put aside. */
static struct aside *current;

static bool
put_aside(struct aside *aside)
{
	fflush(stdout);
	aside->output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (aside->output < 0)
		return false;
	aside->file = memfd_create("stdout", MFD_CLOEXEC);
	if (aside->file >= 0 && dup2(aside->file, STDOUT_FILENO) >= 0)
		return true;
	if (aside->file >= 0)
		close(aside->file);
	close(aside->output);
	return false;
}

static void
write_all(const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, text, len);

		if (n <= 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

static void
put_back(const struct aside *aside, bool without_usage)
{
	off_t end;
	char *text;

	fflush(stdout);
	dup2(aside->output, STDOUT_FILENO);
	close(aside->output);
	end = lseek(aside->file, 0, SEEK_END);
	text = end > 0 ? mmap(NULL, (size_t)end, PROT_READ, MAP_SHARED, aside->file, 0)
		       : MAP_FAILED;
	if (text != MAP_FAILED) {
		const char *usage = memmem(text, (size_t)end, USAGE, strlen(USAGE));

		write_all(text,
				without_usage && usage != NULL ? (size_t)(usage - text)
							       : (size_t)end);
		munmap(text, (size_t)end);
	}
	close(aside->file);
}

/* The EAL answers some arguments and ends the process: what it said is not lost. */
static void
put_back_at_exit(void)
{
	if (current != NULL)
		put_back(current, false);
	current = NULL;
}

/* The EAL's help is the page of usage itself. */
static bool
asks_for_help(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
			return true;
	}
	return false;
}

int
roce_eal_init_quietly(int argc, char **argv)
{
	static bool registered;
	struct aside aside;
	bool quiet;
	int rc;

	if (!registered)
		registered = atexit(put_back_at_exit) == 0;
	quiet = registered && !asks_for_help(argc, argv) && put_aside(&aside);
	current = quiet ? &aside : NULL;
	rc = rte_eal_init(argc, argv);
	current = NULL;
	if (quiet)
		put_back(&aside, rc < 0);
	return rc;
}
