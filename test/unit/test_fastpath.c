/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast paths: each does what the slow path does, or returns false without side effects. */

#include <errno.h>

#include "queue/srq.h"
#include "played_scene.h"

static int
setup(void **state)
{
	open_scene(&(struct played){ .max_rd_atomic = 1 });
	return 0;
}

static struct roce_sge
segment(uint32_t offset, uint32_t length)
{
	return (struct roce_sge){ (uintptr_t)end.memory + offset, length, end.key };
}

/* Only the owner of a queue's lock takes the fast path to it. */
static void
own(struct roce_srq *srq)
{
	srq->post_lock.bias.owner = roce_bias_self();
}

/* Begin a new key epoch: requests and receives that were validated before must be validated again. */
static void
end_a_region(void)
{
	struct roce_mr *mr = fx_mr(end.pd, (uintptr_t)end.memory, 8, 0);

	assert_int_equal(roce_mr_destroy(mr), 0);
}

static const struct roce_wqe *
request(uint32_t number)
{
	return roce_wq_slot(&qp->post.wq, number);
}

static const uint8_t flag_sets[] = {
	0,
	ROCE_WR_SIGNALED,
	ROCE_WR_SIGNALED | ROCE_WR_SOLICITED,
	ROCE_WR_SIGNALED | ROCE_WR_FENCE,
	ROCE_WR_SIGNALED | ROCE_WR_QUIET,
};

/* To the byte, whatever the flags: what the engine does with it cannot differ. */
UNIT_RULE(try_send__leaves_the_request_that_post_send_leaves)
{
	const size_t size = sizeof(struct roce_wqe) + sizeof(struct roce_sge);
	const struct roce_sge sge = segment(64, 100);

	for (uint32_t i = 0; i < RTE_DIM(flag_sets); i++) {
		const struct roce_wr wr = { .wr_id = i,
			.sg = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.flags = flag_sets[i] };

		end_a_region();
		/* Flags that every request of a queue pair gets, asked for or not: here any flag will do. */
		qp->post.wq.flags = i == 0 ? 0 : ROCE_WR_SOLICITED;
		assert_int_equal(roce_qp_post_send(qp, &wr), 0);
		assert_true(roce_qp_try_send(qp, sge, i, flag_sets[i]));
		assert_memory_equal(request(2 * i), request(2 * i + 1), size);
	}
}

static bool
try_rdma(uint8_t opcode, struct roce_sge sge, struct roce_sge remote, uint64_t wr_id, uint8_t flags)
{
	return opcode == IBV_WR_RDMA_READ ? roce_qp_try_read(qp, sge, remote, wr_id, flags)
					  : roce_qp_try_write(qp, sge, remote, wr_id, flags);
}

/* The same for a WRITE or READ, with the peer's memory behind its segment. */
static void
expect_the_same_request(uint8_t opcode)
{
	const size_t size = sizeof(struct roce_wqe) + 2 * sizeof(struct roce_sge);
	const struct roce_sge sge = segment(64, 100);
	const struct roce_sge remote = { .addr = 0x123456789abcdef0, .lkey = 0x31415926 };

	for (uint32_t i = 0; i < RTE_DIM(flag_sets); i++) {
		const struct roce_wr wr = { .wr_id = i,
			.sg = &sge,
			.num_sge = 1,
			.opcode = opcode,
			.flags = flag_sets[i],
			.remote_addr = remote.addr,
			.rkey = remote.lkey };

		end_a_region();
		assert_int_equal(roce_qp_post_send(qp, &wr), 0);
		assert_true(try_rdma(opcode, sge, remote, i, flag_sets[i]));
		assert_memory_equal(request(2 * i), request(2 * i + 1), size);
	}
}

UNIT_RULE(try_write__leaves_the_request_that_post_send_leaves)
{
	expect_the_same_request(IBV_WR_RDMA_WRITE);
}

UNIT_RULE(try_read__leaves_the_request_that_post_send_leaves)
{
	expect_the_same_request(IBV_WR_RDMA_READ);
}

