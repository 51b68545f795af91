/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_ep_post_rdma_write and dat_ep_post_rdma_read through the public API. */

#include "dat_pair.h"

#define HALF (BUFFER_LEN / 2)

static struct pair pair;

/* Where @p end offers its memory. */
static DAT_RMR_TRIPLET
remote(const struct end *end, size_t offset, DAT_VLEN length)
{
	return (DAT_RMR_TRIPLET){
		.rmr_context = end->key,
		.target_address = (DAT_VADDR)(uintptr_t)(end->buffer + offset),
		.segment_length = length,
	};
}

static void
fill(struct pair *p)
{
	for (size_t i = 0; i < BUFFER_LEN; i++) {
		p->a.buffer[i] = (uint8_t)(i * 7 + i / 251);
		p->b.buffer[i] = (uint8_t)(i * 11 + i / 247);
	}
}

static const DAT_VLEN lengths[] = { 0, 1, 3, 64, 4095, 4096, 4097, 65536, 300001 };

static void
write__places_the_bytes(void **state)
{
	pair_up(&pair);
	fill(&pair);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		DAT_LMR_TRIPLET local = segment(&pair.a, 0, lengths[i]);
		DAT_RMR_TRIPLET to = remote(&pair.b, HALF, lengths[i]);

		ok(dat_ep_post_rdma_write(pair.a.ep, lengths[i] > 0, &local, cookie(i), &to,
				DAT_COMPLETION_DEFAULT_FLAG));
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, lengths[i]);
		assert_memory_equal(pair.b.buffer + HALF, pair.a.buffer, lengths[i]);
	}
	/* The other end hears nothing of it. */
	want_silence(pair.b.recv);
	pair_close(&pair);
}

/* Longer than the endpoint asked for: what is granted is the adapter's maximum. */
static void
rdma__longer_than_was_asked_for(void **state)
{
	DAT_EP_ATTR attr = { .max_rdma_size = 100, .max_rdma_read_out = 1 };
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET there;
	DAT_EP_HANDLE ep;

	pair_open(&pair, NULL, NULL);
	ok(dat_ep_create(pair.a.ia, pair.a.pz, pair.a.recv, pair.a.request, pair.a.connect, &attr,
			&ep));
	ok(dat_ep_free(pair.a.ep));
	pair.a.ep = ep;
	pair_connect(&pair);
	fill(&pair);
	local = segment(&pair.a, 0, 5000);
	there = remote(&pair.b, HALF, 5000);
	ok(dat_ep_post_rdma_write(
			pair.a.ep, 1, &local, cookie(1), &there, DAT_COMPLETION_DEFAULT_FLAG));
	want_dto(&pair.a, pair.a.request, 1, DAT_DTO_SUCCESS, 5000);
	assert_memory_equal(pair.b.buffer + HALF, pair.a.buffer, 5000);
	ok(dat_ep_post_rdma_read(
			pair.a.ep, 1, &local, cookie(2), &there, DAT_COMPLETION_DEFAULT_FLAG));
	want_dto(&pair.a, pair.a.request, 2, DAT_DTO_SUCCESS, 5000);
	pair_close(&pair);
}

static void
read__fetches_the_bytes(void **state)
{
	pair_up(&pair);
	fill(&pair);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		DAT_LMR_TRIPLET local = segment(&pair.a, HALF, lengths[i]);
		DAT_RMR_TRIPLET from = remote(&pair.b, 7, lengths[i]);

		ok(dat_ep_post_rdma_read(pair.a.ep, lengths[i] > 0, &local, cookie(i), &from,
				DAT_COMPLETION_DEFAULT_FLAG));
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, lengths[i]);
		assert_memory_equal(pair.a.buffer + HALF, pair.b.buffer + 7, lengths[i]);
	}
	pair_close(&pair);
}

