/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_OBJ_H
#define DAPL_OBJ_H

/**
 * @file
 * The head of every object, and what handles are: pointers to it.
 *
 * The first word is the provider's table of calls, because DAT dispatches through
 * it (DAT_HANDLE_TO_PROVIDER). The tag behind it tells kind and life: a handle is
 * good when its tag is that of the kind asked for, and freeing an object spoils
 * the tag. Freed memory waits in a graveyard before it is used again, so that a
 * stale handle is answered with DAT_INVALID_HANDLE instead of a crash.
 *
 * Objects have no locks. The list of an adapter's objects is protected by the
 * lock of its engine 0, and changed under that of forks, too (ethdev/fork.h).
 * @c users is atomic, since DAT allows two threads to create children of one
 * object at the same time.
 *
 * Rules of all calls of lib/dapl, which has the semantics of DAT without its types: the front (lib/front) has checked every
 * handle and argument, so these calls validate only state and resources. A call that fails changes nothing. Results go
 * through an out pointer, written only on success.
 *
 * Threads: creating is safe from any thread; any other call on one object must not
 * overlap another on the same object, except where its comment says so. State of an
 * endpoint and its connection changes under the locks of engine 0 and of the engine
 * of its queue pair (in that order); upcalls of the engine hold only the latter.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_branch_prediction.h>

#include "dapl/status.h"

struct dapl_ia;

enum dapl_type {
	DAPL_IA = 1,
	DAPL_PZ,
	DAPL_LMR,
	DAPL_RMR,
	DAPL_SRQ,
	DAPL_EP,
	DAPL_EVD,
	DAPL_PSP,
	DAPL_CR,
	DAPL_RSP,
	DAPL_CNO,
	DAPL_TYPES,
};

/** Upper 28 bits of the tag of a live object; the type is below. */
#define DAPL_MAGIC 0xda91c0d0u

struct dapl_obj {
	const void *provider; /**< table of calls; must be the first word (DAT ABI) */
	uint32_t tag;         /**< DAPL_MAGIC | type while the handle is good */
	uint32_t users;       /**< objects that need this one; atomic */
	struct dapl_ia *ia;   /**< owner; an adapter owns itself */
	uint64_t context;     /**< the consumer's */
	TAILQ_ENTRY(dapl_obj) link;
};

TAILQ_HEAD(dapl_obj_list, dapl_obj);

/**
 * No object has a lower address: handles that are less are null, or numbers of a registry. libdat2 has such for adapters,
 * and a consumer may name one where another object is wanted.
 */
#define DAPL_NO_OBJECT 4096u

/** The object behind a handle; NULL when it is not a live object of @p type. Any thread. */
static inline void *
dapl_obj_check(void *handle, enum dapl_type type)
{
	const struct dapl_obj *obj = handle;

	if (unlikely((uintptr_t)obj < DAPL_NO_OBJECT || ((uintptr_t)obj & 7) != 0 ||
			    obj->tag != (DAPL_MAGIC | type)))
		return NULL;
	return handle;
}

/** As dapl_obj_check() for a child of @p ia: objects of different open adapters do not mix. */
static inline void *
dapl_obj_of(const struct dapl_ia *ia, void *handle, enum dapl_type type)
{
	const struct dapl_obj *obj = dapl_obj_check(handle, type);

	return obj != NULL && obj->ia == ia ? handle : NULL;
}

/** Type of a live object of any kind; 0 when the handle is bad. Any thread. */
unsigned int dapl_obj_type(const void *handle);

/**
 * Memory for an object: zeroed, cache-line aligned, with its head filled but not yet a good handle.
 * @param ia  its owner; NULL for an adapter, which owns itself and stamps its own provider word.
 * @return NULL when there is no memory. Undone by dapl_obj_free().
 */
void *dapl_obj_alloc(size_t size, struct dapl_ia *ia);

/** Make the handle good and put the object on its owner's list. Takes the lock of engine 0. */
void dapl_obj_publish(void *object, enum dapl_type type);

/** As dapl_obj_publish(), with the lock of engine 0 held by the caller. */
void dapl_obj_publish_locked(void *object, enum dapl_type type);

/** Spoil the handle and take the object off its owner's list. Takes the lock of engine 0. */
void dapl_obj_retire(void *object);

/** As dapl_obj_retire(), with the lock of engine 0 held by the caller. */
void dapl_obj_retire_locked(void *object);

/** Lay the memory of a retired (or never published) object into the graveyard. Any thread. */
void dapl_obj_free(void *object);

/** In a child, whose parent's threads are gone: nobody has a lock of this file. */
void dapl_obj_forget_parent(void);

/** Note that another object needs @p object; NULL is allowed. Any thread. */
void dapl_obj_use(void *object);

/** Undo dapl_obj_use(). */
void dapl_obj_drop(void *object);

/** True while another object needs @p object. */
int dapl_obj_in_use(const void *object);

#endif
