/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The device below a fuzzed program of verbs, in the place of lib/verbs/progress.c: without a thread, so that only the script
 * polls it. It is opened once and stays.
 */

#include <stdlib.h>

#include "roce/device.h"
#include "verbs/verbs_front.h"
#include "verbs_world.h"

/* The neighbour is one that never answers, and need not be asked for. */
#define PARAMS "port=loop0 ip=192.0.2.1/24 neigh=192.0.2.9@02:00:00:00:00:09 seed=1 qpn=17 psn=1"
#define EAL    "--no-huge -m 256 --no-shconf --no-pci --no-telemetry --log-level=error"

static struct roce_device *device;

static int
open_device(void)
{
	char errmsg[256] = "";
	int rc;

	if (device != NULL)
		return 0;
	setenv("UDAPL_ROCE_EAL", EAL, 1);
	unsetenv("UDAPL_ROCE_PARAMS");
	rc = roce_device_open(PARAMS, &device, errmsg, sizeof(errmsg));
	if (rc != 0)
		BASE_VIOLATED("%s opens: %s\n", PARAMS, errmsg);
	return rc;
}

int
verbs_progress_join(struct verbs_ctx *ctx)
{
	int rc = open_device();

	if (rc == 0)
		rc = roce_context_create(device, &ctx->roce);
	if (rc == 0)
		ctx->fd = roce_context_fd(ctx->roce);
	return rc;
}

int
verbs_progress_leave(struct verbs_ctx *ctx)
{
	return roce_context_destroy(ctx->roce);
}

struct roce_device *
verbs_progress_device(void)
{
	return device;
}

bool
verbs_progress_poll(void)
{
	return roce_device_poll(device) > 0;
}

void
verbs_progress_attend(void)
{
}

void
vw_poll(unsigned int times)
{
	for (; times > 0; times--) {
		(void)roce_device_poll(device);
		if (vw.context != NULL)
			(void)verbs_async_dispatch(verbs_ctx_of(vw.context));
	}
}

unsigned int
vw_left(void)
{
	const struct verbs_ctx *ctx = verbs_ctx_of(vw.context);
	const struct verbs_obj *obj;
	unsigned int n = 0;

	TAILQ_FOREACH(obj, &ctx->objects, link)
		n++;
	return n;
}
