/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of status.h, in the numbers of DAT 1.2. */

#include <dat/udat.h>

#include "dapl/status.h"
#include "rules.h"

#define CLASS_BARE  0u
#define CLASS_ERROR DAT_CLASS_ERROR

#define ROW(name, class, type, subtype) \
	[name] = CLASS_##class | (DAT_RETURN)(type) | (DAT_RETURN)(subtype),

static const DAT_RETURN value[DAPL_STATUS_MAX] = { DAPL_STATUS_LIST(ROW) };

UNIT_RULE_IN(dapl_status_list__numbers_of_dat_12, NULL, NULL)
{
	static const struct {
		enum dapl_status status;
		DAT_RETURN want;
	} rule[] = {
		{ DAPL_OK, 0 },
		/* Compared without a mask by real programs. */
		{ DAPL_QUEUE_EMPTY, 0x000d0000 },
		{ DAPL_CONN_QUAL_IN_USE, 0x80020000 },
		{ DAPL_EP_CONNECTED, 0x80070032 },
		{ DAPL_SRQ_IN_USE, 0x80070056 },
		{ DAPL_PZ_IN_USE, 0x80070052 },
		{ DAPL_NO_ROOM, 0x80030000 },
		{ DAPL_TIMEOUT, 0x800f0000 },
		{ DAPL_NOT_IMPLEMENTED, 0x8fff0000 },
	};

	for (unsigned int i = 0; i < sizeof(rule) / sizeof(rule[0]); i++)
		assert_int_equal(value[rule[i].status], rule[i].want);
}

/* Success is zero; everything else has a type, and the class bit but for one. */
UNIT_RULE_IN(dapl_status_list__laws, NULL, NULL)
{
	unsigned int bare = 0;

	for (unsigned int i = 1; i < DAPL_STATUS_MAX; i++) {
		assert_int_not_equal(DAT_GET_TYPE(value[i]), 0);
		if ((value[i] & DAT_CLASS_ERROR) == 0)
			bare++;
	}
	assert_int_equal(bare, 1);
}
