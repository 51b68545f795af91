/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

/**
 * @file
 * Words for the numbers that events carry. All strings are constants.
 */

#include <dat/udat.h>

/** @return what a connection event means for somebody who waits, such as "nobody listens there". */
const char *cli_connection_words(DAT_EVENT_NUMBER number);

/** @return the standard's name of a completion status. */
const char *cli_dto_status(DAT_DTO_COMPLETION_STATUS status);

#endif /* CLI_WORDS_H */
