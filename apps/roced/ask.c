/* SPDX-License-Identifier: BSD-3-Clause */
#include "ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "local/proto.h"
#include "local/steady_wait.h"

#define PATIENCE_S 5
#define TEXT_MAX   (16u << 20)

/* One that is stopped does not accept: the backlog may be full. */
static int
dial(const struct sockaddr_un *address)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0 ||
			connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc == -EAGAIN ? -ETIMEDOUT : rc;
}

/* @return a descriptor of the text; -errno. */
static int
hear(int fd, size_t *len)
{
	int fds[ROCE_PROTO_FDS];
	struct roce_msg msg;
	unsigned int n = 0;
	int rc = roce_steady_poll(fd, POLLIN, PATIENCE_S * 1000);

	if (rc != 0)
		return rc;
	rc = roce_msg_recv(fd, &msg, fds, &n);
	if (rc == 0 && msg.type == ROCE_MSG_STATUS_TEXT && msg.status.len <= TEXT_MAX) {
		*len = msg.status.len;
		return fds[0];
	}
	for (unsigned int i = 0; i < n; i++)
		close(fds[i]);
	return rc != 0 ? rc : -EPROTO;
}

static int
copy(int fd, size_t len, char **text)
{
	char *to = malloc(len + 1);
	ssize_t n;

	if (to == NULL)
		return -ENOMEM;
	/* It is memory: a file's owner could have the reader wait. */
	n = fcntl(fd, F_GET_SEALS) >= 0 ? pread(fd, to, len, 0) : -1;
	if (n != (ssize_t)len) {
		free(to);
		return -EPROTO;
	}
	to[len] = '\0';
	*text = to;
	return 0;
}

static int
talk(int fd, bool json, char **text, size_t *len)
{
	const struct roce_msg msg = { .type = ROCE_MSG_STATUS, .status.json = json };
	int rc = roce_msg_send(fd, &msg, NULL, 0);
	int memory;

	if (rc != 0)
		return rc;
	memory = hear(fd, len);
	if (memory < 0)
		return memory;
	rc = copy(memory, *len, text);
	close(memory);
	return rc;
}

int
roced_ask(const struct sockaddr_un *address, bool json, char **text, size_t *len,
		struct roce_errmsg *errmsg)
{
	int fd = dial(address);
	int rc;

	if (fd < 0)
		return roce_errmsg_set(errmsg, fd, "no roced answers at %s: %s", address->sun_path,
				strerror(-fd));
	rc = talk(fd, json, text, len);
	close(fd);
	if (rc == 0)
		return 0;
	return roce_errmsg_set(errmsg, rc, "roced does not tell its status: %s (%s)", strerror(-rc),
			address->sun_path);
}
