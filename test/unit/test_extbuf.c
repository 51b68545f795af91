/* SPDX-License-Identifier: BSD-3-Clause */
/* Payload that is not copied: what frames are made of, and that completions wait until the device has released them. */

#include <errno.h>

#include "extbuf_scene.h"

/* Does the frame refer to the memory of a? */
static bool
refers(const struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next) {
		if (RTE_MBUF_HAS_EXTBUF(m))
			return true;
	}
	return false;
}

/* Headers, the region's own memory under the name that the device knows, pad and ICRC; any receiver reads it. */
UNIT_RULE(frame__has_three_segments)
{
	receive(1);
	post(1);
	assert_int_equal(send(), 3);
	for (unsigned int i = 0; i < 3; i++) {
		const struct rte_mbuf *m = held[i];
		uint32_t len = i < 2 ? FX_MTU : SEND - 2 * FX_MTU;

		rte_mbuf_sanity_check(m, 1);
		assert_int_equal(m->nb_segs, 3);
		assert_false(RTE_MBUF_HAS_EXTBUF(m));
		assert_ptr_equal(
				rte_pktmbuf_mtod(m->next, uint8_t *), a.memory + ROOM + i * FX_MTU);
		assert_int_equal(
				rte_pktmbuf_iova(m->next), (uintptr_t)a.memory + ROOM + i * FX_MTU);
		assert_int_equal(m->next->data_len, len);
		assert_int_equal(m->next->next->data_len, (-len & 3) + ROCE_ICRC_LEN);
		assert_int_equal(m->pkt_len, m->data_len + len + (-len & 3) + ROCE_ICRC_LEN);
	}
	carry(0);
	assert_memory_equal(b.memory + MIRROR, a.memory + ROOM, SEND);
	assert_int_equal(fx_event(b.recv_cq).byte_len, SEND);
	assert_int_equal(fx_stats(&b)->rx_icrc_encapsulated, 0);
	assert_int_equal(fx_stats(&a)->tx_zero_copy, 3);
	answer();
}

/* net_ring and its like: the very frame of the sender is what the receiver reads and frees. */
UNIT_RULE(frame__may_go_to_the_peer_itself)
{
	receive(1);
	post(0);
	fx_exchange(&a, &b);
	assert_memory_equal(b.memory + MIRROR, a.memory, SEND);
	assert_int_equal(fx_stats(&a)->tx_zero_copy, 3);
	want(0, IBV_WC_SUCCESS);
	assert_int_equal(fx_stats(&a)->tx_release_waits, 0);
}

/* The pad is zero, also where its segment has been something else before (IBTA Vol 1, 5.2.3). */
UNIT_RULE(frame__pads_with_zeros)
{
	static struct rte_mbuf *dirty[8192];
	unsigned int n = 0;

	for (; n < RTE_DIM(dirty) && (dirty[n] = rte_pktmbuf_alloc(unit_pool())) != NULL; n++)
		memset(rte_pktmbuf_mtod(dirty[n], void *), 0xee, 64);
	rte_pktmbuf_free_bulk(dirty, n);
	assert_int_equal(fx_send(&a, qa, 0, 0, LEAST + 1, 0), 0);
	assert_int_equal(send(), 1);
	assert_int_equal(held[0]->next->next->data_len, 3 + ROCE_ICRC_LEN);
	assert_memory_equal(rte_pktmbuf_mtod(held[0]->next->next, uint8_t *), "\0\0\0", 3);
}

/* A WRITE as well; READs, atomics and what is inline have nothing of the kind. */
UNIT_RULE(write__is_referred_to)
{
	struct roce_sge sge = { (uintptr_t)a.memory, SEND, a.key };
	struct roce_wr wr = {
		.sg = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .flags = ROCE_WR_SIGNALED
	};
	struct roce_mr *mr = fx_mr(b.pd, (uintptr_t)b.memory, FX_MEMORY, FX_ALL);

	wr.rkey = roce_mr_key(mr);
	wr.remote_addr = (uintptr_t)b.memory + MIRROR;
	assert_int_equal(roce_qp_post_send(qa, &wr), 0);
	assert_int_equal(send(), 3);
	assert_true(refers(held[0]));
	carry(0);
	assert_memory_equal(b.memory + MIRROR, a.memory, SEND);
	answer();
	want_none();
	release(3);
	poll_once();
	want(0, IBV_WC_SUCCESS);
}

