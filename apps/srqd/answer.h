/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_ANSWER_H
#define SRQD_ANSWER_H

/**
 * @file
 * The fate of a message: it is counted and, unless the server is a sink, sent back from the
 * buffer it came in. That buffer is free when the client has acknowledged the answer.
 */

#include <dat/udat.h>

#include "server.h"

/** Deal with one completion, of a receive, of an answer or of a request for a sign of life. @return 0; -1 on error; the error was printed. */
int answer_completion(struct server *server, const DAT_DTO_COMPLETION_EVENT_DATA *dto);

#endif /* SRQD_ANSWER_H */
