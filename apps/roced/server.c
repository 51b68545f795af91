/* SPDX-License-Identifier: BSD-3-Clause */
#include "server.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "closer.h"
#include "conn.h"
#include "host.h"
#include "notify.h"
#include "say.h"
#include "uplink_child.h"

#define EVENTS     64
#define TICK_MS    100 /* between looks at what nothing tells of */
#define ACCEPT_MAX 64  /* connections before the others have their turn */
#define RESERVE    32  /* descriptors that are not for connections */

/* A starter that is slow has some time, even if later clients are not to be awaited. */
#define FIRST_LINGER_MS 1000u

struct server {
	const struct options *options;
	const struct folder *folder;
	struct conns conns;
	int listener;
	int signals;
	int rival; /* readable: another roced asks for the folder; -1: none is to get it */
	struct uplink_child uplink;
	bool ready;  /* the service manager was told */
	int status;  /* to exit with, when a child says so */
	bool paused; /* no descriptors are left: connections wait in the backlog */
	bool had_client;
	uint64_t idle_since; /* ms; when no client is left */
	uint64_t tick_at;
};

static uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- who comes ---- */

/* @param member where the server has the descriptor: by it handle() knows which one is ready. */
static int
watch(struct server *server, int fd, void *member)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = member };

	return epoll_ctl(server->conns.epoll, EPOLL_CTL_ADD, fd, &event);
}

static void
pause_accept(struct server *server)
{
	if (!server->paused)
		say_event("no descriptors are left: new connections wait");
	server->paused = true;
	epoll_ctl(server->conns.epoll, EPOLL_CTL_DEL, server->listener, NULL);
}

static void
resume_accept(struct server *server)
{
	if (server->paused && watch(server, server->listener, &server->listener) == 0)
		server->paused = false;
}

/* The modes of folder and socket say which members of a group may come. */
static bool
may_enter(const struct server *server, const struct ucred *peer)
{
	return server->folder->group != FOLDER_NO_GROUP || peer->uid == geteuid();
}

static void
admit(struct server *server, int fd)
{
	struct ucred peer = { .pid = 0 };
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 ||
			!may_enter(server, &peer)) {
		say_event("a process of another user is sent away");
		closer_close(fd);
		return;
	}
	conns_add(&server->conns, fd, peer.pid);
}

/* Each connection may bring a bell; channels and roced itself need some, too. */
static bool
has_descriptors(const struct server *server)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
			2 * (server->conns.count + 1) + RESERVE <= limit.rlim_cur;
}

static void
accept_some(struct server *server)
{
	for (int i = 0; i < ACCEPT_MAX; i++) {
		int fd;

		if (!has_descriptors(server))
			return pause_accept(server);
		fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			admit(server, fd);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			return pause_accept(server);
		else if (errno != EINTR && errno != ECONNABORTED)
			return;
	}
}

/* ---- when it ends ---- */

/*
 * No process finds the socket after its removal. One that found it before is in the backlog, and served as ever by a
 * socket of the same name; one that connects between this look and the end sees its connection end, and tries again.
 */
static bool
may_leave(struct server *server)
{
	struct epoll_event none = { .events = 0 };
	int listener;

	folder_unlink_socket(server->folder);
	accept_some(server);
	conns_flush(&server->conns);
	if (server->conns.count == 0)
		return true;
	listener = folder_listen(server->folder);
	if (listener < 0)
		return false;
	epoll_ctl(server->conns.epoll, EPOLL_CTL_DEL, server->listener, &none);
	closer_close(server->listener); /* connections may wait there, with descriptors */
	server->listener = listener;
	watch(server, server->listener, &server->listener);
	return false;
}

static uint64_t
linger_end(const struct server *server)
{
	uint32_t linger = server->options->linger_ms;

	if (!server->had_client && linger < FIRST_LINGER_MS)
		linger = FIRST_LINGER_MS;
	return server->idle_since + linger;
}

/* @return true: on demand, and no process has needed it for some time. One that only asks how it is needs it no longer. */
static bool
is_idle(struct server *server, uint64_t now)
{
	if (!server->options->on_demand)
		return false;
	if (server->conns.count > broker_guests(server->conns.broker)) {
		server->had_client = true;
		server->idle_since = now;
	} else if (server->conns.count == 0 && now >= linger_end(server)) {
		return may_leave(server);
	}
	return false;
}

/* ---- the loop ---- */

static bool
needs_tick(const struct server *server)
{
	return server->paused || server->conns.stalled > 0 ||
			broker_has_absent(server->conns.broker) ||
			broker_has_waiting(server->conns.broker);
}

