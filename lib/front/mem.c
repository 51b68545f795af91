/* SPDX-License-Identifier: BSD-3-Clause */

#include "dapl/ep.h"
#include "dapl/ia.h"
#include "dapl/lmr.h"
#include "dapl/pz.h"
#include "dapl/rmr.h"
#include "front/abi.h"

#define LEGAL_PRIV ((unsigned int)DAT_MEM_PRIV_ALL_FLAG | MEM_PRIV_REMOTE_ATOMIC)

DAT_RETURN
front_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE *pz_handle)
{
	struct dapl_ia *ia = dapl_obj_check(ia_handle, DAPL_IA);
	enum dapl_status status;
	struct dapl_pz *pz;

	if (ia == NULL)
		return bad_handle(DAT_INVALID_HANDLE_IA);
	if (pz_handle == NULL)
		return bad_arg(DAT_INVALID_ARG2);
	status = dapl_pz_create(ia, &pz);
	if (status == DAPL_OK)
		*pz_handle = pz;
	return front_return(status);
}

DAT_RETURN
front_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK pz_param_mask, DAT_PZ_PARAM *pz_param)
{
	struct dapl_pz *pz = dapl_obj_check(pz_handle, DAPL_PZ);

	if (pz == NULL)
		return bad_handle(DAT_INVALID_HANDLE_PZ);
	if (((unsigned int)pz_param_mask & ~(unsigned int)DAT_PZ_FIELD_ALL) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (pz_param == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	*pz_param = (DAT_PZ_PARAM){ .ia_handle = consumer_handle(pz->head.ia) };
	return DAT_SUCCESS;
}

DAT_RETURN
front_pz_free(DAT_PZ_HANDLE pz_handle)
{
	struct dapl_pz *pz = dapl_obj_check(pz_handle, DAPL_PZ);

	if (pz == NULL)
		return bad_handle(DAT_INVALID_HANDLE_PZ);
	return front_return(dapl_pz_free(pz));
}

/*
 * Privileges and what the engine calls them. Local read is kept for windows alone: real programs send from memory
 * registered for writing only.
 */
static const struct {
	unsigned int priv;
	uint32_t access;
} rights[] = {
	{ DAT_MEM_PRIV_LOCAL_READ_FLAG, ROCE_ACCESS_LOCAL_READ },
	{ DAT_MEM_PRIV_LOCAL_WRITE_FLAG, IBV_ACCESS_LOCAL_WRITE },
	{ DAT_MEM_PRIV_REMOTE_READ_FLAG, IBV_ACCESS_REMOTE_READ },
	{ DAT_MEM_PRIV_REMOTE_WRITE_FLAG, IBV_ACCESS_REMOTE_WRITE },
	{ MEM_PRIV_REMOTE_ATOMIC, IBV_ACCESS_REMOTE_ATOMIC },
};

#define REMOTE_BOTH ((uint32_t)(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE))

static uint32_t
access_in(unsigned int priv)
{
	uint32_t access = 0;

	for (unsigned int i = 0; i < RTE_DIM(rights); i++)
		if ((priv & rights[i].priv) != 0)
			access |= rights[i].access;
	/* DAT 1.2 has no privilege for atomics. A peer that may read and write may do both at once. */
	if (BY_ABI((access & REMOTE_BOTH) == REMOTE_BOTH, false))
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	return access;
}

static DAT_MEM_PRIV_FLAGS
priv_out(uint32_t access)
{
	unsigned int priv = 0;

	for (unsigned int i = 0; i < RTE_DIM(rights); i++)
		if ((access & rights[i].access) != 0)
			priv |= rights[i].priv;
	return (DAT_MEM_PRIV_FLAGS)priv;
}

/* A stretch of the consumer's addresses; DAT_SUCCESS when it is good. */
static DAT_RETURN
stretch_in(DAT_PVOID va, DAT_VLEN length, struct dapl_lmr_create *create)
{
	if (va == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	if ((uintptr_t)va + length - 1 < (uintptr_t)va)
		return bad_arg(DAT_INVALID_ARG4);
	create->addr = (uintptr_t)va;
	create->length = length;
	return DAT_SUCCESS;
}

/*
 * Type, length and region; DAT_SUCCESS when they are good. The length comes first: whatever lies at an address, no
 * bytes of it are no region, and dapltest registers no bytes at no address. Of a region made of another it is ignored.
 */
static DAT_RETURN
region_in(const struct dapl_ia *ia, DAT_MEM_TYPE mem_type, DAT_REGION_DESCRIPTION region,
		DAT_VLEN length, struct dapl_lmr_create *create)
{
	if (length == 0 &&
			(mem_type == DAT_MEM_TYPE_VIRTUAL ||
					mem_type == DAT_MEM_TYPE_SHARED_VIRTUAL))
		return front_error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	switch (mem_type) {
	case DAT_MEM_TYPE_VIRTUAL:
		create->type = DAPL_LMR_VIRTUAL;
		return stretch_in(region.for_va, length, create);
	case DAT_MEM_TYPE_LMR:
		create->type = DAPL_LMR_OF_LMR;
		create->of = dapl_obj_of(ia, region.for_lmr_handle, DAPL_LMR);
		return create->of != NULL ? DAT_SUCCESS : bad_handle(DAT_INVALID_HANDLE_LMR);
	case DAT_MEM_TYPE_SHARED_VIRTUAL:
		create->type = DAPL_LMR_SHARED;
		create->cookie = region.for_shared_memory.shared_memory_id;
		if (create->cookie == NULL)
			return bad_arg(DAT_INVALID_ARG3);
		return stretch_in(region.for_shared_memory.virtual_address, length, create);
	default:
		return bad_arg(DAT_INVALID_ARG2);
	}
}

static DAT_MEM_TYPE
type_out(const struct dapl_lmr *lmr)
{
	static const DAT_MEM_TYPE types[] = {
		[DAPL_LMR_VIRTUAL] = DAT_MEM_TYPE_VIRTUAL,
		[DAPL_LMR_OF_LMR] = DAT_MEM_TYPE_LMR,
		[DAPL_LMR_SHARED] = DAT_MEM_TYPE_SHARED_VIRTUAL,
	};

	return types[lmr->type];
}

/* The union as the consumer wrote it; the name of shared memory lies in the region now. */
static DAT_REGION_DESCRIPTION
region_out(struct dapl_lmr *lmr)
{
	DAT_REGION_DESCRIPTION region = { .for_shared_memory = { .virtual_address = NULL } };

	if (lmr->type == DAPL_LMR_OF_LMR) {
		/* The standard's handles are not const. */
		region.for_lmr_handle = (DAT_LMR_HANDLE)(uintptr_t)lmr->of;
		return region;
	}
	region.for_va = (DAT_PVOID)(uintptr_t)lmr->addr;
	if (lmr->type == DAPL_LMR_SHARED)
		region.for_shared_memory.shared_memory_id =
				(DAT_LMR_COOKIE)(void *)lmr->shared.cookie;
	return region;
}

#if DAT_ABI == 20

/* Addresses count from zero in no region here (zb_supported is false). */
static DAT_RETURN
check_va_type(DAT_VA_TYPE va_type, DAT_RETURN_SUBTYPE arg)
{
	if (va_type == DAT_VA_TYPE_ZB)
		return front_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	return va_type == DAT_VA_TYPE_VA ? DAT_SUCCESS : bad_arg(arg);
}

/* The region that a window is bound to is named twice. Bound to nothing, it needs no name. */
static DAT_RETURN
check_lmr(const struct dapl_rmr *rmr, DAT_LMR_HANDLE lmr_handle, const DAT_LMR_TRIPLET *triplet)
{
	const struct dapl_lmr *lmr = dapl_obj_of(rmr->head.ia, lmr_handle, DAPL_LMR);
	bool needed = triplet == NULL || triplet->segment_length > 0;

	if (lmr == NULL && (needed || lmr_handle != DAT_HANDLE_NULL))
		return bad_handle(DAT_INVALID_HANDLE_LMR);
	if (triplet == NULL || (needed && lmr->key != triplet->lmr_context))
		return bad_arg(DAT_INVALID_ARG3);
	return DAT_SUCCESS;
}

#endif

DAT_RETURN
front_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type,
		DAT_REGION_DESCRIPTION region_description, DAT_VLEN length, DAT_PZ_HANDLE pz_handle,
		DAT_MEM_PRIV_FLAGS privileges NEW_ARGS(, DAT_VA_TYPE va_type),
		DAT_LMR_HANDLE *lmr_handle, DAT_LMR_CONTEXT *lmr_context,
		DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_length,
		DAT_VADDR *registered_address)
{
	struct dapl_ia *ia = dapl_obj_check(ia_handle, DAPL_IA);
	struct dapl_lmr_create create = { .of = NULL };
	enum dapl_status status;
	struct dapl_lmr *lmr;
	struct dapl_pz *pz;
	DAT_RETURN rc;

	if (ia == NULL)
		return bad_handle(DAT_INVALID_HANDLE_IA);
	rc = region_in(ia, mem_type, region_description, length, &create);
	if (rc != DAT_SUCCESS)
		return rc;
	pz = dapl_obj_of(ia, pz_handle, DAPL_PZ);
	if (pz == NULL)
		return bad_handle(DAT_INVALID_HANDLE_PZ);
	if (((unsigned int)privileges & ~LEGAL_PRIV) != 0)
		return bad_arg(DAT_INVALID_ARG6);
	rc = BY_ABI(DAT_SUCCESS, check_va_type(va_type, DAT_INVALID_ARG7));
	if (rc != DAT_SUCCESS)
		return rc;
	if (lmr_handle == NULL)
		return bad_arg(BY_ABI(DAT_INVALID_ARG7, DAT_INVALID_ARG8));
	if (lmr_context == NULL)
		return bad_arg(BY_ABI(DAT_INVALID_ARG8, DAT_INVALID_ARG9));
	create.access = access_in((unsigned int)privileges);
	create.priv = (uint32_t)privileges;
	status = dapl_lmr_create(pz, &create, &lmr);
	if (status != DAPL_OK)
		return front_status(status);
	*lmr_handle = lmr;
	*lmr_context = lmr->key;
	/* Real programs pass null for what they do not want to know. */
	if (rmr_context != NULL)
		*rmr_context = lmr->peer_key;
	if (registered_length != NULL)
		*registered_length = lmr->length;
	if (registered_address != NULL)
		*registered_address = lmr->addr;
	return DAT_SUCCESS;
}

DAT_RETURN
front_lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK lmr_param_mask,
		DAT_LMR_PARAM *lmr_param)
{
	struct dapl_lmr *lmr = dapl_obj_check(lmr_handle, DAPL_LMR);

	if (lmr == NULL)
		return bad_handle(DAT_INVALID_HANDLE_LMR);
	if (((unsigned int)lmr_param_mask & ~(unsigned int)DAT_LMR_FIELD_ALL) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (lmr_param == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	*lmr_param = (DAT_LMR_PARAM){
		.ia_handle = consumer_handle(lmr->head.ia),
		.mem_type = type_out(lmr),
		.region_desc = region_out(lmr),
		.length = lmr->length,
		.pz_handle = lmr->pz,
		.mem_priv = (DAT_MEM_PRIV_FLAGS)lmr->priv,
		.lmr_context = lmr->key,
		.rmr_context = lmr->peer_key,
		.registered_size = lmr->length,
		.registered_address = lmr->addr,
	};
	return DAT_SUCCESS;
}

DAT_RETURN
front_lmr_free(DAT_LMR_HANDLE lmr_handle)
{
	struct dapl_lmr *lmr = dapl_obj_check(lmr_handle, DAPL_LMR);

	if (lmr == NULL)
		return bad_handle(DAT_INVALID_HANDLE_LMR);
	return front_return(dapl_lmr_free(lmr));
}

/*
 * Memory is coherent for every processor that an engine runs on (lmr_sync_req is false): there is nothing to be done
 * but to validate the arguments.
 */
static DAT_RETURN
sync_memory(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *segments, DAT_VLEN n)
{
	struct dapl_ia *ia = dapl_obj_check(ia_handle, DAPL_IA);

	if (ia == NULL)
		return bad_handle(DAT_INVALID_HANDLE_IA);
	if (segments == NULL && n > 0)
		return bad_arg(DAT_INVALID_ARG2);
	for (DAT_VLEN i = 0; i < n; i++)
		if (!roce_mr_covers(ia->domain, segments[i].lmr_context,
				    segments[i].virtual_address, segments[i].segment_length))
			return bad_arg(DAT_INVALID_ARG2);
	return DAT_SUCCESS;
}

DAT_RETURN
front_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *local_segments,
		DAT_VLEN num_segments)
{
	return sync_memory(ia_handle, local_segments, num_segments);
}

DAT_RETURN
front_lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *local_segments,
		DAT_VLEN num_segments)
{
	return sync_memory(ia_handle, local_segments, num_segments);
}

DAT_RETURN
front_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *rmr_handle)
{
	struct dapl_pz *pz = dapl_obj_check(pz_handle, DAPL_PZ);
	enum dapl_status status;
	struct dapl_rmr *rmr;

	if (pz == NULL)
		return bad_handle(DAT_INVALID_HANDLE_PZ);
	if (rmr_handle == NULL)
		return bad_arg(DAT_INVALID_ARG2);
	status = dapl_rmr_create(pz, &rmr);
	if (status == DAPL_OK)
		*rmr_handle = rmr;
	return front_return(status);
}