/* A short payload is copied, and does not count as missed. */
UNIT_RULE(short__is_copied)
{
	receive(1);
	assert_int_equal(fx_send(&a, qa, 0, 0, LEAST - 1, ROCE_WR_SIGNALED), 0);
	assert_int_equal(send(), 1);
	assert_int_equal(held[0]->nb_segs, 1);
	assert_int_equal(fx_stats(&a)->tx_zero_copy_missed, 0);
	carry(0);
	answer();
	want(0, IBV_WC_SUCCESS);
}

/* One frame in each case: it is copied, arrives, completes without waiting, and is counted. */
static void
expect_copied(const struct roce_wr *wr)
{
	uint64_t missed = fx_stats(&a)->tx_zero_copy_missed;

	receive(1);
	assert_int_equal(roce_qp_post_send(qa, wr), 0);
	assert_int_equal(send(), 1);
	assert_int_equal(held[helds - 1]->nb_segs, 1);
	assert_int_equal(fx_stats(&a)->tx_zero_copy_missed, missed + 1);
	carry(helds - 1);
	answer();
	want(wr->wr_id, IBV_WC_SUCCESS);
	assert_memory_equal(b.memory + MIRROR, a.memory, LEAST);
}

UNIT_RULE(copied__where_the_device_cannot_read)
{
	struct roce_sge sge[2] = { { (uintptr_t)a.memory, LEAST, a.key } };
	struct roce_wr wr = {
		.sg = sge, .num_sge = 1, .opcode = IBV_WR_SEND, .flags = ROCE_WR_SIGNALED
	};
	struct roce_mr *mr;

	/* Not of one segment for the device. */
	no_iova = true;
	expect_copied(&wr);
	no_iova = false;
	/* A region that it cannot read. */
	may_read = false;
	mr = fx_mr(a.pd, sge[0].addr, LEAST, 0);
	sge[0].lkey = roce_mr_key(mr);
	expect_copied(&wr);
	assert_int_equal(roce_mr_destroy(mr), 0);
	/* Two segments of the request in one frame. */
	sge[0] = (struct roce_sge){ (uintptr_t)a.memory, LEAST - 1, a.key };
	sge[1] = (struct roce_sge){ (uintptr_t)a.memory + LEAST - 1, 1, a.key };
	wr.num_sge = 2;
	expect_copied(&wr);
	assert_int_equal(fx_stats(&a)->tx_zero_copy, 0);
}

/* No frames for the other segments: the one there is has a copy, and nothing is lost. */
UNIT_RULE(copied__while_the_pool_is_empty)
{
	const struct roce_sge sge = { (uintptr_t)a.memory, LEAST, a.key };
	const struct roce_wr wr = {
		.sg = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .flags = ROCE_WR_SIGNALED
	};
	struct rte_mbuf *all[8192];
	struct roce_engine *e = a.engine;
	unsigned int n = 0;

	receive(1);
	assert_int_equal(roce_qp_post_send(qa, &wr), 0);
	roce_engine_lock(e);
	while (e->spares > 0)
		rte_pktmbuf_free(e->spare[--e->spares]);
	roce_engine_unlock(e);
	while (n < RTE_DIM(all) && (all[n] = rte_pktmbuf_alloc(unit_pool())) != NULL)
		n++;
	assert_true(n > 2 && n < RTE_DIM(all));
	/* One, then two: of three that it takes. */
	rte_pktmbuf_free(all[--n]);
	rte_pktmbuf_free(all[--n]);
	assert_int_equal(send(), 1);
	assert_int_equal(held[0]->nb_segs, 1);
	rte_pktmbuf_free_bulk(all, n);
	carry(0);
	answer();
	want(0, IBV_WC_SUCCESS);
	assert_int_equal(fx_stats(&a)->tx_zero_copy_missed, 1);
}

