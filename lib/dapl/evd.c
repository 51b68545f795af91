/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "dapl/cno.h"
#include "dapl/cr.h"
#include "dapl/evd.h"
#include "dapl/event.h"
#include "dapl/ia.h"
#include "dapl/ia_list.h"
#include "dapl/notify.h"
#include "dapl/obj.h"
#include "dapl/status.h"
#include "engine/engine.h"
#include "engine/verbs.h"
#include "queue/bias.h"
#include "roce/device.h"

/** Empty dequeues between two polls of the other adapters: rarer than in wait.c, since they hold up a consumer at work. */
#define POLL_OTHERS 64

enum dapl_status
dapl_evd_create(struct dapl_ia *ia, uint32_t len, uint32_t streams, struct dapl_cno *cno,
		struct dapl_evd **evd)
{
	struct dapl_evd *e = dapl_obj_alloc(sizeof(*e), ia);

	if (e == NULL)
		return DAPL_NO_MEMORY;
	if (roce_cq_create(&ia->user.context, len, e, &e->cq) != 0) {
		dapl_obj_free(e);
		return DAPL_NO_MEMORY;
	}
	e->device = ia->device;
	e->serviced = ia->attr.serviced;
	e->streams = streams;
	dapl_obj_publish(e, DAPL_EVD);
	dapl_evd_set_cno(e, cno);
	*evd = e;
	return DAPL_OK;
}

/* A request whose event is lost cannot be answered: refuse it, as a full backlog would. */
static void
drop_events(struct dapl_evd *evd)
{
	struct roce_event event;

	while (roce_cq_poll(evd->cq, &event, 1) > 0)
		if (event.kind == DAPL_EVENT_CR && dapl_obj_check(event.owner, DAPL_CR) != NULL)
			dapl_cr_reject(event.owner, NULL, 0);
}

void
dapl_evd_destroy(struct dapl_evd *evd)
{
	dapl_obj_retire(evd);
	dapl_evd_leave_cno(evd);
	/* A waiter that left may still hold it. */
	rte_spinlock_lock(&evd->waiter_lock);
	rte_spinlock_unlock(&evd->waiter_lock);
	dapl_waiters_retire(&evd->waiters);
	drop_events(evd);
	roce_cq_destroy(evd->cq);
	dapl_obj_free(evd);
}

enum dapl_status
dapl_evd_free(struct dapl_evd *evd)
{
	if (evd == evd->head.ia->async_evd && evd->head.ia->async_own)
		return DAPL_EVD_ASYNC;
	if (dapl_obj_in_use(evd))
		return DAPL_EVD_IN_USE;
	if (__atomic_load_n(&evd->taker, __ATOMIC_ACQUIRE) == DAPL_TAKER_WAITER)
		return DAPL_EVD_WAITER;
	dapl_evd_destroy(evd);
	return DAPL_OK;
}

/*
 * The caller is the one who takes events, or the one who does waits for the lock that the caller has. Agents are called
 * when he is so no more (dapl_evd_resize()).
 */
static enum dapl_status
resize(struct dapl_evd *evd, uint32_t len)
{
	switch (roce_cq_resize_inner(evd->cq, len)) {
	case 0:
		return DAPL_OK;
	case -EBUSY:
		return DAPL_EVD_TOO_FULL;
	default:
		return DAPL_NO_MEMORY;
	}
}

/* A thread waits: between two looks it does not touch the ring. @return DAPL_BUSY: it has left. */
static enum dapl_status
resize_beside_waiter(struct dapl_evd *evd, uint32_t len)
{
	enum dapl_status status = DAPL_BUSY;

	rte_spinlock_lock(&evd->waiter_lock);
	/* An event that was taken before this thread began to wait is to be seen, too. */
	if (__atomic_load_n(&evd->taker, __ATOMIC_ACQUIRE) == DAPL_TAKER_WAITER)
		/* So many events would never be there. */
		status = evd->threshold > len ? DAPL_EVD_WAITER : resize(evd, len);
	rte_spinlock_unlock(&evd->waiter_lock);
	return status;
}

