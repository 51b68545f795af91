/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "fixture_post.h"
#include "queue/qp.h"
#include "queue/srq.h"

int
fx_send(struct fx_end *end, struct roce_qp *qp, uint64_t wr_id, uint32_t offset, uint32_t len,
		uint8_t flags)
{
	const struct roce_sge sge = { (uintptr_t)end->memory + offset, len, end->key };
	const struct roce_wr wr = {
		.wr_id = wr_id,
		.sg = &sge,
		.num_sge = len > 0,
		.opcode = IBV_WR_SEND,
		.flags = flags,
	};

	return roce_qp_post_send(qp, &wr);
}

void
fx_send_many(struct fx_end *end, struct roce_qp *qp, uint32_t n, uint32_t len, uint8_t flags)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(fx_send(end, qp, i, 0, len, flags), 0);
}

uint32_t
fx_requests(const struct roce_qp *qp)
{
	uint32_t requests, receives;

	roce_qp_depth(qp, &requests, &receives);
	return requests;
}

uint32_t
fx_receives(const struct roce_qp *qp)
{
	uint32_t requests, receives;

	roce_qp_depth(qp, &requests, &receives);
	return receives;
}

struct roce_recv_wr
fx_recv(const struct fx_end *end, struct roce_sge *sge, uint64_t wr_id, uint32_t offset,
		uint32_t len)
{
	*sge = (struct roce_sge){ (uintptr_t)end->memory + offset, len, end->key };
	return (struct roce_recv_wr){ .wr_id = wr_id, .sg = sge, .num_sge = 1 };
}

void
fx_fill_srq(struct fx_end *end, uint32_t n, uint32_t len)
{
	for (uint32_t i = 0; i < n; i++) {
		struct roce_sge sge;
		struct roce_recv_wr wr = fx_recv(end, &sge, i, 0, len);

		assert_int_equal(roce_srq_post(end->srq, &wr), 0);
	}
}

struct roce_event
fx_event(struct roce_cq *cq)
{
	struct roce_event event[2];

	memset(event, 0, sizeof(event));
	assert_int_equal(roce_cq_count(cq), 1);
	assert_int_equal(roce_cq_poll(cq, event, 2), 1);
	return event[0];
}
