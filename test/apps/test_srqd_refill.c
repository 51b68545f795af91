/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The refill pattern of dat-srqd, rule by rule, on a queue that is played here: the calls are written down as letters,
 * p for a post, a for arming the watermark and r for a resize, and the queue does what the manual pages promise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "refill.h"

#define DEPTH 8
#define LOW   3
#define SIZE  64
#define MAX   64

/* Handles are addresses of these. */
static char srq, other, lmr;

static struct {
	char calls[256];
	uint32_t buffer[MAX]; /* the queue, oldest first */
	int available, low, max;
	bool armed, event;
	DAT_RETURN resize; /* what the next resizes return */
} queue;

static void
note(char call)
{
	size_t n = strlen(queue.calls);

	assert_true(n + 1 < sizeof(queue.calls));
	queue.calls[n] = call;
	queue.calls[n + 1] = '\0';
}

static void
look_at_watermark(void)
{
	if (!queue.armed || queue.available >= queue.low)
		return;
	queue.armed = false;
	queue.event = true;
}

DAT_RETURN
dat_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type,
		DAT_REGION_DESCRIPTION region_description, DAT_VLEN length, DAT_PZ_HANDLE pz_handle,
		DAT_MEM_PRIV_FLAGS privileges, DAT_LMR_HANDLE *lmr_handle,
		DAT_LMR_CONTEXT *lmr_context, DAT_RMR_CONTEXT *rmr_context,
		DAT_VLEN *registered_length, DAT_VADDR *registered_address)
{
	*lmr_handle = &lmr;
	*lmr_context = 1;
	return DAT_SUCCESS;
}

DAT_RETURN
dat_lmr_free(DAT_LMR_HANDLE lmr_handle)
{
	return DAT_SUCCESS;
}

DAT_RETURN
dat_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR *srq_attr,
		DAT_SRQ_HANDLE *srq_handle)
{
	assert_int_equal(srq_attr->low_watermark, DAT_SRQ_LW_DEFAULT);
	queue.max = srq_attr->max_recv_dtos;
	*srq_handle = &srq;
	return DAT_SUCCESS;
}

DAT_RETURN
dat_srq_free(DAT_SRQ_HANDLE srq_handle)
{
	return DAT_SUCCESS;
}

DAT_RETURN
dat_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET *local_iov,
		DAT_DTO_COOKIE user_cookie)
{
	assert_int_equal(num_segments, 1);
	assert_int_equal(local_iov->segment_length, SIZE);
	assert_true(queue.available < queue.max);
	queue.buffer[queue.available++] = (uint32_t)user_cookie.as_64;
	note('p');
	return DAT_SUCCESS;
}

DAT_RETURN
dat_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark)
{
	queue.low = low_watermark;
	queue.armed = true;
	note('a');
	look_at_watermark();
	return DAT_SUCCESS;
}

DAT_RETURN
dat_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT srq_max_recv_dto)
{
	note('r');
	if (queue.resize == DAT_SUCCESS)
		queue.max = srq_max_recv_dto;
	return queue.resize;
}

DAT_RETURN
dat_srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK srq_param_mask,
		DAT_SRQ_PARAM *srq_param)
{
	*srq_param = (DAT_SRQ_PARAM){
		.max_recv_dtos = queue.max,
		.available_dto_count = queue.available,
		.outstanding_dto_count = queue.available,
	};
	return DAT_SUCCESS;
}

/* A message comes into the oldest buffer. @return the buffer. */
static uint32_t
take(void)
{
	uint32_t buffer = queue.buffer[0];

	assert_true(queue.available > 0);
	queue.available--;
	memmove(queue.buffer, queue.buffer + 1, (size_t)queue.available * sizeof(buffer));
	look_at_watermark();
	return buffer;
}

/* The server hears of the event. @return false: there is none. */
static bool
hear(struct refill *refill)
{
	if (!queue.event)
		return false;
	queue.event = false;
	queue.calls[0] = '\0';
	assert_int_equal(refill_event(refill), 0);
	return true;
}

static void
begin(struct refill *refill, uint32_t low, uint32_t max_depth)
{
	const struct refill_config config = {
		.size = SIZE,
		.depth = DEPTH,
		.max_depth = max_depth,
		.low = low,
	};

	memset(&queue, 0, sizeof(queue));
	assert_int_equal(refill_open(refill, &config), 0);
}

/* The watermark is armed last: an empty queue would be below it. */
static void
open__fills_then_arms(void **state)
{
	struct refill refill;

	begin(&refill, LOW, DEPTH);
	assert_string_equal(queue.calls, "ppppppppa");
	assert_false(queue.event);
	assert_int_equal(queue.low, LOW);
	assert_int_equal(refill_close(&refill), 0);
}

