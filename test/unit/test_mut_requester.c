/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of the requester that no other test holds: their breaks cost time, or show in memory that is gone. */

#include <errno.h>
#include <string.h>

#include "played_scene.h"

#define PSN        FX_SQ_PSN
#define SIZE       8u /**< bytes of a message, and of an atomic */
#define INLINE_MTU 256u

static int
setup(void **state)
{
	open_scene(&(struct played){
			.max_send_wr = 4 * ROCE_WINDOW, .max_rd_atomic = 1, .atomics = true });
	return 0;
}

static void
post_many(uint32_t n)
{
	fx_send_many(&end, qp, n, SIZE, ROCE_WR_SIGNALED);
}

static void
answer(uint8_t syndrome, uint32_t number)
{
	fx_rx_answer(&end, &peer, syndrome, PSN + number);
}

/* One message is answered: from now on it is known that this peer gives no credits. */
static void
hear_of_no_credits(void)
{
	post_many(1);
	(void)fx_tx_one(&end);
	answer(FX_ACK, 0);
	assert_int_equal(fx_event(end.send_cq).status, IBV_WC_SUCCESS);
}

/* Post a request about a region of its own. @return the region. */
static struct roce_mr *
post_brief(uint8_t opcode, uint64_t wr_id)
{
	struct roce_sge sge = { (uintptr_t)end.memory, SIZE, 0 };
	struct roce_wr wr = {
		.wr_id = wr_id,
		.sg = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = 0x1000,
		.rkey = 0x99,
	};
	struct roce_mr *brief = fx_mr(end.pd, (uintptr_t)end.memory, SIZE, IBV_ACCESS_LOCAL_WRITE);

	sge.lkey = roce_mr_key(brief);
	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	return brief;
}

/* Each message that is sent again asks for its answer, so the next answer tells of any loss. */
UNIT_RULE(rewind__asks_with_each_message)
{
	const struct fx_sent *sent;
	unsigned int n;

	hear_of_no_credits();
	post_many(8);
	sent = fx_tx_all(&end, &n);
	assert_int_equal(n, 8);
	assert_false(sent[3].ack_req);
	answer(FX_NAK(ROCE_NAK_PSN_SEQUENCE), 3);
	sent = fx_tx_all(&end, &n);
	assert_int_equal(n, 6);
	for (unsigned int i = 0; i < n; i++) {
		assert_fields(sent[i], (psn, PSN + 3 + i), (ack_req, true));
	}
}

/* The message before one whose memory is gone did not ask, since another was to follow: it is sent again, and asks. */
UNIT_RULE(prot_error__asks_for_what_went_before)
{
	const struct fx_sent *sent;

	hear_of_no_credits();
	post_many(1);
	roce_mr_destroy(post_brief(IBV_WR_SEND, 7));
	sent = fx_tx_exactly(&end, 2);
	assert_fields(sent[0], (psn, PSN + 1), (ack_req, false));
	assert_fields(sent[1], (psn, PSN + 1), (ack_req, true));
}

/* A late acknowledgement of everything opens the window that a timeout closed: as far as it ever was, no further. */
UNIT_RULE(window__opens_up_to_its_limit)
{
	const uint64_t begin = end.now;
	unsigned int n;

	post_many(3 * ROCE_WINDOW);
	(void)fx_tx_all(&end, &n);
	assert_int_equal(n, ROCE_WINDOW);
	/* Silence, until one frame is sent again. */
	(void)fx_run(&end, begin + 5 * FX_HZ / 1000, &n);
	assert_int_equal(n, 1);
	answer(FX_ACK, ROCE_WINDOW - 1);
	assert_int_equal(fx_tx_drop(&end), ROCE_WINDOW);
}

/* The place for the result of an atomic ended while the answer was on its way: nothing is written there. */
UNIT_RULE(atomic__into_memory_that_goes_away)
{
	struct roce_mr *brief = post_brief(IBV_WR_ATOMIC_FETCH_AND_ADD, 5);
	uint8_t before[SIZE];

	memcpy(before, end.memory, SIZE);
	(void)fx_tx_one(&end);
	roce_mr_destroy(brief);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE, PSN, 0, 0);
	assert_fields(fx_event(end.send_cq), (wr_id, 5), (status, IBV_WC_LOC_PROT_ERR));
	assert_memory_equal(end.memory, before, SIZE);
}

