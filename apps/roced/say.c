/* SPDX-License-Identifier: BSD-3-Clause */
#include "say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool events;

void
say_events(bool on)
{
	events = on;
}

static void
say_args(const char *format, va_list args, const char *why)
{
	char line[512];

	vsnprintf(line, sizeof(line), format, args);
	fprintf(stderr, "roced: %s%s%s\n", line, why == NULL ? "" : ": ", why == NULL ? "" : why);
}

void
say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_args(format, args, NULL);
	va_end(args);
}

int
say_errno(const char *format, ...)
{
	const char *why = strerror(errno);
	va_list args;

	va_start(args, format);
	say_args(format, args, why);
	va_end(args);
	return -1;
}

void
say_event(const char *line)
{
	if (events)
		say("%s", line);
}
