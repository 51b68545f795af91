/* SPDX-License-Identifier: BSD-3-Clause */
#include "tend.h"

#include "cli/cli.h"
#include "clock.h"

static int
query(const struct perf_end *end, DAT_SRQ_PARAM *param)
{
	DAT_RETURN ret = dat_srq_query(end->srq, DAT_SRQ_FIELD_ALL, param);

	if (ret == DAT_SUCCESS)
		return 0;
	cli_say_dat(ret, "dat_srq_query on %s", end->adapter->name);
	return -1;
}

static int
arm(struct perf_end *end)
{
	DAT_RETURN ret;

	/* The event may come inside the call. */
	end->adapter->armed = end->srq;
	ret = dat_srq_set_lw(end->srq, (DAT_COUNT)end->options->low);
	if (ret == DAT_SUCCESS)
		return 0;
	cli_say_dat(ret, "setting the low watermark of the SRQ of %s to %u", end->adapter->name,
			end->options->low);
	return -1;
}

/* The queue must say what was granted last, whatever was refused since. */
static int
check_size(const struct perf_end *end)
{
	DAT_SRQ_PARAM param;

	if (query(end, &param) != 0)
		return -1;
	if (param.max_recv_dtos == (DAT_COUNT)end->tend.size &&
			param.low_watermark == (DAT_COUNT)end->options->low)
		return 0;
	cli_say("the SRQ of %s says that it holds %d buffers with a low watermark of %d, instead "
		"of %u and %u",
			end->adapter->name, param.max_recv_dtos, param.low_watermark,
			end->tend.size, end->options->low);
	return -1;
}

static int
resize(struct perf_end *end)
{
	uint32_t size = perf_plan_srq_size(end->plan, end->tend.step++);
	/* Only this thread posts and reaps, so it knows what is outstanding. */
	bool fits = size >= end->recv_posted && size >= end->options->low;
	DAT_RETURN ret = dat_srq_resize(end->srq, (DAT_COUNT)size);

	if (ret != DAT_SUCCESS && DAT_GET_TYPE(ret) != DAT_INVALID_STATE) {
		cli_say_dat(ret, "changing the size of the SRQ of %s to %u", end->adapter->name,
				size);
		return -1;
	}
	if ((ret == DAT_SUCCESS) != fits) {
		cli_say("the SRQ of %s with %u buffers outstanding %s a size of %u",
				end->adapter->name, end->recv_posted, fits ? "refuses" : "takes",
				size);
		return -1;
	}
	if (fits) {
		end->tend.size = size;
		end->adapter->resizes++;
	} else {
		end->adapter->resizes_refused++;
	}
	return check_size(end);
}

int
perf_tend_begin(struct perf_end *end)
{
	const struct perf_options *o = end->options;

	end->tend.size = end->plan->recv_depth;
	end->tend.on = o->low != 0 || o->resizes != 0;
	if (o->low == 0)
		return 0;
	return perf_adapter_count(end->adapter, &end->tend.before) != 0 ? -1 : arm(end);
}

int
perf_tend_now(struct perf_end *end)
{
	struct perf_tend *tend = &end->tend;
	uint64_t now, every;

	if (end->options->low != 0) {
		if (perf_adapter_async(end->adapter) != 0)
			return -1;
		if (end->adapter->armed == DAT_HANDLE_NULL && arm(end) != 0)
			return -1;
	}
	if (end->options->resizes == 0)
		return 0;
	now = perf_now();
	every = perf_hz() / end->options->resizes;
	if (tend->due == 0)
		tend->due = now + every;
	if (now < tend->due)
		return 0;
	/* Missed times are not made up for. */
	tend->due = now - tend->due < every ? tend->due + every : now + every;
	return resize(end);
}

/* Was the queue ever below the watermark for certain, and no event told so? */
static int
check_events(struct perf_end *end)
{
	const struct perf_counters *before = &end->tend.before;
	struct perf_counters after;
	DAT_SRQ_PARAM param;
	bool was_below;

	if (perf_adapter_count(end->adapter, &after) != 0 || query(end, &param) != 0)
		return -1;
	if (end->adapter->armed != DAT_HANDLE_NULL &&
			param.available_dto_count < (DAT_COUNT)end->options->low) {
		cli_say("the SRQ of %s has %d buffers, fewer than its low watermark of %u, and no "
			"event told so",
				end->adapter->name, param.available_dto_count, end->options->low);
		return -1;
	}
	/* It was empty; or the first message took a buffer of a queue that had to be full. */
	was_below = after.rnr_nak_sent != before->rnr_nak_sent ||
			(end->received > 0 && end->options->low == end->plan->recv_depth);
	if (!was_below || after.low_watermarks != before->low_watermarks)
		return 0;
	cli_say("the SRQ of %s was below its low watermark of %u, and no event told so",
			end->adapter->name, end->options->low);
	return -1;
}

int
perf_tend_end(struct perf_end *end)
{
	if (!end->tend.on)
		return 0;
	if (perf_adapter_async(end->adapter) != 0 || check_size(end) != 0)
		return -1;
	return end->options->low != 0 ? check_events(end) : 0;
}
