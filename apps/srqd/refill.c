/* SPDX-License-Identifier: BSD-3-Clause */
#include "refill.h"

#include <stdlib.h>

#include "cli/cli.h"

static int
failed(DAT_RETURN ret, const char *call)
{
	cli_say_dat(ret, "%s", call);
	return -1;
}

static int
post(const struct refill *refill, uint32_t buffer)
{
	DAT_LMR_TRIPLET segment = buffers_segment(&refill->buffers, buffer, refill->buffers.size);
	DAT_DTO_COOKIE cookie = { .as_64 = buffer };
	DAT_RETURN ret;

	ret = dat_srq_post_recv(refill->srq, refill->buffers.size > 0, &segment, cookie);
	return ret == DAT_SUCCESS ? 0 : failed(ret, "dat_srq_post_recv");
}

static int
arm(const struct refill *refill)
{
	DAT_RETURN ret;

	if (refill->low == 0)
		return 0;
	ret = dat_srq_set_lw(refill->srq, (DAT_COUNT)refill->low);
	return ret == DAT_SUCCESS ? 0 : failed(ret, "dat_srq_set_lw");
}

static int
make_srq(struct refill *refill, const struct refill_config *config)
{
	/* A watermark cannot be given here: an empty queue would be below it. */
	DAT_SRQ_ATTR attr = {
		.max_recv_dtos = (DAT_COUNT)config->depth,
		.max_recv_iov = 1,
		.low_watermark = DAT_SRQ_LW_DEFAULT,
	};
	DAT_RETURN ret;

	ret = dat_srq_create(config->ia, config->pz, &attr, &refill->srq);
	if (ret == DAT_SUCCESS)
		return 0;
	refill->srq = DAT_HANDLE_NULL;
	cli_say_dat(ret, "dat_srq_create for %u buffers", config->depth);
	return -1;
}

int
refill_open(struct refill *refill, const struct refill_config *config)
{
	*refill = (struct refill){
		.srq = DAT_HANDLE_NULL,
		.depth = config->depth,
		.max_depth = config->max_depth,
		.low = config->low,
		.free = calloc(config->max_depth, sizeof(*refill->free)),
	};
	if (refill->free == NULL) {
		cli_say("no memory for a list of %u buffers", config->max_depth);
		return -1;
	}
	if (buffers_open(&refill->buffers, config->ia, config->pz, config->size,
			    config->max_depth) != 0 ||
			make_srq(refill, config) != 0)
		return -1;
	for (uint32_t i = 0; i < config->depth; i++)
		if (post(refill, i) != 0)
			return -1;
	return arm(refill);
}

int
refill_put(struct refill *refill, uint32_t buffer)
{
	if (refill->low != 0) {
		refill->free[refill->n_free++] = buffer;
		return 0;
	}
	refill->posts++;
	return post(refill, buffer);
}

bool
refill_is_event(const struct refill *refill, const DAT_EVENT *event)
{
	const DAT_ASYNCH_ERROR_EVENT_DATA *data = &event->event_data.asynch_error_event_data;

	/* The standard has no number for this event. The handle says of which kind of object the reason speaks. */
	return data->dat_handle == refill->srq && data->reason == DAT_SRQ_LOW_WATERMARK_EVENT;
}

/* An event that finds less than half a batch free says that the buffers are in use: there are too few of them. */
static bool
too_short(const struct refill *refill)
{
	uint32_t batch = refill->depth - refill->low;

	return refill->depth < refill->max_depth &&
			(refill->n_free == 0 || refill->n_free < batch - batch / 2);
}

static int
grow(struct refill *refill)
{
	uint32_t depth = refill->depth * 2;
	DAT_RETURN ret;

	if (depth > refill->max_depth)
		depth = refill->max_depth;
	ret = dat_srq_resize(refill->srq, (DAT_COUNT)depth);
	if (DAT_GET_TYPE(ret) == DAT_INSUFFICIENT_RESOURCES) {
		/* The queue is what it was, and serves on; asking again and again would only cost time. */
		cli_say_dat(ret, "the queue stays at %u buffers: dat_srq_resize", refill->depth);
		refill->max_depth = refill->depth;
		return 0;
	}
	if (ret != DAT_SUCCESS)
		return failed(ret, "dat_srq_resize");
	while (refill->depth < depth)
		refill->free[refill->n_free++] = refill->depth++;
	refill->grown++;
	return 0;
}

int
refill_event(struct refill *refill)
{
	refill->events++;
	refill->owed = true;
	if (too_short(refill) && grow(refill) != 0)
		return -1;
	return refill_settle(refill);
}

int
refill_settle(struct refill *refill)
{
	if (!refill->owed || refill->n_free == 0)
		return 0;
	refill->owed = false;
	refill->refills++;
	refill->posts += refill->n_free;
	while (refill->n_free > 0)
		if (post(refill, refill->free[--refill->n_free]) != 0)
			return -1;
	/*
	 * Armed after the posts, and that loses nothing. The event has disarmed the watermark, so what is taken from
	 * here to there makes none; but the call that arms looks at the queue itself, and when it is below the
	 * mark by then, the next event comes at once. The other way round every refill would cause one event more,
	 * because before the posts the queue is always below.
	 */
	return arm(refill);
}

int
refill_query(const struct refill *refill, DAT_SRQ_PARAM *param)
{
	DAT_RETURN ret = dat_srq_query(refill->srq, DAT_SRQ_FIELD_ALL, param);

	return ret == DAT_SUCCESS ? 0 : failed(ret, "dat_srq_query");
}

int
refill_audit(const struct refill *refill)
{
	DAT_SRQ_PARAM param;

	if (refill_query(refill, &param) != 0)
		return -1;
	if (param.max_recv_dtos == (DAT_COUNT)refill->depth &&
			param.available_dto_count + (DAT_COUNT)refill->n_free ==
					(DAT_COUNT)refill->depth &&
			param.outstanding_dto_count == param.available_dto_count)
		return 0;
	cli_say("of %u buffers %d are available, %d outstanding and %u free: they do not add up",
			refill->depth, param.available_dto_count, param.outstanding_dto_count,
			refill->n_free);
	return -1;
}

int
refill_close(struct refill *refill)
{
	DAT_RETURN ret = DAT_SUCCESS;
	int rc = 0;

	/* Buffers on the queue go with it, without completions. */
	if (refill->srq != DAT_HANDLE_NULL)
		ret = dat_srq_free(refill->srq);
	if (ret != DAT_SUCCESS)
		rc = failed(ret, "dat_srq_free");
	if (buffers_close(&refill->buffers) != 0)
		rc = -1;
	free(refill->free);
	*refill = (struct refill){ .srq = DAT_HANDLE_NULL };
	return rc;
}
