/* SPDX-License-Identifier: BSD-3-Clause */

#include "rig.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): names of types, and of functions */
#define QUERY(kind, name)                                                     \
	DAT_##kind##_PARAM name##_param(DAT_##kind##_HANDLE name)             \
	{                                                                     \
		DAT_##kind##_PARAM param;                                     \
                                                                              \
		memset((void *)&param, POISON, sizeof(param));                \
		ok(dat_##name##_query(name, DAT_##kind##_FIELD_ALL, &param)); \
		return param;                                                 \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

QUERY(EP, ep)
QUERY(EVD, evd)
QUERY(LMR, lmr)
QUERY(RMR, rmr)

DAT_IA_ATTR
ia_attr(const struct end *end, DAT_IA_ATTR_MASK mask)
{
	DAT_IA_ATTR attr;

	memset((void *)&attr, POISON, sizeof(attr));
	ok(dat_ia_query(end->ia, NULL, mask, &attr, 0, NULL));
	return attr;
}

DAT_PROVIDER_ATTR
provider_attr(const struct end *end, DAT_PROVIDER_ATTR_MASK mask)
{
	DAT_PROVIDER_ATTR attr;

	memset((void *)&attr, POISON, sizeof(attr));
	ok(dat_ia_query(end->ia, NULL, 0, NULL, mask, &attr));
	return attr;
}

void
want_type_of(DAT_HANDLE handle, DAT_HANDLE_TYPE type)
{
	DAT_HANDLE_TYPE told;

	ok(dat_get_handle_type(handle, &told));
	assert_int_equal(told, type);
}

void
want_held(DAT_EP_HANDLE ep, DAT_COUNT n)
{
	DAT_COUNT number = -1, span = -1;

	ok(dat_ep_recv_query(ep, &number, &span));
	assert_int_equal(number, n);
	assert_int_equal(span, n);
}

void
want_bytes(const void *p, uint8_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((const uint8_t *)p)[i] != value)
			fail_msg("byte %zu is 0x%x, not 0x%x", i, ((const uint8_t *)p)[i], value);
}
