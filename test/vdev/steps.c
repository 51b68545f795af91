/* SPDX-License-Identifier: BSD-3-Clause */
#include "steps.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *step_name;

void
fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "%s: ", step_name != NULL ? step_name : program_invocation_short_name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(EXIT_FAILURE);
}

void
ok(DAT_RETURN ret, const char *call)
{
	const char *major = "?", *minor = "?";

	if (ret == DAT_SUCCESS)
		return;
	dat_strerror(ret, &major, &minor);
	fail("%s: %s %s", call, major, minor);
}

DAT_EVENT
await_event(DAT_EVD_HANDLE evd, uint32_t patience_us, const char *what)
{
	DAT_COUNT more;
	DAT_EVENT event;

	ok(dat_evd_wait(evd, patience_us, 1, &event, &more), what);
	return event;
}
