/* SPDX-License-Identifier: BSD-3-Clause */
/* Zero-copy receives: what the consumer gets, which messages they take, and frames that are copied first. */

#include <errno.h>

#include "zcrx_scene.h"

/* ---- what is given ---- */

/* The very buffer that the message came in: its bytes, and nothing around them. */
UNIT_RULE(message__is_given_where_it_lies)
{
	struct rte_mbuf *frame = fx_request(&peer, ONLY, psn, BYTES, FX_ACKREQ);
	const uint8_t *payload = rte_pktmbuf_mtod_offset(
			frame, uint8_t *, frame->data_len - ROCE_ICRC_LEN - 3 - BYTES);
	const rte_iova_t iova =
			rte_pktmbuf_iova_offset(frame, frame->data_len - ROCE_ICRC_LEN - 3 - BYTES);
	struct rte_mbuf *m;

	post(7, 1);
	fx_rx(&end, frame);
	answers(ROCE_AETH_ACK | roce_credit_encode(0));
	m = take(7);
	judge(m, psn);
	assert_ptr_equal(rte_pktmbuf_mtod(m, uint8_t *), payload);
	assert_int_equal(rte_pktmbuf_iova(m), iova);
	assert_fields(*fx_stats(&end), (rx_lent, 1), (rx_lent_copied, 0), (rx_bytes, BYTES),
			(rx_send_requests, 1));
	rte_pktmbuf_free(m);
	assert_int_equal(rte_mempool_full(heads), 1);
}

/* The consumer may write all over it, and send it on: there is room for headers where headers were. */
UNIT_RULE(message__is_the_consumers)
{
	struct rte_mbuf *m;

	post(0, 1);
	hear();
	m = take(0);
	memset(rte_pktmbuf_mtod(m, void *), 0xff, BYTES);
	assert_non_null(rte_pktmbuf_prepend(m, sizeof(struct rte_ether_hdr) + 20 + 8 + 12));
	assert_non_null(rte_pktmbuf_append(m, 4));
	memset(rte_pktmbuf_mtod(m, void *), 0xff, m->data_len);
	rte_pktmbuf_free(m);
}

/* Any number, taken and freed in any order. */
UNIT_RULE(messages__keep_their_bytes_and_order)
{
	struct rte_mbuf *m[GIVEN];
	struct roce_event event[GIVEN];
	uint32_t first = psn;

	post(0, GIVEN);
	for (unsigned int i = 0; i < GIVEN; i++)
		hear();
	for (unsigned int i = 0; i < GIVEN; i++)
		event[i] = told(i);
	for (unsigned int i = GIVEN; i-- > 0;)
		m[i] = roce_qp_take_mbuf(qp, &event[i]);
	for (unsigned int i = 0; i < GIVEN; i++)
		judge(m[i], first + i);
	rte_pktmbuf_free(m[2]);
	judge(m[1], first + 1);
	rte_pktmbuf_free(m[0]);
	rte_pktmbuf_free(m[3]);
	rte_pktmbuf_free(m[1]);
}

UNIT_RULE(event__is_good_for_one_mbuf)
{
	struct roce_event event, other;
	struct rte_mbuf *m;

	post(0, 2);
	hear();
	event = told(0);
	m = roce_qp_take_mbuf(qp, &event);
	assert_non_null(m);
	assert_null(roce_qp_take_mbuf(qp, &event));
	rte_pktmbuf_free(m);
	assert_null(roce_qp_take_mbuf(qp, &event));
	/* Nor for that of another message, when the places were used again. */
	for (uint64_t i = 1; i <= 3 * GIVEN; i++) {
		hear();
		other = told(i);
		assert_null(roce_qp_take_mbuf(qp, &event));
		m = roce_qp_take_mbuf(qp, &other);
		assert_non_null(m);
		rte_pktmbuf_free(m);
		post(i + 1, 1);
	}
	other.zcrx = GIVEN;
	assert_null(roce_qp_take_mbuf(qp, &other));
	other.flags = 0;
	assert_null(roce_qp_take_mbuf(qp, &other));
}

