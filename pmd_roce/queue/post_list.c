/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of requests, as a whole or not at all: the engine sees no slot before all of them are filled. */

#include <errno.h>

#include "queue/post.h"
#include "queue/post_fill.h"

static bool
has_room_for(struct roce_qp *qp, uint32_t n)
{
	qp->post.tail_seen = roce_qp_done(qp);
	return n <= qp->post.max - (qp->post.head - qp->post.tail_seen);
}

/* Fill the slots from head on, which the engine does not see. @param at receives the place of a request that is refused. */
static int
fill_list(struct roce_qp *qp, const struct roce_wr *wr, uint32_t n, uint32_t *at)
{
	const uint32_t epoch = roce_key_epoch(qp->post.keys);

	for (uint32_t i = 0; i < n; i++) {
		struct roce_wqe *wqe = roce_wq_slot(&qp->post.wq, qp->post.head + i);
		int rc;

		wqe->validated_epoch = epoch;
		rc = roce_wqe_fill(qp, &wr[i], wqe);
		if (rc != 0) {
			*at = i;
			return rc;
		}
		roce_wqe_complete(qp, wqe, wr[i].wr_id, wr[i].opcode, wr[i].flags);
	}
	return 0;
}

int
roce_qp_post_list(struct roce_qp *qp, const struct roce_wr *wr, uint32_t n)
{
	uint32_t at;
	int rc;

	if (!has_room_for(qp, n)) {
		rc = roce_wq_begin(qp, n);
		if (rc != 0)
			return rc;
	}
	if (!__atomic_load_n(&qp->post.connected, __ATOMIC_ACQUIRE))
		return -EINVAL;
	/* Larger slots are other memory, so the requests in front of the one that needs them are filled again. */
	do {
		rc = fill_list(qp, wr, n, &at);
	} while (rc == -EINVAL && (rc = roce_wq_grow(qp, &wr[at])) == 0);
	if (rc != 0 || n == 0)
		return rc;
	__atomic_store_n(&qp->post.head, qp->post.head + n, __ATOMIC_RELEASE);
	roce_qp_ring(qp);
	return 0;
}
