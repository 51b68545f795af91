/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

static const char *program = "dat";
static char first_sentence[512];
static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;

void
cli_begin(const char *name)
{
	program = name;
	cli_output_begin();
}

static void
put(const char *sentence)
{
	pthread_mutex_lock(&first_lock);
	if (first_sentence[0] == '\0')
		snprintf(first_sentence, sizeof(first_sentence), "%s", sentence);
	pthread_mutex_unlock(&first_lock);
	fprintf(stderr, "%s: %s\n", program, sentence);
}

void
cli_say(const char *format, ...)
{
	char sentence[512];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	put(sentence);
}

void
cli_say_dat(DAT_RETURN ret, const char *format, ...)
{
	char sentence[512], what[256];
	const char *major = NULL, *minor = NULL;
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (dat_strerror(ret, &major, &minor) != DAT_SUCCESS || major == NULL)
		snprintf(sentence, sizeof(sentence), "%s: error 0x%08x", what, (unsigned int)ret);
	else if (DAT_GET_SUBTYPE(ret) == 0 || minor == NULL || minor[0] == '\0')
		snprintf(sentence, sizeof(sentence), "%s: %s", what, major);
	else
		snprintf(sentence, sizeof(sentence), "%s: %s (%s)", what, major, minor);
	put(sentence);
}

int
cli_complain(int option, char **argv)
{
	const char *word = argv[optind - 1];

	if (option == ':')
		cli_say("option '%s' needs a value; see %s --help", word, program);
	else if (optopt != 0 && strncmp(word, "--", 2) == 0 && strchr(word, '=') != NULL)
		cli_say("option '%.*s' takes no value; see %s --help", (int)strcspn(word, "="),
				word, program);
	else if (optopt != 0)
		cli_say("there is no option '-%c'; see %s --help", optopt, program);
	else
		cli_say("there is no option '%s'; see %s --help", word, program);
	return CLI_EXIT_USAGE;
}

const char *
cli_said(void)
{
	return first_sentence[0] == '\0' ? NULL : first_sentence;
}

void
cli_forget_said(void)
{
	pthread_mutex_lock(&first_lock);
	first_sentence[0] = '\0';
	pthread_mutex_unlock(&first_lock);
}

/* The number that the text begins with. @return what stands behind it; NULL: there is none, or it is too large. */
static const char *
read_number(const char *text, uint64_t *number)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *end;

	/* strtoull takes blanks and signs, and turns "-1" into a huge number. */
	if (!(hex ? isxdigit((unsigned char)text[2]) : isdigit((unsigned char)text[0])))
		return NULL;
	errno = 0;
	*number = strtoull(text, &end, hex ? 16 : 10);
	return errno == 0 ? end : NULL;
}

bool
cli_number(const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
	uint64_t value;
	const char *end = read_number(text, &value);

	if (end == NULL || *end != '\0' || value < min || value > max)
		return false;
	*number = value;
	return true;
}

bool
cli_size(const char *text, uint64_t min, uint64_t max, uint64_t *size)
{
	static const char units[] = "kmg";
	uint64_t value;
	const char *end = read_number(text, &value), *unit;
	unsigned int shift = 0;

	if (end == NULL)
		return false;
	unit = *end != '\0' ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit != NULL) {
		shift = 10 * (unsigned int)(unit - units + 1);
		end++;
	}
	if (*end != '\0' || value > UINT64_MAX >> shift || value << shift < min ||
			value << shift > max)
		return false;
	*size = value << shift;
	return true;
}

int
cli_option_number(const char *option, uint64_t min, uint64_t max, uint64_t *number)
{
	if (cli_number(optarg, min, max, number))
		return -1;
	cli_say("%s takes a number from %llu to %llu, not '%s'", option, (unsigned long long)min,
			(unsigned long long)max, optarg);
	return CLI_EXIT_USAGE;
}

int
cli_option_size(const char *option, uint64_t min, uint64_t max, uint64_t *size)
{
	if (cli_size(optarg, min, max, size))
		return -1;
	cli_say("%s takes a number of bytes from %llu to %llu, also like 4k or 0x40, not '%s'",
			option, (unsigned long long)min, (unsigned long long)max, optarg);
	return CLI_EXIT_USAGE;
}

bool
cli_host(const char *host, struct sockaddr_storage *address)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	int rc;

	rc = getaddrinfo(host, NULL, &hints, &found);
	if (rc != 0) {
		cli_say("cannot resolve host '%s': %s", host, gai_strerror(rc));
		return false;
	}
	memset(address, 0, sizeof(*address));
	memcpy(address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return true;
}

const char *
cli_address(const struct sockaddr *address, char *text, unsigned int size)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	snprintf(text, size, "unknown");
	if (address == NULL)
		return text;
	if (address->sa_family == AF_INET) {
		memcpy(&v4, address, sizeof(v4));
		inet_ntop(AF_INET, &v4.sin_addr, text, size);
	} else if (address->sa_family == AF_INET6) {
		memcpy(&v6, address, sizeof(v6));
		inet_ntop(AF_INET6, &v6.sin6_addr, text, size);
	}
	return text;
}
