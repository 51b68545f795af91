/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Connections that have ended, until the network has forgotten them. The queue pair and its id are told then, as
 * rdma_get_cm_event(3) says. One second is the longest time for which the connection manager keeps the ids of a connection.
 */

#include "verbs/rdmacm/cma.h"

#define TIMEWAIT_NS INT64_C(1000000000)

/* Under cma_lock, in the order of their ends; the number of them is atomic. */
static TAILQ_HEAD(, cma_id) waiting = TAILQ_HEAD_INITIALIZER(waiting);
static uint32_t count;

void
cma_timewait_begin(struct cma_id *id)
{
	if (id->timewait_until != 0)
		return;
	id->timewait_until = cma_now_ns() + TIMEWAIT_NS;
	TAILQ_INSERT_TAIL(&waiting, id, timewait);
	__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
}

void
cma_timewait_end(struct cma_id *id)
{
	if (id->timewait_until == 0)
		return;
	id->timewait_until = 0;
	TAILQ_REMOVE(&waiting, id, timewait);
	__atomic_fetch_sub(&count, 1, __ATOMIC_RELAXED);
}

void
cma_timewait_expire(void)
{
	struct cma_id *id;
	int64_t now;

	if (__atomic_load_n(&count, __ATOMIC_RELAXED) == 0)
		return;
	pthread_mutex_lock(&cma_lock);
	now = cma_now_ns();
	while ((id = TAILQ_FIRST(&waiting)) != NULL && id->timewait_until <= now) {
		cma_timewait_end(id);
		(void)cma_push(id, CMA_SLOT_EXIT, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	}
	pthread_mutex_unlock(&cma_lock);
}
