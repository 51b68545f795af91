/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_QUERY_H
#define TEST_CONTRACT_QUERY_H

/** @file What queries tell, and what must be told: errors, counts, bytes. */

#include "contract.h"

/* A call that is refused: argument @p n, a handle of that kind, or the state, is told. */
#define want_bad_arg(call, n)      want_error(call, DAT_INVALID_PARAMETER, DAT_INVALID_ARG##n)
#define want_bad_handle(call, of)  want_error(call, DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_##of)
#define want_bad_state(call, told) want_error(call, DAT_INVALID_STATE, DAT_INVALID_STATE_##told)

/* A member that @p mask asks for has the value that a query of all members gives. */
#define want_asked(mask, bit, some, all, member) \
	if (((mask) & (bit)) != 0)               \
	assert_memory_equal(&(some)->member, &(all)->member, sizeof((all)->member))

/** Asked into a poisoned struct: all fields, or some. */
DAT_EP_PARAM ep_param(DAT_EP_HANDLE ep);
DAT_EVD_PARAM evd_param(DAT_EVD_HANDLE evd);
DAT_LMR_PARAM lmr_param(DAT_LMR_HANDLE lmr);
DAT_RMR_PARAM rmr_param(DAT_RMR_HANDLE rmr);
DAT_IA_ATTR ia_attr(const struct end *end, DAT_IA_ATTR_MASK mask);
DAT_PROVIDER_ATTR provider_attr(const struct end *end, DAT_PROVIDER_ATTR_MASK mask);

/** A handle is of that type. */
void want_type_of(DAT_HANDLE handle, DAT_HANDLE_TYPE type);
/** An endpoint has @p n buffers, and the span says the same. */
void want_held(DAT_EP_HANDLE ep, DAT_COUNT n);
/** @p n bytes are @p value. */
void want_bytes(const void *p, uint8_t value, size_t n);

#endif