static void
put__posts_nothing_before_the_event(void **state)
{
	struct refill refill;

	begin(&refill, LOW, DEPTH);
	queue.calls[0] = '\0';
	for (int i = 0; i < DEPTH - LOW; i++)
		assert_int_equal(refill_put(&refill, take()), 0);
	assert_int_equal(refill_settle(&refill), 0);
	assert_string_equal(queue.calls, "");
	assert_false(queue.event);
	assert_int_equal(refill.n_free, DEPTH - LOW);
	assert_int_equal(refill_audit(&refill), 0);
	refill_close(&refill);
}

/* One event for many messages; posts first, then the watermark, so that a good refill causes no event of its own. */
static void
event__posts_all_free_then_arms(void **state)
{
	struct refill refill;

	begin(&refill, LOW, DEPTH);
	for (int i = 0; i < DEPTH - LOW + 1; i++)
		assert_int_equal(refill_put(&refill, take()), 0);
	assert_true(hear(&refill));
	assert_string_equal(queue.calls, "ppppppa");
	assert_false(queue.event);
	assert_true(queue.armed);
	assert_int_equal(refill.n_free, 0);
	assert_int_equal(refill.events, 1);
	assert_int_equal(refill.refills, 1);
	assert_int_equal(refill.posts, DEPTH - LOW + 1);
	refill_close(&refill);
}

/* Between the event and the arming the watermark is off. The call that arms sees what was taken meanwhile. */
static void
event__is_not_lost_while_disarmed(void **state)
{
	uint32_t held[DEPTH];
	struct refill refill;

	begin(&refill, LOW, DEPTH);
	for (int i = 0; i < DEPTH - LOW + 1; i++)
		held[i] = take();
	assert_true(queue.event);
	assert_false(queue.armed);
	/* One is free, and two more are taken before the server hears of the event: one will be on the queue. */
	assert_int_equal(refill_put(&refill, held[0]), 0);
	take();
	take();
	assert_true(hear(&refill));
	assert_string_equal(queue.calls, "pa");
	assert_int_equal(queue.available, 1);
	assert_true(queue.event);
	refill_close(&refill);
}

/* With no buffer free, the refill waits until buffers come back. The watermark is not armed until then. */
static void
event__waits_while_nothing_is_free(void **state)
{
	uint32_t held[DEPTH];
	struct refill refill;

	begin(&refill, LOW, DEPTH);
	for (int i = 0; i < DEPTH; i++)
		held[i] = take();
	assert_true(hear(&refill));
	assert_string_equal(queue.calls, "");
	assert_int_equal(refill_settle(&refill), 0);
	assert_string_equal(queue.calls, "");
	for (int i = 0; i < DEPTH; i++)
		assert_int_equal(refill_put(&refill, held[i]), 0);
	assert_string_equal(queue.calls, "");
	assert_int_equal(refill_settle(&refill), 0);
	assert_string_equal(queue.calls, "ppppppppa");
	assert_int_equal(refill_settle(&refill), 0);
	assert_string_equal(queue.calls, "ppppppppa");
	assert_int_equal(refill_audit(&refill), 0);
	refill_close(&refill);
}

/* However the queue and the server alternate, no state is left in which buffers are free and nobody will hear of it. */
static void
pattern__never_stalls(void **state)
{
	uint64_t seed = 1;
	uint32_t held[DEPTH];
	struct refill refill;
	int in_use = 0;

	begin(&refill, LOW, DEPTH);
	for (int i = 0; i < 100000; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		switch (seed >> 62) {
		case 0:
		case 1:
			if (queue.available > 0)
				held[in_use++] = take();
			break;
		case 2:
			if (in_use > 0)
				assert_int_equal(refill_put(&refill, held[--in_use]), 0);
			break;
		default:
			hear(&refill);
			queue.calls[0] = '\0';
			assert_int_equal(refill_settle(&refill), 0);
			break;
		}
		assert_int_equal(queue.available + in_use + (int)refill.n_free, DEPTH);
		assert_true(queue.armed || queue.event || refill.owed);
		assert_true(queue.available >= LOW || queue.event || refill.owed);
	}
	refill_close(&refill);
}

static void
put__posts_at_once_without_watermark(void **state)
{
	struct refill refill;

	begin(&refill, 0, DEPTH);
	assert_string_equal(queue.calls, "pppppppp");
	assert_int_equal(refill_put(&refill, take()), 0);
	assert_string_equal(queue.calls, "ppppppppp");
	assert_int_equal(refill.n_free, 0);
	refill_close(&refill);
}

