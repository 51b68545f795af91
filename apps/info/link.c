/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "clean.h"

/* Limits of the time that the other end may take, and of the bytes that it may send: in one answer, and in all. */
#define PATIENCE_MS  5000u
#define GREETING_LEN 1024
#define ANSWER_MAX   (1u << 20)
#define HEARD_MAX    (32u << 20)

int
info_errmsg_set(struct info_errmsg *errmsg, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(errmsg->text, sizeof(errmsg->text), format, args);
	va_end(args);
	info_clean_text(errmsg->text);
	return -1;
}

static uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int
connect_to(const char *path, struct info_errmsg *errmsg)
{
	const struct timeval patience = { .tv_sec = PATIENCE_MS / 1000 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return info_errmsg_set(errmsg, "the socket's path is too long: %.200s", path);
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return info_errmsg_set(errmsg, "no socket: %s", strerror(errno));
	/* One that is stopped takes no connection, and more than it has room for wait. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0 ||
			connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
		info_errmsg_set(errmsg, "nobody answers at %.200s: %s", path, strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}

/* Another user could show anything, and for as long as he likes. */
static int
check_owner(struct info_link *link, bool named, struct info_errmsg *errmsg)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(link->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return info_errmsg_set(errmsg, "the process at %s is unknown: %s", link->path,
				strerror(errno));
	if (peer.uid == geteuid() || peer.uid == 0)
		return 0;
	if (!named || geteuid() != 0)
		return info_errmsg_set(errmsg,
				"the process at %s is one of user %u, not of user %u", link->path,
				(unsigned int)peer.uid, (unsigned int)geteuid());
	link->pid = (uint32_t)peer.pid;
	return 0;
}

/* @return bytes of a message; 0: the process has ended; -1: none came in time. */
static ssize_t
hear(const struct info_link *link, char *text, size_t len)
{
	struct pollfd wait = { .fd = link->fd, .events = POLLIN };

	for (;;) {
		ssize_t n = recv(link->fd, text, len, MSG_DONTWAIT);
		uint64_t now = now_ms();

		if (n >= 0)
			return n;
		if (errno != EAGAIN && errno != EINTR)
			return 0;
		if (now >= link->until)
			return -1;
		poll(&wait, 1, (int)(link->until - now));
	}
}

/* One message that is one JSON object. NULL: it is not, or none comes. */
static struct json_object *
receive(struct info_link *link, char *text, size_t len, struct info_errmsg *errmsg)
{
	ssize_t n = now_ms() < link->until ? hear(link, text, len) : -1;
	struct json_object *object;

	if (n <= 0) {
		info_errmsg_set(errmsg, "the process at %s %s", link->path,
				n == 0 ? "has ended" : "does not answer");
		return NULL;
	}
	link->heard += (size_t)n;
	if (link->heard > HEARD_MAX) {
		info_errmsg_set(errmsg, "the process at %s says more than %u MiB", link->path,
				HEARD_MAX >> 20);
		return NULL;
	}
	object = info_clean_parse(text, (size_t)n);
	if (object == NULL)
		info_errmsg_set(errmsg, "what the process at %s says is no JSON object",
				link->path);
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
	if (link->pid == 0 && json_object_object_get_ex(greeting, "pid", &pid))
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
info_link_open(struct info_link *link, const char *path, bool named, struct info_errmsg *errmsg)
{
	*link = (struct info_link){ .until = now_ms() + PATIENCE_MS };
	snprintf(link->path, sizeof(link->path), "%s", path);
	link->fd = connect_to(path, errmsg);
	if (link->fd < 0)
		return -1;
	if (check_owner(link, named, errmsg) == 0 && read_greeting(link, errmsg) == 0)
		return 0;
	info_link_close(link);
	return -1;
}

void
info_link_close(struct info_link *link)
{
	close(link->fd);
	free(link->answer);
}

/* @return what it says to a question; NULL, said. */
static struct json_object *
ask(struct info_link *link, const char *question, struct info_errmsg *errmsg)
{
	if (link->over ||
			send(link->fd, question, strlen(question), MSG_NOSIGNAL | MSG_DONTWAIT) <
					0) {
		info_errmsg_set(errmsg, "the process at %s has ended", link->path);
		return NULL;
	}
	return receive(link, link->answer, link->longest, errmsg);
}

int
info_link_ask(struct info_link *link, const char *question, struct json_object **answer,
		struct info_errmsg *errmsg)
{
	size_t len = strcspn(question, ",");
	struct json_object *whole = ask(link, question, errmsg), *part;
	char command[64];

	link->over = whole == NULL;
	if (whole == NULL)
		return -1;
	snprintf(command, sizeof(command), "%.*s", (int)len, question);
	if (!json_object_object_get_ex(whole, command, &part)) {
		json_object_put(whole);
		link->over = true;
		return info_errmsg_set(errmsg, "the process at %s answers something else than %s",
				link->path, command);
	}
	*answer = json_object_is_type(part, json_type_object) ? json_object_get(part) : NULL;
	json_object_put(whole);
	return 0;
}
