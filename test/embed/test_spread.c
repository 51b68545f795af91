/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Several engines on one shared receive queue, whichever queue their frames come on: whoever has the queues, every
 * message arrives once, in order and with its bytes, the queue's counts are those of every moment, and no more frames are
 * forwarded between engines than came on the wrong queue. One thread does everything, so all is exact.
 */

#include "engine/snapshot.h"
#include "spread.h"

#define GROUPS 40u

static const char *const mode_name[] = { "own", "queues", "handover" };
static const char *const way_name[] = { "steered", "hashed", "one queue", "sprayed" };

static void
add_held(void *arg, const struct roce_qp_snapshot *qp)
{
	if (qp->srq != ROCE_NO_SRQ)
		*(uint32_t *)arg += qp->held;
}

/* posted = available + held + completed + reaped; and the watermark was told when there are fewer, and not before. */
static void
judge_counts(struct spread *s)
{
	struct roce_srq_counts counts;
	uint32_t held = 0, completed = 0;

	roce_srq_query(s->srq, &counts);
	roce_domain_each_qp(s->server.device->domain, add_held, &held);
	for (unsigned int c = 0; c < RTE_DIM(s->server.recv_cq); c++)
		completed += roce_cq_count(s->server.recv_cq[c]);
	assert_int_equal(counts.outstanding, s->posted - s->reaped);
	assert_int_equal(counts.outstanding, counts.available + held + completed);
	assert_int_equal(s->told, s->armed - (counts.available >= SPREAD_LOW));
	assert_int_equal(counts.armed, s->told < s->armed);
}

static void
poll_all(struct spread *s)
{
	for (unsigned int e = 0; e < s->engines; e++) {
		spread_poll(s, &s->client, e);
		spread_poll(s, &s->server, e);
		judge_counts(s);
	}
	spread_carry(s);
}

/* Until nothing moves any more: what came twice is answered, too. */
static void
settle(struct spread *s)
{
	unsigned int moved = 1;

	while (moved > 0) {
		moved = spread_carry(s);
		for (unsigned int e = 0; e < s->engines; e++)
			moved += spread_poll(s, &s->client, e) + spread_poll(s, &s->server, e);
	}
}

static void
talk(struct spread *s)
{
	while (!spread_ask(s, GROUPS) && !spread_is_broken(s)) {
		poll_all(s);
		spread_serve(s);
	}
	while (spread_serve(s) > 0)
		continue;
	judge_counts(s);
}

/* Handed over is what came on a wrong queue, frame by frame; whoever knows the engine spares it all. */
static void
judge_ways(const struct spread *s)
{
	const struct spread_end *const end[] = { &s->client, &s->server };

	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(embed_counter(end[i]->device, "rx_handed_over"), s->wrong[i]);
		assert_int_equal(embed_counter(end[i]->device, "rx_inbox_full"), 0);
		if (s->way == SPREAD_STEERED)
			assert_int_equal(s->wrong[i], 0);
		else
			assert_true(s->wrong[i] > 0);
		/* Where the frames of a queue pair stay on one queue they stay in order, forwarded or not. */
		if (s->way != SPREAD_SPRAYED)
			assert_int_equal(embed_counter(end[i]->device, "out_of_sequence"), 0);
		assert_int_equal(embed_counter(end[i]->device, "rx_icrc_encapsulated"), 0);
	}
	assert_int_equal(s->dropped, 0);
}

static void
play(struct spread *s)
{
	print_message("%s, %u engines, %s\n", mode_name[s->mode], s->engines, way_name[s->way]);
	spread_open(s);
	talk(s);
	settle(s);
	judge_ways(s);
	assert_int_equal(s->reaped, SPREAD_QPS * GROUPS);
	assert_true(s->told > 1);
	spread_close(s);
}

static void
play_ways(enum spread_mode mode)
{
	for (unsigned int engines = 2; engines <= SPREAD_ENGINES; engines *= 2) {
		for (unsigned int way = SPREAD_STEERED; way <= SPREAD_SPRAYED; way++) {
			struct spread s = { .mode = mode, .engines = engines, .way = way };

			play(&s);
		}
	}
}

static void
own__queues_may_bring_any_frame(void **state)
{
	play_ways(SPREAD_OWN);
}

static void
queues__of_a_program_may_bring_any_frame(void **state)
{
	play_ways(SPREAD_QUEUES);
}

static void
handover__may_bring_any_frame_to_any_engine(void **state)
{
	play_ways(SPREAD_HANDOVER);
}

/* Other headers have the number of the queue pair elsewhere. */
static void
play_headers(enum spread_mode mode, unsigned int engines, struct rte_mempool *foreign)
{
	static const struct {
		unsigned int address;
		const char *params;
	} kinds[] = { { 1, NULL }, { 0, "vlan=7" }, { 1, "vlan=7" } };

	for (size_t k = 0; k < RTE_DIM(kinds); k++) {
		struct spread s = {
			.mode = mode,
			.engines = engines,
			.way = engines > 1 ? SPREAD_HASHED : SPREAD_STEERED,
			.address = kinds[k].address,
			.params = kinds[k].params,
			.foreign = foreign,
		};

		play(&s);
		assert_true(s.carried > 0);
		assert_int_equal(s.v6, kinds[k].address == 1 ? s.carried : 0);
		assert_int_equal(s.tagged, kinds[k].params != NULL ? s.carried : 0);
	}
}

/* Frames of others come in between, and come back. */
static void
handover__knows_tags_and_ipv6(void **state)
{
	struct rte_mempool *foreign = embed_pool("foreign", 255, 256);

	play_headers(SPREAD_HANDOVER, 1, foreign);
	play_headers(SPREAD_HANDOVER, SPREAD_ENGINES, foreign);
	embed_pool_end(foreign);
}

static void
queues__know_tags_and_ipv6(void **state)
{
	play_headers(SPREAD_OWN, 2, NULL);
	play_headers(SPREAD_QUEUES, SPREAD_ENGINES, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own__queues_may_bring_any_frame),
		cmocka_unit_test(queues__of_a_program_may_bring_any_frame),
		cmocka_unit_test(handover__may_bring_any_frame_to_any_engine),
		cmocka_unit_test(handover__knows_tags_and_ipv6),
		cmocka_unit_test(queues__know_tags_and_ipv6),
	};

	return cmocka_run_group_tests(tests, embed_start, NULL);
}
