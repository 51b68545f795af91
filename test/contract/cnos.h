/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_CNOS_H
#define TEST_CONTRACT_CNOS_H

/** @file Notification objects, and dispatchers of software events that are made for them. */

#include "rig.h"

/** One without an agent. */
static inline DAT_CNO_HANDLE
make_cno(const struct end *end)
{
	DAT_CNO_HANDLE cno;

	ok(dat_cno_create(end->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
	return cno;
}

/** Null: a dispatcher for none. */
static inline DAT_EVD_HANDLE
make_fed(const struct end *end, DAT_CNO_HANDLE cno)
{
	DAT_EVD_HANDLE evd;

	ok(dat_evd_create(end->ia, 32, cno, DAT_EVD_SOFTWARE_FLAG, &evd));
	return evd;
}

#endif
