/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An error on one queue pair of a shared receive queue: it breaks, its receive comes back with the reason, the peer
 * gets the reason, too, the counts stay exact, and the other queue pairs go on.
 */

#include "srq_scene.h"

#define OTHER_LEN 8192u /**< bytes of memory of its own that a test may free */

/* The queue and two clients, the first of which is about to break; the second is the witness. */
static struct roce_srq *srq;
static struct client broken, witness;
static struct roce_mr *other;
static uint8_t *other_memory;

static int
setup_two(void **state)
{
	setup(state);
	srq = srq_of(8);
	client_on(&broken, srq, end.recv_cq);
	client_on(&witness, srq, end.send_cq);
	other_memory = malloc(OTHER_LEN);
	memset(other_memory, 0xee, OTHER_LEN);
	other = fx_mr(end.pd, (uintptr_t)other_memory, OTHER_LEN, IBV_ACCESS_LOCAL_WRITE);
	return 0;
}

static int
teardown_two(void **state)
{
	roce_qp_destroy(broken.qp);
	roce_qp_destroy(witness.qp);
	assert_int_equal(roce_srq_destroy(srq), 0);
	if (other != NULL)
		roce_mr_destroy(other);
	free(other_memory);
	return teardown(state);
}

static void
free_other(void)
{
	roce_mr_destroy(other);
	other = NULL;
}

static void
post_segments(uint64_t wr_id, const struct roce_sge *sge, uint32_t num_sge)
{
	const struct roce_recv_wr wr = { wr_id, sge, num_sge, 0 };

	assert_int_equal(roce_srq_post(srq, &wr), 0);
}

static void
post_other(uint64_t wr_id)
{
	const struct roce_sge sge = { (uintptr_t)other_memory, OTHER_LEN, roce_mr_key(other) };

	post_segments(wr_id, &sge, 1);
}

/* The client broke now, for this reason, and told its peer so. */
static void
expect_broken(enum ibv_wc_status why, uint8_t syndrome, uint32_t psn)
{
	assert_int_equal(roce_qp_state(broken.qp), ROCE_QP_ERR);
	assert_int_equal(end.async_events, 1);
	assert_fields(end.async_event[0], (kind, ROCE_ENGINE_ASYNC_QP_BROKEN), (status, why),
			(owner, &broken));
	assert_fields(fx_tx_one(&end), (opcode, IBV_OPCODE_RC_ACKNOWLEDGE), (syndrome, syndrome),
			(psn, psn));
}

/* Its receive came back with this status. */
static void
expect_returned(uint64_t wr_id, enum ibv_wc_status status)
{
	const struct roce_event event = fx_event(end.recv_cq);

	assert_fields(event, (wr_id, wr_id), (status, status), (kind, ROCE_EVENT_RECV),
			(owner, &broken));
}

/* The witness gets this receive, whole, and its peer an ordinary acknowledgement. */
static void
expect_undisturbed(uint64_t wr_id)
{
	const uint32_t psn = witness.psn;

	memset(end.memory, 0xee, SHORT_LEN);
	arrive(&witness);
	assert_int_equal(reap(end.send_cq), wr_id);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(end.memory[i], (uint8_t)(psn + i));
	assert_int_equal(end.memory[8], 0xee);
	assert_int_equal(roce_qp_state(witness.qp), ROCE_QP_RTS);
	assert_fields(fx_tx_one(&end), (syndrome, FX_ACK), (psn, psn));
	assert_int_equal(end.async_events, 1);
}

/*
 * Its memory was deregistered while the receive lay on the queue: the message that gets it fails with a protection
 * status, not a byte is written, and what lies behind it is good.
 * Proves: srq_create.6 srq_post_recv.5
 */
UNIT_RULE_IN(freed_memory__fails_the_receive_that_names_it, setup_two, teardown_two)
{
	post_other(1);
	post_many(srq, 2, 2, SHORT_LEN);
	free_other();
	fx_expect_counts(srq, 8, 3, 3);
	arrive(&broken);
	fx_expect_counts(srq, 8, 2, 3);
	expect_broken(IBV_WC_LOC_PROT_ERR, FX_NAK(ROCE_NAK_REMOTE_OPERATIONAL), FX_RQ_PSN);
	assert_int_equal(fx_stats(&end)->resp_local_protection_error, 1);
	assert_int_equal(other_memory[0], 0xee);
	expect_undisturbed(2);
	expect_returned(1, IBV_WC_LOC_PROT_ERR);
	fx_expect_counts(srq, 8, 1, 1);
	expect_undisturbed(3);
	fx_expect_counts(srq, 8, 0, 0);
}

