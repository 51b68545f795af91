/* SPDX-License-Identifier: BSD-3-Clause */
#include "signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "cli.h"

/* A shell adds this to the number of a signal. */
#define STATUS_OF_SIGNAL 128

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

#define ENDS (sizeof(ends) / sizeof(ends[0]))

static volatile sig_atomic_t caught;
static bool catches[ENDS];

static void
note_signal(int number)
{
	caught = number;
	/* Of any of them the second finds the default action, for a process that does not come back. */
	for (size_t i = 0; i < ENDS; i++)
		if (catches[i])
			signal(ends[i], SIG_DFL);
}

void
cli_signals_catch(void)
{
	const struct sigaction action = { .sa_handler = note_signal };
	struct sigaction before;

	for (size_t i = 0; i < ENDS; i++) {
		/* nohup(1) has it ignored, so that a program outlives its terminal. */
		catches[i] = sigaction(ends[i], NULL, &before) == 0 &&
				(ends[i] != SIGHUP || before.sa_handler != SIG_IGN);
		if (catches[i])
			sigaction(ends[i], &action, NULL);
	}
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
