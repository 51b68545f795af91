/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Asynchronous events: from the engine to the list of a context, whose descriptor counts them. Each object has room for one of
 * each kind, so that none is lost for want of memory; one that happens again before it was fetched is delivered once.
 */

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "verbs/verbs_front.h"

/* Under the lock of the context. */
static void
push(struct verbs_ctx *ctx, struct verbs_async *async, struct ibv_async_event event)
{
	if (async->queued)
		return;
	async->queued = true;
	async->event = event;
	TAILQ_INSERT_TAIL(&ctx->async, async, link);
	(void)eventfd_write(ctx->verbs.context.async_fd, 1);
}

static void
push_qp(struct verbs_ctx *ctx, struct verbs_qp *qp, struct verbs_async *async,
		enum ibv_event_type type)
{
	push(ctx, async, (struct ibv_async_event){ .element.qp = &qp->ibv, .event_type = type });
}

static void
push_port(struct verbs_ctx *ctx, struct verbs_async *async, enum ibv_event_type type)
{
	push(ctx, async,
			(struct ibv_async_event){
					.element.port_num = VERBS_PORT, .event_type = type });
}

static void
deliver(struct verbs_ctx *ctx, const struct roce_async_event *event)
{
	struct verbs_qp *qp = event->element;
	struct verbs_cq *cq = event->element;
	struct verbs_srq *srq = event->element;

	switch (event->type) {
	case ROCE_ASYNC_CQ_READY:
		verbs_channel_push(cq);
		break;
	case ROCE_ASYNC_CQ_ERR:
		push(ctx, &cq->error,
				(struct ibv_async_event){ .element.cq = &cq->ibv,
						.event_type = IBV_EVENT_CQ_ERR });
		break;
	case ROCE_ASYNC_SRQ_LIMIT:
		push(ctx, &srq->limit,
				(struct ibv_async_event){ .element.srq = &srq->ibv,
						.event_type = IBV_EVENT_SRQ_LIMIT_REACHED });
		break;
	case ROCE_ASYNC_QP_FATAL:
		/* The completion of a request or receive says why, but of the end of a port or process there is none. */
		if (event->status == ROCE_WC_FATAL_ERR)
			push_qp(ctx, qp, &qp->fatal, IBV_EVENT_QP_FATAL);
		break;
	case ROCE_ASYNC_QP_COMM_EST:
		push_qp(ctx, qp, &qp->comm_est, IBV_EVENT_COMM_EST);
		break;
	case ROCE_ASYNC_QP_LAST_WQE:
		push_qp(ctx, qp, &qp->last_wqe, IBV_EVENT_QP_LAST_WQE_REACHED);
		break;
	case ROCE_ASYNC_SQ_DRAINED:
		push_qp(ctx, qp, &qp->sq_drained, IBV_EVENT_SQ_DRAINED);
		break;
	case ROCE_ASYNC_PORT_ACTIVE:
		__atomic_store_n(&ctx->link_down, false, __ATOMIC_RELAXED);
		push_port(ctx, &ctx->port[0], IBV_EVENT_PORT_ACTIVE);
		break;
	case ROCE_ASYNC_PORT_ERR:
		__atomic_store_n(&ctx->link_down, true, __ATOMIC_RELAXED);
		push_port(ctx, &ctx->port[1], IBV_EVENT_PORT_ERR);
		break;
	case ROCE_ASYNC_DEVICE_FATAL:
		__atomic_store_n(&ctx->link_down, true, __ATOMIC_RELAXED);
		push_port(ctx, &ctx->port[2], IBV_EVENT_DEVICE_FATAL);
		break;
	case ROCE_ASYNC_QP_HIGH:
		break;
	}
}

unsigned int
verbs_async_dispatch(struct verbs_ctx *ctx)
{
	unsigned int (*cm_dispatch)(struct verbs_ctx *) =
			__atomic_load_n(&ctx->cm_dispatch, __ATOMIC_ACQUIRE);
	struct roce_async_event event;
	unsigned int n = 0;

	pthread_mutex_lock(&ctx->lock);
	for (; roce_context_poll(ctx->roce, &event) == 1; n++)
		deliver(ctx, &event);
	pthread_mutex_unlock(&ctx->lock);
	return cm_dispatch != NULL ? n + cm_dispatch(ctx) : n;
}

void
verbs_async_forget(struct verbs_ctx *ctx, struct verbs_async *async[], unsigned int n)
{
	uint64_t count;
	const struct iovec iov = { &count, sizeof(count) };

	/* The descriptor counts for the parent, too. */
	if (verbs_is_forked())
		return;
	pthread_mutex_lock(&ctx->lock);
	for (unsigned int i = 0; i < n; i++) {
		if (!async[i]->queued)
			continue;
		async[i]->queued = false;
		TAILQ_REMOVE(&ctx->async, async[i], link);
		(void)preadv2(ctx->verbs.context.async_fd, &iov, 1, -1, RWF_NOWAIT);
	}
	pthread_mutex_unlock(&ctx->lock);
}

/* It is to be acknowledged before its object ends. Under the lock of the context. */
static void
count_reported(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		verbs_cq_of(event->element.cq)->async_reported++;
		break;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		verbs_srq_of(event->element.srq)->async_reported++;
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
	case IBV_EVENT_SQ_DRAINED:
		verbs_qp_of(event->element.qp)->async_reported++;
		break;
	default:
		break;
	}
}

int
ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct verbs_ctx *ctx = verbs_ctx_of(context);
	struct verbs_async *async;
	uint64_t count;

	if (verbs_is_forked()) {
		errno = ENODEV;
		return -1;
	}
	do {
		if (read(context->async_fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
			return -1;
		pthread_mutex_lock(&ctx->lock);
		async = TAILQ_FIRST(&ctx->async);
		if (async != NULL) {
			TAILQ_REMOVE(&ctx->async, async, link);
			async->queued = false;
			*event = async->event;
			count_reported(event);
		}
		pthread_mutex_unlock(&ctx->lock);
	} while (async == NULL);
	return 0;
}

static void
acknowledge(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *completed)
{
	pthread_mutex_lock(mutex);
	(*completed)++;
	pthread_cond_broadcast(cond);
	pthread_mutex_unlock(mutex);
}

void
ibv_ack_async_event(struct ibv_async_event *event)
{
	struct ibv_cq *cq = event->element.cq;
	struct ibv_srq *srq = event->element.srq;
	struct ibv_qp *qp = event->element.qp;

	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed);
		break;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		acknowledge(&srq->mutex, &srq->cond, &srq->events_completed);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
	case IBV_EVENT_SQ_DRAINED:
		acknowledge(&qp->mutex, &qp->cond, &qp->events_completed);
		break;
	default:
		break;
	}
}