/* An event is good for its own message, also when a later one has the same place and the same context. */
UNIT_RULE(event__is_not_good_for_a_later_message)
{
	struct roce_event early, late;
	struct rte_mbuf *m;

	for (unsigned int i = 0; i <= GIVEN; i++) {
		post(0, 1);
		hear();
		late = told(0);
		if (i == 0)
			early = late;
		m = roce_qp_take_mbuf(qp, &late);
		assert_non_null(m);
		if (i < GIVEN)
			rte_pktmbuf_free(m);
	}
	rte_pktmbuf_free(m);
	for (unsigned int i = 0; i < GIVEN; i++) {
		post(0, 1);
		hear();
		late = told(0);
		assert_null(roce_qp_take_mbuf(qp, &early));
		rte_pktmbuf_free(roce_qp_take_mbuf(qp, &late));
	}
}

/* Only what a receive may ask for is kept of its flags. */
UNIT_RULE(receive__of_other_bits_gives_no_frame)
{
	struct roce_sge sge;
	struct roce_recv_wr wr = fx_recv(&end, &sge, 3, 0, BYTES);
	struct roce_event event;

	wr.flags = ROCE_EVENT_ZCRX | 0x4000;
	assert_int_equal(roce_qp_post_recv(qp, &wr), 0);
	hear();
	assert_int_equal(roce_cq_poll(end.recv_cq, &event, 1), 1);
	assert_int_equal(event.flags, 0);
	assert_null(roce_qp_take_mbuf(qp, &event));
}

/* Clones have what the consumer got: the frame is out until the last of them is freed. */
UNIT_RULE(clone__holds_the_frame)
{
	struct rte_mbuf *m, *clone;
	uint32_t number;

	post(0, 1);
	number = hear();
	m = take(0);
	clone = rte_pktmbuf_clone(m, unit_pool());
	assert_non_null(clone);
	rte_pktmbuf_free(m);
	judge(clone, number);
	rte_pktmbuf_free(clone);
}

/* ---- which messages ---- */

UNIT_RULE(immediate__is_told_as_ever)
{
	struct roce_event event;
	struct rte_mbuf *m;

	post(0, 1);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE, psn, BYTES,
			FX_SOLICITED);
	event = fx_event(end.recv_cq);
	assert_fields(event, (flags, ROCE_EVENT_ZCRX | ROCE_EVENT_IMM | ROCE_EVENT_SOLICITED),
			(imm, FX_IMM), (byte_len, BYTES));
	m = roce_qp_take_mbuf(qp, &event);
	assert_non_null(m);
	judge(m, psn);
	rte_pktmbuf_free(m);
}

UNIT_RULE(message__without_bytes_gives_no_frame)
{
	struct roce_event event;

	post(3, 1);
	fx_rx_request(&end, &peer, ONLY, psn, 0, 0);
	event = fx_event(end.recv_cq);
	assert_fields(event, (wr_id, 3), (status, IBV_WC_SUCCESS), (flags, 0), (byte_len, 0));
	assert_null(roce_qp_take_mbuf(qp, &event));
	assert_int_equal(fx_stats(&end)->rx_lent, 0);
}

/* IBTA Vol 1, 9.7.4.1: as a message longer than its receive. */
UNIT_RULE(message__of_several_packets_is_too_long)
{
	post(5, 1);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_FIRST, psn, FX_MTU, 0);
	answers(FX_NAK(ROCE_NAK_INVALID_REQUEST));
	assert_fields(fx_event(end.recv_cq), (wr_id, 5), (status, IBV_WC_LOC_LEN_ERR), (flags, 0));
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
	assert_fields(*fx_stats(&end), (resp_local_length_error, 1), (rx_lent, 0));
}

