/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <json-c/json.h>

/* Limits of the time that the other end may take, and of the bytes that it may send. */
#define PATIENCE_S   5
#define GREETING_LEN 1024
#define ANSWER_MAX   (1u << 20)

int
info_errmsg_set(struct info_errmsg *errmsg, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(errmsg->text, sizeof(errmsg->text), format, args);
	va_end(args);
	return -1;
}

static int
connect_to(const char *path, struct info_errmsg *errmsg)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return info_errmsg_set(errmsg, "the socket's path is too long: %.200s", path);
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return info_errmsg_set(errmsg, "no socket: %s", strerror(errno));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
			setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0 ||
			connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
		info_errmsg_set(errmsg, "nobody answers at %.200s: %s", path, strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}

/* One message that is one JSON object. NULL: it is not, or none comes. */
static struct json_object *
receive(const struct info_link *link, char *text, size_t len, struct info_errmsg *errmsg)
{
	struct json_tokener *tokener;
	struct json_object *object;
	ssize_t n;

	do
		n = recv(link->fd, text, len, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		info_errmsg_set(errmsg, "the process at %s %s", link->path,
				n == 0 || errno != EAGAIN ? "has ended" : "does not answer");
		return NULL;
	}
	tokener = json_tokener_new();
	if (tokener == NULL) {
		info_errmsg_set(errmsg, "no memory");
		return NULL;
	}
	object = json_tokener_parse_ex(tokener, text, (int)n);
	json_tokener_free(tokener);
	if (object == NULL || !json_object_is_type(object, json_type_object)) {
		json_object_put(object);
		info_errmsg_set(errmsg, "what the process at %s says is no JSON object",
				link->path);
		return NULL;
	}
	return object;
}

/* It begins with who it is and how long its answers can be. */
static int
read_greeting(struct info_link *link, struct info_errmsg *errmsg)
{
	struct json_object *greeting, *pid, *longest;
	char text[GREETING_LEN];
	int64_t len = 0;

	greeting = receive(link, text, sizeof(text), errmsg);
	if (greeting == NULL)
		return -1;
	if (json_object_object_get_ex(greeting, "max_output_len", &longest))
		len = json_object_get_int64(longest);
	if (json_object_object_get_ex(greeting, "pid", &pid))
		link->pid = (uint32_t)json_object_get_int64(pid);
	json_object_put(greeting);
	if (len <= 0 || len > ANSWER_MAX)
		return info_errmsg_set(errmsg, "the process at %s does not greet as DPDK does",
				link->path);
	link->longest = (uint32_t)len;
	link->answer = malloc(link->longest);
	return link->answer != NULL ? 0 : info_errmsg_set(errmsg, "no memory");
}

int
info_link_open(struct info_link *link, const char *path, struct info_errmsg *errmsg)
{
	*link = (struct info_link){ .fd = connect_to(path, errmsg) };
	if (link->fd < 0)
		return -1;
	snprintf(link->path, sizeof(link->path), "%s", path);
	if (read_greeting(link, errmsg) != 0) {
		info_link_close(link);
		return -1;
	}
	return 0;
}

void
info_link_close(struct info_link *link)
{
	close(link->fd);
	free(link->answer);
}

int
info_link_ask(struct info_link *link, const char *question, struct json_object **answer,
		struct info_errmsg *errmsg)
{
	size_t len = strcspn(question, ",");
	struct json_object *whole, *part;
	char command[64];

	if (send(link->fd, question, strlen(question), MSG_NOSIGNAL) < 0)
		return info_errmsg_set(errmsg, "the process at %s has ended", link->path);
	whole = receive(link, link->answer, link->longest, errmsg);
	if (whole == NULL)
		return -1;
	snprintf(command, sizeof(command), "%.*s", (int)len, question);
	if (!json_object_object_get_ex(whole, command, &part)) {
		json_object_put(whole);
		return info_errmsg_set(errmsg, "the process at %s answers something else than %s",
				link->path, command);
	}
	*answer = json_object_is_type(part, json_type_object) ? json_object_get(part) : NULL;
	json_object_put(whole);
	return 0;
}
