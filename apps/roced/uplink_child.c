/* SPDX-License-Identifier: BSD-3-Clause */
#include "uplink_child.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "say.h"

#define PROGRAM "roced-uplink"

/*
 * The first start after an end comes at once, so that connections outlive it by their retries. An uplink that ends soon
 * after its start is started later and later.
 */
#define DELAY_MIN_MS 100
#define DELAY_MAX_MS 5000
#define STEADY_MS    10000 /* it has run for so long: the next end is another story */

/* Some devices take their time to stop. */
#define END_MS 3000

/* ---- parameters ---- */

static int
append(struct uplink_child *child, const char *key, const char *value, size_t len)
{
	size_t used = strlen(child->params);
	int n = snprintf(child->params + used, sizeof(child->params) - used, "%s%s=%.*s",
			used == 0 ? "" : " ", key, (int)len, value);

	return n >= 0 && (size_t)n < sizeof(child->params) - used ? 0 : -1;
}

/* Of a list with commas each one is a parameter. */
static int
append_all(struct uplink_child *child, const char *key, const char *values)
{
	int rc = 0;

	while (rc == 0) {
		size_t len = strcspn(values, ",");

		rc = append(child, key, values, len);
		if (values[len] == '\0')
			break;
		values += len + 1;
	}
	return rc;
}

int
uplink_child_init(struct uplink_child *child, const struct options *options, const char *dir)
{
	int rc;

	*child = (struct uplink_child){ .dir = NULL };
	if (options->port == NULL)
		return 0;
	child->dir = dir;
	rc = append(child, "port", options->port, strlen(options->port));
	if (rc == 0)
		rc = append_all(child, "ip", options->ip);
	if (rc == 0 && options->gw != NULL)
		rc = append(child, "gw", options->gw, strlen(options->gw));
	if (rc == 0 && options->mtu != NULL)
		rc = append(child, "mtu", options->mtu, strlen(options->mtu));
	if (rc == 0)
		return 0;
	say("--port, --ip, --gw and --mtu take at most %d bytes together", UPLINK_PARAMS_LEN - 1);
	return EXIT_USAGE;
}

/* ---- start ---- */

/* Installed behind the other programs, or in the same folder of the build. */
static void
find_program(char *path, size_t len)
{
	static const char *const places[] = { "", "../libexec/udapl-roce/" };
	const char *given = secure_getenv("UDAPL_ROCE_UPLINK");
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	snprintf(path, len, "%s", given != NULL ? given : PROGRAM);
	if (given != NULL || n <= 0)
		return;
	self[n] = '\0';
	slash = strrchr(self, '/');
	for (size_t i = 0; slash != NULL && i < sizeof(places) / sizeof(places[0]); i++) {
		char at[PATH_MAX + 64];

		snprintf(at, sizeof(at), "%.*s/%s" PROGRAM, (int)(slash - self), self, places[i]);
		if (access(at, X_OK) == 0) {
			snprintf(path, len, "%s", at);
			return;
		}
	}
}

/* In the child, where other threads of roced may have held any lock: system calls alone. */
static void
become(const char *program, char *const *argv, pid_t parent)
{
	sigset_t none;

	sigemptyset(&none);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv(program, argv);
	_exit(127);
}

static void
start(struct uplink_child *child, uint64_t now)
{
	char program[PATH_MAX + 64], dir[PATH_MAX];
	char *argv[] = { program, (char *)(uintptr_t) "--dir", dir, (char *)(uintptr_t) "--params",
		child->params, NULL };
	pid_t parent = getpid(), pid;

	find_program(program, sizeof(program));
	snprintf(dir, sizeof(dir), "%s", child->dir);
	pid = fork();
	if (pid == 0)
		become(program, argv, parent);
	child->began_at = now;
	if (pid > 0) {
		child->pid = pid;
		return;
	}
	say_errno("the uplink cannot be started");
	child->delay_ms = DELAY_MAX_MS;
	child->start_at = now + child->delay_ms;
}

uint64_t
uplink_child_due(const struct uplink_child *child)
{
	return child->dir == NULL || child->pid != 0 ? UINT64_MAX : child->start_at;
}

void
uplink_child_tick(struct uplink_child *child, uint64_t now)
{
	if (now >= uplink_child_due(child))
		start(child, now);
}

/* ---- end ---- */

void
uplink_child_attached(struct uplink_child *child)
{
	child->attached = true;
}

static void
say_end(int status, uint32_t delay_ms)
{
	char how[64];

	if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) == 127)
		snprintf(how, sizeof(how), "before it began (is %s installed?)", PROGRAM);
	else
		snprintf(how, sizeof(how), "with status %d", WEXITSTATUS(status));
	say("the uplink has ended %s, and is started again in %u ms", how, delay_ms);
}

int
uplink_child_reap(struct uplink_child *child, uint64_t now)
{
	int status;

	if (child->pid == 0 || waitpid(child->pid, &status, WNOHANG) != child->pid)
		return -1;
	child->pid = 0;
	/* The same parameters are refused again. */
	if (!child->attached && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_USAGE) {
		say("the uplink does not take its parameters: %s", child->params);
		return EXIT_USAGE;
	}
	if (now - child->began_at >= STEADY_MS)
		child->delay_ms = 0;
	child->start_at = now + child->delay_ms;
	say_end(status, child->delay_ms);
	if (child->delay_ms == 0)
		child->delay_ms = DELAY_MIN_MS;
	else if (child->delay_ms < DELAY_MAX_MS)
		child->delay_ms = 2 * child->delay_ms < DELAY_MAX_MS ? 2 * child->delay_ms
								     : DELAY_MAX_MS;
	return -1;
}

void
uplink_child_end(struct uplink_child *child)
{
	const struct timespec nap = { .tv_nsec = 10000000 };
	int status;

	if (child->pid == 0)
		return;
	kill(child->pid, SIGTERM);
	for (unsigned int ms = 0; ms < END_MS; ms += 10) {
		if (waitpid(child->pid, &status, WNOHANG) == child->pid)
			return;
		nanosleep(&nap, NULL);
	}
	kill(child->pid, SIGKILL);
	(void)waitpid(child->pid, &status, 0);
}
