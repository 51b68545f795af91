/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_PASSED_H
#define ROCE_TEST_PASSED_H

/**
 * @file
 * Descriptors that unknown peers pass in messages, among them a socket whose last close(2) waits for its other end.
 */

#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/rules.h"

/**
 * The socket of a connection that has sent and lingers: its last close(2) waits for an hour, or until @p peer is closed.
 * @param peer receives the other end, which does not read; the caller's.
 * @return the descriptor, the caller's.
 */
static inline int
lingering_socket(int *peer)
{
	static const uint8_t block[65536];
	const struct linger linger = { .l_onoff = 1, .l_linger = 3600 };
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	assert_int_equal(listen(listener, 1), 0);
	(void)connect(fd, (struct sockaddr *)&address, len);
	*peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(*peer >= 0);
	while (send(fd, block, sizeof(block), MSG_NOSIGNAL) > 0)
		;
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	close(listener);
	return fd;
}

/** More than any message of ours has. */
#define PASSED_MAX 8u

/** Send a message with @p n descriptors, PASSED_MAX at most, which stay the caller's. @return as sendmsg(2). */
static inline ssize_t
send_descriptors(int fd, const void *bytes, size_t len, const int *fds, unsigned int n)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(PASSED_MAX * sizeof(int))];
	} control = { .room = "" };
	struct iovec part = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = len };
	struct msghdr header = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = CMSG_SPACE(n * sizeof(int)) };

	assert_in_range(n, 1, PASSED_MAX);
	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(&control.align), fds, n * sizeof(int));
	return sendmsg(fd, &header, MSG_NOSIGNAL);
}

#endif