DAT_RETURN
front_rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK rmr_param_mask,
		DAT_RMR_PARAM *rmr_param)
{
	struct dapl_rmr *rmr = dapl_obj_check(rmr_handle, DAPL_RMR);
	struct roce_mw_binding binding = { .length = 0 };

	if (rmr == NULL)
		return bad_handle(DAT_INVALID_HANDLE_RMR);
	if (((unsigned int)rmr_param_mask & ~(unsigned int)DAT_RMR_FIELD_ALL) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (rmr_param == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	/* Bound to nothing: zeros. */
	(void)roce_mw_query(rmr->mw, &binding);
	*rmr_param = (DAT_RMR_PARAM){
		.ia_handle = consumer_handle(rmr->head.ia),
		.pz_handle = rmr->pz,
		.lmr_triplet.lmr_context = binding.mr_key,
		.lmr_triplet.virtual_address = binding.addr,
		.lmr_triplet.segment_length =
				BY_ABI(binding.length, (DAT_SEG_LENGTH)binding.length),
		.mem_priv = priv_out(binding.access),
		.rmr_context = binding.key,
	};
	new_rmr_param(rmr_param);
	return DAT_SUCCESS;
}

#define BIND_FLAGS \
	((unsigned int)(DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG))

static uint8_t
bind_flags(unsigned int flags)
{
	uint8_t wr = (flags & DAT_COMPLETION_SUPPRESS_FLAG) != 0 ? 0 : ROCE_WR_SIGNALED;

	if ((flags & DAT_COMPLETION_BARRIER_FENCE_FLAG) != 0)
		wr |= ROCE_WR_FENCE;
	if ((flags & DAT_COMPLETION_UNSIGNALLED_FLAG) != 0)
		wr |= ROCE_WR_QUIET;
	return wr;
}

DAT_RETURN
front_rmr_bind(DAT_RMR_HANDLE rmr_handle NEW_ARGS(, DAT_LMR_HANDLE lmr_handle),
		const DAT_LMR_TRIPLET *lmr_triplet,
		DAT_MEM_PRIV_FLAGS mem_priv NEW_ARGS(, DAT_VA_TYPE va_type),
		DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE user_cookie,
		DAT_COMPLETION_FLAGS completion_flags, DAT_RMR_CONTEXT *context)
{
	struct dapl_rmr *rmr = dapl_obj_check(rmr_handle, DAPL_RMR);
	struct roce_mw_bind bind;
	enum dapl_status status;
	struct dapl_ep *ep;
	unsigned int legal;
	struct roce_wr wr;
	DAT_RETURN rc;

	if (rmr == NULL)
		return bad_handle(DAT_INVALID_HANDLE_RMR);
	rc = BY_ABI(DAT_SUCCESS, check_lmr(rmr, lmr_handle, lmr_triplet));
	if (rc != DAT_SUCCESS)
		return rc;
	if (lmr_triplet == NULL)
		return bad_arg(BY_ABI(DAT_INVALID_ARG2, DAT_INVALID_ARG3));
	if (((unsigned int)mem_priv & ~LEGAL_PRIV) != 0)
		return bad_arg(BY_ABI(DAT_INVALID_ARG3, DAT_INVALID_ARG4));
	rc = BY_ABI(DAT_SUCCESS, check_va_type(va_type, DAT_INVALID_ARG5));
	if (rc != DAT_SUCCESS)
		return rc;
	ep = dapl_obj_of(rmr->head.ia, ep_handle, DAPL_EP);
	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	/* Unsignalled only on an endpoint made so; to wake the peer there is no message. */
	legal = BIND_FLAGS | (ep->unsignalled_requests ? DAT_COMPLETION_UNSIGNALLED_FLAG : 0);
	if (((unsigned int)completion_flags & ~legal) != 0)
		return bad_arg(BY_ABI(DAT_INVALID_ARG6, DAT_INVALID_ARG8));
	bind = (struct roce_mw_bind){
		.mr_key = lmr_triplet->lmr_context,
		.access = access_in((unsigned int)mem_priv),
		.addr = lmr_triplet->virtual_address,
		.length = lmr_triplet->segment_length,
	};
	wr = (struct roce_wr){
		.wr_id = user_cookie.as_64,
		.bind = &bind,
		.opcode = IBV_WR_BIND_MW,
		.flags = bind_flags((unsigned int)completion_flags),
	};
	status = dapl_rmr_bind(rmr, ep, &wr);
	if (status == DAPL_BAD_TRIPLET)
		return bad_arg(BY_ABI(DAT_INVALID_ARG2, DAT_INVALID_ARG3));
	if (status != DAPL_OK)
		return front_status(status);
	/* The key of a bind to nothing never lives. A consumer that passes null asks dat_rmr_query() later. */
	if (context != NULL)
		*context = bind.length != 0 ? bind.key : 0;
	return DAT_SUCCESS;
}

DAT_RETURN
front_rmr_free(DAT_RMR_HANDLE rmr_handle)
{
	struct dapl_rmr *rmr = dapl_obj_check(rmr_handle, DAPL_RMR);

	if (rmr == NULL)
		return bad_handle(DAT_INVALID_HANDLE_RMR);
	return front_return(dapl_rmr_free(rmr));
}
