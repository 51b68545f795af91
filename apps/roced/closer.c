/* SPDX-License-Identifier: BSD-3-Clause */
#include "closer.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* When all of these wait, descriptors stay open. */
#define THREADS_MAX 8
#define STACK_BYTES 65536

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more;
	int *fd; /* a stack: the order means nothing */
	unsigned int n, room;
	unsigned int threads, idle;
} closer = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER };

static void *
run(void *arg)
{
	pthread_mutex_lock(&closer.lock);
	for (;;) {
		int fd;

		while (closer.n == 0)
			pthread_cond_wait(&closer.more, &closer.lock);
		fd = closer.fd[--closer.n];
		closer.idle--;
		pthread_mutex_unlock(&closer.lock);
		close(fd);
		pthread_mutex_lock(&closer.lock);
		closer.idle++;
	}
	return NULL;
}

/* The lock is held. */
static void
start_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (closer.threads == THREADS_MAX || pthread_attr_init(&attr) != 0)
		return;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (pthread_create(&thread, &attr, run, NULL) == 0) {
		closer.threads++;
		closer.idle++;
	}
	pthread_attr_destroy(&attr);
}

/* The lock is held. */
static int
push(int fd)
{
	if (closer.n == closer.room) {
		unsigned int room = closer.room == 0 ? 64 : 2 * closer.room;
		int *more = realloc(closer.fd, room * sizeof(*more));

		if (more == NULL)
			return -1;
		closer.fd = more;
		closer.room = room;
	}
	closer.fd[closer.n++] = fd;
	return 0;
}

void
closer_close(int fd)
{
	int rc = -1;

	pthread_mutex_lock(&closer.lock);
	if (closer.idle <= closer.n)
		start_thread();
	if (closer.threads > 0)
		rc = push(fd);
	pthread_cond_signal(&closer.more);
	pthread_mutex_unlock(&closer.lock);
	if (rc != 0)
		close(fd);
}

void
closer_refuse(int fd)
{
	const int no = 0;

	setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &no, sizeof(no));
}
