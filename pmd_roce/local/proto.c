/* SPDX-License-Identifier: BSD-3-Clause */
#include "local/proto.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY_AT offsetof(struct roce_msg, hello)

/* The bytes behind the type of a message, and its descriptors. */
struct shape {
	size_t len;
	unsigned int fds;
};

#define BODY(member) sizeof(((struct roce_msg *)NULL)->member)

static const struct shape shapes[ROCE_MSG_TYPES] = {
	[ROCE_MSG_HELLO] = { BODY(hello), 1 },
	[ROCE_MSG_LISTEN] = { BODY(service), 0 },
	[ROCE_MSG_UNLISTEN] = { BODY(service), 0 },
	[ROCE_MSG_OPEN] = { BODY(peer), 0 },
	[ROCE_MSG_HAVE] = { BODY(peer), 0 },
	[ROCE_MSG_FRAME] = { offsetof(struct roce_msg_frame, data), 0 },
	[ROCE_MSG_WELCOME] = { BODY(welcome), 0 },
	[ROCE_MSG_REFUSED] = { BODY(refused), 0 },
	[ROCE_MSG_LISTENED] = { BODY(listened), 0 },
	[ROCE_MSG_CHANNEL] = { BODY(channel), 3 },
	[ROCE_MSG_GONE] = { BODY(peer), 0 },
	[ROCE_MSG_STATUS] = { BODY(status), 0 },
	[ROCE_MSG_STATUS_TEXT] = { BODY(status), 1 },
	[ROCE_MSG_UPLINK] = { BODY(uplink), 0 },
};

size_t
roce_msg_len(uint32_t type, uint32_t frame_len)
{
	if (type >= ROCE_MSG_TYPES || shapes[type].len == 0)
		return 0;
	return BODY_AT + shapes[type].len + (type == ROCE_MSG_FRAME ? frame_len : 0);
}

int
roce_msg_send(int fd, const struct roce_msg *msg, const int *fds, unsigned int n)
{
	union {
		char room[CMSG_SPACE(ROCE_PROTO_FDS * sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = {
		.iov_base = (void *)(uintptr_t)msg,
		.iov_len = roce_msg_len(msg->type, msg->frame.len),
	};
	struct msghdr hdr = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *rights = &control.align;

	if (n > 0) {
		hdr.msg_control = control.room;
		hdr.msg_controllen = CMSG_SPACE(n * sizeof(int));
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(rights), fds, n * sizeof(int));
	}
	for (;;) {
		if (sendmsg(fd, &hdr, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
			return 0;
		if (errno != EINTR)
			return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	}
}

static void
close_all(const int *fds, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		close(fds[i]);
}

/* The kernel made descriptors of all that came, expected or not, and that there was room for. */
static unsigned int
take_descriptors(struct msghdr *hdr, int *fds)
{
	unsigned int n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(hdr); c != NULL; c = CMSG_NXTHDR(hdr, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (unsigned int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	}
	return n;
}

static bool
is_whole(const struct roce_msg *msg, size_t len, unsigned int fds)
{
	uint32_t frame_len = 0;

	if (len < BODY_AT || msg->type >= ROCE_MSG_TYPES || shapes[msg->type].len == 0 ||
			len < BODY_AT + shapes[msg->type].len)
		return false;
	if (msg->type == ROCE_MSG_FRAME)
		frame_len = msg->frame.len;
	return frame_len <= ROCE_PROTO_FRAME_MAX && len == roce_msg_len(msg->type, frame_len) &&
			fds == shapes[msg->type].fds;
}

/*
 * The first message, which stays where it is: descriptors that come with it beyond the room for them are dropped, and
 * whoever drops the last one of a file may wait for it.
 * @return its bytes, or -errno.
 */
static ssize_t
peek(int fd, struct msghdr *hdr)
{
	ssize_t len;

	do
		len = recvmsg(fd, hdr, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (len < 0 && errno == EINTR);
	if (len < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	return len;
}

int
roce_msg_recv_unknown(int fd, struct roce_msg *msg, int *fds, unsigned int *n)
{
	union {
		char room[CMSG_SPACE(ROCE_PROTO_FDS * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = msg, .iov_len = sizeof(*msg) };
	struct msghdr hdr = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = fds == NULL ? NULL : control.room,
		/* Not what CMSG_SPACE() says: the kernel fills the room behind the last one. */
		.msg_controllen = fds == NULL ? 0 : CMSG_LEN(ROCE_PROTO_FDS * sizeof(int)),
	};
	ssize_t len;
	char end;

	*n = 0;
	len = peek(fd, &hdr);
	if (len < 0)
		return (int)len;
	if (fds != NULL)
		*n = take_descriptors(&hdr, fds);
	if (len == 0 && *n == 0)
		return -EPIPE;
	if ((hdr.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || !is_whole(msg, (size_t)len, *n))
		return -EPROTO;
	/* Each of its descriptors has a second one here. */
	(void)recv(fd, &end, 0, MSG_DONTWAIT);
	return 0;
}

int
roce_msg_recv(int fd, struct roce_msg *msg, int *fds, unsigned int *n)
{
	int rc = roce_msg_recv_unknown(fd, msg, fds, n);

	if (rc == -EPROTO) {
		close_all(fds, *n);
		*n = 0;
	}
	return rc;
}
