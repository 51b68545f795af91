/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * close(2) of the last descriptor of a file can wait as long as the peer that passed it wants: for a socket with
 * SO_LINGER, for a file whose FUSE server is stopped. A thread that holds locks must not wait for that, so a thread of
 * its own closes what is neither memory nor an eventfd.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ethdev/memif_pvt.h"

/* More than the proxy lets come together (ROCE_MEMIF_CLOSING_MAX), with what one message and all handshakes have. */
#define ROOM 4096

/* Descriptors that are not closed yet. All of it: the lock. */
static struct {
	pthread_mutex_t lock;
	int fd[ROOM];
	unsigned int waiting;
	bool runs; /**< the thread that closes, which is detached and ends when nothing waits */
} closing = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *
close_all(void *arg)
{
	pthread_mutex_lock(&closing.lock);
	while (closing.waiting > 0) {
		int fd = closing.fd[--closing.waiting];

		pthread_mutex_unlock(&closing.lock);
		close(fd);
		pthread_mutex_lock(&closing.lock);
	}
	closing.runs = false;
	pthread_mutex_unlock(&closing.lock);
	return arg;
}

/* Signals are the program's, and its threads'. */
static bool
start_thread(void)
{
	sigset_t all, before;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, close_all, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0)
		return false;
	pthread_setname_np(thread, "roce-close");
	pthread_detach(thread);
	return true;
}

/* @return false: no room, or no thread. */
static bool
close_apart(int fd)
{
	bool taken;

	pthread_mutex_lock(&closing.lock);
	if (!closing.runs)
		closing.runs = start_thread();
	taken = closing.runs && closing.waiting < ROOM;
	if (taken)
		closing.fd[closing.waiting++] = fd;
	pthread_mutex_unlock(&closing.lock);
	return taken;
}

bool
roce_memif_is_anonymous(int fd)
{
	struct statx st = { 0 };
	struct stat old;

	/* As the kernel knows it: nobody is asked. */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) == 0)
		return (st.stx_mode & S_IFMT) == 0;
	return errno != EBADF && fstat(fd, &old) == 0 && (old.st_mode & S_IFMT) == 0;
}

void
roce_memif_close_passed(int fd)
{
	bool is_quick = fcntl(fd, F_GET_SEALS) >= 0 || roce_memif_is_anonymous(fd);

	if (is_quick || !close_apart(fd))
		close(fd);
}

/* Is there a message, even one of no bytes? The sender's name comes with each, and none with the end of the channel. */
static bool
has_unread(int fd)
{
	const int yes = 1;
	struct msghdr header = { .msg_iov = NULL };

	setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes));
	/* There is no room for any of it. */
	return recvmsg(fd, &header, MSG_PEEK | MSG_DONTWAIT) != 0 ||
			(header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
}

void
roce_memif_hang_up(int fd)
{
	/* No more messages come then; those that have come may have descriptors. */
	shutdown(fd, SHUT_RDWR);
	if (!has_unread(fd) || !close_apart(fd))
		close(fd);
}

bool
roce_memif_refuse_waiting(int fd)
{
	int peer;

	/* No more connections come then, and accept4() waits for none. */
	shutdown(fd, SHUT_RDWR);
	do {
		peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (peer >= 0)
			roce_memif_hang_up(peer);
	} while (peer >= 0 || errno == EINTR || errno == ECONNABORTED);
	return errno == EINVAL || errno == EAGAIN;
}

void
roce_memif_stop_listening(int fd)
{
	/* Without a descriptor for them, those that wait are closed with the listener. */
	if (roce_memif_refuse_waiting(fd) || !close_apart(fd))
		close(fd);
}

unsigned int
roce_memif_closing(void)
{
	unsigned int n;

	pthread_mutex_lock(&closing.lock);
	n = closing.waiting + (closing.runs ? 1 : 0);
	pthread_mutex_unlock(&closing.lock);
	return n;
}
