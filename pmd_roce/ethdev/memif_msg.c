/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/memif_msg.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* SCM_MAX_FD of the kernel, as many as a message may have: it would close here those for which there is no room. */
#define PASSED_MAX 253

/* Ancillary data of a message: descriptors, and the sender's name where the socket was told to pass it. */
union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(PASSED_MAX * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

uint64_t
roce_memif_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int
roce_memif_send(int fd, const struct roce_memif_msg *msg, int passed)
{
	struct roce_memif_msg copy = *msg;
	struct iovec part = { .iov_base = &copy, .iov_len = sizeof(copy) };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
	union control control;
	ssize_t sent;

	if (passed >= 0) {
		struct cmsghdr *c;

		memset(&control, 0, sizeof(control));
		header.msg_control = control.bytes;
		header.msg_controllen = CMSG_SPACE(sizeof(int));
		c = CMSG_FIRSTHDR(&header);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &passed, sizeof(passed));
	}
	do
		sent = sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	return sent == sizeof(copy) ? 0 : -EPROTO;
}

void
roce_memif_send_disconnect(int fd, const char *words)
{
	struct roce_memif_msg msg = { .type = ROCE_MEMIF_DISCONNECT };

	snprintf(msg.disconnect.words, sizeof(msg.disconnect.words), "%s", words);
	roce_memif_send(fd, &msg, -1);
}

/* The descriptor that came along; -1: none. Of several the first. */
static int
take_descriptor(struct msghdr *header)
{
	int fd = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c != NULL; c = CMSG_NXTHDR(header, c)) {
		size_t bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
			int next;

			memcpy(&next, CMSG_DATA(c) + at, sizeof(next));
			if (fd >= 0)
				roce_memif_close_passed(next);
			else
				fd = next;
		}
	}
	return fd;
}

int
roce_memif_recv(int fd, struct roce_memif_msg *msg, int *passed)
{
	struct iovec part = { .iov_base = msg, .iov_len = sizeof(*msg) };
	union control control;
	struct msghdr header = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	ssize_t got;
	int came;

	memset(&control, 0, sizeof(control));
	do
		got = recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	came = take_descriptor(&header);
	if (got == sizeof(*msg) && (header.msg_flags & MSG_TRUNC) == 0) {
		*passed = came;
		return 0;
	}
	if (came >= 0)
		roce_memif_close_passed(came);
	return got == 0 ? -ECONNRESET : -EPROTO;
}

int
roce_memif_await_passed(int fd, struct roce_memif_msg *msg, int *passed, uint64_t end)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (;;) {
		int rc = roce_memif_recv(fd, msg, passed);
		uint64_t now = roce_memif_now();

		if (rc != -EAGAIN)
			return rc;
		if (now >= end)
			return -ETIMEDOUT;
		poll(&p, 1, end - now > 1000 ? 1000 : (int)(end - now));
	}
}

int
roce_memif_await(int fd, struct roce_memif_msg *msg, uint64_t end)
{
	int passed = -1;
	int rc = roce_memif_await_passed(fd, msg, &passed, end);

	if (passed >= 0)
		roce_memif_close_passed(passed);
	return rc;
}
