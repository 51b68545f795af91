/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of a post; a post that is refused changes nothing. */

#include <errno.h>

#include "played_scene.h"

static int
setup(void **state)
{
	open_ordinary_scene();
	return 0;
}

/* Proves: rc.R9 rc.R17 */
UNIT_RULE(send__judges_the_request)
{
	const uint64_t addr = (uintptr_t)end.memory;
	struct roce_mr *foreign, *whole;
	struct roce_pd *other_pd = fx_pd(&end);

	foreign = fx_mr(other_pd, addr, 64, 0);
	/* As large as it gets: what is refused here is refused for the length of the message alone. */
	whole = fx_mr(end.pd, 0, UINT64_MAX, 0);
	{
		const uint32_t all = roce_mr_key(whole);
		const struct {
			struct roce_sge sge[2];
			uint32_t num_sge;
			uint8_t opcode;
			int want;
		} rule[] = {
			{ { { addr, 8, end.key } }, 1, IBV_WR_SEND, 0 },
			{ { { addr, 8, end.key } }, 1, IBV_WR_SEND_WITH_IMM, 0 },
			{ { { addr, 8, end.key } }, 0, IBV_WR_SEND, 0 },
			{ { { addr, 8, end.key } }, 1, IBV_WR_RDMA_WRITE, 0 },
			/* The connection allows none. */
			{ { { addr, 8, end.key } }, 1, IBV_WR_RDMA_READ, -ENOSPC },
			{ { { addr, 8, end.key } }, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, -ENOSPC },
			{ { { addr, 8, end.key } }, 1, 0xff, -EOPNOTSUPP },
			{ { { addr, 8, end.key } }, 5, IBV_WR_SEND, -EINVAL },
			{ { { addr, 8, end.key } }, UINT32_MAX, IBV_WR_SEND, -EINVAL },
			{ { { addr, 8, end.key ^ 1 } }, 1, IBV_WR_SEND, -EACCES },
			{ { { addr, 8, roce_mr_key(foreign) } }, 1, IBV_WR_SEND, -EPERM },
			{ { { addr + FX_MEMORY - 7, 8, end.key } }, 1, IBV_WR_SEND, -ERANGE },
			{ { { addr, 8, end.key }, { addr - 1, 8, end.key } }, 2, IBV_WR_SEND,
					-ERANGE },
			{ { { 0, 1u << 31, all } }, 1, IBV_WR_SEND, 0 },
			{ { { 0, (1u << 31) + 1, all } }, 1, IBV_WR_SEND, -EMSGSIZE },
			{ { { 0, 1u << 31, all }, { 0, 1, all } }, 2, IBV_WR_SEND, -EMSGSIZE },
			{ { { 0, UINT32_MAX, all }, { 0, 2, all } }, 2, IBV_WR_SEND, -EMSGSIZE },
		};
		uint32_t accepted = 0;

		for (size_t i = 0; i < RTE_DIM(rule); i++) {
			const struct roce_wr wr = {
				.wr_id = i,
				.sg = rule[i].sge,
				.num_sge = rule[i].num_sge,
				.opcode = rule[i].opcode,
			};

			assert_int_equal(roce_qp_post_send(qp, &wr), rule[i].want);
			accepted += rule[i].want == 0;
			assert_int_equal(fx_requests(qp), accepted);
		}
	}
	/* The one with 2 GiB at address 0 must never be read. */
	fx_to_error(qp);
	roce_mr_destroy(whole);
	roce_mr_destroy(foreign);
	assert_int_equal(roce_pd_destroy(other_pd), 0);
}

/* Exactly the depth asked for; an answered request makes room, signalled or not. */
UNIT_RULE(send__succeeds_exactly_max_times)
{
	for (uint32_t max = 1; max <= 65; max++) {
		const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
		struct roce_qp_attr attr = fx_attr(&end);
		uint32_t psn = FX_SQ_PSN;

		attr.max_send_wr = max;
		roce_qp_destroy(qp);
		qp = fx_play(&end, &attr, &connect, &peer);
		fx_send_many(&end, qp, max, 8, 0);
		assert_int_equal(fx_send(&end, qp, 99, 0, 8, 0), -ENOSPC);
		assert_int_equal(fx_tx_drop(&end), max);
		for (uint32_t i = 0; i < 2 * max; i++) {
			assert_int_equal(fx_send(&end, qp, 99, 0, 8, 0), -ENOSPC);
			fx_rx_answer(&end, &peer, FX_ACK, psn++);
			assert_int_equal(fx_send(&end, qp, i, 0, 8, 0), 0);
			fx_tx_drop(&end);
		}
	}
	assert_int_equal(roce_cq_count(end.send_cq), 0);
}

