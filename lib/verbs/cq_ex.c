/* SPDX-License-Identifier: BSD-3-Clause */

/* The extended way to poll: one completion at a time, whose members are read by functions. The queue is locked meanwhile. */

#include <errno.h>

#include "verbs/verbs_front.h"

#define KNOWN_MASK (IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD)
#define OFFERED    ((uint64_t)IBV_WC_STANDARD_FLAGS)

static struct verbs_cq *
cq_of(struct ibv_cq_ex *cq)
{
	return (struct verbs_cq *)(void *)cq;
}

static bool
next(struct verbs_cq *cq)
{
	if (verbs_cq_take(cq, &cq->current, 1) == 0)
		return false;
	cq->ex.status = (enum ibv_wc_status)cq->current.status;
	cq->ex.wr_id = cq->current.wr_id;
	return true;
}

static int
start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct verbs_cq *cq = cq_of(ex);

	if (attr->comp_mask != 0)
		return EINVAL;
	if (verbs_is_forked())
		return ENODEV;
	pthread_mutex_lock(&cq->lock);
	if (next(cq))
		return 0;
	pthread_mutex_unlock(&cq->lock);
	if (!verbs_progress_poll())
		return ENOENT;
	pthread_mutex_lock(&cq->lock);
	if (next(cq))
		return 0;
	pthread_mutex_unlock(&cq->lock);
	return ENOENT;
}

static int
next_poll(struct ibv_cq_ex *ex)
{
	return next(cq_of(ex)) ? 0 : ENOENT;
}

static void
end_poll(struct ibv_cq_ex *ex)
{
	pthread_mutex_unlock(&cq_of(ex)->lock);
}

static enum ibv_wc_opcode
read_opcode(struct ibv_cq_ex *ex)
{
	return verbs_event_opcode(&cq_of(ex)->current);
}

static uint32_t
read_byte_len(struct ibv_cq_ex *ex)
{
	return cq_of(ex)->current.byte_len;
}

static __be32
read_imm_data(struct ibv_cq_ex *ex)
{
	return verbs_event_imm(&cq_of(ex)->current);
}

static uint32_t
read_qp_num(struct ibv_cq_ex *ex)
{
	return verbs_event_qp_num(&cq_of(ex)->current);
}

static unsigned int
read_wc_flags(struct ibv_cq_ex *ex)
{
	return verbs_event_flags(&cq_of(ex)->current);
}

/* Members that a reliable connection on Ethernet has no use for. */
static uint32_t
read_zero32(struct ibv_cq_ex *ex)
{
	return 0;
}

static uint8_t
read_zero8(struct ibv_cq_ex *ex)
{
	return 0;
}

static int
judge(const struct ibv_cq_init_attr_ex *attr)
{
	if (attr->comp_mask & ~(uint32_t)KNOWN_MASK)
		return -EINVAL;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) &&
			(attr->parent_domain == NULL ||
					verbs_pd_of(attr->parent_domain)->of == NULL))
		return -EINVAL;
	if (attr->wc_flags & ~OFFERED)
		return -EOPNOTSUPP;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
			(attr->flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED))
		return -EOPNOTSUPP;
	return 0;
}

struct ibv_cq_ex *
verbs_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	int rc = judge(attr);
	struct ibv_cq *ibv;
	struct ibv_cq_ex *cq;

	if (rc != 0)
		return verbs_fail(rc);
	ibv = verbs_create_cq(
			context, attr->cqe, attr->cq_context, attr->channel, attr->comp_vector);
	if (ibv == NULL)
		return NULL;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) {
		verbs_cq_of(ibv)->domain = attr->parent_domain;
		verbs_pd_get(attr->parent_domain);
	}
	cq = &verbs_cq_of(ibv)->ex;
	cq->start_poll = start_poll;
	cq->next_poll = next_poll;
	cq->end_poll = end_poll;
	cq->read_opcode = read_opcode;
	cq->read_vendor_err = read_zero32;
	cq->read_byte_len = read_byte_len;
	cq->read_imm_data = read_imm_data;
	cq->read_qp_num = read_qp_num;
	cq->read_src_qp = read_zero32;
	cq->read_wc_flags = read_wc_flags;
	cq->read_slid = read_zero32;
	cq->read_sl = read_zero8;
	cq->read_dlid_path_bits = read_zero8;
	return cq;
}
