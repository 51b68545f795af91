/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A child of fork(2) has no adapter: the handles of its parent are bad there. Only the heads of objects are written,
 * which are memory of the process; rings, hugepages and what the engines have are the parent's, too, and left alone.
 */

#include <pthread.h>

#include "dapl/fork.h"
#include "dapl/ia.h"
#include "dapl/ia_list.h"
#include "dapl/obj.h"
#include "dapl/progress_thread.h"
#include "dapl/wait.h"
#include "ethdev/fork.h"

/* All adapters whose objects may have good handles; under the lock of forks. */
static TAILQ_HEAD(, dapl_ia) alive = TAILQ_HEAD_INITIALIZER(alive);

static void
spoil(struct dapl_ia *ia)
{
	struct dapl_obj *obj;

	TAILQ_FOREACH(obj, &ia->objects, link)
		obj->tag = 0;
	ia->head.tag = 0;
}

/* They stay on the list: nothing else in the child leads to their memory. */
static void
forget_parent(void *arg)
{
	struct dapl_ia *ia;

	TAILQ_FOREACH(ia, &alive, alive)
		spoil(ia);
	dapl_obj_forget_parent();
	dapl_ia_forget_parent();
	dapl_wait_forget_parent();
	dapl_progress_thread_forget_parent();
}

static void
register_fork(void)
{
	static struct roce_fork fork = { .child = forget_parent };

	roce_fork_add(&fork);
}

void
dapl_fork_watch(struct dapl_ia *ia)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_fork);
	roce_fork_lock();
	TAILQ_INSERT_TAIL(&alive, ia, alive);
	roce_fork_unlock();
}

void
dapl_fork_unwatch(struct dapl_ia *ia)
{
	roce_fork_lock();
	TAILQ_REMOVE(&alive, ia, alive);
	roce_fork_unlock();
}