/* The largest request there is fits the last slot of the ring: the address sanitizer watches. */
UNIT_RULE(send__of_max_segments_fits_every_slot)
{
	for (uint16_t max = 1; max <= ROCE_SGE_MAX; max++) {
		struct roce_qp_attr attr = fx_attr(&end);
		struct roce_sge sge[ROCE_SGE_MAX];
		const struct roce_wr wr = { .sg = sge, .num_sge = max, .opcode = IBV_WR_SEND };
		const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
		unsigned int n;

		for (uint16_t i = 0; i < max; i++)
			sge[i] = (struct roce_sge){ (uintptr_t)end.memory + i, 1, end.key };
		attr.max_send_wr = 4;
		attr.max_send_sge = max;
		roce_qp_destroy(qp);
		qp = fx_qp(&end, &attr);
		fx_up(qp, &connect);
		for (unsigned int i = 0; i < 4; i++)
			assert_int_equal(roce_qp_post_send(qp, &wr), 0);
		for (unsigned int i = 0; i < 4; i++)
			assert_int_equal(fx_tx_all(&end, &n)->payload_len, max);
	}
}

/* By state: refused in RESET; kept in RTR until the peer is known to be ready; flushed in ERR. */
UNIT_RULE(send__depends_on_the_state)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);

	fx_to_reset(qp);
	assert_int_equal(fx_send(&end, qp, 1, 0, 8, 0), -EINVAL);

	roce_engine_lock(end.engine);
	assert_int_equal(roce_qp_to_rtr(qp, &connect), 0);
	roce_engine_unlock(end.engine);
	assert_int_equal(fx_send(&end, qp, 2, 0, 8, 0), 0);
	fx_tx_none(&end);
	roce_engine_lock(end.engine);
	assert_int_equal(roce_qp_to_rts(qp), 0);
	roce_engine_unlock(end.engine);
	assert_int_equal(fx_tx_one(&end).psn, FX_SQ_PSN);

	fx_to_error(qp);
	assert_int_equal(fx_event(end.send_cq).wr_id, 2);
	for (uint64_t i = 3; i < 1000; i++) {
		assert_int_equal(fx_send(&end, qp, i, 0, 8, 0), 0);
		fx_tx_none(&end);
		assert_fields(fx_event(end.send_cq), (wr_id, i), (status, IBV_WC_WR_FLUSH_ERR));
	}
	assert_int_equal(fx_requests(qp), 0);
}

/* A SEND of 8 bytes. */
static struct roce_wr
send_of(const struct roce_sge *sge, uint64_t wr_id)
{
	return (struct roce_wr){ .wr_id = wr_id,
		.sg = sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.flags = ROCE_WR_SIGNALED };
}

/* All requests of the list are posted, in their order; or none, wherever the one stands that is refused. */
UNIT_RULE(list__is_posted_as_a_whole_or_not_at_all)
{
	const struct roce_sge good = { (uintptr_t)end.memory, 8, end.key };
	const struct roce_sge bad = { (uintptr_t)end.memory, 8, end.key ^ 1 };
	struct roce_wr wr[4];

	for (unsigned int refused = 0; refused < 4; refused++) {
		for (unsigned int i = 0; i < 4; i++)
			wr[i] = send_of(i == refused ? &bad : &good, i);
		assert_int_equal(roce_qp_post_list(qp, wr, 4), -EACCES);
		assert_int_equal(fx_requests(qp), 0);
		fx_tx_none(&end);
	}
	wr[3].sg = &good;
	assert_int_equal(roce_qp_post_list(qp, wr, 4), 0);
	assert_int_equal(fx_requests(qp), 4);
	assert_int_equal(fx_tx_drop(&end), 4);
	fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN + 3);
	for (uint64_t i = 0; i < 4; i++) {
		struct roce_event event;

		assert_int_equal(roce_cq_poll(end.send_cq, &event, 1), 1);
		assert_fields(event, (wr_id, i), (status, IBV_WC_SUCCESS));
	}
	assert_int_equal(roce_qp_post_list(qp, wr, 0), 0);
	fx_to_reset(qp);
	assert_int_equal(roce_qp_post_list(qp, wr, 4), -EINVAL);
}