/* A fifth region of one request. */
UNIT_RULE(copied__beyond_four_regions)
{
	struct roce_sge sge[4];
	struct roce_wr wr = { .sg = sge, .opcode = IBV_WR_SEND, .flags = ROCE_WR_SIGNALED };
	struct roce_mr *mr[5] = { NULL };
	struct roce_qp_attr attr = fx_attr(&a);
	struct roce_sge segment[5];
	struct roce_qp *many;

	attr.max_send_sge = 5;
	many = fx_qp(&a, &attr);
	roce_qp_destroy(qb);
	qb = fx_qp(&b, NULL);
	fx_join(&a, many, &b, qb);
	for (unsigned int i = 0; i < 5; i++) {
		mr[i] = fx_mr(a.pd, (uintptr_t)a.memory + i * FX_MTU, FX_MTU, 0);
		segment[i] = (struct roce_sge){ (uintptr_t)a.memory + i * FX_MTU, FX_MTU,
			roce_mr_key(mr[i]) };
	}
	wr.sg = segment;
	wr.num_sge = 5;
	assert_int_equal(roce_qp_post_send(many, &wr), 0);
	assert_int_equal(send(), 5);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(refers(held[i]), i < ROCE_EXTBUF_REGIONS);
	roce_qp_destroy(many);
	/* Each region that is referred to is kept, the others not. */
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(roce_mr_destroy(mr[i]), i < ROCE_EXTBUF_REGIONS ? -EBUSY : 0);
	release(helds);
	for (unsigned int i = 0; i < ROCE_EXTBUF_REGIONS; i++)
		assert_int_equal(roce_mr_destroy(mr[i]), 0);
}

/* However many spare frames there are when some turn out not to be needed: as many rounds as there may be. */
UNIT_RULE(copied__gives_back_what_it_did_not_need)
{
	struct roce_qp_attr attr = fx_attr(&a);
	struct roce_mr *mr[5] = { NULL };
	struct roce_sge segment[5];
	const struct roce_wr wr = {
		.sg = segment, .num_sge = 5, .opcode = IBV_WR_SEND, .flags = ROCE_WR_SIGNALED
	};

	for (unsigned int i = 0; i < 5; i++) {
		uint64_t at = (uintptr_t)a.memory + i * FX_MTU;

		mr[i] = fx_mr(a.pd, at, FX_MTU, 0);
		segment[i] = (struct roce_sge){ at, FX_MTU, roce_mr_key(mr[i]) };
	}
	attr.max_send_sge = 5;
	for (unsigned int round = 0; round < 2 * ROCE_SPARE_MAX; round++) {
		struct roce_qp *many = fx_qp(&a, &attr);

		roce_qp_destroy(qb);
		qb = fx_qp(&b, NULL);
		fx_join(&a, many, &b, qb);
		assert_int_equal(roce_qp_post_send(many, &wr), 0);
		assert_int_equal(send(), 5);
		assert_false(refers(held[4]));
		roce_qp_destroy(many);
		release(helds);
	}
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(roce_mr_destroy(mr[i]), 0);
}

/* The rule: acknowledged is not enough, and the last frame decides. */
UNIT_RULE(completion__waits_for_the_last_frame)
{
	receive(1);
	post(0);
	assert_int_equal(send(), 3);
	carry(0);
	answer();
	poll_once();
	want_none();
	assert_true(roce_engine_waits_for_release(a.engine));
	release(2);
	poll_once();
	want_none();
	release(1);
	/* A release needs no frame and no timer to be seen. */
	assert_int_equal(roce_engine_deadline(a.engine), 0);
	poll_once();
	want(0, IBV_WC_SUCCESS);
	assert_false(roce_engine_waits_for_release(a.engine));
	assert_int_equal(fx_stats(&a)->tx_release_waits, 1);
}

/* Released is not enough either. */
UNIT_RULE(completion__waits_for_the_acknowledgement)
{
	receive(1);
	post(0);
	assert_int_equal(send(), 3);
	carry(0);
	release(3);
	poll_once();
	want_none();
	answer();
	want(0, IBV_WC_SUCCESS);
}

/* Frames of a request that were sent again count like the first ones, those that were lost, too. */
UNIT_RULE(completion__waits_for_frames_sent_again)
{
	receive(1);
	post(0);
	assert_int_equal(send(), 3);
	a.now += FX_HZ;
	assert_true(send() > 0);
	carry(3);
	while (answer() > 0) {
		unsigned int from = helds;

		send();
		carry(from);
	}
	poll_once();
	want_none();
	assert_true(helds > 5);
	/* All but the last frame that refers to it; acknowledgements are no part of this. */
	while (helds > 1) {
		release(1);
		poll_once();
		if (helds > 1)
			want_none();
	}
	release(helds);
	poll_once();
	want(0, IBV_WC_SUCCESS);
}

