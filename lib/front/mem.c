/* SPDX-License-Identifier: BSD-3-Clause */

#include "front/abi.h"

#define LEGAL_PRIV ((unsigned int)DAT_MEM_PRIV_ALL_FLAG)

DAT_RETURN
FRONT(pz_create)(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE *pz_handle)
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
FRONT(pz_query)(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK pz_param_mask, DAT_PZ_PARAM *pz_param)
{
	struct dapl_pz *pz = dapl_obj_check(pz_handle, DAPL_PZ);

	if (pz == NULL)
		return bad_handle(DAT_INVALID_HANDLE_PZ);
	if (((unsigned int)pz_param_mask & ~(unsigned int)DAT_PZ_FIELD_ALL) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (pz_param == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	*pz_param = (DAT_PZ_PARAM){ .ia_handle = pz->head.ia };
	return DAT_SUCCESS;
}

DAT_RETURN
FRONT(pz_free)(DAT_PZ_HANDLE pz_handle)
{
	struct dapl_pz *pz = dapl_obj_check(pz_handle, DAPL_PZ);

	if (pz == NULL)
		return bad_handle(DAT_INVALID_HANDLE_PZ);
	return front_return(dapl_pz_free(pz));
}

/* Local read is never asked for: real programs send from memory registered for writing only. */
static uint32_t
access_in(unsigned int priv)
{
	uint32_t access = 0;

	if ((priv & DAT_MEM_PRIV_LOCAL_WRITE_FLAG) != 0)
		access |= IBV_ACCESS_LOCAL_WRITE;
	if ((priv & DAT_MEM_PRIV_REMOTE_READ_FLAG) != 0)
		access |= IBV_ACCESS_REMOTE_READ;
	if ((priv & DAT_MEM_PRIV_REMOTE_WRITE_FLAG) != 0)
		access |= IBV_ACCESS_REMOTE_WRITE;
	return access;
}

/* Type, region and length, in the order of the arguments; DAT_SUCCESS when they are good. */
static DAT_RETURN
check_region(DAT_MEM_TYPE mem_type, DAT_REGION_DESCRIPTION region, DAT_VLEN length)
{
	switch (mem_type) {
	case DAT_MEM_TYPE_VIRTUAL:
		break;
	case DAT_MEM_TYPE_LMR:
	case DAT_MEM_TYPE_SHARED_VIRTUAL:
		return front_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	default:
		return bad_arg(DAT_INVALID_ARG2);
	}
	if (region.for_va == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	if (length == 0)
		return front_error(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	if ((uintptr_t)region.for_va + length - 1 < (uintptr_t)region.for_va)
		return bad_arg(DAT_INVALID_ARG4);
	return DAT_SUCCESS;
}

DAT_RETURN
FRONT(lmr_create)
(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type, DAT_REGION_DESCRIPTION region_description,
		DAT_VLEN length, DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges,
		DAT_LMR_HANDLE *lmr_handle, DAT_LMR_CONTEXT *lmr_context,
		DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_length,
		DAT_VADDR *registered_address)
{
	struct dapl_ia *ia = dapl_obj_check(ia_handle, DAPL_IA);
	struct dapl_lmr_create create;
	enum dapl_status status;
	struct dapl_lmr *lmr;
	struct dapl_pz *pz;
	DAT_RETURN rc;

	if (ia == NULL)
		return bad_handle(DAT_INVALID_HANDLE_IA);
	rc = check_region(mem_type, region_description, length);
	if (rc != DAT_SUCCESS)
		return rc;
	pz = dapl_obj_of(ia, pz_handle, DAPL_PZ);
	if (pz == NULL)
		return bad_handle(DAT_INVALID_HANDLE_PZ);
	if (((unsigned int)privileges & ~LEGAL_PRIV) != 0)
		return bad_arg(DAT_INVALID_ARG6);
	if (lmr_handle == NULL)
		return bad_arg(DAT_INVALID_ARG7);
	if (lmr_context == NULL)
		return bad_arg(DAT_INVALID_ARG8);
	create = (struct dapl_lmr_create){
		.addr = (uintptr_t)region_description.for_va,
		.length = length,
		.access = access_in((unsigned int)privileges),
		.priv = (uint32_t)privileges,
	};
	status = dapl_lmr_create(pz, &create, &lmr);
	if (status != DAPL_OK)
		return FRONT(status)(status);
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
FRONT(lmr_query)
(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK lmr_param_mask, DAT_LMR_PARAM *lmr_param)
{
	struct dapl_lmr *lmr = dapl_obj_check(lmr_handle, DAPL_LMR);

	if (lmr == NULL)
		return bad_handle(DAT_INVALID_HANDLE_LMR);
	if (((unsigned int)lmr_param_mask & ~(unsigned int)DAT_LMR_FIELD_ALL) != 0)
		return bad_arg(DAT_INVALID_ARG2);
	if (lmr_param == NULL)
		return bad_arg(DAT_INVALID_ARG3);
	*lmr_param = (DAT_LMR_PARAM){
		.ia_handle = lmr->head.ia,
		.mem_type = DAT_MEM_TYPE_VIRTUAL,
		.region_desc.for_va = (DAT_PVOID)(uintptr_t)lmr->addr,
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
FRONT(lmr_free)(DAT_LMR_HANDLE lmr_handle)
{
	struct dapl_lmr *lmr = dapl_obj_check(lmr_handle, DAPL_LMR);

	if (lmr == NULL)
		return bad_handle(DAT_INVALID_HANDLE_LMR);
	return front_return(dapl_lmr_free(lmr));
}