static void
tick(struct server *server, uint64_t now)
{
	if (now < server->tick_at)
		return;
	server->tick_at = now + TICK_MS;
	if (!needs_tick(server))
		return;
	resume_accept(server);
	conns_retry(&server->conns);
	broker_check_absent(server->conns.broker);
	broker_check_waiting(server->conns.broker);
	conns_flush(&server->conns);
}

/* @return ms, as epoll_wait() wants them. */
static int
timeout(const struct server *server, uint64_t now)
{
	uint64_t until = uplink_child_due(&server->uplink);

	if (needs_tick(server) && server->tick_at < until)
		until = server->tick_at;
	if (server->options->on_demand && server->conns.count == 0 && linger_end(server) < until)
		until = linger_end(server);
	if (until == UINT64_MAX)
		return -1;
	return until <= now ? 0 : (int)(until - now);
}

/* @return false: roced is to end. */
static bool
handle_signal(struct server *server)
{
	struct signalfd_siginfo info;
	int rc = -1;

	if (read(server->signals, &info, sizeof(info)) != sizeof(info))
		return true;
	if (info.ssi_signo != SIGCHLD)
		return false;
	rc = uplink_child_reap(&server->uplink, now_ms());
	if (rc >= 0)
		server->status = rc;
	return rc < 0;
}

/* @return false: roced is to end. */
static bool
handle(struct server *server, const struct epoll_event *event)
{
	if (event->data.ptr == &server->signals)
		return handle_signal(server);
	if (event->data.ptr == &server->rival)
		return false;
	if (event->data.ptr == &server->listener)
		accept_some(server);
	else
		conn_event(&server->conns, event->data.ptr, event->events);
	conns_flush(&server->conns);
	return true;
}

/* With an uplink it is ready when that is: processes that come before wait. */
static void
say_ready(struct server *server)
{
	if (server->uplink.dir != NULL) {
		if (!broker_has_uplink(server->conns.broker))
			return;
		uplink_child_attached(&server->uplink);
	}
	server->ready = true;
	notify("READY=1");
}

static int
loop(struct server *server)
{
	struct epoll_event event[EVENTS];
	uint64_t now = now_ms();
	bool goes_on = true;

	server->idle_since = now;
	while (goes_on && !is_idle(server, now)) {
		int n;

		uplink_child_tick(&server->uplink, now);
		n = epoll_wait(server->conns.epoll, event, EVENTS, timeout(server, now));

		if (n < 0 && errno != EINTR) {
			say_errno("epoll_wait");
			return EXIT_FAILURE;
		}
		for (int i = 0; i < n && goes_on; i++)
			goes_on = handle(server, &event[i]);
		now = now_ms();
		tick(server, now);
		conns_reap(&server->conns);
		if (!server->ready)
			say_ready(server);
	}
	return server->status;
}

static int
open_signals(void)
{
	struct sigaction hangup;
	sigset_t set;

	sigemptyset(&set);
	/* nohup(1), and detach_signals(), have it ignored, so that a process outlives its terminal. */
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return -1;
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static int
serve(struct server *server)
{
	int rc;

	server->signals = open_signals();
	if (server->options->on_demand)
		server->rival = folder_watch(server->folder);
	if (server->signals < 0 || watch(server, server->signals, &server->signals) != 0 ||
			watch(server, server->listener, &server->listener) != 0 ||
			(server->rival >= 0 && watch(server, server->rival, &server->rival) != 0)) {
		say_errno("epoll");
		return EXIT_FAILURE;
	}
	if (server->uplink.dir == NULL)
		say_ready(server);
	rc = loop(server);
	notify("STOPPING=1");
	folder_unlink_socket(server->folder);
	conns_end(&server->conns);
	uplink_child_end(&server->uplink);
	close(server->signals);
	if (server->rival >= 0)
		close(server->rival);
	return rc;
}

int
server_run(const struct options *options, const struct folder *folder, int listener)
{
	const struct broker_host host = host_of(&folder->numbers);
	struct server server = {
		.options = options, .folder = folder, .listener = listener, .rival = -1
	};
	struct broker *broker = broker_create(&host, (uint32_t)getpid());
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int rc = EXIT_FAILURE;

	if (broker == NULL || epoll < 0) {
		say_errno("no memory, or no epoll");
	} else {
		conns_init(&server.conns, broker, epoll);
		if (options->port != NULL)
			broker_expect_uplink(broker);
		rc = uplink_child_init(&server.uplink, options, folder->path);
		if (rc == 0)
			rc = serve(&server);
	}
	if (epoll >= 0)
		close(epoll);
	broker_destroy(broker);
	closer_close(server.listener);
	return rc;
}
