/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "closer.h"

/* Messages of one client before the others have their turn. */
#define BURST 64

/* Connections without a HELLO: when one more comes, the oldest ends. */
#define GUESTS_MAX 256u

void
conns_init(struct conns *conns, struct broker *broker, int epoll)
{
	*conns = (struct conns){ .broker = broker, .epoll = epoll };
	TAILQ_INIT(&conns->live);
	TAILQ_INIT(&conns->ended);
}

static void
end(struct conns *conns, struct conn *conn)
{
	broker_disconnect(conn->client);
	epoll_ctl(conns->epoll, EPOLL_CTL_DEL, conn->fd, NULL);
	shutdown(conn->fd, SHUT_RDWR);
	closer_close(conn->fd); /* messages that were not read may have descriptors */
	conn->fd = -1;
	conns->count--;
	conns->stalled -= conn->stalled;
	TAILQ_REMOVE(&conns->live, conn, next);
	TAILQ_INSERT_TAIL(&conns->ended, conn, next);
}

void
conns_add(struct conns *conns, int fd, pid_t pid)
{
	struct conn *conn = calloc(1, sizeof(*conn));
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = conn };
	struct broker_client *guest = broker_oldest_guest(conns->broker, GUESTS_MAX);

	if (guest != NULL)
		end(conns, broker_user(guest));
	if (conn == NULL)
		goto close_fd;
	conn->fd = fd;
	conn->client = broker_connect(conns->broker, (uint32_t)pid, conn);
	if (conn->client == NULL)
		goto free_conn;
	if (epoll_ctl(conns->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		goto disconnect;
	TAILQ_INSERT_TAIL(&conns->live, conn, next);
	conns->count++;
	return;

disconnect:
	broker_disconnect(conn->client);
free_conn:
	free(conn);
close_fd:
	closer_close(fd);
}

static void
want_out(struct conns *conns, struct conn *conn, bool wants)
{
	struct epoll_event event = { .events = EPOLLIN | (wants ? EPOLLOUT : 0u),
		.data.ptr = conn };

	if (conn->wants_out != wants &&
			epoll_ctl(conns->epoll, EPOLL_CTL_MOD, conn->fd, &event) == 0)
		conn->wants_out = wants;
}

static void
set_stalled(struct conns *conns, struct conn *conn, bool stalled)
{
	conns->stalled += stalled;
	conns->stalled -= conn->stalled;
	conn->stalled = stalled;
}

/* @return 0: all is sent; -errno: why not. */
static int
send_output(struct conn *conn)
{
	const struct roce_msg *msg;
	int fds[ROCE_PROTO_FDS];
	unsigned int n;
	int rc = 0;

	while (rc == 0 && (msg = broker_output(conn->client, fds, &n)) != NULL) {
		rc = roce_msg_send(conn->fd, msg, fds, n);
		if (rc == 0)
			broker_output_sent(conn->client);
	}
	return rc;
}

static void
flush(struct conns *conns, struct conn *conn)
{
	int rc = send_output(conn);
	bool scarce = rc == -ETOOMANYREFS || rc == -ENOBUFS || rc == -ENOMEM;

	set_stalled(conns, conn, scarce);
	if (broker_is_over(conn->client) || (rc != 0 && rc != -EAGAIN && !scarce)) {
		end(conns, conn);
		return;
	}
	want_out(conns, conn, rc == -EAGAIN);
}

void
conns_flush(struct conns *conns)
{
	struct broker_client *client;

	while ((client = broker_ready(conns->broker)) != NULL)
		flush(conns, broker_user(client));
}

/* The first messages of a client; HELLO alone has a descriptor. @return as roce_msg_recv(). */
static int
receive_unknown(struct conn *conn)
{
	struct roce_msg msg;
	int fds[ROCE_PROTO_FDS];
	unsigned int n;
	int rc = roce_msg_recv_unknown(conn->fd, &msg, fds, &n);

	for (unsigned int i = rc == 0 ? 1 : 0; i < n; i++)
		closer_close(fds[i]);
	if (rc == 0)
		broker_message(conn->client, &msg, n > 0 ? fds[0] : -1);
	conn->is_known = !broker_is_guest(conn->client);
	if (conn->is_known)
		closer_refuse(conn->fd);
	return rc;
}

static int
receive_known(struct conn *conn)
{
	struct roce_msg msg;
	unsigned int n;
	int rc = roce_msg_recv(conn->fd, &msg, NULL, &n);

	if (rc == 0)
		broker_message(conn->client, &msg, -1);
	return rc;
}

static void
receive(struct conns *conns, struct conn *conn)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < BURST && !broker_is_over(conn->client); i++)
		rc = conn->is_known ? receive_known(conn) : receive_unknown(conn);
	if (rc == -EPROTO)
		broker_violation(conn->client, "a message that is none of the protocol");
	else if (rc != 0 && rc != -EAGAIN)
		end(conns, conn);
}

void
conn_event(struct conns *conns, struct conn *conn, uint32_t events)
{
	if (conn->fd >= 0 && (events & EPOLLOUT) != 0)
		flush(conns, conn);
	if (conn->fd >= 0 && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
		receive(conns, conn);
}

void
conns_retry(struct conns *conns)
{
	struct conn *conn, *following;

	for (conn = TAILQ_FIRST(&conns->live); conns->stalled > 0 && conn != NULL;
			conn = following) {
		following = TAILQ_NEXT(conn, next);
		if (conn->stalled)
			flush(conns, conn);
	}
}

void
conns_reap(struct conns *conns)
{
	struct conn *conn;

	while ((conn = TAILQ_FIRST(&conns->ended)) != NULL) {
		TAILQ_REMOVE(&conns->ended, conn, next);
		free(conn);
	}
}

void
conns_end(struct conns *conns)
{
	while (!TAILQ_EMPTY(&conns->live))
		end(conns, TAILQ_FIRST(&conns->live));
	conns_reap(conns);
}
