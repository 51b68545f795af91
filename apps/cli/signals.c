/* SPDX-License-Identifier: BSD-3-Clause */
#include "signals.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

#include "cli.h"

/* A shell adds this to the number of a signal. */
#define STATUS_OF_SIGNAL 128

static volatile sig_atomic_t caught;

static void
note_signal(int number)
{
	caught = number;
	/* Of either signal the second finds the default action, for a process that does not come back. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

void
cli_signals_catch(void)
{
	const struct sigaction action = { .sa_handler = note_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int
cli_signal(void)
{
	return caught;
}

int
cli_signal_status(int rc)
{
	if (rc == 0)
		return EXIT_SUCCESS;
	return caught != 0 ? STATUS_OF_SIGNAL + caught : CLI_EXIT_FAILED;
}