/* A request whose payload was copied still completes after those that were posted before it. */
UNIT_RULE(completion__keeps_the_order)
{
	receive(4);
	post(0);
	assert_int_equal(fx_send(&a, qa, 1, ROOM, 8, ROCE_WR_SIGNALED), 0);
	assert_int_equal(fx_send(&a, qa, 2, ROOM, 8, ROCE_WR_SIGNALED | ROCE_WR_INLINE), 0);
	post(3);
	assert_int_equal(send(), 8);
	carry(0);
	answer();
	want_none();
	/* The last message first. */
	for (unsigned int i = 5; i < 8; i++)
		rte_pktmbuf_free(held[i]);
	helds = 5;
	poll_once();
	want_none();
	release(3);
	poll_once();
	for (uint64_t i = 0; i < 4; i++)
		want(i, IBV_WC_SUCCESS);
	want_none();
}

/* A slot is the poster's when its request has its completion, not before; nothing else keeps the protocol waiting. */
UNIT_RULE(slot__is_kept_until_then)
{
	receive(8);
	fx_send_many(&a, qa, 7, LEAST, 0);
	post(7);
	send();
	carry(0);
	answer();
	assert_int_equal(fx_send(&a, qa, 9, 0, 8, 0), -ENOSPC);
	assert_int_equal(fx_requests(qa), 8);
	assert_true(qa->tx.tail == qa->post.head);
	release(1);
	poll_once();
	assert_int_equal(fx_send(&a, qa, 9, 0, 8, 0), 0);
	assert_int_equal(fx_send(&a, qa, 9, 0, 8, 0), -ENOSPC);
}

/* A READ that is answered behind a message that waits completes behind it, and the next one may begin. */
UNIT_RULE(read__goes_on_behind_what_waits)
{
	struct roce_qp_attr attr = fx_attr(&b);
	struct roce_sge sge = { (uintptr_t)a.memory + 2 * ROOM, 16, a.key };
	struct roce_wr wr = {
		.sg = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ, .flags = ROCE_WR_SIGNALED
	};
	struct roce_mr *mr;
	struct roce_qp *reader;

	attr.max_dest_rd_atomic = 1;
	roce_qp_destroy(qb);
	qb = fx_qp(&b, &attr);
	reader = fx_qp(&a, NULL);
	fx_join_reading(&a, reader, &b, qb, 1);
	mr = fx_mr(b.pd, (uintptr_t)b.memory, FX_MEMORY, FX_ALL);
	wr.rkey = roce_mr_key(mr);
	wr.remote_addr = (uintptr_t)b.memory;
	receive(1);
	assert_int_equal(fx_send(&a, reader, 0, 0, LEAST, ROCE_WR_SIGNALED), 0);
	for (wr.wr_id = 1; wr.wr_id < 3; wr.wr_id++)
		assert_int_equal(roce_qp_post_send(reader, &wr), 0);
	for (unsigned int from = 0; from < 3; from = helds) {
		assert_true(send() > 0);
		carry(from);
		assert_true(answer() > 0);
	}
	want_none();
	assert_int_equal(reader->tx.reads, 0);
	release(1);
	poll_once();
	for (uint64_t i = 0; i < 3; i++)
		want(i, IBV_WC_SUCCESS);
	release(helds);
}

/* Every region is shown to the device, whatever is copied, before anybody can name it. */
UNIT_RULE(region__is_looked_at)
{
	struct roce_mr *mr;

	assert_int_equal(looks, 1);
	mr = fx_mr(a.pd, (uintptr_t)a.memory, 8, ROCE_MR_EXTBUF);
	assert_int_equal(looks, 2);
	assert_int_equal(roce_mr_destroy(mr), 0);
	/* The caller's own flag does not count when the device cannot read the memory. */
	may_read = false;
	mr = fx_mr(a.pd, (uintptr_t)a.memory, 8, ROCE_MR_EXTBUF);
	assert_false(mr->access & ROCE_MR_EXTBUF);
	assert_int_equal(roce_mr_destroy(mr), 0);
	assert_int_equal(roce_mr_create(a.pd, (uintptr_t)a.memory, 0, 0, &mr), -EINVAL);
	assert_int_equal(looks, 3);
}