/* Buffers that are in use do not come back sooner for being asked: the queue is too short. */
static void
event__doubles_a_queue_whose_buffers_are_in_use(void **state)
{
	struct refill refill;

	begin(&refill, LOW, 3 * DEPTH);
	for (int i = 0; i < DEPTH - LOW + 1; i++)
		take();
	assert_true(hear(&refill));
	assert_string_equal(queue.calls, "rppppppppa");
	assert_int_equal(queue.max, 2 * DEPTH);
	assert_int_equal(refill.depth, 2 * DEPTH);
	assert_int_equal(refill.grown, 1);
	/* Not beyond what was allowed, and never again after that. */
	while (!queue.event)
		take();
	assert_true(hear(&refill));
	assert_string_equal(queue.calls, "rppppppppa");
	assert_int_equal(queue.max, 3 * DEPTH);
	while (!queue.event)
		take();
	assert_true(hear(&refill));
	assert_string_equal(queue.calls, "");
	refill_close(&refill);
}

static void
event__does_not_grow_while_half_a_batch_is_free(void **state)
{
	uint32_t batch = DEPTH - LOW;
	struct refill refill;

	begin(&refill, LOW, 2 * DEPTH);
	for (uint32_t i = 0; i < batch + 1; i++) {
		uint32_t buffer = take();

		if (i < batch - batch / 2)
			assert_int_equal(refill_put(&refill, buffer), 0);
	}
	assert_true(hear(&refill));
	assert_string_equal(queue.calls, "pppa");
	assert_int_equal(refill.grown, 0);
	refill_close(&refill);
}

/* No memory for a longer queue: the one there is serves on, and is not asked again. */
static void
event__lives_with_a_refused_resize(void **state)
{
	struct refill refill;
	uint32_t buffer;

	begin(&refill, LOW, 2 * DEPTH);
	queue.resize = DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES | DAT_RESOURCE_MEMORY;
	for (int i = 0; i < DEPTH - LOW + 1; i++)
		buffer = take();
	assert_true(hear(&refill));
	assert_string_equal(queue.calls, "r");
	assert_int_equal(refill_put(&refill, buffer), 0);
	assert_int_equal(refill_settle(&refill), 0);
	assert_string_equal(queue.calls, "rpa");
	assert_int_equal(refill.depth, DEPTH);
	while (!queue.event)
		take();
	assert_true(hear(&refill));
	assert_string_equal(queue.calls, "");
	refill_close(&refill);
}

/* The standard has no number for the event: handle and reason tell. */
static void
is_event__goes_by_handle_and_reason(void **state)
{
	DAT_EVENT event = { .event_number = (DAT_EVENT_NUMBER)0x1234 };
	DAT_ASYNCH_ERROR_EVENT_DATA *data = &event.event_data.asynch_error_event_data;
	struct refill refill;

	begin(&refill, LOW, DEPTH);
	data->dat_handle = refill.srq;
	data->reason = DAT_SRQ_LOW_WATERMARK_EVENT;
	assert_true(refill_is_event(&refill, &event));
	data->reason = DAT_SRQ_OTHER_ERROR;
	assert_false(refill_is_event(&refill, &event));
	data->reason = DAT_SRQ_LOW_WATERMARK_EVENT;
	data->dat_handle = &other;
	assert_false(refill_is_event(&refill, &event));
	refill_close(&refill);
}

static void
audit__finds_a_buffer_missing(void **state)
{
	struct refill refill;

	begin(&refill, LOW, DEPTH);
	assert_int_equal(refill_audit(&refill), 0);
	take();
	assert_int_equal(refill_audit(&refill), -1);
	refill_close(&refill);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open__fills_then_arms),
		cmocka_unit_test(put__posts_nothing_before_the_event),
		cmocka_unit_test(event__posts_all_free_then_arms),
		cmocka_unit_test(event__is_not_lost_while_disarmed),
		cmocka_unit_test(event__waits_while_nothing_is_free),
		cmocka_unit_test(pattern__never_stalls),
		cmocka_unit_test(put__posts_at_once_without_watermark),
		cmocka_unit_test(event__doubles_a_queue_whose_buffers_are_in_use),
		cmocka_unit_test(event__does_not_grow_while_half_a_batch_is_free),
		cmocka_unit_test(event__lives_with_a_refused_resize),
		cmocka_unit_test(is_event__goes_by_handle_and_reason),
		cmocka_unit_test(audit__finds_a_buffer_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
