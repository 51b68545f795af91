/* SPDX-License-Identifier: BSD-3-Clause */
#include "detach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "say.h"

/* For a kernel, or a filter of system calls, without close_range(2). */
#define DESCRIPTORS_MAX 65536

void
detach_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (close_range(STDERR_FILENO + 1, ~0u, 0) == 0)
		return;
	for (fd = STDERR_FILENO + 1; fd < DESCRIPTORS_MAX; fd++)
		close(fd);
}

void
detach_environment(void)
{
	unsetenv("NOTIFY_SOCKET");
}

void
detach_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void
raise_limit(int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}

void
detach_limits(void)
{
	raise_limit(RLIMIT_NOFILE);
	raise_limit(RLIMIT_FSIZE);
	/* Memory that processes share is a file: one that may not be so large is an error, and no end. */
	signal(SIGXFSZ, SIG_IGN);
}

int
detach(void)
{
	pid_t pid = fork();
	int null;

	if (pid < 0)
		return say_errno("fork");
	if (pid > 0)
		_exit(EXIT_SUCCESS);
	setsid();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || chdir("/") != 0)
		return say_errno("/dev/null, or /");
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	close(null);
	return 0;
}
