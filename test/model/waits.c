/* SPDX-License-Identifier: BSD-3-Clause */

#include "waits.h"

#include "dapl/ia_list.h"
#include "dapl/signals.h"
#include "memory.h"
#include "scheduler.h"

/** Threads that sleep: on which eventcount, and the lock that they get when they are woken. */
struct bed {
	const void *on;
	rte_spinlock_t gate;
};

struct waits waits;

static struct bed *bed;

/* ---- what wait.c, notify.c and cno.c ask of others ---- */

uintptr_t model_thread(void);
int model_nap(const struct timespec *time, struct timespec *left);

uintptr_t
model_thread(void)
{
	return (uintptr_t)model_self() + 2;
}

int
model_nap(const struct timespec *time, struct timespec *left)
{
	model_fail("nobody naps here");
	return 0;
}

uint64_t
roce_device_now(const struct roce_device *device)
{
	return 1;
}

uint64_t
roce_device_hz(const struct roce_device *device)
{
	return 1000000;
}

unsigned int
roce_device_poll(struct roce_device *device)
{
	return 0;
}

uint64_t
roce_device_deadline(struct roce_device *device)
{
	return UINT64_MAX;
}

/* A descriptor on which nothing comes: all that is left to wake is the count. */
int
roce_device_rx_arm(struct roce_device *device)
{
	return 0;
}

void
roce_device_rx_disarm(struct roce_device *device)
{
}

bool
roce_device_tells_posts(const struct roce_device *device)
{
	return false;
}

bool
dapl_ia_is_alone(const struct dapl_ia *ia)
{
	return true;
}

bool
dapl_ia_must_poll(const struct dapl_ia *ia)
{
	return false;
}

bool
dapl_ia_defer_wake(void)
{
	return false;
}

unsigned int
dapl_ia_poll_others(const struct dapl_ia *ia)
{
	return 0;
}

void *
dapl_obj_alloc(size_t size, struct dapl_ia *ia)
{
	return NULL;
}

void
dapl_obj_publish(void *object, enum dapl_type type)
{
}

void
dapl_obj_retire(void *object)
{
}

void
dapl_obj_free(void *object)
{
}

void
dapl_obj_use(void *object)
{
	struct dapl_obj *obj = object;

	if (obj != NULL)
		obj->users++;
}

void
dapl_obj_drop(void *object)
{
	struct dapl_obj *obj = object;

	if (obj != NULL)
		obj->users--;
}

int
dapl_obj_in_use(const void *object)
{
	return ((const struct dapl_obj *)object)->users != 0;
}

/* ---- signals: none comes ---- */

void
dapl_signals_hold(struct dapl_signals *signals)
{
}

bool
dapl_signals_let_in(const struct dapl_signals *signals)
{
	return false;
}

void
dapl_signals_release(const struct dapl_signals *signals)
{
}

/* ---- sleep ---- */

/* To look at the count and to lie down is one step. */
bool
dapl_eventcount_sleep_on(const struct dapl_eventcount *e, uint32_t seen, uint64_t ns, int readable,
		struct dapl_bed *bed_of)
{
	static const struct model_access a = { sizeof(e->count), __ATOMIC_SEQ_CST, "the count",
		"sleep" };
	struct bed *mine = &bed[model_self()];

	if (model_load(&e->count, &a) != seen)
		return true;
	mine->on = e;
	mine->gate.locked = 1;
	model_lock(&mine->gate, "the bed", "sleep");
	mine->gate.locked = 0;
	return true;
}

void
dapl_bed_leave(struct dapl_bed *bed_of)
{
}

/* Wake the threads that sleep. To the explorer this writes the count: it is one step before or behind lying down. */
void
dapl_eventcount_wake(const struct dapl_eventcount *e)
{
	static const struct model_access a = { sizeof(e->count), __ATOMIC_RELAXED, "the count",
		"wake" };
	int woken[MODEL_THREADS], n = 0;

	(void)model_add((void *)(uintptr_t)&e->count, 0, &a);
	for (int t = 0; t < MODEL_THREADS; t++) {
		if (bed[t].on != e)
			continue;
		bed[t].on = NULL;
		bed[t].gate.locked = model_self() + 2;
		woken[n++] = t;
	}
	for (int i = 0; i < n; i++)
		model_unlock(&bed[woken[i]].gate, "a bed", "wake");
}

/* ---- the world ---- */

static void
delivered(void *owner, int n)
{
	dapl_evd_notify(owner, (uint32_t)n);
}

static void
hear(void *data, void *evd)
{
	waits.calls++;
}

void
waits_set_agent(void)
{
	waits.cno[0]->agent = (struct dapl_agent){ .call = hear };
}

void
waits_make(unsigned int engines, unsigned int evds, uint32_t depth)
{
	const struct world_options options = {
		.engines = engines,
		.cqs = evds,
		.max = 1,
		.cq_depth = depth,
	};

	world_make(&options);
	world.armed = true;
	world.delivered = delivered;
	world.wake = dapl_wake;
	memory_adopt(&dapl_rung, sizeof(dapl_rung));
	dapl_rung = (struct dapl_rung){ .lock = RTE_SPINLOCK_INITIALIZER };
	TAILQ_INIT(&dapl_rung.list);
	waits = (struct waits){ .ia = memory_alloc(NULL, sizeof(*waits.ia)) };
	waits.ia->attr.serviced = true;
	bed = memory_alloc(NULL, sizeof(*bed) * MODEL_THREADS);
	for (unsigned int i = 0; i < WAITS_CNOS; i++) {
		struct dapl_cno *cno = memory_alloc(NULL, sizeof(*cno));

		cno->head.ia = waits.ia;
		cno->waiters.cno = cno;
		TAILQ_INIT(&cno->fired);
		TAILQ_INIT(&cno->undelivered);
		waits.cno[i] = cno;
	}
	for (unsigned int i = 0; i < evds; i++) {
		struct dapl_evd *evd = memory_alloc(NULL, sizeof(*evd));

		evd->head.ia = waits.ia;
		evd->cq = world.cq[i];
		evd->cq->owner = evd;
		waits.evd[i] = evd;
	}
}

void
waits_end(void)
{
	if (!TAILQ_EMPTY(&dapl_rung.list))
		model_fail("somebody is still to be woken");
	for (unsigned int i = 0; i < world.cqs; i++) {
		if (waits.evd[i]->cno != NULL)
			dapl_evd_set_cno(waits.evd[i], NULL);
		if (world.cq[i]->waiters != 0)
			model_fail("a queue without waiters is armed");
		memory_free(NULL, waits.evd[i]);
	}
	for (unsigned int i = 0; i < WAITS_CNOS; i++)
		memory_free(NULL, waits.cno[i]);
	memory_free(NULL, bed);
	memory_free(NULL, waits.ia);
	world_end();
}

void
waits_push(unsigned int evd, unsigned int engine)
{
	const struct roce_event event = { .kind = ROCE_EVENT_USER };
	struct roce_engine *e = world.domain->engine[engine];

	roce_engine_lock(e);
	if (!roce_cq_push(world.cq[evd], &event))
		model_fail("there is no room");
	roce_engine_unlock(e);
}
