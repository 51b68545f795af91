/* SPDX-License-Identifier: BSD-3-Clause */

#include "dapl/ia_limits.h"
#include "dapl/srq.h"
#include "front/abi.h"

DAT_RETURN
front_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR *srq_attr,
		DAT_SRQ_HANDLE *srq_handle)
{
	struct dapl_ia *ia = dapl_obj_check(ia_handle, DAPL_IA);
	struct dapl_srq *srq;
	enum dapl_status status;
	struct dapl_pz *pz;

	if (ia == NULL)
		return bad_handle(DAT_INVALID_HANDLE_IA);
	pz = dapl_obj_of(ia, pz_handle, DAPL_PZ);
	if (pz == NULL)
		return bad_handle(DAT_INVALID_HANDLE_PZ);
	if (srq_attr == NULL || srq_attr->max_recv_dtos < 1 ||
			srq_attr->max_recv_dtos > DAPL_MAX_SRQ_LEN || srq_attr->max_recv_iov < 1 ||
			srq_attr->max_recv_iov > DAPL_MAX_IOV)
		return bad_arg(DAT_INVALID_ARG3);
	/* An empty queue would be below any other watermark at once. */
	if (srq_attr->low_watermark != DAT_SRQ_LW_DEFAULT)
		return bad_arg(DAT_INVALID_ARG3);
	if (srq_handle == NULL)
		return bad_arg(DAT_INVALID_ARG4);
	status = dapl_srq_create(pz, (uint32_t)srq_attr->max_recv_dtos,
			(uint32_t)srq_attr->max_recv_iov, &srq);
	if (status == DAPL_OK)
		*srq_handle = srq;
	return front_return(status);
}

DAT_RETURN
front_srq_free(DAT_SRQ_HANDLE srq_handle)
{
	struct dapl_srq *srq = dapl_obj_check(srq_handle, DAPL_SRQ);

	if (srq == NULL)
		return bad_handle(DAT_INVALID_HANDLE_SRQ);
	return front_return(dapl_srq_free(srq));
}

/* A receive that is rare, or refused: the reason is the first in the order of the arguments. */
static __rte_noinline DAT_RETURN
post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET *local_iov,
		DAT_DTO_COOKIE user_cookie)
{
	struct dapl_srq *srq = dapl_obj_check(srq_handle, DAPL_SRQ);
	struct roce_sge sge[DAPL_MAX_IOV];
	struct roce_recv_wr wr;

	if (unlikely(srq == NULL))
		return bad_handle(DAT_INVALID_HANDLE_SRQ);
	if (unlikely((unsigned int)num_segments > srq->max_recv_iov))
		return bad_arg(DAT_INVALID_ARG2);
	if (unlikely(local_iov == NULL && num_segments > 0))
		return bad_arg(DAT_INVALID_ARG3);
	if (unlikely(segments_in(sge, local_iov, num_segments) == UINT64_MAX))
		return bad_arg(DAT_INVALID_ARG3);
	wr = (struct roce_recv_wr){
		.wr_id = user_cookie.as_64,
		.sg = sge,
		.num_sge = (uint32_t)num_segments,
	};
	return front_return(dapl_srq_post_recv(srq, &wr));
}

FRONT_FLAT DAT_RETURN
front_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET *local_iov,
		DAT_DTO_COOKIE user_cookie)
{
	struct dapl_srq *srq = dapl_obj_check(srq_handle, DAPL_SRQ);

	/* No queue is made for fewer segments than one. */
	if (likely(srq != NULL && is_single(num_segments, local_iov, 1, UINT32_MAX) &&
			    roce_srq_try_post(srq->srq, single_in(local_iov), user_cookie.as_64)))
		return DAT_SUCCESS;
	return post_recv(srq_handle, num_segments, local_iov, user_cookie);
}

DAT_RETURN
front_srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK srq_param_mask,
		DAT_SRQ_PARAM *srq_param)
{
	struct dapl_srq *srq = dapl_obj_check(srq_handle, DAPL_SRQ);
	struct roce_srq_counts counts;

	if (srq == NULL)
		return bad_handle(DAT_INVALID_HANDLE_SRQ);
	if (((unsigned int)srq_param_mask & ~(unsigned int)DAT_SRQ_FIELD_ALL) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (srq_param == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	roce_srq_query(srq->srq, &counts);
	*srq_param = (DAT_SRQ_PARAM){
		.ia_handle = consumer_handle(srq->head.ia),
		.srq_state = DAT_SRQ_STATE_OPERATIONAL,
		.pz_handle = srq->pz,
		.max_recv_dtos = (DAT_COUNT)counts.max,
		.max_recv_iov = (DAT_COUNT)srq->max_recv_iov,
		.low_watermark = (DAT_COUNT)counts.low,
		.available_dto_count = (DAT_COUNT)counts.available,
		.outstanding_dto_count = (DAT_COUNT)counts.outstanding,
	};
	return DAT_SUCCESS;
}

DAT_RETURN
front_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT srq_max_recv_dto)
{
	struct dapl_srq *srq = dapl_obj_check(srq_handle, DAPL_SRQ);

	if (srq == NULL)
		return bad_handle(DAT_INVALID_HANDLE_SRQ);
	if (srq_max_recv_dto < 1 || srq_max_recv_dto > DAPL_MAX_SRQ_LEN)
		return bad_arg(DAT_INVALID_ARG2);
	return front_return(dapl_srq_resize(srq, (uint32_t)srq_max_recv_dto));
}

DAT_RETURN
front_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark)
{
	struct dapl_srq *srq = dapl_obj_check(srq_handle, DAPL_SRQ);

	if (srq == NULL)
		return bad_handle(DAT_INVALID_HANDLE_SRQ);
	if (low_watermark < 0)
		return bad_arg(DAT_INVALID_ARG2);
	return front_return(dapl_srq_set_lw(srq, (uint32_t)low_watermark));
}
