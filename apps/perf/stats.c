/* SPDX-License-Identifier: BSD-3-Clause */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shorter intervals see the steps in which completions come instead of a rate. */
#define INTERVALS_PER_S 100

void
perf_meter_init(struct perf_meter *meter, uint64_t hz, uint64_t warmup)
{
	*meter = (struct perf_meter){
		.hz = hz,
		.warmup = warmup,
		.interval = hz / INTERVALS_PER_S,
	};
}

bool
perf_meter_sample(struct perf_meter *meter, uint64_t now, uint64_t count)
{
	double rate;

	if (!meter->started) {
		if (count < meter->warmup)
			return false;
		meter->started = true;
		meter->start = meter->last = now;
		meter->base = meter->last_count = count;
		return false;
	}
	if (now - meter->last < meter->interval)
		return false;
	rate = (double)(count - meter->last_count) * (double)meter->hz /
			(double)(now - meter->last);
	if (rate > meter->peak)
		meter->peak = rate;
	meter->last = now;
	meter->last_count = count;
	return true;
}

void
perf_meter_end(struct perf_meter *meter, uint64_t now, uint64_t count, double *peak,
		double *average)
{
	*average = 0;
	if (meter->started && now > meter->start)
		*average = (double)(count - meter->base) * (double)meter->hz /
				(double)(now - meter->start);
	*peak = meter->peak > *average ? meter->peak : *average;
}

int
perf_samples_init(struct perf_samples *samples, uint64_t room)
{
	*samples = (struct perf_samples){
		.room = room, .min = UINT64_MAX, .random = 88172645463325252
	};
	samples->span = malloc((size_t)room * sizeof(*samples->span));
	if (samples->span == NULL)
		return -1;
	/* The page faults belong to the time before the measurement. */
	memset(samples->span, 0xff, (size_t)room * sizeof(*samples->span));
	return 0;
}

void
perf_samples_free(struct perf_samples *samples)
{
	free(samples->span);
	samples->span = NULL;
}

void
perf_samples_replace(struct perf_samples *samples, uint32_t span)
{
	uint64_t place;

	samples->random ^= samples->random << 13;
	samples->random ^= samples->random >> 7;
	samples->random ^= samples->random << 17;
	place = samples->random % (samples->count + 1);
	if (place < samples->room)
		samples->span[place] = span;
}

static int
compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static unsigned int
bucket_of(double ns)
{
	double place = ns < 1 ? 0 : floor(log2(ns) * PERF_BUCKETS_PER_OCTAVE);

	return place >= PERF_BUCKETS ? PERF_BUCKETS - 1 : (unsigned int)place;
}

double
perf_bucket_ns(unsigned int bucket)
{
	return exp2((double)bucket / PERF_BUCKETS_PER_OCTAVE);
}

/* The smallest span that at least @p share of all spans do not exceed. */
static double
percentile(const struct perf_samples *samples, uint64_t kept, double share)
{
	uint64_t rank = (uint64_t)ceil(share * (double)kept);

	return samples->span[rank == 0 ? 0 : rank - 1];
}

void
perf_samples_end(struct perf_samples *samples, double ticks_per_us, struct perf_latency *latency)
{
	uint64_t kept = samples->count < samples->room ? samples->count : samples->room;
	double n = (double)samples->count, mean, variance;

	memset(latency, 0, sizeof(*latency));
	if (kept == 0)
		return;
	qsort(samples->span, (size_t)kept, sizeof(*samples->span), compare);
	mean = samples->sum / n;
	variance = samples->squares / n - mean * mean;
	latency->min = (double)samples->min / ticks_per_us;
	latency->max = (double)samples->max / ticks_per_us;
	latency->typical = percentile(samples, kept, 0.5) / ticks_per_us;
	latency->average = mean / ticks_per_us;
	latency->deviation = variance > 0 ? sqrt(variance) / ticks_per_us : 0;
	latency->p99 = percentile(samples, kept, 0.99) / ticks_per_us;
	latency->p99_9 = percentile(samples, kept, 0.999) / ticks_per_us;
	for (uint64_t i = 0; i < kept; i++)
		latency->bucket[bucket_of(samples->span[i] / ticks_per_us * 1000)]++;
}
