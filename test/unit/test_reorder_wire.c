/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reordering window, between two ends: a wire that is late with every fiftieth frame, by less than the round trip, and loses
 * nothing. A tick is 1 ns.
 */

#include <string.h>

#include "queue/qp.h"
#include "fixture.h"
#include "fixture_rdma.h"

#define MESSAGES 6000u
#define LEN      64u
#define TURN_NS  200u   /**< between two polls of both ends */
#define WIRE_NS  10000u /**< one way */
#define LATE_NS  8000u  /**< more, for a late frame */
#define LATE_OF  50u
#define FLIGHT   1024u /**< frames on the wire at the most */
#define BURST    32u

struct flight {
	uint64_t due;
	struct rte_mbuf *frame;
};

static struct fx_end near, far;
static struct roce_qp *qp;
static struct flight out[FLIGHT], back[FLIGHT];
static uint32_t frames, late;

static int
setup(void **state)
{
	struct roce_qp_connect connect;
	struct roce_qp *peer;

	fx_end_open(&near, 1, NULL);
	fx_end_open(&far, 2, NULL);
	qp = fx_qp(&near, NULL);
	peer = fx_qp(&far, NULL);
	connect = fx_connect(&near, far.ip, roce_qp_number(peer));
	connect.extensions = true;
	fx_up(qp, &connect);
	connect = fx_connect(&far, near.ip, roce_qp_number(qp));
	connect.sq_psn = FX_RQ_PSN;
	connect.rq_psn = FX_SQ_PSN;
	connect.extensions = true;
	fx_up(peer, &connect);
	memset(out, 0, sizeof(out));
	memset(back, 0, sizeof(back));
	frames = late = 0;
	return 0;
}

static int
teardown(void **state)
{
	fx_end_close(&near);
	fx_end_close(&far);
	return fx_left();
}

/* The frames that an end sends now are on the wire. */
static void
leave(struct fx_end *from, struct flight *wire, bool is_late)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t n = fx_take(from, pkts, BURST);

	for (uint16_t i = 0, at = 0; i < n; i++) {
		while (wire[at].frame != NULL)
			assert_true(++at < FLIGHT);
		wire[at] = (struct flight){ from->now + WIRE_NS, pkts[i] };
		if (is_late && ++frames % LATE_OF == 0) {
			wire[at].due += LATE_NS;
			late++;
		}
	}
}

/* Frames that are due arrive, the earliest first. */
static void
arrive(struct fx_end *to, struct flight *wire)
{
	for (;;) {
		struct flight *next = NULL;

		for (struct flight *f = wire; f < wire + FLIGHT; f++)
			if (f->frame != NULL && f->due <= to->now &&
					(next == NULL || f->due < next->due))
				next = f;
		if (next == NULL)
			return;
		fx_rx(to, next->frame);
		next->frame = NULL;
	}
}

/* Frames that are only late are not sent again, but for the first ones, which show it. */
UNIT_RULE(late__frames_are_not_sent_again)
{
	uint32_t posted = 0, done = 0;
	struct roce_event event;

	fx_fill_srq(&far, 256, LEN);
	for (uint32_t turn = 0; done < MESSAGES; turn++) {
		assert_true(turn < 100 * MESSAGES);
		near.now = far.now += TURN_NS;
		if (posted < MESSAGES && posted - done < ROCE_WINDOW / 2)
			assert_int_equal(fx_send(&near, qp, posted++, 0, LEN, ROCE_WR_SIGNALED), 0);
		leave(&near, out, true);
		leave(&far, back, false);
		arrive(&far, out);
		arrive(&near, back);
		while (roce_cq_poll(near.send_cq, &event, 1) == 1)
			assert_int_equal(event.wr_id, done++);
		while (roce_cq_poll(far.recv_cq, &event, 1) == 1)
			fx_fill_srq(&far, 1, LEN);
	}
	assert_true(late >= MESSAGES / LATE_OF);
	assert_in_range(fx_stats(&near)->retransmits, 1, late / 10);
}
