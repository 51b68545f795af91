/* SPDX-License-Identifier: BSD-3-Clause */

/* Completion queues: any number of threads may poll one. */

#include <errno.h>
#include <stdlib.h>

#include <arpa/inet.h>

#include "verbs/verbs_front.h"

struct ibv_cq *
verbs_create_cq(struct ibv_context *context, uint32_t cqe, void *cq_context,
		struct ibv_comp_channel *channel, uint32_t comp_vector)
{
	struct verbs_cq *cq;
	int rc;

	if (cqe == 0 || cqe > VERBS_CQE_MAX || comp_vector >= (uint32_t)context->num_comp_vectors)
		return verbs_fail(-EINVAL);
	if (verbs_is_forked())
		return verbs_fail(-ENODEV);
	cq = calloc(1, sizeof(*cq));
	if (cq == NULL)
		return verbs_fail(-ENOMEM);
	rc = roce_cq_create(verbs_ctx_of(context)->roce, cqe, cq, &cq->roce);
	if (rc != 0) {
		free(cq);
		return verbs_fail(rc);
	}
	cq->ibv.context = context;
	cq->ibv.channel = channel;
	cq->ibv.cq_context = cq_context;
	cq->ibv.cqe = (int)cqe;
	pthread_mutex_init(&cq->ibv.mutex, NULL);
	pthread_cond_init(&cq->ibv.cond, NULL);
	pthread_mutex_init(&cq->ending, NULL);
	pthread_mutex_init(&cq->lock, NULL);
	if (channel != NULL)
		__atomic_fetch_add(&channel->refcnt, 1, __ATOMIC_RELAXED);
	verbs_obj_add(context, &cq->obj, VERBS_KIND_CQ);
	return &cq->ibv;
}

struct ibv_cq *
ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
		struct ibv_comp_channel *channel, int comp_vector)
{
	if (cqe <= 0 || comp_vector < 0)
		return verbs_fail(-EINVAL);
	return verbs_create_cq(context, (uint32_t)cqe, cq_context, channel, (uint32_t)comp_vector);
}

int
ibv_destroy_cq(struct ibv_cq *cq)
{
	struct verbs_cq *own = verbs_cq_of(cq);
	struct verbs_async *async[] = { &own->error };
	int rc = verbs_is_forked() ? 0 : roce_cq_destroy(own->roce);

	if (rc != 0)
		return verbs_errno(rc);
	verbs_obj_remove(cq->context, &own->obj);
	if (own->domain != NULL)
		verbs_pd_put(own->domain);
	verbs_async_forget(verbs_ctx_of(cq->context), async, 1);
	verbs_channel_forget(own);
	pthread_mutex_destroy(&own->ibv.mutex);
	pthread_cond_destroy(&own->ibv.cond);
	pthread_mutex_destroy(&own->ending);
	pthread_mutex_destroy(&own->lock);
	free(own->kept);
	free(own);
	return 0;
}

/* Those that were kept when a queue pair ended count, too. */
static int
resize(struct verbs_cq *cq, uint32_t cqe)
{
	uint64_t waiting = (uint64_t)cq->kept_count + roce_cq_count(cq->roce);

	return cqe < waiting ? -EBUSY : roce_cq_resize(cq->roce, cqe);
}

int
ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	struct verbs_cq *own = verbs_cq_of(cq);
	int rc;

	if (cqe <= 0 || cqe > VERBS_CQE_MAX)
		return EINVAL;
	if (verbs_is_forked())
		return ENODEV;
	pthread_mutex_lock(&own->ending);
	pthread_mutex_lock(&own->lock);
	rc = resize(own, (uint32_t)cqe);
	if (rc == 0)
		cq->cqe = cqe;
	pthread_mutex_unlock(&own->lock);
	pthread_mutex_unlock(&own->ending);
	/* More completions are waiting than it would hold. */
	return rc == -EBUSY ? EINVAL : verbs_errno(rc);
}

unsigned int
verbs_cq_take(struct verbs_cq *cq, struct roce_event *events, unsigned int n)
{
	unsigned int taken = 0;

	for (; cq->kept_count > 0 && taken < n; cq->kept_count--)
		events[taken++] = cq->kept[cq->kept_head++];
	return taken < n ? taken + roce_cq_poll(cq->roce, events + taken, n - taken) : taken;
}

/*
 * Room for all completions of the queue. Until they are taken out no other thread does so or resizes it: so the engine has its
 * depth of them besides, at most.
 */
static int
reserve(struct verbs_cq *cq)
{
	struct roce_event *kept;
	size_t room;

	pthread_mutex_lock(&cq->lock);
	room = (size_t)cq->kept_count + roce_cq_depth(cq->roce);
	kept = calloc(room, sizeof(*kept));
	if (kept != NULL) {
		for (uint32_t i = 0; i < cq->kept_count; i++)
			kept[i] = cq->kept[cq->kept_head + i];
		free(cq->kept);
		cq->kept = kept;
		cq->kept_head = 0;
	}
	pthread_mutex_unlock(&cq->lock);
	return kept != NULL ? 0 : -ENOMEM;
}

