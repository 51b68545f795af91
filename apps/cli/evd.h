/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_EVD_H
#define CLI_EVD_H

/**
 * @file
 * Event dispatchers: made, and looked at. Failures are printed, with the owner's name.
 */

#include <dat/udat.h>

/** Make one without a notification object. @return 0; -1 on error; the error was printed, and @p evd is null. */
int cli_evd_create(DAT_IA_HANDLE ia, uint64_t qlen, DAT_EVD_FLAGS flags, const char *whose,
		DAT_EVD_HANDLE *evd);

/** Take the next event. @return 1: taken; 0: there is none; -1 on error; the error was printed. */
int cli_evd_take(DAT_EVD_HANDLE evd, const char *whose, DAT_EVENT *event);

#endif /* CLI_EVD_H */