/*
 * The same in the middle of a message: what arrived before the freeing is there, what comes after it is not.
 * Proves: srq_post_recv.5
 */
UNIT_RULE_IN(freed_memory__fails_the_message_in_progress, setup_two, teardown_two)
{
	post_other(1);
	post_many(srq, 1, 2, SHORT_LEN);
	begin(&broken);
	assert_int_equal(fx_tx_one(&end).syndrome, FX_ACK);
	assert_int_equal(other_memory[FX_MTU - 1], (uint8_t)(FX_RQ_PSN + FX_MTU - 1));
	free_other();
	packet(&broken, IBV_OPCODE_RC_SEND_MIDDLE, FX_MTU);
	expect_broken(IBV_WC_LOC_PROT_ERR, FX_NAK(ROCE_NAK_REMOTE_OPERATIONAL), FX_RQ_PSN + 1);
	assert_int_equal(other_memory[FX_MTU], 0xee);
	fx_expect_counts(srq, 8, 1, 2);
	expect_returned(1, IBV_WC_LOC_PROT_ERR);
	fx_expect_counts(srq, 8, 1, 1);
	expect_undisturbed(2);
}

/*
 * Only one segment of several is gone: a message that ends before it is good, one that reaches it is not.
 * Proves: srq_post_recv.5
 */
UNIT_RULE_IN(freed_memory__fails_a_message_that_reaches_it, setup_two, teardown_two)
{
	const struct roce_sge sge[2] = {
		{ (uintptr_t)end.memory, 100, end.key },
		{ (uintptr_t)other_memory, 100, roce_mr_key(other) },
	};

	for (uint64_t i = 1; i <= 2; i++)
		post_segments(i, sge, 2);
	post_many(srq, 1, 3, SHORT_LEN);
	free_other();
	/* Up to the last byte of the good segment nothing is wrong. */
	packet(&broken, IBV_OPCODE_RC_SEND_ONLY, 100);
	assert_int_equal(reap(end.recv_cq), 1);
	assert_int_equal(fx_tx_one(&end).syndrome, FX_ACK);
	packet(&broken, IBV_OPCODE_RC_SEND_ONLY, 101);
	expect_broken(IBV_WC_LOC_PROT_ERR, FX_NAK(ROCE_NAK_REMOTE_OPERATIONAL), FX_RQ_PSN + 1);
	assert_int_equal(other_memory[0], 0xee);
	expect_returned(2, IBV_WC_LOC_PROT_ERR);
	expect_undisturbed(3);
	fx_expect_counts(srq, 8, 0, 0);
}

/* A receive from before the end of a region is validated again, also when a later post has noted that end. */
UNIT_RULE_IN(freed_memory__is_known_behind_later_posts, setup_two, teardown_two)
{
	post_other(1);
	free_other();
	post_many(srq, 1, 2, SHORT_LEN);
	arrive(&broken);
	expect_broken(IBV_WC_LOC_PROT_ERR, FX_NAK(ROCE_NAK_REMOTE_OPERATIONAL), FX_RQ_PSN);
	assert_int_equal(other_memory[0], 0xee);
	expect_returned(1, IBV_WC_LOC_PROT_ERR);
	expect_undisturbed(2);
}

/* A key that was given again, to other memory or to the same, is another key: the receive names the dead one. */
UNIT_RULE_IN(freed_memory__is_not_found_under_a_new_key, setup_two, teardown_two)
{
	post_other(1);
	post_many(srq, 1, 2, SHORT_LEN);
	free_other();
	other = fx_mr(end.pd, (uintptr_t)other_memory, OTHER_LEN, IBV_ACCESS_LOCAL_WRITE);
	arrive(&broken);
	expect_broken(IBV_WC_LOC_PROT_ERR, FX_NAK(ROCE_NAK_REMOTE_OPERATIONAL), FX_RQ_PSN);
	assert_int_equal(other_memory[0], 0xee);
	expect_returned(1, IBV_WC_LOC_PROT_ERR);
	expect_undisturbed(2);
}