static void
purge(struct verbs_cq *cq, const void *owner)
{
	struct roce_event event;
	uint32_t kept = 0, most;

	pthread_mutex_lock(&cq->lock);
	most = roce_cq_depth(cq->roce);
	for (uint32_t i = 0; i < cq->kept_count; i++) {
		event = cq->kept[cq->kept_head + i];
		if (event.owner != owner)
			cq->kept[kept++] = event;
	}
	cq->kept_head = 0;
	for (uint32_t i = 0; i < most && roce_cq_poll(cq->roce, &event, 1) > 0; i++) {
		if (event.owner != owner)
			cq->kept[kept++] = event;
	}
	cq->kept_count = kept;
	pthread_mutex_unlock(&cq->lock);
}

/* Two queues of two queue pairs may be the same two the other way round. */
static void
order(struct verbs_cq **a, struct verbs_cq **b)
{
	struct verbs_cq *first = *a;

	if ((uintptr_t)first <= (uintptr_t)*b)
		return;
	*a = *b;
	*b = first;
}

int
verbs_cq_begin_purge(struct verbs_cq *a, struct verbs_cq *b)
{
	int rc;

	order(&a, &b);
	pthread_mutex_lock(&a->ending);
	if (b != a)
		pthread_mutex_lock(&b->ending);
	rc = reserve(a);
	if (rc == 0 && b != a)
		rc = reserve(b);
	if (rc != 0)
		verbs_cq_end_purge(a, b, NULL);
	return rc;
}

void
verbs_cq_end_purge(struct verbs_cq *a, struct verbs_cq *b, const void *owner)
{
	order(&a, &b);
	if (owner != NULL)
		purge(a, owner);
	if (owner != NULL && b != a)
		purge(b, owner);
	if (b != a)
		pthread_mutex_unlock(&b->ending);
	pthread_mutex_unlock(&a->ending);
}

uint32_t
verbs_event_qp_num(const struct roce_event *event)
{
	return ((const struct verbs_qp *)event->owner)->ibv.qp_num;
}

enum ibv_wc_opcode
verbs_event_opcode(const struct roce_event *event)
{
	static const enum ibv_wc_opcode opcodes[] = {
		[ROCE_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
		[ROCE_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
		[ROCE_WR_SEND] = IBV_WC_SEND,
		[ROCE_WR_SEND_WITH_IMM] = IBV_WC_SEND,
		[ROCE_WR_RDMA_READ] = IBV_WC_RDMA_READ,
		[ROCE_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
		[ROCE_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
		[ROCE_WR_LOCAL_INV] = IBV_WC_LOCAL_INV,
		[ROCE_WR_BIND_MW] = IBV_WC_BIND_MW,
		[ROCE_WR_SEND_WITH_INV] = IBV_WC_SEND,
	};

	if (event->kind == ROCE_EVENT_RECV)
		return event->flags & ROCE_EVENT_WRITE ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
	return opcodes[event->opcode];
}

unsigned int
verbs_event_flags(const struct roce_event *event)
{
	unsigned int flags = 0;

	if (event->kind != ROCE_EVENT_RECV)
		return 0;
	if (event->flags & ROCE_EVENT_IMM)
		flags |= IBV_WC_WITH_IMM;
	if (event->flags & ROCE_EVENT_INVALID)
		flags |= IBV_WC_WITH_INV;
	return flags;
}

uint32_t
verbs_event_imm(const struct roce_event *event)
{
	return event->flags & ROCE_EVENT_INVALID ? ntohl(event->imm) : event->imm;
}

/* Of a failure only some members are defined, but none may be what the program had there. */
static void
to_wc(const struct roce_event *event, struct ibv_wc *wc)
{
	*wc = (struct ibv_wc){
		.wr_id = event->wr_id,
		.status = (enum ibv_wc_status)event->status,
		.opcode = verbs_event_opcode(event),
		.qp_num = verbs_event_qp_num(event),
	};
	if (event->status != ROCE_WC_SUCCESS)
		return;
	wc->byte_len = event->byte_len;
	wc->wc_flags = verbs_event_flags(event);
	wc->imm_data = verbs_event_imm(event);
}

/* All under the lock: the queue pair of a completion may end behind it. @return how many. */
static int
poll_once(struct verbs_cq *cq, int n, struct ibv_wc *wc)
{
	struct roce_event events[VERBS_POLL_BURST];
	unsigned int taken, burst;
	int done = 0;

	pthread_mutex_lock(&cq->lock);
	do {
		unsigned int left = (unsigned int)(n - done);

		burst = left < VERBS_POLL_BURST ? left : VERBS_POLL_BURST;
		taken = verbs_cq_take(cq, events, burst);
		for (unsigned int i = 0; i < taken; i++)
			to_wc(&events[i], &wc[done++]);
	} while (taken == burst && done < n);
	pthread_mutex_unlock(&cq->lock);
	return done;
}

int
verbs_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct verbs_cq *own = verbs_cq_of(cq);
	int done;

	if (n < 0 || verbs_is_forked())
		return -1;
	done = poll_once(own, n, wc);
	return done == 0 && n > 0 && verbs_progress_poll() ? poll_once(own, n, wc) : done;
}

int
verbs_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	struct verbs_cq *own = verbs_cq_of(cq);

	if (verbs_is_forked())
		return ENODEV;
	roce_cq_arm(own->roce, solicited_only != 0);
	verbs_progress_attend();
	return 0;
}