/* Slots without room for it: post_send() finds room, or says that there is none. */
UNIT_RULE(try_write__leaves_slots_of_one_place_alone)
{
	const struct roce_sge remote = { .addr = 1, .lkey = 1 };
	const uint8_t places = qp->post.wq.places;

	qp->post.wq.places = 1;
	assert_false(roce_qp_try_write(qp, segment(0, 8), remote, 0, 0));
	assert_false(roce_qp_try_read(qp, segment(0, 8), remote, 0, 0));
	assert_int_equal(fx_requests(qp), 0);
	qp->post.wq.places = places;
}

/* Into memory that this end may not write, of more bytes than were agreed upon, or where none may be outstanding. */
UNIT_RULE(try_read__leaves_alone_what_post_send_refuses)
{
	const struct roce_sge remote = { .addr = 1, .lkey = 1 };
	struct roce_mr *read_only = fx_mr(end.pd, (uintptr_t)end.memory, 64, 0);
	const struct roce_sge fixed = { (uintptr_t)end.memory, 8, roce_mr_key(read_only) };

	assert_false(roce_qp_try_read(qp, fixed, remote, 0, 0));
	qp->post.max_read = 8;
	assert_false(roce_qp_try_read(qp, segment(0, 9), remote, 0, 0));
	assert_int_equal(fx_requests(qp), 0);
	assert_true(roce_qp_try_read(qp, segment(0, 8), remote, 0, 0));
	qp->post.max_rd_atomic = 0;
	assert_false(roce_qp_try_read(qp, segment(0, 8), remote, 0, 0));
	assert_int_equal(fx_requests(qp), 1);
	assert_int_equal(roce_mr_destroy(read_only), 0);
}

/* It rings, whoever owns the engine: nobody else posts, and the message goes. */
UNIT_RULE(try_send__sends)
{
	qp->post.engine->lock.bias.owner = roce_bias_self();
	assert_true(roce_qp_try_send(qp, segment(0, 8), 1, ROCE_WR_SIGNALED));
	assert_fields(fx_tx_one(&end), (opcode, IBV_OPCODE_RC_SEND_ONLY), (payload_len, 8),
			(psn, FX_SQ_PSN));
	assert_true(roce_qp_try_send(qp, segment(0, 9), 2, 0));
	assert_int_equal(fx_tx_one(&end).payload_len, 9);
}

UNIT_RULE(try_send__leaves_alone_what_post_send_refuses)
{
	const uint64_t addr = (uintptr_t)end.memory;
	struct roce_pd *other_pd = fx_pd(&end);
	struct roce_mr *foreign = fx_mr(other_pd, addr, 64, 0);
	struct roce_mr *whole = fx_mr(end.pd, 0, UINT64_MAX, 0);
	const struct roce_sge refused[] = {
		{ addr, 8, end.key ^ 1 },
		{ addr, 8, roce_mr_key(foreign) },
		{ addr - 1, 8, end.key },
		{ addr + FX_MEMORY - 7, 8, end.key },
		{ 0, (1u << 31) + 1, roce_mr_key(whole) },
	};

	for (size_t i = 0; i < RTE_DIM(refused); i++) {
		const struct roce_wr wr = {
			.sg = &refused[i], .num_sge = 1, .opcode = IBV_WR_SEND
		};

		assert_int_not_equal(roce_qp_post_send(qp, &wr), 0);
		assert_false(roce_qp_try_send(qp, refused[i], 0, 0));
	}
	assert_int_equal(fx_requests(qp), 0);
	fx_tx_none(&end);
	assert_int_equal(roce_mr_destroy(whole), 0);
	assert_int_equal(roce_mr_destroy(foreign), 0);
	assert_int_equal(roce_pd_destroy(other_pd), 0);
}

UNIT_RULE(try_send__leaves_a_full_queue_and_one_in_reset_alone)
{
	uint32_t posted = 0;

	while (roce_qp_try_send(qp, segment(0, 8), 0, 0))
		posted++;
	assert_int_equal(posted, fx_attr(&end).max_send_wr);
	assert_int_equal(fx_requests(qp), posted);

	fx_to_reset(qp);
	assert_false(roce_qp_try_send(qp, segment(0, 8), 0, 0));
	assert_int_equal(fx_requests(qp), 0);
}

