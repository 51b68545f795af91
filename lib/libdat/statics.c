/* SPDX-License-Identifier: BSD-3-Clause */

#include "statics.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

/* More than any real file: a device or a wrong file is refused before it fills the memory. */
#define CONF_SIZE_MAX (1u << 20)

/* The only major version whose table of calls this library can use. */
#define API_MAJOR 1

/*
 * Two ports joined back to back in the process, and the adapter that all processes of the host share, so that a program
 * runs whatever a file says of others.
 */
static const char builtin[] = "loop0 u1.2 threadsafe default libdaplroce.so.1 udapl-roce.1.2 "
			      "\"port=loop0 ip=192.0.2.1/24\" \"\"\n"
			      "loop1 u1.2 threadsafe default libdaplroce.so.1 udapl-roce.1.2 "
			      "\"port=loop1 ip=192.0.2.2/24\" \"\"\n"
			      "roce0 u1.2 threadsafe default libdaplroce.so.1 udapl-roce.1.2 "
			      "\"port=roced\" \"\"\n";

struct reader {
	struct libdat_statics *out;
	bool tell;
	int rc;
};

static bool
is_for_us(const struct libdat_conf_entry *entry)
{
	return entry->api == 'u' && entry->api_major == API_MAJOR;
}

static bool
append(struct libdat_conf_entry **list, size_t *count, const struct libdat_conf_entry *entry)
{
	struct libdat_conf_entry *more = realloc(*list, (*count + 1) * sizeof(*more));

	if (more == NULL)
		return false;
	*list = more;
	more[(*count)++] = *entry;
	return true;
}

static bool
take_entry(void *arg, const struct libdat_conf_entry *entry)
{
	struct reader *r = arg;
	struct libdat_statics *s = r->out;
	bool served = is_for_us(entry) && entry->is_default;
	bool taken = served ? append(&s->entry, &s->count, entry)
			    : append(&s->passed, &s->passed_count, entry);

	if (!taken)
		r->rc = -ENOMEM;
	return taken;
}

/* Whether a line of the file has this name for this registry, served or not. */
static bool
is_taken(const struct libdat_statics *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->entry[i].ia_name, name) == 0)
			return true;
	for (size_t i = 0; i < s->passed_count; i++)
		if (is_for_us(&s->passed[i]) && strcmp(s->passed[i].ia_name, name) == 0)
			return true;
	return false;
}

static bool
take_builtin(void *arg, const struct libdat_conf_entry *entry)
{
	const struct reader *r = arg;

	return is_taken(r->out, entry->ia_name) || take_entry(arg, entry);
}

static void
tell_bad_line(void *arg, unsigned int line, const char *errmsg)
{
	const struct reader *r = arg;

	if (r->tell)
		libdat_say("%s, line %u is ignored: %s.", r->out->origin, line, errmsg);
}

/* The whole file behind @p fd, with room for a zero behind it; 0 or -errno. */
static int
read_all(int fd, char **text, size_t *len)
{
	char *buf = malloc(CONF_SIZE_MAX);
	size_t have = 0;
	ssize_t n;

	if (buf == NULL)
		return -ENOMEM;
	do {
		n = read(fd, buf + have, CONF_SIZE_MAX - have);
		if (n > 0)
			have += (size_t)n;
	} while ((n > 0 && have < CONF_SIZE_MAX) || (n < 0 && errno == EINTR));
	if (n < 0 || have == CONF_SIZE_MAX) {
		int rc = n < 0 ? -errno : -EFBIG;

		free(buf);
		return rc;
	}
	*text = buf;
	*len = have;
	return 0;
}

static int
read_file(const char *path, char **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return -errno;
	rc = read_all(fd, text, len);
	close(fd);
	return rc;
}

/*
 * Whether to speak about this file: not if it was the file the last time too. A program opens
 * several adapters, and nobody wants to read the same sentences for each.
 */
static bool
is_news(const char *path)
{
	static char last[PATH_MAX];

	if (strncmp(last, path, sizeof(last) - 1) == 0)
		return false;
	snprintf(last, sizeof(last), "%s", path);
	return true;
}

/* Take what the file @p s->origin has for us. @return 0, or what opening it said. */
static int
take_file(struct reader *r, const struct libdat_conf_sink *sink)
{
	size_t len = 0;
	int rc = read_file(r->out->origin, &r->out->text, &len);

	if (rc == 0) {
		r->tell = is_news(r->out->origin);
		libdat_conf_parse(r->out->text, len, sink);
	}
	return rc;
}

static int
take_builtins(struct reader *r)
{
	const struct libdat_conf_sink sink = {
		.arg = r, .entry = take_builtin, .bad_line = tell_bad_line
	};

	r->out->builtin = strdup(builtin);
	if (r->out->builtin == NULL)
		return -ENOMEM;
	libdat_conf_parse(r->out->builtin, sizeof(builtin) - 1, &sink);
	return r->rc;
}

int
libdat_statics_read(const char *system_conf, struct libdat_statics *out)
{
	struct reader r = { .out = out };
	const struct libdat_conf_sink sink = {
		.arg = &r, .entry = take_entry, .bad_line = tell_bad_line
	};
	/* A program with more rights than its user must not load the user's library. */
	const char *override = secure_getenv("DAT_OVERRIDE");
	bool overridden = override != NULL && override[0] != '\0';
	int rc;

	*out = (struct libdat_statics){ .origin = overridden ? override : system_conf };
	out->file = out->origin;
	rc = take_file(&r, &sink);
	if (rc == -ENOMEM)
		return rc;
	if (rc != 0 && (overridden || rc != -ENOENT)) {
		if (is_news(out->origin))
			libdat_say("%s%s cannot be read: %s.", out->origin,
					overridden ? ", the file that DAT_OVERRIDE names," : "",
					strerror(-rc));
	} else if (rc == -ENOENT) {
		out->origin = "built-in entries";
	}
	if (r.rc == 0)
		r.rc = take_builtins(&r);
	if (r.rc != 0)
		libdat_statics_free(out);
	return r.rc;
}

void
libdat_statics_free(struct libdat_statics *s)
{
	free(s->entry);
	free(s->passed);
	free(s->text);
	free(s->builtin);
	*s = (struct libdat_statics){ 0 };
}
