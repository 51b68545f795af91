/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_spinlock.h>

#include "dapl/ia.h"
#include "dapl/obj.h"
#include "engine/engine.h"
#include "ethdev/fork.h"

/** Objects that lie in the graveyard: DAT asks providers to delay the reuse of handle values. */
#define GRAVES 1024

#define TYPE_MASK 0xfu

static struct {
	rte_spinlock_t lock;
	unsigned int next;
	void *memory[GRAVES];
} graveyard = { .lock = RTE_SPINLOCK_INITIALIZER };

unsigned int
dapl_obj_type(const void *handle)
{
	const struct dapl_obj *obj = handle;
	uint32_t type;

	if ((uintptr_t)obj < DAPL_NO_OBJECT || ((uintptr_t)obj & 7) != 0)
		return 0;
	type = obj->tag & TYPE_MASK;
	if ((obj->tag & ~TYPE_MASK) != DAPL_MAGIC || type >= DAPL_TYPES)
		return 0;
	return type;
}

void *
dapl_obj_alloc(size_t size, struct dapl_ia *ia)
{
	struct dapl_obj *obj;

	size = RTE_ALIGN_CEIL(size, (size_t)RTE_CACHE_LINE_SIZE);
	obj = aligned_alloc(RTE_CACHE_LINE_SIZE, size);
	if (obj == NULL)
		return NULL;
	memset(obj, 0, size);
	obj->ia = ia;
	if (ia != NULL)
		obj->provider = ia->head.provider;
	return obj;
}

void
dapl_obj_publish_locked(void *object, enum dapl_type type)
{
	struct dapl_obj *obj = object;

	roce_fork_lock();
	TAILQ_INSERT_TAIL(&obj->ia->objects, obj, link);
	roce_fork_unlock();
	__atomic_store_n(&obj->tag, DAPL_MAGIC | type, __ATOMIC_RELEASE);
}

void
dapl_obj_publish(void *object, enum dapl_type type)
{
	struct dapl_obj *obj = object;

	roce_engine_lock(obj->ia->engine0);
	dapl_obj_publish_locked(obj, type);
	roce_engine_unlock(obj->ia->engine0);
}

void
dapl_obj_retire_locked(void *object)
{
	struct dapl_obj *obj = object;

	__atomic_store_n(&obj->tag, 0, __ATOMIC_RELEASE);
	roce_fork_lock();
	TAILQ_REMOVE(&obj->ia->objects, obj, link);
	roce_fork_unlock();
}

void
dapl_obj_retire(void *object)
{
	struct dapl_obj *obj = object;

	roce_engine_lock(obj->ia->engine0);
	dapl_obj_retire_locked(obj);
	roce_engine_unlock(obj->ia->engine0);
}

void
dapl_obj_free(void *object)
{
	void *oldest;

	rte_spinlock_lock(&graveyard.lock);
	oldest = graveyard.memory[graveyard.next];
	graveyard.memory[graveyard.next] = object;
	graveyard.next = (graveyard.next + 1) % GRAVES;
	rte_spinlock_unlock(&graveyard.lock);
	free(oldest);
}

void
dapl_obj_forget_parent(void)
{
	rte_spinlock_init(&graveyard.lock);
}

void
dapl_obj_use(void *object)
{
	struct dapl_obj *obj = object;

	if (obj != NULL)
		__atomic_fetch_add(&obj->users, 1, __ATOMIC_RELAXED);
}

void
dapl_obj_drop(void *object)
{
	struct dapl_obj *obj = object;

	if (obj != NULL)
		__atomic_fetch_sub(&obj->users, 1, __ATOMIC_RELEASE);
}

int
dapl_obj_in_use(const void *object)
{
	const struct dapl_obj *obj = object;

	return __atomic_load_n(&obj->users, __ATOMIC_ACQUIRE) != 0;
}