/* It uses the receive up, as any other; there is no payload for the receiver. */
UNIT_RULE(write__with_immediate_gives_no_frame)
{
	struct roce_event event;

	post(4, 1);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE, psn, 0, 0);
	event = fx_event(end.recv_cq);
	assert_fields(event, (wr_id, 4), (flags, ROCE_EVENT_WRITE | ROCE_EVENT_IMM));
	assert_null(roce_qp_take_mbuf(qp, &event));
}

/* SEND with invalidate, and no such key: both ends break, and no frame is given. */
UNIT_RULE(message__that_is_refused_gives_no_frame)
{
	post(6, 1);
	fx_rx_request(&end, &peer, ROCE_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE, psn, BYTES, 0);
	answers(FX_NAK(ROCE_NAK_REMOTE_ACCESS));
	assert_fields(fx_event(end.recv_cq), (wr_id, 6), (status, IBV_WC_REM_INV_REQ_ERR),
			(flags, 0));
	assert_int_equal(fx_stats(&end)->rx_lent, 0);
}

/* A peer that repeats itself, and a frame that was damaged on its way. */
UNIT_RULE(message__is_given_once)
{
	struct rte_mbuf *bad;
	struct rte_mbuf *m;
	uint32_t number;

	post(0, 3);
	number = hear();
	psn--;
	hear();
	psn--;
	hear();
	assert_fields(*fx_stats(&end), (duplicate_request, 2), (rx_lent, 1));
	bad = fx_request(&peer, ONLY, psn, BYTES, 0);
	rte_pktmbuf_mtod(bad, uint8_t *)[bad->data_len - ROCE_ICRC_LEN - 8] ^= 1;
	fx_rx(&end, bad);
	assert_int_equal(fx_stats(&end)->rx_lent, 1);
	m = take(0);
	judge(m, number);
	rte_pktmbuf_free(m);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	assert_int_equal(fx_receives(qp), 2);
}

/* Each receive is what it was posted as, in the order of posting. */
UNIT_RULE(receives__of_both_kinds_take_turns)
{
	for (uint64_t i = 0; i < 8; i += 2) {
		struct roce_event event;
		struct rte_mbuf *m;
		uint32_t number;

		post(i, 1);
		post_copying(i + 1);
		number = hear();
		hear();
		m = take(i);
		assert_int_equal(roce_cq_poll(end.recv_cq, &event, 1), 1);
		assert_fields(event, (wr_id, i + 1), (flags, 0));
		assert_null(roce_qp_take_mbuf(qp, &event));
		assert_int_equal(end.memory[0], (uint8_t)(number + 1));
		judge(m, number);
		rte_pktmbuf_free(m);
	}
}

/* ROCE_WR_QUIET is carried as ever. */
UNIT_RULE(quiet__is_told_beside)
{
	const struct roce_recv_wr wr = { .wr_id = 1, .flags = ROCE_WR_ZCRX | ROCE_WR_QUIET };

	assert_int_equal(roce_qp_post_recv(qp, &wr), 0);
	hear();
	assert_int_equal(fx_event(end.recv_cq).flags, ROCE_EVENT_ZCRX | ROCE_EVENT_QUIET);
}

/* ---- copies ---- */

/* The peer's next message, in a frame that somebody else has a hand in. @return its number. */
static uint32_t
hear_from(struct rte_mbuf *m)
{
	struct rte_mbuf *got;

	post(psn, 1);
	fx_rx(&end, m);
	got = take(psn);
	judge(got, psn);
	rte_pktmbuf_free(got);
	return psn++;
}

static struct rte_mbuf *
next_frame(void)
{
	return fx_request(&peer, ONLY, psn, BYTES, 0);
}

