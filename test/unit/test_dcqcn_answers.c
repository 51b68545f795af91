/* SPDX-License-Identifier: BSD-3-Clause */
/* A rate limiter holds the answers to READs, too, also when they are the last that it does. */

#include <string.h>

#include "engine/dcqcn.h"
#include "engine/qp.h"
#include "fixture.h"

#define US(n)  ((uint64_t)(n)*FX_HZ / 1000000)
#define FRAMES 16u
#define ALL    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static struct fx_end end;
static struct fx_peer peer;
static struct roce_qp *qp;
static struct roce_mr *mr;

/* A queue pair that was notified so often that it sends at the lowest rate: 1 us for 1.25 bytes. */
static int
setup(void **state)
{
	struct roce_qp_connect connect;
	struct roce_qp_attr attr;

	fx_end_open(&end, 1, NULL);
	attr = fx_attr(&end);
	attr.max_dest_rd_atomic = 2;
	connect = fx_connect(&end, fx_ip(99), 0x777);
	connect.max_dest_rd_atomic = 2;
	qp = fx_qp(&end, &attr);
	fx_up(qp, &connect);
	peer = fx_peer_of(qp, &connect);
	assert_int_equal(roce_mr_create(end.pd, (uintptr_t)end.memory, FX_MEMORY, ALL, &mr), 0);
	fx_tx_none(&end);
	for (unsigned int i = 0; i < 1000; i++) {
		fx_rx(&end, fx_request(&peer, ROCE_OPCODE_CNP, 0, 0, 0));
		end.now += US(ROCE_CNP_INTERVAL_US);
	}
	assert_int_equal(qp->cold.dcqcn.current, ROCE_DCQCN_RATE_MIN);
	return 0;
}

static int
teardown(void **state)
{
	roce_qp_destroy(qp);
	roce_mr_destroy(mr);
	fx_end_close(&end);
	return fx_live() != 0 || !unit_pool_is_full();
}

/* A READ or WRITE of the peer. */
static void
arrives(uint8_t opcode, uint32_t psn, uint32_t payload, uint32_t length, uint32_t rkey)
{
	struct rte_mbuf *m = fx_request(&peer, opcode, psn, payload, 0);
	const struct roce_reth reth = { rte_cpu_to_be_64((uintptr_t)end.memory),
		rte_cpu_to_be_32(rkey), rte_cpu_to_be_32(length) };
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	memcpy((void *)(uintptr_t)roce_pkt_reth(&pkt), &reth, sizeof(reth));
	roce_icrc_put(m, &peer.template);
	fx_rx(&end, m);
}

static void
read_arrives(void)
{
	arrives(IBV_OPCODE_RC_RDMA_READ_REQUEST, FX_RQ_PSN, 0, FRAMES * FX_MTU, roce_mr_key(mr));
}

/* At the lowest rate there is a token for one frame, and nothing for long after that. */
static void
expect_few(void)
{
	unsigned int n;

	(void)fx_tx_all(&end, &n);
	assert_in_range(n, 1, 2);
}

static void
answers__are_limited(void **state)
{
	read_arrives();
	expect_few();
}

/* The refusal waits until the READ before it is answered: at the rate of before. */
static void
answers__before_a_refusal_are_limited(void **state)
{
	const struct fx_sent *sent;
	unsigned int n;

	read_arrives();
	arrives(IBV_OPCODE_RC_RDMA_WRITE_ONLY, FX_RQ_PSN + FRAMES, 8, 8, 0xbad);
	expect_few();
	/* They go on by themselves, and the refusal follows. */
	sent = fx_run(&end, end.now + US(100000), &n);
	assert_in_range(n, FRAMES - 1, FRAMES);
	assert_int_equal(sent[n - 1].opcode, IBV_OPCODE_RC_ACKNOWLEDGE);
	assert_int_equal(sent[n - 1].syndrome, FX_NAK(ROCE_NAK_REMOTE_ACCESS));
	assert_int_equal(sent[n - 1].psn, FX_RQ_PSN + FRAMES);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers__are_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(
				answers__before_a_refusal_are_limited, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
