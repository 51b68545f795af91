/* SPDX-License-Identifier: BSD-3-Clause */

/* Posting lists of requests and receives. Any thread may post to any queue. */

#include <errno.h>

#include <arpa/inet.h>

#include "verbs/verbs_front.h"

#define SEND_FLAGS (IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE)

static_assert((int)ROCE_WR_SEND == (int)IBV_WR_SEND &&
				(int)ROCE_WR_SEND_WITH_INV == (int)IBV_WR_SEND_WITH_INV &&
				(int)ROCE_WR_LOCAL_INV == (int)IBV_WR_LOCAL_INV &&
				(int)ROCE_WR_BIND_MW == (int)IBV_WR_BIND_MW,
		"operations have the numbers of verbs");

int
verbs_wr_flags(const struct verbs_qp *qp, unsigned int send_flags)
{
	int flags = 0;

	if (send_flags & ~(unsigned int)SEND_FLAGS)
		return -EINVAL;
	if ((send_flags & IBV_SEND_SIGNALED) || qp->signal_all)
		flags |= ROCE_WR_SIGNALED;
	if (send_flags & IBV_SEND_SOLICITED)
		flags |= ROCE_WR_SOLICITED;
	if (send_flags & IBV_SEND_FENCE)
		flags |= ROCE_WR_FENCE;
	if (send_flags & IBV_SEND_INLINE)
		flags |= ROCE_WR_INLINE;
	return flags;
}

static const struct roce_sge *
segments(const struct ibv_sge *sg)
{
	return (const struct roce_sge *)(const void *)sg;
}

/* Members of the operation besides its segments. @return 0; -EOPNOTSUPP. */
static int
set_operation(struct roce_wr *to, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_SEND:
		return 0;
	case IBV_WR_SEND_WITH_IMM:
		to->imm = wr->imm_data;
		return 0;
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		to->imm = htonl(wr->invalidate_rkey);
		return 0;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		to->imm = wr->imm_data;
		/* fallthrough */
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_READ:
		to->rkey = wr->wr.rdma.rkey;
		to->remote_addr = wr->wr.rdma.remote_addr;
		return 0;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		to->rkey = wr->wr.atomic.rkey;
		to->remote_addr = wr->wr.atomic.remote_addr;
		to->compare_add = wr->wr.atomic.compare_add;
		to->swap = wr->wr.atomic.swap;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int
post_one(struct verbs_qp *qp, const struct ibv_send_wr *wr)
{
	struct roce_wr to = {
		.wr_id = wr->wr_id,
		.sg = segments(wr->sg_list),
		.num_sge = (uint32_t)wr->num_sge,
		.opcode = (uint8_t)wr->opcode,
	};
	int flags = verbs_wr_flags(qp, wr->send_flags);
	int rc;

	if (flags < 0 || wr->num_sge < 0)
		return -EINVAL;
	to.flags = (uint8_t)flags;
	if (wr->opcode == IBV_WR_BIND_MW)
		return verbs_post_bind(qp, wr->bind_mw.mw, wr->bind_mw.rkey, &wr->bind_mw.bind_info,
				wr->wr_id, to.flags);
	rc = set_operation(&to, wr);
	return rc == 0 ? roce_qp_post_send(qp->roce, &to) : rc;
}

int
verbs_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct verbs_qp *own = verbs_qp_of(qp);
	int rc = 0;

	if (verbs_is_forked()) {
		*bad = wr;
		return ENODEV;
	}
	pthread_mutex_lock(&own->send_lock);
	for (; wr != NULL && rc == 0; wr = rc == 0 ? wr->next : wr)
		rc = post_one(own, wr);
	pthread_mutex_unlock(&own->send_lock);
	if (rc != 0)
		*bad = wr;
	return verbs_errno(rc);
}

static struct roce_recv_wr
recv_wr_of(const struct ibv_recv_wr *wr)
{
	return (struct roce_recv_wr){
		.wr_id = wr->wr_id,
		.sg = segments(wr->sg_list),
		/* A negative number is one that no queue has room for. */
		.num_sge = (uint32_t)wr->num_sge,
	};
}

int
verbs_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct verbs_qp *own = verbs_qp_of(qp);
	int rc = 0;

	if (verbs_is_forked() || qp->state == IBV_QPS_RESET) {
		*bad = wr;
		return qp->state == IBV_QPS_RESET ? EINVAL : ENODEV;
	}
	pthread_mutex_lock(&own->recv_lock);
	while (wr != NULL) {
		struct roce_recv_wr to = recv_wr_of(wr);

		rc = roce_qp_post_recv(own->roce, &to);
		if (rc != 0)
			break;
		wr = wr->next;
	}
	pthread_mutex_unlock(&own->recv_lock);
	if (rc != 0)
		*bad = wr;
	return verbs_errno(rc);
}

int
verbs_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct verbs_srq *own = verbs_srq_of(srq);

	for (; wr != NULL; wr = wr->next) {
		struct roce_recv_wr to = recv_wr_of(wr);
		int rc = verbs_is_forked() ? -ENODEV : roce_srq_post(own->roce, &to);

		if (rc != 0) {
			*bad = wr;
			return verbs_errno(rc);
		}
	}
	return 0;
}
