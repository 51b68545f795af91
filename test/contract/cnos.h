/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_CNOS_H
#define TEST_CONTRACT_CNOS_H

/** @file Notification objects, and dispatchers of software events that are made for them. */

#include "rig.h"

/** One without an agent. */
DAT_CNO_HANDLE make_cno(const struct end *end);
/** One with an agent, which gets @p data. */
DAT_CNO_HANDLE
make_cno_with(const struct end *end, void (*agent)(DAT_PVOID data, DAT_EVD_HANDLE evd), void *data);
/** Null: a dispatcher for none. */
DAT_EVD_HANDLE make_fed(const struct end *end, DAT_CNO_HANDLE cno);

/** The next notification is there already, and names @p evd. */
void want_notified(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE evd);
/** The next notification, which comes, names @p evd. */
void want_notification(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE evd);
/** There is none; the call names no dispatcher. */
void want_not_notified(DAT_CNO_HANDLE cno);

#endif