/* To the byte; a segment that is longer than any message counts as the longest. */
UNIT_RULE(try_post__leaves_the_receive_that_post_leaves)
{
	const size_t size = sizeof(struct roce_rwqe) + sizeof(struct roce_sge);
	struct roce_mr *whole;

	own(end.srq);
	whole = fx_mr(end.pd, 0, UINT64_MAX, IBV_ACCESS_LOCAL_WRITE);
	{
		const struct roce_sge rule[] = {
			segment(64, 100),
			segment(64, 0),
			{ 0, UINT32_MAX, roce_mr_key(whole) },
		};

		for (uint32_t i = 0; i < RTE_DIM(rule); i++) {
			const struct roce_recv_wr wr = { .wr_id = i, .sg = &rule[i], .num_sge = 1 };

			assert_int_equal(roce_srq_post(end.srq, &wr), 0);
			assert_true(roce_srq_try_post(end.srq, rule[i], i));
			fx_expect_counts(end.srq, 256, 2 * i + 2, 2 * i + 2);
			assert_memory_equal(roce_srq_slot(end.srq, 2 * i),
					roce_srq_slot(end.srq, 2 * i + 1), size);
		}
	}
}

UNIT_RULE(try_post__leaves_alone_what_post_refuses)
{
	const uint64_t addr = (uintptr_t)end.memory;
	struct roce_mr *read_only;

	own(end.srq);
	read_only = fx_mr(end.pd, addr, 64, 0);
	{
		const struct roce_sge refused[] = {
			{ addr, 8, end.key ^ 1 },
			{ addr, 8, roce_mr_key(read_only) },
			{ addr + FX_MEMORY - 7, 8, end.key },
		};

		for (size_t i = 0; i < RTE_DIM(refused); i++) {
			const struct roce_recv_wr wr = { .sg = &refused[i], .num_sge = 1 };

			assert_int_not_equal(roce_srq_post(end.srq, &wr), 0);
			assert_false(roce_srq_try_post(end.srq, refused[i], 0));
		}
	}
	fx_expect_counts(end.srq, 256, 0, 0);
}

UNIT_RULE(try_post__leaves_a_full_queue_alone)
{
	own(end.srq);
	for (unsigned int i = 0; i < 256; i++)
		assert_true(roce_srq_try_post(end.srq, segment(0, 64), i));
	assert_false(roce_srq_try_post(end.srq, segment(0, 64), 256));
	fx_expect_counts(end.srq, 256, 256, 256);

	/* A receive makes room when it is reaped, not when it is taken. */
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, 8, 0);
	assert_false(roce_srq_try_post(end.srq, segment(0, 64), 256));
	fx_event(end.recv_cq);
	assert_true(roce_srq_try_post(end.srq, segment(0, 64), 256));
	assert_false(roce_srq_try_post(end.srq, segment(0, 64), 257));
}

/* As roce_srq_post() does: what was posted before is validated again. */
UNIT_RULE(try_post__notes_that_a_region_has_ended)
{
	struct roce_sge sge = segment(0, 64);
	const struct roce_recv_wr wr = { .sg = &sge, .num_sge = 1 };

	own(end.srq);
	assert_true(roce_srq_try_post(end.srq, sge, 0));
	for (uint32_t i = 1; i < 5; i++) {
		end_a_region();
		if (i % 2 == 1)
			assert_true(roce_srq_try_post(end.srq, sge, i));
		else
			assert_int_equal(roce_srq_post(end.srq, &wr), 0);
		assert_int_equal(end.srq->valid_from, i);
		assert_int_equal(end.srq->validated_epoch, roce_key_epoch(&end.domain->keys));
	}
}

/* Another thread may be between its two looks: who does not own the lock takes the spinlock, which is not here. */
UNIT_RULE(try_post__is_for_the_owner_of_the_lock)
{
	assert_false(roce_srq_try_post(end.srq, segment(0, 64), 0));
	fx_expect_counts(end.srq, 256, 0, 0);
	own(end.srq);
	assert_true(roce_srq_try_post(end.srq, segment(0, 64), 0));
	assert_int_equal(end.srq->post_lock.bias.inside[0] | end.srq->post_lock.bias.inside[1], 0);
}

