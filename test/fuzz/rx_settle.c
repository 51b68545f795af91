/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a world: whoever was not misled gets all messages. */

#include "rx_world.h"

/*
 * While one peer waits for a retransmission, another one may be told many times that the receives are used up: a
 * patience of a second, which some timeouts in a row can make, is thousands of polls.
 */
#define POLLS_MAX 30000u

uint64_t
rx_next_deadline(void)
{
	uint64_t at = ROCE_NEVER;

	for (unsigned int s = 0; s < 2; s++) {
		const struct rx_side *side = &rx_world.side[s];

		for (unsigned int i = 0; i < side->engines; i++)
			at = RTE_MIN(at, roce_engine_deadline(roce_domain_engine(side->domain, i)));
	}
	return at;
}

void
rx_dismiss(void)
{
	for (unsigned int s = 0; s < 2; s++) {
		for (unsigned int talk = 0; talk < RX_TALKS; talk++) {
			struct rx_end *end = &rx_world.side[s].end[talk];

			if (!rx_is_sound(end))
				rx_end_close(end);
		}
	}
}

static bool
all_done(void)
{
	for (unsigned int talk = 0; talk < RX_REAL; talk++) {
		if (!rx_all_done(&rx_world.side[0].end[talk]) ||
				!rx_all_done(&rx_world.side[1].end[talk]))
			return false;
	}
	return true;
}

uint32_t
rx_serve(void)
{
	uint32_t events = 0;

	for (unsigned int s = 0; s < 2; s++) {
		struct rx_side *side = &rx_world.side[s];

		rx_post_receives(side, NULL, 8);
		for (unsigned int talk = 2; talk < RX_REAL; talk++) {
			struct rx_end *end = &side->end[talk];

			/* A broken one flushes what it is given, for ever. */
			if (end->qp != NULL && roce_qp_state(end->qp) == ROCE_QP_RTS)
				rx_post_receives(side, end, 2);
		}
		events += rx_poll(side, UINT32_MAX);
	}
	return events;
}

/* The script may have used up most of the patience of a connection; those with some left must not end any more. */
static void
examine(void)
{
	for (unsigned int s = 0; s < 2; s++) {
		for (unsigned int talk = 0; talk < RX_REAL; talk++) {
			struct rx_end *end = &rx_world.side[s].end[talk];

			end->healthy = end->qp != NULL && end->qp->tx.retries > 1;
		}
	}
}

void
rx_settle(void)
{
	uint32_t n;

	base_dry(false);
	examine();
	/* A watermark that is crossed is nobody's fault. */
	(void)roce_srq_set_low(rx_world.side[0].srq, 0);
	(void)roce_srq_set_low(rx_world.side[1].srq, 0);
	for (n = 0; n < POLLS_MAX && !all_done(); n++) {
		uint32_t said = rx_serve();
		uint64_t at;

		said += rx_speak(&rx_world.side[0], 32) + rx_speak(&rx_world.side[1], 32);
		rx_deliver_all();
		at = rx_next_deadline();
		if (said == 0 && at != ROCE_NEVER)
			rx_world.now = RTE_MAX(rx_world.now + 1, at);
	}
	BASE_MUST(n < POLLS_MAX, "a message is lost");
}
