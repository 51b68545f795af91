/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of the responder that no other test holds: their breaks show to a peer that tries its luck. */

#include <string.h>

#include "played_scene.h"

#define PSN   FX_RQ_PSN
#define DEPTH 3u
#define READ  IBV_OPCODE_RC_RDMA_READ_REQUEST

static uint64_t base;

static int
setup(void **state)
{
	open_scene(&(struct played){
			.max_dest_rd_atomic = DEPTH, .rights = IBV_ACCESS_REMOTE_READ });
	base = (uintptr_t)end.memory;
	return 0;
}

static void
read_arrives(uint32_t psn, uint32_t rkey, uint32_t length)
{
	const struct fx_target target = { base, rkey, length };

	fx_rx(&end, fx_about(&peer, READ, psn, 0, &target, FX_ACKREQ));
}

/* A peer that repeats a READ before it is answered does not thereby get one more than was agreed upon. */
UNIT_RULE(depth__counts_what_was_repeated_too_early)
{
	const struct fx_sent *sent;

	for (uint32_t i = 0; i < DEPTH; i++)
		read_arrives(PSN + i, roce_mr_key(region), 8);
	read_arrives(PSN, roce_mr_key(region), 8);
	read_arrives(PSN + DEPTH, roce_mr_key(region), 8);
	sent = fx_tx_exactly(&end, DEPTH + 1);
	for (uint32_t i = 0; i < DEPTH; i++)
		assert_int_equal(sent[i].psn, PSN + i);
	assert_int_equal(sent[DEPTH].syndrome, FX_NAK(ROCE_NAK_INVALID_REQUEST));
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
}

/* The owner ends it while a report waits to go out: one that says "send again" or "wait" would be a lie by then. */
UNIT_RULE(error__takes_back_what_promised_to_go_on)
{
	for (uint32_t ahead = 0; ahead < 2; ahead++) {
		/* The expected one finds no receive; the one behind it, a gap. */
		fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, PSN + ahead, 8, 0);
		fx_to_error(qp);
		fx_tx_none(&end);
		teardown(state);
		setup(state);
	}
}

/* The engine only carries it, from the post to the event. */
UNIT_RULE(event__says_that_its_receive_was_posted_quietly)
{
	static const uint32_t flags[] = { ROCE_WR_QUIET, 0 };
	struct roce_event event[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct roce_sge sge;
		struct roce_recv_wr wr = fx_recv(&end, &sge, i, 0, 8);

		wr.flags = flags[i];
		assert_int_equal(roce_srq_post(end.srq, &wr), 0);
	}
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, PSN, 8, 0);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, PSN + 1, 8, FX_SOLICITED);
	assert_int_equal(roce_cq_poll(end.recv_cq, event, 2), 2);
	assert_int_equal(event[0].flags, ROCE_EVENT_QUIET);
	assert_int_equal(event[1].flags, ROCE_EVENT_SOLICITED);
	fx_tx_none(&end);
}
