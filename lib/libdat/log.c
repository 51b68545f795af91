/* SPDX-License-Identifier: BSD-3-Clause */

#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#define TO_STDOUT 0x1
#define TO_SYSLOG 0x2

#define SENTENCE_LEN 1024

/* A number of the environment, decimal or 0x; anything else is 0. */
static unsigned long
env_number(const char *name)
{
	const char *value = secure_getenv(name);

	return value != NULL ? strtoul(value, NULL, 0) : 0;
}

static void
say(const char *format, va_list args)
{
	unsigned long dest = env_number("DAT_DBG_DEST") & (TO_STDOUT | TO_SYSLOG);
	char sentence[SENTENCE_LEN];

	vsnprintf(sentence, sizeof(sentence), format, args);
	if (dest == 0)
		fprintf(stderr, "libdat: %s\n", sentence);
	if (dest & TO_STDOUT)
		printf("libdat: %s\n", sentence);
	if (dest & TO_SYSLOG)
		syslog(LOG_USER | LOG_WARNING, "libdat: %s", sentence);
}

void
libdat_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

void
libdat_say_news(const char *format, ...)
{
	static char last[SENTENCE_LEN];
	char sentence[SENTENCE_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	if (strcmp(sentence, last) == 0)
		return;
	memcpy(last, sentence, sizeof(last));
	libdat_say("%s", sentence);
}

void
libdat_log(unsigned int types, const char *format, ...)
{
	va_list args;

	if ((env_number("DAT_DBG_TYPE") & types) == 0)
		return;
	va_start(args, format);
	say(format, args);
	va_end(args);
}