/* Its own queue has room again when a receive was taken, reaped or not. */
UNIT_RULE(try_recv__posts_to_a_queue_of_its_own)
{
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_sge sge = segment(0, 64);
	struct roce_recv_wr wr = { .wr_id = 3, .sg = &sge, .num_sge = 1 };
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x778);
	struct fx_peer other;
	struct roce_qp *alone;

	attr.srq = NULL;
	attr.max_recv_wr = 2;
	attr.max_recv_sge = 1;
	alone = fx_play(&end, &attr, &connect, &other);
	assert_false(roce_qp_try_recv(alone, sge, 3));
	own(alone->rx.rq);
	assert_true(roce_qp_try_recv(alone, sge, 3));
	assert_int_equal(roce_qp_post_recv(alone, &wr), 0);
	assert_memory_equal(roce_srq_slot(alone->rx.rq, 0), roce_srq_slot(alone->rx.rq, 1),
			sizeof(struct roce_rwqe) + sizeof(sge));
	assert_false(roce_qp_try_recv(alone, sge, 4));
	fx_rx_request(&end, &other, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, 8, 0);
	assert_true(roce_qp_try_recv(alone, sge, 4));
	assert_int_equal(fx_receives(alone), 2);
}

UNIT_RULE(try_recv__leaves_a_shared_queue_alone)
{
	own(end.srq);
	assert_false(roce_qp_try_recv(qp, segment(0, 64), 0));
	fx_expect_counts(end.srq, 256, 0, 0);
}

/* A broken queue pair flushes it with its next poll, whoever saw the other first. */
UNIT_RULE(try_recv__to_a_broken_queue_pair_is_flushed)
{
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x778);
	struct fx_peer other;
	struct roce_qp *alone;

	attr.srq = NULL;
	attr.max_recv_wr = 2;
	attr.max_recv_sge = 1;
	alone = fx_play(&end, &attr, &connect, &other);
	own(alone->rx.rq);
	fx_to_error(alone);
	/* The first one may find it ready yet. */
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(roce_qp_try_recv(alone, segment(0, 64), i));
		fx_tx_none(&end);
		assert_int_equal(fx_event(end.recv_cq).status, IBV_WC_WR_FLUSH_ERR);
	}
}

UNIT_RULE(try_poll__takes_the_oldest_completion_and_books_its_reap)
{
	struct roce_event event;

	fx_fill_srq(&end, 2, 64);
	assert_false(roce_cq_try_poll(end.recv_cq, &event));
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN, 8, 0);
	fx_rx_request(&end, &peer, IBV_OPCODE_RC_SEND_ONLY, FX_RQ_PSN + 1, 9, 0);
	fx_expect_counts(end.srq, 256, 0, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(roce_cq_try_poll(end.recv_cq, &event));
		assert_fields(event, (kind, ROCE_EVENT_RECV), (wr_id, i), (byte_len, 8 + i));
		fx_expect_counts(end.srq, 256, 0, 1 - i);
	}
	assert_false(roce_cq_try_poll(end.recv_cq, &event));
}

/* Binds and what users push are for roce_cq_poll(), and nothing passes them. */
UNIT_RULE(try_poll__leaves_other_events_where_they_are)
{
	static const uint8_t kinds[] = { ROCE_EVENT_BIND, ROCE_EVENT_USER, UINT8_MAX };
	struct roce_event event = { .kind = ROCE_EVENT_SEND };

	for (size_t i = 0; i < RTE_DIM(kinds); i++) {
		const struct roce_event other = { .kind = kinds[i], .wr_id = 7 };

		roce_engine_lock(end.engine);
		assert_true(roce_cq_try_push(end.send_cq, &other));
		assert_true(roce_cq_try_push(end.send_cq, &event));
		roce_engine_unlock(end.engine);
		assert_false(roce_cq_try_poll(end.send_cq, &event));
		assert_int_equal(roce_cq_count(end.send_cq), 2);
		assert_int_equal(roce_cq_poll(end.send_cq, &event, 1), 1);
		assert_int_equal(event.kind, kinds[i]);
		assert_true(roce_cq_try_poll(end.send_cq, &event));
		assert_int_equal(event.kind, ROCE_EVENT_SEND);
	}
}
