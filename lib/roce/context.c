/* SPDX-License-Identifier: BSD-3-Clause */

/* A context: its life, and the events of its objects. */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "user.h"

/* Under the lock of an engine: the async event is pending already. */
static void
notify(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	roce_user_signal(arg);
}

/* Under the locks of all engines. An event that was not polled is overtaken: the link is as delivered last. */
static void
port_notify(void *arg, enum roce_port_event what)
{
	static const uint32_t bits[] = {
		[ROCE_PORT_ACTIVE] = 1u << ROCE_ASYNC_PORT_ACTIVE,
		[ROCE_PORT_ERR] = 1u << ROCE_ASYNC_PORT_ERR,
		[ROCE_DEVICE_FATAL] = 1u << ROCE_ASYNC_DEVICE_FATAL,
	};
	struct roce_user *user = arg;
	uint32_t now = __atomic_load_n(&user->port_events, __ATOMIC_RELAXED);
	uint32_t next;

	do {
		next = now;
		if (what != ROCE_DEVICE_FATAL)
			next &= ~(bits[ROCE_PORT_ACTIVE] | bits[ROCE_PORT_ERR]);
		next |= bits[what];
	} while (!__atomic_compare_exchange_n(
			&user->port_events, &now, next, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	roce_user_signal(user);
}

/* Take one pending event of the port. @return false: there is none. */
static bool
take_port_event(struct roce_user *user, struct roce_async_event *event)
{
	uint32_t now = __atomic_load_n(&user->port_events, __ATOMIC_ACQUIRE);
	uint32_t lowest = now & -now;

	if (now == 0)
		return false;
	__atomic_fetch_and(&user->port_events, ~lowest, __ATOMIC_ACQ_REL);
	*event = (struct roce_async_event){ .type = (enum roce_async_event_type)rte_bsf32(lowest) };
	return true;
}

int
roce_context_create(struct roce_device *device, struct roce_context **context)
{
	struct roce_user *user = roce_user_alloc(sizeof(*user));

	if (user == NULL)
		return -ENOMEM;
	user->device = device;
	roce_device_query(device, &user->attr);
	user->engine0 = roce_domain_engine(roce_device_domain(device), 0);
	user->cm = roce_device_cm(device);
	roce_async_queue_init(&user->async_queue);
	TAILQ_INIT(&user->cm_pending);
	rte_spinlock_init(&user->fd_lock);
	user->fd = -1;
	user->joined = (struct roce_device_user){
		.context = { .async_queue = &user->async_queue },
		.notify = notify,
		.cm_notify = roce_cm_id_notify,
		.port_notify = port_notify,
		.arg = user,
	};
	roce_device_join(device, &user->joined);
	*context = &user->joined.context;
	return 0;
}

int
roce_context_destroy(struct roce_context *context)
{
	struct roce_user *user;

	if (context == NULL)
		return 0;
	user = roce_user_of(context);
	if (__atomic_load_n(&context->users, __ATOMIC_ACQUIRE) != 0)
		return -EBUSY;
	roce_device_leave(user->device, &user->joined);
	if (user->fd >= 0)
		close(user->fd);
	free(user);
	return 0;
}

struct roce_device *
roce_context_device(const struct roce_context *context)
{
	return container_of(context, const struct roce_user, joined.context)->device;
}

static enum roce_async_event_type
type_of(enum roce_engine_async kind)
{
	switch (kind) {
	case ROCE_ENGINE_ASYNC_QP_BROKEN:
		return ROCE_ASYNC_QP_FATAL;
	case ROCE_ENGINE_ASYNC_CQ_OVERFLOW:
		return ROCE_ASYNC_CQ_ERR;
	case ROCE_ENGINE_ASYNC_SRQ_LOW:
		return ROCE_ASYNC_SRQ_LIMIT;
	case ROCE_ENGINE_ASYNC_QP_SOFT_HIGH:
		return ROCE_ASYNC_QP_HIGH;
	case ROCE_ENGINE_ASYNC_QP_COMM_EST:
		return ROCE_ASYNC_QP_COMM_EST;
	case ROCE_ENGINE_ASYNC_QP_LAST_WQE:
		return ROCE_ASYNC_QP_LAST_WQE;
	case ROCE_ENGINE_ASYNC_SQ_DRAINED:
		return ROCE_ASYNC_SQ_DRAINED;
	default:
		return ROCE_ASYNC_CQ_READY;
	}
}

int
roce_context_poll(struct roce_context *context, struct roce_async_event *event)
{
	struct roce_user *user = roce_user_of(context);
	enum roce_engine_async kind;
	void *owner;
	int status;

	if (take_port_event(user, event))
		return 1;
	if (!roce_async_queue_take(&user->async_queue, &kind, &owner, &status)) {
		roce_user_calm(user);
		return 0;
	}
	*event = (struct roce_async_event){
		.type = type_of(kind),
		.status = status,
		.element = owner,
	};
	return 1;
}