UNIT_RULE(frame__in_segments_is_copied)
{
	struct rte_mbuf *m = next_frame();
	struct rte_mbuf *chain = unit_mbuf_chain(
			rte_pktmbuf_mtod(m, void *), m->pkt_len, m->pkt_len - BYTES / 2);

	rte_pktmbuf_free(m);
	hear_from(chain);
	assert_fields(*fx_stats(&end), (rx_lent, 1), (rx_lent_copied, 1));
}

/* Of net_ring, say: whose pool it is wants it back. */
UNIT_RULE(frame__of_another_pool_is_copied)
{
	struct rte_mempool *foreign = make_pool("foreign", RTE_PKTMBUF_HEADROOM + UNIT_DATA_ROOM);
	struct rte_mbuf *m = next_frame();
	struct rte_mbuf *got;

	post(0, 1);
	fx_rx(&end, rte_pktmbuf_copy(m, foreign, 0, UINT32_MAX));
	rte_pktmbuf_free(m);
	assert_int_equal(rte_mempool_full(foreign), 1);
	got = take(0);
	judge(got, psn);
	rte_pktmbuf_free(got);
	assert_int_equal(fx_stats(&end)->rx_lent_copied, 1);
	rte_mempool_free(foreign);
}

UNIT_RULE(frame__that_is_a_clone_is_copied)
{
	struct rte_mbuf *m = next_frame();

	hear_from(rte_pktmbuf_clone(m, unit_pool()));
	rte_pktmbuf_free(m);
	assert_int_equal(fx_stats(&end)->rx_lent_copied, 1);
}

/* Its sender may read it once more, or send it again. */
UNIT_RULE(frame__that_somebody_else_has_too_is_copied)
{
	struct rte_mbuf *m = next_frame();

	rte_mbuf_refcnt_update(m, 1);
	hear_from(m);
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	rte_pktmbuf_free(m);
	assert_int_equal(fx_stats(&end)->rx_lent_copied, 1);
}

static void
forget(void *addr, void *opaque)
{
	free(addr);
}

/* Memory of a driver's own making, or of a peer that shares it. */
UNIT_RULE(frame__in_external_memory_is_copied)
{
	struct rte_mbuf *m = next_frame();
	struct rte_mbuf *outside = rte_pktmbuf_alloc(unit_pool());
	uint16_t size = 8192;
	uint8_t *memory = malloc(size);
	struct rte_mbuf_ext_shared_info *shinfo =
			rte_pktmbuf_ext_shinfo_init_helper(memory, &size, forget, NULL);

	rte_pktmbuf_attach_extbuf(outside, memory, RTE_BAD_IOVA, size, shinfo);
	memcpy(rte_pktmbuf_append(outside, m->data_len), rte_pktmbuf_mtod(m, void *), m->data_len);
	rte_pktmbuf_free(m);
	hear_from(outside);
	assert_int_equal(fx_stats(&end)->rx_lent_copied, 1);
}

/* A program's own frames in handover: whatever pool they have. */
UNIT_RULE(any__gives_frames_of_every_pool)
{
	struct rte_mempool *foreign = make_pool("foreign", RTE_PKTMBUF_HEADROOM + UNIT_DATA_ROOM);
	struct fx_options options = zcrx_options();
	struct roce_qp_attr attr;
	struct rte_mbuf *m, *got;

	fx_end_close(&end);
	options.zcrx.pool[0] = NULL;
	options.zcrx.any = true;
	fx_end_open(&end, 1, &options);
	attr = attr_of(GIVEN);
	qp = fx_qp(&end, &attr);
	connect_it();
	m = next_frame();
	post(0, 1);
	fx_rx(&end, rte_pktmbuf_copy(m, foreign, 0, UINT32_MAX));
	rte_pktmbuf_free(m);
	assert_int_equal(rte_mempool_avail_count(foreign), 14);
	got = take(0);
	judge(got, psn);
	rte_pktmbuf_free(got);
	assert_int_equal(fx_stats(&end)->rx_lent_copied, 0);
	assert_int_equal(rte_mempool_full(foreign), 1);
	rte_mempool_free(foreign);
}
