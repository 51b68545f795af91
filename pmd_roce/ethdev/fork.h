/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_FORK_H
#define ROCE_ETHDEV_FORK_H

/**
 * @file
 * Devices in a process that was forked.
 *
 * A child shares the parent's hugepages, rings and descriptors, has none of its threads, and cannot start the EAL a
 * second time. So everything that the parent opened is dead in the child: modules register a function that runs in the
 * child (pthread_atfork(3)) before fork(2) returns there, spoils handles and closes descriptors, and touches no memory
 * that the parent shares.
 *
 * One lock is held across a fork. Data that such a function reads are changed under it, so they are whole in the child. The lock
 * is innermost of all: its holder calls nothing. Other locks may be held by threads that the child does not have; the
 * function initialises those of its module that the child still needs.
 */

#include <stdbool.h>

#include <sys/queue.h>

/** A function for children; it stays the caller's, and in place from roce_fork_add() to roce_fork_remove(). */
struct roce_fork {
	void (*child)(void *arg); /**< runs with the lock held, on the only thread of the child */
	void *arg;
	LIST_ENTRY(roce_fork) link;
};

/** Any thread. The function is called in children that are forked from now on. */
void roce_fork_add(struct roce_fork *fork);

/** Undo roce_fork_add(). Any thread. */
void roce_fork_remove(struct roce_fork *fork);

/**
 * Have children close a descriptor: the peer of a connection shall see its end when this process ends, though a child
 * lives on. A program that a child executes is for FD_CLOEXEC.
 *
 * It need not be undone: in a child only a descriptor that is still the same file is closed. Up to 1024 are known.
 */
void roce_fork_close(int fd);

/** The lock that is held across a fork. */
void roce_fork_lock(void);
void roce_fork_unlock(void);

/**
 * From now on a child of this process is one that can open nothing: the EAL is about to start, or runs. Idempotent.
 * @return 0; -ENOMEM: the process could not be asked to tell of its forks.
 */
int roce_fork_begin(void);

/** The EAL did not start after all. */
void roce_fork_cancel(void);

/** Was this process forked, without an exec, from one that had called roce_fork_begin()? */
bool roce_fork_is_child(void);

#endif
