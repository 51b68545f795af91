/* SPDX-License-Identifier: BSD-3-Clause */

#include "front/abi.h"

#define CLASS_BARE  0u
#define CLASS_ERROR DAT_CLASS_ERROR

#define ROW(name, class, type, subtype) \
	[name] = CLASS_##class | (DAT_RETURN)(type) | (DAT_RETURN)(subtype),

static const DAT_RETURN returns[DAPL_STATUS_MAX] = { DAPL_STATUS_LIST(ROW) };

DAT_RETURN
front_status(enum dapl_status status)
{
	return returns[status];
}

DAT_DTO_COMPLETION_STATUS
front_dto_status(unsigned int wc_status)
{
	switch (wc_status) {
	case IBV_WC_WR_FLUSH_ERR:
		return DAT_DTO_ERR_FLUSHED;
	case IBV_WC_LOC_LEN_ERR:
		return DAT_DTO_ERR_LOCAL_LENGTH;
	case IBV_WC_LOC_QP_OP_ERR:
	case IBV_WC_LOC_EEC_OP_ERR:
		return DAT_DTO_ERR_LOCAL_EP;
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_ACCESS_ERR:
		return DAT_DTO_ERR_LOCAL_PROTECTION;
	case IBV_WC_BAD_RESP_ERR:
		return DAT_DTO_ERR_BAD_RESPONSE;
	case IBV_WC_REM_ACCESS_ERR:
		return DAT_DTO_ERR_REMOTE_ACCESS;
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_OP_ERR:
	case IBV_WC_REM_ABORT_ERR:
		return DAT_DTO_ERR_REMOTE_RESPONDER;
	case IBV_WC_RNR_RETRY_EXC_ERR:
	case IBV_WC_RESP_TIMEOUT_ERR:
		return DAT_DTO_ERR_RECEIVER_NOT_READY;
	case IBV_WC_MW_BIND_ERR:
		return DAT_RMR_OPERATION_FAILED;
	default:
		return DAT_DTO_ERR_TRANSPORT;
	}
}
