/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

#define FILE_MODE 0666

static bool stdout_closed, stdout_failed;

void
cli_output_begin(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		stdout_closed |= fd == STDOUT_FILENO;
		/* The lowest free number is this one. Not for writing: what is printed must not vanish unseen. */
		if (open("/dev/null", O_RDONLY) != fd)
			return;
	}
}

/* Say once that standard output failed. */
static void
say_failed(const char *what, int error)
{
	if (stdout_failed)
		return;
	stdout_failed = true;
	cli_say("cannot write %s to standard output: %s", what,
			stdout_closed ? "it is closed" : strerror(error));
}

static int
flush(const char *what)
{
	errno = EIO;
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return 0;
	say_failed(what, errno);
	return -1;
}

int
cli_output_flush(void)
{
	return flush("the output");
}

int
cli_exit(int status)
{
	bool failed = cli_output_flush() != 0;

	/* Some file systems tell only here that there was no room. */
	if (fclose(stdout) != 0 && !stdout_closed) {
		say_failed("the output", errno);
		failed = true;
	}
	return failed ? CLI_EXIT_FAILED : status;
}

static void
say_path(const struct cli_output *output, const char *what)
{
	cli_say("cannot write %s to %s: %s", what, output->path, strerror(errno));
}

int
cli_output_open(struct cli_output *output, const char *path, const char *what)
{
	int fd;

	*output = (struct cli_output){ .path = path, .file = stdout };
	if (path == NULL) {
		if (stdout_closed)
			say_failed(what, EBADF);
		return stdout_closed ? -1 : 0;
	}
	/* A limit of file sizes is an error like a full device, and no end. */
	signal(SIGXFSZ, SIG_IGN);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, FILE_MODE);
	output->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (output->file != NULL)
		return 0;
	say_path(output, what);
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Devices and pipes hold nothing to be replaced. */
static int
make_empty(FILE *file)
{
	struct stat stat;

	if (fstat(fileno(file), &stat) != 0)
		return -1;
	return S_ISREG(stat.st_mode) ? ftruncate(fileno(file), 0) : 0;
}

int
cli_output_write(struct cli_output *output, const char *text, const char *what)
{
	bool failed;

	if (output->path == NULL) {
		printf("%s\n", text);
		return flush(what);
	}
	failed = make_empty(output->file) != 0 || fprintf(output->file, "%s\n", text) < 0 ||
			fflush(output->file) != 0;
	if (failed)
		say_path(output, what);
	if (fclose(output->file) != 0 && !failed) {
		say_path(output, what);
		failed = true;
	}
	output->file = NULL;
	return failed ? -1 : 0;
}
