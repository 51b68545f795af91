/* SPDX-License-Identifier: BSD-3-Clause */
/* A zero-copy receive is posted on another thread, just when a message looks for one. */

#include "zcrx_scene.h"

bool __real_roce_zcrx_ready(struct roce_qp *of, const struct roce_pkt *pkt);
bool __wrap_roce_zcrx_ready(struct roce_qp *of, const struct roce_pkt *pkt);

static bool post_behind;

/* Linked in place of the real one (ld --wrap): the other thread posts when that has looked. */
bool
__wrap_roce_zcrx_ready(struct roce_qp *of, const struct roce_pkt *pkt)
{
	bool ready = __real_roce_zcrx_ready(of, pkt);

	if (post_behind)
		post(7, 1);
	post_behind = false;
	return ready;
}

/* A receive that came after the message had looked is not taken by it: roce_zcrx_ready() has not checked for it. */
UNIT_RULE(receive__that_comes_behind_the_look_waits)
{
	struct rte_mbuf *m;

	post_behind = true;
	hear();
	fx_tx_one(&end);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	assert_fields(*fx_stats(&end), (rnr_nak_sent, 1), (out_of_buffer, 1));
	if (post_behind)
		post(7, 1);
	post_behind = false;
	psn--;
	hear();
	m = take(7);
	judge(m, psn - 1);
	rte_pktmbuf_free(m);
}
