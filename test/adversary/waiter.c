/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that waits for an event that never comes, and signals with a handler and without SA_RESTART: each ends one wait.
 *
 * usage: waiter    until SIGTERM. A line of LINE bytes before the first wait, and one for each that a signal ended: its number.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <dat/udat.h>

#define LINE 9u

static volatile sig_atomic_t enough;

static void
on_signal(int number)
{
	if (number == SIGTERM)
		enough = 1;
}

static void
fail(DAT_RETURN ret, const char *call)
{
	const char *major = "?", *minor = "?";

	dat_strerror(ret, &major, &minor);
	fprintf(stderr, "waiter: %s: %s %s\n", call, major, minor);
	exit(EXIT_FAILURE);
}

static void
tell(unsigned int number)
{
	char line[LINE + 1];

	snprintf(line, sizeof(line), "%08u\n", number);
	if (write(STDOUT_FILENO, line, LINE) != (ssize_t)LINE)
		exit(EXIT_FAILURE);
}

/* Returns when SIGTERM has ended a wait. */
static void
wait_for_signals(DAT_EVD_HANDLE evd)
{
	DAT_COUNT more;
	DAT_EVENT event;

	for (unsigned int number = 0; !enough; number++) {
		DAT_RETURN ret;

		tell(number);
		ret = dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &more);
		if (DAT_GET_TYPE(ret) != DAT_INTERRUPTED_CALL)
			fail(ret, "dat_evd_wait");
	}
}

int
main(void)
{
	const struct sigaction action = { .sa_handler = on_signal };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd;
	DAT_IA_HANDLE ia;
	DAT_RETURN ret;
	char name[] = "loop0";

	/* None stays when the driver is gone. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	ret = dat_ia_open(name, 8, &async, &ia);
	if (ret != DAT_SUCCESS)
		fail(ret, "dat_ia_open");
	ret = dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd);
	if (ret != DAT_SUCCESS)
		fail(ret, "dat_evd_create");
	wait_for_signals(evd);
	ret = dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
	if (ret != DAT_SUCCESS)
		fail(ret, "dat_ia_close");
	return EXIT_SUCCESS;
}
