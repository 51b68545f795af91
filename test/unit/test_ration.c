/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to frames that were not expected are rationed: whoever plays them to a queue pair gets no storm for it. */

#include "played_scene.h"

#define ONLY     IBV_OPCODE_RC_SEND_ONLY
#define PSN      FX_RQ_PSN
#define INTERVAL (FX_HZ / ROCE_ODD_ANSWERS_HZ)
#define BURST    (ROCE_ODD_ANSWERS_BURST + 1) /* and the one that is earned at that moment */

static int
setup(void **state)
{
	open_ordinary_scene();
	fx_fill_srq(&end, 256, 1024);
	return 0;
}

/* One frame, one poll. @return answers. */
static unsigned int
play(uint32_t psn, uint8_t flags)
{
	unsigned int n;

	fx_rx_request(&end, &peer, ONLY, psn, 8, flags);
	(void)fx_tx_all(&end, &n);
	return n;
}

static unsigned int
play_duplicates(unsigned int frames)
{
	unsigned int answers = 0;

	while (frames-- > 0)
		answers += play(PSN - 1, FX_ACKREQ);
	return answers;
}

UNIT_RULE(duplicates__are_answered_for_a_while)
{
	assert_int_equal(play_duplicates(1000), BURST);
	assert_int_equal(fx_stats(&end)->resp_answers_limited, 1000 - BURST);
	assert_int_equal(fx_stats(&end)->duplicate_request, 1000);
}

UNIT_RULE(answers__are_earned_again_with_time)
{
	play_duplicates(1000);
	for (unsigned int i = 0; i < 10; i++) {
		end.now += INTERVAL;
		assert_int_equal(play_duplicates(10), 1);
	}
	end.now += FX_HZ;
	assert_int_equal(play_duplicates(1000), BURST);
}

/* The READ of the packet with this PSN. @return frames of answers. */
static unsigned int
play_read(uint32_t psn)
{
	const struct fx_target target = { (uintptr_t)end.memory, roce_mr_key(region), 8 };
	unsigned int n;

	fx_rx(&end, fx_about(&peer, IBV_OPCODE_RC_RDMA_READ_REQUEST, psn, 0, &target, 0));
	(void)fx_tx_all(&end, &n);
	return n;
}

static int
setup_reads(void **state)
{
	open_scene(&(struct played){ .max_dest_rd_atomic = 2, .rights = FX_ALL });
	return 0;
}

/* However fast READs are lost, a requester that gets on has them repeated; one that does not, or a player, for a while. */
UNIT_RULE_IN(answers__to_reads_are_earned_by_new_ones, setup_reads, teardown)
{
	unsigned int answers = 0;

	for (uint32_t i = 0; i < 4 * BURST; i++) {
		assert_int_equal(play_read(PSN + i), 1);
		assert_int_equal(play_read(PSN + i), 1);
	}
	for (uint32_t i = 0; i < 1000; i++)
		answers += play_read(PSN + 4 * BURST - 1);
	assert_in_range(answers, BURST - 2, BURST);
}

/*
 * A spoofed frame ahead between any two good ones makes the peer go back each time it is reported. Good frames go
 * through all the same, each acknowledged.
 */
UNIT_RULE(gaps__are_reported_for_a_while)
{
	unsigned int naks = 0;

	for (uint32_t i = 0; i < 200; i++) {
		naks += play(PSN + i + ROCE_HELD_AHEAD, 0);
		assert_int_equal(play(PSN + i, FX_ACKREQ), 1);
	}
	assert_int_equal(naks, BURST);
	assert_int_equal(roce_cq_count(end.recv_cq), 200);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTS);
}

/* Silence because of the ration is no report: as soon as there is one to be had, the gap is told. */
UNIT_RULE(gap__is_reported_when_there_is_an_answer_again)
{
	play_duplicates(1000);
	assert_int_equal(play(PSN + 1, 0), 0);
	assert_int_equal(play(PSN + 2, 0), 0);
	end.now += INTERVAL;
	fx_rx_request(&end, &peer, ONLY, PSN + 3, 8, 0);
	assert_int_equal(fx_tx_one(&end).syndrome, FX_NAK(ROCE_NAK_PSN_SEQUENCE));
	assert_int_equal(play(PSN + 4, 0), 0);
}

/* One frame of a poll answers them all, and costs one. */
UNIT_RULE(duplicates__in_one_poll_cost_one_answer)
{
	for (unsigned int polls = 0; polls < 10; polls++) {
		for (unsigned int i = 0; i < 20; i++)
			fx_rx_request(&end, &peer, ONLY, PSN - 1, 8, FX_ACKREQ);
		(void)fx_tx_one(&end);
	}
	assert_int_equal(fx_stats(&end)->resp_answers_limited, 0);
}

/* A request with the expected PSN is always answered. */
UNIT_RULE(requests__are_not_rationed)
{
	play_duplicates(1000);
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(play(PSN + i, FX_ACKREQ), 1);
	assert_int_equal(fx_stats(&end)->resp_answers_limited, 1000 - BURST);
}
