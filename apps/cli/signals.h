/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/**
 * @file
 * The user's wish to end: SIGINT, SIGTERM, and SIGHUP unless it was ignored when the program started. The first asks for an
 * orderly end, the second ends the process at once.
 */

/** From now on the first of these signals is only noted. */
void cli_signals_catch(void);

/** @return the number of the signal that came; 0: none. Cheap enough for a loop that polls. */
int cli_signal(void);

/** @return exit status of work that ended with @p rc: 0 for 0, else by the signal that came, if one did. */
int cli_signal_status(int rc);

#endif /* CLI_SIGNALS_H */
