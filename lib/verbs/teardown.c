/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The end of a context with objects. Programs close it with some of them left, as they may: a kernel would end them then, in
 * whatever order goes.
 */

#include "verbs/verbs_front.h"

static struct verbs_obj *
first_of(struct verbs_ctx *ctx, enum verbs_kind kind)
{
	struct verbs_obj *obj;

	pthread_mutex_lock(&ctx->lock);
	TAILQ_FOREACH(obj, &ctx->objects, link) {
		if (obj->kind == kind)
			break;
	}
	pthread_mutex_unlock(&ctx->lock);
	return obj;
}

#define OBJECT(obj, type) ((void *)((uintptr_t)(obj)-offsetof(struct type, obj)))

static int
destroy(struct verbs_obj *obj)
{
	switch (obj->kind) {
	case VERBS_KIND_QP:
		return ibv_destroy_qp(OBJECT(obj, verbs_qp));
	case VERBS_KIND_SRQ:
		return ibv_destroy_srq(OBJECT(obj, verbs_srq));
	case VERBS_KIND_CQ:
		return ibv_destroy_cq(OBJECT(obj, verbs_cq));
	case VERBS_KIND_CHANNEL:
		return ibv_destroy_comp_channel(OBJECT(obj, verbs_channel));
	case VERBS_KIND_MW:
		return verbs_dealloc_mw(OBJECT(obj, verbs_mw));
	case VERBS_KIND_MR:
		return ibv_dereg_mr(OBJECT(obj, verbs_mr));
	case VERBS_KIND_AH:
		return ibv_destroy_ah(OBJECT(obj, verbs_ah));
	case VERBS_KIND_TD:
		return verbs_dealloc_td(OBJECT(obj, verbs_td));
	default:
		return ibv_dealloc_pd(OBJECT(obj, verbs_pd));
	}
}

void
verbs_reopen(struct verbs_ctx *ctx)
{
	__atomic_store_n(&ctx->closing, false, __ATOMIC_RELAXED);
}

int
verbs_teardown(struct verbs_ctx *ctx)
{
	struct verbs_obj *obj;
	int rc;

	__atomic_store_n(&ctx->closing, true, __ATOMIC_RELAXED);
	for (enum verbs_kind kind = VERBS_KIND_QP; kind < VERBS_KINDS; kind++) {
		while ((obj = first_of(ctx, kind)) != NULL) {
			rc = destroy(obj);
			if (rc != 0) {
				verbs_reopen(ctx);
				return -rc;
			}
		}
	}
	return 0;
}