/* The length of the remote segment decides how much is read; a larger local buffer keeps its rest. */
static void
read__into_more_room_than_needed(void **state)
{
	DAT_LMR_TRIPLET local[2];
	DAT_RMR_TRIPLET from;

	pair_up(&pair);
	fill(&pair);
	local[0] = segment(&pair.a, HALF, 100);
	local[1] = segment(&pair.a, HALF + 1000, 100);
	from = remote(&pair.b, 0, 150);
	memset(pair.a.buffer + HALF, 0, 2000);
	ok(dat_ep_post_rdma_read(
			pair.a.ep, 2, local, cookie(1), &from, DAT_COMPLETION_DEFAULT_FLAG));
	want_dto(&pair.a, pair.a.request, 1, DAT_DTO_SUCCESS, 150);
	assert_memory_equal(pair.a.buffer + HALF, pair.b.buffer, 100);
	assert_memory_equal(pair.a.buffer + HALF + 1000, pair.b.buffer + 100, 50);
	assert_int_equal(pair.a.buffer[HALF + 1050], 0);
	pair_close(&pair);
}

static void
rdma__judges_its_arguments(void **state)
{
	DAT_LMR_TRIPLET local, foreign;
	DAT_RMR_TRIPLET there;

	pair_up(&pair);
	local = segment(&pair.a, 0, 64);
	there = remote(&pair.b, 0, 64);
	foreign = local;
	foreign.lmr_context ^= 1;
	want_error(dat_ep_post_rdma_write(pair.a.pz, 1, &local, cookie(1), &there, 0),
			DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	want_error(dat_ep_post_rdma_write(pair.a.ep, -1, &local, cookie(1), &there, 0),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	want_error(dat_ep_post_rdma_write(pair.a.ep, 5, &local, cookie(1), &there, 0),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	want_error(dat_ep_post_rdma_write(pair.a.ep, 1, NULL, cookie(1), &there, 0),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	want_error(dat_ep_post_rdma_write(pair.a.ep, 1, &local, cookie(1), NULL, 0),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	want_error(dat_ep_post_rdma_write(pair.a.ep, 1, &local, cookie(1), &there,
				   (DAT_COMPLETION_FLAGS)0x100),
			DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	want_type(dat_ep_post_rdma_write(pair.a.ep, 1, &foreign, cookie(1), &there, 0),
			DAT_PRIVILEGES_VIOLATION);
	/* More than there is room for, at either side. */
	there.segment_length = 63;
	want_type(dat_ep_post_rdma_write(pair.a.ep, 1, &local, cookie(1), &there, 0),
			DAT_LENGTH_ERROR);
	there.segment_length = 65;
	want_type(dat_ep_post_rdma_read(pair.a.ep, 1, &local, cookie(1), &there, 0),
			DAT_LENGTH_ERROR);
	want_silence(pair.a.request);
	pair_close(&pair);
}

/* Memory that the peer does not offer: the request fails, the connection breaks on both sides. */
static void
rdma__to_foreign_memory_breaks(void **state)
{
	for (int read = 0; read < 2; read++) {
		DAT_LMR_TRIPLET local;
		DAT_RMR_TRIPLET there;

		pair_up(&pair);
		local = segment(&pair.a, 0, 64);
		there = remote(&pair.b, BUFFER_LEN - 63, 64);
		if (read)
			ok(dat_ep_post_rdma_read(pair.a.ep, 1, &local, cookie(1), &there, 0));
		else
			ok(dat_ep_post_rdma_write(pair.a.ep, 1, &local, cookie(1), &there, 0));
		want_dto(&pair.a, pair.a.request, 1, DAT_DTO_ERR_REMOTE_ACCESS, 0);
		want_event(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
		want_event(pair.b.connect, DAT_CONNECTION_EVENT_BROKEN);
		pair_close(&pair);
	}
}

/* No more READs are outstanding than both ends agreed upon, however many are posted. */
static void
read__keeps_to_the_depth_agreed_upon(void **state)
{
	enum {
		READS = 50
	};

	pair_up(&pair);
	fill(&pair);
	for (unsigned int i = 0; i < READS; i++) {
		DAT_LMR_TRIPLET local = segment(&pair.a, HALF + i * 100, 100);
		DAT_RMR_TRIPLET from = remote(&pair.b, i * 100, 100);

		ok(dat_ep_post_rdma_read(pair.a.ep, 1, &local, cookie(i), &from,
				DAT_COMPLETION_DEFAULT_FLAG));
	}
	for (unsigned int i = 0; i < READS; i++)
		want_dto(&pair.a, pair.a.request, i, DAT_DTO_SUCCESS, 100);
	assert_memory_equal(pair.a.buffer + HALF, pair.b.buffer, 100 * READS);
	pair_close(&pair);
}

/* A remote region opens just its part of the memory, with its own rights, and only until it is bound anew. */
static void
rdma__through_a_remote_region(void **state)
{
	const DAT_RMR_COOKIE bound = { .as_64 = 77 };
	DAT_LMR_TRIPLET local, part, nothing;
	DAT_RMR_CONTEXT context;
	DAT_RMR_HANDLE rmr;
	DAT_RMR_TRIPLET there;

	pair_up(&pair);
	fill(&pair);
	ok(dat_rmr_create(pair.b.pz, &rmr));
	part = segment(&pair.b, 1000, 100);
	ok(dat_rmr_bind(rmr, &part, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, pair.b.ep, bound,
			DAT_COMPLETION_DEFAULT_FLAG, &context));
	want_event(pair.b.request, DAT_RMR_BIND_COMPLETION_EVENT);
	local = segment(&pair.a, 0, 100);
	there = remote(&pair.b, 1000, 100);
	there.rmr_context = context;
	ok(dat_ep_post_rdma_write(pair.a.ep, 1, &local, cookie(1), &there, 0));
	want_dto(&pair.a, pair.a.request, 1, DAT_DTO_SUCCESS, 100);
	assert_memory_equal(pair.b.buffer + 1000, pair.a.buffer, 100);

	/* Bound to nothing: the context is dead. */
	nothing = segment(&pair.b, 0, 0);
	ok(dat_rmr_bind(rmr, &nothing, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, pair.b.ep, bound,
			DAT_COMPLETION_DEFAULT_FLAG, &context));
	want_event(pair.b.request, DAT_RMR_BIND_COMPLETION_EVENT);
	ok(dat_ep_post_rdma_write(pair.a.ep, 1, &local, cookie(2), &there, 0));
	want_dto(&pair.a, pair.a.request, 2, DAT_DTO_ERR_REMOTE_ACCESS, 0);
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	ok(dat_rmr_free(rmr));
	pair_close(&pair);
}

/* Outside of the region, and without the right. */
static void
rdma__beyond_a_remote_region_breaks(void **state)
{
	for (int read = 0; read < 2; read++) {
		const DAT_RMR_COOKIE bound = { .as_64 = 77 };
		DAT_LMR_TRIPLET local, part;
		DAT_RMR_CONTEXT context;
		DAT_RMR_HANDLE rmr;
		DAT_RMR_TRIPLET there;

		pair_up(&pair);
		ok(dat_rmr_create(pair.b.pz, &rmr));
		part = segment(&pair.b, 1000, 100);
		ok(dat_rmr_bind(rmr, &part, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, pair.b.ep, bound,
				DAT_COMPLETION_DEFAULT_FLAG, &context));
		want_event(pair.b.request, DAT_RMR_BIND_COMPLETION_EVENT);
		local = segment(&pair.a, 0, 100);
		there = remote(&pair.b, read ? 1000 : 1001, 100);
		there.rmr_context = context;
		if (read)
			ok(dat_ep_post_rdma_read(pair.a.ep, 1, &local, cookie(1), &there, 0));
		else
			ok(dat_ep_post_rdma_write(pair.a.ep, 1, &local, cookie(1), &there, 0));
		want_dto(&pair.a, pair.a.request, 1, DAT_DTO_ERR_REMOTE_ACCESS, 0);
		pair_close(&pair);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		dat_test(write__places_the_bytes),
		dat_test(rdma__longer_than_was_asked_for),
		dat_test(read__fetches_the_bytes),
		dat_test(read__into_more_room_than_needed),
		dat_test(rdma__judges_its_arguments),
		dat_test(rdma__to_foreign_memory_breaks),
		dat_test(read__keeps_to_the_depth_agreed_upon),
		dat_test(rdma__through_a_remote_region),
		dat_test(rdma__beyond_a_remote_region_breaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
