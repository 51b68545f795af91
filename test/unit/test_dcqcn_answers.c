/* SPDX-License-Identifier: BSD-3-Clause */
/* A rate limiter holds the answers to READs, too, also when they are the last that it does. */

#include <string.h>

#include "requester/dcqcn.h"
#include "played_scene.h"

#define US(n)  ((uint64_t)(n)*FX_HZ / 1000000)
#define FRAMES 16u

/* A queue pair that was notified so often that it sends at the lowest rate: 1 us for 1.25 bytes. */
static int
setup(void **state)
{
	open_scene(&(struct played){ .max_dest_rd_atomic = 2, .rights = FX_ALL });
	fx_tx_none(&end);
	for (unsigned int i = 0; i < 1000; i++) {
		fx_rx(&end, fx_request(&peer, ROCE_OPCODE_CNP, 0, 0, 0));
		end.now += US(ROCE_CNP_INTERVAL_US);
	}
	assert_int_equal(qp->cold.dcqcn.current, ROCE_DCQCN_RATE_MIN);
	return 0;
}

/* A READ or WRITE of the peer. */
static void
arrives(uint8_t opcode, uint32_t psn, uint32_t payload, uint32_t length, uint32_t rkey)
{
	const struct fx_target target = { (uintptr_t)end.memory, rkey, length };

	fx_rx(&end, fx_about(&peer, opcode, psn, payload, &target, 0));
}

static void
read_arrives(void)
{
	arrives(IBV_OPCODE_RC_RDMA_READ_REQUEST, FX_RQ_PSN, 0, FRAMES * FX_MTU,
			roce_mr_key(region));
}

/* At the lowest rate there is a token for one frame, and nothing for long after that. */
static void
expect_few(void)
{
	assert_in_range(fx_tx_drop(&end), 1, 2);
}

UNIT_RULE(answers__are_limited)
{
	read_arrives();
	expect_few();
}

/* The refusal waits until the READ before it is answered: at the rate of before. */
UNIT_RULE(answers__before_a_refusal_are_limited)
{
	const struct fx_sent *sent;
	unsigned int n;

	read_arrives();
	arrives(IBV_OPCODE_RC_RDMA_WRITE_ONLY, FX_RQ_PSN + FRAMES, 8, 8, 0xbad);
	expect_few();
	/* They go on by themselves, and the refusal follows. */
	sent = fx_run(&end, end.now + US(100000), &n);
	assert_in_range(n, FRAMES - 1, FRAMES);
	assert_fields(sent[n - 1], (opcode, IBV_OPCODE_RC_ACKNOWLEDGE),
			(syndrome, FX_NAK(ROCE_NAK_REMOTE_ACCESS)), (psn, FX_RQ_PSN + FRAMES));
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
}

/* A request of our own that nobody acknowledges any more does not end it before that. */
UNIT_RULE(answers__before_a_refusal_outlive_timeouts)
{
	const struct fx_sent *sent;
	unsigned int n;

	qp->tx.ack_timeout = US(1000);
	qp->tx.retries = 0;
	/* The rate stays where it is. */
	qp->cold.dcqcn.period_end = end.now + US(1000000);
	assert_int_equal(fx_send(&end, qp, 1, 0, 8, 0), 0);
	(void)fx_tx_one(&end);
	read_arrives();
	arrives(IBV_OPCODE_RC_RDMA_WRITE_ONLY, FX_RQ_PSN + FRAMES, 8, 8, 0xbad);
	sent = fx_run(&end, end.now + US(100000), &n);
	assert_int_equal(n, FRAMES + 1);
	assert_int_equal(sent[n - 1].syndrome, FX_NAK(ROCE_NAK_REMOTE_ACCESS));
	assert_int_equal(end.async_event[0].status, IBV_WC_REM_INV_REQ_ERR);
}

/* A NAK at its PSN would say that they were given. */
UNIT_RULE(answers__that_are_not_given_take_the_refusal_along)
{
	qp->tx.paced = false;
	read_arrives();
	arrives(IBV_OPCODE_RC_RDMA_WRITE_ONLY, FX_RQ_PSN + FRAMES, 8, 8, 0xbad);
	fx_to_error(qp);
	fx_tx_none(&end);
}
