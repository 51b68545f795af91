/* SPDX-License-Identifier: BSD-3-Clause */

/* Contexts: opened with the device, and closed with all that is left of them. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "verbs/verbs_front.h"

static void
free_context(struct verbs_ctx *ctx)
{
	if (ctx->verbs.context.async_fd >= 0)
		close(ctx->verbs.context.async_fd);
	if (ctx->verbs.context.cmd_fd >= 0)
		close(ctx->verbs.context.cmd_fd);
	pthread_mutex_destroy(&ctx->verbs.context.mutex);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx);
}

struct ibv_context *
ibv_open_device(struct ibv_device *device)
{
	struct verbs_ctx *ctx = calloc(1, sizeof(*ctx));
	struct ibv_context *context;
	int rc;

	if (ctx == NULL)
		return verbs_fail(-ENOMEM);
	context = &ctx->verbs.context;
	pthread_mutex_init(&ctx->lock, NULL);
	pthread_mutex_init(&context->mutex, NULL);
	TAILQ_INIT(&ctx->async);
	TAILQ_INIT(&ctx->objects);
	ctx->verbs.sz = sizeof(ctx->verbs);
	verbs_set_ops(&ctx->verbs);
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	context->device = device;
	context->num_comp_vectors = 1;
	/* Programs set flags of it and hand it to others, who find nothing to import there. */
	context->cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	context->async_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	rc = context->cmd_fd < 0 || context->async_fd < 0 ? -errno : verbs_progress_join(ctx);
	if (rc != 0) {
		free_context(ctx);
		return verbs_fail(rc);
	}
	return context;
}

int
ibv_close_device(struct ibv_context *context)
{
	struct verbs_ctx *ctx = verbs_ctx_of(context);
	int rc = verbs_teardown(ctx);

	if (rc != 0)
		return verbs_errno(rc);
	rc = verbs_progress_leave(ctx);
	if (rc != 0) {
		verbs_reopen(ctx);
		return verbs_errno(rc);
	}
	free_context(ctx);
	return 0;
}
