/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All open adapters of the process, and who polls them. A consumer polls its own and, now and then, the others; the
 * progress thread (progress_thread.c) polls those that nobody else does.
 */

#include <string.h>

#include <rte_common.h>
#include <rte_spinlock.h>

#include "dapl/evd.h"
#include "dapl/ia.h"
#include "dapl/ia_list.h"
#include "dapl/notify.h"
#include "dapl/obj.h"
#include "queue/bias.h"
#include "roce/device.h"

/** Looks in passing after which an adapter counts as left alone by the thread that polled it: some ten microseconds. */
#define POLLS_MAX 16u

static TAILQ_HEAD(ia_list, dapl_ia) open_ias = TAILQ_HEAD_INITIALIZER(open_ias);
static rte_spinlock_t open_lock = RTE_SPINLOCK_INITIALIZER;
static unsigned int open_count; /* written under the lock, read without */
static unsigned int open_idle;  /* those that stand still unless somebody polls them; likewise */

/* The thread that polls the adapters of the list, under its lock. 0: none. */
static uintptr_t walker; /* atomic */
static bool deferred;    /* it is to call dapl_wake(); its own */

bool
dapl_ia_defer_wake(void)
{
	if (__atomic_load_n(&walker, __ATOMIC_RELAXED) != roce_bias_self())
		return false;
	deferred = true;
	return true;
}

static bool
begin_walk(void)
{
	if (!rte_spinlock_trylock(&open_lock))
		return false;
	__atomic_store_n(&walker, roce_bias_self(), __ATOMIC_RELAXED);
	return true;
}

/* Notifications that became due meanwhile are delivered now: agents open and close adapters, or wait for such a thread. */
static void
end_walk(void)
{
	bool wake = deferred;

	deferred = false;
	__atomic_store_n(&walker, 0, __ATOMIC_RELAXED);
	rte_spinlock_unlock(&open_lock);
	if (wake)
		dapl_wake(NULL);
}

void
dapl_ia_enlist(struct dapl_ia *ia)
{
	rte_spinlock_lock(&open_lock);
	TAILQ_INSERT_TAIL(&open_ias, ia, link);
	__atomic_store_n(&open_count, open_count + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&open_idle, open_idle + !ia->attr.serviced, __ATOMIC_RELEASE);
	rte_spinlock_unlock(&open_lock);
}

void
dapl_ia_delist(struct dapl_ia *ia)
{
	rte_spinlock_lock(&open_lock);
	TAILQ_REMOVE(&open_ias, ia, link);
	__atomic_store_n(&open_count, open_count - 1, __ATOMIC_RELEASE);
	__atomic_store_n(&open_idle, open_idle - !ia->attr.serviced, __ATOMIC_RELEASE);
	rte_spinlock_unlock(&open_lock);
}

void
dapl_ia_forget_parent(void)
{
	rte_spinlock_init(&open_lock);
	TAILQ_INIT(&open_ias);
	open_count = 0;
	open_idle = 0;
	walker = 0;
	deferred = false;
}

void
dapl_ia_drop_async_of(const struct dapl_ia *ia)
{
	struct dapl_ia *other;

	rte_spinlock_lock(&open_lock);
	TAILQ_FOREACH(other, &open_ias, link) {
		struct dapl_evd *evd = other->async_evd;

		if (evd == NULL || evd->head.ia != ia)
			continue;
		__atomic_store_n(&other->async_evd, NULL, __ATOMIC_RELEASE);
		dapl_obj_drop(evd);
	}
	rte_spinlock_unlock(&open_lock);
}

bool
dapl_ia_is_open(const char *name)
{
	const struct dapl_ia *ia;

	rte_spinlock_lock(&open_lock);
	TAILQ_FOREACH(ia, &open_ias, link)
		if (strcmp(ia->name, name) == 0)
			break;
	rte_spinlock_unlock(&open_lock);
	return ia != NULL;
}