static enum dapl_status
resize_as_taker(struct dapl_evd *evd, uint32_t len)
{
	enum dapl_status status;

	if (!dapl_evd_take_over(evd, DAPL_TAKER_RESIZE))
		return DAPL_BUSY;
	status = resize(evd, len);
	__atomic_store_n(&evd->taker, DAPL_TAKER_NONE, __ATOMIC_RELEASE);
	return status;
}

enum dapl_status
dapl_evd_resize(struct dapl_evd *evd, uint32_t len)
{
	struct roce_engine *engine0 = evd->head.ia->engine0;
	enum dapl_status status;

	do {
		status = resize_as_taker(evd, len);
		if (status == DAPL_BUSY)
			status = resize_beside_waiter(evd, len);
	} while (status == DAPL_BUSY);
	roce_engine_wake(engine0);
	return status;
}

enum dapl_status
dapl_evd_post_software(struct dapl_evd *evd, uint64_t pointer)
{
	const struct roce_event event = { .kind = DAPL_EVENT_SOFTWARE, .wr_id = pointer };
	struct roce_engine *engine0 = evd->head.ia->engine0;
	bool room;

	roce_engine_lock(engine0);
	room = roce_cq_try_push(evd->cq, &event);
	roce_engine_unlock(engine0);
	return room ? DAPL_OK : DAPL_QUEUE_FULL;
}

static inline enum dapl_status
take_as_taker(struct dapl_evd *evd, struct roce_event *event)
{
	unsigned int taken;

	if (!dapl_evd_take_over(evd, DAPL_TAKER_DEQUEUE))
		return DAPL_EVD_WAITER;
	taken = roce_cq_poll(evd->cq, event, 1);
	roce_bias_try_acquire(&evd->bias);
	__atomic_store_n(&evd->taker, DAPL_TAKER_NONE, __ATOMIC_RELEASE);
	return taken != 0 ? DAPL_OK : DAPL_QUEUE_EMPTY;
}

static inline enum dapl_status
take_as_owner(struct dapl_evd *evd, struct roce_event *event, uint8_t entered)
{
	unsigned int taken = roce_cq_poll(evd->cq, event, 1);

	roce_bias_leave(&evd->bias, entered);
	return likely(taken != 0) ? DAPL_OK : DAPL_QUEUE_EMPTY;
}

/*
 * There was nothing: let the device work, then look again. That may call agents, which may make any call for this very
 * dispatcher: so nobody takes of it meanwhile, and it may be gone behind it. Its memory stays for a while (obj.h).
 */
static __rte_noinline enum dapl_status
dequeue_after_poll(struct dapl_evd *evd, struct roce_event *event)
{
	/* Threads that count at once lose a look: so be it. */
	uint32_t idle = __atomic_load_n(&evd->idle, __ATOMIC_RELAXED) + 1;
	uint8_t entered;

	__atomic_store_n(&evd->idle, idle, __ATOMIC_RELAXED);
	if (!evd->serviced) {
		dapl_ia_attend(evd->head.ia);
		roce_device_poll(evd->device);
	}
	if (idle % POLL_OTHERS == 0)
		dapl_ia_poll_unattended(evd->head.ia);
	if (unlikely(dapl_obj_check(evd, DAPL_EVD) == NULL) || roce_cq_count(evd->cq) == 0)
		return DAPL_QUEUE_EMPTY;
	entered = roce_bias_enter(&evd->bias);
	return entered != 0 ? take_as_owner(evd, event, entered) : take_as_taker(evd, event);
}

/* Another thread has been here lately, or this one not often enough. */
static __rte_noinline enum dapl_status
dequeue_shared(struct dapl_evd *evd, struct roce_event *event)
{
	enum dapl_status status = take_as_taker(evd, event);

	return likely(status != DAPL_QUEUE_EMPTY) ? status : dequeue_after_poll(evd, event);
}

enum dapl_status
dapl_evd_dequeue(struct dapl_evd *evd, struct roce_event *event)
{
	/* Any number of threads may dequeue (dat_evd_dequeue is MT safe), the queue itself has one consumer. */
	uint8_t entered = roce_bias_enter(&evd->bias);
	enum dapl_status status;

	if (unlikely(entered == 0))
		return dequeue_shared(evd, event);
	status = take_as_owner(evd, event, entered);
	return likely(status != DAPL_QUEUE_EMPTY) ? status : dequeue_after_poll(evd, event);
}