/* The answer to a READ says that everything before it arrived, even when its own memory is gone by then. */
UNIT_RULE(read__that_fails_acknowledges_what_was_before)
{
	struct roce_event event[2];
	struct roce_mr *brief;

	post_many(1);
	brief = post_brief(IBV_WR_RDMA_READ, 5);
	assert_int_equal(fx_tx_drop(&end), 2);
	roce_mr_destroy(brief);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, PSN + 1, SIZE, 0);
	assert_int_equal(roce_cq_poll(end.send_cq, event, 2), 2);
	assert_fields(event[0], (wr_id, 0), (status, IBV_WC_SUCCESS));
	assert_fields(event[1], (wr_id, 5), (status, IBV_WC_LOC_PROT_ERR));
}

/* The result of an atomic is eight bytes, and so must be its place. */
UNIT_RULE(atomic__is_of_eight_bytes)
{
	static const uint32_t refused[] = { 0, 4, 7, 9, 16 };
	struct roce_sge sge = { (uintptr_t)end.memory, SIZE, end.key };
	struct roce_wr wr = {
		.sg = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.remote_addr = 0x1000,
	};

	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	for (size_t i = 0; i < RTE_DIM(refused); i++) {
		sge.length = refused[i];
		assert_int_equal(roce_qp_post_send(qp, &wr), -EINVAL);
	}
}

/* Ask for three packets. */
static void
post_read(void)
{
	const struct roce_sge sge = { (uintptr_t)end.memory, 3 * FX_MTU, end.key };
	const struct roce_wr wr = { .sg = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ };

	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
}

/* The READ in front of one that has to wait is lost: it goes again, and the other one waits on. */
UNIT_RULE(rewind__does_not_wait_for_itself)
{
	unsigned int n;
	const struct fx_sent *sent;

	post_read();
	post_read();
	assert_int_equal(fx_tx_one(&end).psn, PSN);
	sent = fx_run(&end, end.now + 5 * FX_HZ / 1000, &n);
	assert_int_equal(n, 1);
	assert_int_equal(sent[0].psn, PSN);
}

/* The second packet of an inline message carries the bytes behind those of the first. */
UNIT_RULE(inline__is_cut_where_packets_end)
{
	const struct roce_sge sge = { (uintptr_t)end.memory, 2 * INLINE_MTU, 0 };
	const struct roce_wr wr = {
		.sg = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .flags = ROCE_WR_INLINE
	};
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	struct roce_qp_attr attr = fx_attr(&end);
	const struct fx_sent *sent;

	connect.path.mtu_code = roce_mtu_code(INLINE_MTU);
	attr.max_inline = 2 * INLINE_MTU;
	roce_qp_destroy(qp);
	qp = fx_qp(&end, &attr);
	fx_up(qp, &connect);
	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	sent = fx_tx_exactly(&end, 2);
	assert_int_equal(sent[0].first, end.memory[0]);
	assert_int_equal(sent[1].first, end.memory[INLINE_MTU]);
	assert_int_not_equal(end.memory[INLINE_MTU], end.memory[0]);
}

static void
answer_read(uint8_t opcode, uint32_t number)
{
	fx_rx_request(&end, &peer, opcode, PSN + number, FX_MTU, 0);
}

/* Of what is asked for the second packet comes first, so all is asked for again. */
static void
read_with_a_gap(uint32_t number)
{
	post_read();
	assert_int_equal(fx_tx_one(&end).psn, PSN + number);
	answer_read(IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE, number + 1);
	assert_int_equal(fx_tx_one(&end).psn, PSN + number);
}

/* How long answers that do not help may put off the timeout counts anew for each trouble, not once in a life. */
UNIT_RULE(heard__counts_anew_after_progress)
{
	unsigned int n;

	read_with_a_gap(0);
	answer_read(IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST, 0);
	answer_read(IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE, 1);
	answer_read(IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST, 2);
	assert_int_equal(qp->tx.reads, 0);
	end.now += 1000 * FX_HZ;
	read_with_a_gap(3);
	for (unsigned int i = 0; i < 10; i++) {
		(void)fx_run(&end, end.now + qp->tx.rto - 1, &n);
		assert_int_equal(n, 0);
		answer_read(IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE, 4);
	}
}

/* The engine only carries it, from the post to the event. */
UNIT_RULE(event__says_that_it_was_posted_quietly)
{
	struct roce_event event[2];

	assert_int_equal(fx_send(&end, qp, 1, 0, SIZE, ROCE_WR_SIGNALED | ROCE_WR_QUIET), 0);
	assert_int_equal(fx_send(&end, qp, 2, 0, SIZE, ROCE_WR_SIGNALED), 0);
	fx_tx_drop(&end);
	answer(FX_ACK, 1);
	assert_int_equal(roce_cq_poll(end.send_cq, event, 2), 2);
	assert_int_equal(event[0].flags, ROCE_EVENT_QUIET);
	assert_int_equal(event[1].flags, 0);
}
