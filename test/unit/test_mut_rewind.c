/* SPDX-License-Identifier: BSD-3-Clause */
/* A requester that was set back: what is acknowledged meanwhile takes its cursor along, also over binds. */

#include "fixture_rdma.h"
#include "mw_scene.h"

#define DEPTH 4u /**< requests: the ring comes round soon */

static struct roce_qp *asker;

static int
setup_asker(void **state)
{
	struct roce_qp_connect connect;
	struct roce_qp_attr attr;

	open_scene(1);
	attr = fx_attr(&end);
	attr.max_send_wr = DEPTH;
	connect = fx_connect(&end, fx_ip(99), 0x777);
	connect.max_rd_atomic = 1;
	asker = fx_play(&end, &attr, &connect, &peer);
	return 0;
}

static int
teardown_asker(void **state)
{
	roce_qp_destroy(asker);
	return teardown(state);
}

static void
post_read(uint64_t wr_id)
{
	const struct roce_sge sge = { (uintptr_t)end.memory, 8, end.key };
	const struct roce_wr wr = { .wr_id = wr_id,
		.sg = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = 0x1000,
		.rkey = 0x99 };

	assert_int_equal(roce_qp_post_send(asker, &wr), 0);
}

static void
answer_read(uint32_t psn)
{
	fx_rx_response(&end, &peer, IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, psn, 8);
}

/* One frame leaves, and no more: the device is full. */
static void
send_one(void)
{
	struct rte_mbuf *m = NULL;

	assert_int_equal(fx_take(&end, &m, 1), 1);
	rte_pktmbuf_free(m);
}

/*
 * READ, bind, SEND are sent; the READ's answer is lost, and it is asked again. Its answer completes the bind, too,
 * before the requester came to it again. Posts then fill the places of both: what follows on the wire is the SEND.
 */
UNIT_RULE_IN(rewind__does_not_stay_behind_binds_that_complete, setup_asker, teardown_asker)
{
	struct roce_mw_bind bind = part(0, 64, PEER_READS);
	struct fx_sent sent[4];

	post_read(0);
	assert_int_equal(post_bind(asker, 1, &bind, ROCE_WR_SIGNALED), 0);
	assert_int_equal(fx_send(&end, asker, 2, 0, 33, ROCE_WR_SIGNALED), 0);
	assert_int_equal(fx_tx(&end, sent, 4), 2);
	acknowledge(1);
	send_one();
	answer_read(FX_SQ_PSN);
	expect_send_event(0, IBV_WC_SUCCESS);
	expect_bind_event(1, IBV_WC_SUCCESS);
	for (uint64_t i = 3; i < 6; i++)
		assert_int_equal(
				fx_send(&end, asker, i, 0, 100 + (uint32_t)i, ROCE_WR_SIGNALED), 0);
	assert_true(fx_tx(&end, sent, 4) > 0);
	assert_fields(sent[0], (psn, FX_SQ_PSN + 1), (payload_len, 33));
}
