/* SPDX-License-Identifier: BSD-3-Clause */

/* The list of the objects of a context, and the acknowledgements that their ends wait for. */

#include "verbs/verbs_front.h"

void
verbs_obj_add(const struct ibv_context *context, struct verbs_obj *obj, enum verbs_kind kind)
{
	struct verbs_ctx *ctx = verbs_ctx_of(context);

	obj->kind = kind;
	pthread_mutex_lock(&ctx->lock);
	TAILQ_INSERT_TAIL(&ctx->objects, obj, link);
	pthread_mutex_unlock(&ctx->lock);
}

void
verbs_obj_remove(const struct ibv_context *context, struct verbs_obj *obj)
{
	struct verbs_ctx *ctx = verbs_ctx_of(context);

	pthread_mutex_lock(&ctx->lock);
	TAILQ_REMOVE(&ctx->objects, obj, link);
	pthread_mutex_unlock(&ctx->lock);
}

void
verbs_obj_await_acks(const struct ibv_context *context, pthread_mutex_t *mutex,
		pthread_cond_t *cond, const uint32_t *completed, const uint32_t *reported)
{
	const struct verbs_ctx *ctx = verbs_ctx_of(context);

	/* In a child of fork(2) a thread that is not there may have the lock. */
	if (verbs_is_forked())
		return;
	pthread_mutex_lock(mutex);
	while (*completed != *reported && !__atomic_load_n(&ctx->closing, __ATOMIC_RELAXED))
		pthread_cond_wait(cond, mutex);
	pthread_mutex_unlock(mutex);
}