/* Does another thread poll here? No longer, when others have polled so often since and it has not. */
static bool
is_attended(struct dapl_ia *ia)
{
	uintptr_t poller = __atomic_load_n(&ia->poller, __ATOMIC_RELAXED);
	uint32_t polls;

	if (poller == 0 || poller == roce_bias_self())
		return false;
	polls = __atomic_load_n(&ia->polls_by_others, __ATOMIC_RELAXED);
	if ((polls & ~DAPL_VISITED) >= POLLS_MAX)
		return false;
	__atomic_store_n(&ia->polls_by_others, polls + 1, __ATOMIC_RELAXED);
	return true;
}

static unsigned int
poll_others(const struct dapl_ia *ia, bool skip_polled)
{
	struct dapl_ia *other;
	unsigned int moved = 0;

	/* The holder of the lock polls them, or opens or closes one: no need to queue up behind. */
	if (__atomic_load_n(&open_count, __ATOMIC_ACQUIRE) < (ia != NULL ? 2 : 1) || !begin_walk())
		return 0;
	TAILQ_FOREACH(other, &open_ias, link)
		if ((ia == NULL || other->domain != ia->domain) && !other->attr.serviced &&
				!(skip_polled && is_attended(other))) {
			dapl_ia_polled(other);
			moved += roce_device_poll(other->device);
		}
	end_walk();
	return moved;
}

/* Several instances may share a device: one of them that is polled is enough. The lock is held. */
static bool
is_unpolled(const struct dapl_ia *ia)
{
	const struct dapl_ia *other;

	TAILQ_FOREACH(other, &open_ias, link)
		if (other->domain == ia->domain && !other->unpolled)
			return false;
	return true;
}

unsigned int
dapl_ia_poll_unpolled(enum dapl_polling *polling)
{
	struct dapl_ia *ia;
	unsigned int moved = 0;

	*polling = DAPL_POLLED;
	if (!begin_walk())
		return 0;
	*polling = DAPL_NOT_BEGUN;
	TAILQ_FOREACH(ia, &open_ias, link)
		ia->unpolled = (__atomic_fetch_or(&ia->polls_by_others, DAPL_VISITED,
						__ATOMIC_RELAXED) &
					       DAPL_VISITED) != 0;
	TAILQ_FOREACH(ia, &open_ias, link) {
		if (!ia->progress_thread || !__atomic_load_n(&ia->begun, __ATOMIC_SEQ_CST))
			continue;
		*polling = RTE_MAX(*polling, is_unpolled(ia) ? DAPL_UNPOLLED : DAPL_POLLED);
		if (is_unpolled(ia))
			moved += roce_device_poll(ia->device);
	}
	end_walk();
	return moved;
}

unsigned int
dapl_ia_poll_automatic(void)
{
	struct dapl_ia *ia;
	unsigned int moved = 0;

	if (!begin_walk())
		return 0;
	TAILQ_FOREACH(ia, &open_ias, link)
		if (ia->progress_thread)
			moved += roce_device_poll(ia->device);
	end_walk();
	return moved;
}

unsigned int
dapl_ia_poll_others(const struct dapl_ia *ia)
{
	return poll_others(ia, false);
}

void
dapl_ia_poll_unattended(const struct dapl_ia *ia)
{
	poll_others(ia, true);
}

bool
dapl_ia_must_poll(const struct dapl_ia *ia)
{
	return !ia->attr.serviced || __atomic_load_n(&open_idle, __ATOMIC_RELAXED) != 0;
}

bool
dapl_ia_is_alone(const struct dapl_ia *ia)
{
	const struct dapl_ia *other;

	if (!rte_spinlock_trylock(&open_lock))
		return false;
	TAILQ_FOREACH(other, &open_ias, link)
		if (other->domain != ia->domain && !other->attr.serviced)
			break;
	rte_spinlock_unlock(&open_lock);
	return other == NULL;
}
