/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_IA_LIST_H
#define DAPL_IA_LIST_H

/**
 * @file
 * All open adapters of the process, and who polls them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dapl/ia.h"
#include "queue/bias.h"

/** The progress thread has visited the adapter, and no thread has polled its device since. */
#define DAPL_VISITED (UINT32_C(1) << 31)

/** The caller polls a dispatcher of this instance, and is about to poll its device. */
static inline void
dapl_ia_attend(struct dapl_ia *ia)
{
	uintptr_t self = roce_bias_self();

	if (__atomic_load_n(&ia->poller, __ATOMIC_RELAXED) != self)
		__atomic_store_n(&ia->poller, self, __ATOMIC_RELAXED);
	if (__atomic_load_n(&ia->polls_by_others, __ATOMIC_RELAXED) != 0)
		__atomic_store_n(&ia->polls_by_others, 0, __ATOMIC_RELAXED);
}

/** The caller polls its device in another way. */
static inline void
dapl_ia_polled(struct dapl_ia *ia)
{
	uint32_t polls = __atomic_load_n(&ia->polls_by_others, __ATOMIC_RELAXED);

	if ((polls & DAPL_VISITED) != 0)
		__atomic_store_n(&ia->polls_by_others, polls & ~DAPL_VISITED, __ATOMIC_RELAXED);
}

/**
 * Poll the devices of all other open adapters once, so that a caller who waits on one starves none. NULL: of all.
 * @return frames moved.
 */
unsigned int dapl_ia_poll_others(const struct dapl_ia *ia);

/**
 * The same for a caller who polls. Those that another thread polls all the time are left to it: what a poll needs is in
 * the caches of its processor, and not in those of the caller's.
 */
void dapl_ia_poll_unattended(const struct dapl_ia *ia);

/** Facts that the progress thread collects of all open adapters that use it. */
enum dapl_polling {
	DAPL_NOT_BEGUN, /**< none has listened or connected */
	DAPL_POLLED,    /**< other threads poll those that have, or walk over the adapters now */
	DAPL_UNPOLLED, /**< of at least one that has no thread has polled the device since the last visit */
};

/**
 * For the progress thread: poll once the devices that have begun and that nobody has polled since the last call.
 * @return frames moved.
 */
unsigned int dapl_ia_poll_unpolled(enum dapl_polling *polling);

/** For the progress thread: poll once every device that uses it. @return frames moved. */
unsigned int dapl_ia_poll_automatic(void);

/** @return true: the caller polls open adapters, and will call dapl_wake() when it has let go of their list. */
bool dapl_ia_defer_wake(void);

/** Add to the open adapters of the process; take out of them, after which no other thread polls its device. */
void dapl_ia_enlist(struct dapl_ia *ia);
void dapl_ia_delist(struct dapl_ia *ia);

/** No open adapter has a dispatcher of @p ia for its asynchronous events any more. */
void dapl_ia_drop_async_of(const struct dapl_ia *ia);

/** Does anything in this process stand still while nobody polls it? */
bool dapl_ia_must_poll(const struct dapl_ia *ia);

/** Do all open adapters that want polls have the device of @p ia? false, too, while another thread has the list. */
bool dapl_ia_is_alone(const struct dapl_ia *ia);

/** True while an instance of the adapter @p name is open. Any thread. */
bool dapl_ia_is_open(const char *name);

/** In a child of fork(2): no adapter is open, and nobody has a lock of ia_list.c. */
void dapl_ia_forget_parent(void);

#endif