/*
 * Longer than its receive by a byte, in one packet: a length error here, an invalid request there.
 * Proves: srq_post_recv.8
 */
UNIT_RULE_IN(too_long__fails_the_receive, setup_two, teardown_two)
{
	post_many(srq, 3, 1, SHORT_LEN);
	packet(&broken, IBV_OPCODE_RC_SEND_ONLY, SHORT_LEN);
	assert_int_equal(reap(end.recv_cq), 1);
	assert_int_equal(fx_tx_one(&end).syndrome, FX_ACK);
	packet(&broken, IBV_OPCODE_RC_SEND_ONLY, SHORT_LEN + 1);
	expect_broken(IBV_WC_LOC_LEN_ERR, FX_NAK(ROCE_NAK_INVALID_REQUEST), FX_RQ_PSN + 1);
	assert_int_equal(fx_stats(&end)->resp_local_length_error, 1);
	fx_expect_counts(srq, 8, 1, 2);
	expect_returned(2, IBV_WC_LOC_LEN_ERR);
	fx_expect_counts(srq, 8, 1, 1);
	expect_undisturbed(3);
}

/* Two receives, and a message that begins in the first. */
static void
begin_message(uint32_t len)
{
	assert_int_equal(post_of(srq, 1, len), 0);
	assert_int_equal(post(srq, 2), 0);
	begin(&broken);
	assert_int_equal(fx_tx_one(&end).syndrome, FX_ACK);
}

/* Its second packet broke the connection: its receive returns alone, and the same queue pair connects again. */
static void
expect_end(enum ibv_wc_status why, enum ibv_wc_status returned)
{
	expect_broken(why, FX_NAK(ROCE_NAK_INVALID_REQUEST), FX_RQ_PSN + 1);
	fx_expect_counts(srq, 8, 1, 2);
	expect_returned(1, returned);
	expect_undisturbed(2);
	fx_expect_counts(srq, 8, 0, 0);
	client_to_reset(&broken);
	client_connect(&broken);
	end.async_events = 0;
}

/*
 * The same at the packet that finds no room, be it a middle or the last one.
 * Proves: srq_post_recv.8
 */
UNIT_RULE_IN(too_long__fails_the_message_in_progress, setup_two, teardown_two)
{
	static const struct {
		uint8_t opcode;
		uint32_t len;
	} rule[] = {
		{ IBV_OPCODE_RC_SEND_MIDDLE, FX_MTU },
		{ IBV_OPCODE_RC_SEND_LAST, SHORT_LEN + 1 },
		{ IBV_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE, SHORT_LEN + 1 },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		begin_message(FX_MTU + SHORT_LEN);
		packet(&broken, rule[i].opcode, rule[i].len);
		expect_end(IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_LEN_ERR);
	}
}

/*
 * A peer that breaks the protocol in the middle of a message loses the receive it had, and nothing else.
 * Proves: srq_post_recv.9 bug.S6
 */
UNIT_RULE_IN(malformed__flushes_the_receive, setup_two, teardown_two)
{
	static const uint8_t opcode[] = {
		IBV_OPCODE_RC_SEND_ONLY,
		IBV_OPCODE_RC_SEND_FIRST,
		IBV_OPCODE_RC_RDMA_WRITE_ONLY,
		IBV_OPCODE_RC_RDMA_READ_REQUEST,
	};

	for (size_t i = 0; i < RTE_DIM(opcode); i++) {
		const bool reads = opcode[i] == IBV_OPCODE_RC_RDMA_READ_REQUEST;

		begin_message(LONG_LEN);
		packet(&broken, opcode[i], reads ? 0 : 8);
		expect_end(IBV_WC_REM_INV_REQ_ERR, IBV_WC_WR_FLUSH_ERR);
	}
}

/*
 * Receives are judged by the protection domain of the queue, whatever that of the queue pair: when posted and when
 * data arrives.
 * Proves: srq_create.6 ep_create_with_srq.4
 */
