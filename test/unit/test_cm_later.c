/* SPDX-License-Identifier: BSD-3-Clause */

/* Owners whose queue pair is not up when the REP comes: they say later that it is. */

#include "cm_talk.h"

/* A reply that waits for the active owner. */
static struct roce_cm_conn *
world_replied(void)
{
	struct roce_cm_conn *conn;

	world_listen(passive, 4);
	active->reply_rc = ROCE_CM_LATER;
	conn = world_connect(active, UINT64_MAX);
	world_run_ms(1);
	expect_told("P", "Q");
	assert_int_equal(in_state(active, ROCE_CM_STATE_REP_RCVD), 1);
	return conn;
}

UNIT_RULE(ready__sends_the_rtu)
{
	struct roce_cm_conn *a = world_replied();

	world_run_ms(150);
	assert_string_equal(told_all(passive), "Q");
	assert_int_equal(roce_cm_ready(a, world->now), 0);
	assert_int_equal(in_state(active, ROCE_CM_STATE_ESTABLISHED), 1);
	world_run_ms(1);
	expect_told("P", "QE");
	world_over(a, passive->told[1].conn);
}

UNIT_RULE(ready__is_refused_when_nothing_waits_for_it)
{
	struct roce_cm_conn *a, *b;

	active->reply_rc = ROCE_CM_LATER;
	a = world_connect(active, UINT64_MAX);
	assert_int_equal(roce_cm_ready(a, world->now), -ENOTCONN);
	roce_cm_release(a, world->now);
	world_all_over();
	world_connected(&a, &b);
	assert_int_equal(roce_cm_ready(a, world->now), -ENOTCONN);
	assert_int_equal(roce_cm_ready(b, world->now), -ENOTCONN);
	world_over(a, b);
}

/* The peer's REP comes again while the owner prepares: an MRA asks for patience, and nothing is repeated for 17 s. */
UNIT_RULE(reply__that_comes_again_is_answered_by_mra)
{
	struct roce_cm_conn *a = world_replied();

	world_run_ms(16000);
	assert_int_equal(active->cm->stats.tx_mra, 1);
	assert_int_equal(passive->cm->stats.rx_mra, 1);
	assert_int_equal(passive->cm->stats.repeats, 1);
	assert_int_equal(roce_cm_ready(a, world->now), 0);
	world_run_ms(1);
	expect_told("P", "QE");
	world_over(a, passive->told[1].conn);
}

UNIT_RULE(mra__names_the_reply)
{
	struct roce_cm_conn *a = world_replied();

	roce_cm_step(a, &(struct roce_cm_input){ .kind = ROCE_CM_IN_REP, .now = world->now });
	assert_int_equal(speak(active), 1);
	assert_int_equal(last_msg().attr, ROCE_CM_ATTR_MRA);
	assert_int_equal(last_msg().about, ROCE_CM_ABOUT_REP);
}

UNIT_RULE(reply__can_be_rejected_with_private_data)
{
	struct roce_cm_conn *a = world_replied();

	assert_int_equal(roce_cm_reject(a, ROCE_CM_REJ_CONSUMER, "changed", 8, world->now), 0);
	passive->release_on_down = true;
	world_settle();
	expect_told("P", "QR");
	assert_int_equal(passive->told[1].reason, ROCE_CM_REJ_CONSUMER);
	assert_string_equal(passive->told[1].private_data, "changed");
	world_all_over();
}

/* One that is released without an answer is rejected. */
UNIT_RULE(reply__is_rejected_with_its_owner_gone)
{
	struct roce_cm_conn *a = world_replied();

	passive->release_on_down = true;
	assert_false(roce_cm_disconnect(a, world->now));
	world_run_ms(1);
	expect_told("P", "QR");
	world_over(a, NULL);
}

UNIT_RULE(peer__may_give_up_meanwhile)
{
	struct roce_cm_conn *a = world_replied();

	roce_cm_release(passive->told[0].conn, world->now);
	world_run_ms(1);
	assert_string_equal(told_all(active), "PR");
	assert_int_equal(roce_cm_ready(a, world->now), -ENOTCONN);
	world_over(a, NULL);
}

/* Data tells the passive end what an RTU would: its owner may say so, and leave before the active owner is ready. */
UNIT_RULE(passive__is_established_by_its_owner_and_may_leave)
{
	struct roce_cm_conn *a = world_replied(), *b = passive->told[0].conn;

	assert_int_equal(roce_cm_ready(b, world->now), 0);
	expect_told("P", "QE");
	assert_true(roce_cm_disconnect(b, world->now));
	world_run_ms(1);
	expect_told("PD", "QED");
	assert_int_equal(roce_cm_ready(a, world->now), -ENOTCONN);
	world_over(a, b);
}

/* The numbers are those of 24 bits, and a seed makes them. */
UNIT_RULE(first_psn__is_random_and_fits)
{
	uint32_t seen = 0, first = roce_cm_first_psn(active->cm);

	for (unsigned int i = 0; i < 100; i++) {
		uint32_t psn = roce_cm_first_psn(active->cm);

		assert_true(psn <= 0xffffff);
		seen |= psn ^ first;
	}
	assert_int_equal(seen, 0xffffff);
	world_again();
	assert_int_equal(roce_cm_first_psn(active->cm), first);
}
