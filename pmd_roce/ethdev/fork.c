/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/fork.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_spinlock.h>

static rte_spinlock_t lock = RTE_SPINLOCK_INITIALIZER;
static LIST_HEAD(, roce_fork) functions = LIST_HEAD_INITIALIZER(functions);
static bool begun; /* under the lock */

#define DESCRIPTORS_MAX 1024

/** One that children close, as long as its number stands for that file. */
struct descriptor {
	int fd;
	dev_t device;
	ino_t inode;
};

/* Under the lock. */
static struct descriptor descriptors[DESCRIPTORS_MAX];
static unsigned int descriptors_n;

static bool child; /* written in the child only, before it has a second thread */

void
roce_fork_lock(void)
{
	rte_spinlock_lock(&lock);
}

void
roce_fork_unlock(void)
{
	rte_spinlock_unlock(&lock);
}

void
roce_fork_add(struct roce_fork *fork)
{
	roce_fork_lock();
	LIST_INSERT_HEAD(&functions, fork, link);
	roce_fork_unlock();
}

void
roce_fork_remove(struct roce_fork *fork)
{
	roce_fork_lock();
	LIST_REMOVE(fork, link);
	roce_fork_unlock();
}

/* False: it is none. */
static bool
look_at(int fd, struct descriptor *out)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return false;
	*out = (struct descriptor){ .fd = fd, .device = st.st_dev, .inode = st.st_ino };
	return true;
}

static bool
is_same(const struct descriptor *a, const struct descriptor *b)
{
	return a->device == b->device && a->inode == b->inode;
}

/* Where to note descriptor @p fd: its place, the first of one that was closed since, or the end. Under the lock. */
static unsigned int
place_of(int fd)
{
	struct descriptor now;
	unsigned int i;

	for (i = 0; i < descriptors_n; i++)
		if (descriptors[i].fd == fd)
			return i;
	if (descriptors_n < DESCRIPTORS_MAX)
		return i;
	for (i = 0; i < descriptors_n; i++)
		if (!look_at(descriptors[i].fd, &now) || !is_same(&now, &descriptors[i]))
			break;
	return i;
}

void
roce_fork_close(int fd)
{
	struct descriptor is;
	unsigned int i;

	if (!look_at(fd, &is))
		return;
	roce_fork_lock();
	i = place_of(fd);
	if (i < DESCRIPTORS_MAX)
		descriptors[i] = is;
	if (i == descriptors_n && i < DESCRIPTORS_MAX)
		descriptors_n++;
	roce_fork_unlock();
}

static void
close_descriptors(void)
{
	struct descriptor now;

	for (unsigned int i = 0; i < descriptors_n; i++)
		if (look_at(descriptors[i].fd, &now) && is_same(&now, &descriptors[i]))
			close(descriptors[i].fd);
	descriptors_n = 0;
}

static void
in_child(void)
{
	struct roce_fork *fork;

	if (begun) {
		child = true;
		close_descriptors();
		LIST_FOREACH(fork, &functions, link)
			fork->child(fork->arg);
	}
	roce_fork_unlock();
}

/* @return 0, or the error of pthread_atfork(3), which may be asked again. */
static int
watch_forks(void)
{
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	static bool registered;
	int rc = 0;

	pthread_mutex_lock(&once);
	if (!registered)
		rc = pthread_atfork(roce_fork_lock, roce_fork_unlock, in_child);
	registered = rc == 0;
	pthread_mutex_unlock(&once);
	return rc;
}

static void
set_begun(bool on)
{
	roce_fork_lock();
	begun = on;
	roce_fork_unlock();
}

int
roce_fork_begin(void)
{
	if (watch_forks() != 0)
		return -ENOMEM;
	set_begun(true);
	return 0;
}

void
roce_fork_cancel(void)
{
	set_begun(false);
}

bool
roce_fork_is_child(void)
{
	return child;
}