UNIT_RULE_IN(zone__is_that_of_the_queue, setup_two, teardown_two)
{
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_sge sge;
	struct roce_recv_wr wr = fx_recv(&end, &sge, 1, 0, SHORT_LEN);
	struct roce_pd *pd = fx_pd(&end);
	struct roce_mr *foreign =
			fx_mr(pd, (uintptr_t)end.memory, FX_MEMORY, IBV_ACCESS_LOCAL_WRITE);

	/* Another queue pair in the place of the witness, of the foreign zone. */
	roce_qp_destroy(witness.qp);
	attr.srq = srq;
	attr.pd = pd;
	attr.recv_cq = end.send_cq;
	attr.owner = &witness;
	witness.qp = fx_qp(&end, &attr);
	client_connect(&witness);

	sge.lkey = roce_mr_key(foreign);
	assert_int_equal(roce_srq_post(srq, &wr), -EPERM);
	assert_int_equal(post(srq, 1), 0);
	arrive(&witness);
	assert_int_equal(reap(end.send_cq), 1);

	/* A descriptor that could not be posted so: judged again, since a region has ended, it is refused all the same. */
	assert_int_equal(post(srq, 2), 0);
	roce_srq_slot(srq, 1)->sge[0].lkey = roce_mr_key(foreign);
	free_other();
	arrive(&witness);
	assert_int_equal(fx_event(end.send_cq).status, IBV_WC_LOC_PROT_ERR);
	fx_expect_counts(srq, 8, 0, 0);
	roce_qp_destroy(witness.qp);
	client_on(&witness, srq, end.send_cq);
	roce_mr_destroy(foreign);
	assert_int_equal(roce_pd_destroy(pd), 0);
}

#define PLACES 8u
#define PLACE  (FX_MEMORY / PLACES)

static void
post_place(struct roce_srq *many, uint64_t n)
{
	struct roce_sge sge;
	struct roce_recv_wr wr = fx_recv(&end, &sge, n, (uint32_t)n * PLACE, PLACE);

	memset(end.memory + n * PLACE, 0xee, PLACE);
	assert_int_equal(roce_srq_post(many, &wr), 0);
}

/* A message that began with packet @p first is complete. @return the place where it lies. */
static uint64_t
expect_message(const struct client *from, uint32_t first)
{
	const struct roce_event event = fx_event(end.recv_cq);
	const uint8_t *at = end.memory + event.wr_id * PLACE;

	assert_fields(event, (owner, from), (status, IBV_WC_SUCCESS),
			(byte_len, (from->psn - 1 - first) * FX_MTU + 8));
	for (uint32_t i = 0; i < event.byte_len; i++)
		assert_int_equal(at[i], (uint8_t)(first + i / FX_MTU + i % FX_MTU));
	for (uint32_t i = event.byte_len; i < PLACE; i++)
		assert_int_equal(at[i], 0xee);
	return event.wr_id;
}

/*
 * Every message of every client lands whole in the receive that its completion names, and nowhere else: receives
 * with places of their own, three clients that talk at once, messages of two or three packets.
 * Proves: srq_create.9 bug.S5
 */
UNIT_RULE(data__lands_in_the_receive_that_is_named)
{
	struct roce_srq *many = srq_of(PLACES);
	uint32_t first[3] = { 0 }; /* of the message in progress; 0: none */
	unsigned int seed = 5, messages = 0;
	struct client c[3];

	for (unsigned int i = 0; i < 3; i++)
		client_on(&c[i], many, end.recv_cq);
	for (unsigned int n = 0; n < PLACES; n++)
		post_place(many, n);
	while (messages < 100) {
		unsigned int i = (unsigned int)rand_r(&seed) % 3;

		if (first[i] == 0) {
			first[i] = c[i].psn;
			begin(&c[i]);
		} else if (rand_r(&seed) % 3 == 0 && c[i].psn == first[i] + 1) {
			packet(&c[i], IBV_OPCODE_RC_SEND_MIDDLE, FX_MTU);
		} else {
			finish(&c[i]);
			post_place(many, expect_message(&c[i], first[i]));
			first[i] = 0;
			messages++;
		}
	}
	for (unsigned int i = 0; i < 3; i++)
		roce_qp_destroy(c[i].qp);
}