/* A list longer than the room is refused, and one as long as it is posted. */
UNIT_RULE(list__has_room_for_all)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	const struct roce_sge good = { (uintptr_t)end.memory, 8, end.key };
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_wr wr[8];

	for (unsigned int i = 0; i < RTE_DIM(wr); i++)
		wr[i] = send_of(&good, i);
	attr.max_send_wr = 7;
	roce_qp_destroy(qp);
	qp = fx_play(&end, &attr, &connect, &peer);
	assert_int_equal(roce_qp_post_list(qp, wr, 8), -ENOSPC);
	assert_int_equal(roce_qp_post_list(qp, wr, 3), 0);
	assert_int_equal(roce_qp_post_list(qp, wr, 5), -ENOSPC);
	assert_int_equal(fx_requests(qp), 3);
	assert_int_equal(fx_tx_drop(&end), 3);
	fx_rx_answer(&end, &peer, FX_ACK, FX_SQ_PSN + 1);
	assert_int_equal(roce_qp_post_list(qp, wr, 6), 0);
	assert_int_equal(fx_requests(qp), 7);
}

/* The first large request of a list moves the queue to larger slots, and what stands in front of it along. */
UNIT_RULE(list__moves_to_larger_slots)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_sge sge[ROCE_SGE_MAX];
	struct roce_wr wr[3];
	unsigned int n;

	for (uint16_t i = 0; i < ROCE_SGE_MAX; i++)
		sge[i] = (struct roce_sge){ (uintptr_t)end.memory + i, 1, end.key };
	for (unsigned int i = 0; i < RTE_DIM(wr); i++)
		wr[i] = send_of(sge, i);
	wr[1].num_sge = ROCE_SGE_MAX;
	attr.max_send_sge = ROCE_SGE_MAX;
	roce_qp_destroy(qp);
	assert_int_equal(roce_qp_create_small(&attr, &qp), 0);
	fx_up(qp, &connect);
	/* First it makes slots, and then the larger ones. */
	fx_fail(2);
	assert_int_equal(roce_qp_post_list(qp, wr, 3), -ENOMEM);
	assert_true(fx_failed());
	assert_int_equal(fx_requests(qp), 0);
	assert_int_equal(roce_qp_post_list(qp, wr, 3), 0);
	assert_int_equal(fx_tx_all(&end, &n)->payload_len, 1);
}

/* A post makes the engine due at once; an idle engine is due never. */
UNIT_RULE(send__rings_the_doorbell)
{
	fx_tx_none(&end);
	assert_int_equal(roce_engine_deadline(end.engine), ROCE_NEVER);
	assert_int_equal(fx_send(&end, qp, 1, 0, 8, 0), 0);
	assert_int_equal(roce_engine_deadline(end.engine), 0);
	fx_tx_drop(&end);
	assert_true(roce_engine_deadline(end.engine) > end.now);
	assert_true(roce_engine_deadline(end.engine) < ROCE_NEVER);
}

/* On a shared queue there is nothing to post to; on its own in any state, flushed in ERR. */
UNIT_RULE(recv__goes_to_the_own_queue)
{
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_sge sge;
	struct roce_recv_wr wr = fx_recv(&end, &sge, 1, 0, 64);

	assert_int_equal(roce_qp_post_recv(qp, &wr), -EINVAL);
	roce_qp_destroy(qp);
	attr.srq = NULL;
	qp = fx_qp(&end, &attr);
	assert_int_equal(roce_qp_post_recv(qp, &wr), 0);
	fx_to_error(qp);
	assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_WR_FLUSH_ERR);
	for (uint64_t i = 0; i < 100; i++) {
		wr.wr_id = i;
		assert_int_equal(roce_qp_post_recv(qp, &wr), 0);
		fx_tx_none(&end);
		assert_fields(fx_event(end.recv_cq), (wr_id, i), (status, IBV_WC_WR_FLUSH_ERR));
	}
}
